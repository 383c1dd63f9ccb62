import { asksAboutCall } from "../helpers/tmux.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { builtinTools } from "../../src/tools/mod.ts";
import { UsageError } from "../../src/errors.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import type { PermissionChoice } from "../../src/safety/choice.ts";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { run } from "../helpers/program.ts";
import { startSession, test } from "../helpers/session.ts";
import { bash, type Step, strictServer, use } from "../helpers/strict_server.ts";
import { type Files, programTurn, turn } from "../helpers/turn.ts";
import { testUnless } from "../helpers/test_unless.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

async function gitFolder(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/.git`);
  await Deno.writeTextFile(`${folder}/.git/HEAD`, "ref: refs/heads/main\n");
  await Deno.writeTextFile(`${folder}/.git/config`, "url = https://me:token@host/x\n");
}

async function withSecrets(folder: string): Promise<void> {
  for (const name of ["keys", "hid"]) await Deno.mkdir(`${folder}/${name}`);
  for (const name of ["id_rsa", "keys/server.pem", "keys/other", "hid/.env"]) {
    await Deno.writeTextFile(`${folder}/${name}`, "x\n");
  }
  await Deno.symlink("id_rsa", `${folder}/link`);
  await Deno.symlink("keys", `${folder}/way`);
}

/** The folder above becomes a repository's, with settings of its own. */
async function projectAbove(base: string, settings: unknown): Promise<void> {
  await gitFolder(base);
  await Deno.mkdir(`${base}/.copilot`);
  await Deno.writeTextFile(`${base}/.copilot/permissions.json`, JSON.stringify(settings));
}

const [AUTO, YES] = [["--approve", "auto"], ["--yes"]];
const UNCONFINED = [...AUTO, "--sandbox", "off"];
const echo = bash("echo ran");
const read = use("read_file", { file_path: "a.txt" });
const write = use("write_file", { file_path: "n", content: "x" });
const ROWS: [name: string, call: Step, flags: string[], files: Files, runs: boolean][] = [
  ["CMD-07 a command is refused", echo, ["--approve", "ask"], {}, false],
  ["CMD-07 its positive control", echo, YES, {}, true],
  ["CMD-02 a rule allows it", echo, [], { own: { allow: ["run_bash(echo *)"] } }, true],
  [
    "CMD-01 nor a compound one",
    bash("echo ran; touch b"),
    [],
    { own: { allow: ["run_bash(echo *)"] } },
    false,
  ],
  ["CMD-03 deny binds under --yes", bash("env echo ran"), YES, {
    own: { deny: ["run_bash(echo *)"] },
  }, false],
  ["auto runs no command unconfined", bash("cat a.txt # ran"), UNCONFINED, {}, false],
  ...[
    ...["cat id_rs?", "cat id_r[rs]a", "cd keys && cat s*", "cat ./id*", "cat k*/s*"],
    ...["cat k?ys/server.pem", "cat lin?", "cat way/s*"],
  ].map((command): typeof ROWS[number] => [
    `SEC-01 a pattern that comes to a secret is asked about: ${command}`,
    bash(command),
    [],
    { own: { allow: ["run_bash(cat *)", "run_bash(cd *)"] }, prepare: withSecrets },
    false,
  ]),
  ...[
    "cat k*/other",
    "cat {keys,hid}/other",
    "cat k[e]ys/*",
    "rm -f w?y/other",
    "cat {,x}keys/other",
    "sh -c 'cat k*/other'",
    "bash -c '((1)); cat keys/other'",
    "cat /proc/self/cwd/keys/other",
    "mkdir -p d; cd d; cat ../keys/other",
  ]
    .map((command): typeof ROWS[number] => [
      `CMD-03 deny binds what a pattern comes to: ${command}`,
      bash(command),
      [...YES, "--sandbox", "off"],
      { own: { deny: ["read_file(keys/oth*)"] }, prepare: withSecrets },
      false,
    ]),
  ["CMD-03 and what it may come to", bash("cat k*/s* {keys,hid}/server.pem || true"), YES, {
    own: { deny: ["read_file(keys/oth*)"] },
    prepare: withSecrets,
  }, false],
  ["a rule for this folder", echo, [], {
    own: { folders: { FOLDER: { allow: ["run_bash(echo ran)"] } } },
  }, true],
  ["a rule for another folder", echo, [], {
    own: { folders: { "/elsewhere": { allow: ["run_bash(echo ran)"] } } },
  }, false],
  ["edits run", write, AUTO, {}, true],
  ["edits ask", write, [], {}, false],
  [
    "PTH-01 nor quoted by an edit that fails",
    use("edit_file", { file_path: "../canary", old_string: "outsode", new_string: "x" }),
    [],
    {},
    false,
  ],
  [
    "what may not be read is not written either: what it holds would be told when it changed",
    write,
    YES,
    { own: { deny: ["read_file(n)"] } },
    false,
  ],
  ["SEC-01 git's settings are not read", use("read_file", { file_path: ".git/config" }), [], {
    prepare: gitFolder,
  }, false],
  ["SEC-01 nor by a command", bash("cat .git/config"), AUTO, { prepare: gitFolder }, false],
  ["the rest of git's is", use("read_file", { file_path: ".git/HEAD" }), [], {
    prepare: gitFolder,
  }, true],
  ["TRU-03 a project allows nothing", echo, [], {
    project: { allow: ["run_bash(echo *)"], approve: "auto", network: true },
  }, false],
  ["TRU-03 a project denies", read, YES, { project: { deny: ["read_file(a.txt)"] } }, false],
  [
    "TRU-03 a project denies below its folder, too",
    read,
    YES,
    { prepare: (_, base) => projectAbove(base, { deny: ["read_file(folder/*.txt)"] }) },
    false,
  ],
  [
    "TRU-03 and is strict there",
    write,
    AUTO,
    { prepare: (_, base) => projectAbove(base, { approve: "ask" }) },
    false,
  ],
  [
    "TRU-03 and below a repository, which a command may have made",
    read,
    YES,
    {
      prepare: async (folder, base) => {
        await projectAbove(base, { deny: ["read"] });
        await gitFolder(folder);
      },
    },
    false,
  ],
  ["a rule for a folder above denies", read, YES, {
    own: { folders: { "/": { deny: ["read_file(**/folder/a.txt)"] } } },
  }, false],
  ["a folder that is called by a link is that folder", read, YES, {
    own: { folders: { "FOLDER-link": { deny: ["read_file(a*)"] } } },
    prepare: (folder) => Deno.symlink(folder, `${folder}-link`),
  }, false],
  ["or by a path with dots", read, YES, {
    own: { folders: { "FOLDER/../": { deny: ["read_file(folder/a*)"] } } },
  }, false],
  ["but allows nothing", echo, [], {
    own: { folders: { "/": { allow: ["run_bash(echo ran)"], approve: "auto" } } },
  }, false],
  ["nor is it less strict", write, [], {
    own: { approve: "auto", folders: { "/": { approve: "never" } } },
  }, false],
  [
    "a rule for an absolute path holds in the folder",
    read,
    YES,
    { own: { deny: ["read_file(FOLDER/a*)"] } },
    false,
  ],
  ["PTH-05 so does one that allows", write, [], { own: { allow: ["write_file(FOLDER/n)"] } }, true],
  ["but not for more than it says", write, [], { own: { allow: ["write_file(/n)"] } }, false],
];

for (const [i, [name, call, flags, files, runs]] of ROWS.entries()) {
  // The first two, which differ in nothing but --yes, by the program.
  const turns = i < 2 ? programTurn : turn;
  Deno.test(`permissions: ${name}`, () =>
    turns([call], flags, files, ({ code, results }) => {
      assertEquals(results.length, 1);
      assertEquals(/^Refused/.test(results[0]!), !runs, results[0]);
      assertEquals(code, runs ? 0 : 3);
    }));
}

Deno.test("a refusal says why in its line, and what would allow it", () => {
  const calls = ["touch a", "git clean -f", "echo a"].map(bash);
  return turn(calls, [], { own: { deny: ["run_bash(echo *)"] } }, ({ stderr }) => {
    const lines = stderr.split("\n").filter((line) => line.includes("refused"));
    assertEquals(lines, [
      "· Run touch a · refused · it runs touch, which no rule allows; the rule run_bash(touch a) allows it",
      "· Run git clean -f · refused · it can destroy work (git clean); --yes allows it",
      "· Run echo a · refused · it matches the rule deny run_bash(echo *)",
    ]);
  });
});

Deno.test("a path that a tool cannot use is not asked about, nor a file that only commands may see", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const asked: unknown[] = [];
  const permissions = openPermissions({ approve: "auto", sandbox: "workspace-write" });
  const policy = permissions.policy(({ subject }) => {
    asked.push(subject.path);
    return Promise.resolve({ choice: "refuse", reason: "" });
  });
  const { signal } = new AbortController();
  const read = (file_path: string) => {
    const tool = builtinTools.find((one) => one.name === "read_file")!;
    return policy.decide(tool, { file_path }, { workingDir: folder, maxOutputChars: 100, signal });
  };
  await assertRejects(async () => await read("~/.ssh/x"), RangeError, "~ is not expanded here");
  const { isSandboxed } = await permissions.mode(folder);
  const missing = async () => await read("/tmp/no-such-file-of-a-command");
  if (isSandboxed) {
    await assertRejects(missing, Error, "If a command wrote it, only commands see it");
  }
  assertEquals(asked, []);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("PTH-01 PTH-02 PTH-03 PTH-04 PTH-06 nothing outside is read, listed or written", async () => {
  const paths = [
    "../canary",
    "up/canary",
    "a/../../canary",
    "../folder-evil/canary",
    "canary-link",
  ];
  const calls = [
    ...paths.map((file_path) => use("read_file", { file_path })),
    ...paths.map((path) => use("grep_code", { pattern: "outside", path })),
    ...["..", "up", "../folder-evil"].map((path) => use("list_directory", { path })),
    ...["../*", "up/*", "{..,x}/*", "/**/canary", "**/canary"].map((pattern) =>
      use("glob_files", { pattern })
    ),
    use("glob_files", { pattern: "*", path: "up" }),
    use("grep_code", { pattern: "outside" }),
    ...["../new", "up/new", "dangling"].map((file_path) =>
      use("write_file", { file_path, content: "x" })
    ),
    use("edit_file", { file_path: "canary-link", old_string: "outside", new_string: "x" }),
    use("read_file", { file_path: "a.txt" }),
  ];
  const links = bash(
    "ln -s .. up; ln -s ../canary canary-link; ln -s ../new dangling; mkdir ../folder-evil; cp ../canary ../folder-evil",
  );
  // The links are there before a run that may not make any.
  await using server = strictServer(
    [links, { text: "Made." }, { toolCalls: calls.flatMap(({ toolCalls }) => toolCalls!) }, {
      text: "Done.",
    }],
    { models: ["test"] },
  );
  const base = await Deno.realPath(await Deno.makeTempDir());
  const cwd = `${base}/folder`;
  await Deno.mkdir(cwd);
  await Deno.writeTextFile(`${cwd}/a.txt`, "inside\n");
  await Deno.writeTextFile(`${base}/canary`, "outside\n");
  const args = ["--local", "--host", server.url, "-m", "test", "-p", "go", "--output", "json"];
  await run([...args, "--yes", "--sandbox", "off"], { cwd });
  const { stdout } = await run([...args, "--approve", "auto"], { cwd });
  const results = JSON.parse(stdout).toolExecutions.map((exec: { result: string }) => exec.result);
  assertEquals(results.length, calls.length);
  assertStringIncludes(results.at(-1)!, "inside");
  for (const [i, result] of results.entries()) {
    const call = JSON.stringify(calls[i]);
    // `canary-link` is a name in the folder; what it leads to is not.
    const told = result.replaceAll("canary-link", "").replaceAll(
      /(Refused:|Cannot |No files match )[^\n]*/g,
      "",
    );
    assertEquals(/outside\b(?! of)|canary/.test(told), false, `${call}: ${result}`);
  }
  const names = [...Deno.readDirSync(base)].map(({ name }) => name).sort();
  assertEquals(names, ["canary", "folder", "folder-evil"]);
  assertEquals(await Deno.readTextFile(`${base}/canary`), "outside\n");
  await Deno.remove(base, { recursive: true });
});

Deno.test("PTH-03 a file that has other names, maybe outside, is not written without being asked about", () => {
  const edit = (file_path: string) =>
    use("edit_file", { file_path, old_string: "one", new_string: "two" });
  const own = { allow: ["run_bash(ln *)", "run_bash(cp *)"] };
  const calls = [bash("ln a.txt hard"), bash("cp a.txt copy"), edit("hard"), edit("copy")];
  return turn(calls, ["--approve", "auto"], { own }, async ({ results, folder }) => {
    assertMatch(results[2]!, /^Refused: .*hard links/);
    assertMatch(results[3]!, /^Replaced 1 match in copy/);
    assertEquals(await Deno.readTextFile(`${folder}/a.txt`), "one\n");
  });
});

Deno.test("SEC-01 commands get the variables that were named, and never the model's key", async () => {
  await using server = strictServer([bash("env"), { text: "Done." }], { models: ["test"] });
  const base = await Deno.makeTempDir();
  await Deno.mkdir(`${base}/copilot`);
  const own = JSON.stringify({ env: ["GH_TOKEN", "NPM_*", "OPENAI_API_KEY"] });
  await Deno.writeTextFile(`${base}/copilot/config.json`, own);
  const { stdout, stderr } = await run(
    [
      "--local",
      "--host",
      server.url,
      "-m",
      "test",
      "-p",
      "go",
      "--output",
      "json",
      "--yes",
      "--sandbox",
      "off",
    ],
    {
      env: {
        XDG_CONFIG_HOME: base,
        GH_TOKEN: "one",
        NPM_TOKEN: "two",
        OPENAI_API_KEY: "three",
        OTHER_TOKEN: "four",
      },
    },
  );
  const [{ result }] = JSON.parse(stdout).toolExecutions;
  for (const line of ["GH_TOKEN=one", "NPM_TOKEN=two"]) assertStringIncludes(result, line);
  assertEquals(/OPENAI_API_KEY|OTHER_TOKEN/.test(result), false);
  assertMatch(stderr, /^· OPENAI_API_KEY is the model's key: commands never get it$/m);
  await Deno.remove(base, { recursive: true });
});

Deno.test("TRU-03 what a project would loosen is told", () =>
  turn([], [], { project: { allow: ["run_bash(x)"], sandbox: "off", approve: "auto" } }, (ran) => {
    assertStringIncludes(ran.stderr, "ignored: allow: run_bash(x), approve: auto");
  }));

const BAD: [name: string, flags: string[], own: unknown, says: RegExp][] = [
  ["a mode", ["--approve", "always"], {}, /--approve must be one of plan, never, ask, auto/],
  ["a variable", ["--env", "A,*"], {}, /--env "\*" as it must be the name of a variable/],
  ["a sandbox", ["--sandbox", "on"], {}, /--sandbox .*read-only, workspace-write, off/],
  ["a rule", [], { allow: ["run_bash("] }, /Cannot use the rule "run_bash\(".*permissions\.json/],
  [
    "a tool",
    [],
    { deny: ["Read(secret/**)"] },
    /Read\(secret.* no tool is called Read: .*read_file/,
  ],
  ["folders", [], { folders: [] }, /Cannot use folders in .* an object/],
  ["no hash", [], { instructions: { folder: "1", files: { a: 1 } } }, /Cannot use instructions in/],
  ["a key", [], { alow: [] }, /Cannot use alow in .*permissions\.json/],
  ["a folder's name", [], { folders: { "~/x": {} } }, /Cannot use folders .* absolute paths/],
  ["no object", [], [], /must be a JSON object/],
];
for (const [name, flags, own, says] of BAD) {
  Deno.test(`permissions: ${name} that makes no sense is wrong usage`, () =>
    turn([], flags, { own }, ({ code, stderr }) => {
      assertEquals(code, 2);
      assertMatch(stderr, says);
    }));
}

Deno.test("a file with a byte order mark is read; what a project's file leads to is not quoted", async () => {
  const prepare = (text: string, link?: string) => async (folder: string) => {
    await Deno.mkdir(`${folder}/.copilot`);
    const path = `${folder}/.copilot/permissions.json`;
    if (link) await Deno.symlink(link, path);
    await (text === "" ? Deno.mkdir(path) : Deno.writeTextFile(path, text));
  };
  // A command may have made it.
  await turn([], [], { prepare: prepare("") }, ({ code, stderr }) => {
    assertEquals(code, 2);
    assertMatch(
      stderr,
      /^copilot: Cannot read [^ ]*: it must be a JSON file: correct or remove it\n$/,
    );
  });
  const read = use("read_file", { file_path: "a.txt" });
  await turn([read], [], { prepare: prepare('\ufeff{"deny":["read"]}') }, ({ code }) => {
    assertEquals(code, 3);
  });
  await turn([], [], { prepare: prepare("canary", "../../token") }, ({ code, stderr }) => {
    assertEquals(code, 2);
    assertMatch(stderr, /permissions\.json/);
    assertEquals(stderr.includes("canary"), false, stderr);
  });
});

test("CMD-08 always is for exactly this command, in this session", async () => {
  await using terminal = await startSession([
    bash("touch one"),
    bash("touch one"),
    bash("touch two"),
    { text: "Well." },
  ]);
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("?");
  await terminal.until("always: yes, and allow exactly this in this session");
  await terminal.type("a");
  await terminal.until("Won't ask again for `touch one` in this session");
  await terminal.until((rows) => rows.filter((row) => /^● R(an|un) /.test(row)).length === 2);
  await terminal.until("▌   │ touch two");
  await terminal.until(asksAboutCall);
  await terminal.type("n use three instead\r");
  await terminal.until("Well.");
  await terminal.type("/permissions\r");
  await terminal.until("  2  remove run_bash(touch one)  this session");
  await terminal.type("\r");
  await terminal.until("allow    run_bash(touch one)");
});

test("PTH-03 what is approved is what was asked about, though a link leads elsewhere by then", async () => {
  await using terminal = await startSession([
    use("write_file", { file_path: "dir/f", content: "new\n" }),
    use("write_file", { file_path: "dir/f", content: "new\n" }),
    { text: "Well." },
  ]);
  const at = (name: string) => `${terminal.folder}/${name}`;
  for (const folder of ["dir", "other"]) await Deno.mkdir(at(folder));
  await terminal.type("go\r");
  await terminal.until("▌ Write dir/f  +1");
  await terminal.until(asksAboutCall);
  await Deno.rename(at("dir"), at("away"));
  await Deno.symlink(at("other"), at("dir"));
  await terminal.type("y\r");
  await terminal.until((rows) =>
    rows.map((row) => row.trim()).join(" ").includes("was replaced meanwhile")
  );
  // Asked about as it is now, the same is written through the link.
  await terminal.until((rows) => rows.includes("▌ Write dir/f  +1"));
  await terminal.until(asksAboutCall);
  await terminal.type("y\r");
  await terminal.until("Well.");
  assertEquals([...Deno.readDirSync(at("other"))].map(({ name }) => name), ["f"]);
  assertEquals([...Deno.readDirSync(at("away"))].length, 0);
});

Deno.test("CMD-08 a rule is offered for just this call, and only where it would allow it", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const at = (name: string) => `${folder}/${name}`;
  for (const name of ["f", ".env", "one"]) await Deno.writeTextFile(at(name), "");
  await Deno.link(at("one"), at("other"));
  await Deno.symlink(at("f"), at("link"));
  const permissions = openPermissions({}, () => undefined);
  const offered: (string | undefined)[] = [];
  const policy = permissions.policy(({ rules }) => {
    offered.push(rules?.map(({ rule }) => rule).join());
    return Promise.resolve({ choice: "refuse", reason: "" });
  });
  const { signal } = new AbortController();
  const decide = (name: string, args: Record<string, unknown>) => {
    const { prepare: _, ...tool } = builtinTools.find((one) => one.name === name)!;
    return policy.decide(tool, args, { workingDir: folder, maxOutputChars: 100, signal });
  };
  for (const path of ["f", "./f", at("f"), "link", ".env", "one", "a b.txt", "é", "*"]) {
    await decide("write_file", { file_path: path, content: "" });
  }
  await decide("read_file", { file_path: "/etc/hosts" });
  for (const command of ["make  test", "rm -r /", "a && b", "git clean -f"]) {
    await decide("run_bash", { command });
  }
  assertEquals(offered, [
    ...Array(4).fill("write_file(f)"),
    ...[undefined, undefined, "write_file(a b.txt)", undefined, undefined],
    ...["read_file(/etc/hosts)", "run_bash(make test)", undefined],
    ...["run_bash(a),run_bash(b)", undefined],
  ]);
});

const HIDING: [name: string, command: string, parts: string[]][] = [
  ["6000 characters", `echo ${"abcdefgh".repeat(750)}; rm -rf x`, ["echo abc", "; rm -rf x"]],
  ["60 blank lines", `echo a${"\n".repeat(60)}rm -rf x`, ["echo a", "rm -rf x"]],
  ["300 blanks", `echo a${" ".repeat(300)}; touch p`, ["echo a", "; touch p"]],
  ["200 lines", `cat <<'E'\n${"x\n".repeat(198)}E`, ["cat <<'E'", "E"]],
];
test("CMD-05 nothing of a request is hidden: both its ends are seen, and how much is left out between them", async () => {
  await using terminal = await startSession(
    HIDING.flatMap(([, command]) => [bash(command), { text: "Well." }]),
  );
  for (const [i, [name, , parts]] of HIDING.entries()) {
    await terminal.type("go\r");
    const rows = await terminal.until(asksAboutCall);
    const seen = rows.slice(rows.lastIndexOf("▌ Run this command"));
    const shown = seen.flatMap((row) => /^▌ {3}[│┆] (.*)/.exec(row)?.[1] ?? []).join("");
    const [first, last] = parts.map((part) => part.replaceAll(" ", ""));
    const command = shown.replaceAll(" ", "");
    assertEquals([command.startsWith(first!), command.endsWith(last!)], [true, true], name);
    const isCut = seen.some((row) => /^▌ {3}… \d+ of \d+ rows hidden · Ctrl-O$/.test(row));
    assertEquals(isCut, i !== 2, name);
    if (isCut) {
      await terminal.type("y");
      await terminal.until((rows) => rows.some((row) => row.includes("see all of it first")));
    }
    await terminal.type("n\r");
    await terminal.until((rows) => rows.at(-2) === ">");
  }
  assertEquals([...Deno.readDirSync(terminal.folder)].some((entry) => entry.name === "p"), false);
});

const writes = (file_path: string) => use("write_file", { file_path, content: "x\n" });

test("CMD-08 Shift-Tab at an edit allows all edits of the session, but no command and no protected file", async () => {
  await using terminal = await startSession([
    writes("one"),
    writes("two"),
    writes(".git/config"),
    bash("touch three"),
    { text: "Well." },
  ]);
  await terminal.type("go\r");
  await terminal.until("▌ Write one  +1");
  await terminal.until("▌   a  Yes, and all edits in this session (Shift-Tab)");
  await terminal.until(asksAboutCall);
  await terminal.type("\x1b[Z");
  await terminal.until("Won't ask again for all edits in this folder in this session");
  await terminal.until((rows) => rows.some((row) => /^● Wrote +two/.test(row)));
  await terminal.until("▌ Write .git/config");
  await terminal.until(asksAboutCall);
  await terminal.type("n\r");
  await terminal.until("▌   │ touch three");
  await terminal.until(asksAboutCall);
  await terminal.type("n\r");
  await terminal.until("Well.");
  await terminal.until((rows) => rows.at(-1)!.includes(" · ask"));
});

test("CMD-06 one answer is for one call: what is asked about next is asked about by itself", async () => {
  await using terminal = await startSession([
    {
      toolCalls: ["touch one", "touch two"].map((command) => ({
        name: "run_bash",
        arguments: { command },
      })),
    },
    { text: "Well." },
  ]);
  const here = (name: string) =>
    Deno.stat(`${terminal.folder}/${name}`).then(() => true, () => false);
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  // What is typed while a call is asked about or runs does not answer for the next.
  await terminal.type("y\ry\ry\r");
  await terminal.until("▌   │ touch two");
  await terminal.until(asksAboutCall);
  assertEquals([await here("one"), await here("two")], [true, false]);
  await terminal.type("n\r");
  await terminal.until("Well.");
  assertEquals(await here("two"), false);
});

test("TRU-03 a folder whose settings cannot be read is not gone to, and ends no session", async () => {
  await using terminal = await startSession([]);
  await Deno.mkdir(`${terminal.folder}/bad/.copilot`, { recursive: true });
  await Deno.writeTextFile(`${terminal.folder}/bad/.copilot/permissions.json`, "{");
  await Deno.mkdir(`${terminal.folder}/strict/.copilot`, { recursive: true });
  const never = JSON.stringify({ approve: "never", trust: true });
  await Deno.writeTextFile(`${terminal.folder}/strict/.copilot/permissions.json`, never);
  await terminal.type("/cd bad\r");
  await terminal.until("· Cannot read ");
  await terminal.type("/cd strict\r");
  await terminal.until("tightens permissions: approve: never");
  await terminal.until("ignored: trust");
  await terminal.type("/permissions\r");
  await terminal.until("approve  never");
});

Deno.test("of the settings about permissions the most particular counts, those of config.json last", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${base}/copilot`);
  for (const name of ["here", "other"]) await Deno.mkdir(`${base}/${name}`);
  const env = (name: string) => /XDG_CONFIG_HOME|APPDATA/.test(name) ? base : undefined;
  const modes = async (own: unknown, choice: PermissionChoice = {}) => {
    await Deno.writeTextFile(`${base}/copilot/permissions.json`, JSON.stringify(own));
    const usual = { approve: "auto", sandbox: "off" } as const;
    const permissions = openPermissions({ ...choice, usual }, env);
    const of = async (folder: string) => (await permissions.mode(`${base}/${folder}`)).approve;
    return [await of("here"), await of("other")];
  };
  const folders = { [`${base}/here`]: { approve: "never" } };
  assertEquals(await modes({}), ["auto", "auto"]);
  assertEquals(await modes({ folders }), ["never", "auto"]);
  assertEquals(await modes({ approve: "ask", folders }), ["never", "ask"]);
  assertEquals(await modes({ approve: "ask", folders }, { approve: "auto" }), ["auto", "auto"]);
  await Deno.remove(base, { recursive: true });
});

