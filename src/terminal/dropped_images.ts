/** Images that a person drops on the terminal, which types or pastes their paths. @module */

import { attempt } from "../attempt.ts";
import { isImageName } from "../text/extname.ts";
import { fromFileUrl, isAbsolute } from "../text/std_path.ts";

/** A longer paste is no list of dropped files. */
const MAX_DROPPED_CHARS = 8192;

/**
 * The `@path` of each image in a paste that is nothing but absolute paths of images that are there: in
 * quotes, with escaped blanks, or as `file://` addresses; undefined for any other paste.
 */
export function droppedImages(paste: string): string | undefined {
  const text = paste.trim();
  if (text.length > MAX_DROPPED_CHARS || !isImageName(text.replace(/["']$/, ""))) {
    return undefined;
  }
  // A terminal that escapes nothing leaves the blanks of a single path.
  const paths = isImage(text) ? [text] : shellWords(text).map(droppedPath);
  if (!paths.every((path) => path !== undefined && isImage(path))) return undefined;
  return paths.map((path) => /[\s]/.test(path!) ? `@"${path}" ` : `@${path} `).join("");
}

function shellWords(text: string): string[] {
  return text.match(/(?:'[^']*'|"[^"]*"|\\[^]|[^\s'"\\])+/g) ?? [];
}

function droppedPath(word: string): string | undefined {
  if (/^file:\/\//i.test(word)) return attempt(() => fromFileUrl(word));
  return word.replace(
    /'([^']*)'|"([^"]*)"|\\([^])/g,
    (_, single, double, escaped) => single ?? double ?? escaped,
  );
}

/** True for a file that is there, and that `@` can name. */
function isImage(path: string): boolean {
  return isAbsolute(path) && !/["\n\r\p{Cc}]/u.test(path) &&
    isImageName(path) && attempt(() => Deno.statSync(path).isFile) === true;
}
