/** The tool `run_bash`. @module */

import type { CommandOutput, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { InterruptedError } from "../call_errors.ts";
import { commandEnvironment } from "./command_environment.ts";
import { findProgram, programFolders } from "./find_program.ts";
import { captureOutput, type OutputCapture } from "./output_capture.ts";
import { endAtExit, endGroup } from "./process_group.ts";
import { windowsShell } from "./windows_shell.ts";

/** How long a process may take to end after SIGTERM: at the time limit, and in other cases. */
const TIMEOUT_GRACE_MS = 2000;
export const GRACE_MS = 250;
/** How long output is awaited once the shell has ended, as what else holds the pipe may hold it for
 * ever; and once that has been ended too, so that only a process that escaped can hold it. */
export const DRAIN_MS = 400;
const LAST_DRAIN_MS = 100;
/** What a result says beside the output. */
export const FRAME_CHARS = 500;
/** Linux takes at most 128 KiB per argument; three bytes for each of these at most. */
const MAX_ARGUMENT_CHARS = 30_000;
/** The exit code of `timeout(1)` for the same case. */
const TIMEOUT_EXIT_CODE = 124;

/** Those with the same number on every system. */
const SIGNAL_NAMES: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

type Streams = Readonly<Record<"stdout" | "stderr", OutputCapture>>;

/**
 * Runs `command` in a shell of its own session, without input and without a terminal, and returns
 * its exit code and output. Whatever it leaves running is ended when the shell ends, at the time
 * limit, or on abort; only a process that made its own session (`setsid`) and whose parent is gone
 * escapes.
 *
 * @throws {Error} when the shell cannot be started.
 * @throws {InterruptedError} when it is aborted, with the output so far.
 */
export async function runBash(
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { command, timeout_seconds } = args as { command: string; timeout_seconds: number };
  const { child, limits } = await startShell(command, context);
  const release = endAtExit(child.pid, context.workingDir);
  const budget = Math.max(context.maxOutputChars - FRAME_CHARS, 200);
  const streams = {
    stdout: captureOutput([child.stdout], budget),
    stderr: captureOutput([child.stderr], budget),
  };
  context.onOutput?.(newestLine(streams));
  const drained = Promise.all([streams.stdout.done, streams.stderr.done]);
  const ended = await shellEnd(child, timeout_seconds * 1000, context.signal);
  if (ended === "exit") await within(DRAIN_MS, drained);
  const grace = ended === "timeout" ? TIMEOUT_GRACE_MS : GRACE_MS;
  const { left, status } = await tidyUp(
    child,
    [streams.stdout, streams.stderr],
    grace,
    context.workingDir,
  );
  release();
  const output = outputOf(streams, budget);
  if (ended === "abort") {
    throw new InterruptedError(sections(output), output, { cause: context.signal.reason });
  }
  const isTimedOut = ended === "timeout";
  const code = isTimedOut ? TIMEOUT_EXIT_CODE : status?.code;
  const lines = [`exit code: ${isTimedOut ? code : exitCodeText(status)}`];
  if (limits !== undefined && status?.code !== 0) lines.push(limits);
  if (isTimedOut) {
    lines.push(
      `timed_out: true (ended after ${timeout_seconds} s, the output is what came so far)`,
    );
  } else if (left.length > 0) lines.push(leftBehind(left));
  return {
    content: [...lines, sections(output)].join("\n"),
    output,
    ...code !== undefined && { exitCode: code },
    ...isTimedOut ? { isTimedOut } : left.length > 0 && { endedProcesses: left },
  };
}

/** Ends what is left of a shell whose output is `captures`; its status, if it can be ended. */
export async function tidyUp(
  child: Deno.ChildProcess,
  captures: readonly OutputCapture[],
  graceMs: number,
  folder: string,
): Promise<{ left: string[]; status: Deno.CommandStatus | undefined }> {
  const left = await endGroup(child.pid, graceMs, folder);
  await within(LAST_DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
  await Promise.all(captures.map((capture) => capture.cancel()));
  // A process in an uninterruptible sleep outlives even SIGKILL.
  return { left, status: await within(LAST_DRAIN_MS, child.status) };
}

/** Says which processes had to be ended. */
export function leftBehind(left: readonly string[]): string {
  const names = [...new Set(left)].slice(0, 5).join(", ").slice(0, 100);
  return `ended processes it left in the background: ${left.length} (${names})`;
}

/** Waits for the shell's exit, its time limit or an abort, whichever comes first. */
async function shellEnd(
  child: Deno.ChildProcess,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<"exit" | "timeout" | "abort"> {
  const { promise, resolve } = Promise.withResolvers<"timeout" | "abort">();
  const timer = setTimeout(() => resolve("timeout"), timeoutMs);
  const onAbort = (): void => resolve("abort");
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([child.status.then(() => "exit" as const), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Starts `command` in a shell that leads its own session, without input, its output in pipes.
 *
 * @throws {Error} when it cannot; what the signal was aborted with, if it was.
 */
export async function startShell(
  command: string,
  { workingDir: cwd, confine, env, signal }: ToolContext,
): Promise<{ child: Deno.ChildProcess; folder: string; limits?: string }> {
  signal.throwIfAborted();
  if (command.trim() === "") throw new RangeError("Cannot run the command as it is empty");
  if (command.includes("\0")) {
    throw new RangeError("Cannot run the command as it must not have a NUL character: use $'\\0'");
  }
  const folder = await Deno.stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory) {
    throw new Error(`Cannot run the command as the working directory ${cwd} does not exist`);
  }
  for (const [shell, args] of shells(command, cwd)) {
    const confined = await confine?.(shell, args);
    signal.throwIfAborted();
    try {
      const child = new Deno.Command(confined?.program ?? shell, {
        args: confined?.args ?? args,
        cwd,
        env: commandEnvironment(env),
        clearEnv: true,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
        detached: true,
      }).spawn();
      return { child, folder: cwd, ...(confined?.limits && { limits: confined.limits }) };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      const { message } = error as Error;
      const long = /os error 7\b|os error 206\b/.test(message);
      const reason = long
        ? `it is too long (${command.length} characters): write it to a file and run that`
        : message;
      throw new Error(`Cannot run the command as ${reason}`, { cause: error });
    }
  }
  throw new Error("Cannot run the command as there is no shell: neither bash nor sh is on PATH");
}

/** The shells to try, best first. */
function shells(command: string, folder: string): [string, string[]][] {
  if (Deno.build.os === "windows") {
    const { name, program } = windowsShell();
    return [[
      program,
      name === "Git Bash"
        ? ["-c", command]
        : ["-NoProfile", "-NonInteractive", "-Command", command],
    ]];
  }
  const parts = command.length <= MAX_ARGUMENT_CHARS ? [command] : split(command);
  // More than one argument holds is put together again by the shell, which then forgets the parts.
  const script = parts.length === 1
    ? parts
    : [`eval "set --; ${parts.map((_, i) => `\${${i + 1}}`).join("")}"`, "bash", ...parts];
  const folders = programFolders(folder);
  return ["bash", "sh"].flatMap((name) => {
    const path = findProgram(name, folders);
    return path === undefined ? [] : [[path, ["-c", "--", ...script]]];
  });
}

/** Pieces that each fit in an argument, cut between characters. */
function split(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${MAX_ARGUMENT_CHARS / 2}}`, "gu")) ?? [];
}

/** How a shell ended, in words. */
export function exitCodeText(status: Deno.CommandStatus | undefined): string {
  if (status === undefined) return "unknown (the process cannot be ended)";
  const { code, signal } = status;
  if (signal !== null) return `${code} (the shell was ended by ${signal})`;
  const name = SIGNAL_NAMES[code - 128];
  return name === undefined ? String(code) : `${code} (128 + ${code - 128}: ${name})`;
}

/** Looks up the last line of the stream that printed last, as far as the looks tell. */
function newestLine(streams: Streams): () => string {
  const captures = [streams.stderr, streams.stdout];
  let totals = [0, 0];
  let newest = streams.stdout;
  return () => {
    newest = captures.find((capture, i) => capture.total() > totals[i]!) ?? newest;
    totals = captures.map((capture) => capture.total());
    return newest.tail(1000).trimEnd().split("\n").at(-1)!;
  };
}

/** What was printed, within `budget` bytes: what one stream does not need, the other may use. */
function outputOf({ stdout, stderr }: Streams, budget: number): CommandOutput {
  const half = Math.floor(budget / 2);
  const textOf = (one: OutputCapture, other: OutputCapture) =>
    one.text(Math.max(half, budget - other.total())).replace(/\n$/, "");
  return {
    ...stdout.total() > 0 && { stdout: textOf(stdout, stderr) },
    ...stderr.total() > 0 && { stderr: textOf(stderr, stdout) },
  };
}

function sections({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : ["stdout:", stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}

/** What `promise` resolves to, or undefined when that takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
