/**
 * The client that `scripts/mcp_conformance` passes to the official suite: the whole program with a scripted
 * model. The suite appends the server's address, and names the scenario in the environment.
 */
import { run } from "../tests/helpers/program.ts";
import { strictServer } from "../tests/helpers/strict_server.ts";

const url = Deno.args.at(-1)!;
const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
const context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}");
const isAuth = scenario.startsWith("auth/");
/** The suite's document that identifies a client without registration. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** A scenario may ask for more scopes again and again. After so many sign-ins the client gives up. */
const MAX_SIGN_INS = 3;

// deno-lint-ignore no-explicit-any
type Json = any;

/** Returns the arguments that a scenario expects for a tool. */
function argumentsFor(tool: string, schema: Json): Json {
  if (tool === "add_numbers") return { a: 2, b: 3 };
  const required: string[] = schema?.required ?? [];
  const entries = required.map((name) => {
    const { type } = schema.properties?.[name] ?? {};
    const value = { string: "text", integer: 1, number: 1, boolean: true, object: {}, array: [] };
    return [name, value[type as keyof typeof value] ?? "text"];
  });
  return Object.fromEntries(entries);
}

/** The model: it lists the tools, reads the schema of each, and calls it. */
function* moves(): Generator<(request: Json) => Json, void, void> {
  let seen: Json;
  const call = (name: string, args: Json) => (request: Json) => {
    const offered: string[] = request.body.tools.map((tool: Json) => tool.function.name);
    const full = offered.find((one) => one.endsWith(`__${name}`));
    return full
      ? { toolCalls: [{ name: full, arguments: args }] }
      : offered.includes("call_tool")
      ? {
        toolCalls: [{ name: "call_tool", arguments: { name: `conf__${name}`, arguments: args } }],
      }
      : { text: "no tool" };
  };
  const result = (request: Json) => String(request.body.messages.at(-1)?.content ?? "");
  const given: Json[] = context.toolCalls ?? [];
  if (given.length > 0) {
    for (const { name, arguments: args } of given) yield call(name, args);
    return;
  }
  let names: string[] = [];
  const schemas = new Map<string, Json>();
  yield (request) => {
    const plugged = request.body.tools.filter((tool: Json) =>
      tool.function.name.startsWith("conf__")
    );
    for (const { function: { name, parameters } } of plugged) schemas.set(name, parameters);
    names = [...schemas.keys()];
    return names.length > 0
      ? { text: "", toolCalls: [{ name: "list_directory", arguments: {} }] }
      : { toolCalls: [{ name: "find_tool", arguments: { query: "" } }] };
  };
  yield (request) => {
    if (names.length === 0) names = result(request).match(/conf__[\w-]+/g) ?? [];
    return { toolCalls: [{ name: "list_directory", arguments: {} }] };
  };
  for (const name of new Set(names)) {
    if (!schemas.has(name)) {
      yield () => ({ toolCalls: [{ name: "find_tool", arguments: { query: name } }] });
      yield (request) => {
        const [, schema = "{}"] = /arguments: (\{.*\})/.exec(result(request)) ?? [];
        schemas.set(name, JSON.parse(schema));
        return { toolCalls: [{ name: "list_directory", arguments: {} }] };
      };
    }
    const tool = name.slice("conf__".length);
    // The echo tool gets the schema of the tool before it.
    if (tool !== "json_schema_echo") seen = schemas.get(name);
    yield call(
      tool,
      tool === "json_schema_echo" ? { schema: seen } : argumentsFor(tool, schemas.get(name)),
    );
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
    const next = script.next();
    return next.done ? { text: "done" } : next.value(request);
  };
  await using model = strictServer(Array.from({ length: 200 }, () => step));
  const flags = ["--local", "--host", model.url, "-m", "test", "--yes", "--sandbox", "off"];
  const { text } = await copilot(...flags, "--output", "stream-json", "-p", "Call every tool");
  return text;
}

try {
  let signIns = 0;
  if (isAuth) {
    signIns++;
    if ((await copilot("mcp", "login", "conf")).code !== 0) Deno.exit(1);
  }
  for (;;) {
    const text = await prompt();
    if (!/copilot mcp login conf/.test(text)) break;
    if (++signIns > MAX_SIGN_INS || (await copilot("mcp", "login", "conf")).code !== 0) {
      Deno.exit(1);
    }
  }
} finally {
  await Deno.remove(root, { recursive: true });
}
