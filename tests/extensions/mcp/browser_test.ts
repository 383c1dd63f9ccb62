import { assertEquals } from "@std/assert";
import { openBrowser } from "../../../src/extensions/mcp/browser.ts";
import { waitUntil } from "../../helpers/wait_until.ts";

Deno.test("$BROWSER may name a program by its absolute path, after one that is not there", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  const before = Deno.env.get("BROWSER");
  try {
    Deno.writeTextFileSync(
      `${folder}/browser`,
      `#!/bin/sh\nprintf '%s\\n' "$@" >'${folder}/new'\nmv '${folder}/new' '${folder}/args'\n`,
      { mode: 0o755 },
    );
    Deno.env.set("BROWSER", `${folder}/none:${folder}/browser --new`);
    openBrowser("https://example.com/a?b=$$c");
    const names = () => [...Deno.readDirSync(folder)].map(({ name }) => name);
    await waitUntil(() => names().includes("args"));
    const args = Deno.readTextFileSync(`${folder}/args`);
    assertEquals(args, "--new\nhttps://example.com/a?b=$$c\n");
  } finally {
    if (before === undefined) Deno.env.delete("BROWSER");
    else Deno.env.set("BROWSER", before);
    Deno.removeSync(folder, { recursive: true });
  }
});
