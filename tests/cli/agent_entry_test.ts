import { assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../src/config.ts";

Deno.test("docs/agent.json, the entry of the public list, names this version", async () => {
  const entry = JSON.parse(
    await Deno.readTextFile(new URL("../../docs/agent.json", import.meta.url)),
  );
  assertEquals(entry.version, VERSION);
  for (const { archive, args } of Object.values(entry.distribution.binary) as typeof entry[]) {
    assertMatch(archive, new RegExp(`/v${VERSION.replaceAll(".", "\\.")}/`));
    assertEquals(args, ["acp"]);
  }
});
