/** Starts and ends the shell that runs a command. @module */

import { attempt } from "../../attempt.ts";
import { startLeader } from "../../start_program.ts";
import type { ConfinedProgram } from "../../types/confine.ts";
import type { CommandOutput, ToolContext } from "../../types/tool.ts";
import { aborted, within } from "../../wire/wait.ts";
import { commandEnvironment } from "./command_environment.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { limitAdvice } from "./limit_text.ts";
import { OutputCapture } from "./output_capture.ts";
import { endGroup, endNow, stopWithProgram } from "./process_group.ts";
import { atProgramEnd } from "./program_end.ts";
import { windowsShell } from "./windows_shell.ts";
import { reasonOf } from "../../text/reason.ts";

/** The time for processes to end after SIGTERM once their shell has ended, in milliseconds. */
export const GRACE_MS = 250;
/** The same for SIGTERM at the time limit. */
const TIMEOUT_GRACE_MS = 2000;
/** The maximum wait for output once the shell has ended, in ms: another process may have the pipe open. */
export const DRAIN_MS = 400;
/** The maximum wait for output after all processes were ended, in ms: one that escaped may have the pipe open. */
const LAST_DRAIN_MS = 100;
/** The maximum number of characters of a result other than the output. */
export const FRAME_CHARS = 500;
/**
 * The maximum size of an argument in bytes: 128 KiB with a NUL at its end on Linux, 32 767 characters in all on
 * Windows.
 */
const MAX_COMMAND_BYTES = Deno.build.os === "windows" ? 30_000 : 128 * 1024 - 1;
/** Signals by number, from 0; empty if systems differ. */
const SIGNALS = " HUP INT QUIT ILL TRAP ABRT  FPE KILL  SEGV  PIPE ALRM TERM".split(" ");

/** The maximum bytes of each stream that `finish` gets. */
const MAX_FINISH_BYTES = 4096;

/** A started shell, and its sandbox if it has one. */
export interface StartedShell extends Partial<ConfinedProgram> {
  child: Deno.ChildProcess;
}

/** The differences between a program and a command of the model. */
interface ShellOptions {
  /** True for a pipe as its stdin; otherwise it has no input. */
  hasInput?: boolean;
  /** Variables in addition to the usual ones. */
  variables?: Readonly<Record<string, string>>;
  /** True for a command in the background. */
  isJob?: boolean;
}

/**
 * Starts `command` in a shell that leads its own session, without input, with its output in pipes.
 * @throws {Error} if it cannot; the signal's reason if it was aborted.
 */
export async function startShell(
  command: string,
  { workingDir: cwd, confine, right, env, signal }: ToolContext,
  { hasInput = false, variables = {}, isJob = false }: ShellOptions,
): Promise<StartedShell> {
  signal.throwIfAborted();
  const shell = shellFor(command, cwd);
  const confined = await confine?.(shell.program, shell.args, right, { isJob });
  try {
    signal.throwIfAborted();
    const how = { cwd, env: { ...commandEnvironment(env), ...variables, ...confined?.variables } };
    const child = startLeader(confined ?? shell, how, hasInput ? "piped" : "null");
    if (confined?.limits) stopWithProgram(child);
    return { ...confined, child };
  } catch (error) {
    confined?.finish?.("");
    signal.throwIfAborted();
    throw new Error(`Cannot run the command as ${reasonOf(error)}`, { cause: error });
  }
}

/** The differences between runs of a shell to its end. */
interface RunOptions extends ShellOptions {
  timeoutMs: number;
  /** The maximum bytes of each stream. */
  maxBytes: number;
  onStart?(streams: Streams, child: Deno.ChildProcess): void;
  /** Resolves if the command becomes a job, which ends it later. */
  moved?: Promise<void>;
}

export type Streams = Readonly<Record<"stdout" | "stderr", OutputCapture>>;

