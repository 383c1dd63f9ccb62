/** The sandboxed programs that write, of all runs, and the search for the repositories that they make. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { reasonOf } from "../../text/reason.ts";
import { basename, dirname } from "../../text/std_path.ts";
import { RefusedError } from "../../tools/call_errors.ts";
import { CLOCK_TICK_MS, type FolderLooks, swappers } from "../folder_looks.ts";
import { expectPipes } from "../git_files.ts";
import { namesIn } from "../path_table.ts";
import { entryAt } from "../places.ts";
import { repositoriesIn } from "../repositories.ts";
import { accessAt, type View, writtenFolders } from "../view.ts";
import { type GitAnswers, mendRepositories, turnOffNew } from "./git_faults.ts";

/** A file or folder, which may be moved: another one at the path is not meant. */
interface EntryAt {
  path: string;
  dev: number | undefined;
  ino: number | null | undefined;
  /** The time of its birth: the number of a removed file may be that of a new one. */
  birth: number | undefined;
}
const identified = (path: string): EntryAt => {
  const { dev, ino, birthtime } = entryAt(path) ?? {};
  return { path, dev, ino, birth: birthtime?.getTime() };
};
const idOf = ({ dev, ino, birth }: EntryAt): string | undefined =>
  dev === undefined ? undefined : `${dev} ${ino} ${birth}`;
/** True if an entry is at a path now. */
const isSameEntry = (entry: EntryAt, path: string): boolean => {
  const id = idOf(identified(path));
  return id !== undefined && id === idOf(entry);
};

/** The views whose programs may have made repositories that are not checked yet. `id` is also the name of their file. */
const writers = new Map<View, { id: string; runs: boolean; start: number; forget: () => void }>();
/**
 * A sandboxed program, of any run, that may have made repositories. It is a file in the state folder, which is locked
 * while its run lives.
 */
interface Writer {
  roots: EntryAt[];
  /** The repositories in them from before, and what is not open for writing. */
  known: EntryAt[];
  /** The time of its start, in ms since 1970. */
  start: number;
}

const NEW = ".new";
const writersIn = (stateFolder: string): string => `${stateFolder}/writers`;

/** Returns the saved programs with their files. One that cannot be read may have made anything. */
function savedWriters(stateFolder: string | undefined): [file: string, writer: Writer][] {
  const folder = stateFolder && writersIn(stateFolder);
  const names = attempt(() => [...Deno.readDirSync(folder || "")]) ?? [];
  return names.filter(({ name }) => !name.endsWith(NEW)).flatMap(({ name }): [string, Writer][] => {
    const file = `${folder}/${name}`;
    const { roots, known, start } = attempt(() => JSON.parse(Deno.readTextFileSync(file))) ?? {};
    // It ended meanwhile.
    if (entryAt(file) === undefined) return [];
    const isWriter = Array.isArray(roots) && Array.isArray(known);
    const unknown = { roots: [identified("/")], known: [], start: 0 };
    return [[file, isWriter ? { roots, known, start } : unknown]];
  });
}

/** Returns the repositories from before, and what is not open for writing. */
const closedIn = (view: View, roots = writtenFolders(view)): string[] => [
  ...view.repositories ?? [],
  ...[...view.places].flatMap(([at, access]) =>
    access !== "write" && roots.some((root) => isWithin(root, at)) ? at : []
  ),
];

/** Saves a program that starts. Returns a function for its end. @throws {RefusedError} if the disk is full */
function saveWriter(id: string, view: View, stateFolder: string | undefined): () => void {
  const roots = writtenFolders(view);
  if (stateFolder === undefined || roots.length === 0) return () => {};
  const writer: Writer = {
    roots: roots.map(identified),
    known: closedIn(view, roots).map(identified),
    start: Date.now(),
  };
  const path = `${writersIn(stateFolder)}/${id}`;
  try {
    const text = JSON.stringify(writer);
    const file = replaceWhole(path, text, (one) => attempt(() => one.lockSync(true)));
    return () => {
      attempt(() => Deno.removeSync(path));
      file.close();
    };
  } catch (error) {
    // Only space may be there again in a later run, which would not know what is missing.
    if (!/^(ENOSPC|EDQUOT)$/.test((error as { code?: string }).code ?? "")) return () => {};
    throw new RefusedError(
      `the folder ${stateFolder}, where commands that run are noted, cannot be written: ` +
        `${reasonOf(error)}. Free space on its disk`,
    );
  }
}

