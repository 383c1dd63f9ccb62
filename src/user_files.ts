/** The user's own files, which are never in the working directory. @module */

import { attempt } from "./attempt.ts";
import { isObject, jsonErrorPlace } from "./text/json.ts";
import { isWithin } from "./text/paths.ts";
import { basename, dirname, isAbsolute, join, resolve } from "./text/std_path.ts";
import { reasonOf } from "./text/reason.ts";
import { UsageError } from "./errors.ts";

/** Looks up an environment variable. */
export type VariableReader = (name: string) => string | undefined;
export const processVariable: VariableReader = (name) => Deno.env.get(name);

/** Returns the folder of the variable `name`, or `usual` at home. A relative one would be in the working directory. */
function xdgFolder(env: VariableReader, name: string, usual: string, windows: string) {
  const home = env("HOME");
  const folder = Deno.build.os === "windows"
    ? env(windows)
    : [env(name), home && `${home}/${usual}`].find((one) => one?.startsWith("/"));
  return folder ? `${folder}/copilot` : undefined;
}

/** Returns the folder of settings, by the XDG base directories or, on Windows, APPDATA. */
export function userFolder(env: VariableReader): string | undefined {
  return xdgFolder(env, "XDG_CONFIG_HOME", ".config", "APPDATA");
}

/** Returns the folder of histories and sessions. */
export function stateFolder(env: VariableReader = processVariable): string | undefined {
  return xdgFolder(env, "XDG_STATE_HOME", ".local/state", "LOCALAPPDATA");
}

/** Returns the folder of temporary files, beside that of the state: the sandbox hides it from all commands, too. */
export function privateFolder(env: VariableReader = processVariable): string | undefined {
  const state = stateFolder(env);
  return state && `${state}-tmp`;
}

/** Returns the folder of installed plug-ins, which sandboxed commands may read. */
export function pluginsFolder(env: VariableReader = processVariable): string | undefined {
  const home = env("HOME") ?? env("USERPROFILE");
  return home && isAbsolute(home) ? `${home}/.local/share/copilot/plugins` : undefined;
}

/** Variables that lead to the user's own files, with their default below the home folder. */
const OWN_FOLDERS: Readonly<Record<string, string>> = {
  HOME: "-",
  USERPROFILE: "-",
  APPDATA: "-",
  LOCALAPPDATA: "-",
  XDG_CONFIG_HOME: ".config",
  XDG_STATE_HOME: ".local/state",
};

/**
 * Refuses variables that put settings or records into `folder`, as its authors and commands write there. The user's
 * home folder and `/` contain them rightly.
 * @throws {UsageError} with the variable.
 */
export function checkOwnFolders(folder: string, env: VariableReader = processVariable): void {
  const home = env("HOME") ?? env("USERPROFILE");
  const isHome = home !== undefined && realOf(home) === folder && isHomeOfUser(folder);
  if (folder === dirname(folder) || isHome) return;
  for (const [name, usual] of Object.entries(OWN_FOLDERS)) {
    const value = env(name);
    if (value === undefined || !isAbsolute(value) || value === `${home}/${usual}`) continue;
    if (![resolve(value), realOf(resolve(value))].some((at) => isWithin(folder, at))) continue;
    throw new UsageError(
      `Cannot use ${name}=${value} as it leads into the folder that is worked in, ${folder}: change it, or work elsewhere`,
    );
  }
}

/** False for a repository if the system lists this user with another home folder: direnv may set HOME. */
function isHomeOfUser(folder: string): boolean {
  const text = attempt(() => Deno.readTextFileSync("/etc/passwd")) ?? "";
  const rows = text.split("\n").map((line) => line.split(":"));
  return attempt(() => Deno.lstatSync(`${folder}/.git`)) === undefined ||
    rows.every(([, , uid]) => uid !== `${Deno.uid()}`) ||
    rows.some(([, , , , , home]) => home && realOf(home) === folder);
}

/** A path with its links followed, as far as it is there. */
const realOf = (path: string): string =>
  attempt(() => Deno.realPathSync(path)) ??
    (dirname(path) === path ? path : join(realOf(dirname(path)), basename(path)));

export function userFile(name: string, env: VariableReader = processVariable): string | undefined {
  const folder = userFolder(env);
  return folder && `${folder}/${name}`;
}

const MAX_SETTINGS_BYTES = 1024 * 1024;

/**
 * Returns the object in a file; undefined if it is missing. Errors quote nothing of it: it may contain keys, or be a
 * link that others made.
 * @throws {UsageError} if it contains anything else.
 */
export function readJsonFile(path: string): Record<string, unknown> | undefined {
  const advice = ": correct or remove it";
  let text: string;
  try {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > MAX_SETTINGS_BYTES) throw new UsageError("it must be a JSON file");
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return;
    throw new UsageError(`Cannot read ${path}: ${reasonOf(error)}${advice}`);
  }
  text = text.replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`Cannot read ${path}, ${jsonErrorPlace(text)}: it is not JSON${advice}`);
  }
  if (isObject(value) && !isDeep(value)) return value;
  const why = isObject(value) ? "it is nested too deeply" : "it must be a JSON object";
  throw new UsageError(`Cannot read ${path} as ${why}${advice}`);
}

/** True for a value with more than 100 levels. With thousands, later steps would run out of stack. */
const isDeep = (value: unknown, levels = 100): boolean =>
  typeof value === "object" && value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeep(one, levels - 1)));

/**
 * Writes a settings file completely or not at all, readable only by the user. A link to it stays a link. Creates
 * missing folders. @throws {Error} with the path and the reason.
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

/** Variables that could send requests, keys or settings elsewhere. A folder's `.env` must not set them. */
const VARIABLES =
  /^[ \t]*(?:export[ \t]+)?((?:OPENAI|ANTHROPIC)_(?:API_KEY|BASE_URL)|OLLAMA_HOST|XDG_(?:CONFIG|STATE)_HOME|(?:HTTPS?|ALL)_PROXY)[ \t]*=/gim;

/** Returns the settings in a folder that only the user may set, such as `OPENAI_BASE_URL in .env`. */
export function ignoredSettings(folder: string): string[] {
  return [".copilot/config.json", ".env"].flatMap((name) => {
    const info = attempt(() => Deno.statSync(`${folder}/${name}`));
    if (!info?.isFile || info.size > MAX_SETTINGS_BYTES) return [];
    if (name !== ".env") return [name];
    // An unreadable file sets nothing.
    const text = attempt(() => Deno.readTextFileSync(`${folder}/${name}`)) ?? "";
    const names = new Set(Array.from(text.matchAll(VARIABLES), ([, variable]) => variable));
    return Array.from(names, (variable) => `${variable} in ${name}`);
  });
}
