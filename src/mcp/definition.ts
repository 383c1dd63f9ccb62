/**
 * Definitions of MCP servers, as files of several programs spell them. Reading one starts nothing and
 * expands nothing. @module
 */

import { isObject } from "../text/json.ts";
import { digestOf } from "../text/digest.ts";

/** Who wrote a definition: the person, the folder that is worked in, or the program that uses the library. */
type DefinitionScope = "user" | "folder" | "given";

/** The settings of OAuth that a definition may bring; all else is found by asking the server. */
export interface OAuthSettings {
  clientId?: string;
  clientSecret?: string;
  /** An https address with the metadata of a client, which is then its id. */
  clientMetadataUrl?: string;
  scope?: string;
  /** The port of the loopback address that the browser comes back to; by default a free one. */
  callbackPort?: number;
}

/** A server: a program that is started, or an address that is called. Text is as in the file, with its variables. */
export interface McpDefinition {
  name: string;
  scope: DefinitionScope;
  /** The file that it stands in. */
  file?: string;
  /** The folder that relative paths are meant from; that of the session where it is left out. */
  folder?: string;
  program?: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };
  cwd?: string;
  url?: string;
  headers: Readonly<Record<string, string>>;
  isEnabled: boolean;
  /** The time limit of one request, in milliseconds; progress begins it anew. */
  timeoutMs?: number;
  /** The names of the tools that are offered; left out, all are. */
  include?: readonly string[];
  exclude: readonly string[];
  /** False where the definition turns OAuth off. */
  oauth?: OAuthSettings | false;
  /** False where the program gets no network; of the sandbox, which the person alone may turn off. */
  network: boolean;
  isConfined: boolean;
  /** Why the server cannot be used, as the end of a sentence; nothing of it is started or called. */
  problem?: string;
}

/** Where definitions come from. */
interface DefinitionSource {
  scope: DefinitionScope;
  file?: string;
  folder?: string;
}

/** The most servers of one file. */
const MAX_FILE_SERVERS = 100;
/** The keys around a map of servers; a map without one of them is the map itself. */
const MAP_KEYS = ["mcpServers", "mcp_servers", "mcp", "servers"];

/** The servers of a file's JSON. Never throws: what makes no sense is a `problem` of its server. */
export function definitionsIn(
  value: Readonly<Record<string, unknown>>,
  source: DefinitionSource,
): McpDefinition[] {
  const wrapper = MAP_KEYS.find((key) => isObject(value[key]));
  const servers = wrapper === undefined ? value : value[wrapper] as Record<string, unknown>;
  return Object.entries(servers).slice(0, MAX_FILE_SERVERS)
    // A file without the wrapper may hold other settings beside the servers.
    .filter(([, server]) => wrapper !== undefined || isServer(server))
    .map(([name, server]) => definitionOf(name, server, source));
}

const isServer = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && ["command", "url", "httpUrl", "serverUrl"].some((key) => key in value);

/** A server's name: in the names of its tools, in rules and in commands. */
const NAME = /^[A-Za-z0-9](?:[\w.-]{0,38}[A-Za-z0-9])?$/;

/** Reads one server. */
function definitionOf(
  name: string,
  value: unknown,
  source: DefinitionSource,
): McpDefinition {
  const given = isObject(value) ? value : {};
  const read = new FieldReader(given);
  const { program, url, type } = read.target();
  const definition: McpDefinition = {
    name,
    ...source,
    ...program && { program },
    ...url !== undefined && { url },
    headers: read.headers(),
    isEnabled: given.disabled !== true && given.enabled !== false,
    exclude: read.names("excludeTools", "disabledTools", "disabled_tools") ?? [],
    network: given.network !== false,
    isConfined: given.sandbox !== "off" || source.scope === "folder",
    ...read.optional(),
  };
  const problem = read.problem ?? problemOf(definition, isObject(value), type);
  return problem === undefined ? definition : { ...definition, problem };
}

