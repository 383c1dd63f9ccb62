/** Files that instructions take in by a line `@path`. @module */

import { isInGit } from "./repository.ts";
import { attempt } from "../attempt.ts";
import type { PathTable } from "../permissions/path_table.ts";
import { isWithin } from "../text/paths.ts";
import { dirname, isAbsolute, join } from "../text/std_path.ts";
import { readBoundedText } from "./bounded_text.ts";

interface ImportOptions {
  /** The file that the text is of, with links followed. */
  path: string;
  /** The folder that no import leads out of. */
  root: string;
  /** The most bytes of all that is taken in. */
  maxBytes: number;
  paths: PathTable;
}

/** The most files of one text, and how deep they may take in one another. */
const MAX_IMPORTS = 20;
const MAX_IMPORT_DEPTH = 5;
/** A line that is a path and nothing else, also as an item of a list. */
const IMPORT_LINE = /^[ \t]*(?:[-*][ \t]+)?@(\S+)[ \t]*$/;
const FENCE_LINE = /^[ \t]*(?:```|~~~)/;

/** `text` with each line `@path` replaced by that file; a line that names none stays as it is. */
export function expandImports(text: string, options: ImportOptions): string {
  let left = MAX_IMPORTS;
  let room = options.maxBytes;
  const expanded = (from: string, path: string, open: readonly string[]): string => {
    let isCode = false;
    return from.split("\n").map((line) => {
      if (FENCE_LINE.test(line)) isCode = !isCode;
      const [, name] = isCode ? [] : IMPORT_LINE.exec(line) ?? [];
      if (name === undefined || open.length >= MAX_IMPORT_DEPTH || left <= 0) return line;
      const real = importedFile(name, path, options);
      if (real === undefined || open.includes(real)) return line;
      const found = attempt(() => readBoundedText(real, room, options.root));
      if (found === undefined) return line;
      left--;
      room = Math.max(0, room - found.length);
      return expanded(found.trimEnd(), real, [...open, real]);
    }).join("\n");
  };
  return expanded(text, options.path, [options.path]);
}

/** The file that an import names, where it may be taken in: inside of the root, and no secret. */
function importedFile(
  name: string,
  from: string,
  { root, paths }: ImportOptions,
): string | undefined {
  if (isAbsolute(name) || name.startsWith("~")) return undefined;
  const real = attempt(() => Deno.realPathSync(join(dirname(from), name)));
  const isOpen = real !== undefined && isWithin(root, real) &&
    paths.secretKind(real) === undefined && !isInGit(real);
  return isOpen ? real : undefined;
}