Deno.test("TRU-03 what a folder says goes for that folder alone, and is read again once it is mended", async () => {
  using temp = tempFolder();
  const base = temp.path;
  const write = (folder: string, text: string) =>
    Deno.writeTextFile(`${base}/${folder}/.copilot/permissions.json`, text);
  for (const folder of ["strict/.copilot", "plain", "wrong/.copilot"]) {
    await Deno.mkdir(`${base}/${folder}`, { recursive: true });
  }
  const stricter = [{
    code: "project_stricter" as const,
    file: ".copilot/permissions.json",
    modes: { approve: "never" as const },
    rules: 1,
  }];
  await write("strict", '{"approve":"never","deny":["write"]}');
  const permissions = openPermissions({}, () => undefined);
  assertEquals(await permissions.prepare(`${base}/strict`, false), stricter);
  const { rules: [rule] } = await permissions.describe(`${base}/strict`);
  assertEquals(rule!.origin, stricter[0]!.file);
  assertEquals(await permissions.prepare(`${base}/plain`, false), []);
  assertEquals(await permissions.prepare(`${base}/strict`, false), stricter);
  // Told that all may run, commands are confined where a sandbox works: then nobody is told that they are not.
  const all = openPermissions({ yes: true }, () => undefined);
  const { by } = await all.sandboxStatus(`${base}/plain`);
  assertEquals(
    (await all.prepare(`${base}/plain`, true)).map(({ code }) => code),
    by === undefined ? ["sandbox_off"] : [],
  );
  await write("wrong", '{"approve":"nevar"}');
  await assertRejects(() => permissions.prepare(`${base}/wrong`, false), UsageError, "approve");
  await write("wrong", '{"approve":"never","deny":["write"]}');
  assertEquals(await permissions.prepare(`${base}/wrong`, false), stricter);
});

