import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { placeOf } from "../../src/safety/places.ts";
import { grantOf } from "../../src/safety/policy.ts";
import { parseRule, type RuleEffect } from "../../src/safety/rules.ts";
import { SEPARATOR } from "../../src/text/std_path.ts";
import type { HiddenPaths, ToolContext } from "../../src/types/tool.ts";
import {
  editFile,
  globFiles,
  grepCode,
  listDirectory,
  readFile,
  writeFile,
} from "./text_results.ts";
import { type Workspace, workspace } from "./workspace.ts";
import { posixTest } from "../helpers/test_unless.ts";

type Run = (args: Record<string, unknown>, context: ToolContext) => Promise<string>;

const read = { offset: 1, limit: 2000 };
const grep = { glob: "", context_lines: 0 };

/** A folder `ws` to work in, with `dir/f` in it, and `out/f` beside it, which holds a token. */
function scene(): Workspace & { token: string; working: ToolContext; out: string } {
  const made = workspace();
  const token = crypto.randomUUID();
  made.put("ws/dir/f", "old in\n");
  made.put("out/f", `old ${token}\n`);
  Deno.symlinkSync(made.at("out"), made.at("ws/link"));
  const working = { ...made.context, workingDir: made.at("ws") };
  return { ...made, token, working, out: made.at("out") };
}

/** Registers a test with a scene of its own. */
const test = (name: string, check: (made: ReturnType<typeof scene>) => Promise<void>) =>
  posixTest(name, async () => {
    using made = scene();
    await check(made);
  });

const NOTHING: HiddenPaths = { folder: "/", paths: [] };
const granted = (context: ToolContext, realPath: string, withheld = NOTHING): ToolContext => ({
  ...context,
  grant: { realPath, withheld },
});

/** Every tool, with what it is asked, and what its path is. */
// deno-fmt-ignore
const CALLS: [name: string, run: Run, args: Record<string, unknown>, path: string][] = [
  ["read_file", readFile, { ...read, file_path: "dir/f" }, "dir/f"],
  ["grep_code", grepCode, { ...grep, pattern: "old", path: "." }, "."],
  ["grep_code of a file", grepCode, { ...grep, pattern: "old", path: "dir/f" }, "dir/f"],
  ["list_directory", listDirectory, { path: "dir" }, "dir"],
  ["glob_files", globFiles, { pattern: "*", path: "dir" }, "dir"],
  ["edit_file", editFile, { file_path: "dir/f", old_string: "old", new_string: "new" }, "dir/f"],
  ["write_file", writeFile, { file_path: "dir/f", content: "old mine\n" }, "dir/f"],
  ["write_file of a new one", writeFile, { file_path: "dir/new", content: "old mine\n" }, "dir/new"],
  ["write_file in a new folder", writeFile, { file_path: "dir/a/b/new", content: "old mine\n" }, "dir/a/b/new"],
];

test("PTH-03 a hard link that takes the place of a file since the decision is not written through", async (made) => {
  const path = made.at("ws/dir/f");
  made.put("out/same", "old in\n");
  Deno.removeSync(path);
  Deno.linkSync(made.at("out/same"), path);
  const calls: [Run, Record<string, unknown>][] = [
    [editFile, { file_path: "dir/f", old_string: "old", new_string: "new" }],
    [writeFile, { file_path: "dir/f", content: "new in\n" }],
  ];
  for (const [run, args] of calls) {
    const written = () => run(args, granted(made.working, path));
    await assertRejects(written, Error, "it has 2 hard links");
    assertEquals(made.text("out/same"), "old in\n");
  }
  // A person who was asked about a file with other names had it written under all of them.
  const context = granted(made.working, path);
  const shared = { ...context, grant: { ...context.grant!, isShared: true } as const };
  await editFile(calls[0]![1], shared);
  assertEquals(made.text("out/same"), "new in\n");
  assertEquals([...Deno.readDirSync(made.at("ws/dir"))].map(({ name }) => name), ["f"]);
});

