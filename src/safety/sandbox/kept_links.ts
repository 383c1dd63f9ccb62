/**
 * Protected links, which no mount can protect: while sandboxed commands run, they are restored if they were replaced.
 * A table outside of the sandbox lists them. If this program is killed, the next command or session restores them.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { runInPlace } from "../in_place.ts";
import type { View } from "../view.ts";

/** The time between two checks while a command runs, in milliseconds. */
const CHECK_MS = 1000;
/** The maximum number of lines about one command, which may replace a link again and again. */
const MAX_RESTORED_LINES = 10;
/** The name of a replacement, which is no link of the user. */
const REPLACEMENT = /\.replaced-[\da-f]{8}$/;

const FLAG = Deno.build.os === "darwin" ? "h" : "T";
/** Arguments: the name of the link, its target, and the name to move its replacement to, if there is one. */
const PUT_BACK = `[ -z "$3" ] || mv -f${FLAG} "./$1" "./$3"; ln -s${FLAG} -- "$2" "./$1"`;

/** The absolute path of a link, and its target. */
type LinkRow = [path: string, target: string];

const targetIn = (path: string) => attempt(() => Deno.readLinkSync(path));
const existsAt = (path: string) => attempt(() => Deno.lstatSync(path)) !== undefined;
const isReplaced = ([path, target]: LinkRow) => targetIn(path) !== target;

/** Returns the path of a folder's table. Another folder at the same path has another table. */
function tablePath(folder: string, stateFolder?: string): string | undefined {
  const { dev, ino } = attempt(() => Deno.statSync(folder)) ?? {};
  if (stateFolder === undefined || dev === undefined) return undefined;
  return `${stateFolder}/links/${encodeURIComponent(folder).slice(-150)}-${dev}-${ino}`;
}

/** Restores the links of a folder's table. Returns a line for each. */
export function restoreLinks(folder: string, stateFolder?: string): string[] {
  const table = tablePath(folder, stateFolder);
  if (table === undefined) return [];
  using file = attempt(() => Deno.openSync(table, { read: true, write: true }));
  if (file === undefined) return [];
  const rows = rowsIn(table);
  const said = restore(rows);
  // Running commands share the lock. Some network drives have none.
  const isAlone = attempt(() => file.tryLockSync(true)) ?? true;
  if (isAlone && !rows.some(isReplaced)) attempt(() => file.truncateSync());
  return said;
}

/**
 * Saves the targets of a view's links in a table, and restores them until the returned function is called. That returns
 * a line for each restored link. Replacements are preserved beside them.
 */
export function keepLinks(
  { folder, links = [] }: Pick<View, "folder" | "links">,
  stateFolder?: string,
): () => string[] {
  const rows = links.flatMap((path): LinkRow[] => {
    const target = REPLACEMENT.test(path) ? undefined : targetIn(path);
    return target === undefined ? [] : [[path, target]];
  });
  if (rows.length === 0) return () => [];
  const table = tablePath(folder, stateFolder);
  const file = table === undefined ? undefined : attempt(() => openTable(table, rows));
  const said: string[] = [];
  const check = () => said.push(...restore(rows).slice(0, MAX_RESTORED_LINES - said.length));
  const timer = setInterval(check, CHECK_MS);
  Deno.unrefTimer(timer);
  return () => {
    clearInterval(timer);
    check();
    file?.close();
    return [...said, ...restoreLinks(folder, stateFolder)];
  };
}

/** Adds rows to a table, and locks it until the file is closed. */
function openTable(table: string, rows: readonly LinkRow[]): Deno.FsFile {
  Deno.mkdirSync(dirname(table), { recursive: true, mode: 0o700 });
  const file = Deno.openSync(table, { append: true, create: true, mode: 0o600 });
  file.lockSync();
  const known = rowsIn(table).map(([path]) => path);
  const lines = rows.filter(([path]) => !known.includes(path)).map((row) => JSON.stringify(row));
  file.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  return file;
}

function rowsIn(table: string): LinkRow[] {
  const text = attempt(() => Deno.readTextFileSync(table)) ?? "";
  return text.split("\n").flatMap((line): LinkRow[] => attempt(() => [JSON.parse(line)]) ?? []);
}

const restore = (rows: readonly LinkRow[]): string[] =>
  rows.filter(isReplaced).map(([path, target]) => {
    const aside = `${basename(path)}.replaced-${crypto.randomUUID().slice(0, 8)}`;
    const more = existsAt(path) ? [aside] : [];
    const { fault } = runInPlace(dirname(path), PUT_BACK, [basename(path), target, ...more]);
    return `${path} is a link that commands may not replace: ` +
      (fault === undefined ? "it was restored" : `it could not be restored (${fault})`) +
      (existsAt(join(dirname(path), aside)) ? `, and its replacement is now ${aside}` : "");
  });
