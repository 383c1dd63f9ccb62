/**
 * The command line that starts a program sandboxed, with bubblewrap on Linux and `sandbox-exec` on macOS.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { tempFolders } from "../../temp_folder.ts";
import { isWithin } from "../../text/paths.ts";
import { dirname, join } from "../../text/std_path.ts";
import { hasOtherBytes, type PathAccess } from "../folder_looks.ts";
import { entryAt, realPathOf } from "../places.ts";
import { accessAt, type View } from "../view.ts";

export interface BubbleSettings {
  view: View;
  /** The absolute folder that contains the commands' private folders, such as `/tmp`. */
  own: string;
  /** The file with the filter of system calls; missing if this processor is not supported. */
  filter?: string;
  /** True if the kernel can limit the number of its processes by itself, which also binds root. */
  hasMaximum?: boolean;
  mounts?: string | undefined;
  /** The words that enter a shared network; missing for its own. */
  enter?: readonly string[] | undefined;
}

const MAX_SHARED = String(1024 * 1024 * 1024);

/** Sets the variables of {@linkcode outerEnvironment}, then starts the program. */
const RESTORE = `eval "$COPILOT_ENV"
exec "$@"`;
/**
 * Starts a program in the finished sandbox. The arguments are a list of mounts, then the program and its arguments.
 *
 * A program that ran meanwhile may have put a link in place of a mounted path, so that another path was mounted.
 * The script compares the list with the kernel's: a mount must be of the listed device and folder, `ro` or `rw`, or be
 * a mask (`m`). Then it sets limits: for processes and threads, and for the size of a file, in blocks of 512 or 1024
 * bytes, depending on the shell.
 *
 * bash reads the kernel's list at once. `read` takes it byte by byte, which costs about 4 ms.
 */
const START = `nl='
'
all=$1 want=$1
shift
set -f
IFS=$nl
if [ -z "$BASH_VERSION" ] || ! mapfile -d '' -t mounts </proc/self/mountinfo; then
  mounts=$(cat /proc/self/mountinfo)
fi
for mount in $mounts; do
  at=\${mount#* * * * } at=\${at%% *}
  case $all in
    *[" $nl"]"$at "*) ;;
    *) continue ;;
  esac
  mount=\${mount#* * } from=\${mount%% *}
  mount=\${mount#* } from="$from \${mount%% *}"
  mount=\${mount#* * } mode=\${mount%%[, ]*}
  case $all in
    *"$nl$at m$nl"*) line="$at m" ;;
    *"$nl$from $at $mode$nl"*) line="$from $at $mode" ;;
    *" $at r"[ow]"$nl"*)
      # Another mount, which the listed one must hide.
      case $want in
        *" $at r"[ow]"$nl"*) continue ;;
        *) want=$at && break ;;
      esac ;;
    *) continue ;;
  esac
  case $want in
    *"$nl$line$nl"*) want=\${want%%"$nl$line$nl"*}$nl\${want#*"$nl$line$nl"} ;;
  esac
done
if [ "$want" != "$nl" ]; then
  echo "copilot: the command did not run as files were replaced while the sandbox was made: try again" >&2
  exit 126
fi
ulimit -u 4096 2>/dev/null || ulimit -p 4096 2>/dev/null
ulimit -f 16777216 2>/dev/null
${RESTORE}`;

/** Paths of bash. It alone handles descriptors above 9, and reads a list without another program. */
const BASH = ["/bin/bash", "/usr/bin/bash"];
/**
 * Closes all descriptors but the first three: one that this program inherited, for example from an editor, may be
 * a folder or socket outside. Then starts the program with the filter's file, `$0`, as descriptor 9. The smallest
 * shell does this, because it starts in half the time. If it cannot handle a descriptor, bash (`$1`) runs the
 * same script (`$2`).
 */
