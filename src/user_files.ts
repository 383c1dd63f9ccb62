/** The person's own files; those of the folder that is worked in are never among them. @module */

import { attempt } from "./attempt.ts";
import { isObject, linePlace, scanJson } from "./text/json.ts";
import { dirname } from "./text/std_path.ts";
import { reasonOf } from "./text/reason.ts";
import { UsageError } from "./errors.ts";

/** Looks up a variable of the environment. */
export type VariableReader = (name: string) => string | undefined;
/** Reads the variables of this process. */
export const processVariable: VariableReader = (name) => Deno.env.get(name);

/** The folder of the variable `name`, or `usual` at home. Relative ones would be in the folder at work. */
function xdgFolder(env: VariableReader, name: string, usual: string, windows: string) {
  const home = env("HOME");
  const folder = Deno.build.os === "windows"
    ? env(windows)
    : [env(name), home && `${home}/${usual}`].find((one) => one?.startsWith("/"));
  return folder ? `${folder}/copilot` : undefined;
}

/** The folder of settings: that of the XDG base directories, on Windows that of applications. */
export function userFolder(env: VariableReader): string | undefined {
  return xdgFolder(env, "XDG_CONFIG_HOME", ".config", "APPDATA");
}

/** The folder of histories and sessions. */
export function stateFolder(env: VariableReader = processVariable): string | undefined {
  return xdgFolder(env, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA");
}

/** The path of the person's file `name`. */
export function userFile(name: string, env: VariableReader = processVariable): string | undefined {
  const folder = userFolder(env);
  return folder && `${folder}/${name}`;
}

/** A larger file is not one of settings. */
const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * The object in a file; undefined where there is no file. `isQuoted`: false for a file that may hold keys,
 * or that others wrote, as it may be a link: its text belongs in no log.
 * @throws {UsageError} when it holds anything else.
 */
export function readJsonFile(path: string, isQuoted = true): Record<string, unknown> | undefined {
  let text: string;
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > MAX_SETTINGS_BYTES) {
      throw new UsageError(`${path} must be a JSON file`);
    }
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return;
    throw new UsageError(`Cannot read ${path}: ${reasonOf(error)}`);
  }
  text = text.replace(/^\ufeff/, "");
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    const { errorAt = text.length } = scanJson(text);
    const why = isQuoted ? (error as Error).message : "it is not JSON";
    throw new UsageError(`Cannot read ${path}, ${linePlace(text, errorAt)}: ${why}`);
  }
  throw new UsageError(`Cannot read ${path} as it must be a JSON object`);
}

/**
 * Writes a settings file, whole or not at all, for the person alone to read; a link to it stays one.
 * Folders that are missing are made. @throws {Error} with the path and the reason.
 */
export async function replaceUserFile(path: string, text: string): Promise<void> {
  const target = await Deno.realPath(path).catch(() => path);
  const temporary = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(temporary, text, { mode: 0o600, createNew: true });
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new Error(`Cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Variables that would send requests, keys or settings elsewhere, were they taken from a folder's `.env`. */
const VARIABLES =
  /^\s*(?:export\s+)?((?:OPENAI|ANTHROPIC)_(?:API_KEY|BASE_URL)|OLLAMA_HOST|XDG_(?:CONFIG|STATE)_HOME|(?:HTTPS?|ALL)_PROXY)\s*=/gim;

/** Settings that a folder brings, such as `OPENAI_BASE_URL in .env`: they are the person's alone to set. */
export function unheededSettings(folder: string): string[] {
  return [".copilot/config.json", ".env"].flatMap((name) => {
    const info = attempt(() => Deno.statSync(`${folder}/${name}`));
    if (!info?.isFile || info.size > MAX_SETTINGS_BYTES) return [];
    if (name !== ".env") return [name];
    // A file that cannot be read sets nothing.
    const text = attempt(() => Deno.readTextFileSync(`${folder}/${name}`)) ?? "";
    const names = new Set(Array.from(text.matchAll(VARIABLES), ([, variable]) => variable));
    return Array.from(names, (variable) => `${variable} in ${name}`);
  });
}
