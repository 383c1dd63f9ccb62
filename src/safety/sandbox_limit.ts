/** Finds the limit of the sandbox that made a command fail, in its output. @module */

import type { ConfinedProgram, SandboxLimit } from "../types/confine.ts";
import { dirname, resolve } from "../text/std_path.ts";
import { isWithin } from "../text/paths.ts";
import { smallFile } from "./git_files.ts";
import type { PathTable } from "./path_table.ts";
import { matchesPath } from "./rules.ts";
import type { Settings } from "./settings.ts";
import { pathsInErrors } from "./shell/refused_folder.ts";
import { entryAt, linksOn, realPathOf } from "./places.ts";
import { accessAt, type View } from "./view.ts";

export type ProgramEnd = Parameters<NonNullable<ConfinedProgram["limitOf"]>>[0];
type Bounds =
  & Pick<Settings, "approve" | "sandbox" | "rules">
  & { view: View; network: boolean; isShared: boolean; paths: PathTable };

const NO_NETWORK = new RegExp(
  [
    // The kernel, by its words and by its codes.
    "network is unreachable|no route to host|E(NET|HOST)UNREACH",
    // The C library, Node, Go and Java.
    "name resolution|name or service not known|name does not resolve|no such host|nodename nor servname",
    "getaddrinfo|EAI_AGAIN|\\bENOTFOUND\\b|dial tcp: lookup|unknown ?host",
    // curl, wget, git, ssh, apt, Rust, BusyBox, Erlang, Zig, Dart and urllib3.
    "(could not|couldn't|unable to) resolve (the )?host|failure resolving '|\\bdns error|bad address '|\\bnxdomain\\b",
    "name ?server ?failure|failed host lookup|failed to resolve '|curl error [67]\\b|\\[7\\] couldn't connect",
    "failed to connect to (?!localhost|127\\.|::1|0\\.0)\\S+ port",
    // Package managers, also in the offline mode that the sandbox sets.
    "downloading (package manifest|tarball)|\\bNU1301\\b|could not reach host|connection failed for url",
    "network was disabled|(network )?connectivity is disabled|offline mode|registry index",
  ].join("|"),
  "i",
);
/** Messages about a server that does not listen. Without a network, only 127.0.0.1 can be reached at all. */
const UNHEARD = /connection refused|ECONNREFUSED|(couldn't|could not|failed to) connect to/i;
/** `fetch` of JavaScript, if only its message is shown. */
const FETCH_FAILED = /\bfetch failed\b/i;
const LOOPBACK = /\blocalhost\b|\b127\.\d|\[::1\]|\b0\.0\.0\.0\b/;
/** A pipe: its exit code is that of the last program, even if earlier ones failed. */
const ANY_PIPE = /[^|]\|[^|]/;
const SOCKET =
  /(socket|listen)[^]{0,500}operation not permitted|operation not permitted \/\S+\.(sock|pipe)/i;
/** System calls that the sandbox refuses. Programs outside get this error for other reasons. */
const KERNEL =
  /\b(ptrace|strace|unshare|setns|mount|chroot|mknod|perf|bpf|namespaces?)\b[^]{0,300}(operation not permitted|EPERM)/i;
/** A command cannot move or remove a folder that contains a mount. */
const UNWRITABLE =
  /read-only file ?system|EROFS|could not (lock|write) config file|device or resource busy|EBUSY/i;

/** Messages of ssh that has no network, and of one that found neither keys nor hosts. */
const NO_SSH_HOST = /^(ssh|scp|sftp): /m;
const NO_SSH_KEYS = /permission denied \([^)]{0,99}publickey|host key verification failed/i;
/** A script whose interpreter, in its first line, is missing. */
const NO_INTERPRETER = /required file not found/i;

export function limitOf(end: ProgramEnd, bounds: Bounds): SandboxLimit | undefined {
  const { command, code, stdout = "", stderr = "" } = end;
  const said = code === 0 ? stderr : `${stdout}\n${stderr}`;
  const isRefused = code !== 0 && UNHEARD.test(said);
  const isSsh = bounds.network
    ? code !== 0 && NO_SSH_KEYS.test(said)
    : NO_SSH_HOST.test(said) && (isRefused || NO_NETWORK.test(said));
  const keys = bounds.paths.homes.map((home) => `${home}/.ssh`).find((at) => isHidden(at, bounds));
  if (isSsh && keys !== undefined) return { kind: "ssh", path: keys };
  if (!bounds.network) {
    if (NO_NETWORK.test(said)) return { kind: "network" };
    if (isRefused || failsSilently(end) || code !== 0 && FETCH_FAILED.test(said)) {
      const local = bounds.isShared ? "loopback" : "own_loopback";
      return { kind: isRefused || LOOPBACK.test(command) ? local : "network" };
    }
  }
  if (SOCKET.test(said)) return { kind: "socket" };
  const closed = closedPath(said, bounds);
  if (closed) return closed;
  return code !== 0 && KERNEL.test(said) ? { kind: "kernel" } : undefined;
}

/** True for curl and wget that print no error: by their exit codes, or if they print nothing into a pipe. */
function failsSilently({ command, code, stdout = "", stderr = "" }: ProgramEnd): boolean {
  if (code === 6 || code === 7) return /\bcurl\b/.test(command);
  if (code === 4) return /\bwget\b/.test(command);
  const isEmpty = `${stdout}${stderr}`.trim() === "";
  return code === 0 && isEmpty && ANY_PIPE.test(command) && /\b(curl|wget)\b/.test(command);
}

const isHidden = (path: string, { view }: Pick<Bounds, "view">): boolean =>
  entryAt(path) !== undefined && accessAt(view, path) === "hidden";

const MAX_MESSAGE_WORDS = 50;

/** Returns the words of an error message that may be paths in the folder, and the interpreters of scripts. */
function relativeWords(line: string, folder: string): string[] {
  const words = (line.match(/[^\s'"‘’`:,()[\]]+/g) ?? []).slice(0, MAX_MESSAGE_WORDS)
    .filter((word) => !/^(\/|\.\.\/)/.test(word));
  if (!NO_INTERPRETER.test(line)) return words;
  return words.flatMap((word) => /^#!\s*(\/\S+)/.exec(smallFile(resolve(folder, word)))?.[1] ?? []);
}

function closedPath(
  said: string,
  { view, approve, sandbox, rules, paths }: Bounds,
): SandboxLimit | undefined {
  for (const { line, paths: mentioned } of pathsInErrors(said).reverse()) {
    const isWrite = UNWRITABLE.test(line);
    for (const path of [...mentioned, ...relativeWords(line, view.folder)]) {
      const at = resolve(view.folder, path);
      const real = realPathOf(at);
      const link = isWrite ? undefined : linksOn("/", at).find((one) => isHidden(one, { view }));
      if (link !== undefined) {
        return { kind: "hidden", path: isWithin(view.folder, at) ? link : at };
      }
      const folder = real ?? realPathOf(dirname(at));
      if (folder === undefined) continue;
      const access = accessAt(view, folder);
      if (access === "own" && real !== undefined) return { kind: "tmp", path: at };
      if (isWrite && access !== "write" && !isWithin(view.folder, folder)) {
        const isFolder = real !== undefined && entryAt(real)?.isDirectory;
        return { kind: "outside", path: isFolder ? at : dirname(at) };
      }
      // A file that is missing in the home folder, or above it, is an ordinary one.
      const isOrdinary = real === undefined && paths.homes.some((home) => isWithin(folder, home));
      if (isWrite || access !== "hidden" || isOrdinary) continue;
      const stricter = rules.filter((rule) => rule.effect !== "allow" && rule.path);
      if (stricter.some((rule) => matchesPath(rule, view.folder, folder))) {
        return { kind: "ruled", path: folder };
      }
      const isSecret = paths.secretKind(folder) !== undefined;
      const shown = isWithin(view.folder, at) ? folder : real === undefined ? dirname(at) : at;
      return { kind: isSecret ? "secret" : "hidden", path: shown };
    }
  }
  if (!UNWRITABLE.test(said)) return undefined;
  if (sandbox !== "read-only") return { kind: "protected" };
  return { kind: approve === "plan" ? "plan" : "read_only" };
}
