/** `copilot mcp`: the defined servers, and who may use them. @module */

import { foreignServers, ownDefinition } from "./import_servers.ts";
import { attempt } from "../../attempt.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { answersYes } from "./ask_terminal.ts";
import { approvedPart, definitionsIn, type McpDefinition, variablesOf } from "./definition.ts";
import type { McpServer } from "./server.ts";
import { approveServer } from "./mcp_command.ts";
import { listedRows, mcpRow } from "./mcp_text.ts";
import type { McpServers } from "./servers.ts";
import { openMcp } from "./source.ts";
import { mcpFiles, ownMcpFile } from "../definition_files.ts";
import { noticeLines } from "../../session/notices.ts";
import { openPermissions } from "../../safety/permissions.ts";
import { hideCredentials } from "../../text/credentials.ts";
import { isObject, jsonOrUndefined, objectOr } from "../../text/json.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isAbsolute, resolve } from "../../text/std_path.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";

const USAGE = `Usage:
  copilot mcp list                             the servers of this folder and of your own, and their tools
  copilot mcp get NAME                         shows one, without the values of variables and headers
  copilot mcp add [flags] NAME COMMAND [ARGS]  adds a program; all words after COMMAND are its own
  copilot mcp add [flags] NAME URL             adds an address
  copilot mcp add-json [flags] NAME JSON       adds a definition in JSON
  copilot mcp import                           lists servers of Claude, Cursor, VS Code, codex, opencode and Gemini
  copilot mcp import NAME...                   adds those
  copilot mcp remove NAME                      removes one
  copilot mcp approve NAME [--yes]             shows a server of the folder, or tools that changed, and asks
  copilot mcp test NAME                        starts a server and lists its tools
  copilot mcp login NAME                       signs in to a server in the browser
  copilot mcp logout NAME                      signs out of it

Flags of add and add-json: -e, --env NAME=VALUE; -H, --header 'NAME: VALUE' (several times); -t, --transport stdio|http;
  --no-network, --no-sandbox. Servers of a repository are in its .mcp.json.
Values may hold \${VARIABLE}, which is looked up when the server starts.
`;

export interface McpRun {
  stdout: { write(text: string): void };
  stderr: { write(text: string): void };
  signal: AbortSignal;
}

/** Returns the exit code; undefined for that of success. */
type Subcommand = (words: readonly string[], run: McpRun) => Promise<number | void>;

const MCP_COMMANDS: Readonly<Record<string, Subcommand>> = {
  list: (words, run) => withServers(words, run, listServers),
  get: (words, run) => withServer(words, run, getServer),
  add: addServer,
  "add-json": (words, run) => addServer(words, run, true),
  import: importServers,
  remove: removeServer,
  approve: (words, run) => withServer(words, run, approve),
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
  if (subcommand) return await subcommand(rest, run) ?? EXIT.done;
  const commands = Object.keys(MCP_COMMANDS);
  throw noneNamed("command copilot mcp", name, commands, "copilot mcp --help lists them");
}

export function noneNamed(
  what: string,
  name: string,
  names: readonly string[],
  otherwise: string,
): UsageError {
  const hint = didYouMean(name, names.map(oneLine), otherwise);
  return new UsageError(`There is no ${what} ${shortened(oneLine(name), 80)}: ${hint}`);
}

async function withServers(
  words: readonly string[],
  run: McpRun,
  use: (source: McpServers, run: McpRun) => Promise<number | void> | void,
): Promise<number | void> {
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
    onNews: (...lines) => lines.forEach((line) => run.stderr.write(`· ${line}\n`)),
  });
  return await use(source, run);
}

async function withServer(
  words: readonly string[],
  run: McpRun,
  use: (server: McpServer, run: McpRun, isYes: boolean) => Promise<number | void> | void,
): Promise<number | void> {
  const [name, ...more] = words.filter((word) => !/^(?:--yes|-y)$/.test(word));
  if (name === undefined || more.length > 0) {
    throw new UsageError("Name one server: copilot mcp list shows them");
  }
  return await withServers([], run, async (source) => {
    const server = source.find(name);
    if (server) return await use(server, run, words.length > 1);
    const names = source.servers.map((one) => one.name);
    throw noneNamed("MCP server", name, names, "copilot mcp list shows them");
  });
}

function listServers(source: McpServers, { stdout }: McpRun): void {
  for (const server of source.servers) stdout.write(serverText(server));
  if (source.servers.length === 0) {
    stdout.write("No MCP server is defined: copilot mcp add adds one.\n");
  }
}

/** Returns the command or address of a server, without possible secrets. */
function targetText({ program, url, file }: McpDefinition, max = 200): string {
  const words = program ? [program.command, ...program.args].join(" ") : url ?? "";
  return `${shortened(hideCredentials(oneLine(words)), max)}${
    file === undefined ? "" : ` (${oneLine(file)})`
  }`;
}

