/** `copilot mcp`: the defined servers, and who may use them. @module */

import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import type { McpDefinition } from "./definition.ts";
import type { McpServer } from "./server.ts";
import { mcpRow, serverQuestion } from "./mcp_text.ts";
import type { McpServers } from "./servers.ts";
import { openMcp } from "./source.ts";
import { mcpFiles } from "./mcp_files.ts";
import {
  addToFile,
  type Json,
  removeFromFile,
  SCOPES,
  scopesOf,
  type ServerScope,
} from "./own_servers.ts";
import { noticeLines } from "../../session/notices.ts";
import { openPermissions } from "../../safety/permissions.ts";
import { hideCredentials } from "../../text/credentials.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import { processVariable } from "../../user_files.ts";

const USAGE = `Usage:
  copilot mcp list                             the servers of this folder and of your own, and their tools
  copilot mcp get NAME                         shows one, without the values of variables and headers
  copilot mcp add [flags] NAME COMMAND [ARGS]  adds a program; all words after COMMAND are its own
  copilot mcp add [flags] NAME URL             adds an address
  copilot mcp add-json [flags] NAME JSON       adds a definition in JSON
  copilot mcp import [FILE] [NAME...] [--yes]  adds servers of Claude, Cursor, VS Code, codex, opencode and Gemini
  copilot mcp remove NAME                      removes one
  copilot mcp approve NAME [--yes]             shows a server of the folder, or tools that changed, and asks
  copilot mcp test NAME                        starts a server and lists its tools
  copilot mcp login NAME                       signs in to a server in the browser
  copilot mcp logout NAME                      signs out of it

Flags of add: -e, --env NAME=VALUE; -H, --header 'NAME: VALUE' (several times); -t, --transport stdio|http;
  -s, --scope user (in all folders, the default), local (in this repository, for you), project (in its .mcp.json);
  --no-network, --no-sandbox
Values may hold \${VARIABLE}, which is looked up when the server starts.
`;

interface McpRun {
  stdout: { write(text: string): void };
  stderr: { write(text: string): void };
  signal: AbortSignal;
}

type Subcommand = (words: readonly string[], run: McpRun) => Promise<number>;

const MCP_COMMANDS: Readonly<Record<string, Subcommand>> = {
  list: (words, run) => withServers(words, run, listServers),
  get: (words, run) => withServer(words, run, getServer),
  add: addServer,
  "add-json": addJson,
  import: importServers,
  remove: removeServer,
  approve: (words, run) => withServer(words, run, approveServer),
  test: (words, run) => withServer(words, run, testServer),
  login: (words, run) => withServer(words, run, (server) => signIn(server, run, true)),
  logout: (words, run) => withServer(words, run, (server) => signIn(server, run, false)),
};

/** Runs `copilot mcp` with its words and returns the exit code. @throws {UsageError} for invalid words. */
export async function runMcp(words: readonly string[], run: McpRun): Promise<number> {
  const [name = "", ...rest] = words;
  if (name === "" || ["--help", "-h", "help"].includes(name) || rest.includes("--help")) {
    run.stdout.write(USAGE);
    return name === "" ? EXIT.usage : EXIT.done;
  }
  const subcommand = Object.hasOwn(MCP_COMMANDS, name) ? MCP_COMMANDS[name] : undefined;
  if (subcommand) return await subcommand(rest, run);
  const hint = didYouMean(
    name,
    Object.keys(MCP_COMMANDS),
    "copilot mcp --help lists them",
    (near) => `copilot mcp ${near}`,
  );
  throw new UsageError(
    `There is no command copilot mcp ${JSON.stringify(shortened(name, 40))}: ${hint}`,
  );
}

