/** Definitions of MCP servers, in the spellings of several programs. Reading starts and expands nothing. @module */

import { attempt } from "../../attempt.ts";
import { isObject, objectOr, sortedJson } from "../../text/json.ts";
import type { Brought } from "../../safety/folder_trust.ts";
import { resolve } from "../../text/std_path.ts";
import { digestOf } from "../../text/digest.ts";
import { withVariables } from "../../text/variables.ts";

/** OAuth settings of a definition. Everything else is discovered from the server. */
export interface OAuthSettings {
  clientId?: string;
  clientSecret?: string;
  /** An https address with the metadata of a client. It is also the client's id. */
  clientMetadataUrl?: string;
  scope?: string;
  /** The port of the loopback address that the browser is redirected to; by default a free port. */
  callbackPort?: number;
}

/** A server: a program to start or an address to call. Variables in its texts are not expanded. */
export interface McpDefinition {
  name: string;
  scope: "user" | "folder" | "given" | "plugin";
  file?: string;
  /** The base folder of relative paths; by default the session's folder. */
  folder?: string;
  program?: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };
  cwd?: string;
  url?: string;
  headers: Readonly<Record<string, string>>;
  isEnabled: boolean;
  /** The time limit of one request, in milliseconds. Progress restarts it. */
  timeoutMs?: number;
  include?: readonly string[];
  exclude: readonly string[];
  oauth?: OAuthSettings | false;
  /** True if the program may use the network. */
  network: boolean;
  /** False runs the program outside of the sandbox, which only the user can choose. */
  isSandboxed: boolean;
  /** Why the server cannot be used, as the end of a sentence. Such a server is never started or called. */
  problem?: string;
}

type DefinitionSource = Pick<McpDefinition, "scope" | "file" | "folder">;

/** The keys that may contain the map of servers. A file without any of them is the map itself. */
const MAP_KEYS = ["mcpServers", "mcp", "servers", "mcp_servers"];

/** Returns the servers of a file's JSON. Never throws: an invalid definition has a `problem`. */
export function definitionsIn(
  value: Readonly<Record<string, unknown>>,
  source: DefinitionSource,
): McpDefinition[] {
  const wrapper = MAP_KEYS.find((key) => isObject(value[key]));
  const servers = wrapper === undefined ? value : value[wrapper] as Record<string, unknown>;
  return Object.entries(servers)
    // A file without such a key may contain other settings next to the servers.
    .filter(([, server]) => wrapper !== undefined || isServer(server))
    // Other programs allow "Azure MCP Server" and "microsoft/playwright-mcp".
    .map(([name, server]) => definitionOf(name.replace(/[^\w.-]+/g, "-"), server, source));
}

const isServer = (value: unknown) =>
  ["command", "url", "httpUrl"].some((key) => key in objectOr(value));

/** A tool's name for models has at most 64 characters, of which this leaves some. */
export const MAX_SERVER_NAME = 55;
const NAME = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;

function definitionOf(name: string, value: unknown, source: DefinitionSource): McpDefinition {
  const given = objectOr(value);
  const definition: McpDefinition = {
    name,
    ...source,
    headers: {},
    isEnabled: given.disabled !== true && given.enabled !== false,
    exclude: [],
    network: true,
    isSandboxed: given.sandbox !== "off" || /folder|plugin/.test(source.scope),
  };
  try {
    if (!isObject(value)) return { ...definition, problem: "its definition is not a JSON object" };
    Object.assign(definition, givenFields(value));
    definition.network = given.network === true ||
      given.network !== false && !runsFolder(definition);
    const problem = problemOf(definition, value.type);
    return problem === undefined ? definition : { ...definition, problem };
  } catch (error) {
    return { ...definition, problem: (error as Error).message };
  }
}