const serverText = (server: McpServer): string =>
  `${mcpRow(server, "copilot mcp")}\n  ${targetText(server.definition)}\n`;

function getServer(server: McpServer, { stdout }: McpRun): void {
  stdout.write(serverText(server));
  for (const [key, value] of Object.entries(approvedPart(server.definition))) {
    if (key === "command" || key === "url") continue;
    // Values may be secret.
    const text = isObject(value) ? Object.keys(value).join(", ") : String(value);
    stdout.write(`  ${key}: ${oneLine(text)}\n`);
  }
}

/** A flag of `add` with a value, also by other agents' names. */
const ADD_FLAG = /^(?:(-e|--env)|(-H|--header)|(-t|--transport)|(-s|--scope))(?:=([^]*))?$/;
const isUrl = (word: string) => /^https?:\/\//i.test(word);

/** Reads the words of `add`. Those after a command, and after `--`, belong to the command, unless `isWhole`. */
function readAddWords(words: readonly string[], isWhole: boolean) {
  const [operands, server]: [string[], Record<string, unknown>] = [[], {}];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const isCommand = !isWhole && operands.length > 1 && !isUrl(operands[1]!);
    if (isCommand || word === "--" && operands.length > 0) {
      operands.push(...words.slice(isCommand ? i : i + 1));
      break;
    }
    const [flag, env, header, transport, scope, inline] = ADD_FLAG.exec(word) ?? [];
    const value = flag === undefined ? word : inline ?? words[++i] ?? "";
    if (env ?? header) {
      const key = env ? "env" : "headers";
      const [, name, text] = /^([^=:\s]+)[=:]\s*([^]*)$/.exec(value) ?? [];
      if (name === undefined) {
        throw new UsageError(`${word} needs ${env ? "NAME=VALUE" : "'NAME: VALUE'"}`);
      }
      server[key] = { ...server[key] as object, [name]: text };
    } else if (transport) server.type = value.replace("streamable-", "");
    else if (scope && value === "user") continue;
    else if (scope) throw new UsageError("For one repository, add the server to its .mcp.json");
    else if (word === "--no-network") server.network = false;
    else if (word === "--no-sandbox") server.sandbox = "off";
    else if (value.startsWith("-")) throw new UsageError(`copilot mcp add has no flag ${word}`);
    else operands.push(value);
  }
  return { operands, server };
}

async function addServer(
  words: readonly string[],
  { stdout }: McpRun,
  isJson = false,
): Promise<void> {
  const { operands, server: { type, ...server } } = readAddWords(words, isJson);
  const [name, target, ...args] = operands;
  const given = isJson ? jsonOrUndefined(target ?? "") : target;
  const isAddress = isUrl(target ?? "");
  const isMissing = isJson ? !isObject(given) : !given;
  if (name === undefined || isMissing || (isJson || isAddress) && args.length > 0) {
    throw new UsageError(`Give a name, and ${isJson ? "one JSON object" : "a COMMAND or a URL"}`);
  }
  const types = isJson ? [type] : isAddress ? [undefined, "http", "sse"] : [undefined, "stdio"];
  if (!types.includes(type as string)) {
    throw new UsageError("--transport is http for an address, and stdio for a program");
  }
  const added = isObject(given)
    ? { ...given, ...server }
    : isAddress
    ? { type: type ?? "http", url: target, ...server }
    : { command: target, args, ...server };
  stdout.write(await addToFile(name, added));
  const here = isJson ? undefined : args.find((word) => attempt(() => Deno.statSync(word)));
  if (here && !isAbsolute(here)) {
    stdout.write(`It starts in an empty folder: name ${resolve(here)} instead of "${here}".\n`);
  }
}

/** Returns the servers of the user's file, and what saves others in their place. */
function ownServers() {
  const path = ownMcpFile();
  if (path === undefined) throw new UsageError("There is no home folder to save servers in");
  const file = readJsonFile(path) ?? {};
  const save = (mcpServers: Record<string, unknown>) =>
    replaceUserFile(path, `${JSON.stringify({ ...file, mcpServers }, null, 2)}\n`);
  return { path, servers: objectOr(file.mcpServers), save };
}

/** Adds a server to the user's file, and returns a line about it. @throws {UsageError} if it is invalid or exists. */
async function addToFile(given: string, server: Record<string, unknown>): Promise<string> {
  const [read] = definitionsIn({ mcpServers: { [given]: server } }, { scope: "user" });
  const { name, problem } = read!;
  if (problem !== undefined) throw new UsageError(`Cannot add ${given} as ${problem}`);
  const { path, servers, save } = ownServers();
  if (Object.hasOwn(servers, name)) {
    const how = `copilot mcp remove ${name}`;
    throw new UsageError(`There is a server ${name} already: ${how} removes it`);
  }
  await save({ ...servers, [name]: server });
  return `Added ${name} to ${path}. copilot mcp test ${name} tries it.\n`;
}

