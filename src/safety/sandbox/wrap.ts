/**
 * The command line that starts a program sandboxed, with bubblewrap on Linux and `sandbox-exec` on macOS.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { hasOtherBytes } from "../folder_looks.ts";
import { accessAt, entryAt, type View } from "../view.ts";

/** The settings of one sandboxed command. */
interface BubbleSettings {
  view: View;
  /** The absolute folder that contains the commands' private folders, such as `/tmp`. */
  own: string;
  /** The file with the filter of system calls; missing if this processor is not supported. */
  filter?: string;
}

/** The maximum size of the files in `/dev/shm`, in bytes. */
const MAX_SHARED = String(1024 * 1024 * 1024);

/**
 * Starts a program in the finished sandbox. The arguments are the number of writable folders, a list of mounts
 * and a path for each of them, then the program and its arguments.
 *
 * A program that ran meanwhile may have put a link in place of a mounted path, so that another path was mounted.
 * The script compares each list with the kernel's: a mount must have the folder's root and its own path in it
 * (`b`), or be a mask (`m`). Then it sets limits: for processes and threads, and for the size of a file, in
 * blocks of 512 or 1024 bytes, depending on the shell.
 *
 * bash reads the kernel's list at once. `read` takes it byte by byte, which costs about 4 ms.
 */
const START = `nl='
'
count=$1
shift
set -f
IFS=$nl
if [ "$count" = 0 ]; then
  mounts=
elif [ -z "$BASH_VERSION" ] || ! mapfile -d '' -t mounts </proc/self/mountinfo; then
  mounts=$(cat /proc/self/mountinfo)
fi
while [ $count -gt 0 ]; do
  all=$1 want=$1 folder=$2 top=?
  shift 2
  count=$((count - 1))
  for mount in $mounts; do
    mount=\${mount#* * * } root=\${mount%% *}
    mount=\${mount#* } at=\${mount%% *}
    [ "$at" != "$folder" ] || top=\${root%/}
    case $all in
      *"$nl$at b$nl"*) [ "$root" = "$top\${at#"$folder"}" ] || { want=$at && break; } ;;
      *"$nl$at m$nl"*) ;;
      *) continue ;;
    esac
    case $want in
      *"$nl$at "[bm]"$nl"*) want=\${want%%"$nl$at "[bm]"$nl"*}$nl\${want#*"$nl$at "[bm]"$nl"} ;;
    esac
  done
  if [ "$want" != "$nl" ]; then
    echo "copilot: not run, as files were replaced while the sandbox was made: try again" >&2
    exit 126
  fi
done
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
ulimit -f 16777216 2>/dev/null
exec "$@"`;

/** Paths of bash. It alone handles descriptors above 9, and reads a list without another program. */
const BASH = ["/bin/bash", "/usr/bin/bash"];
/**
 * Closes all descriptors but the first three: one that this program inherited, for example from an editor, may be
 * a folder or socket outside. Then starts the program with the filter's file, `$0`, as descriptor 9. The smallest
 * shell does this, because it starts in half the time. If it cannot handle a descriptor, bash (`$1`) runs the
 * same script (`$2`).
 */
const CLOSE = `if [ ! -d /proc/self/fd ]; then
  echo "/proc is not mounted, without which nothing can be confined" >&2
  exit 126
fi
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  case $fd in
    [012]) ;;
    ?) eval "exec $fd>&-" ;;
    *)
      if [ -n "$BASH_VERSION" ]; then
        eval "exec $fd>&-"
      elif [ -n "$1" ] && [ -e "/proc/self/fd/$fd" ]; then
        exec "$1" -c "$2" "$0" "$@"
      fi ;;
  esac
done
shift 2`;
/**
 * Hides the paths that match the patterns among bubblewrap's arguments: Deno cannot name paths that are not
 * UTF-8.
 */
const MASK = `
IFS= rest=
for word do
  shift
  case $rest$word in
    --) rest=1 && set -- "$@" -- ;;
    \ufffd*)
      for at in \${word#\ufffd}; do
        if [ -d "$at" ]; then set -- "$@" --tmpfs "$at" --remount-ro "$at"
        elif [ -e "$at" ]; then set -- "$@" --ro-bind /dev/null "$at"
        fi
      done ;;
    *) set -- "$@" "$word" ;;
  esac
done`;
/** Returns an argument for {@linkcode MASK} that matches all paths that Deno writes as `path`. */
const maskOf = (path: string): string =>
  `\ufffd${path.replace(/[*?[\]\\]/g, "?").replaceAll("\ufffd", "[! -~]*")}`;