test("CMD-06 a command is edited in the question; that is what runs, once, and the model is told", async () => {
  await using terminal = await startSession([bash("touch one"), { text: "Well." }]);
  const { server } = terminal;
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("e");
  await terminal.until((rows) => rows.includes("▌ ❯ touch one"));
  await terminal.type("-and-only\r");
  await terminal.until("Well.");
  await terminal.until((rows) =>
    rows.some((row) => /^● Ran {5}touch one-and-only +edited by you$/.test(row))
  );
  assertEquals(await Deno.stat(`${terminal.folder}/one-and-only`).then(() => true), true);
  assertStringIncludes(server.requests.at(-1)!.text, "The user changed the call");
});

Deno.test("CMD-03 a deny rule holds for a command that was edited, too", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/copilot`);
  await Deno.writeTextFile(
    `${folder}/copilot/permissions.json`,
    JSON.stringify({ deny: ["run_bash(curl *)"] }),
  );
  const permissions = openPermissions(
    {},
    (name) => name === "XDG_CONFIG_HOME" ? folder : Deno.env.get(name),
  );
  const tool = builtinTools.find(({ name }) => name === "run_bash")!;
  const { signal } = new AbortController();
  for (const [command, allow] of [["env curl x", false], ["echo curl", true]] as const) {
    let answers = 0;
    const policy = permissions.policy(() =>
      Promise.resolve(answers++ === 0 ? { choice: "edit", command } : { choice: "once" })
    );
    const context = { workingDir: folder, maxOutputChars: 1000, signal };
    const decision = await policy.decide(tool, { command: "touch x" }, context);
    assertEquals(decision.allow, allow);
    assertEquals(decision.allow && decision.args, allow && { command });
    assertEquals(answers, 1);
  }
});

const sandbox = await findSandbox();
const confined = typeof sandbox === "string" ? ` (skipped: ${sandbox})` : "";
const sandboxTest = testUnless(confined !== "");

sandboxTest(`a question says that a command is sandboxed${confined}`, async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${folder}/home`);
  const tool = builtinTools.find(({ name }) => name === "run_bash")!;
  const { signal } = new AbortController();
  for (
    const [args, told, home] of [
      [{}, undefined],
      [{ approve: "ask", sandbox: "off" }, undefined],
      [
        { approve: "ask", network: true },
        "this folder (.git only through git) and a private /tmp can be written",
      ],
      [
        { sandbox: "workspace-write", network: true },
        "this folder (.git only through git) and a private /tmp can be written",
      ],
      [{ sandbox: "read-only" }, "a private /tmp can be written, and there is no network"],
      // A folder that contains the home folder has no sandbox.
      [{ sandbox: "workspace-write" }, undefined, "home"],
    ] as [PermissionChoice, string?, string?][]
  ) {
    const permissions = openPermissions(
      args,
      (name) => name === "HOME" ? home && `${folder}/${home}` : undefined,
    );
    const asked: (string | undefined)[] = [];
    await permissions.policy(({ confinedTo }) => {
      asked.push(confinedTo);
      return Promise.resolve({ choice: "refuse", reason: "" });
    }).decide(tool, { command: "x" }, { workingDir: folder, maxOutputChars: 100, signal });
    assertEquals(asked, [told && `sandboxed: only ${told}`]);
    const { approve: _, ...mode } = await permissions.mode(folder);
    assertEquals(mode, {
      isSandboxed: told !== undefined,
      ...args.sandbox === "read-only" && { isReadOnly: true },
      ...args.network && { hasNetwork: true },
    });
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: `SBX-01 writes outside fail, inside they do not${confined}`,
  ignore: confined !== "",
  fn: () =>
    turn(
      [
        bash("touch in && echo in; touch ../out; touch ~/.copilot-out; touch /etc/copilot-out"),
        bash("ln -s .. up && touch up/out; echo > up/canary; exit 1"),
        bash("mount -o remount,rw,bind / ; touch /etc/copilot-out; unshare -Urm true"),
        bash("echo kept > /tmp/copilot-kept"),
        bash("cat /tmp/copilot-kept"),
      ],
      ["--yes", "--sandbox", "workspace-write"],
      {},
      async ({ results, folder }) => {
        assertStringIncludes(results[0]!, "stdout:\nin");
        assertStringIncludes(results[1]!, "sandboxed by");
        assertStringIncludes(results[4]!, "kept");
        assertEquals(await Deno.lstat("/tmp/copilot-kept").catch(() => "none"), "none");
        const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();
        assertEquals(names(`${folder}/..`), ["canary", "folder"]);
        assertEquals(await Deno.readTextFile(`${folder}/../canary`), "outside\n");
        assertEquals(names(folder), ["a.txt", "in", "up"]);
        for (const path of ["/etc/copilot-out", `${Deno.env.get("HOME")}/.copilot-out`]) {
          assertEquals(await Deno.lstat(path).then(() => path, () => ""), "");
        }
      },
    ),
});