async function removeServer(words: readonly string[], { stdout }: McpRun): Promise<void> {
  const [name = "", ...more] = words;
  if (name === "" || more.length > 0) throw new UsageError("Name one server to remove");
  const { path, servers, save } = ownServers();
  if (!Object.hasOwn(servers, name)) {
    throw noneNamed("MCP server", `${name} in ${path}`, [], "copilot mcp list shows the others");
  }
  const { [name]: _, ...others } = servers;
  await save(others);
  stdout.write(`Removed ${name} from ${path}.\n`);
}

/** Lists the servers of other programs, and copies those that are named into the user's file. Secrets are not shown. */
async function importServers(names: readonly string[], { stdout }: McpRun): Promise<void> {
  const servers = foreignServers();
  if (servers.length === 0) stdout.write("No servers of other programs found.\n");
  const own = ownServers().servers;
  const usable = new Map<string, McpDefinition>();
  const problems = new Map<string, string>();
  for (const one of servers) {
    const { name, program, headers } = one;
    const problem = one.problem ??
      (Object.hasOwn(own, name)
        ? "it is here already"
        : usable.has(name)
        ? "another one above has its name"
        : undefined);
    if (problem === undefined) usable.set(name, one);
    else problems.set(name, problem);
    const hidden = Object.keys({ ...program?.env, ...headers }).map(oneLine).join(", ");
    const variables = variablesOf(one).map(oneLine).join(", ");
    const about = (hidden && ` with ${hidden}`) +
      (variables && `; gets the values of ${variables}`) + (one.isEnabled ? "" : "; turned off");
    const target = targetText(one, Infinity);
    const what = problem === undefined ? about : `, which is not used: ${problem}`;
    if (names.length === 0) stdout.write(`${oneLine(name)}${what}\n  ${target}\n`);
  }
  if (names.length === 0 && usable.size > 0) {
    stdout.write("Name those to add: copilot mcp import NAME...\n");
  }
  const unknown = names.find((name) => !usable.has(name));
  if (unknown !== undefined) {
    const problem = problems.get(unknown);
    if (problem !== undefined) {
      throw new UsageError(`Cannot import ${oneLine(unknown)}: ${problem}`);
    }
    const all = [...usable.keys()];
    throw noneNamed("MCP server", unknown, all, "copilot mcp import lists those to import");
  }
  for (const name of names) stdout.write(await addToFile(name, ownDefinition(usable.get(name)!)));
}

async function approve(server: McpServer, run: McpRun, isYes: boolean): Promise<number> {
  if (server.standing !== "unapproved") await server.refresh(run.signal);
  let code: number = EXIT.done;
  const { line } = await approveServer(server, async ({ text, title }) => {
    run.stdout.write(`${text}\n`);
    if (await confirmed(title, isYes, run)) return true;
    code = EXIT.error;
  });
  if (code === EXIT.done) run.stdout.write(`${line}\n`);
  return code;
}

/** Asks for an approval on the terminal. Without one the answer is no. */
export async function confirmed(
  question: string,
  isYes: boolean,
  { stdout, stderr, signal }: McpRun,
): Promise<boolean> {
  if (isYes) return true;
  if (!Deno.stdin.isTerminal()) {
    stderr.write("copilot: cannot ask without a terminal: --yes approves it\n");
    return false;
  }
  if (await answersYes(question, stdout, signal)) return true;
  stdout.write("Not approved.\n");
  return false;
}

async function testServer(server: McpServer, { stdout, signal }: McpRun): Promise<void> {
  const start = performance.now();
  const { facts: { era, version } } = await server.listAll(signal);
  const ms = Math.round(performance.now() - start);
  const first = `Answers in ${ms} ms: ${version} (${era})`;
  stdout.write([first, mcpRow(server, "copilot mcp"), ...listedRows(server), ""].join("\n"));
}

async function signIn(
  server: McpServer,
  { stdout, signal }: McpRun,
  isIn: boolean,
): Promise<void> {
  if (server.definition.url === undefined) {
    const name = oneLine(server.name);
    throw new UsageError(`${name} is a program: it takes what it needs from its environment`);
  }
  if (isIn) await server.signIn((text) => stdout.write(`${text}\n`), signal);
  else await server.signOut();
  stdout.write(`${isIn ? "Signed in to" : "Signed out of"} ${server.name}.\n`);
}
