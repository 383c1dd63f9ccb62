/**
 * The extensions of a session: skills, commands, sub-agents, hooks, MCP servers, instructions of subfolders.
 * Their code is loaded only if there are some; otherwise only folders and files are checked. @module
 */

import type { McpDefinition } from "../extensions/mcp/definition.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Part, TextPart } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { Tool } from "../types/tool.ts";
import { exploreTool } from "../tools/explore.ts";
import type { SubAgents } from "../extensions/agents/sub_agents.ts";
import { attachFiles } from "./attach.ts";
import type { InstructionsBelow } from "../extensions/instructions/below.ts";
import { commandIn } from "./commands/command_line.ts";
import type { Confirmation, Frontend } from "./frontend.ts";
import { type HookFile, hookFiles } from "../extensions/hooks/hook_files.ts";
import type { SessionHooks } from "../extensions/hooks/session_hooks.ts";
import { mcpFiles } from "../extensions/mcp/mcp_files.ts";
import type { LoadedPromptFiles } from "../extensions/skills/load.ts";
import type { Notice } from "./data.ts";
import type { SessionState } from "./state.ts";

interface ExtensionOptions {
  frontend: Frontend;
  /** Asks the user about a call, one question at a time; undefined without a user. */
  approve: Frontend["approve"] | undefined;
  /** Asks one question at a time. */
  oneByOne<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Decides on calls with the settings and `approve`. */
  policyWith(approve: Frontend["approve"] | undefined): Policy;
  /** True loads what the folder brings, for this session. */
  trust: boolean;
  approvesAll: boolean;
  /** Called after tokens or costs were added outside of the agent's own requests. */
  onCounted(): void;
  /** MCP servers in addition to those of files. */
  servers: readonly McpDefinition[];
  /** False ignores everything of the folder. */
  isOn: boolean;
}

export class Extensions {
  /** Decides on calls: hooks first, then the settings. */
  readonly policy: Policy;
  /** Undefined if there are no hooks. */
  hooks: SessionHooks | undefined;
  /** The files of the folder with hooks that are neither approved nor rejected. */
  #pendingHooks: readonly HookFile[] = [];
  #below: InstructionsBelow | undefined;
  #subAgents: SubAgents | undefined;

  /** @param state returns the session, which is created later */
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

  /** Replaces the skills, commands and sub-agents with those of a folder. */
  async plug(found: LoadedPromptFiles): Promise<void> {
    const isEmpty = found.promptFiles.length + found.problems.length === 0;
    if (isEmpty && this.state().plugged === undefined) return;
    const { plugInto } = await import("../extensions/skills/plug_into.ts");
    await plugInto(this.state(), found);
  }

  /** Returns the skill or command at the start of a line. */
  opened(line: string) {
    const { plugged } = this.state();
    const typed = plugged && commandIn(line);
    const promptFile = typed && plugged.named(typed.name);
    return promptFile && { plugged, promptFile, argument: typed.argument };
  }

