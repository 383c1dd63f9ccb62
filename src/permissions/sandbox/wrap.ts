/**
 * The command line that starts a program confined, by bubblewrap or macOS's `sandbox-exec`. Pure.
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { isWithin } from "../../text/paths.ts";
import type { ConfinedPath, PathTable } from "../path_table.ts";

/** Limits of one confined command. */
export interface Confinement {
  /** `read-only`: nothing but a private /tmp can be written; `workspace-write`: the folder too. */
  mode: "read-only" | "workspace-write";
  /** The absolute folder that is worked in, links resolved. */
  folder: string;
  /** The absolute folder that commands see as /tmp, where that is not the same for all. */
  tmp?: string;
  network: boolean;
  /** The secrets that are hidden, and the files of the folder that are not written. */
  paths: PathTable;
  /** Absolute paths that may be sockets on which others listen. */
  sockets?: readonly string[];
  /** The file or folder at a path, links followed: one that is not there can be neither hidden nor protected. */
  look(path: string): { real: string; isFile: boolean } | undefined;
}

/** The paths that hidden secrets have; the folder that is worked in is never hidden with them. */
function hiddenPaths({ paths, folder }: Pick<Confinement, "paths" | "folder">): ConfinedPath[] {
  return paths.confinedSecrets().filter(({ path }) => !isWithin(path, folder));
}

/** Folders in whose place commands see others. */
const REPLACED = ["/dev", "/proc", "/run", "/tmp", "/var/tmp"];

/** The arguments of `bwrap` up to the program to start. */
export function bubblewrapArgs(confinement: Confinement): string[] {
  const { mode, folder, tmp, network, paths, sockets = [], look } = confinement;
  const bind = mode === "read-only" ? "--ro-bind" : "--bind";
  const args = ["--die-with-parent", "--unshare-user", "--cap-drop", "ALL", "--unshare-pid"];
  args.push("--unshare-ipc", ...network ? [] : ["--unshare-net"]);
  // The root folder comes first: bound later, it would bring back the real /dev and /proc.
  args.push(folder === "/" ? bind : "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc");
  args.push(...(tmp === undefined ? ["--tmpfs"] : ["--bind", tmp]), "/tmp");
  // Sockets can be connected to on a read-only file system too.
  for (const path of ["/run", "/var/tmp"]) if (look(path)) args.push("--tmpfs", path);
  const resolvers = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];
  for (const path of network ? resolvers : []) args.push("--ro-bind-try", path, path);
  if (folder !== "/") args.push(bind, folder, folder);
  const unwritten = paths.confinedIn(folder).map(({ path }) => path);
  for (const path of mode === "read-only" ? [] : [`${folder}/.git`, ...unwritten]) {
    const { real, isFile } = look(path) ?? {};
    // A link that leads out of the folder leads to nothing that can be written.
    if (real === undefined || real === folder || !isWithin(folder, real)) continue;
    // A folder that is mounted on cannot be moved away with the files that are protected in it. A
    // `.git` that is a file says where the repository is.
    args.push(path === `${folder}/.git` && !isFile ? "--bind" : "--ro-bind", real, real);
  }
  for (const path of sockets) {
    const { real, isFile } = look(path) ?? {};
    const isThere = real !== undefined && (folder !== "/" && isWithin(folder, real) ||
      !REPLACED.some((one) => isWithin(one, real)));
    if (isFile && isThere) args.push("--ro-bind", "/dev/null", real);
  }
  // Secrets come last, as the folder may hold them.
  for (const { path, isFolder } of hiddenPaths(confinement)) {
    const { real, isFile } = look(path) ?? {};
    if (real === undefined) continue;
    if (isFile) args.push("--ro-bind", "/dev/null", real);
    // A pattern for files may match a folder, which stays.
    else if (isFolder && !isWithin(real, folder)) args.push("--tmpfs", real);
  }
  return [...args, "--chdir", folder, "--"];
}

/** A profile for `sandbox-exec -p`; of its rules the last one that matches counts. */
export function seatbeltProfile(confinement: Omit<Confinement, "look">): string {
  const { mode, folder, network, paths } = confinement;
  const filter = (kind: "subpath" | "literal", path: string) => `(${kind} ${JSON.stringify(path)})`;
  const rules = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (literal "/dev/null") (literal "/dev/tty"))',
  ];
  if (mode !== "read-only") {
    rules.push(
      `(allow file-write* ${filter("subpath", folder)})`,
      ...paths.confinedIn(folder).map(({ path }) =>
        `(deny file-write* ${filter("subpath", path)})`
      ),
      // Denies moving `.git`, which would carry the protected files out.
      `(deny file-write-unlink ${filter("literal", `${folder}/.git`)})`,
    );
  }
  for (const { path, isFolder } of hiddenPaths(confinement)) {
    rules.push(`(deny file-read* file-write* ${filter(isFolder ? "subpath" : "literal", path)})`);
  }
  if (!network) rules.push("(deny network*)");
  return rules.join("\n");
}
