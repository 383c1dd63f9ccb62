/** Finds the folder that a command lacked in the sandbox, in the error messages of its programs. @module */

import { isWithin } from "../../text/paths.ts";
import { dirname } from "../../text/std_path.ts";
import { isInsideGit } from "../git_files.ts";
import type { Scene } from "../path_verdict.ts";
import { entryAt } from "../places.ts";
import { accessAt } from "../view.ts";

/** Error messages about a path that is read-only or missing. */
const LACKED =
  /read-only file ?system|permission denied|no such file or directory|required file not found|not a directory|nonexistent|EROFS|EACCES|ENOENT/i;
const MAX_MESSAGES = 20;

/** Returns the newest error messages about paths, each with the paths that it names: absolute, or from `..`. */
export function pathsInErrors(output: string): { line: string; paths: string[] }[] {
  return output.split("\n").filter((line) => LACKED.test(line)).slice(-MAX_MESSAGES)
    .map((line) => ({
      line,
      // The program's name at the beginning of a message is not what it is about.
      paths: line.replace(/^\/\S+: (?!read-only|permission|no such|not a)/i, "").match(
        /(?<![\w.~/])(?:\.\.)?\/[^\s'"‘’`:,()[\]]+/g,
      ) ?? [],
    }));
}

/** Returns the one folder outside of the sandbox that contains all paths in such messages, if it is no special one. */
export function refusedFolder(
  output: string,
  { view, paths, place, root, programs = [] }: Scene,
): string | undefined {
  const mentioned = pathsInErrors(output).flatMap((one) => one.paths);
  const folders = new Set<string>();
  for (const { real } of [...new Set(mentioned)].map(place)) {
    const access = view && accessAt(view(), real);
    // Error messages start with the program's name.
    const isShown = access === "read" && entryAt(real)?.isFile;
    if (access === "write" || access === "own" || isShown) continue;
    if (paths.secretKind(real) ?? paths.protectedKind(real)) return undefined;
    let folder = real;
    while (!entryAt(folder)?.isDirectory && folder !== "/") folder = dirname(folder);
    folders.add(folder);
  }
  const [folder = "/"] = folders;
  // Other users' homes, and folders of the kernel and of services: `/proc/1/root` is the whole machine.
  const isWide = !/^\/(?!(proc|sys|dev|run)\/)[^/]+\/[^/]+\/./.test(folder) ||
    paths.homes.some((home) => isWithin(folder, home));
  const isOther = folders.size === 1 && !isWide && !isWithin(root.real, folder) &&
    paths.protectedKind(folder) === undefined && !isInsideGit(folder) &&
    !programs.some((at) => isWithin(folder, place(at).real));
  return isOther ? folder : undefined;
}
