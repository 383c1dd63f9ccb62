/** Runs a command of the tool `run_bash` to its end, and reports it to the model. @module */

import type { CommandOutput, NewestOutput, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { InterruptedError } from "../call_errors.ts";
import type { ToolArgs } from "../schema.ts";
import { movedToBackground } from "./background.ts";
import type { OutputCapture } from "./output_capture.ts";
import { exitCodeText, FRAME_CHARS, leftText, limitLines, runShell } from "./shell_process.ts";
import type { Streams } from "./shell_process.ts";

const TIMEOUT_EXIT_CODE = 124;

/**
 * Runs `command` in a shell with its own session, without input and without a terminal, and returns its exit code and
 * output. Processes that it leaves running are ended when the shell ends, at the time limit, or on abort, except a
 * process with its own session (`setsid`) whose parent is gone.
 * @throws {Error} if the shell cannot be started.
 * @throws {InterruptedError} if it is aborted, with the output so far.
 */
export async function runBash(args: ToolArgs, context: ToolContext): Promise<ToolOutcome> {
  const { command, timeout_seconds } = args as { command: string; timeout_seconds: number };
  const budget = Math.max(context.maxOutputChars - FRAME_CHARS, 200);
  const { jobs } = context;
  const startedAt = performance.now();
  const { promise: moved, resolve } = Promise.withResolvers<void>();
  using _ = jobs?.onMove(resolve);
  const { left, status, notes, ended, shell, streams } = await runShell(command, context, {
    maxBytes: budget,
    timeoutMs: timeout_seconds * 1000,
    onStart: (streams) => context.onOutput?.(newestLines(streams)),
    moved,
  });
  if (ended === "moved") {
    return movedToBackground(command, shell, streams, { jobs: jobs!, budget, startedAt });
  }
  const isTimedOut = ended === "timeout";
  const output = outputOf(streams, budget);
  if (ended === "abort") {
    throw new InterruptedError(sections(output), output, { cause: context.signal.reason });
  }
  const code = isTimedOut ? TIMEOUT_EXIT_CODE : status?.code;
  const { lines: limits, ...limit } = limitLines(shell, command, code, output);
  const lines = [`exit code: ${isTimedOut ? code : exitCodeText(status)}`, ...limits, ...notes];
  const more = jobs ? "; run_in_background keeps a server running" : "";
  const end = `ended after ${timeout_seconds} s, the output is what came so far${more}`;
  if (isTimedOut) lines.push(`timed_out: true (${end})`);
  else if (left.length > 0) lines.push(leftText(left));
  else if (jobs && shell.limits !== undefined && startsInBackground(command)) {
    lines.push(ENDED_WITH_IT);
  }
  return {
    content: [...lines, sections(output)].join("\n"),
    output,
    ...code !== undefined && { exitCode: code },
    ...limit,
    ...isTimedOut ? { isTimedOut } : left.length > 0 && { endedProcesses: left },
  };
}

// A sandbox ends its processes before they can be counted.
const ENDED_WITH_IT =
  "what it started with & has ended with it: run_in_background keeps a server running";

/** True for a line that starts a process with `&`, and does not wait for it. */
function startsInBackground(command: string): boolean {
  const bare = command.replace(/'[^']*'|"(?:\\.|[^"\\])*"|\\./g, "_");
  return /(?<![&|<>])&(?=[\s;)]|$)/.test(bare) && !/<<|\b(?:wait|kill|pkill)\b/.test(bare);
}

/** Returns a function for the last lines of the stream that printed most recently, or the ends of both streams. */
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
    return newest.tail(1000).trimEnd();
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
