/**
 * The person's own files: settings, never those of the folder that is worked in.
 *
 * @module
 */

import { isObject } from "../text/json.ts";
import { type Args, type Flag, FLAGS, UsageError } from "./args.ts";

/** Where the person's file `name` is: the XDG base directories' place for settings, or Windows' own. */
export function userFile(
  name: string,
  env: (name: string) => string | undefined,
): string | undefined {
  const home = env("HOME");
  const folder = Deno.build.os === "windows"
    ? env("APPDATA")
    : env("XDG_CONFIG_HOME") || (home && `${home}/.config`);
  return folder ? `${folder}/copilot/${name}` : undefined;
}

/** More is no settings file. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The object in a file; undefined where there is no file.
 *
 * @throws {UsageError} when it holds anything else.
 */
export function readJson(path: string): Record<string, unknown> | undefined {
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
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`);
  }
  throw new UsageError(`Cannot read ${path} as it must be a JSON object`);
}

/** Flags that are asked for each time, or not at all. */
const NEVER = [
  "continue",
  "print",
  "yes",
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
  env: (name: string) => string | undefined = (name) => Deno.env.get(name),
): Args {
  const path = userFile("config.json", env);
  const file = path === undefined ? undefined : readJson(path);
  if (file === undefined) return args;
  const flags: readonly Flag[] = FLAGS;
  const isOther = SERVER.some((name) => args[name] !== undefined);
  const isServer = (name: string) => [...SERVER, "use-compat", "model"].includes(name as "local");
  const defaults: Record<string, string | true> = {};
  for (const [name, value] of Object.entries(file)) {
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
