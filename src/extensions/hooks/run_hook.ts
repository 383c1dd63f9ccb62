/** Runs the command of a hook. @module */

import type { HookDefinition } from "./definition.ts";
import type { HookEnd } from "./verdict.ts";
import { sandboxLimitText } from "../../tools/shell/limit_text.ts";
import { limitLines, runShell } from "../../tools/shell/shell_process.ts";
import { RefusedError } from "../../tools/call_errors.ts";
import type { ToolContext } from "../../types/tool.ts";
import { reasonOf } from "../../text/reason.ts";

/** The user can let a hook run outside of the sandbox, but no hook of a plug-in. */
const limitOfHook = ({ scope }: HookDefinition, text: string): string =>
  scope === "plugin"
    ? text.replace(/: [^:]*--sandbox off$/, "")
    : scope === "user"
    ? text.replace(/--(sandbox off|network)/, '"sandbox": "off" beside its command')
    : text.replace("--sandbox off", "--trust --sandbox off");

const MAX_HOOK_OUTPUT = 64 * 1024;

interface HookRun extends Pick<ToolContext, "workingDir" | "confine" | "env" | "signal"> {
  input: string;
  variables: Readonly<Record<string, string>>;
}

/** Runs a hook with `input` on its stdin, and ends its remaining processes. @throws the reason of the signal. */
export async function runHook(hook: HookDefinition, run: HookRun): Promise<HookEnd> {
  if (hook.problem !== undefined) return { failure: hook.problem };
  const { input, variables, ...context } = run;
  try {
    let written: Promise<void> | undefined;
    const { status, ended, shell, streams: { stdout, stderr } } = await runShell(
      hook.command,
      { ...context, maxOutputChars: MAX_HOOK_OUTPUT },
      {
        hasInput: true,
        variables,
        timeoutMs: hook.timeoutMs,
        maxBytes: MAX_HOOK_OUTPUT,
        // A hook that does not read its stdin closes it.
        onStart: (_, { stdin }) => written = writeAll(stdin, input),
      },
    );
    await written;
    run.signal.throwIfAborted();
    if (ended === "timeout") return { failure: `it did not end within ${hook.timeoutMs / 1000} s` };
    const code = status?.code ?? 1;
    const output = { stdout: stdout.text(MAX_HOOK_OUTPUT), stderr: stderr.text(MAX_HOOK_OUTPUT) };
    const { limit } = limitLines(shell, hook.command, code, output);
    return {
      code,
      ...output,
      isSandboxed: shell.limits !== undefined,
      ...limit && { limit: limitOfHook(hook, sandboxLimitText(limit)) },
    };
  } catch (error) {
    run.signal.throwIfAborted();
    const isRefused = hook.plugin && error instanceof RefusedError;
    const hint = isRefused ? `: copilot plugin disable ${hook.plugin!.name} turns it off` : "";
    return { failure: reasonOf(error) + hint };
  }
}

async function writeAll(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
}
