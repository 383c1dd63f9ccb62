/**
 * The person's own files: settings, never those of the folder that is worked in.
 *
 * @module
 */

import { isObject } from "./text/json.ts";
import { type Args, type Flag, FLAGS } from "./cli/args.ts";
import { UsageError } from "./errors.ts";

type Env = (name: string) => string | undefined;

/** Where `${XDG_NAME}` says, or below the home folder; a relative path would be the working folder's. */
function xdgFolder(env: Env, name: string, usual: string, windows: string): string | undefined {
  const home = env("HOME");
  const [folder] = Deno.build.os === "windows"
    ? [env(windows)]
    : [env(name), home && `${home}/${usual}`].filter((one) => one?.startsWith("/"));
  return folder ? `${folder}/copilot` : undefined;
}

/** Where settings are: the XDG base directories' place, or Windows' own. */
export function userFolder(env: Env): string | undefined {
  return xdgFolder(env, "XDG_CONFIG_HOME", ".config", "APPDATA");
}

/** Where histories and sessions are kept. */
export function stateFolder(env: Env = (name) => Deno.env.get(name)): string | undefined {
  return xdgFolder(env, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA");
}

/** Where the person's file `name` is. */
export function userFile(name: string, env: Env): string | undefined {
  const folder = userFolder(env);
  return folder && `${folder}/${name}`;
}

/** More is no settings file. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The object in a file; undefined where there is no file.
 *
 * @param isOurs false for what others wrote: it may be a link to what is not to be quoted in a log
 * @throws {UsageError} when it holds anything else.
 */
export function readJson(path: string, isOurs = true): Record<string, unknown> | undefined {
  let text: string;
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > MAX_FILE_BYTES) throw new UsageError(`${path} must be a file of JSON`);
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return;
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`);
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (isObject(value)) return value;
  } catch (error) {
    const why = isOurs ? (error as Error).message : "it is no JSON";
    throw new UsageError(`Cannot read ${path}: ${why}`);
  }
  throw new UsageError(`Cannot read ${path} as it must be a JSON object`);
}

/** What would send requests, keys or settings elsewhere, were it taken from the folder's `.env`. */
const VARIABLES =
  /^\s*(?:export\s+)?((?:OPENAI|ANTHROPIC)_(?:API_KEY|BASE_URL)|OLLAMA_HOST|XDG_(?:CONFIG|STATE)_HOME|(?:HTTPS?|ALL)_PROXY)\s*=/gim;

/** Lines about what a folder sets that other programs would heed: settings are the person's alone. */
export function unheeded(folder: string): string[] {
  const found: string[] = [];
  for (const name of [".copilot/config.json", ".env"]) {
    try {
      const { isFile, size } = Deno.statSync(`${folder}/${name}`);
      if (!isFile || size > MAX_FILE_BYTES) continue;
      if (name !== ".env") found.push(name);
      else {
        const text = Deno.readTextFileSync(`${folder}/${name}`);
        const names = new Set([...text.matchAll(VARIABLES)].map(([, variable]) => variable));
        found.push(...[...names].map((variable) => `${variable} in ${name}`));
      }
    } catch {
      // What cannot be read sets nothing.
    }
  }
  return found.length === 0
    ? []
    : [`· not heeded, as servers and keys are for you to set: ${found.join(", ")}`];
}

/** Flags that are asked for each time, or not at all. */
const NEVER = [
  "continue",
  "print",
  "output",
  "yes",
  "trust",
  "stdin",
  "demo",
  "api-key",
  "json",
  "completions",
  "man",
  "version",
  "help",
];
/** Those that say which server is asked: given any, the file's are left alone. */
const SERVER = ["local", "hosted", "base-url", "host", "demo"] as const;

/**
 * `args` with what `config.json` says of flags that were not given: `{"local": true, "model": "qwen3"}`.
 *
 * @throws {UsageError} when it names anything but flags, or gives one a value that it cannot have.
 */
export function withDefaults(
  args: Args,
  env: Env = (name) => Deno.env.get(name),
): Args {
  const path = userFile("config.json", env);
  const file = path === undefined ? undefined : readJson(path);
  if (file === undefined) return args;
  const flags: readonly Flag[] = FLAGS;
  const isOther = SERVER.some((name) => args[name] !== undefined);
  const isServer = (name: string) => [...SERVER, "use-compat", "model"].includes(name as "local");
  const defaults: Record<string, string | true> = {};
  for (const [name, given] of Object.entries(file)) {
    const isList = name === "env" && Array.isArray(given);
    const value = isList ? given.join(",") : given;
    const flag = flags.find((one) => one.name === name && !NEVER.includes(name));
    if (flag === undefined) {
      throw new UsageError(
        `Cannot use ${JSON.stringify(name)} in ${path} as it must be a flag such as "model"`,
      );
    }
    const isText = typeof value === "string" || typeof value === "number";
    if (flag.value === undefined ? typeof value !== "boolean" : !isText) {
      const wanted = flag.value === undefined ? "true or false" : "a text or a number";
      throw new UsageError(`Cannot use ${name} in ${path} as it must be ${wanted}`);
    }
    if (value === false || isOther && isServer(name)) continue;
    defaults[name] = value === true ? true : String(value);
  }
  return { ...defaults, ...args };
}
