/** Runs the hooks of an event, and joins their verdicts. @module */

import { programFolders } from "../../find_program.ts";
import { namedReads } from "../../safety/readable_folders.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import type { SessionState } from "../../session/extension.ts";
import type { Confine } from "../../types/confine.ts";
import { type HookDefinition, type HookEvent, matchesHook } from "./definition.ts";
import { HookTranscript } from "./transcript.ts";
import { type HookEnd, type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";
import { sandboxLimitText } from "../../tools/shell/limit_text.ts";
import { limitLines, runShell } from "../../tools/shell/shell_process.ts";
import { RefusedError } from "../../tools/call_errors.ts";
import type { ToolContext } from "../../types/tool.ts";
import { reasonOf } from "../../text/reason.ts";

const PERMISSION_MODES = { ask: "default", auto: "auto", plan: "plan", never: "dontAsk" } as const;

export class Hooks {
  readonly all: HookDefinition[] = [];
  readonly #id = crypto.randomUUID();
  /** The sandboxes of hooks, which those of an owner share. */
  readonly #sandboxes: Record<string, Confine> = {};
  readonly #transcript: HookTranscript;

  constructor(protected readonly session: SessionState) {
    this.#transcript = new HookTranscript(session.permissions.variables);
  }

  /** Runs those of `all` that are for an event and one of `names`, in parallel. @throws the reason of `signal`. */
  async fire(
    event: HookEvent,
    names: readonly string[],
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    all: readonly HookDefinition[] = this.all,
  ): Promise<HookVerdict> {
    const matching = all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command with two matchers runs once.
    const keyOf = ({ plugin, scope, command }: HookDefinition) =>
      `${scope} ${plugin?.name} ${command}`;
    const hooks = [...new Map(matching.map((hook) => [keyOf(hook), hook])).values()];
    if (hooks.length === 0) return { messages: [] };
    const { agent, permissions, record, mode } = this.session;
    const { workingDir, messages } = agent.state;
    const session_id = record?.name?.replace(/\.jsonl$/, "") ?? this.#id;
    const transcript_path = this.#transcript.write(messages, session_id, workingDir);
    const input = JSON.stringify({
      session_id,
      transcript_path,
      permission_mode: permissions.approvesAll
        ? "bypassPermissions"
        : PERMISSION_MODES[mode?.approve ?? "ask"],
      cwd: workingDir,
      hook_event_name: event,
      ...fields,
    });
    const verdicts = await Promise.all(hooks.map(async (hook) => {
      const end = await runHook(hook, {
        workingDir,
        // The question about a plug-in names no variable of the user.
        env: hook.plugin ? [] : permissions.env,
        input,
        signal,
        ...!hook.isOutside && { confine: this.#confine(hook, transcript_path) },
        variables: {
          CLAUDE_PROJECT_DIR: repositoryOf(workingDir),
          ...hook.plugin && { CLAUDE_PLUGIN_ROOT: hook.plugin.root },
          // A hook of the user does not run programs that a command made.
          ...hook.scope === "user" && Deno.build.os !== "windows" &&
            { PATH: programFolders(workingDir).join(":") },
        },
      });
      return { hook, verdict: verdictOf(hook, end) };
    }));
    const verdict = joinedVerdicts(verdicts);
    if (verdict.messages.length > 0) this.session.tell("hook", ...verdict.messages);
    return verdict;
  }

  /** Returns the sandbox of a hook. One of the user can read the files, and the folders below home, that it names. */
  #confine({ scope, command, plugin }: HookDefinition, transcript: string): Confine {
    const { agent, permissions, trust } = this.session;
    const isOwn = scope === "user";
    const by = scope !== "folder" ? scope : trust ? "trusted" : "hooks";
    const name = plugin ? `plugin-${plugin.name}` : `${isOwn ? "own" : "folder"}-hooks`;
    const confine = this.#sandboxes[name] ??= permissions
      .confineServers(() => agent.state.workingDir, name, by);
    const home = permissions.variables("HOME") ?? "";
    const words = !isOwn ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home));
    const reads = [...namedReads(words, agent.state.workingDir, home), transcript];
    return (program, args, right) =>
      confine(program, args, right, { reads, changesState: plugin !== undefined });
  }

  protected endTranscript(): void {
    this.#transcript.end();
  }
}

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
async function runHook(hook: HookDefinition, run: HookRun): Promise<HookEnd> {
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
      isCut: stdout.total > MAX_HOOK_OUTPUT,
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
