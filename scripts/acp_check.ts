/**
 * Checks `copilot acp` with tools of other authors. Every message of scripted sessions, in both directions, is
 * checked against the schema of npm `@agentclientprotocol/sdk`; npm `acpx` drives the program as an editor does;
 * and a session of 100 prompts is cancelled and answered at random. The packages are installed into a temporary
 * folder. Exits with 1 if a check fails. `--seed N` repeats a run.
 */
import { createRequire } from "node:module";
import { existsSync } from "@std/fs/exists";
import { fromFileUrl } from "@std/path/from-file-url";
import { type AcpMessage, Editor } from "../tests/helpers/editor.ts";
import { type Step, strictServer, use } from "../tests/helpers/strict_server.ts";
import { seeded } from "../tests/helpers/split.ts";
import { waitUntil } from "../tests/helpers/wait_until.ts";

type Json = Record<string, unknown>;

const PACKAGES = ["@agentclientprotocol/sdk@2.4.0", "acpx@0.19.1", "ajv@8.20.0"];
const PROMPTS = 100;
const main = fromFileUrl(new URL("../main.ts", import.meta.url));
const seedAt = Deno.args.indexOf("--seed");
const seed = seedAt < 0 ? Date.now() % 100_000 : Number(Deno.args[seedAt + 1]);
let failed = 0;

function report(name: string, problems: readonly string[]): void {
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${name}`);
  for (const problem of problems.slice(0, 20)) console.log(`     ${problem}`);
  if (problems.length > 0) failed++;
}

async function sh(command: string, args: string[], cwd: string, env: Record<string, string> = {}) {
  const child = new Deno.Command(command, { args, cwd, env, stdin: "null" });
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const folder = await Deno.makeTempDir({ prefix: "acp-check-" });
const project = `${folder}/project`;
await Deno.mkdir(project);
await Deno.writeTextFile(`${project}/a.txt`, "one\ntwo\nthree\n");
await Deno.writeTextFile(`${project}/AGENTS.md`, "Be brief.\n");
await Deno.writeTextFile(`${folder}/package.json`, "{}");
const installed = await sh("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], folder);
if (installed.code !== 0) throw new Error(`npm install failed: ${installed.stderr}`);

const schema = JSON.parse(
  await Deno.readTextFile(`${folder}/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json`),
);
const { default: Ajv } = createRequire(`${folder}/`)("ajv/dist/2020.js");
const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(schema, "acp");
const definitions = Object.entries(schema.$defs as Record<string, Json>);
/** The definition of a method's parameters (`Request`, `Notification`) or of its `Response`. */
function definitionOf(method: string, isResponse: boolean): string | undefined {
  return definitions.find(([name, definition]) =>
    definition["x-method"] === method && name.endsWith("Response") === isResponse
  )?.[0];
}

/** Checks every message of both sides against the schema. */
class CheckedEditor extends Editor {
  readonly problems: string[] = [];
  readonly #asked = new Map<string, string>();

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    super(args, { cwd: project, env: { XDG_STATE_HOME: `${folder}/state`, ...env } });
    this.onMessage = (message) => this.#check(message, "copilot");
  }

  override send(message: unknown): Promise<void> {
    if (typeof message !== "string") this.#check(message as AcpMessage, "editor");
    return super.send(message);
  }

  #check(message: AcpMessage, from: string): void {
    const other = from === "editor" ? "copilot" : "editor";
    const { id, method } = message;
    if (method !== undefined) {
      if (id !== undefined) this.#asked.set(`${from} ${id}`, method);
      return this.#hold(definitionOf(method, false), message.params, `${from}: ${method}`);
    }
    const asked = this.#asked.get(`${other} ${id}`);
    if (message.error !== undefined) {
      return this.#hold("Error", message.error, `${from}: error of ${asked}`);
    }
    if (asked !== undefined) {
      this.#hold(definitionOf(asked, true), message.result, `${from}: result of ${asked}`);
    }
  }

  #hold(definition: string | undefined, value: unknown, where: string): void {
    if (definition === undefined) return void this.problems.push(`${where} is no message`);
    const validate = ajv.getSchema(`acp#/$defs/${definition}`);
    if (validate(value)) return;
    this.problems.push(`${where}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`);
  }
}

