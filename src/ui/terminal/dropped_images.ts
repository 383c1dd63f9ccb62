/** Images that a person drops on the terminal, which types or pastes their paths. @module */

import { attempt } from "../../attempt.ts";
import { isImageName } from "../../text/extname.ts";
import { fromFileUrl, isAbsolute } from "../../text/std_path.ts";

const MAX_DROPPED_CHARS = 8192;

/**
 * The `@path` of each image, if a paste consists of absolute paths of existing images: in quotes,
 * with escaped blanks, or as `file://` addresses; otherwise undefined.
 */
export function droppedImages(paste: string): string | undefined {
  const text = paste.trim();
  if (text.length > MAX_DROPPED_CHARS || !isImageName(text.replace(/["']$/, ""))) {
    return undefined;
  }
  // Some terminals do not escape the blanks of a path.
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

function isImage(path: string): boolean {
  return isAbsolute(path) && !/["\n\r\p{Cc}]/u.test(path) &&
    isImageName(path) && attempt(() => Deno.statSync(path).isFile) === true;
}