for (const [name, run, args, path] of CALLS) {
  test(`PTH-03 ${name}: a folder that became a link since it was decided on is not followed`, async (made) => {
    const context = granted(made.working, made.at(`ws/${path}`).replace(/\/\.$/, ""));
    // The same call does its work while nothing is swapped.
    await run(args, context);
    made.put("ws/dir/f", "old in\n");
    Deno.renameSync(made.at("ws/dir"), made.at("ws/away"));
    Deno.renameSync(made.at("ws/link"), made.at("ws/dir"));
    const result = await run(args, context).catch(({ message }) => message);
    assert(!result.includes(made.token), result);
    assert(path === "." || /^Cannot \w+ .*(replaced|link)/.test(result), result);
    assertEquals(made.text("out/f"), `old ${made.token}\n`);
    assertEquals(made.names("out"), ["f"]);
  });
}

test("PTH-03 the error of a missing file names no file where a link leads that came since", async (made) => {
  made.put(`out/${made.token}`, "");
  const missing = `${made.token}x`;
  const context = granted(made.working, made.at(`ws/dir/${missing}`));
  Deno.renameSync(made.at("ws/dir"), made.at("ws/away"));
  Deno.renameSync(made.at("ws/link"), made.at("ws/dir"));
  const calls = [[readFile, "file_path", read], [grepCode, "path", grep]] as const;
  for (const [run, name, args] of calls) {
    const call = { ...args, pattern: "x", [name]: `dir/${missing}` };
    const { message } = await assertRejects(() => run(call, context), Error);
    assert(!message.replaceAll(missing, "").includes(made.token), message);
  }
});

test("PTH-03 write_file: not even a folder is made where a link leads that came since", async (made) => {
  const context = granted(made.working, made.at("ws/link/a/b/new"));
  const result = await writeFile({ file_path: "link/a/b/new", content: "x" }, context)
    .catch(({ message }) => message);
  assert(/^Cannot write .*replaced/.test(result), result);
  assertEquals(made.names("out"), ["f"]);
});

for (const path of ["new", "a/b/new"]) {
  test(`EDT-08 write_file: a working folder that is gone is not made for ${path}`, async (made) => {
    const folder = made.working.workingDir;
    const context = granted(made.working, made.at(`ws/${path}`), { folder, paths: [] });
    Deno.renameSync(folder, `${folder}2`);
    const written = () => writeFile({ file_path: path, content: "x" }, context);
    const said = `Cannot write ${path}: the working directory ${folder} does not exist`;
    await assertRejects(written, Error, said);
    assertThrows(() => Deno.lstatSync(folder), Deno.errors.NotFound);
  });
}

/**
 * Swaps a folder for a link and back, with breaks of all lengths up to some milliseconds, until it is
 * ended; the first line says that it has begun.
 */
const SWAPPER = `
const [ws] = Deno.args;
console.log("swapping");
function put(name) {
  for (;;) {
    try {
      return Deno.renameSync(ws + "/" + name, ws + "/dir");
    } catch {
      // A tool that makes the folders it needs has made this one.
      try {
        Deno.removeSync(ws + "/dir", { recursive: true });
      } catch { /* and goes on */ }
    }
  }
}
function rest() {
  const end = performance.now() + 20 * Math.random() ** 8;
  while (performance.now() < end);
}
for (;;) {
  Deno.renameSync(ws + "/dir", ws + "/away");
  put("link");
  rest();
  Deno.renameSync(ws + "/dir", ws + "/link");
  put("away");
  rest();
}`;

test("PTH-03 EDT-02 a folder is swapped for a link in a loop: nothing outside is read or written", async (made) => {
  made.put(`out/${made.token}`, "");
  const swapper = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", SWAPPER, made.at("ws")],
    stdout: "piped",
  }).spawn();
  let leaked = 0;
  try {
    const begun = swapper.stdout.getReader();
    await begun.read();
    await begun.cancel();
    const start = performance.now();
    const isBusy = () => performance.now() - start < (leaked > 0 ? 1000 : 30_000);
    while (isBusy()) {
      for (const [name, run, args, path] of CALLS) {
        // The names that glob_files shows are not held back to the last.
        if (name === "glob_files") continue;
        const realPath = made.at(`ws/${path}`).replace(/\/\.$/, "");
        await run(args, granted(made.working, realPath)).then((result) => {
          assert(!result.includes(made.token), `${name}: ${result}`);
        }, ({ message }) => assert(!message.includes(made.token), `${name}: ${message}`));
      }
      // The positive control: without a grant links are followed whenever there are some.
      const result = await readFile({ ...read, file_path: "dir/f" }, made.working).catch(String);
      if (result.includes(made.token)) leaked++;
    }
  } finally {
    swapper.kill("SIGKILL");
    await swapper.status;
  }
  assert(leaked > 0, "nothing was swapped");
  assertEquals(made.text("out/f"), `old ${made.token}\n`);
  assertEquals(made.names("out").sort(), [made.token, "f"].sort());
});

