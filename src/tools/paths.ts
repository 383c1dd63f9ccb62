import { attempt } from "../attempt.ts";
import { SEPARATOR } from "../text/std_path.ts";
import { resolvePath } from "../text/paths.ts";
import type { ToolContext } from "../types/tool.ts";

/** The maximum length of a path on Linux, in bytes. Other systems have a lower limit or report it themselves. */
const MAX_PATH_BYTES = 4096;

/**
 * Returns the absolute path for the `path` of a tool call. Percent signs, `file:` and `~` are not decoded; a path that
 * seems to need it is an error.
 * @throws {RangeError} if it cannot be a path; the message suggests another one to the model.
 */
export function toolPath(context: Pick<ToolContext, "workingDir">, path: string): string {
  const wrong = problem(path);
  if (wrong === undefined) return resolvePath(context, path);
  const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}...` : path);
  throw new RangeError(`Cannot use the path ${shown} as ${wrong}`);
}

/** Like {@linkcode toolPath}, for a file to write: it also throws if the path names a folder. */
export function newFilePath(context: Pick<ToolContext, "workingDir">, path: string): string {
  const absolute = toolPath(context, path);
  if (!(SEPARATOR === "/" ? /\/\.?$/ : /[\\/]\.?$/).test(path)) return absolute;
  throw new RangeError(
    `Cannot write ${JSON.stringify(path)} as it names a folder: give the file's name, too`,
  );
}

/** Returns `path` with every link followed; unchanged if nothing exists there. */
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
  if (/^~[\\/]|^~$/.test(path)) return "~ is not expanded here: give the whole path";
  const hidden = path.split(/[\\/]|%2f|%5c/i).some((part) => /^(\.|%2e){2}$/i.test(part)) &&
    /%2e|%2f|%5c/i.test(path);
  return hidden ? "percent codes are not decoded here: give the path in plain text" : undefined;
}
