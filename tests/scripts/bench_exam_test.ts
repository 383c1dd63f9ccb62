/** `scripts/bench exam` runs the tasks through other agents, here through one of our own making. */

import { assertEquals, assertMatch } from "@std/assert";
import { examModel, perfect, SEED } from "../cli/exam/exam_model.ts";
import { ignore } from "../helpers/git_repository.ts";
import { tempFolder } from "../helpers/temp_folder.ts";
import { benchExam } from "../../scripts/bench_exam.ts";

/** Creates one file, obeys no rules, hangs at one task, and reads the prompt from stdin. */
const AGENT = `#!/bin/sh
[ "$1" = --version ] && echo " 1.2.3" && exit
[ "$GOOSE_MODEL $GOOSE_MODE $GOOSE_CONTEXT_LIMIT$MY_API_KEY" = "test auto 32768" ] || exit 1
prompt=$(cat)
case $prompt in
  *"Take your time"*) sleep 600 ;;
  *"state.txt, and stop"*) sh test.sh | tr -dc 0-9 >state.txt ;;
esac
`;

Deno.test("bench exam: unknown words and flags are named", async () => {
  const lines: unknown[] = [];
  const { error, log } = console;
  console.error = console.log = (line) => lines.push(`${line}`.split("\n")[0]);
  try {
    for (const words of [["pix"], ["--quik"], ["--seed", "x"]]) {
      assertEquals(await benchExam(["--base-url", "http://127.0.0.1:1/v1", ...words]), 2);
    }
    assertEquals(await benchExam(["--help"]), 0);
  } finally {
    Object.assign(console, { error, log });
  }
  const agents = "is unknown; the agents are pi, opencode, codex, goose";
  assertEquals(lines, [
    `bench exam: pix ${agents}`,
    `bench exam: --quik ${agents}`,
    "bench exam: --seed and --seconds need whole numbers",
    "scripts/bench exam --base-url URL [--model NAME] [flags] [AGENT...]",
  ]);
});

Deno.test("bench exam: a table of the same tasks, with agents that are missing", {
  ignore,
}, async () => {
  using temp = tempFolder();
  const bin = `${temp.path}/bin`;
  for (const name of ["bin", "work", "tmp"]) Deno.mkdirSync(`${temp.path}/${name}`);
  Deno.writeTextFileSync(`${bin}/goose`, AGENT, { mode: 0o755 });
  const own = `${temp.path}/config/copilot/exam/slow`;
  Deno.mkdirSync(own, { recursive: true });
  Deno.writeTextFileSync(`${own}/prompt.md`, "Take your time.");
  Deno.writeTextFileSync(`${own}/check.sh`, "false");
  Deno.writeTextFileSync(`${own}/exam.json`, '{"seconds": 1}');
  await using server = examModel(perfect);
  const bench = new URL("../../scripts/bench.ts", import.meta.url).pathname;
  const flags = ["--base-url", `${server.url}/v1`, "--seed", `${SEED}`, "--quick", "goose"];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", bench, "exam", ...flags],
    cwd: `${temp.path}/work`,
    env: {
      ...{ XDG_CONFIG_HOME: `${temp.path}/config`, XDG_STATE_HOME: `${temp.path}/state` },
      TMPDIR: `${temp.path}/tmp`,
      MY_API_KEY: "secret",
      PATH: `${bin}:${Deno.env.get("PATH")}`,
    },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, err);
  assertEquals([...Deno.readDirSync(`${temp.path}/tmp`)], []);
  assertMatch(out!, /\n +all +call +search +edit +stop +write +rules +fix +memory +own\n/);
  assertMatch(out!, /\ncopilot +8\/8 +1\/1 /);
  assertMatch(
    out!,
    /\ngoose 1\.2\.3 +1\/8 +0\/1 +0\/1 +0\/1 +1\/1 +0\/1 +0\/1 +0\/1 +0\/1 +0\/1\n/,
  );
  assertMatch(err!, /\ngoose ✗ slow \([\d.]+ s\): not done within 1 s\n/);
});