/** Opens the servers of the current folder for `use`, and closes them afterwards. */
async function withServers(
  words: readonly string[],
  run: McpRun,
  use: (source: McpServers, run: McpRun) => Promise<number>,
): Promise<number> {
  if (words.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(words[0])}`);
  const folder = Deno.realPathSync(".");
  const permissions = openPermissions();
  permissions.frontend = {
    onEvent(event) {
      const lines = event.type === "session_notice" ? noticeLines(event.notice, "flags") : [];
      for (const line of lines) run.stderr.write(`· ${line}\n`);
    },
  };
  await using source = await openMcp({
    folder,
    files: mcpFiles(folder),
    env: permissions.env,
    confine: (id) => permissions.confineServers(() => folder, id),
    // As in a session: some servers offer other tools to clients that cannot ask the user.
    elicit: () => Promise.resolve({ action: "cancel" }),
    onProblem: (why) => run.stderr.write(`copilot: ${oneLine(why)}\n`),
    onNews(news) {
      if (news.type !== "left_out") return;
      for (const reason of news.reasons) run.stderr.write(`· left out: ${oneLine(reason)}\n`);
    },
  });
  return await use(source, run);
}

async function withServer(
  words: readonly string[],
  run: McpRun,
  use: (server: McpServer, run: McpRun, isYes: boolean) => Promise<number>,
): Promise<number> {
  const [name, ...more] = words.filter((word) => word !== "--yes");
  if (name === undefined || more.length > 0) {
    throw new UsageError("Name one server: copilot mcp list shows them");
  }
  return await withServers([], run, async (source) => {
    const server = source.find(name);
    if (server) return await use(server, run, words.includes("--yes"));
    const names = source.servers.map((one) => one.name);
    const hint = didYouMean(name, names, "copilot mcp list shows them");
    throw new UsageError(`There is no MCP server ${JSON.stringify(shortened(name, 40))}: ${hint}`);
  });
}

function listServers(source: McpServers, { stdout }: McpRun): Promise<number> {
  for (const server of source.servers) {
    stdout.write(`${mcpRow(server, "copilot mcp")}\n  ${targetText(server)}\n`);
  }
  if (source.servers.length === 0) {
    stdout.write("No MCP server is defined: copilot mcp add adds one.\n");
  }
  return Promise.resolve(EXIT.done);
}

/** Returns the command or address of a server, without possible secrets. */
function targetText({ definition: { program, url, file } }: Pick<McpServer, "definition">): string {
  const words = program ? [program.command, ...program.args].join(" ") : url ?? "";
  return `${shortened(hideCredentials(oneLine(words)), 200)}${
    file === undefined ? "" : ` (${oneLine(file)})`
  }`;
}

function getServer(server: McpServer, { stdout }: McpRun): Promise<number> {
  const { definition: { scope, cwd, program, headers } } = server;
  const names = (map: object = {}) => Object.keys(map).map(oneLine).join(", ");
  const rows = [
    ["defined by", scope === "folder" ? "the folder" : "you"],
    ["folder", oneLine(cwd ?? "")],
    ["variables", names(program?.env)],
    ["headers", names(headers)],
  ].filter(([, text]) => text !== "");
  stdout.write(`${mcpRow(server, "copilot mcp")}\n  ${targetText(server)}\n`);
  for (const [name, text] of rows) stdout.write(`  ${name}: ${text}\n`);
  return Promise.resolve(EXIT.done);
}

/** The flags of `add`, and other programs' names for them. */
const ADD_FLAGS: Readonly<Record<string, string>> = {
  ...{ "-e": "--env", "--env": "--env", "-H": "--header", "--header": "--header" },
  ...{ "-t": "--transport", "--transport": "--transport", "-s": "--scope", "--scope": "--scope" },
  ...{ "--url": "--url", "--no-network": "--no-network", "--no-sandbox": "--no-sandbox" },
};

interface AddWords {
  scope: ServerScope;
  operands: string[];
  /** The fields of the definition that flags gave. */
  server: Record<string, unknown>;
}

/** Reads the words of `add`. Those after a command, and after `--`, belong to the command, unless `isWhole`. */
function readAddWords(words: readonly string[], isWhole = false): AddWords {
  const read: AddWords = { scope: "user", operands: [], server: {} };
  const { operands, server } = read;
  const isUrl = (word = "") => /^https?:\/\//i.test(word) || server.type === "http";
  for (let i = 0; i < words.length; i++) {
    const isCommand = !isWhole && operands.length > 1 && !isUrl(operands[1]);
    if (isCommand || words[i] === "--") {
      operands.push(...words.slice(isCommand ? i : i + 1));
      break;
    }
    const [, long, behind] = /^(--[\w-]+)=([^]*)$/.exec(words[i]!) ?? [];
    const word = long ?? words[i]!;
    const flag = Object.hasOwn(ADD_FLAGS, word) ? ADD_FLAGS[word] : undefined;
    if (flag === "--no-network") server.network = false;
    else if (flag === "--no-sandbox") server.sandbox = "off";
    else if (flag !== undefined) addFlag(read, flag, behind ?? words[++i] ?? "");
    else if (word.startsWith("-")) throw new UsageError(`copilot mcp add has no flag ${word}`);
    else operands.push(word);
  }
  return read;
}

function addFlag(read: AddWords, flag: string, value: string): void {
  const { server, operands } = read;
  const [, name, text] = /^([^=:\s]+)[=:]\s*([^]*)$/.exec(value) ?? [];
  if (flag === "--url") operands.push(value);
  else if (flag === "--scope") {
    const scope = SCOPES.find((one) => one === value);
    if (!scope) throw new UsageError(`--scope needs one of ${SCOPES.join(", ")}`);
    read.scope = scope;
  } else if (flag === "--transport") {
    if (!/^(stdio|http|streamable-http|sse)$/.test(value)) {
      throw new UsageError("--transport needs one of stdio, http");
    }
    server.type = value === "streamable-http" ? "http" : value;
  } else if (name === undefined) {
    throw new UsageError(`${flag} needs NAME=VALUE`);
  } else {
    const key = flag === "--env" ? "env" : "headers";
    server[key] = { ...server[key] as object, [name]: text };
  }
}

async function addServer(words: readonly string[], { stdout }: McpRun): Promise<number> {
  const { scope, operands, server: { type, ...server } } = readAddWords(words);
  const [name, target, ...args] = operands;
  if (name === undefined || target === undefined) {
    throw new UsageError("Name the server, and give a COMMAND or a URL: copilot mcp add --help");
  }
  const stray = words.includes("--")
    ? undefined
    : args.find((word) => word in ADD_FLAGS && word.startsWith("--"));
  if (stray !== undefined) {
    throw new UsageError(
      `Put ${stray} before ${name}, or -- before the command if it is the command's`,
    );
  }
  const isUrl = type === undefined ? /^https?:\/\//i.test(target) : type !== "stdio";
  if (isUrl && args.length > 0) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(args[0])}`);
  }
  const added = isUrl
    ? { type: type ?? "http", url: target, ...server }
    : { command: target, args, ...server };
  return await reportAdded(name, added, scope, stdout);
}

async function addJson(words: readonly string[], { stdout }: McpRun): Promise<number> {
  const { scope, operands: [name, json = "", ...more], server } = readAddWords(words, true);
  const value = jsonOrUndefined(json);
  if (name === undefined || !isObject(value) || more.length > 0) {
    throw new UsageError("Give a name and one JSON object: copilot mcp add-json NAME '{...}'");
  }
  return await reportAdded(name, { ...value, ...server }, scope, stdout);
}

async function reportAdded(
  name: string,
  server: Json,
  scope: ServerScope,
  stdout: McpRun["stdout"],
): Promise<number> {
  const path = await addToFile(name, server, scope);
  stdout.write(`Added ${name} to ${path}. copilot mcp test ${name} tries it.\n`);
  return EXIT.done;
}

async function removeServer(words: readonly string[], { stdout }: McpRun): Promise<number> {
  const { operands: [name, ...more], scope: chosen } = readAddWords(words, true);
  if (name === undefined || more.length > 0) throw new UsageError("Name one server to remove");
  const isChosen = words.some((word) => /^(-s|--scope(=.*)?)$/.test(word));
  const scopes = isChosen ? [chosen] : scopesOf(name);
  if (scopes.length > 1) {
    throw new UsageError(`Servers ${name} exist in the scopes ${scopes.join(", ")}: add --scope`);
  }
  const [scope] = scopes;
  if (!scope || !scopesOf(name).includes(scope)) {
    throw new UsageError(
      `There is no server ${shortened(name, 40)} to remove: copilot mcp list shows them`,
    );
  }
  stdout.write(`Removed ${name} from ${await removeFromFile(name, scope)}.\n`);
  return EXIT.done;
}

/** Copies servers of other programs into the user's file. Values of variables and headers are not shown. */
async function importServers(words: readonly string[], run: McpRun): Promise<number> {
  const { stdout, stderr } = run;
  const { foreignServers, ownDefinition } = await import("./import_servers.ts");
  const isYes = words.includes("--yes");
  const [file] = words.filter((word) => /[/\\]|\.(json|jsonc|toml)$/.test(word));
  const named = words.filter((word) => word !== "--yes" && word !== file);
  const home = processVariable("HOME") ?? processVariable("USERPROFILE") ?? "";
  const found = new Map(
    foreignServers(Deno.realPathSync("."), home, file).reverse()
      .map((one) => [one.name, one]),
  );
  const isUsable = ({ name, problem }: McpDefinition) =>
    problem === undefined && scopesOf(name).length === 0;
  const servers = [...found.values()].reverse();
  const usable = servers.filter(isUsable);
  for (const one of servers) {
    const at = usable.indexOf(one) + 1;
    const { program, headers, problem } = one;
    const hidden = [...Object.keys(program?.env ?? {}), ...Object.keys(headers)].map(oneLine).join(
      ", ",
    );
    const why = at > 0 ? hidden && ` with ${hidden}` : `: ${problem ?? "it is here already"}`;
    stdout.write(
      `${at > 0 ? `${at}.` : "-"} ${oneLine(one.name)}${why}\n   ${
        targetText({ definition: one })
      }\n`,
    );
  }
  if (usable.length === 0) {
    stdout.write("There is no server to import.\n");
    return EXIT.done;
  }
  if (named.length === 0 && !isYes && !Deno.stdin.isTerminal()) {
    stderr.write("copilot: cannot ask without a terminal: name servers, or --yes imports all\n");
    return EXIT.error;
  }
  const asked = named.length > 0 || isYes
    ? named
    : (prompt("Import which? (names, numbers, all)") ?? "")
      .split(/[\s,]+/).filter(Boolean);
  const isAll = isYes && named.length === 0 || asked.includes("all");
  const isAsked = ({ name }: McpDefinition, i: number) =>
    isAll || asked.includes(name) || asked.includes(`${i + 1}`);
  for (const one of usable.filter(isAsked)) {
    await reportAdded(one.name, ownDefinition(one), "user", stdout);
  }
  const unknown = asked.find((word) =>
    word !== "all" && !usable.some(({ name }, i) => word === name || word === `${i + 1}`)
  );
  if (unknown === undefined) return EXIT.done;
  throw new UsageError(`There is no server ${JSON.stringify(shortened(unknown, 40))} to import`);
}

async function approveServer(server: McpServer, run: McpRun, isYes: boolean): Promise<number> {
  const { stdout } = run;
  const { standing, name } = server;
  if (standing === "broken" || standing === "disabled") {
    throw new UsageError(
      `${name} cannot be approved: ${server.definition.problem ?? "it is turned off"}`,
    );
  }
  const isReady = standing === "ready";
  if (isReady) await server.refresh(run.signal);
  const { changes } = server;
  if (isReady && changes.length === 0) {
    stdout.write(`${name} has no tools but those that you approved.\n`);
    return EXIT.done;
  }
  const shown = isReady ? serverQuestion(server, changes) : serverQuestion(server);
  stdout.write(`${shown.text}\n`);
  const question = isReady ? "May these be offered?" : "May it be used?";
  if (!confirmed(question, isYes, run)) return EXIT.error;
  if (isReady) await server.approveTools(changes);
  else await server.decide(true);
  stdout.write(isReady ? "Approved.\n" : `Approved. copilot mcp test ${name} tries it.\n`);
  return EXIT.done;
}

/** Asks yes or no on the terminal. Without a terminal the answer is no. */
function confirmed(question: string, isYes: boolean, { stdout, stderr }: McpRun): boolean {
  if (isYes) return true;
  if (!Deno.stdin.isTerminal()) {
    stderr.write("copilot: cannot ask without a terminal: --yes approves it\n");
    return false;
  }
  if (confirm(question)) return true;
  stdout.write("Not approved.\n");
  return false;
}

async function testServer(server: McpServer, { stdout, signal }: McpRun): Promise<number> {
  const start = performance.now();
  const client = await server.refresh(signal);
  await server.listOthers(signal);
  const { era, version } = client.facts;
  const ms = Math.round(performance.now() - start);
  const { tools = [], memory: { prompts = [], resources = [] } } = server;
  stdout.write(`Answers in ${ms} ms: ${version} (${era})\n${mcpRow(server, "copilot mcp")}\n`);
  for (const { name, description = "" } of tools) {
    stdout.write(`  ${sanitize(name)}: ${shortened(oneLine(description), 100)}\n`);
  }
  for (const { name } of prompts) stdout.write(`  prompt ${sanitize(name)}\n`);
  for (const { uri } of resources.slice(0, 20)) stdout.write(`  resource ${sanitize(uri)}\n`);
  return EXIT.done;
}

async function signIn(
  server: McpServer,
  { stdout, signal }: McpRun,
  isIn: boolean,
): Promise<number> {
  if (server.definition.url === undefined) {
    throw new UsageError(
      `${server.name} is a program (${
        targetText(server)
      }): it takes what it needs from its environment`,
    );
  }
  if (isIn) await server.signIn((text) => stdout.write(`${text}\n`), signal);
  else await server.signOut();
  stdout.write(`${isIn ? "Signed in to" : "Signed out of"} ${server.name}.\n`);
  return EXIT.done;
}