/** Replaces a file as a whole, also on a full disk. `lock` is called before it has its name. */
function replaceWhole(
  path: string,
  value: string,
  lock?: (file: Deno.FsFile) => void,
): Deno.FsFile {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const how = { write: true, create: true, truncate: true, mode: 0o600 };
  const file = Deno.openSync(path + NEW, how);
  try {
    lock?.(file);
    const bytes = new TextEncoder().encode(value);
    if (file.writeSync(bytes) < bytes.length) {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    }
    Deno.renameSync(path + NEW, path);
    return file;
  } catch (error) {
    file.close();
    attempt(() => Deno.removeSync(path + NEW));
    throw error;
  }
}

/** Returns a test that is true if the program may have made what is at a path, or in it. */
function mayHaveMade({ roots, known }: Pick<Writer, "known" | "roots">) {
  const ids = new Set(known.flatMap((one) => idOf(one) ?? []));
  const knownAt = new Map(known.map((one) => [one.path, one]));
  const written = new Set(roots.map(({ path }) => path));
  // The deepest one that contains it decides.
  const isMade = (at: string): boolean => {
    const one = knownAt.get(at);
    if (one && isSameEntry(one, at)) return false;
    return written.has(at) || at !== dirname(at) && isMade(dirname(at));
  };
  return (path: string) => isMade(path) && !ids.has(idOf(identified(path)) ?? "");
}

/** True if a program of this run can write a path, or could and not all that it may have made was searched. */
const isOpenNow = (path: string): boolean =>
  [...writers.keys()].some((view) =>
    accessAt(view, path) === "write" || isInReplacedLink(view, path)
  );

/**
 * True if a sandboxed program, of any run, can write a path from before it was protected, or move a folder that contains
 * it, or if it made it and was killed. It cannot move what is directly in a folder of the view.
 */
export const isWrittenNow = (path: string, stateFolder: string | undefined): boolean =>
  isOpenNow(path) ||
  savedWriters(stateFolder).some(([, { roots, known }]) => {
    const fixed = known.filter((one) => roots.some((root) => root.path === dirname(one.path)));
    return mayHaveMade({ roots, known: fixed })(path);
  });

/** Notes which programs run, of all runs. `killed` is one that does not. */
function noteSwappers(stateFolder: string | undefined, killed = ""): void {
  const names = stateFolder === undefined ? [] : namesIn(writersIn(stateFolder));
  const others = new Set(names.filter((name) => name !== killed && !name.endsWith(NEW)));
  for (const { id } of writers.values()) others.delete(id);
  // One of another run may have run since they were last noted.
  for (const id of others) swappers.now.add(id);
  for (const { id, runs } of writers.values()) if (runs) others.add(id);
  swappers.now = others;
}

/** Prepares for programs that run while others are checked. */
export async function expectSwaps(stateFolder?: string, willRun = false): Promise<void> {
  noteSwappers(stateFolder);
  if (willRun || swappers.now.size > 0) await expectPipes();
}

/** Notes a program's start. Returns a function for its end, which puts aside what git would run in new repositories. */
export function startWriter(
  view: View,
  looks: FolderLooks,
  git: GitAnswers,
  stateFolder: string | undefined,
): () => string[] {
  const id = crypto.randomUUID();
  const forget = saveWriter(id, view, stateFolder);
  const writer = { id, runs: true, start: Date.now(), forget };
  writers.set(view, writer);
  noteSwappers(stateFolder);
  const isWritten = (path: string) =>
    [...writers.keys()].some((one) =>
      accessAt(one, path) === "write" && !one.repositories?.includes(path) ||
      isInReplacedLink(one, path)
    );
  return () => {
    writer.runs = false;
    noteSwappers(stateFolder);
    const all = [...writers].filter(([one]) => one.folder === view.folder);
    const roots = all.flatMap(([one]) => writtenFolders(one));
    const since = Math.min(...all.map(([, { start }]) => start)) - CLOCK_TICK_MS;
    const known = closedIn(view).filter((at) => !isWritten(at));
    const { lines, isComplete } = searchNew(roots, { looks, git, isWritten, known, since });
    for (const [one, { runs, forget }] of isComplete ? all : []) {
      if (runs) continue;
      writers.delete(one);
      forget();
    }
    return lines;
  };
}