/** Runs a command to its end, its time limit or an abort, and ends its remaining processes. */
export async function runShell(command: string, context: ToolContext, options: RunOptions) {
  const { maxBytes, timeoutMs } = options;
  const shell = await startShell(command, context, options);
  const { child } = shell;
  // At the end of the program, there is no time for SIGTERM.
  const release = atProgramEnd(() => endNow(child));
  const streams: Streams = {
    stdout: new OutputCapture([child.stdout], maxBytes),
    stderr: new OutputCapture([child.stderr], maxBytes),
  };
  const captures = Object.values(streams);
  options.onStart?.(streams, child);
  const exit = child.status.then(() => "exit" as const);
  const abort = aborted(context.signal).then(() => "abort" as const);
  const moved = options.moved?.then(() => "moved" as const) ?? abort;
  const ended = await within(timeoutMs, Promise.race([exit, abort, moved])) ?? "timeout";
  if (ended === "moved") {
    release();
    return { left: [], status: undefined, notes: [], shell, streams, ended };
  }
  if (ended === "exit") await within(DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
  const end = await endShell(shell, captures, ended === "timeout" ? TIMEOUT_GRACE_MS : GRACE_MS);
  release();
  return { ...end, shell, streams, ended };
}

/** Returns the limit that made a command fail, with lines for the model: without one, all limits of a failed command. */
export function limitLines(
  { limits, limitOf }: StartedShell,
  command: string,
  code: number | undefined,
  output: CommandOutput,
) {
  const limit = limitOf?.({ command, code, ...output });
  // If folders are closed because they have too many protected files, all limits name them.
  const isExact = limit !== undefined && limit.kind !== "protected";
  const all = isExact || code === 0 || limits === undefined ? [] : [limits];
  const lines = [...limit ? [limitAdvice(limit)] : [], ...all];
  return { lines, ...limit && { limit } };
}

/** Returns the shell for a command, with its arguments. @throws {Error} if it cannot run. */
function shellFor(command: string, cwd: string): { program: string; args: string[] } {
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
  if (!attempt(() => Deno.statSync(cwd))?.isDirectory) {
    throw new Error(`Cannot run the command as the working directory ${cwd} does not exist`);
  }
  if (Deno.build.os === "windows") {
    const { name, program } = windowsShell();
    const flags = name === "Git Bash" ? ["-c"] : ["-NoProfile", "-NonInteractive", "-Command"];
    return { program, args: [...flags, command] };
  }
  const folders = programFolders(cwd);
  const program = findProgram("bash", folders, cwd) ?? findProgram("sh", folders, cwd);
  if (program !== undefined) return { program, args: ["-c", "--", command] };
  throw new Error("Cannot run the command as there is no shell: neither bash nor sh is on PATH");
}

/**
 * Ends the remaining processes of a shell whose output is `captures`, and finishes its sandbox. Returns the names of
 * the processes, the shell's status if it could be ended, and the sandbox's lines for the model.
 */
export async function endShell(
  { child, finish }: StartedShell,
  captures: readonly OutputCapture[],
  graceMs: number,
): Promise<{ left: string[]; status: Deno.CommandStatus | undefined; notes: string[] }> {
  const ended = await endGroup(child.pid, graceMs);
  // The sandbox's process may still be ending.
  const left = ended.filter((name) => name !== "bwrap");
  await within(LAST_DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
  await Promise.all(captures.map((capture) => capture.cancel()));
  // A process in an uninterruptible sleep survives even SIGKILL.
  const status = await within(LAST_DRAIN_MS, child.status);
  const output = captures.map((one) => one.tail(MAX_FINISH_BYTES)).join("\n");
  const note = finish?.(output, status?.code);
  return { left, status, notes: note === undefined ? [] : [note] };
}

/** Names the processes that had to be ended. */
export function leftText(left: readonly string[]): string {
  const names = [...new Set(left)].slice(0, 5).join(", ").slice(0, 100);
  return `ended processes it left in the background: ${left.length} (${names})`;
}

/** Describes the exit code of a shell and the signal that ended it. */
export function exitCodeText(status: Deno.CommandStatus | undefined): string {
  if (status === undefined) return "unknown (the process cannot be ended)";
  const { code, signal } = status;
  if (signal !== null) return `${code} (the shell was ended by ${signal})`;
  const name = SIGNALS[code - 128];
  return name ? `${code} (128 + ${code - 128}: SIG${name})` : String(code);
}