interface SearchArgs {
  pattern: string;
  path: string;
  glob?: string;
}

/** What a search shows in `folder` with these rules, and `more` settings. */
async function search(
  { context }: Workspace,
  folder: string,
  rules: string[],
  args: SearchArgs,
  { tool = "grep_code", isAsked = true, more = {} } = {},
): Promise<string> {
  const settings = {
    ...{ approve: "ask", sandbox: "off", isTrusted: true, hasBash: () => true } as const,
    rules: rules.map((text) => {
      const [effect, ...rest] = text.split(" ");
      return parseRule(effect as RuleEffect, rest.join(" ").replace("DIR", folder));
    }),
    ...more,
  };
  const place = (path: string) => placeOf(folder, path);
  const grant = grantOf({ name: tool, access: "read" }, args.path, settings, place, isAsked);
  const given = { ...context, workingDir: folder, grant };
  const run = tool === "grep_code"
    ? grepCode({ ...grep, ...args }, given)
    : globFiles({ ...args }, given);
  return await run.catch(String);
}

/** A token in files that rules and the list of secrets are about; what a search of `args` finds of them. */
async function found(rules: string[], args: SearchArgs, options?: Parameters<typeof search>[4]) {
  using made = workspace();
  const files = (
    "a.txt secret/b.txt secret/deep/c.txt src/server.key src/ok.txt src/credentials/mod.ts " +
    ".env .ssh/id_ed25519 id_rsa"
  ).split(" ");
  for (const file of files) made.put(file, `${file} TOKEN\n`);
  Deno.symlinkSync("secret", made.at("alias"));
  const text = await search(made, made.dir, rules, args, options);
  return { files: files.filter((file) => text.includes(file)), text };
}

const ALL = { pattern: "TOKEN", path: "." };
const PLAIN = ["a.txt", "src/ok.txt", "src/credentials/mod.ts"];
const BOTH = ["secret/b.txt", "secret/deep/c.txt"];

const OPEN = ["a.txt", ...BOTH, ...PLAIN.slice(1)];
type Search = [name: string, rules: string[], args: SearchArgs, files: string[], isAsked?: boolean];
// deno-fmt-ignore
const SEARCHES: Search[] = [
  ["secrets are withheld", [], ALL, OPEN],
  ["what a rule denies is", ["deny read(secret/**)"], ALL, PLAIN],
  ["by its absolute path, too", ["deny read(DIR/secret/**)"], ALL, PLAIN],
  ["for another tool, too", ["deny read_file(secret)"], ALL, PLAIN],
  ["but not for one that writes", ["deny write(secret)"], ALL, OPEN],
  ["what a rule asks about is", ["ask read(secret/deep)"], ALL, ["a.txt", BOTH[0]!, ...PLAIN.slice(1)]],
  ["a hidden name in the pattern", [], { ...ALL, glob: ".env" }, []],
  ["a hidden folder in the pattern", [], { ...ALL, glob: ".ssh/*" }, []],
  ["a file as a folder in the pattern", [], { ...ALL, glob: "a.txt/" }, ["a.txt"]],
  ["a folder in the pattern", ["deny read(secret/**)"], { ...ALL, glob: "secret/deep/*" }, []],
  ["a link in the pattern", ["deny read(secret/**)"], { ...ALL, glob: "alias/*" }, []],
  ["a link in the path", ["deny read(secret/deep)"], { ...ALL, path: "alias" }, [BOTH[0]!]],
  ["below a folder", ["deny read(/**/ok.txt)", "deny read(src/ok.txt)"], { ...ALL, path: "src" }, ["src/credentials/mod.ts"]],
  ["a file that was named", [], { ...ALL, path: ".env" }, [".env"]],
  ["a folder that was named", ["ask read(secret/**)"], { ...ALL, path: "secret" }, BOTH],
  ["a folder of secrets", [], { ...ALL, path: ".ssh" }, [".ssh/id_ed25519"]],
  ["--yes", ["ask read(src/**)"], ALL, [...OPEN, "src/server.key", "id_rsa"], false],
  ["--yes does not undo a denial", ["deny read(id_rsa)", "deny read(src)"], ALL, ["a.txt", ...BOTH], false],
];

