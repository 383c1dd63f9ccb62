/** The sandboxed programs that write, and the repositories that they make. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import type { FolderLooks } from "../folder_looks.ts";
import { expectPipes } from "../git_files.ts";
import { unsearched } from "../in_place.ts";
import { entryAt } from "../places.ts";
import { foldersDownTo, repositoriesIn } from "../repositories.ts";
import { accessAt, type View, writtenFolders } from "../view.ts";
import { type GitAnswers, newFaults, putAside, removeLinks } from "./git_faults.ts";

/** The views whose programs may have made repositories that are not checked yet. */
const writers = new Map<View, { runs: boolean; forget: () => void }>();

/** A file or folder, which may be moved: another one at the path is not meant. */
interface EntryAt {
  path: string;
  dev: number | undefined;
  ino: number | null | undefined;
}
const entryOf = (path: string): EntryAt => {
  const { dev, ino } = entryAt(path) ?? {};
  return { path, dev, ino };
};

/**
 * A sandboxed program, of any run, that may have made repositories. It is a file in the state folder, locked while its
 * run lives.
 */
interface Writer {
  /** The absolute paths of the folders that it writes. */
  roots: string[];
  /** The repositories in them from before. */
  known: EntryAt[];
}

const writersIn = (stateFolder: string): string => `${stateFolder}/writers`;

/** Returns the saved programs with their files. */
function savedWriters(stateFolder: string | undefined): [file: string, writer: Writer][] {
  const folder = stateFolder && writersIn(stateFolder);
  const names = attempt(() => [...Deno.readDirSync(folder || "")]) ?? [];
  return names.map(({ name }) => `${folder}/${name}`).filter((file) => !file.endsWith(NEW))
    .flatMap((file): [string, Writer][] =>
      attempt(() => [[file, JSON.parse(Deno.readTextFileSync(file))]]) ?? []
    );
}
/** The end of the name of a file that is not locked yet. */
const NEW = ".new";

/** Saves a program that starts. Returns a function for its end. */
function saveWriter(view: View, stateFolder: string | undefined): () => void {
  const roots = writtenFolders(view);
  if (stateFolder === undefined || roots.length === 0) return () => {};
  const writer: Writer = { roots, known: (view.repositories ?? []).map(entryOf) };
  const path = `${writersIn(stateFolder)}/${crypto.randomUUID()}`;
  return attempt(() => {
    Deno.mkdirSync(writersIn(stateFolder), { recursive: true, mode: 0o700 });
    const file = Deno.openSync(path + NEW, { write: true, createNew: true, mode: 0o600 });
    attempt(() => file.lockSync(true));
    file.writeSync(new TextEncoder().encode(JSON.stringify(writer)));
    Deno.renameSync(path + NEW, path);
    return () => {
      attempt(() => Deno.removeSync(path));
      file.close();
    };
  }) ?? (() => {});
}

/** True if the program may have made what is at a path, or in it. */
const mayHaveMade = ({ roots, known }: Writer, path: string): boolean =>
  roots.some((root) => isWithin(root, path)) &&
  !known.some((one) => isWithin(one.path, path) && isAt(one, one.path));

/**
 * True if a sandboxed program, of any run, can write a path from before it was protected, or move a folder that contains
 * it, or if it made it and was killed. It cannot move what is directly in a folder of the view.
 */
export const isWrittenNow = (path: string, stateFolder: string | undefined): boolean =>
  [...writers].some(([view, { runs }]) => runs && accessAt(view, path) === "write") ||
  savedWriters(stateFolder).some(([, { roots, known }]) => {
    const fixed = known.filter((one) => roots.includes(dirname(one.path)));
    return mayHaveMade({ roots, known: fixed }, path);
  });

/** A repository that a command made, or with `isSearched` false a folder that may have some. */
interface Made extends EntryAt {
  isSearched: boolean;
  /** True for a folder with too many. */
  isFull?: true;
}

/** The repositories that commands of this program made. */
let made: readonly Made[] = [];
/** The maximum number of repositories below a folder that are remembered. With more, all below it count. */
const MAX_MADE = 500;
const isAt = ({ path: known, dev, ino }: EntryAt, path: string): boolean => {
  const entry = entryAt(path);
  return entry !== undefined && (path === known || entry.dev === dev && entry.ino === ino);
};

const unique = (rows: readonly Made[]): Made[] => [
  ...new Map(rows.map((row) => [JSON.stringify(row), row])).values(),
];

const tableIn = (stateFolder: string): string => `${stateFolder}/made_repositories`;

/** Returns the repositories that commands made, also in earlier runs. */
function allMade(stateFolder: string | undefined): readonly Made[] {
  const text = stateFolder && attempt(() => Deno.readTextFileSync(tableIn(stateFolder)));
  const saved = (text || "").split("\n").flatMap((line): Made[] =>
    attempt(() => [JSON.parse(line)]) ?? []
  );
  return unique([...saved, ...made]);
}

/** Changes the list of repositories that commands made, here and in the state folder. */
function changeMade(
  stateFolder: string | undefined,
  change: (rows: readonly Made[]) => readonly Made[],
): void {
  made = change(made);
  if (stateFolder === undefined) return;
  attempt(() => {
    Deno.mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
    const how = { read: true, append: true, create: true, mode: 0o600 };
    using file = Deno.openSync(tableIn(stateFolder), how);
    // Other runs change it as well. Some network drives have no locks.
    attempt(() => file.lockSync(true));
    const lines = unique(change(allMade(stateFolder))).map((row) => JSON.stringify(row));
    file.truncateSync();
    file.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  });
}

