/** `scripts/bench exam` runs the tasks through other agents, here through one of our own making. */

import { assertEquals, assertMatch } from "@std/assert";
import { examModel, perfect, SEED } from "../cli/exam/exam_model.ts";
import { ignore } from "../helpers/git_repository.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

/** Creates one file, obeys no rules, hangs at bugs, and reads the prompt from stdin. */
const AGENT = `#!/bin/sh
[ "$1" = --version ] && echo " 1.2.3" && exit
[ "$GOOSE_MODEL $GOOSE_MODE" = "test auto" ] || exit 1
prompt=$(cat)
case $prompt in
  *fails*) sleep 600 ;;
  *"state.txt, and stop"*) echo green >state.txt ;;
esac
`;

Deno.test("bench exam: a table of the same tasks, with agents that are missing", {
  ignore,
}, async () => {
  using temp = tempFolder();
  const bin = `${temp.path}/bin`;
  for (const name of ["bin", "work"]) Deno.mkdirSync(`${temp.path}/${name}`);
  Deno.writeTextFileSync(`${bin}/goose`, AGENT, { mode: 0o755 });
  await using server = examModel(perfect);
  const root = new URL("../..", import.meta.url).pathname;
  const flags = [
    "--base-url",
    `${server.url}/v1`,
    "--seed",
    `${SEED}`,
    "--seconds",
    "15",
    "--quick",
  ];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--no-check",
      `${root}scripts/bench.ts`,
      "exam",
      ...flags,
      "goose",
    ],
    cwd: `${temp.path}/work`,
    env: {
      ...{ XDG_CONFIG_HOME: `${temp.path}/config`, XDG_STATE_HOME: `${temp.path}/state` },
      PATH: `${bin}:${Deno.env.get("PATH")}`,
    },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, err);
  assertMatch(out!, /\n +all +call +search +edit +stop +write +rules +fix +memory\n/);
  assertMatch(out!, /\ncopilot +8\/8 +1\/1 /);
  assertMatch(out!, /\ngoose 1\.2\.3 +1\/8 +0\/1 +0\/1 +0\/1 +1\/1 +0\/1 +0\/1 +0\/1 +0\/1\n/);
  assertMatch(err!, /\ngoose ✗ fix-two not done within 15 s\n/);
});
