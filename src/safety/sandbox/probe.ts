/** Finds the sandbox of this machine, and tests it. @module */

import { attempt } from "../../attempt.ts";
import { VERSION } from "../../config.ts";
import { systemProgram } from "../../start_program.ts";
import { makeTempFolder, noTempFiles, removeTempFolder } from "../../temp_folder.ts";
import { dirname, join } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";
import { entryAt } from "../places.ts";
import { namedPlaces } from "../readable_folders.ts";
import type { View } from "../view.ts";
import { seccompFilter } from "./seccomp.ts";
import { bubblewrapCommand, outerEnvironment, seatbeltCommand } from "./wrap.ts";

export interface Sandbox {
  by: string;
  program: string;
  /**
   * Returns the words to put before a program and its arguments.
   *
   * @param own an absolute folder of this process: its files are what commands see as `/tmp` and the like
   * @param enter the words that enter a shared network
   */
  command(view: View, own: string, enter?: readonly string[]): string[];
}

/** The trusted paths of bubblewrap: a folder of PATH could contain another program. */
const BWRAP = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const PROBE_MS = 10_000;

/**
 * Returns the sandbox of this machine, or the reason why no sandbox works, in words.
 *
 * @param memory a file that stores a success until the machine restarts; failures are tried again
 */
export async function findSandbox(
  home = Deno.env.get("HOME"),
  memory?: string,
  os: string = Deno.build.os,
  hasMaximum = hasOwnMaximum(),
): Promise<Sandbox | string> {
  const sandbox = sandboxOf(os, hasMaximum);
  if (typeof sandbox === "string") return sandbox;
  const state = stateOf(sandbox.program, hasMaximum);
  if (memory !== undefined && textAt(memory) === state) return sandbox;
  const fault = await faultOf(sandbox, home);
  if (fault !== undefined) {
    return hasMaximum
      ? await findSandbox(home, memory, os, false)
      : `${sandbox.by} does not work here: ${fault}`;
  }
  if (memory !== undefined) {
    // If it cannot be stored, the next start tries again.
    await Deno.mkdir(dirname(memory), { recursive: true, mode: 0o700 })
      .then(() => Deno.writeTextFile(memory, state, { mode: 0o600 })).catch(() => {});
  }
  return sandbox;
}

/**
 * True if root is bound by a maximum of its own in each namespace of processes, since Linux 6.14. Before, the same
 * file has the maximum of the machine. Other users are bound by `ulimit`.
 */
function hasOwnMaximum(): boolean {
  const [major = 0, minor = 0] = (attempt(() => Deno.osRelease()) ?? "").split(".").map(Number);
  return Deno.build.os === "linux" && Deno.uid() === 0 && (major > 6 || major === 6 && minor >= 14);
}

/** Settings of Linux, with the value that denies user namespaces to ordinary programs, and one that allows them. */
const NAMESPACE_SETTINGS = [
  // Ubuntu since 23.10; Debian before 11; Red Hat, and hardened images.
  ["kernel.apparmor_restrict_unprivileged_userns", "1", "0"],
  ["kernel.unprivileged_userns_clone", "0", "1"],
  ["user.max_user_namespaces", "0", "15000"],
] as const;

/**
 * Returns what to change if bubblewrap may not create namespaces, in words; undefined if no known setting is the
 * cause.
 *
 * @param read returns the text of a file, undefined if it is missing
 */
export function namespacesAdvice(read: (path: string) => string | undefined = textAt) {
  const found = NAMESPACE_SETTINGS.find(([name, closed]) =>
    read(`/proc/sys/${name.replaceAll(".", "/")}`)?.trim() === closed
  );
  if (found === undefined) return undefined;
  const [name, closed, open] = found;
  return `Ordinary programs may make no user namespaces here, as ${name} is ${closed}. ` +
    `Until the machine restarts, this allows it for all programs: sudo sysctl -w ${name}=${open}`;
}

