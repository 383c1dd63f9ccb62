/** `copilot replay`, with sessions that `-p` recorded. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { changesOfCopy } from "../../src/cli/replay.ts";
import { ignore } from "../helpers/git_repository.ts";
import { run } from "../helpers/program.ts";
import { bash, strictServer, use } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

/** Records a session of two messages in a folder that `prepare` makes; its first command has the folder's path. */
async function session(prepare: string) {
  const temp = tempFolder();
  const base = Deno.realPathSync(temp.path);
  const folder = `${base}/work`;
  Deno.mkdirSync(folder);
  const sh = async (line: string) => {
    const env = { HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
    const { stdout } = await new Deno.Command("sh", { args: ["-c", line], cwd: folder, env })
      .output();
    return new TextDecoder().decode(stdout);
  };
  await sh(prepare);
  const own = `${base}/config/copilot`;
  Deno.mkdirSync(own, { recursive: true });
  const rules = { sandboxWrite: [folder], folders: { [folder]: { deny: ["run_bash(touch *)"] } } };
  Deno.writeTextFileSync(`${own}/permissions.json`, JSON.stringify(rules));
  const options = {
    cwd: folder,
    env: { XDG_STATE_HOME: `${base}/state`, XDG_CONFIG_HOME: `${base}/config`, TMPDIR: base },
  };
  await using server = strictServer([
    use("write_file", { file_path: `${folder}/a`, content: "one\n" }),
    bash(`cd ${folder} && echo two >> a && rm b`),
    { text: "Done." },
    bash("echo no > refused"),
    { text: "The check fails now." },
    use("write_file", { file_path: "c", content: "three\n" }),
    { text: "Done." },
  ]);
  const ask = async (...args: string[]) => {
    const flags = ["--local", "--host", server.url, "-m", "test", "--approve", "auto"];
    const ran = await run(
      [...flags, "--sandbox", "workspace-write", "--output", "json", ...args],
      options,
    );
    return JSON.parse(ran.stdout).session_id as string;
  };
  const id = await ask("-p", "first");
  await ask("--resume", id, "--deny", "run_bash(echo no *)", "--until", "cat c", "-p", "second");
  const state = async () => await sh("find . -printf '%p %T@ %s\\n' | sort");
  const replay = async (...args: string[]) => await run(["replay", id, ...args], options);
  return {
    base,
    folder,
    sh,
    state,
    replay,
    id,
    options,
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}

const GIT =
  `git init -q && echo b > b && echo '*.log' > .gitignore && echo l > x.log && git add b .gitignore &&
  GIT_COMMITTER_DATE=2020-01-01T00:00:00Z git -c user.name=a -c user.email=b commit -qm 1`;
const COMMIT =
  "git add . && GIT_COMMITTER_DATE=2090-01-01T00:00:00Z git -c user.name=a -c user.email=b commit -qm 2; echo dirty > d";

Deno.test(
  "replay plays the recorded answers in a copy of the commit at that time",
  { ignore },
  async () => {
    using at = await session(GIT);
    assertEquals(await at.sh("cat a c; ls"), "one\ntwo\nthree\na\nc\nx.log\n");
    await at.sh(COMMIT);
    // A filter of the folder's settings would run what commands wrote, as the user.
    await at.sh(
      "git config filter.x.clean 'touch ran; cat' && echo '* filter=x' > .git/info/attributes",
    );
    await at.sh("echo z > c; rm -f ran");
    const before = await at.state();
    const { code, stdout, stderr } = await at.replay();
    assertEquals([code, await at.state()], [0, before], stderr);
    assertEquals(stdout.split("\n").filter((row) => /^(Rec|[+-])/.test(row)), [
      ...["Recorded calls. Changes:", "--- /dev/null", "+++ b/a", "+one", "+two"],
      ...["--- a/b", "+++ /dev/null", "-b", "--- /dev/null", "+++ b/c", "+three"],
    ]);
    assertMatch(
      stderr,
      /copy of the commit [\da-f]{40}\n.*differ from it now: 4\n D b\n\?\? a\n\?\? c\n\?\? d\n/,
    );
    assertEquals((await at.sh("ls ..")).split("\n").filter((name) => name.includes("replay")), []);
    // A folder that is now there, and was none or a link in the copy.
    await at.sh(
      "mkdir sub; cd ../state/copilot/sessions; mv *work x; mv x $(pwd | sed 's,/state/.*,/work+sub,;s,/,+,g')" +
        "; sed -i 's,/work\",/work/sub\",' */*.jsonl",
    );
    assertMatch((await at.replay()).stderr, /Cannot replay it as its copy has no folder .*sub\n/);
  },
);

Deno.test(
  "replay with another model shows both changes, and which passed",
  { ignore },
  async () => {
    using at = await session(GIT);
    const reach =
      "f=$(printf ../../../../w%s/c ork); cat $f; echo bad > $f; git status -s; echo other > c";
    await using server = strictServer([bash(reach), bash("touch denied"), { text: "Done." }]);
    const before = await at.state();
    const flags = ["--local", "--host", server.url, "-m", "other", "--from", "2", "--rounds", "1"];
    const { code, stdout, stderr } = await at.replay(...flags, "--until", "grep three c");
    assertEquals(code, 5, stderr);
    assertStringIncludes(
      stdout,
      "Recorded calls: the check passed. Changes:\ndiff --git a/a b/a\n",
      stderr,
    );
    assertMatch(
      stdout,
      /\nother: the check did not pass\. Changes:\ndiff --git a\/a b\/a\n[^]*\n\+other\n$/,
    );
    // Of the first message, two calls were recorded.
    assertMatch(stderr, /· other:\n(?:·.* \(recorded\)\n){2}·(?:(?!\(recorded\))[^])*$/);
    assertEquals(await at.state(), before);
    const seen = JSON.stringify(server.requests[1]!.body);
    assertStringIncludes(seen, "because a rule denies it");
    assertStringIncludes(seen, " D b");
  },
);

Deno.test(
  "replay copies a folder without a commit without its ignored files, and refuses other ids",
  { ignore },
  async () => {
    using at = await session("echo b > b; echo '*.log' > .gitignore; echo l > x.log; ln -s b link");
    await at.sh("rm a c; echo b > b");
    const isCopy = "[ ! -e x.log ] && [ -L link ] && [ -e .gitignore ]";
    const { code, stdout, stderr } = await at.replay("--until", isCopy);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "\n+three\n");
    const refused = await run(["replay", "12345678"], at.options);
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, `There is no session 12345678. There are: ${at.id}`);
    assertStringIncludes(
      (await at.replay("--from", "3")).stderr,
      "--from needs --model, and the number of a message, at most 2",
    );
    Deno.removeSync(at.folder, { recursive: true });
    assertStringIncludes(
      (await run(["replay", at.id], { ...at.options, cwd: "/" })).stderr,
      `its folder ${at.folder} is missing`,
    );
  },
);

