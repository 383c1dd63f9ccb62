/** The sandbox of this machine, tried out before it is relied on. @module */

import { attempt } from "../../attempt.ts";
import { VERSION } from "../../config.ts";
import { noTempFiles } from "../../temp_folder.ts";
import { dirname, join } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";
import { PathTable } from "../path_table.ts";
import { entryAt, makeView, type View } from "../view.ts";
import { makeSandboxFolder } from "./own_folder.ts";
import { seccompFilter } from "./seccomp.ts";
import { bubblewrapCommand, seatbeltProfile } from "./wrap.ts";

/** Confines programs. */
export interface Sandbox {
  /** The program that confines them, such as `bubblewrap`. */
  by: string;
  /** The name of its process, which may outlive what it confines by a moment. */
  holder?: string;
  /**
   * The words that stand before a program and its arguments.
   *
   * @param own an absolute folder of this process: its files are what commands see as `/tmp` and the like
   */
  command(view: View, own: string): string[];
}

/** The places of bubblewrap that are trusted: a folder of PATH could bring a program of its own. */
const BWRAP = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
/** Longer than any start of a sandbox takes, in milliseconds. */
const PROBE_MS = 10_000;

/**
 * The sandbox of this machine, or the reason why there is none, in words.
 *
 * @param memory a file that keeps a success until the machine starts anew: failures are tried again
 */
export async function findSandbox(
  paths: PathTable = new PathTable({ home: Deno.env.get("HOME") }),
  memory?: string,
  os: string = Deno.build.os,
): Promise<Sandbox | string> {
  const sandbox = sandboxOf(os);
  if (typeof sandbox === "string") return sandbox;
  const state = stateOf(sandbox.program);
  if (memory !== undefined && textAt(memory) === state) return sandbox;
  const fault = await faultOf(sandbox, paths);
  if (fault !== undefined) return `${sandbox.by} does not work here: ${fault}`;
  if (memory !== undefined) {
    // Where it cannot be kept, the next start tries again.
    await Deno.mkdir(dirname(memory), { recursive: true, mode: 0o700 })
      .then(() => Deno.writeTextFile(memory, state, { mode: 0o600 })).catch(() => {});
  }
  return sandbox;
}

/** Settings of Linux, with the value that closes user namespaces to ordinary programs, and one that does not. */
const NAMESPACE_SETTINGS = [
  // Ubuntu since 23.10; Debian before 11; Red Hat, and images that are made safer.
  ["kernel.apparmor_restrict_unprivileged_userns", "1", "0"],
  ["kernel.unprivileged_userns_clone", "0", "1"],
  ["user.max_user_namespaces", "0", "15000"],
] as const;

/**
 * What to change where bubblewrap is installed and may make no namespaces, in words; undefined where no
 * known setting is the cause.
 *
 * @param read returns the text of a file, undefined for none
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

/** All on which it depends that a sandbox works: this boot, the program that confines, this one, the user. */
function stateOf(program: string): string {
  const { mtime, size, ino } = Deno.statSync(program);
  // The time of the start, to a minute: it is reckoned from two clocks.
  const boot = Math.round((Date.now() / 1000 - Deno.osUptime()) / 60);
  return JSON.stringify([VERSION, boot, namespaces(), Deno.uid(), mtime?.getTime(), size, ino]);
}

/** The names of this process's namespaces: those of a container differ. Unknown where Deno may not look. */
function namespaces(): string[] {
  try {
    return ["user", "mnt"].map((name) => Deno.readLinkSync(`/proc/self/ns/${name}`));
  } catch {
    return [];
  }
}

function textAt(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}

function sandboxOf(os: string): (Sandbox & { program: string }) | string {
  if (os === "darwin") {
    if (entryAt(SANDBOX_EXEC) === undefined) return "sandbox-exec is missing";
    return {
      by: "sandbox-exec",
      program: SANDBOX_EXEC,
      command: (view) => [SANDBOX_EXEC, "-p", seatbeltProfile(view)],
    };
  }
  if (os !== "linux") return `there is none for ${os}`;
  const program = BWRAP.find((path) => entryAt(path) !== undefined);
  if (program === undefined) {
    return "bubblewrap is not installed (the package is called bubblewrap)";
  }
  return {
    by: "bubblewrap",
    holder: "bwrap",
    program,
    command: (view, own) => confinedBy(program, view, own),
  };
}

function confinedBy(bwrap: string, view: View, own: string): string[] {
  const bytes = seccompFilter(Deno.build.arch);
  const filter = bytes && join(own, "filter");
  if (filter !== undefined && entryAt(filter) === undefined) {
    try {
      Deno.writeFileSync(filter, bytes!);
    } catch (error) {
      // A part of the filter would be taken for all of it the next time.
      attempt(() => Deno.removeSync(filter));
      throw noTempFiles(own, error);
    }
  }
  return bubblewrapCommand(bwrap, { view, own, ...filter !== undefined && { filter } });
}

/** The fault of a sandbox, found by trying: a write inside must succeed, writes outside must fail. */
async function faultOf(sandbox: Sandbox, paths: PathTable): Promise<string | undefined> {
  const made: string[] = [];
  try {
    const base = makeSandboxFolder();
    const [inside, own] = [join(base, "inside"), join(base, "own")];
    const outside = [join(base, "outside"), join(paths.home ?? base, `.${base.split("/").pop()}`)];
    made.push(base, outside[1]!);
    for (const folder of [inside, own]) await Deno.mkdir(folder);
    const script = 'true >in || exit 9; for path; do true 2>/dev/null >"$path"; done; exit 0';
    const view = makeView({ folder: inside, isWritable: true, network: false, paths });
    const [program, ...args] = sandbox.command(view, own);
    const { code, stderr } = await new Deno.Command(program!, {
      args: [...args, "/bin/sh", "-c", script, "sh", ...outside],
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "piped",
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
    for (const path of made) {
      await Deno.remove(path, { recursive: true }).catch(() => {});
    }
  }
}
