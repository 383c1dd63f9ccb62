/** Runs the program of a hook. @module */

import { within } from "../../wire/wait.ts";
import { aborted } from "../../wire/wait.ts";
import { OutputCapture } from "../../tools/shell/output_capture.ts";
import { endNow } from "../../tools/shell/process_group.ts";
import { atProgramEnd } from "../../tools/shell/program_end.ts";
import { DRAIN_MS, GRACE_MS, startShell, tidyUp } from "../../tools/shell/shell_process.ts";
import type { ToolContext } from "../../types/tool.ts";
import type { HookDefinition } from "./definition.ts";
import type { HookEnd } from "./verdict.ts";
import { reasonOf } from "../../text/reason.ts";

/** The maximum bytes of each stream. */
const MAX_HOOK_OUTPUT = 64 * 1024;

interface HookRun extends Pick<ToolContext, "workingDir" | "confine" | "env"> {
  signal: AbortSignal;
  /** The JSON on its stdin. */
  input: string;
  /** Variables in addition to those of commands. */
  variables: Readonly<Record<string, string>>;
}

/**
 * Runs a hook with `input` on its stdin, and ends what it leaves running.
 * @throws the reason of the signal.
 */
export async function runHook(hook: HookDefinition, run: HookRun): Promise<HookEnd> {
  if (hook.problem !== undefined) return { failure: hook.problem };
  const { input, variables, ...context } = run;
  try {
    const shell = await startShell(
      hook.command,
      { ...context, maxOutputChars: MAX_HOOK_OUTPUT },
      { hasInput: true, variables },
    );
    const { child } = shell;
    const release = atProgramEnd(() => endNow(child.pid, run.workingDir));
    const stdout = new OutputCapture([child.stdout], MAX_HOOK_OUTPUT);
    const stderr = new OutputCapture([child.stderr], MAX_HOOK_OUTPUT);
    // A hook that does not read its stdin closes it.
    const written = writeAll(child.stdin, input);
    const ended = Promise.race([child.status.then(() => true), aborted(run.signal)]);
    const isOver = await within(hook.timeoutMs, ended);
    const captures = [stdout, stderr];
    if (isOver) await within(DRAIN_MS, Promise.all(captures.map(({ done }) => done)));
    const { status } = await tidyUp(shell, captures, GRACE_MS);
    await written;
    release();
    run.signal.throwIfAborted();
    if (!isOver) return { failure: `it did not end within ${hook.timeoutMs / 1000} s` };
    return {
      code: status?.code ?? 1,
      stdout: stdout.text(MAX_HOOK_OUTPUT),
      stderr: stderr.text(MAX_HOOK_OUTPUT),
      isCut: stdout.total > MAX_HOOK_OUTPUT,
    };
  } catch (error) {
    run.signal.throwIfAborted();
    return { failure: reasonOf(error) };
  }
}

async function writeAll(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
}