for (const [name, rules, args, files, isAsked = true] of SEARCHES) {
  Deno.test(`SEC-01 a search and what it may not show: ${name}`, async () => {
    const result = await found(rules, args, { isAsked });
    assertEquals(result.files.toSorted(), files.toSorted(), result.text);
  });
}

Deno.test("SEC-01 a search that begins elsewhere withholds the same", async () => {
  using made = workspace();
  made.put("work/");
  made.put("out/secret/b.txt", "TOKEN\n");
  made.put("out/secret/id_rsa", "TOKEN\n");
  const path = made.at("out");
  const names = async (folder: string, rules: string[], args: { glob?: string }) => {
    const text = await search(made, folder, rules, { pattern: "TOKEN", path, ...args });
    return ["b.txt:", "c.txt:", "id_rsa:"].filter((name) => text.includes(name)).join(" ");
  };
  const folder = made.at("out/secret");
  const [work, out] = [made.at("work"), made.at("out")];
  const below = { glob: "secret/*" };
  assertEquals(await names(work, [], below), "b.txt:");
  made.put("out/u\u0308/c.txt", "TOKEN\n");
  assertEquals(await names(out, [], {}), "b.txt: c.txt:");
  assertEquals(await names(out, ["deny read(\u00fc)"], {}), "b.txt:");
  assertEquals(await names(work, [`deny read(${made.at("out/\u00fc")})`], {}), "b.txt:");
  Deno.removeSync(made.at("out/u\u0308"), { recursive: true });
  assertEquals(await names(work, [`deny read(${folder})`], below), "");
  assertEquals(await names(work, [`deny read(${folder})`], {}), "");
  for (const from of [work, out]) {
    assertEquals(await names(from, [], { glob: "secret/b.txt/" }), "b.txt:");
    assertEquals(await names(from, [], { glob: "secret/id_rsa/" }), "");
  }
  if (SEPARATOR !== "/") return;
  for (const rule of [folder.slice(1), folder]) {
    assertEquals(await names("/", [], {}), "b.txt:");
    assertEquals(await names("/", [`deny read(${rule})`], {}), "");
    assertEquals(await names("/", [`deny read(${rule})`], below), "");
  }
});

Deno.test("what is withheld is counted", async () => {
  const { text } = await found(["deny read(secret/**)"], ALL);
  assert(text.includes("3 withheld by the rules"), text);
  const none = await found([], { ...ALL, glob: "*.key" });
  assert(none.text.includes("1 withheld by the rules"), none.text);
  const args = { pattern: "**", path: "." };
  const { files } = await found(["deny read(secret/**)"], args, { tool: "glob_files" });
  assertEquals(files.toSorted(), PLAIN.toSorted());
});

posixTest("R-19 a search from a folder above leaves out what the view closes", async () => {
  using made = workspace();
  made.put("work/");
  for (const name of ["lib/a", "lib/home/b", "lib/home/tools/c"]) made.put(name, "TOKEN\n");
  const workingDir = made.at("work");
  const rights = [["lib", "read"], ["lib/home", "hidden"], ["lib/home/tools", "read"]] as const;
  const places = new Map<string, "read" | "hidden" | "write">([
    ...rights.map(([name, right]) => [made.at(name), right] as const),
    [workingDir, "write"],
  ]);
  const view = () => ({ folder: workingDir, places, network: false, isComplete: true });
  const names = async (from: string, isSandboxed: boolean) => {
    const more = { approve: "auto", ...isSandboxed && { view } };
    const args = { pattern: "TOKEN", path: made.at(from) };
    const text = await search(made, workingDir, [], args, { more });
    return ["a", "b", "c"].filter((name) => text.includes(`/${name}:`)).join("");
  };
  assertEquals(await names("lib", false), "abc");
  assertEquals(await names("lib", true), "a");
  assertEquals(await names("lib/home/tools", true), "c");
});