/** Matches a command that fetches a package and runs it, so that it runs no file of the folder. */
const PACKAGE =
  /^(?:npx|bunx|pnpx|uvx)(?: -y| --yes| --from)* (?:(?:@\w[\w.-]*\/)?\w[\w.-]*(?:\[[\w,-]+\])?(?:@[\w^*~][\w.^*~-]*|[=<>~!]=?[\w.,*]+)?|git\+https:\/\/\S+)(?: |$)/;

/** True if a server of a folder may run what is in the folder, which sandboxed commands write. */
export const runsFolder = ({ scope, program, cwd }: McpDefinition): boolean =>
  scope === "folder" && program !== undefined &&
  (cwd !== undefined || !PACKAGE.test([program.command, ...program.args].join(" ")));

/** Returns the words of a server that starts elsewhere: those that begin with `.` are paths of `folder`. */
export const wordsFrom = (folder: string, words: readonly string[]): string[] =>
  words.map((word) => /^\.\.?(\/|$)/.test(word) ? resolve(folder, word) : word);

function problemOf({ name, program, url }: McpDefinition, type: unknown): string | undefined {
  if (!NAME.test(name) || name.length > MAX_SERVER_NAME) {
    return "its name must be 1 to 55 of A-Z a-z 0-9 . _ -, with a letter or a digit at both ends";
  }
  if (/[._]{2}/.test(name)) return "its name must not have two of . and _ in a row";
  if (/^sse$/i.test(String(type))) {
    return 'the transport "sse" of 2024 is not supported: most servers also have a streamable HTTP address, often ending in /mcp; use it with "type": "http"';
  }
  if (program === undefined && url === undefined) return "it has neither a command nor a url";
  if (program !== undefined && url !== undefined) return "it has both a command and a url";
  if (program?.command.trim() === "") return "its command is empty";
  // A variable may stand for the whole address.
  if (url !== undefined && !/^https?:\/\/|^\$?\{/.test(url)) {
    return "its url must begin with http:// or https://";
  }
  return undefined;
}

type Given = Readonly<Record<string, unknown>>;

/** Returns a reader of a field with several spellings. @throws {TypeError} if the value has another type. */
const reader =
  <T>(is: (value: unknown) => value is T, what: string) =>
  (given: Given, ...keys: string[]): T | undefined => {
    const key = keys.find((name) => given[name] !== undefined && given[name] !== null);
    if (key === undefined) return undefined;
    const value = given[key];
    if (!is(value)) throw new TypeError(`its ${key} must be ${what}`);
    return value;
  };

const stringIn = reader((value) => typeof value === "string", "a string");
const numberIn = reader(
  (value): value is number => typeof value === "number" && value > 0,
  "a number above 0",
);
const textsIn = reader(
  (value): value is string[] =>
    Array.isArray(value) && value.every((one) => typeof one === "string"),
  "a list of strings",
);
const scalarsIn = reader(
  (value): value is Record<string, string | number | boolean> =>
    isObject(value) &&
    Object.values(value).every((one) => /^(string|number|boolean)$/.test(typeof one)),
  "an object of strings",
);
const mapIn = (given: Given, ...keys: string[]): Record<string, string> =>
  mapped(scalarsIn(given, ...keys) ?? {}, String);

const mapped = <T, U>(given: Readonly<Record<string, T>>, to: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, to(value)]));

export const defined = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

const variable = (name: string) => `\${${name}}`;

