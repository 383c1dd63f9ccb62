// Flags that people type from the habit of other agents: claude -p --allowedTools (anthropics/claude-code docs),
// codex exec -i FILE -o FILE, gemini --output-format json, copilot --add-dir.

import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { parseArgs } from "../../src/cli/args.ts";
import { answerWriter, serversOf } from "../../src/cli/flag_files.ts";
import { UsageError } from "../../src/errors.ts";
import { parsePermissionChoice } from "../../src/safety/choice.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { ruleElsewhere } from "../../src/safety/rules_elsewhere.ts";
import { png } from "../helpers/images.ts";
import { run } from "../helpers/program.ts";
import { bash, type Step, strictServer, use } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";
import { turn } from "../helpers/turn.ts";

Deno.test("flags of other agents are read as ours, or answered with the right one", () => {
  const rows: [words: string[], args: Record<string, unknown>][] = [
    [["--output-format", "json", "-p", "x"], { output: "json", print: "x" }],
    [["--output-format=json"], { output: "json" }],
    [["--permission-mode", "acceptEdits"], { approve: "auto" }],
    [["--permission-mode", "plan"], { approve: "plan" }],
    [["--permission-mode=bypassPermissions"], { yes: true }],
    [["--allowedTools", "Read", "--allowed-tools", "Bash(ls)"], { allow: "Read\nBash(ls)" }],
    [["--cd", "x", "--deny", "Bash"], { "working-dir": "x", deny: "Bash" }],
  ];
  for (const [words, args] of rows) assertEquals(parseArgs(words), args, words.join(" "));
  for (const word of ["--session-id", "--input-format", "--verbose", "--ephemeral"]) {
    assertThrows(() => parseArgs([word]), Error, `Unknown flag "${word}": `);
  }
});

Deno.test("rules of other agents are read as ours", () => {
  const rows = [
    ["Bash(npm run test:*)", "run_bash(npm run test *)"],
    ["Bash", "run_bash"],
    ["Edit", "write(**)"],
    ["Edit(/src/**)", "write(src/**)"],
    ["Read(//etc/hosts)", "read(/etc/hosts)"],
    ["WebFetch(domain:docs.rs)", "fetch_url(docs.rs)"],
    ["WebSearch", "search_web"],
    ["mcp__git__push", "mcp__git__push"],
    ["run_bash(npm test *)", "run_bash(npm test *)"],
  ] as const;
  for (const [given, ours] of rows) assertEquals(ruleElsewhere("allow", given), ours);
  assertEquals(ruleElsewhere("deny", "Edit"), "write");
  const { level } = parsePermissionChoice({ allow: "Read, Bash(git log:*) Edit\nGlob" });
  assertEquals(level?.allow, ["read(**)", "run_bash(git log *)", "write(**)", "glob_files"]);
});

const write: Step = use("write_file", { file_path: "new.txt", content: "x" });

Deno.test("--allow and --deny decide calls of one run", async () => {
  await turn([write], [], {}, ({ code }) => assertEquals(code, 3));
  await turn([write], ["--allow", "write(new.txt)"], {}, ({ code, results }) => {
    assertEquals([code, results], [0, ["Created new.txt: wrote 1 byte"]]);
  });
  const denied = ["--yes", "--deny", "Bash(touch:*)"];
  await turn([bash("touch b")], denied, {}, ({ code }) => assertEquals(code, 3));
  await turn([], ["--allow", "Bash(npm test:*"], {}, ({ stderr }) => {
    assertMatch(stderr, /"Bash\(npm test:\*" as a bracket is missing/);
  });
  await turn([], ["--allow", "no_tool(x)"], {}, ({ code, stderr }) => {
    assertEquals(code, 2);
    assertMatch(stderr, /no tool is called no_tool/);
  });
});

Deno.test("--add-dir opens a folder to tools", async () => {
  using temp = tempFolder();
  await Deno.writeTextFile(`${temp.path}/other.txt`, "from elsewhere\n");
  const read = use("read_file", { file_path: `${temp.path}/other.txt` });
  const edit = use("write_file", { file_path: `${temp.path}/new.txt`, content: "x" });
  await turn([read], [], {}, ({ code }) => assertEquals(code, 3));
  await turn([read, edit], ["--add-dir", temp.path], {}, ({ code, results }) => {
    assertEquals(code, 0);
    assertStringIncludes(results[0]!, "from elsewhere");
  });
  assertEquals(await Deno.readTextFile(`${temp.path}/new.txt`), "x");
  const ask = ["--approve", "ask", "--add-dir", temp.path];
  await turn([edit], ask, {}, ({ code }) => assertEquals(code, 3));
  for (const wrong of [`${temp.path}/none`, "/", Deno.env.get("HOME")!]) {
    await turn([], ["--add-dir", wrong], {}, ({ code }) => assertEquals(code, 2));
  }
});