function problemOf(
  { name, program, url }: McpDefinition,
  isRead: boolean,
  type: string | undefined,
): string | undefined {
  if (!isRead) return "its definition is not a JSON object";
  if (!NAME.test(name)) {
    return "its name must be 1 to 40 of A-Z a-z 0-9 . _ -, with a letter or a digit at both ends";
  }
  if (/[._]{2}/.test(name)) return "its name must not have two of . and _ in a row";
  if (type === "sse") {
    return 'the transport "sse" of 2024 is not supported: most servers also have a streamable HTTP address, often ending in /mcp; use it with "type": "http"';
  }
  if (program === undefined && url === undefined) return "it has neither a command nor a url";
  if (program !== undefined && url !== undefined) return "it has both a command and a url";
  if (program?.command.trim() === "") return "its command is empty";
  // A variable may stand for all of the address.
  if (url !== undefined && !/^https?:\/\/|^\$?\{/.test(url)) {
    return "its url must begin with http:// or https://";
  }
  return undefined;
}

/** Reads the fields of one definition by all their spellings; the first value of a wrong type is its problem. */
class FieldReader {
  problem: string | undefined;

  constructor(private readonly given: Readonly<Record<string, unknown>>) {}

  target(): { program?: McpDefinition["program"]; url?: string; type?: string } {
    const { given } = this;
    const type = this.#text("type", "transport")?.toLowerCase();
    const url = this.#text("httpUrl", "url", "serverUrl", "server_url");
    // `url` alone means a stream of 2024 in one program, and streamable HTTP in all others.
    const { command } = given;
    const words = Array.isArray(command) ? this.#texts("command") : undefined;
    const first = words ? words[0] : this.#text("command");
    const args = [...words?.slice(1) ?? [], ...this.#texts("args", "arguments") ?? []];
    const env = this.#map("env", "environment");
    return {
      ...type !== undefined && { type },
      ...url !== undefined && { url },
      ...first !== undefined && { program: { command: first, args, env } },
    };
  }

  headers(): Record<string, string> {
    const token = this.#text("bearer_token_env_var");
    const named = Object.entries(this.#map("env_http_headers"))
      .map(([name, variable]) => [name, `\${${variable}}`]);
    return {
      ...this.#map("headers", "http_headers"),
      ...Object.fromEntries(named),
      ...token !== undefined && { Authorization: `Bearer \${${token}}` },
    };
  }

  optional(): Partial<McpDefinition> {
    const cwd = this.#text("cwd");
    const seconds = this.#number("tool_timeout_sec");
    const timeoutMs = this.#number("timeout") ??
      (seconds === undefined ? undefined : seconds * 1000);
    const include = this.names("includeTools", "enabledTools", "enabled_tools");
    const oauth = this.#oauth();
    return {
      ...cwd !== undefined && { cwd },
      ...timeoutMs !== undefined && { timeoutMs },
      ...include && { include },
      ...oauth !== undefined && { oauth },
    };
  }

  names(...keys: string[]): string[] | undefined {
    return this.#texts(...keys);
  }

  #oauth(): OAuthSettings | false | undefined {
    const { oauth } = this.given;
    if (oauth === false) return false;
    const nested = isObject(oauth) ? oauth : {};
    const read = new FieldReader({
      ...nested,
      ...("oauth_client_id" in this.given) && { clientId: this.given.oauth_client_id },
      ...("oauth_callback_port" in this.given) && { callbackPort: this.given.oauth_callback_port },
    });
    const texts = {
      clientId: read.#text("clientId", "client_id"),
      clientSecret: read.#text("clientSecret", "client_secret"),
      clientMetadataUrl: read.#text("clientMetadataUrl", "client_metadata_url"),
      scope: read.#text("scope") ?? read.#texts("scopes")?.join(" "),
    };
    const callbackPort = read.#number("callbackPort", "callback_port");
    this.problem ??= read.problem;
    const found = Object.fromEntries(
      Object.entries(texts).filter(([, text]) => text !== undefined),
    );
    const settings = { ...found, ...callbackPort !== undefined && { callbackPort } };
    return Object.keys(settings).length === 0 ? undefined : settings;
  }

  #first<T>(keys: string[], is: (value: unknown) => value is T, what: string): T | undefined {
    const key = keys.find((name) => this.given[name] !== undefined && this.given[name] !== null);
    if (key === undefined) return undefined;
    const value = this.given[key];
    if (is(value)) return value;
    this.problem ??= `its ${key} must be ${what}`;
    return undefined;
  }

  #text(...keys: string[]): string | undefined {
    return this.#first(keys, (value) => typeof value === "string", "a string");
  }

  #texts(...keys: string[]): string[] | undefined {
    return this.#first(keys, isTextList, "a list of strings");
  }

  #number(...keys: string[]): number | undefined {
    const isPositive = (value: unknown): value is number => typeof value === "number" && value > 0;
    return this.#first(keys, isPositive, "a number above 0");
  }

  #map(...keys: string[]): Record<string, string> {
    const found = this.#first(keys, isScalarMap, "an object of strings") ?? {};
    return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]));
  }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