Deno.test("replay without an id says what it takes, and other words that make no sense are refused", async () => {
  const help = await run(["replay", "--help"]);
  assertEquals([help.code, help.stdout.startsWith("Usage: copilot replay ID")], [0, true]);
  const cases: [string[], string][] = [
    [["replay"], "copilot replay --help"],
    [["--local", "--until", "false", "--approve", "plan", "-p", "go"], "exclude each other"],
  ];
  for (const [words, text] of cases) {
    const { code, stderr } = await run(words);
    assertEquals([code, stderr.includes(text), stderr.trim().split("\n").length], [2, true, 1]);
  }
});

Deno.test("replay --as-exam makes a task of the exam, which the next exam runs", {
  ignore,
}, async () => {
  using at = await session(GIT);
  const task = `${at.base}/config/copilot/exam/mine`;
  const asExam = (...more: string[]) => at.replay("--as-exam", ...more);
  for (
    const [words, code, error] of [
      [["../x", "--until", "true"], 2, "--as-exam needs a name of letters"],
      [["fix", "--until", "false"], 2, "There is a task fix: choose another name"],
      [["mine"], 2, "--as-exam needs a name of letters"],
      [["mine", "--until", "test -f b"], 5, "The check passes in the folder before the work"],
      [["mine", "--until", "npmm test"], 5, "The check cannot run: /usr/bin/bash: line 1: npmm: "],
      [["mine", "--until", "test -f b"], 5, "· a copy of the commit "],
    ] as const
  ) {
    const ran = await asExam(...words);
    assertEquals([ran.code, ran.stdout], [code, ""], ran.stderr);
    assertStringIncludes(ran.stderr, error);
  }
  const made = await asExam("mine", "--until", "touch left; grep two a");
  assertEquals(
    [made.code, made.stdout],
    [0, `${task} is a task of copilot exam now\n`],
    made.stderr,
  );
  const list = `cd ${task} && ls -A . files && cat prompt.md check.sh`;
  assertEquals(
    await at.sh(list),
    ".:\ncheck.sh\nfiles\nprompt.md\n\nfiles:\n.gitignore\nb\nfirst\ntouch left; grep two a\n",
  );
  assertStringIncludes(
    (await asExam("mine", "--until", "false")).stderr,
    "There is a task mine: choose",
  );
  await using server = strictServer(
    Array(40).fill(({ text }: { text: string }) =>
      text.includes('"first') && !text.includes('"tool"') ? bash("echo two > a") : { text: "Done." }
    ),
  );
  // No model passes the first tasks, so that the user's own task would not run: it is asked for alone.
  const flags = ["--local", "--host", server.url, "-m", "test", "--quick", "--only", "mine"];
  const { stdout, stderr } = await run(["exam", ...flags, "--json"], at.options);
  const [{ results, score }] = JSON.parse(stdout || stderr).models;
  assertEquals(
    results.map(({ task, skill, passed }: Record<string, unknown>) => [task, skill, passed]),
    [["mine", "own", true]],
  );
  assertEquals([score.passed, score.ran, score.notes], [0, 0, ["--only mine"]]);
});

Deno.test(
  "the changes of a copy show closed files and those of new repositories, of which nothing runs",
  { ignore },
  async () => {
    using temp = tempFolder();
    const copy = `${Deno.realPathSync(temp.path)}/1`;
    const script = `git init -q "$1" && cd "$1" && git commit -q --allow-empty -m 1
    git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; echo a >a; echo x >.gitignore; echo 1 >x
    git add -f a x .gitignore && git commit -qm 2 && cp -R .git ../1.git && mkdir sub && echo b >>a
    cd sub && git init -q && git fetch -q .. && git reset -q --hard FETCH_HEAD~ && echo new >new
    git config core.fsmonitor "touch $1.ran; false"
    cd .. && git init -q new && echo n >new/n && mkdir e && echo f >e/f && chmod 0 e/f && chmod 600 e`;
    const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b" };
    const env = { ...author, GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
    const how = { args: ["-ec", script, "sh", copy], env };
    assertEquals((await new Deno.Command("sh", how).output()).code, 0);
    const changes = await changesOfCopy(copy);
    const named = [...changes.matchAll(/^diff --git a\/(.*) b/gm)].map(([, name]) => name);
    assertEquals(named, ["a", "e/f", "new/n"]);
    assertEquals([...Deno.readDirSync(temp.path)].map(({ name }) => name).sort(), ["1", "1.git"]);
  },
);
