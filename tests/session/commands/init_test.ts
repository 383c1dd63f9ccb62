import { assertEquals, assertMatch } from "@std/assert";
import { textOfParts } from "../../../src/text/parts.ts";
import { fakeSession } from "../../helpers/fake_session.ts";
import { workspace } from "../../tools/workspace.ts";

const signal = new AbortController().signal;

Deno.test("/init is a turn that writes an AGENTS.md, or improves the one that is there", async () => {
  using ws = workspace();
  await using fake = await fakeSession("http://127.0.0.1:9", { folder: ws.dir });
  const asked = async () => {
    const answer = await fake.session.command("init", "", signal);
    return typeof answer === "object" && answer.type === "turn"
      ? textOfParts(answer.parts)
      : answer;
  };
  const first = String(await asked());
  assertMatch(
    first,
    /^Write AGENTS\.md for this folder\.\n\n\[Look first: [^]*Then write AGENTS\.md\./,
  );
  assertEquals([first.includes("CLAUDE.md"), first.includes("Take over")], [false, false]);
  ws.put("CLAUDE.md", "x");
  assertMatch(String(await asked()), /Take over what holds from CLAUDE\.md\./);
  ws.put("AGENTS.md", "x");
  const second = String(await asked());
  assertMatch(
    second,
    /^Improve AGENTS\.md for this folder\.\n\n\[Look first: [^]*do not write it anew/,
  );
  await fake.command("/plan");
  assertMatch(String(await asked()), /^Plan mode writes no files: /);
});
