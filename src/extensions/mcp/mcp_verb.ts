/** `copilot mcp`: the defined servers, and who may use them. @module */

import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { definitionsIn } from "./definition.ts";
import type { McpServer } from "./server.ts";
import { mcpRow, serverQuestion } from "./mcp_text.ts";
import type { McpServers } from "./servers.ts";
import { openMcp } from "./source.ts";
import { mcpFiles, ownMcpFile } from "./mcp_files.ts";
import { noticeLines } from "../../session/notices.ts";
import { openPermissions } from "../../safety/permissions.ts";
import { isObject } from "../../text/json.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";

const USAGE = `Usage:
  copilot mcp list                            the servers of this folder and of your own, and their tools
  copilot mcp add NAME [flags] -- COMMAND     adds a program to your own servers
  copilot mcp add NAME [flags] URL            adds an address
  copilot mcp remove NAME                     removes one of your own
  copilot mcp approve NAME [--yes]            shows a server of the folder, or tools that changed, and asks
  copilot mcp test NAME                       starts a server and lists its tools
  copilot mcp login NAME                      signs in to a server in the browser
  copilot mcp logout NAME                     signs out of it

Flags of add: --env NAME=VALUE, --header NAME=VALUE (several times), --no-network, --no-sandbox
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
  add: addServer,
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
function targetText({ definition: { program, url, file } }: McpServer): string {
  const words = program ? [program.command, ...program.args].join(" ") : url ?? "";
  return `${shortened(oneLine(words), 200)}${file === undefined ? "" : ` (${oneLine(file)})`}`;
}

async function addServer(words: readonly string[], { stdout }: McpRun): Promise<number> {
  const at = words.indexOf("--");
  const before = at === -1 ? words : words.slice(0, at);
  const command = at === -1 ? [] : words.slice(at + 1);
  const pairs = { env: {}, headers: {} } as Record<"env" | "headers", Record<string, string>>;
  const operands: string[] = [];
  const flags: Record<string, unknown> = {};
  for (let i = 0; i < before.length; i++) {
    const word = before[i]!;
    if (word === "--env" || word === "--header") {
      const [, name, value] = /^([^=:\s]+)[=:]\s*([^]*)$/.exec(before[++i] ?? "") ?? [];
      if (name === undefined) throw new UsageError(`${word} needs NAME=VALUE`);
      pairs[word === "--env" ? "env" : "headers"][name] = value!;
    } else if (word === "--no-network") flags.network = false;
    else if (word === "--no-sandbox") flags.sandbox = "off";
    else if (word.startsWith("-")) throw new UsageError(`copilot mcp add has no flag ${word}`);
    else operands.push(word);
  }
  const [name, url, ...more] = operands;
  if (name === undefined || more.length > 0 || (url === undefined) === (command.length === 0)) {
    throw new UsageError("Name the server, and give -- COMMAND or a URL: copilot mcp add --help");
  }
  const [program, ...args] = command;
  const server = {
    ...url === undefined ? { command: program, args } : { type: "http", url },
    ...Object.keys(pairs.env).length > 0 && { env: pairs.env },
    ...Object.keys(pairs.headers).length > 0 && { headers: pairs.headers },
    ...flags,
  };
  const [read] = definitionsIn({ mcpServers: { [name]: server } }, { scope: "user" });
  if (read?.problem !== undefined) throw new UsageError(`Cannot add ${name} as ${read.problem}`);
  const path = await changeOwnFile(name, server);
  stdout.write(`Added ${name} to ${path}. copilot mcp test ${name} tries it.\n`);
  return EXIT.done;
}

async function removeServer(words: readonly string[], { stdout }: McpRun): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError("Name one server to remove");
  const path = await changeOwnFile(name);
  stdout.write(`Removed ${name} from ${path}.\n`);
  return EXIT.done;
}

/** Adds a server to the user's file, or removes one. Returns the path of the file. */
async function changeOwnFile(name: string, server?: Record<string, unknown>): Promise<string> {
  const path = ownMcpFile();
  if (path === undefined) throw new UsageError("There is no home folder to save servers in");
  const file = readJsonFile(path) ?? {};
  const servers = isObject(file.mcpServers) ? file.mcpServers : {};
  const isThere = Object.hasOwn(servers, name);
  if (server && isThere) {
    throw new UsageError(
      `There is a server ${name} already: copilot mcp remove ${name} removes it`,
    );
  }
  if (!server && !isThere) {
    throw new UsageError(`There is no server ${name} in ${path}; a folder's are in its own file`);
  }
  const { [name]: _, ...others } = servers;
  const mcpServers = server ? { ...servers, [name]: server } : others;
  await replaceUserFile(path, `${JSON.stringify({ ...file, mcpServers }, null, 2)}\n`);
  return path;
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