const call = (name: string, args: Json): Step => use(name, args);
const steps: Step[] = [
  { reasoning: "Let me see.", text: "I read it.", ...call("read_file", { file_path: "a.txt" }) },
  call("edit_file", { file_path: "a.txt", old_string: "two", new_string: "2" }),
  call("write_file", { file_path: "new.txt", content: "new\n" }),
  call("run_bash", { command: "echo hi; exit 3" }),
  call("grep_code", { pattern: "o" }),
  call("no_such_tool", {}),
  { text: "Done." },
];
const CANCELLED = { outcome: "cancelled" };
const allowAll = (method: string, params: Json) => {
  if (method !== "session/request_permission") return undefined;
  const [first] = params.options as { optionId: string }[];
  return { outcome: { outcome: "selected", optionId: first!.optionId } };
};

async function wholeSession(): Promise<void> {
  const script = [...steps, ...steps, { text: "Again." }, {
    text: "half of it comes, and then ",
    hang: true,
  }];
  await using server = strictServer(script);
  const flags = ["--base-url", `${server.url}/v1`, "-m", "test", "--context-length", "32768"];
  const takes = { session: { notices: {}, compaction: {} }, auth: { terminal: true } };
  const id = await (async () => {
    await using editor = new CheckedEditor([...flags, "--approve", "ask"]);
    editor.answer = allowAll;
    const id = await editor.begin(project, takes);
    await editor.prompt(id, "Go");
    await editor.request("session/set_mode", { sessionId: id, modeId: "auto" });
    for (
      const [configId, value] of [["thinking", "off"], ["mode", "ask"], ["thinking", "default"]]
    ) {
      await editor.request("session/set_config_option", { sessionId: id, configId, value });
    }
    editor.answer = () => ({ outcome: CANCELLED });
    await editor.request("session/prompt", {
      sessionId: id,
      prompt: [
        { type: "text", text: "See" },
        { type: "resource_link", uri: `file://${project}/a.txt`, name: "a.txt" },
        { type: "resource", resource: { uri: `file://${project}/b.txt`, text: "unsaved" } },
      ],
    });
    for (const line of ["/context", "/permissions", "/nonsense", "/compact"]) {
      await editor.prompt(id, line);
    }
    await editor.request("session/list", { cwd: project });
    await editor.ask("session/close", { sessionId: "none" });
    const { code, stderr } = await editor.end();
    report("a session: reads, edits, commands, refusals, options", [
      ...editor.problems,
      ...code === 0 && stderr === "" ? [] : [`exit code ${code}, stderr ${stderr}`],
    ]);
    return id;
  })();
  await using editor = new CheckedEditor([...flags, "--approve", "ask"]);
  await editor.request("initialize", { protocolVersion: 2, clientCapabilities: takes });
  await editor.request("session/load", { sessionId: id, cwd: project, mcpServers: [] });
  await editor.request("session/close", { sessionId: id });
  await editor.request("session/resume", { sessionId: id, cwd: project });
  const turn = editor.prompt(id, "Say more");
  const begun = () =>
    editor.updates("agent_message_chunk").some((one) => JSON.stringify(one).includes("half"));
  await waitUntil(begun);
  await editor.notify("session/cancel", { sessionId: id });
  const reason = await turn;
  await editor.request("session/delete", { sessionId: id });
  const endedAt = performance.now();
  await editor.end();
  const ms = performance.now() - endedAt;
  report("load, resume, cancel, close, delete, the end of stdin", [
    ...editor.problems,
    ...reason === "cancelled" ? [] : [`the turn ended with ${reason}`],
    ...ms < 1000 ? [] : [`it ended ${ms.toFixed(0)} ms after its stdin`],
  ]);
}