Deno.test("the answer is never written through a link", async () => {
  using temp = tempFolder();
  const at = (name: string) => `${temp.path}/${name}`;
  const has = (name: string) => Deno.readTextFileSync(at(name));
  await Deno.writeTextFile(at("mine"), "mine");
  await Deno.mkdir(at("sub"));
  const [first, second] = ["answer", "sub/mine"].map((name) =>
    answerWriter({ "output-last-message": at(name) })
  );
  assertEquals([await first!("one"), has("answer")], [undefined, "one\n"]);
  await Deno.remove(at("answer"));
  await Deno.symlink("mine", at("answer"));
  await Deno.rename(at("sub"), at("moved"));
  await Deno.symlink(".", at("sub"));
  for (const write of [first!, second!]) assertMatch(`${await write("two")}`, /^Cannot write /);
  assertEquals(has("mine"), "mine");
  assertThrows(() => answerWriter({ "output-last-message": at("answer") }), UsageError, "a link");
});

Deno.test("prompts, images, servers and the file of the answer come from flags", async () => {
  using temp = tempFolder();
  const at = (name: string) => `${temp.path}/${name}`;
  await Deno.writeFile(at("a.png"), png(2, 2));
  const servers =
    '{"mcpServers": {"x": {"command": "true"}, "old": {"type": "sse", "url": "http://a"}}}';
  await Deno.writeTextFile(at("mcp.json"), servers);
  await Deno.writeTextFile(at("empty.json"), "{}");
  await using server = strictServer([
    { text: "seen" },
    { text: "own" },
    use("list_directory", {}),
    use("list_directory", {}),
    { text: "end" },
  ]);
  const base = ["--base-url", `${server.url}/v1`, "--api-key", "k", "-m", "test"];
  const copilot = (...flags: string[]) => run([...base, ...flags, "-p", "go"], { cwd: temp.path });
  const first = await copilot(
    "-i",
    "a.png",
    "-o",
    "answer.txt",
    "--append-system-prompt",
    "Be brief.",
    "--mcp-config",
    "mcp.json",
  );
  assertEquals([first.code, await Deno.readTextFile(at("answer.txt"))], [0, "seen\n"]);
  const [system, user] = server.requests[0]!.body.messages as { content: unknown }[];
  assertMatch(`${system!.content}`, /^You are .*\nBe brief\.\n/s);
  assertStringIncludes(JSON.stringify(user!.content), "data:image/png;base64,");
  // A file in the folder is the folder's: its servers need an answer, or --trust.
  assertStringIncludes(first.stderr, "not started: x (copilot mcp approve x)");
  assertStringIncludes(first.stderr, 'The server old cannot be used: the transport "sse" of 2024');
  assertEquals(JSON.stringify(server.requests[0]!.body.tools).includes("find_tool"), false);
  await copilot("--system-prompt", "You are a cat.");
  assertEquals(
    (server.requests[1]!.body.messages as { content: string }[])[0]!.content,
    "You are a cat.",
  );
  const limited = await copilot("--max-turns", "1", "-o", "answer.txt");
  assertEquals([limited.code, limited.stdout, await Deno.readTextFile(at("answer.txt"))], [
    4,
    "",
    "",
  ]);
  const stop =
    /· Stopped after 1 round of tool calls\. To continue: copilot --resume \w+ -p "go on"/;
  assertMatch(limited.stderr, stop);
  const wrong = [["-i", "none.png"], ["-i", "mcp.json"], ["--mcp-config", "empty.json"], [
    "--max-turns",
    "0",
  ]];
  for (const flags of wrong) {
    const { code, stderr } = await copilot(...flags);
    assertEquals([code, stderr.trim().split("\n").length], [2, 1], flags.join(" "));
  }
});

Deno.test("servers of a file that commands may write are those of the folder", async () => {
  using temp = tempFolder();
  const base = Deno.realPathSync(temp.path);
  const folders = ["work", "listed", "added", "own"].map((name) => `${base}/${name}`);
  const variables: Record<string, string> = { HOME: base, XDG_CONFIG_HOME: `${base}/.config` };
  await Deno.mkdir(`${base}/.config/copilot`, { recursive: true });
  const listed = JSON.stringify({ sandboxWrite: [`${base}/listed`] });
  await Deno.writeTextFile(`${base}/.config/copilot/permissions.json`, listed);
  const level = { allow: [], deny: [], sandboxWrite: [`${base}/added`] };
  const permissions = openPermissions({ level, approve: "plan" }, (name) => variables[name]);
  const scopes = await Promise.all(folders.map(async (folder) => {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/mcp.json`, '{"mcpServers": {"x": {"command": "true"}}}');
    const args = { "mcp-config": `${folder}/mcp.json`, "working-dir": `${base}/work` };
    return (await serversOf(args, permissions)).map(({ scope }) => scope);
  }));
  assertEquals(scopes.flat(), ["folder", "folder", "folder", "user"]);
});