/** True if a row is a repository around a folder, or has not been searched for one. */
const mayHold = (row: Made, folder: string): boolean =>
  row.isSearched
    ? foldersDownTo(folder).some((at) => isAt(row, join(at, ".git")) || isAt(row, at))
    : isAt(row, row.path) && isWithin(row.path, folder);

export const isKnownRepository = (folder: string, stateFolder: string | undefined): boolean =>
  ![...unsearched].some(entryAt) && !allMade(stateFolder).some((row) => mayHold(row, folder));

/** Prepares for a program that runs while others are checked. */
export async function expectSwaps(willRun = false): Promise<void> {
  if (willRun || [...writers.values()].some(({ runs }) => runs)) await expectPipes();
}

/** Notes a program's start. Returns a function for its end, which puts aside what git would run in new repositories. */
export function startWriter(
  view: View,
  looks: FolderLooks,
  git: GitAnswers,
  stateFolder: string | undefined,
): () => string[] {
  const writer = { runs: true, forget: saveWriter(view, stateFolder) };
  writers.set(view, writer);
  const isWritten = (path: string) =>
    [...writers.keys()].some((one) =>
      accessAt(one, path) === "write" && !one.repositories?.includes(path) ||
      isInReplacedLink(one, path)
    );
  return () => {
    writer.runs = false;
    const all = [...writers].filter(([one]) => one.folder === view.folder);
    const roots = all.flatMap(([one]) => writtenFolders(one));
    const { lines, isComplete } = searchNew(roots, { looks, git, stateFolder, isWritten });
    for (const [one, { runs, forget }] of isComplete ? all : []) {
      if (runs) continue;
      writers.delete(one);
      forget();
    }
    return lines;
  };
}

/** Puts aside what git would run in repositories that programs of killed runs made; undefined if there were none. */
export function searchKilled(
  view: View,
  looks: FolderLooks,
  git: GitAnswers,
  stateFolder: string | undefined,
): string[] | undefined {
  const written = writtenFolders(view);
  const killed = savedWriters(stateFolder).filter(([path, { roots }]) => {
    using file = attempt(() => Deno.openSync(path, { write: true }));
    // Some network drives have no locks: such a run may live.
    return roots.some((root) => written.includes(root)) &&
      attempt(() => file?.tryLockSync(true)) === true;
  });
  if (killed.length === 0) return undefined;
  const isNew = (path: string) => killed.some(([, writer]) => mayHaveMade(writer, path));
  const made = (view.repositories ?? []).filter(isNew);
  const isWritten = (path: string) =>
    isNew(path) && (accessAt(view, path) === "write" || made.some((at) => isWithin(at, path)));
  const roots = killed.flatMap(([, writer]) => writer.roots).filter((at) => written.includes(at));
  const { lines, isComplete } = searchNew(roots, { looks, git, stateFolder, isWritten });
  for (const [path] of isComplete ? killed : []) attempt(() => Deno.removeSync(path));
  return lines;
}

/** Puts aside what git would run in the repositories that programs can write below `roots`. */
function searchNew(
  roots: readonly string[],
  { looks, git, stateFolder, isWritten }: {
    looks: FolderLooks;
    git: GitAnswers;
    stateFolder: string | undefined;
    isWritten: (path: string) => boolean;
  },
): { lines: string[]; isComplete: boolean } {
  const seen = new Set<string>();
  let isComplete = true;
  const lines = [...new Set(roots)].flatMap((root) => {
    const look = repositoriesIn(root, looks, isWritten);
    const found = look.found.filter((at) => !seen.has(at) && seen.add(at));
    const folders = found.filter((at) => entryAt(at)?.isDirectory !== false);
    isComplete &&= look.isComplete;
    noteLook(root, { ...look, found }, stateFolder);
    const large =
      `${root} has too many new folders: do not use git in them until the next command has ended`;
    return [
      ...removeLinks(folders, () => ["hooks"], git.time),
      ...putAside(newFaults(found, root, git)),
      ...look.isComplete ? [] : [large],
    ];
  });
  return { lines, isComplete };
}

/** Notes the repositories that were found below a folder, and if the search was completed. */
function noteLook(
  root: string,
  { found, isComplete }: { found: readonly string[]; isComplete: boolean },
  stateFolder: string | undefined,
): void {
  const wasComplete = !unsearched.has(root);
  if (isComplete) unsearched.delete(root);
  else unsearched.add(root);
  const isDue = allMade(stateFolder).some((row) => !row.isSearched && row.path === root);
  if (found.length === 0 && isComplete && wasComplete && !isDue) return;
  const rowOf = (path: string, isSearched: boolean): Made => ({ ...entryOf(path), isSearched });
  const now = found.map((path) => rowOf(path, true))
    .concat(isComplete ? [] : rowOf(root, false));
  changeMade(stateFolder, (rows) => {
    const all = unique([
      ...rows.filter((row) => row.isSearched || row.isFull || row.path !== root),
      ...now,
    ]);
    const below = new Set(all.filter(({ path }) => isWithin(root, path)));
    if (below.size <= MAX_MADE) return all;
    return [...all.filter((row) => !below.has(row)), { ...rowOf(root, false), isFull: true }];
  });
}

/** True for a path that was a link to a repository and leads elsewhere now, and for all in it. */
const isInReplacedLink = ({ gitLinks = new Map() }: View, path: string): boolean =>
  [...gitLinks].some(([at, target]) =>
    isWithin(at, path) && attempt(() => Deno.readLinkSync(at)) !== target
  );
