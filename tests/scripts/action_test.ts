/** The step of `action.yml`: its inputs are variables, its outputs a file. */

import { assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { posixTest } from "../helpers/test_unless.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { workspace } from "../tools/workspace.ts";

const script = fromFileUrl(new URL("../../scripts/action", import.meta.url));

/** `found`: folders that come first in PATH. */
async function step(folder: string, prompt: string, flags: string, found: string[] = []) {
  const { HOME = "", PATH = "", DENO_DIR = "" } = Deno.env.toObject();
  using outside = workspace();
  const output = outside.put("output", "");
  const { code, stdout } = await new Deno.Command(script, {
    cwd: folder,
    clearEnv: true,
    env: {
      ...{
        HOME,
        PATH: [...found, PATH].join(":"),
        ...DENO_DIR && { DENO_DIR },
        XDG_CONFIG_HOME: "/nowhere",
      },
      ...{ XDG_STATE_HOME: outside.dir, GITHUB_OUTPUT: output },
      ...{ COPILOT_PROMPT: prompt, COPILOT_FLAGS: flags },
      ...found.length > 0 && { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: folder },
    },
    stdin: "null",
  }).output();
  const log = new TextDecoder().decode(stdout);
  return { code, log, output: Deno.readTextFileSync(output) };
}

posixTest(
  "the action answers a prompt like a flag, and its answer cannot end the output",
  async () => {
    using ws = workspace();
    const text = "One.\nanswer<<end\nexit-code=7";
    await using server = strictServer([{ text }]);
    const prompt = '--yes $(touch made) `touch made` "';
    const flags = `--base-url ${server.url}/v1  -m test --append-system-prompt 'two words'`;
    const { code, log, output } = await step(ws.dir, prompt, flags);
    assertEquals(code, 0);
    const [, mark] = output.match(/^exit-code=0\nanswer<<(end-[0-9a-f]{32})\n/)!;
    assertEquals(log, `::stop-commands::${mark}\n${text}\n\n::${mark}::\n`);
    assertEquals(output, `exit-code=0\nanswer<<${mark}\n${text}\n\n${mark}\n`);
    const [request] = server.requests as unknown as [{ body: { messages: { content: string }[] } }];
    assertMatch(JSON.stringify(request), /two words/);
    assertEquals(JSON.stringify(request).includes(JSON.stringify(prompt)), true);
    assertEquals(ws.names().includes("made"), false);
  },
);

posixTest("the action fails with the exit code of copilot", async () => {
  using ws = workspace();
  const { code, output } = await step(ws.dir, "Hello", "--base-url http://127.0.0.1:9/v1 -m test");
  assertEquals(code, 1);
  assertMatch(output, /^exit-code=1\nanswer<</);
  // A program of the checkout does not run; elsewhere, this one keeps the step from changing the system.
  using outside = workspace();
  for (const at of [ws, outside]) at.put("uname", `#!/bin/sh\necho >"${at.dir}/ran"\n`, 0o755);
  await step(ws.dir, "Hello", "-m test '", [ws.dir, "", outside.dir]);
  assertEquals([ws, outside].map((at) => at.names().includes("ran")), [false, true]);
  // A flag that is lost may be one that limits rights.
  const cut = await step(ws.dir, "Hello", "-m test 'oops --approve never");
  assertEquals([cut.code, cut.output, cut.log], [2, "", ""]);
});
