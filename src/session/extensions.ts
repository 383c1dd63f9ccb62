/**
 * What people plug into a session beside MCP servers: skills, commands, hooks, instructions below the folder.
 * Their code is loaded where there are some; without, this looks for folders and files alone. @module
 */

import type { ToolExecution } from "../types/event.ts";
import type { Part, TextPart } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { InstructionsBelow } from "./below.ts";
import { commandIn } from "./commands/command_line.ts";
import type { Frontend } from "./frontend.ts";
import { hookFiles } from "./hooks/hook_files.ts";
import type { SessionHooks } from "./hooks/session_hooks.ts";
import type { LoadedPlugIns } from "./plugins/load.ts";
import type { SessionState } from "./state.ts";

interface ExtensionOptions {
  frontend: Frontend;
  /** Asks the person about a call, one question at a time; undefined where nobody is there. */
  approve: Frontend["approve"] | undefined;
  /** Asks one question at a time. */
  oneByOne<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Decides on calls by the settings, and by `approve`. */
  policyWith(approve: Frontend["approve"] | undefined): Policy;
  /** True heeds what the folder brings this time. */
  trust: boolean;
  approvesAll: boolean;
  /** False where nothing of the folder is looked at. */
  isOn: boolean;
}

export class Extensions {
  /** Decides on calls: hooks come before the settings. */
  readonly policy: Policy;
  /** Undefined where there are none. */
  hooks: SessionHooks | undefined;
  #below: InstructionsBelow | undefined;

  /** @param state looks up the session, which is made after this */
  constructor(
    private readonly state: () => SessionState,
    private readonly options: ExtensionOptions,
  ) {
    const policy = options.policyWith(options.approve);
    this.policy = {
      decide: (tool, args, context) =>
        this.hooks?.decide(policy, tool, args, context) ?? policy.decide(tool, args, context),
    };
  }

  /** Takes the skills and commands of a folder, in the place of those before. */
  async plug(found: LoadedPlugIns): Promise<void> {
    const isEmpty = found.plugIns.length + found.problems.length === 0;
    if (isEmpty && this.state().plugged === undefined) return;
    const { plugInto } = await import("./plugins/plug_into.ts");
    await plugInto(this.state(), found);
  }

  /** The skill or command that a line begins with. */
  opened(line: string) {
    const { plugged } = this.state();
    const typed = plugged && commandIn(line);
    const plugIn = typed && plugged.named(typed.name);
    return plugIn && { plugged, plugIn, argument: typed.argument };
  }

  /** The message that a line which begins with a skill or a command stands for; undefined for any other. */
  async open(line: TextPart | undefined, signal: AbortSignal): Promise<Part[] | undefined> {
    const isPasted = line?.pasted?.[0]?.[0] === 0;
    const opened = line && !isPasted ? this.opened(line.text) : undefined;
    if (opened === undefined) return undefined;
    const { plugged, plugIn, argument } = opened;
    const { emit } = this.state();
    const { parts, notice } = await plugged.open(plugIn, line!, argument, {
      ...{ policy: this.policy, signal },
      onOutput: (newest) => emit({ type: "output", newest }),
    });
    if (notice) emit({ type: "session_notice", notice });
    return parts;
  }

  /** Reads the hooks, where some are defined; those of the folder are asked about. */
  async begin(signal: AbortSignal, source: "startup" | "resume"): Promise<void> {
    const state = this.state();
    const { agent, permissions } = state;
    if (!this.options.isOn) return;
    const files = hookFiles(agent.state.workingDir, permissions.variables);
    if (files.length === 0) return;
    const { beginHooks } = await import("./hooks/session_hooks.ts");
    this.hooks = await beginHooks(state, files, { ...this.options, signal });
    await this.hooks?.start(source, signal);
  }

  /** What stands behind the result of a call: instructions of the folder of a file, and what hooks say. */
  async after(execution: ToolExecution, signal: AbortSignal): Promise<string> {
    const isBelow = this.options.isOn && /[/\\]/.test(execution.subject?.path ?? "");
    const told = isBelow ? await (await this.#belowOf(signal)).noteFor(execution) : undefined;
    return [told, await this.hooks?.after(execution, signal)].join("");
  }

  /** The conversation became shorter, or another: the model does not know all any more that it was told. */
  forget(): void {
    this.#below = undefined;
  }

  async #belowOf(signal: AbortSignal): Promise<InstructionsBelow> {
    const { agent, permissions, emit } = this.state();
    const { frontend, oneByOne, trust } = this.options;
    const { InstructionsBelow } = await import("./below.ts");
    return this.#below ??= new InstructionsBelow(agent, permissions, {
      trust,
      confirm: frontend.confirm &&
        ((question) => oneByOne(() => frontend.confirm!(question, signal), signal)),
      onHeeded: (instructions) => emit({ type: "instructions", instructions }),
    });
  }
}
