/** Runs the hooks of an event, and joins their verdicts. @module */

import { attempt } from "../../attempt.ts";
import { programFolders } from "../../find_program.ts";
import type { Confine } from "../../types/confine.ts";
import { type HookDefinition, type HookEvent, matchesHook } from "./definition.ts";
import { type HookEnd, type HookVerdict, joinedVerdicts, verdictOf } from "./verdict.ts";
import { sandboxLimitText } from "../../tools/shell/limit_text.ts";
import { limitLines, runShell } from "../../tools/shell/shell_process.ts";
import { RefusedError } from "../../tools/call_errors.ts";
import type { ToolContext } from "../../types/tool.ts";
import { isWithin } from "../../text/paths.ts";
import { reasonOf } from "../../text/reason.ts";

export interface HookScene {
  folder(): string;
  /** The root of the repository, which hooks use in paths of scripts. */
  root(): string;
  /** The fields that each hook gets. `transcript_path` is a file that it may read. */
  fields(): Record<string, unknown> & { transcript_path: string };
  env: readonly string[];
  /** Returns the sandbox of a hook, which those of its owner share. */
  confine(hook: HookDefinition): Confine;
  home: string | undefined;
  tell(lines: readonly string[]): void;
}

export class Hooks {
  constructor(readonly all: HookDefinition[], private readonly scene: HookScene) {}

  /** Returns the hooks that a folder brings, or those of the user and their plug-ins. */
  of(isFolder: boolean): Hooks {
    const isMeant = ({ scope, plugin }: HookDefinition) =>
      isFolder === (scope === "folder" && !plugin);
    return new Hooks(this.all.filter(isMeant), this.scene);
  }

  /** Runs the hooks of an event whose matchers match `names`, in parallel. @throws the reason of `signal`. */
  async fire(
    event: HookEvent,
    names: readonly string[],
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<HookVerdict> {
    const meant = this.all.filter((hook) => hook.event === event && matchesHook(hook, names));
    // A command with two matchers runs once.
    const keyOf = ({ plugin, scope, command }: HookDefinition) =>
      `${plugin ? `plugin:${plugin.name}` : scope} ${command}`;
    const hooks = [...new Map(meant.map((hook) => [keyOf(hook), hook])).values()];
    if (hooks.length === 0) return { messages: [] };
    const { scene } = this;
    const folder = scene.folder();
    const shared = scene.fields();
    const input = JSON.stringify({
      ...shared,
      cwd: folder,
      hook_event_name: event,
      ...fields,
    });
    const verdicts = await Promise.all(hooks.map(async (hook) => {
      const end = await runHook(hook, {
        workingDir: folder,
        env: scene.env,
        input,
        signal,
        ...!hook.isOutside && { confine: this.#confine(hook, shared.transcript_path) },
        variables: {
          CLAUDE_PROJECT_DIR: scene.root(),
          ...hook.plugin && { CLAUDE_PLUGIN_ROOT: hook.plugin.root },
          // A hook of the user does not run programs that a command made.
          ...hook.scope === "user" && Deno.build.os !== "windows" &&
            { PATH: programFolders(folder).join(":") },
        },
      });
      return { hook, verdict: verdictOf(hook, end) };
    }));
    const verdict = joinedVerdicts(verdicts);
    if (verdict.messages.length > 0) scene.tell(verdict.messages);
    return verdict;
  }

  /** Returns the sandbox of a hook. One of the user can read the files, and the folders below home, that it names. */
  #confine(hook: HookDefinition, transcript: string): Confine {
    const { scope, command } = hook;
    const [confine, home = ""] = [this.scene.confine(hook), this.scene.home];
    const paths = scope === "folder" ? [] : command.split(/["'\s;=]+/)
      .map((word) => word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/)/, home))
      .flatMap((word) => /^\/[^*?$`]+$/.test(word) && attempt(() => Deno.realPathSync(word)) || []);
    const mayBeFolder = scope === "user" && home !== "";
    const isBelowHome = (path: string) => mayBeFolder && path !== home && isWithin(home, path);
    const reads = [...paths, transcript]
      .filter((path) => attempt(() => Deno.statSync(path).isFile) || isBelowHome(path));
    return (program, args, right) =>
      confine(program, args, right, { reads, changesState: hook.plugin !== undefined });
  }
}

/** The user can let a hook run outside of the sandbox, and none of a plug-in. */
const limitOfHook = ({ scope, plugin }: HookDefinition, text: string): string =>
  plugin
    ? text.replace(/: [^:]*--sandbox off$/, "")
    : scope === "user"
    ? text.replace(/--(sandbox off|network)/, '"sandbox": "off" beside its command')
    : text.replace("--sandbox off", "--trust --sandbox off");

const MAX_HOOK_OUTPUT = 64 * 1024;

interface HookRun extends Pick<ToolContext, "workingDir" | "confine" | "env"> {
  signal: AbortSignal;
  input: string;
  variables: Readonly<Record<string, string>>;
}

/** Runs a hook with `input` on its stdin, and ends what it leaves. @throws the reason of the signal. */
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
