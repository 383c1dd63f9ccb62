/**
 * The command line that starts a program sandboxed, with bubblewrap on Linux and `sandbox-exec` on macOS.
 *
 * Sources: bwrap(1); Apple's sandbox profiles as in /System/Library/Sandbox/Profiles.
 *
 * @module
 */

import { shellWord } from "../../text/shell_word.ts";
import { entryAt } from "../places.ts";
import type { View } from "../view.ts";
import { foldersBetween, mountsOf } from "./mounts.ts";

interface Bubblewrap {
  program: string;
  /** The file with the filter of system calls; missing if this processor is not supported. */
  filter: string | undefined;
  /** True if the kernel can limit the number of its processes by itself, which also binds root. */
  hasMaximum: boolean;
}

const MAX_SHARED = String(1024 * 1024 * 1024);

/** Sets the variables of {@linkcode outerEnvironment}, then starts the program. */
const RESTORE = `eval "$COPILOT_ENV"
exec "$@"`;
/**
 * Starts a program in the finished sandbox. The arguments are a list of mounts, then the program and its arguments.
 *
 * A program that ran meanwhile may have put a link in place of a mounted path, so that another path was mounted.
 * The script compares the list with the kernel's, which is in the order of mounting: a mount must be of the listed
 * device and folder, `ro` or `rw`, or be a mask, of which only the path is listed. Then it sets limits: for processes
 * and threads, and for the size of a file, in blocks of 512 or 1024 bytes, depending on the shell.
 *
 * bash reads the kernel's list at once. `read` takes it byte by byte, which costs about 4 ms.
 *
 * @param tops what contains all listed paths, in the kernel's form
 */
const startScript = (tops: readonly string[]): string =>
  `nl='
'
all=$1 seen=$nl
shift
set -f
IFS=$nl
if [ -z "$BASH_VERSION" ] || ! mapfile -d '' -t mounts </proc/self/mountinfo; then
  mounts=$(cat /proc/self/mountinfo)
fi
fail() {
  echo "copilot: the command did not run as files were replaced while the sandbox was made: try again" >&2
  exit 126
}
# Another mount, which a listed one must hide, or the same again.
look() {
  case $seen in
    *"$nl$5 r$nl"* | *"$nl$3 $4 $5 \${6%%,*},$nl"*) ;;
    *" $5 r"[ow]",$nl"*) fail ;;
  esac
}
check() {
  for mount in $mounts; do
    case $mount in
      *" $1"*) seen=$seen$1$nl && shift ;;
      ${["''", ...tops.map((at) => `*${shellWord(` ${at}`)}*`)].join(" | ")})
        IFS=' '
        look $mount ;;
    esac
  done
  [ $# = 1 ] || fail
}
check $all "$nl"
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
/** Folders of resolvers that `/etc/resolv.conf` may link to. */
const RESOLVERS = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/**
 * Returns the words that sandbox a program.
 *
 * @param own the absolute folder that contains the commands' private folders, such as `/tmp`
 * @param enter the words that enter a shared network; empty for its own
 */
export function bubblewrapCommand(
  { program, filter, hasMaximum }: Bubblewrap,
  view: View,
  own: string,
  enter: readonly string[] = [],
): string[] {
  const { folder, network } = view;
  const { mounts, empty, inside, tops } = mountsOf(view, own);
  const bash = BASH.find((path) => entryAt(path) !== undefined);
  // A shell opens the filter's file, because Deno passes only the first three descriptors to programs.
  const mask = mounts.some((word) => word.startsWith("\ufffd")) ? MASK : "";
  const files = (filter === undefined ? "" : ' 9<"$0"') + (hasMaximum ? " 8<<E\n4096\nE" : "");
  const close = `${CLOSE}${mask}\nexec "$@"${files}`;
  return [
    ...["/bin/sh", "-c", close, filter ?? "sh", bash ?? "", close],
    ...[...enter, program],
    ..."--die-with-parent --unshare-user --cap-drop ALL".split(" "),
    ..."--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try".split(" "),
    ...network || enter.length > 0 ? [] : ["--unshare-net"],
    ..."--dev /dev --size".split(" "),
    MAX_SHARED,
    // Its mode makes the folder of process 1 read-only without a further mount.
    ..."--tmpfs /dev/shm --proc /proc --perms 0555 --size 4096 --tmpfs /proc/1".split(" "),
    ...hasMaximum ? ["--file", "8", "/proc/sys/kernel/pid_max"] : [],
    ...mounts,
    ...network ? RESOLVERS.flatMap((path) => ["--ro-bind-try", path, path]) : [],
    // bubblewrap itself creates empty folders, and those above mounts. In /proc, root may write kernel settings
    // without any capability: /proc/sys/kernel/core_pattern names a program to run.
    ...["/", "/dev", "/proc", ...empty].flatMap((path) => ["--remount-ro", path]),
    ...filter === undefined ? [] : ["--seccomp", "9"],
    "--chdir",
    view.startIn ?? folder,
    "--",
    // With -p, bash runs no startup file that a variable names.
    ...bash === undefined ? ["/bin/sh"] : [bash, "-p"],
    "-c",
    startScript(tops),
    "sh",
    inside.join("\n"),
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

/** Returns a profile for `sandbox-exec -p`. The last matching rule decides. */
export function seatbeltProfile({ folder, places, network }: View): string {
  const inOrder = [...places].sort(([a], [b]) => a.length - b.length);
  const held = new Set(
    inOrder.filter(([, access]) => access === "read" || access === "hidden")
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
      const [read, write] = [access !== "hidden", access === "write" || access === "own"]
        .map((isAllowed) => isAllowed ? "allow" : "deny");
      const filter = `(subpath ${JSON.stringify(path)})`;
      return [`(${read} file-read* ${filter})`, `(${write} file-write* ${filter})`];
    }),
    ...[...held].map((path) => `(deny file-write-unlink (literal ${JSON.stringify(path)}))`),
    ...network ? [] : ["(deny network*)"],
  ].join("\n");
}
