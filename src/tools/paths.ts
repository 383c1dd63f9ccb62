import { attempt } from "../attempt.ts";
import { SEPARATOR } from "../text/std_path.ts";
import { resolvePath } from "../text/paths.ts";
import type { ToolContext } from "../types/tool.ts";

/** The longest path that Linux takes, in bytes; others take less or say so themselves. */
const MAX_PATH_BYTES = 4096;

/**
 * The absolute path that a tool call's `path` names. It is taken as it stands: neither percent
 * signs nor `file:` nor `~` are decoded, and a path that seems to want it is an error.
 * @throws {RangeError} when it can be no path; the message tells the model what to give instead.
 */
export function toolPath(context: Pick<ToolContext, "workingDir">, path: string): string {
  const wrong = problem(path);
  if (wrong === undefined) return resolvePath(context, path);
  const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}...` : path);
  throw new RangeError(`Cannot use the path ${shown} as ${wrong}`);
}

/** {@linkcode toolPath} for a file to write: it also throws for a path that names a folder. */
export function newFilePath(context: Pick<ToolContext, "workingDir">, path: string): string {
  const absolute = toolPath(context, path);
  if (!(SEPARATOR === "/" ? /\/\.?$/ : /[\\/]\.?$/).test(path)) return absolute;
  throw new RangeError(
    `Cannot write ${JSON.stringify(path)} as it names a folder: give the file's name, too`,
  );
}

/** `path` with every link followed; as it is where there is nothing yet. */
export function realPathOr(path: string): string {
  return attempt(() => Deno.realPathSync(path)) ?? path;
}

function problem(path: string): string | undefined {
  if (path.trim() === "") return "it must not be empty: give a path such as src/main.ts";
  // deno-lint-ignore no-control-regex
  if (/[\0-\x1f\x7f]/.test(path)) return "it must have no control characters";
  const bytes = new TextEncoder().encode(path).length;
  if (bytes > MAX_PATH_BYTES) {
    return `it must have at most ${MAX_PATH_BYTES} bytes: it has ${bytes}`;
  }
  if (/^(file:|[a-z][a-z\d+.-]+:\/\/)/i.test(path)) return "it must be a path: it is a URL";
  if (/^~[\\/]|^~$/.test(path)) return "~ stands for nothing here: give the whole path";
  const hidden = path.split(/[\\/]|%2f|%5c/i).some((part) => /^(\.|%2e){2}$/i.test(part)) &&
    /%2e|%2f|%5c/i.test(path);
  return hidden ? "percent codes stand for nothing here: give the path in plain text" : undefined;
}
