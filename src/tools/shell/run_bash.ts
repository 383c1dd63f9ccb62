/** The tool `run_bash`. @module */

import type { CommandOutput, NewestOutput, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { aborted, within } from "../../wire/wait.ts";
import { InterruptedError } from "../call_errors.ts";
import type { ToolArgs } from "../schema.ts";
import { OutputCapture } from "./output_capture.ts";
import { endNow } from "./process_group.ts";
import { atProgramEnd } from "./program_end.ts";
import { DRAIN_MS, exitCodeText, FRAME_CHARS, GRACE_MS, leftBehind } from "./shell_process.ts";
import { startShell, tidyUp } from "./shell_process.ts";

/** The time for processes to end after SIGTERM at the time limit, in milliseconds. */
const TIMEOUT_GRACE_MS = 2000;
/** The exit code of `timeout(1)` in the same case. */
const TIMEOUT_EXIT_CODE = 124;

/**
 * Error messages of programs that the sandbox restricts, with the part to disable and the setting that grants access.
 */
const SIGNS: readonly { words: RegExp; leave: string; setting: string; isVague?: true }[] = [
  {
    words:
      /network is unreachable|ENETUNREACH|could not resolve|unable to resolve|name resolution|ENOTFOUND|EAI_AGAIN|no such host|nodename nor servname|resolve ?failed|network was disabled|connectivity is disabled|offline mode|registry index/i,
    leave: '"network"',
    setting: "--network",
  },
  {
    words: /read-only file ?system|EROFS|could not (lock|write) config file/i,
    leave: '"sandbox"',
    setting: '--sandbox workspace-write (this folder), "sandboxWrite" in permissions.json',
  },
  // Network access does not help with a socket between programs.
  {
    words:
      /(socket|listen)[^]{0,500}operation not permitted|operation not permitted \/\S+\.(sock|pipe)/i,
    leave: '"sandbox"',
    setting:
      "--sandbox off. The sandbox has no Unix sockets: multiprocessing works with fork, spawn " +
      'and SyncManager(("127.0.0.1", 0)), tsx as node --import tsx, servers on 127.0.0.1',
  },
  {
    words: /operation not permitted|EPERM/i,
    leave: '"sandbox"',
    setting: "--sandbox off",
    isVague: true,
  },
  {
    words:
      /getaddrinfo|no such file or directory|permission denied|connection refused|ECONNREFUSED/i,
    leave: '"network" or "sandbox"',
    setting: '--network, "sandboxRead" in permissions.json',
    isVague: true,
  },
];
/** A pipe: its exit code is that of the last program, even if earlier ones failed. */
const ANY_PIPE = /[^|]\|[^|]/;
type Streams = Readonly<Record<"stdout" | "stderr", OutputCapture>>;

/**
 * Runs `command` in a shell with its own session, without input and without a terminal, and returns its exit code and
 * output. Processes that it leaves running are ended when the shell ends, at the time limit, or on abort, except a
 * process with its own session (`setsid`) whose parent is gone.
 * @throws {Error} if the shell cannot be started.
 * @throws {InterruptedError} if it is aborted, with the output so far.
 */
export async function runBash(args: ToolArgs, context: ToolContext): Promise<ToolOutcome> {
  const { command, timeout_seconds } = args as { command: string; timeout_seconds: number };
  const shell = await startShell(command, context);
  const { child, limits } = shell;
  // At the end of the program, there is no time for SIGTERM.
  const release = atProgramEnd(() => endNow(child.pid, context.workingDir));
  const budget = Math.max(context.maxOutputChars - FRAME_CHARS, 200);
  const streams = {
    stdout: new OutputCapture([child.stdout], budget),
    stderr: new OutputCapture([child.stderr], budget),
  };
  context.onOutput?.(newestLines(streams));
  const captures = Object.values(streams);
  const ended = await shellEnd(child, timeout_seconds * 1000, context.signal);
  if (ended === "exit") await within(DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
  const isTimedOut = ended === "timeout";
  const { left, status, mended } = await tidyUp(
    shell,
    captures,
    isTimedOut ? TIMEOUT_GRACE_MS : GRACE_MS,
  );
  release();
  const output = outputOf(streams, budget);
  if (ended === "abort") {
    throw new InterruptedError(sections(output), output, { cause: context.signal.reason });
  }
  const code = isTimedOut ? TIMEOUT_EXIT_CODE : status?.code;
  const lines = [`exit code: ${isTimedOut ? code : exitCodeText(status)}`];
  if (limits !== undefined) lines.push(...hintOf(limits, command, status?.code, output));
  lines.push(...mended);
  const end = `ended after ${timeout_seconds} s, the output is what came so far`;
  if (isTimedOut) lines.push(`timed_out: true (${end})`);
  else if (left.length > 0) lines.push(leftBehind(left));
  return {
    content: [...lines, sections(output)].join("\n"),
    output,
    ...code !== undefined && { exitCode: code },
    ...isTimedOut ? { isTimedOut } : left.length > 0 && { endedProcesses: left },
  };
}

/** Returns the limits that a command may have exceeded, with a way around them if that is likely. */
function hintOf(
  limits: string,
  command: string,
  code: number | undefined,
  { stdout = "", stderr = "" }: CommandOutput,
): string[] {
  const said = code === 0 ? stderr : `${stdout}\n${stderr}`;
  // `curl -s ADDRESS | head` succeeds and prints nothing.
  const isSilent = code === 0 && ANY_PIPE.test(command) && `${stdout}${stderr}`.trim() === "";
  const sign = SIGNS.find(({ words, isVague }) => !(isVague && code === 0) && words.test(said)) ??
    (isSilent ? SIGNS.at(-1) : undefined);
  if (sign === undefined) return code === 0 ? [] : [limits];
  const { leave, setting } = sign;
  return [
    `${limits}. Where that made it fail, call again with leave ${leave} and a reason: the user decides. ` +
    `Settings that grant it for good: ${setting}`,
  ];
}

/** Waits for the shell's exit, its time limit or an abort. */
async function shellEnd(child: Deno.ChildProcess, timeoutMs: number, signal: AbortSignal) {
  const exit = child.status.then(() => "exit" as const);
  const abort = aborted(signal).then(() => "abort" as const);
  return await within(timeoutMs, Promise.race([exit, abort])) ?? "timeout";
}

/** The number of newest lines that the user sees. */
const NEWEST_LINES = 3;

/** Polls the last lines of the stream that most recently printed, or the ends of both. */
function newestLines(streams: Streams): NewestOutput {
  const captures = [streams.stderr, streams.stdout];
  let totals = [0, 0];
  let newest = streams.stdout;
  return (chars) => {
    if (chars !== undefined) {
      return [streams.stdout, streams.stderr].map((one) => one.tail(chars)).filter(Boolean).join(
        "\n",
      );
    }
    newest = captures.find((capture, i) => capture.total > totals[i]!) ?? newest;
    totals = captures.map((capture) => capture.total);
    return newest.tail(1000).trimEnd().split("\n").slice(-NEWEST_LINES).join("\n");
  };
}

/** Returns the output within `budget` bytes. A stream may use the part that the other does not need. */
function outputOf({ stdout, stderr }: Streams, budget: number): CommandOutput {
  const half = Math.floor(budget / 2);
  const textOf = (one: OutputCapture, other: OutputCapture) =>
    one.text(Math.max(half, budget - other.total)).replace(/\n$/, "");
  return {
    ...stdout.total > 0 && { stdout: textOf(stdout, stderr) },
    ...stderr.total > 0 && { stderr: textOf(stderr, stdout) },
  };
}

function sections(output: CommandOutput): string {
  const lines = Object.entries(output).flatMap(([stream, text]) => [`${stream}:`, text]);
  return lines.length === 0 ? "no output" : lines.join("\n");
}
