/** The sandboxed programs that write, and the repositories that they make. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { join } from "../../text/std_path.ts";
import type { FolderLooks } from "../folder_looks.ts";
import { expectPipes } from "../git_files.ts";
import { unsearched } from "../in_place.ts";
import { entryAt } from "../places.ts";
import { foldersDownTo, repositoriesIn } from "../repositories.ts";
import { accessAt, type View, writtenFolders } from "../view.ts";
import { type GitAnswers, newFaults, putAside, removeLinks } from "./git_faults.ts";

/** The views whose programs may have made repositories that are not checked yet; true while the program runs. */
const writers = new Map<View, boolean>();

/** True if a sandboxed program that is running can write a path, from before the path was protected. */
export const isWrittenNow = (path: string): boolean =>
  [...writers].some(([view, runs]) => runs && accessAt(view, path) === "write");

/** A repository that a command made, or with `isSearched` false a folder that may have some. */
interface Made {
  path: string;
  /** The numbers of its file or folder. It may be moved, and another one at the path is not meant. */
  dev: number | undefined;
  ino: number | null | undefined;
  isSearched: boolean;
  /** True for a folder with too many. */
  isFull?: true;
}

/** The repositories that commands of this program made. */
let made: readonly Made[] = [];
/** The maximum number of repositories below a folder that are remembered. With more, all below it count. */
const MAX_MADE = 500;
const isAt = ({ path: known, dev, ino }: Made, path: string): boolean => {
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

/** Takes the repository around a folder for the user's. */
export const vouchFor = (folder: string, stateFolder: string | undefined): void =>
  changeMade(
    stateFolder,
    (rows) => rows.filter((row) => !mayHold(row, folder)),
  );

/** Prepares for a program that runs while others are checked. */
export async function expectSwaps(willRun = false): Promise<void> {
  if (willRun || [...writers.values()].includes(true)) await expectPipes();
}

/** Notes a program's start. Returns a function for its end, which puts aside what git would run in new repositories. */
export function startWriter(
  view: View,
  looks: FolderLooks,
  git: GitAnswers,
  stateFolder: string | undefined,
): () => string[] {
  writers.set(view, true);
  const isWritten = (path: string) =>
    [...writers.keys()].some((one) =>
      accessAt(one, path) === "write" && !one.repositories?.includes(path) ||
      isInReplacedLink(one, path)
    );
  return () => {
    writers.set(view, false);
    const all = [...writers].filter(([one]) => one.folder === view.folder);
    const seen = new Set<string>();
    let isComplete = true;
    const mended = [...new Set(all.flatMap(([one]) => writtenFolders(one)))].flatMap((root) => {
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
    for (const [one, runs] of isComplete ? all : []) if (!runs) writers.delete(one);
    return mended;
  };
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
  const rowOf = (path: string, isSearched: boolean): Made => {
    const { dev, ino } = entryAt(path) ?? {};
    return { path, dev, ino, isSearched };
  };
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
