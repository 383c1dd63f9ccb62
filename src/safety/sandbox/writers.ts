/** The sandboxed programs that write, and the repositories that they make. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname } from "../../text/std_path.ts";
import type { FolderLooks } from "../folder_looks.ts";
import { expectPipes } from "../git_files.ts";
import { unsearched } from "../in_place.ts";
import { entryAt } from "../places.ts";
import { repositoriesIn } from "../repositories.ts";
import { accessAt, type View, writtenFolders } from "../view.ts";
import { type GitAnswers, newFaults, putAside, removeLinks } from "./git_faults.ts";

/** The views whose programs may have made repositories that are not checked yet; true while the program runs. */
const writers = new Map<View, boolean>();

/** True if a sandboxed program that is running can write a path, from before the path was protected. */
export const isWrittenNow = (path: string): boolean =>
  [...writers].some(([view, runs]) => runs && accessAt(view, path) === "write");

/** The repositories that commands made. */
const madeRepositories = new Set<string>();

export const isKnownRepository = (folder: string): boolean =>
  ![...unsearched].some(entryAt) &&
  ![...madeRepositories].some((at) => isWithin(basename(at) === ".git" ? dirname(at) : at, folder));

/** Prepares for a program that runs while others are checked. */
export async function expectSwaps(willRun = false): Promise<void> {
  if (willRun || [...writers.values()].includes(true)) await expectPipes();
}

/** Notes a program's start. Returns a function for its end, which puts aside what git would run in new repositories. */
export function startWriter(view: View, looks: FolderLooks, git: GitAnswers): () => string[] {
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
      for (const at of found) madeRepositories.add(at);
      const folders = found.filter((at) => entryAt(at)?.isDirectory !== false);
      isComplete &&= look.isComplete;
      if (look.isComplete) unsearched.delete(root);
      else unsearched.add(root);
      const large =
        `${root} has too many new folders: do not use git in them until the next command has ended`;
      return [
        ...removeLinks(folders, ["hooks"], git.time),
        ...putAside(newFaults(found, root, git)),
        ...look.isComplete ? [] : [large],
      ];
    });
    for (const [one, runs] of isComplete ? all : []) if (!runs) writers.delete(one);
    return mended;
  };
}

/** True for a path that was a link to a repository and leads elsewhere now, and for all in it. */
const isInReplacedLink = ({ gitLinks = new Map() }: View, path: string): boolean =>
  [...gitLinks].some(([at, target]) =>
    isWithin(at, path) && attempt(() => Deno.readLinkSync(at)) !== target
  );