sandboxTest(`SBX-02 SBX-04 protected files, read-only, the network${confined}`, async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connect = `(echo > /dev/tcp/127.0.0.1/${listener.addr.port}) 2>&1 && echo connected`;
  let connections = 0;
  const counting = (async () => {
    for await (const connection of listener) {
      connections++;
      connection.close();
    }
  })().catch(() => {});
  await turn(
    [bash("git init -q . && git status --short"), bash("echo x >> .git/config; echo $?")],
    ["--yes", "--sandbox", "workspace-write"],
    {},
    ({ results }) => assertMatch(results[1]!, /stdout:\n[12]\n/),
  );
  await turn([bash(`touch x; ${connect}`)], ["--yes", "--sandbox", "read-only"], {}, (ran) => {
    assertEquals([...Deno.readDirSync(ran.folder)].length, 1);
    assertEquals(ran.results[0]!.includes("\nconnected"), false);
  });
  assertEquals(connections, 0);
  await turn([bash(connect)], ["--yes", "--sandbox", "read-only", "--network"], {}, (ran) => {
    assertStringIncludes(ran.results[0]!, "connected");
  });
  listener.close();
  await counting;
});

Deno.test("servers run without a sandbox if none works and none was chosen; hooks and plug-ins do not", async () => {
  using temp = tempFolder();
  const home = temp.path;
  // The home folder itself cannot be what a sandbox may write.
  const variables = (name: string) => name === "HOME" ? home : undefined;
  const permissions = openPermissions({}, variables);
  const servers = permissions.confineServers(() => home, "a");
  assertEquals(await servers("a", ["b"]), { program: "a", args: ["b"] });
  const trusted = permissions.confineServers(() => home, "b", "trusted");
  await assertRejects(async () => await trusted("a", ["b"]), Error, "cannot start");
  for (const sandbox of [undefined, "off", "read-only"] as const) {
    const chosen = openPermissions({ ...sandbox && { sandbox } }, variables);
    for (const by of ["plugin", "hooks"] as const) {
      const confined = chosen.confineServers(() => home, "c", by);
      const why = /run only in the sandbox, which cannot start/;
      assertMatch((await assertRejects(async () => await confined("a", []), Error)).message, why);
    }
  }
});

Deno.test("R-23 a file that makes a folder a repository of git is asked about, in any order", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const policy = openPermissions({ approve: "auto", sandbox: "off" }).policy();
  const { signal } = new AbortController();
  const tool = builtinTools.find(({ name }) => name === "write_file")!;
  const orders = [
    ["config", "objects/k", "refs/k", "HEAD"],
    ["HEAD", "config", "objects/info/k"],
    ["HEAD", "objects/k", "refs/k"],
    ["HEAD", "commondir"],
  ];
  for (const [at, files] of orders.entries()) {
    const results: boolean[] = [];
    for (const file of files) {
      const path = `${folder}/${at}/${file}`;
      const context = { workingDir: folder, maxOutputChars: 100, signal };
      const decision = await policy.decide(tool, { file_path: path, content: "" }, context);
      results.push(decision.allow);
      if (!decision.allow) {
        assertMatch(decision.reason, /is a part of a repository of git, .* may run programs/);
      }
      if (!decision.allow) continue;
      await Deno.mkdir(path.replace(/[/][^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(path, "");
    }
    assertEquals(results, files.map((_, i) => i < files.length - 1));
  }
  await Deno.remove(folder, { recursive: true });
});