/** Folders of resolvers that `/etc/resolv.conf` may link to. */
const RESOLVERS = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/** Returns the command line that starts `bwrap`, up to the program. */
export function bubblewrapCommand(bwrap: string, { view, own, filter }: BubbleSettings): string[] {
  const { folder, network } = view;
  const { mounts, empty, inside } = mountsOf(view, own);
  const bash = BASH.find((path) => entryAt(path) !== undefined);
  // A shell opens the filter's file, because Deno passes only the first three descriptors to programs.
  const mask = mounts.some((word) => word.startsWith("\ufffd")) ? MASK : "";
  const close = `${CLOSE}${mask}\nexec "$@"${filter === undefined ? "" : ' 9<"$0"'}`;
  return [
    ...["/bin/sh", "-c", close, filter ?? "sh", bash ?? "", close],
    bwrap,
    ..."--die-with-parent --unshare-user --cap-drop ALL".split(" "),
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" "),
    ...network ? [] : ["--unshare-net"],
    ..."--dev /dev --size".split(" "),
    MAX_SHARED,
    ..."--tmpfs /dev/shm --proc /proc".split(" "),
    ...mounts,
    ...network ? RESOLVERS.flatMap((path) => ["--ro-bind-try", path, path]) : [],
    // bubblewrap itself creates empty folders, and those above mounts. In /proc, root may write kernel settings
    // without any capability: /proc/sys/kernel/core_pattern names a program to run.
    ...["/", "/dev", "/proc", ...empty].flatMap((path) => ["--remount-ro", path]),
    ...filter === undefined ? [] : ["--seccomp", "9"],
    "--chdir",
    folder,
    "--",
    // With -p, bash runs no startup file that a variable names.
    ...bash === undefined ? ["/bin/sh"] : [bash, "-p"],
    "-c",
    START,
    "sh",
    String(inside.size),
    ...[...inside].flatMap(([root, lines]) => [
      `\n${lines.map((line) => `${line}\n`).join("")}`,
      asInMountinfo(root),
    ]),
  ];
}

/** Returns a path as in `/proc/self/mountinfo`: proc_pid_mountinfo(5). */
function asInMountinfo(path: string): string {
  const octal = (sign: string) => sign.charCodeAt(0).toString(8).padStart(3, "0");
  return path.replace(/[ \t\n\\]/g, (sign) => `\\${octal(sign)}`);
}

/** Returns the folder in `own` that commands see at an absolute path. */
export const ownSource = (own: string, path: string): string =>
  join(own, path.replaceAll("/", "-"));

/**
 * Returns the mounts of a view's places, parents first; the folders that are mounted empty; and the mounts in
 * writable folders, as {@linkcode START} expects them.
 */
function mountsOf(view: View, own: string) {
  const places = new Map(view.places);
  const roots = [...view.places].filter(([path, access]) =>
    path === view.folder || access === "write" && entryAt(path)?.isDirectory
  ).map(([path]) => path).sort((a, b) => a.length - b.length);
  /** Returns the outermost writable folder around a path, in which commands may swap what is to be mounted. */
  const writtenAround = (path: string) =>
    roots.find((root) => root !== path && isWithin(root, path));
  // If the user made the parent folder writable, a command could write the next one's filter of system calls.
  if (accessAt(view, own) === "write") places.set(own, "none");
  for (const [path, access] of view.places) {
    const isOwn = (at: string) => accessAt(view, at) === "own" && !places.has(at);
    // Mounted as well: a command could replace it with a link, which the next mount would follow.
    for (let at = dirname(path); isOwn(at); at = dirname(at)) places.set(at, "own");
    if (access === "write") continue;
    for (const at of foldersBetween(writtenAround(path), path)) {
      if (!places.has(at)) places.set(at, accessAt(view, at));
    }
  }
  const empty: string[] = [];
  const inside = new Map<string, string[]>();
  const mounts = [...places].sort(([a], [b]) => a.length - b.length).flatMap(([path, access]) => {
    if (access === "own") {
      const source = ownSource(own, path);
      Deno.mkdirSync(source, { recursive: true, mode: 0o700 });
      return ["--bind", source, path];
    }
    const entry = entryAt(path);
    // If nothing is mounted above, nothing needs hiding, and links are created.
    const above = accessAt(view, dirname(path));
    if (hasOtherBytes(path)) return above === "none" ? [] : [maskOf(path)];
    const isBare = above === "none";
    const isAbsent = isBare || above === "own" && entry?.isDirectory === false;
    const written = writtenAround(path);
    const note = (kind: "b" | "m") => {
      const line = `${asInMountinfo(path)} ${kind}`;
      if (written !== undefined) inside.set(written, [...inside.get(written) ?? [], line]);
    };
    // The mount above is read-only with everything below it, other disks too. Each further mount takes about 0.2
    // ms.
    if (access === "read" && above === "read" && path !== view.folder) return [];
    // It existed when the view was made: START then runs nothing.
    if (entry === undefined) note("b");
    if (entry === undefined || access === "none" && isAbsent) return [];
    if (entry.isSymlink) return isBare ? ["--symlink", Deno.readLinkSync(path), path] : [];
    // On another disk, the path within the disk is unknown.
    note(access === "none" || entry.dev !== entryAt(written ?? path)?.dev ? "m" : "b");
    // A path that has disappeared needs no mount; START detects it in the folder.
    if (access !== "none") return [access === "read" ? "--ro-bind-try" : "--bind-try", path, path];
    if (!entry.isDirectory) return ["--ro-bind", "/dev/null", path];
    empty.push(path);
    return ["--tmpfs", path];
  });
  return { mounts, empty, inside };
}

/**
 * Returns the folders between `folder` and a path in it. They are mounted too: a mount point cannot be moved away
 * with the protected files in it.
 */
function foldersBetween(folder: string | undefined, path: string): string[] {
  const between: string[] = [];
  if (folder === undefined || !isWithin(folder, path)) return between;
  for (let at = dirname(path); at !== folder && isWithin(folder, at); at = dirname(at)) {
    between.push(at);
  }
  return between;
}

/** Returns a profile for `sandbox-exec -p`. The last matching rule decides. */
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
    // Folders of other users and disks are closed; the system's own stay readable.
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
