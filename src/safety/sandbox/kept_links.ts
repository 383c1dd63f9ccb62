/**
 * Protected links, which no mount can protect: while sandboxed commands run, they are restored if they were replaced.
 * A table outside of the sandbox lists them. If this program is killed, the next command or session restores them.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { atProgramStop } from "../../program_stop.ts";
import { basename, dirname, join } from "../../text/std_path.ts";
import { AS_NAME } from "../../tools/files/in_folder.ts";
import { OPEN_FOLDER, runInPlace } from "../in_place.ts";
import { entryAt } from "../places.ts";
import type { View } from "../view.ts";

const CHECK_MS = 1000;
/** The end of a replacement's name. It is in the table of protected paths, because it may contain secrets. */
const REPLACED = ".replaced";
const REPLACED_LINK = ".replaced-link";

/** Arguments: the name of the link, its target's bytes, and the name to move its replacement to, if there is one. */
const PUT_BACK = `[ -z "$3" ] || mv -f${AS_NAME} -- "./$1" "./$3" || exit
to=$(printf "$2.") && ln -s${AS_NAME} -- "\${to%.}" "./$1"`;
const BYTES = `[ -L "./$1" ] && readlink -n "./$1" | od -An -v -to1`;

/** The absolute path of a link, and the bytes of its target, as in `\\141\\057`. */
type LinkRow = [path: string, target: string];

const escaped = (numbers: readonly string[]) => numbers.map((one) => `\\${one}`).join("");

/** Returns the bytes of a link's target. Deno does not read those that are not UTF-8. */
function targetIn(path: string): string | undefined {
  const target = attempt(() => Deno.readLinkSync(path));
  if (target !== undefined) {
    const bytes = [...new TextEncoder().encode(target)];
    return escaped(bytes.map((byte) => byte.toString(8).padStart(3, "0")));
  }
  if (!entryAt(path)?.isSymlink) return undefined;
  const { output, fault } = runInPlace(dirname(path), BYTES, [basename(path)]);
  return fault === undefined ? escaped(output.split(/\s+/)) : undefined;
}

const isReplaced = ([path, target]: LinkRow) => targetIn(path) !== target;

/** Returns the path of a folder's table. Another folder at the same path has another table. */
function tablePath(folder: string, stateFolder?: string): string | undefined {
  const { dev, ino } = attempt(() => Deno.statSync(folder)) ?? {};
  if (stateFolder === undefined || dev === undefined) return undefined;
  return `${stateFolder}/kept_links/${encodeURIComponent(folder).slice(-150)}-${dev}-${ino}`;
}

/** Restores the links that jobs replaced, also those of a run that was killed. Returns a line for each. */
export function restoreLinks(folder: string, stateFolder?: string): string[] {
  const table = tablePath(folder, stateFolder);
  if (table === undefined) return [];
  using file = attempt(() => Deno.openSync(table, { read: true, write: true }));
  if (file === undefined) return [];
  const rows = rowsIn(table);
  const said = restore(rows).map(({ line }) => line);
  // Running commands share the lock. Some network drives have no locks.
  const isAlone = attempt(() => file.tryLockSync(true)) ?? true;
  if (isAlone && !rows.some(isReplaced)) attempt(() => file.truncateSync());
  return said;
}

/** Saves a view's links and restores them until the returned function is called, which returns a line for each. */
export function keepLinks(
  { folder, links = [] }: Pick<View, "folder" | "links">,
  stateFolder?: string,
): () => string[] {
  const rows = links.flatMap((path): LinkRow[] => {
    const target = path.endsWith(REPLACED_LINK) ? undefined : targetIn(path);
    return target === undefined ? [] : [[path, target]];
  });
  if (rows.length === 0) return () => [];
  const table = tablePath(folder, stateFolder);
  const file = table === undefined ? undefined : attempt(() => openTable(table, rows));
  const said: string[] = [];
  const check = (isEnd = false) => {
    // While a command runs, the next check restores a link that this one could not.
    said.push(...restore(rows).flatMap(({ line, fault }) => isEnd || !fault ? line : []));
  };
  const timer = setInterval(() => check(), CHECK_MS);
  Deno.unrefTimer(timer);
  const release = atProgramStop(() => check());
  return () => {
    clearInterval(timer);
    release();
    check(true);
    file?.close();
    return [...said, ...restoreLinks(folder, stateFolder)];
  };
}

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

type Restored = { line: string; fault: string | undefined };

const restore = (rows: readonly LinkRow[]): Restored[] =>
  rows.filter(isReplaced).flatMap((row) => {
    const [path, target] = row;
    const folder = dirname(path);
    runInPlace(dirname(folder), OPEN_FOLDER, [basename(folder)]);
    if (!isReplaced(row)) return [];
    const there = entryAt(path);
    const end = there?.isSymlink ? REPLACED_LINK : REPLACED;
    const aside = `${basename(path)}.${crypto.randomUUID().slice(0, 8)}${end}`;
    const { fault } = runInPlace(folder, PUT_BACK, [basename(path), target, there ? aside : ""]);
    const line = `${path} is a link that commands may not replace: ` +
      (fault === undefined
        ? "it was restored"
        : `it could not be restored (${fault}): until you restore it, do not use git there or open the folder`) +
      (entryAt(join(folder, aside)) ? `, and its replacement is now ${aside}` : "");
    return [{ line, fault }];
  });
