/** The shell that runs a command: its start and its end. @module */

import { startLeader } from "../../start_leader.ts";
import type { ToolContext } from "../../types/tool.ts";
import { within } from "../../wire/wait.ts";
import { commandEnvironment } from "./command_environment.ts";
import { findProgram, programFolders } from "./find_program.ts";
import type { OutputCapture } from "./output_capture.ts";
import { endGroup } from "./process_group.ts";
import { windowsShell } from "./windows_shell.ts";
import { reasonOf } from "../../text/reason.ts";

/** The time that processes may take to end after SIGTERM once their shell has ended, in milliseconds. */
export const GRACE_MS = 250;
/** Longest wait for output once the shell has ended, in ms: another process may hold the pipe. */
export const DRAIN_MS = 400;
/** Longest wait for output after all processes were ended, in ms: one that escaped holds the pipe. */
const LAST_DRAIN_MS = 100;
/** The most characters of a result beside the output. */
export const FRAME_CHARS = 500;
/** The most bytes of an argument: Linux takes 128 KiB with a NUL at its end, Windows 32 767 characters in all. */
const MAX_COMMAND_BYTES = Deno.build.os === "windows" ? 30_000 : 128 * 1024 - 1;
/** Signals by number, from 0; empty where systems differ. */
const SIGNALS = " HUP INT QUIT ILL TRAP ABRT  FPE KILL  SEGV  PIPE ALRM TERM".split(" ");

/** A shell that was started: `folder` is its working directory, `limits` those that confine it. */
export interface StartedShell {
  child: Deno.ChildProcess;
  folder: string;
  limits?: string;
  /** Puts back what it may not have replaced, and says so in a line. */
  mend?(): string | undefined;
  /** The name of the process that confines it: one that still ends is none that the command left. */
  holder?: string;
}

/** The ways in which a program differs from a command of the model. */
interface ShellOptions {
  /** True for a pipe as its stdin; else it has no input. */
  hasInput?: boolean;
  /** Variables beside the usual ones. */
  variables?: Readonly<Record<string, string>>;
}

/**
 * Starts `command` in a shell that leads its own session, without input, its output in pipes.
 * @throws {Error} when it cannot; what the signal was aborted with, if it was.
 */
export async function startShell(
  command: string,
  { workingDir: cwd, confine, leave, env, signal }: ToolContext,
  { hasInput = false, variables = {} }: ShellOptions = {},
): Promise<StartedShell> {
  signal.throwIfAborted();
  for (const [shell, args] of await shellsFor(command, cwd)) {
    const confined = await confine?.(shell, args, leave);
    signal.throwIfAborted();
    const how = { cwd, env: { ...commandEnvironment(env), ...variables, ...confined?.variables } };
    try {
      const { program = shell, args: given = args } = confined ?? {};
      const child = startLeader(program, given, how, hasInput ? "piped" : "null");
      return {
        child,
        folder: cwd,
        ...(confined?.limits && { limits: confined.limits }),
        ...(confined?.holder && { holder: confined.holder }),
        ...(confined?.mend && { mend: confined.mend }),
      };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw new Error(`Cannot run the command as ${reasonOf(error)}`, { cause: error });
    }
  }
  throw new Error("Cannot run the command as there is no shell: neither bash nor sh is on PATH");
}

/** The shells to try for a command, best first, with their arguments. @throws {Error} when it cannot be run. */
export async function shellsFor(command: string, cwd: string): Promise<[string, string[]][]> {
  if (command.trim() === "") throw new RangeError("Cannot run the command as it is empty");
  if (command.includes("\0")) {
    throw new RangeError("Cannot run the command as it must not have a NUL character: use $'\\0'");
  }
  const { length } = new TextEncoder().encode(command);
  if (length > MAX_COMMAND_BYTES) {
    throw new RangeError(
      `Cannot run the command as it must have at most ${MAX_COMMAND_BYTES} bytes: it has ${length}. ` +
        "Write it to a file and run that",
    );
  }
  const folder = await Deno.stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory) {
    throw new Error(`Cannot run the command as the working directory ${cwd} does not exist`);
  }
  return shells(command, cwd);
}

function shells(command: string, folder: string): [string, string[]][] {
  if (Deno.build.os === "windows") {
    const { name, program } = windowsShell();
    const flags = name === "Git Bash" ? ["-c"] : ["-NoProfile", "-NonInteractive", "-Command"];
    return [[program, [...flags, command]]];
  }
  const folders = programFolders(folder);
  return ["bash", "sh"].flatMap((name) => {
    const path = findProgram(name, folders);
    return path === undefined ? [] : [[path, ["-c", "--", command]]];
  });
}

/** Ends what is left of a shell whose output is `captures`; its status, if it can be ended. */
export async function tidyUp(
  { child, folder, holder, mend }: StartedShell,
  captures: readonly OutputCapture[],
  graceMs: number,
): Promise<{ left: string[]; status: Deno.CommandStatus | undefined; mended: string[] }> {
  const ended = await endGroup(child.pid, graceMs, folder);
  const left = ended.filter((name) => name !== holder);
  await within(LAST_DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
  await Promise.all(captures.map((capture) => capture.cancel()));
  // A process in an uninterruptible sleep outlives even SIGKILL.
  const mended = mend?.();
  const status = await within(LAST_DRAIN_MS, child.status);
  return { left, status, mended: mended === undefined ? [] : [mended] };
}

/** Says which processes had to be ended. */
export function leftBehind(left: readonly string[]): string {
  const names = [...new Set(left)].slice(0, 5).join(", ").slice(0, 100);
  return `ended processes it left in the background: ${left.length} (${names})`;
}

/** The exit code of a shell, and the signal that ended it, in words. */
export function exitCodeText(status: Deno.CommandStatus | undefined): string {
  if (status === undefined) return "unknown (the process cannot be ended)";
  const { code, signal } = status;
  if (signal !== null) return `${code} (the shell was ended by ${signal})`;
  const name = SIGNALS[code - 128];
  return name ? `${code} (128 + ${code - 128}: SIG${name})` : String(code);
}
