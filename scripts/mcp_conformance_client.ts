/**
 * The client that `scripts/mcp_conformance` passes to the official suite: the whole program with a scripted
 * model. The suite appends the server's address, and names the scenario in the environment.
 */
import { run } from "../tests/helpers/program.ts";
import { strictServer } from "../tests/helpers/strict_server.ts";

const url = Deno.args.at(-1)!;
const context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}");
/** The suite's document that identifies a client without registration. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** A scenario may ask for more scopes again and again. After so many sign-ins the client gives up. */
const MAX_SIGN_INS = 3;

// deno-lint-ignore no-explicit-any
type Json = any;

/** Returns the arguments that a scenario expects for a tool. */
function argumentsFor(tool: string, schema: Json): Json {
  if (tool === "conf__add_numbers") return { a: 2, b: 3 };
  const required: string[] = schema?.required ?? [];
  const entries = required.map((name) => {
    const { type } = schema.properties?.[name] ?? {};
    const value = { string: "text", integer: 1, number: 1, boolean: true, object: {}, array: [] };
    return [name, value[type as keyof typeof value] ?? "text"];
  });
  return Object.fromEntries(entries);
}

/** The model: it searches for the tools, reads the schema of each, and calls it. Each request is passed in. */
function* moves(): Generator<Json, void, Json> {
  const use = (name: string, args: Json) => ({ toolCalls: [{ name, arguments: args }] });
  const call = (name: string, args: Json) => use("call_tool", { name, arguments: args });
  const given: Json[] = context.toolCalls ?? [];
  for (const { name, arguments: args } of given) yield call(`conf__${name}`, args);
  if (given.length > 0) return;
  const found = function* (query: string): Generator<Json, string, Json> {
    const request = yield use("find_tool", { query });
    return String(request.body.messages.at(-1)?.content ?? "");
  };
  let before: Json;
  for (const name of new Set((yield* found("")).match(/conf__[\w-]+/g))) {
    const schema = JSON.parse(/arguments: (\{.*\})/.exec(yield* found(name))?.[1] ?? "{}");
    // The echo tool gets the schema of the tool before it.
    const isEcho = name === "conf__json_schema_echo";
    yield call(name, isEcho ? { schema: before } : argumentsFor(name, schema));
    if (!isEcho) before = schema;
  }
}

const root = await Deno.makeTempDir({ prefix: "copilot-conformance-" });
const home = `${root}/home`;
await Deno.mkdir(`${home}/.config/copilot`, { recursive: true });
await Deno.mkdir(`${root}/folder`);
const oauth = {
  clientMetadataUrl: METADATA_URL,
  ...context.client_id && { clientId: context.client_id },
  ...context.client_secret && { clientSecret: context.client_secret },
};
await Deno.writeTextFile(
  `${home}/.config/copilot/mcp.json`,
  JSON.stringify({ mcpServers: { conf: { type: "http", url, oauth } } }),
);

async function copilot(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await run(args, {
    cwd: `${root}/folder`,
    env: { HOME: home, XDG_CONFIG_HOME: `${home}/.config`, BROWSER: "curl -sSL" },
  });
  console.error(`> copilot ${args.join(" ")}\n${stdout}${stderr}`);
  return { code, text: stdout + stderr };
}

/** Runs the program with the model once, and returns its output. */
async function prompt(): Promise<string> {
  const script = moves();
  const step = (request: Json) => {
    const next = script.next(request);
    return next.done ? { text: "done" } : next.value;
  };
  await using model = strictServer(Array.from({ length: 200 }, () => step));
  const flags = ["--local", "--host", model.url, "-m", "test", "--yes", "--sandbox", "off"];
  const { text } = await copilot(...flags, "--output", "stream-json", "-p", "Call every tool");
  return text;
}

try {
  for (let signIns = 0; /copilot mcp login conf/.test(await prompt()); signIns++) {
    const isOver = signIns === MAX_SIGN_INS || (await copilot("mcp", "login", "conf")).code !== 0;
    if (isOver) Deno.exit(1);
  }
} finally {
  await Deno.remove(root, { recursive: true });
}