/** Sends 100 prompts with random cancels and answers. Each must end, with a reason of the protocol. */
async function manyPrompts(): Promise<void> {
  const random = seeded(seed);
  const script = Array.from(
    { length: PROMPTS * 8 },
    () => steps[Math.floor(random() * steps.length)]!,
  );
  await using server = strictServer(script);
  await using editor = new CheckedEditor([
    ...["--base-url", `${server.url}/v1`, "-m", "test", "--approve", "ask", "--no-session"],
  ]);
  editor.answer = (method, params) => {
    if (method !== "session/request_permission") return undefined;
    const options = params.options as { optionId: string }[];
    const picked = options[Math.floor(random() * (options.length + 1))];
    return { outcome: picked ? { outcome: "selected", optionId: picked.optionId } : CANCELLED };
  };
  const id = await editor.begin(project);
  const reasons: Record<string, number> = {};
  const problems: string[] = [];
  for (let n = 0; n < PROMPTS; n++) {
    const turn = editor.ask("session/prompt", {
      sessionId: id,
      prompt: [{ type: "text", text: `Prompt ${n}` }],
    });
    if (random() < 0.4) {
      await new Promise((resolve) => setTimeout(resolve, random() * 60));
      await editor.notify("session/cancel", { sessionId: id });
    }
    const { result, error } = await turn;
    const reason = String(result?.stopReason ?? error?.message);
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    if (error !== undefined) problems.push(`prompt ${n}: ${error.code} ${error.message}`);
  }
  const open = new Set<unknown>();
  for (const { toolCallId, status } of editor.updates()) {
    if (status === "completed" || status === "failed") open.delete(toolCallId);
    else if (status !== undefined) open.add(toolCallId);
  }
  if (open.size > 0) problems.push(`${open.size} calls never ended`);
  report(`${PROMPTS} prompts, seed ${seed}: ${JSON.stringify(reasons)}`, [
    ...problems,
    ...editor.problems,
  ]);
}

/** Runs npm `acpx` as the editor. */
async function realClient(): Promise<void> {
  const launcher = `${folder}/agent.sh`;
  const env = { HOME: `${folder}/home`, PATH: Deno.env.get("PATH") ?? "" };
  await Deno.mkdir(env.HOME, { recursive: true });
  const write = [call("write_file", { file_path: "by_acpx.txt", content: "x\n" }), {
    text: "Done.",
  }];
  const isThere = () => existsSync(`${project}/by_acpx.txt`);
  const rows: [Step[], flags: string, words: string, wanted: (text: string) => boolean][] = [
    [write, "--deny-all", "exec Write", (text) => /Done/.test(text) && !isThere()],
    [write, "--approve-all", "exec Write", (text) => /Done/.test(text) && isThere()],
    [
      [{ text: "In JSON." }],
      "--format json --approve-all",
      "exec Say",
      (text) => /"stopReason":"end_turn"/.test(text) && /In JSON/.test(text),
    ],
    [[{ text: "Kept." }], "", "sessions new --name one", (text) => !/rror/.test(text)],
    [[], "--format json", "set-mode plan -s one", (text) => /plan/.test(text)],
    [[{ text: "Kept." }], "", "prompt -s one Say", (text) => /Kept/.test(text)],
    [[], "", "cancel -s one", (text) => !/rror/.test(text)],
    [[], "", "sessions close one", (text) => !/rror/.test(text)],
  ];
  for (const [script, flags, words, wanted] of rows) {
    await using server = strictServer(script);
    const flagsOfAgent = `--base-url ${server.url}/v1 -m test --approve ask`;
    await Deno.writeTextFile(
      launcher,
      `#!/bin/sh\nexec '${Deno.execPath()}' run -A '${main}' acp ${flagsOfAgent}\n`,
    );
    await Deno.chmod(launcher, 0o755);
    const own = `${flags} ${words}`.trim().split(" ");
    const args = ["--agent", launcher, "--cwd", project, ...own];
    const ran = await sh(`${folder}/node_modules/.bin/acpx`, args, folder, env);
    const text = ran.stdout + ran.stderr;
    report(`acpx ${own.join(" ")}`, wanted(text) ? [] : [text.slice(-2000)]);
  }
}

try {
  await wholeSession();
  await manyPrompts();
  await realClient();
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(failed === 0 ? "all well" : `${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