  /** Expands a line that starts with a skill or a command; undefined for other lines. */
  async #openedParts(line: TextPart | undefined, signal: AbortSignal): Promise<Part[] | undefined> {
    const isPasted = line?.pasted?.[0]?.[0] === 0;
    const opened = line && !isPasted ? this.opened(line.text) : undefined;
    if (opened === undefined) return undefined;
    const { plugged, promptFile, argument } = opened;
    const { emit } = this.state();
    const { parts, notice } = await plugged.open(promptFile, line!, argument, {
      policy: this.policy,
      signal,
      onOutput: (newest) => emit({ type: "output", newest }),
    });
    if (notice) emit({ type: "session_notice", notice });
    return parts;
  }

  /**
   * Returns the parts of a message, with the files that its typed text names, or the skill or command that it
   * starts with.
   */
  async message(
    given: readonly Part[],
    policy: Policy,
    signal: AbortSignal,
  ): Promise<readonly Part[]> {
    const { agent, fit } = this.state();
    const typed = given.filter((part) => part.type === "text");
    const said = typed.map(({ type, text }): TextPart => ({ type, text }));
    const opened = await this.#openedParts(typed[0], signal);
    const parts = [
      ...this.state().pending,
      ...opened
        ? [...opened, ...said.slice(1)]
        : [...said, ...await this.#attached(typed, policy, signal)],
      ...given.filter((part) => part.type !== "text"),
    ];
    if (!parts.some(({ type }) => type === "image")) return parts;
    const { checkedImages } = await import("./images.ts");
    return await checkedImages(parts, fit.targetOf(agent).kind);
  }

  /** Returns the files that `texts` name; empty if the turn has been stopped. */
  async #attached(
    texts: readonly TextPart[],
    policy: Policy,
    signal: AbortSignal,
  ): Promise<Part[]> {
    const { agent, mcp, emit } = this.state();
    try {
      const others = (name: string) => mcp?.attach(name, signal);
      const { parts, notice } = await attachFiles(agent, texts, signal, policy, others);
      if (notice) emit({ type: "session_notice", notice });
      return parts;
    } catch (error) {
      if (signal.aborted) return [];
      throw error;
    }
  }

  /** Offers the tools of MCP servers if some are defined. It does not start a server. */
  async plugServers(signal: AbortSignal): Promise<void> {
    const state = this.state();
    const { agent, permissions, emit } = state;
    const { frontend, servers: given, trust, approvesAll: answersByDefaults } = this.options;
    const files = mcpFiles(agent.state.workingDir, permissions.variables);
    if (files.length + given.length === 0) return;
    const { plugMcp } = await import("../extensions/mcp/source.ts");
    const tell = (notice: Notice) => emit({ type: "session_notice", notice });
    const options = { files, given, trust, answersByDefaults };
    state.mcp = await plugMcp({ agent, permissions, frontend, tell, signal }, options);
  }

  /**
   * Asks about unapproved MCP servers and hooks of the folder, and uses those that the user approves. For
   * frontends that can only ask with the first prompt.
   */
  async askPending(
    confirm: (
      question: Confirmation,
      signal: AbortSignal,
    ) => Promise<boolean | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, mcp } = this.state();
    if (mcp && mcp.pending.length > 0) {
      mcp.confirm = confirm;
      await mcp.ask(signal);
      mcp.all.chooseAnew();
      agent.plug(mcp.tools);
    }
    if (this.#pendingHooks.length === 0) return;
    await this.#beginHooks(this.#pendingHooks, { confirm }, signal, "startup");
  }

  /** Reads the hooks, if some are defined, and asks about those of the folder. */
  async begin(signal: AbortSignal, source: "startup" | "resume"): Promise<void> {
    const { agent, permissions } = this.state();
    if (!this.options.isOn) return;
    const files = hookFiles(agent.state.workingDir, permissions.variables);
    if (files.length > 0) await this.#beginHooks(files, this.options.frontend, signal, source);
  }

  /** Adds the hooks of `files` to the active ones. */
  async #beginHooks(
    files: readonly HookFile[],
    frontend: Pick<Frontend, "confirm">,
    signal: AbortSignal,
    source: "startup" | "resume",
  ): Promise<void> {
    const { beginHooks } = await import("../extensions/hooks/session_hooks.ts");
    const options = { ...this.options, frontend, signal };
    const { hooks, pending } = await beginHooks(this.state(), files, options);
    this.#pendingHooks = pending;
    await hooks?.start(source, signal);
    if (this.hooks && hooks) this.hooks.join(hooks);
    else this.hooks ??= hooks;
    this.state().hooks = this.hooks?.hooks.all;
  }

  /** Returns the text to append to the result of a call: instructions of a file's folder, and output of hooks. */
  after(execution: ToolExecution, signal: AbortSignal): Promise<string> {
    return this.#behind(
      execution,
      signal,
      async () => this.#below ??= await this.#openBelow(signal),
    );
  }

  /** The same for another agent, which has no instructions yet. */
  afterFork(): (execution: ToolExecution, signal: AbortSignal) => Promise<string> {
    let below: InstructionsBelow | undefined;
    return (execution, signal) =>
      this.#behind(execution, signal, async () => below ??= await this.#openBelow(signal));
  }

  async #behind(
    execution: ToolExecution,
    signal: AbortSignal,
    below: () => Promise<InstructionsBelow>,
  ): Promise<string> {
    const isBelow = this.options.isOn && /[/\\]/.test(execution.subject?.path ?? "");
    const told = isBelow ? await (await below()).noteFor(execution) : undefined;
    return [told, await this.hooks?.after(execution, signal)].join("");
  }

  /** Returns the tool that runs sub-agents. */
  exploreTool(): Tool {
    return exploreTool({
      hasAgents: () => (this.state().plugged?.agents ?? []).length > 0,
      run: async (call, context) => {
        const { SubAgents } = await import("../extensions/agents/sub_agents.ts");
        this.#subAgents ??= new SubAgents({
          state: this.state(),
          policy: this.policy,
          afterFork: () => this.afterFork(),
          onCounted: this.options.onCounted,
        });
        return await this.#subAgents.run(call, context);
      },
    });
  }

  /** After /clear, /undo or compaction, the model may no longer have these instructions. */
  forget(): void {
    this.#below = undefined;
  }

  async #openBelow(signal: AbortSignal): Promise<InstructionsBelow> {
    const { agent, permissions, folderTrust, emit } = this.state();
    const { frontend, oneByOne, trust } = this.options;
    const { InstructionsBelow } = await import("../extensions/instructions/below.ts");
    return new InstructionsBelow(agent, permissions, {
      folderTrust,
      trust,
      confirm: frontend.confirm &&
        ((question) => oneByOne(() => frontend.confirm!(question, signal), signal)),
      onHeeded: (instructions) => emit({ type: "instructions", instructions }),
    });
  }
}