function givenFields(given: Given): Partial<McpDefinition> {
  const words = Array.isArray(given.command) ? textsIn(given, "command")! : undefined;
  const text = words ? undefined : stringIn(given, "command");
  // Cursor gives "npx @playwright/mcp@latest" to a shell.
  const isLine = text !== undefined && /^[\w.-]+ [^"'$&|;<>`\\]+$/.test(text);
  const [command, ...first] = words ?? (isLine ? text.trim().split(/ +/) : [text]);
  const args = [...first as string[], ...textsIn(given, "args") ?? []];
  const seconds = numberIn(given, "tool_timeout_sec");
  const token = stringIn(given, "bearer_token_env_var");
  const passed = textsIn(given, "env_vars") ?? [];
  return defined({
    program: command === undefined ? undefined : {
      command,
      args,
      env: {
        ...Object.fromEntries(passed.map((name) => [name, variable(name)])),
        ...mapIn(given, "env", "environment"),
      },
    },
    url: stringIn(given, "httpUrl", "url"),
    headers: {
      ...mapIn(given, "headers", "http_headers"),
      ...mapped(mapIn(given, "env_http_headers"), variable),
      ...token !== undefined && { Authorization: `Bearer ${variable(token)}` },
    },
    cwd: stringIn(given, "cwd"),
    timeoutMs: numberIn(given, "timeout") ?? (seconds && seconds * 1000),
    include: textsIn(given, "includeTools", "enabled_tools"),
    exclude: textsIn(given, "excludeTools", "disabled_tools") ?? [],
    oauth: given.oauth === false ? false : oauthOf(given.oauth),
  });
}

const oauthOf = (given: unknown): OAuthSettings | undefined =>
  isObject(given)
    ? defined({
      clientId: stringIn(given, "clientId"),
      clientSecret: stringIn(given, "clientSecret"),
      clientMetadataUrl: stringIn(given, "clientMetadataUrl"),
      scope: stringIn(given, "scope"),
      callbackPort: numberIn(given, "callbackPort"),
    })
    : undefined;

/** Returns the part of a definition that decides what runs with which input. The user approves it. */
export function approvedPart(definition: McpDefinition): Record<string, unknown> {
  const { program, cwd, url, headers, oauth, network, scope, folder } = definition;
  const filled = (map: object) => Object.keys(map).length > 0 ? map : undefined;
  return defined({
    command: program && [program.command, ...program.args],
    env: program && filled(program.env),
    cwd,
    url,
    headers: filled(headers),
    oauth: oauth || undefined,
    network: program && !network ? network : undefined,
    // In another folder the same words start another program.
    folder: scope === "folder" ? folder : undefined,
  });
}

export function broughtBy(definition: McpDefinition): Brought {
  const { name, folder = "" } = definition;
  const text = sortedJson(approvedPart(definition), 2);
  return { kind: "server", root: folder, name, text };
}

/** Returns an id of a definition, which changes with the command, address, variables and headers. */
export async function definitionId(definition: McpDefinition): Promise<string> {
  const { name, scope } = definition;
  const isOwn = scope !== "folder";
  const text = sortedJson([name, isOwn, approvedPart(definition)]);
  return (await digestOf(text)).slice(0, 32);
}

export function variablesOf(definition: McpDefinition): string[] {
  const names = new Set<string>();
  // A header that cannot be sent has variables, too.
  attempt(() => expanded(definition, (name) => (names.add(name), "")));
  return [...names];
}

/** @throws {Error} if a value cannot be in a header. The message omits the value, which may be secret. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new Error(
        `its header ${name} has a line break, or a character that is not allowed in headers`,
      );
    }
  }
}

/** Returns the definition with its variables expanded once. @throws {Error} if one has neither value nor default. */
export function expanded(
  definition: McpDefinition,
  env: (name: string) => string | undefined,
): McpDefinition {
  const { scope, folder } = definition;
  const valueOf = (name: string) =>
    (scope === "plugin" && name === "CLAUDE_PLUGIN_ROOT" ? folder : undefined) ?? env(name);
  const missing = (name: string): never => {
    throw new Error(`the variable ${name} is not set, which its definition uses`);
  };
  const { program, cwd, url, headers, oauth } = definition;
  const found = JSON.parse(
    JSON.stringify({ program, cwd, url, headers, oauth }),
    (_, value) => typeof value === "string" ? withVariables(value, valueOf, missing) : value,
  );
  checkHeaders(found.headers);
  return { ...definition, ...found };
}
