/** The repositories that commands made: no rule covers what git does there with the user's credentials. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { join } from "../../text/std_path.ts";
import { entryAt } from "../places.ts";
import { foldersDownTo } from "../repositories.ts";
import { type EntryAt, identified, isSameEntry, replaceWhole, savedText } from "./notes.ts";

/** A repository that a command made, or a folder with too many. */
interface Made extends EntryAt {
  isFull?: true;
}

let made: readonly Made[] = [];
/** The maximum number of repositories below a folder that are remembered. With more, all below it count. */
const MAX_MADE = 500;
const isAt = (one: EntryAt, path: string): boolean =>
  path === one.path ? entryAt(path) !== undefined : isSameEntry(one, path);

const unique = (rows: readonly Made[]): Made[] => [
  ...new Map(rows.map((row) => [JSON.stringify(row), row])).values(),
];

const tableIn = (stateFolder: string): string => `${stateFolder}/made_repositories`;

/** Returns the repositories that commands made, also in earlier runs; undefined if the list cannot be read. */
function allMade(stateFolder: string | undefined): readonly Made[] | undefined {
  const text = stateFolder === undefined ? "" : savedText(tableIn(stateFolder));
  const saved = text?.split("\n").flatMap((line): Made[] =>
    attempt(() => [JSON.parse(line)]) ?? []
  );
  return saved && unique([...saved, ...made]);
}

function openLock(stateFolder: string): Deno.FsFile {
  Deno.mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  const how = { create: true, write: true, mode: 0o600 };
  return Deno.openSync(`${tableIn(stateFolder)}.lock`, how);
}

/** False if earlier runs could not save what their commands made. */
const canSave = (stateFolder: string | undefined): boolean =>
  stateFolder === undefined || attempt(() => (openLock(stateFolder).close(), true)) === true;

/** Changes the list of repositories that commands made, here and in the state folder. False if it cannot be saved. */
function changeMade(
  stateFolder: string | undefined,
  change: (rows: readonly Made[]) => readonly Made[],
): boolean {
  made = change(made);
  if (stateFolder === undefined) return true;
  return attempt(() => {
    // Other runs change it as well. Some network drives have no locks.
    using lock = openLock(stateFolder);
    attempt(() => lock.lockSync(true));
    const lines = unique(change(allMade(stateFolder)!)).map((row) => `${JSON.stringify(row)}\n`);
    replaceWhole(tableIn(stateFolder), lines.join("")).close();
    return true;
  }) ?? false;
}

/** True if a row is a repository around a folder, or has too many. */
const mayHold = (row: Made, folder: string): boolean =>
  row.isFull
    ? isAt(row, row.path) && isWithin(row.path, folder)
    : foldersDownTo(folder).some((at) => isAt(row, join(at, ".git")) || isAt(row, at));

export const isKnownRepository = (folder: string, stateFolder: string | undefined): boolean =>
  canSave(stateFolder) &&
  allMade(stateFolder)?.some((row) => mayHold(row, folder)) === false;

/** Notes the repositories that were found below a folder. False if that cannot be saved. */
export function noteMade(
  root: string,
  found: readonly string[],
  stateFolder: string | undefined,
): boolean {
  return found.length === 0 || changeMade(stateFolder, (rows) => {
    const all = unique([...rows, ...found.map(identified)]);
    const below = new Set(all.filter(({ path }) => isWithin(root, path)));
    if (below.size <= MAX_MADE) return all;
    return [...all.filter((row) => !below.has(row)), { ...identified(root), isFull: true }];
  });
}