/**
 * Puts aside what git would run in repositories that programs of killed runs made; undefined if there were no such programs. All
 * repositories since the start count: such a program may have prevented its run from noting until when it ran.
 */
export function searchKilled(
  view: View,
  looks: FolderLooks,
  git: GitAnswers,
  stateFolder: string | undefined,
): string[] | undefined {
  const written = writtenFolders(view);
  const lines = savedWriters(stateFolder).flatMap(([path, { roots, known, start }]) => {
    using file = attempt(() => Deno.openSync(path, { write: true }));
    const placed = roots.map((root) => {
      // The user may have renamed a folder.
      const moved = written.filter((at) => isSameEntry(root, at));
      if (moved.length > 0) return moved;
      return root.path === "/" ? written : entryAt(root.path) ? [root.path] : [];
    });
    const places = [...new Set(placed.flat())];
    // Some network drives have no locks: such a run may live.
    const isKilled = places.length > 0 && attempt(() => file?.tryLockSync(true)) === true;
    if (!isKilled) return [];
    noteSwappers(stateFolder, basename(path));
    // The view of now may close what they wrote.
    const isWritten = mayHaveMade({ roots: places.map(identified), known });
    const since = start - CLOCK_TICK_MS;
    const intact = known.filter((one) => isSameEntry(one, one.path)).map(({ path }) => path);
    const found = searchNew(places, { looks, git, isWritten, known: intact, since });
    const rest = roots.filter((_, i) => placed[i]!.length === 0);
    const left = JSON.stringify({ roots: rest, known, start });
    if (found.isComplete && rest.length === 0) attempt(() => Deno.removeSync(path));
    else if (found.isComplete) attempt(() => replaceWhole(path, left).close());
    const why = `Commands ran when this program was killed, and may have made what is new in `;
    return [found.lines.length > 0 ? [why + places.join(", "), ...found.lines] : []];
  });
  return lines.length > 0 ? lines.flat() : undefined;
}

/** Puts aside what git would run in the repositories that programs can write below `roots`. */
function searchNew(
  roots: readonly string[],
  { looks, git, isWritten, known, since }: {
    looks: FolderLooks;
    git: GitAnswers;
    isWritten: (path: string) => boolean;
    /** The paths that the programs did not write. */
    known: readonly string[];
    /** The time from which on they made links, in ms since 1970. */
    since: number;
  },
): { lines: string[]; isComplete: boolean } {
  const seen = new Set<string>();
  let isComplete = true;
  const lines = [...new Set(roots)].flatMap((root) => {
    const look = repositoriesIn(root, looks, isWritten, since);
    const all = look.found.filter((at) => !seen.has(at) && seen.add(at));
    const { lines, isDone } = mendRepositories(all, root, git);
    if (look.isDone && isDone) return lines;
    const off = turnOffNew(root, { since, mended: isDone ? all : [], known });
    if (off.isDone) return [...off.lines, ...lines];
    isComplete = false;
    const why = `Not all that is new in ${root} could be searched`;
    return [
      `${why}: do not use git there until the next command has ended`,
      ...off.lines,
      ...lines,
    ];
  });
  return { lines, isComplete };
}

/** True for a path that was a link to a repository and leads elsewhere now, and for all in it. */
const isInReplacedLink = ({ gitLinks = new Map() }: View, path: string): boolean =>
  [...gitLinks].some(([at, target]) =>
    isWithin(at, path) && attempt(() => Deno.readLinkSync(at)) !== target
  );