const CLOSE = `if [ ! -d /proc/self/fd ]; then
  echo "the sandbox needs /proc, which is not mounted" >&2
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
/** Hides the paths that match the patterns among the arguments: Deno cannot name paths that are not UTF-8. */
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

export function bubblewrapCommand(
  bwrap: string,
  { view, own, filter, hasMaximum = false, mounts: hostMounts, enter = [] }: BubbleSettings,
): string[] {
  const { folder, network } = view;
  const { mounts, empty, inside } = mountsOf(view, own, mountTable(hostMounts));
  const bash = BASH.find((path) => entryAt(path) !== undefined);
  // A shell opens the filter's file, because Deno passes only the first three descriptors to programs.
  const mask = mounts.some((word) => word.startsWith("\ufffd")) ? MASK : "";
  const files = (filter === undefined ? "" : ' 9<"$0"') + (hasMaximum ? " 8<<E\n4096\nE" : "");
  const close = `${CLOSE}${mask}\nexec "$@"${files}`;
  return [
    ...["/bin/sh", "-c", close, filter ?? "sh", bash ?? "", close],
    ...[...enter, bwrap],
    ..."--die-with-parent --unshare-user --cap-drop ALL".split(" "),
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" "),
    ...network || enter.length > 0 ? [] : ["--unshare-net"],
    ..."--dev /dev --size".split(" "),
    MAX_SHARED,
    ..."--tmpfs /dev/shm --proc /proc".split(" "),
    ...hasMaximum ? ["--file", "8", "/proc/sys/kernel/pid_max"] : [],
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
    `\n${inside.map((line) => `${line}\n`).join("")}`,
  ];
}

export const seatbeltCommand = (sandboxExec: string, view: View): string[] => [
  ...[sandboxExec, "-p", seatbeltProfile(view)],
  ...["/bin/sh", "-c", RESTORE, "sh"],
];

/**
 * Returns the environment for a command line of this module, so that the program gets `variables`. In the
 * programs that start before it, without any limits, variables such as `LD_PRELOAD` would run code: they get
 * other names. Other users can read arguments.
 */
export function outerEnvironment(
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  // The shell inside sets PWD, and cannot set a variable with other characters in its name.
  const passed = Object.entries(variables).filter(([name]) =>
    /^(?!COPILOT_ENV|PWD$)[A-Za-z_][A-Za-z_0-9]*$/.test(name)
  );
  const sets = passed.map(([name], at) => `command export ${name}="$COPILOT_ENV_${at}";`);
  const names = passed.map((_, at) => `COPILOT_ENV_${at}`);
  return {
    PATH: "/usr/bin:/bin",
    ...Object.fromEntries(passed.map(([, value], at) => [`COPILOT_ENV_${at}`, value])),
    COPILOT_ENV: `{ :; ${sets.join("")} } 2>/dev/null; unset COPILOT_ENV ${names.join(" ")}`,
  };
}

function asInMountinfo(path: string): string {
  const octal = (sign: string) => sign.charCodeAt(0).toString(8).padStart(3, "0");
  return path.replace(/[ \t\n\\]/g, (sign) => `\\${octal(sign)}`);
}

export const ownSource = (own: string, path: string): string =>
  join(own, path.replaceAll("/", "-"));

/** With more mounts in the folder, folders with several are closed. For each, bubblewrap reads the list of all. */
const MANY_MOUNTS = 150;
/** With more, folders with a single one are closed as well: a slow start is better than a closed folder. */
const MAX_MOUNTS = 450;

/** Returns a view with fewer mounts in the folder: folders with too many paths are closed as a whole. */
export function withFewPaths(view: View): View {
  const { folder } = view;
  const inside = [...view.places].filter(([path, access]) =>
    path !== folder && isWithin(folder, path) && access !== accessAt(view, dirname(path))
  ).map(([path]) => path);
  // The longest first: a folder comes before those around it.
  const folders = [...new Set(inside.flatMap((path) => foldersBetween(folder, path)))]
    .sort((a, b) => b.length - a.length);
  let crowded = new Set<string>();
  let total = inside.length + folders.length;
  for (let most = MANY_MOUNTS; total > (most > 0 ? MANY_MOUNTS : MAX_MOUNTS); most >>= 1) {
    let excess = most > 0 ? 0 : total - MAX_MOUNTS;
    const counts = new Map<string, number>();
    const add = (at: string, more: number) => counts.set(at, (counts.get(at) ?? 0) + more);
    for (const path of inside) add(dirname(path), 1);
    crowded = new Set();
    for (const at of folders) {
      const count = counts.get(at)!;
      // A closed git folder would be no repository.
      const isCrowded = (count > (most || 1) || excess > 0) &&
        !view.repositories?.some((one) => isWithin(one, at));
      if (isCrowded) crowded.add(at);
      if (isCrowded && count === 1) excess--;
      add(dirname(at), isCrowded ? 1 : count + 1);
    }
    total = counts.get(folder)!;
    if (most === 0) break;
  }
  if (total > MAX_MOUNTS) crowded.add(folder);
  const places = new Map(view.places);
  const closed = new Set<string>();
  for (const [path, access] of crowded.size === 0 ? [] : view.places) {
    if (path === folder || !isWithin(folder, path)) continue;
    const at = [...foldersBetween(folder, path), folder].findLast((one) => crowded.has(one));
    if (at === undefined) continue;
    closed.add(at);
    places.delete(path);
    const isHidden = access === "none" || view.texts?.has(path);
    if (places.get(at) !== "none") places.set(at, isHidden ? "none" : "read");
  }
  return { ...view, places, closed: [...closed].sort() };
}

/** The names in `own` of files with the texts of views. */
const written = new Map<string, string>();

/** Returns the path of a file in `own` with a text, which programs cannot replace. */
function fileWith(text: string | Uint8Array, own: string): string {
  const isText = typeof text === "string";
  const key = isText ? `text ${text}` : `bytes ${new TextDecoder("latin1").decode(text)}`;
  const name = written.get(key) ?? `text-${written.size}`;
  written.set(key, name);
  const path = join(realPathOf(own) ?? own, name);
  if (entryAt(path) === undefined) {
    const bytes = isText ? new TextEncoder().encode(text) : text;
    Deno.writeFileSync(path, bytes, { createNew: true, mode: 0o600 });
  }
  return path;
}

/** Returns a view's places with what no command may replace: this program's folders, and those between mounts. */
function allPlaces(view: View, own: string) {
  const places = new Map(view.places);
  const roots = [...view.places].filter(([path, access]) =>
    path === view.folder || access === "write" && entryAt(path)?.isDirectory
  ).map(([path]) => path).sort((a, b) => a.length - b.length);
  /** Returns the outermost writable folder around a path, in which commands may swap what is to be mounted. */
  const writtenAround = (path: string) =>
    roots.find((root) => root !== path && isWithin(root, path));
  // If the user made the parent folder writable, a command could write the next one's filter of system calls, or
  // what a server with other rights uses.
  for (const at of [own, ...tempFolders]) {
    const isOpen = /read|write/.test(accessAt(view, at)) && !isWithin(at, view.folder);
    if (isOpen && entryAt(at) !== undefined) places.set(at, "none");
  }
  for (const [path, access] of [...places]) {
    const isOwn = (at: string) => accessAt(view, at) === "own" && !places.has(at);
    // Mounted as well: a command could replace it with a link, which the next mount would follow.
    for (let at = dirname(path); isOwn(at); at = dirname(at)) places.set(at, "own");
    if (access === "write") continue;
    for (const at of foldersBetween(writtenAround(path), path)) {
      if (!places.has(at)) places.set(at, accessAt(view, at));
    }
  }
  return { places, writtenAround };
}

/** Returns the mounts, parents first; those that are empty; and those that {@linkcode START} compares. */
function mountsOf(view: View, own: string, hostMounts: readonly Mount[]) {
  const { places, writtenAround } = allPlaces(view, own);
  const empty: string[] = [];
  const inside: string[] = [];
  const note = (access: PathAccess, real: string, at = real) =>
    inside.push(mountLine(hostMounts, { real, at, isReadOnly: access === "read" }));
  // Cgroup mounts come last: there are many, and for each mount bubblewrap reads the list of all before it.
  const order = (path: string) => path.length + (path.startsWith("/sys/") ? 1e5 : 0);
  const mounts = [...places].sort(([a], [b]) => order(a) - order(b)).flatMap(([path, access]) => {
    if (access === "own") {
      const source = ownSource(own, path);
      Deno.mkdirSync(source, { recursive: true, mode: 0o700 });
      // A path with a link is mounted elsewhere.
      const isReal = [undefined, dirname(path)].includes(realPathOf(dirname(path)));
      if (isReal) note(access, realPathOf(source) ?? source, path);
      return ["--bind", source, path];
    }
    const entry = entryAt(path);
    // If nothing is mounted above, nothing needs hiding, and links are created.
    const above = accessAt(view, dirname(path));
    if (hasOtherBytes(path)) return above === "none" ? [] : [maskOf(path)];
    const isBare = above === "none";
    const isAbsent = isBare || above === "own" && entry?.isDirectory === false;
    // The folder counts as well: a job of another folder may be able to write its parent.
    const isInside = writtenAround(path) !== undefined || path === view.folder;
    const text = view.texts?.get(path);
    // The mount above is read-only with everything below it, other disks too. Each further mount takes about 0.2
    // ms.
    const isSame = access === "read" && above === "read" && path !== view.folder;
    if (isSame && text === undefined) return [];
    // The path disappeared after the view was made. With this line, START refuses to run.
    if (entry === undefined && isInside) note(access, path);
    else if (text !== undefined) {
      const source = fileWith(text, own);
      if (isInside) note(access, source, path);
      return ["--ro-bind", source, path];
    }
    if (entry === undefined || access === "none" && isAbsent && path !== view.folder) return [];
    if (entry.isSymlink) return isBare ? ["--symlink", Deno.readLinkSync(path), path] : [];
    const isMask = access === "none";
    if (isInside && isMask) inside.push(`${asInMountinfo(path)} m`);
    else if (isInside) note(access, path);
    // A path that has disappeared needs no mount; START detects it in the folder.
    if (!isMask) return [access === "read" ? "--ro-bind-try" : "--bind-try", path, path];
    if (!entry.isDirectory) return ["--ro-bind", "/dev/null", path];
    // In a system's folder, its mode makes it read-only without a further mount.
    const isOfSystem = !isInside && above === "read";
    if (isOfSystem) return ["--perms", "0555", "--size", "4096", "--tmpfs", path];
    empty.push(path);
    // With this mode, git reports an error. An empty folder would look like deleted files, also to the next commit.
    const isPart = path !== view.folder && isWithin(view.folder, path);
    return [...isPart ? ["--perms", "0000"] : [], "--tmpfs", path];
  });
  return { mounts, empty, inside };
}

type Mount = ReturnType<typeof mountTable>[number];

/** Returns the text of `/proc/self/mountinfo`, which Deno reads with all permissions only. */
export function mountinfo(): string {
  const env = { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" };
  const cat = new Deno.Command("cat", { args: ["/proc/self/mountinfo"], clearEnv: true, env });
  return attempt(() => new TextDecoder().decode(cat.outputSync().stdout)) ?? "";
}

/**
 * Returns the mounts of a text such as `/proc/self/mountinfo`, with its texts: the numbers of the device, the folder of
 * it that is mounted, and the path at which that is. See proc_pid_mountinfo(5).
 */
export const mountTable = (text = mountinfo()) =>
  text.split("\n").filter(Boolean).map((line) => {
    const [id = "", parent = "", device = "", root = "", at = "", mode] = line.split(" ");
    const [isReadOnly, isNfs] = [/^ro\b/.test(mode!), / - nfs4? /.test(line)];
    return { id, parent, device, root, at, isReadOnly, isNfs };
  });

/** Returns the line for {@linkcode START} if a path of the host is mounted at `at`. */
export function mountLine(
  mounts: readonly Mount[],
  { real, at = real, isReadOnly = false }: { real: string; at?: string; isReadOnly?: boolean },
): string {
  const path = asInMountinfo(real);
  const around = mounts.filter(({ at }) => at === "/" || `${path}/`.startsWith(`${at}/`))
    .toSorted((a, b) => a.at.length - b.at.length);
  // The shortest path first: a mount hides what was mounted deeper before it.
  let mount = around.find(({ id, parent }) =>
    id === parent || !around.some((other) => other.id === parent)
  );
  for (let next = mount; next !== undefined;) {
    mount = next;
    next = around.find(({ id, parent }) => parent === mount!.id && id !== parent);
  }
  // A list without the path must not match.
  if (mount === undefined) return `? ${asInMountinfo(at)} rw`;
  const root = `${mount.root}${path.slice(mount.at === "/" ? 0 : mount.at.length)}`;
  // On NFS, the kernel shows no other root.
  const shown = mount.isNfs ? "/" : root.replace(/^\/\//, "/");
  const mode = isReadOnly || mount.isReadOnly ? "ro" : "rw";
  return `${mount.device} ${shown} ${asInMountinfo(at)} ${mode}`;
}

/** Returns the folders between `folder` and a path in it. A mount point cannot be moved away with its files. */
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
