/** Files that instructions import with a line `@path`. @module */

import { isInGit } from "../../session/repository.ts";
import { attempt } from "../../attempt.ts";
import type { PathTable } from "../../safety/path_table.ts";
import { isWithin } from "../../text/paths.ts";
import { dirname, isAbsolute, join } from "../../text/std_path.ts";
import { readBoundedText } from "../bounded_text.ts";

interface ImportOptions {
  /** The file with the text, with links resolved. */
  path: string;
  /** The folder that imports must stay in. */
  root: string;
  /** The maximum size of all imports, in bytes. */
  maxBytes: number;
  paths: PathTable;
}

/** The maximum number of imported files per text, and their maximum depth. */
const MAX_IMPORTS = 20;
const MAX_IMPORT_DEPTH = 5;
/** A line that is only a path, possibly as an item of a list. */
const IMPORT_LINE = /^[ \t]*(?:[-*][ \t]+)?@(\S+)[ \t]*$/;
const FENCE_LINE = /^[ \t]*(?:```|~~~)/;

/** Returns `text` with each line `@path` replaced by that file. Lines that name no file are unchanged. */
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

/** Returns the file of an import if it is allowed: inside of the root, and not a secret. */
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
