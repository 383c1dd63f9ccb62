/**
 * The command line that starts a program confined to a view, by bubblewrap on Linux, by `sandbox-exec` on
 * macOS.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { accessAt, entryAt, type View } from "../view.ts";

/** The limits of one command, and what it needs of this program. */
interface Confinement {
  view: View;
  /** The absolute folder that holds what commands see as their own folders, such as `/tmp`. */
  own: string;
  /** The file with the filter of system calls; left out, there is none for this processor. */
  filter?: string;
}

/** The most processes and threads, and 512-byte blocks (1024 in some shells) of one file: 8 or 16 GiB. */
const LIMITS =
  'ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null; ulimit -f 16777216 2>/dev/null; exec "$@"';

/** Where resolvers of names keep what `/etc/resolv.conf` leads to. */
const RESOLVERS = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/** The command line that starts `bwrap`, up to the program to confine. */
export function bubblewrapCommand(bwrap: string, { view, own, filter }: Confinement): string[] {
  const { folder, network } = view;
  const { mounts, empty } = mountsOf(view, own);
  return [
    // A shell opens the filter's file, as Deno hands down no descriptors but the first three.
    ...filter === undefined ? [] : ["/bin/sh", "-c", 'exec "$@" 9<"$0"', filter],
    bwrap,
    ..."--die-with-parent --unshare-user --cap-drop ALL".split(" "),
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" "),
    ...network ? [] : ["--unshare-net"],
    ..."--dev /dev --proc /proc".split(" "),
    ...mounts,
    ...network ? RESOLVERS.flatMap((path) => ["--ro-bind-try", path, path]) : [],
    // Empty folders, and those above what is mounted, are bubblewrap's own.
    ...["/", ...empty].flatMap((path) => ["--remount-ro", path]),
    ...filter === undefined ? [] : ["--seccomp", "9"],
    "--chdir",
    folder,
    "--",
    "/bin/sh",
    "-c",
    LIMITS,
    "sh",
  ];
}

/** The mounts of a view's places, those above before those below, and the folders of which they make empty ones. */
function mountsOf(view: View, own: string): { mounts: string[]; empty: string[] } {
  const places = new Map(view.places);
  for (const [path, access] of view.places) {
    if (access === "write") continue;
    for (const at of foldersBetween(view.folder, path)) {
      if (!places.has(at)) places.set(at, accessAt(view, at));
    }
  }
  const empty: string[] = [];
  const mounts = [...places].sort(([a], [b]) => a.length - b.length).flatMap(([path, access]) => {
    if (access === "own") {
      const source = join(own, path.replaceAll("/", "-"));
      Deno.mkdirSync(source, { recursive: true, mode: 0o700 });
      return ["--bind", source, path];
    }
    const entry = entryAt(path);
    // Where nothing is mounted above, nothing is to be hidden, and a link is to be made.
    const isBare = accessAt(view, dirname(path)) === "none";
    if (entry === undefined || access === "none" && isBare) return [];
    if (entry.isSymlink) return isBare ? ["--symlink", Deno.readLinkSync(path), path] : [];
    if (access !== "none") return [access === "read" ? "--ro-bind-try" : "--bind", path, path];
    if (!entry.isDirectory) return ["--ro-bind", "/dev/null", path];
    empty.push(path);
    return ["--tmpfs", path];
  });
  return { mounts, empty };
}

/**
 * The folders between `folder` and a path in it. They are mounted, too: a folder on which something is
 * mounted cannot be moved away with what is protected in it.
 */
function foldersBetween(folder: string, path: string): string[] {
  const between: string[] = [];
  if (!isWithin(folder, path)) return between;
  for (let at = dirname(path); at !== folder && isWithin(folder, at); at = dirname(at)) {
    between.push(at);
  }
  return between;
}

/** A profile for `sandbox-exec -p`; of its rules the last one that matches counts. */
export function seatbeltProfile({ folder, places, network }: View): string {
  const inOrder = [...places].sort(([a], [b]) => a.length - b.length);
  const held = new Set(
    inOrder.filter(([, access]) => access === "read" || access === "none")
      .flatMap(([path]) => foldersBetween(folder, path)),
  );
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    // What others keep on the machine; the system's own folders stay readable.
    '(deny file-read-data (subpath "/Users") (subpath "/Volumes") (subpath "/private/tmp"))',
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (literal "/dev/null") (literal "/dev/tty"))',
    ...inOrder.flatMap(([path, access]) => {
      const [read, write] = [access !== "none", access === "write" || access === "own"]
        .map((isAllowed) => isAllowed ? "allow" : "deny");
      const filter = `(subpath ${JSON.stringify(path)})`;
      return [`(${read} file-read* ${filter})`, `(${write} file-write* ${filter})`];
    }),
    ...[...held].map((path) => `(deny file-write-unlink (literal ${JSON.stringify(path)}))`),
    ...network ? [] : ["(deny network*)"],
  ].join("\n");
}