const isScalarMap = (value: unknown): value is Record<string, string | number | boolean> =>
  isObject(value) &&
  Object.values(value).every((one) => /^(string|number|boolean)$/.test(typeof one));

/** The part of a definition that decides what runs, and with what: it is shown, and its hash is approved. */
export function approvedPart(definition: McpDefinition): Record<string, unknown> {
  const { program, cwd, url, headers, oauth, network, scope, folder } = definition;
  return {
    ...program && { command: [program.command, ...program.args] },
    ...program && Object.keys(program.env).length > 0 && { env: program.env },
    ...cwd !== undefined && { cwd },
    ...url !== undefined && { url },
    ...Object.keys(headers).length > 0 && { headers },
    ...oauth && { oauth },
    ...program && !network && { network },
    // The same words in another folder start another program.
    ...scope === "folder" && { folder },
  };
}

/** Identifies what a definition starts or calls: another command, address, variable or header is another one. */
export async function definitionId(definition: McpDefinition): Promise<string> {
  const { name, scope } = definition;
  const isOwn = scope !== "folder";
  const text = JSON.stringify([name, isOwn, sorted(approvedPart(definition))]);
  return (await digestOf(text)).slice(0, 32);
}

/** A value with the keys of its objects in order, so that equal ones are the same text. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map((
      [key, one],
    ) => [key, sorted(one)]),
  );
}

/** `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `{env:VAR}`; never `$VAR`. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|(?<!\$)\{env:([A-Za-z_]\w*)\}/g;

/** The names of the variables that a definition uses, in order. */
export function variablesOf(definition: McpDefinition): string[] {
  const names = new Set<string>();
  expanded(definition, (name) => (names.add(name), ""));
  return [...names];
}

/** @throws {Error} for a value that no header can hold, without that value: it may be secret. */
function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new Error(`its header ${name} has a line break, or a character that no header holds`);
    }
  }
  return headers;
}

/**
 * The definition with the values of its variables. A value is not looked through again.
 * @throws {Error} for a variable that is not set and has no default.
 */
export function expanded(
  definition: McpDefinition,
  env: (name: string) => string | undefined,
): McpDefinition {
  const text = (given: string) =>
    given.replace(VARIABLE, (_, one: string, usual: string | undefined, other: string) => {
      const value = env(one ?? other) ?? usual;
      if (value === undefined) {
        throw new Error(`the variable ${one ?? other} is not set, which its definition uses`);
      }
      return value;
    });
  const map = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, text(value)]));
  const { program, cwd, url, headers, oauth } = definition;
  return {
    ...definition,
    ...program && {
      program: {
        command: text(program.command),
        args: program.args.map(text),
        env: map(program.env),
      },
    },
    ...cwd !== undefined && { cwd: text(cwd) },
    ...url !== undefined && { url: text(url) },
    headers: checkedHeaders(map(headers)),
    ...oauth && {
      oauth: {
        ...oauth,
        ...oauth.clientId !== undefined && { clientId: text(oauth.clientId) },
        ...oauth.clientSecret !== undefined && { clientSecret: text(oauth.clientSecret) },
      },
    },
  };
}