/** Everything that a working sandbox depends on: this boot, the sandbox program, this program, the user. */
function stateOf(program: string, hasMaximum: boolean): string {
  const { mtime, size, ino } = Deno.statSync(program);
  // The boot time, rounded because it is computed from two clocks.
  const boot = Math.round((Date.now() / 1000 - Deno.osUptime()) / 60);
  const file = [mtime?.getTime(), size, ino];
  return JSON.stringify([VERSION, boot, namespaces(), Deno.uid(), ...file, hasMaximum]);
}

const namespaces = (): string[] =>
  attempt(() => ["user", "mnt"].map((name) => Deno.readLinkSync(`/proc/self/ns/${name}`))) ?? [];

const textAt = (path: string): string | undefined => attempt(() => Deno.readTextFileSync(path));

function sandboxOf(os: string, hasMaximum: boolean): Sandbox | string {
  if (os === "darwin") {
    if (entryAt(SANDBOX_EXEC) === undefined) return "sandbox-exec is missing";
    return {
      by: "sandbox-exec",
      program: SANDBOX_EXEC,
      command: (view) => seatbeltCommand(SANDBOX_EXEC, view),
    };
  }
  if (os !== "linux") return `no sandbox is supported on ${os}`;
  const program = BWRAP.find((path) => entryAt(path) !== undefined);
  if (program === undefined) {
    return "bubblewrap is not installed (its package is called bubblewrap)";
  }
  return {
    by: "bubblewrap",
    program,
    command: (view, ...rest) => {
      const filter = view.hasSockets ? undefined : filterIn(rest[0]);
      return bubblewrapCommand({ program, hasMaximum, filter }, view, ...rest);
    },
  };
}

/** Returns the file in `own` with the filter of system calls; undefined if this processor is not supported. */
function filterIn(own: string): string | undefined {
  const filter = join(own, "filter");
  if (entryAt(filter) !== undefined) return filter;
  const bytes = seccompFilter(Deno.build.arch);
  if (bytes === undefined) return undefined;
  try {
    Deno.writeFileSync(filter, bytes);
    return filter;
  } catch (error) {
    // The next start would use an incomplete filter.
    attempt(() => Deno.removeSync(filter));
    throw noTempFiles(own, error);
  }
}

/** Returns the fault of a sandbox: writing inside must succeed, writing outside must fail. */
async function faultOf(sandbox: Sandbox, home: string | undefined): Promise<string | undefined> {
  const made: string[] = [];
  try {
    const base = makeTempFolder("copilot-sandbox-");
    const [inside, own] = [join(base, "inside"), join(base, "own")];
    const outside = [join(base, "outside"), join(home ?? base, `.${base.split("/").pop()}`)];
    made.push(base, outside[1]!);
    for (const folder of [inside, own]) await Deno.mkdir(folder);
    const script = 'true >in || exit 9; for path; do true 2>/dev/null >"$path"; done; exit 0';
    // No command runs here, so that nothing is searched for secrets, which takes 0.1 s.
    const places = namedPlaces(undefined, [], () => []).set(inside, "write");
    const view = { folder: inside, places, network: false, isComplete: true };
    const [program, ...args] = sandbox.command(view, own);
    const { code, stderr } = await systemProgram(program!, {
      args: [...args, "/bin/sh", "-c", script, "sh", ...outside],
      env: outerEnvironment({}),
      cwd: "/",
      signal: AbortSignal.timeout(PROBE_MS),
    }).output();
    if (outside.some((path) => entryAt(path) !== undefined)) {
      return "a write outside of the folder went through";
    }
    if (code === 0 && entryAt(join(inside, "in")) !== undefined) return undefined;
    return new TextDecoder().decode(stderr).trim().split("\n")[0]!.slice(0, 200) ||
      `exit code ${code}`;
  } catch (error) {
    return reasonOf(error);
  } finally {
    for (const path of made) removeTempFolder(path);
  }
}
