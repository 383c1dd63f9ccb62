/**
 * The extensions of a session: skills, commands, sub-agents, hooks, MCP servers, instructions below the folder.
 * Their code is loaded where there are some; without, this looks for folders and files alone. @module
 */

import type { McpDefinition } from "../mcp/definition.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Part, TextPart } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { Tool } from "../types/tool.ts";
import { exploreTool } from "./agents/explore_tool.ts";
import type { SubAgents } from "./agents/sub_agents.ts";
import { attachFiles } from "./attach.ts";
import type { InstructionsBelow } from "./below.ts";
import { commandIn } from "./commands/command_line.ts";
import type { Confirmation, Frontend, HooksQuestion, ServerQuestion } from "./frontend.ts";
import { type HookFile, hookFiles } from "./hooks/hook_files.ts";
import type { SessionHooks } from "./hooks/session_hooks.ts";
import { mcpFiles } from "./mcp_files.ts";
import type { LoadedPromptFiles } from "./prompt_files/load.ts";
import type { Notice } from "./report.ts";
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
  /** Tokens or costs were added beside those of the conversation. */
  onCounted(): void;
  /** MCP servers beside those of files. */
  servers: readonly McpDefinition[];
  /** False where nothing of the folder is looked at. */
  isOn: boolean;
}

export class Extensions {
  /** Decides on calls: hooks come before the settings. */
  readonly policy: Policy;
  /** Undefined where there are none. */
  hooks: SessionHooks | undefined;
  /** The files of the folder whose hooks nobody has decided on. */
  #pendingHooks: readonly HookFile[] = [];
  #below: InstructionsBelow | undefined;
  #subAgents: SubAgents | undefined;

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

  /** Takes the skills, commands and sub-agents of a folder, in the place of those before. */
  async plug(found: LoadedPromptFiles): Promise<void> {
    const isEmpty = found.promptFiles.length + found.problems.length === 0;
    if (isEmpty && this.state().plugged === undefined) return;
    const { plugInto } = await import("./prompt_files/plug_into.ts");
    await plugInto(this.state(), found);
  }

  /** The skill or command that a line begins with. */
  opened(line: string) {
    const { plugged } = this.state();
    const typed = plugged && commandIn(line);
    const promptFile = typed && plugged.named(typed.name);
    return promptFile && { plugged, promptFile, argument: typed.argument };
  }

  /** The message that a line which begins with a skill or a command stands for; undefined for any other. */
  async #openedParts(line: TextPart | undefined, signal: AbortSignal): Promise<Part[] | undefined> {
    const isPasted = line?.pasted?.[0]?.[0] === 0;
    const opened = line && !isPasted ? this.opened(line.text) : undefined;
    if (opened === undefined) return undefined;
    const { plugged, promptFile, argument } = opened;
    const { emit } = this.state();
    const { parts, notice } = await plugged.open(promptFile, line!, argument, {
      ...{ policy: this.policy, signal },
      onOutput: (newest) => emit({ type: "output", newest }),
    });
    if (notice) emit({ type: "session_notice", notice });
    return parts;
  }

  /** The parts of a message: files that its typed text names go along, or the skill or command that it begins with. */
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

  /** The files that `texts` name; none for a turn that was stopped meanwhile. */
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

  /** Offers the tools of MCP servers, where some are defined; none is started. */
  async plugServers(signal: AbortSignal): Promise<void> {
    const state = this.state();
    const { agent, permissions, emit } = state;
    const { frontend, servers: given, trust, approvesAll: answersByDefaults } = this.options;
    const files = mcpFiles(agent.state.workingDir, permissions.variables);
    if (files.length + given.length === 0) return;
    const { plugMcp } = await import("./mcp.ts");
    const tell = (notice: Notice) => emit({ type: "session_notice", notice });
    const options = { files, given, trust, answersByDefaults };
    state.mcp = await plugMcp({ agent, permissions, frontend, tell, signal }, options);
  }

  /**
   * Asks about MCP servers and hooks of the folder that wait for the person's word, and uses those that get
   * it: for frontends that cannot ask while a session opens, before the first prompt.
   */
  async askPending(
    confirm: (
      question: ServerQuestion | HooksQuestion,
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
    const asks = {
      confirm: (question: Confirmation) => confirm(question as HooksQuestion, signal),
    };
    await this.#beginHooks(this.#pendingHooks, asks, signal, "startup");
  }

  /** Reads the hooks, where some are defined; those of the folder are asked about. */
  async begin(signal: AbortSignal, source: "startup" | "resume"): Promise<void> {
    const { agent, permissions } = this.state();
    if (!this.options.isOn) return;
    const files = hookFiles(agent.state.workingDir, permissions.variables);
    if (files.length > 0) await this.#beginHooks(files, this.options.frontend, signal, source);
  }

  /** Reads the hooks of `files`, which join those that run. */
  async #beginHooks(
    files: readonly HookFile[],
    frontend: Pick<Frontend, "confirm">,
    signal: AbortSignal,
    source: "startup" | "resume",
  ): Promise<void> {
    const { beginHooks } = await import("./hooks/session_hooks.ts");
    const options = { ...this.options, frontend, signal };
    const { hooks, pending } = await beginHooks(this.state(), files, options);
    this.#pendingHooks = pending;
    await hooks?.start(source, signal);
    if (this.hooks && hooks) this.hooks.join(hooks);
    else this.hooks ??= hooks;
    this.state().hooks = this.hooks?.hooks.all;
  }

  /** What stands behind the result of a call: instructions of the folder of a file, and what hooks say. */
  after(execution: ToolExecution, signal: AbortSignal): Promise<string> {
    return this.#behind(
      execution,
      signal,
      async () => this.#below ??= await this.#openBelow(signal),
    );
  }

  /** The same for another conversation, which was told of nothing yet. */
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

  /** The tool that has sub-agents do tasks. */
  exploreTool(): Tool {
    return exploreTool({
      hasAgents: () => (this.state().plugged?.agents ?? []).length > 0,
      run: async (call, context) => {
        const { SubAgents } = await import("./agents/sub_agents.ts");
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

  /** The conversation became shorter, or another: the model does not know all any more that it was told. */
  forget(): void {
    this.#below = undefined;
  }

  async #openBelow(signal: AbortSignal): Promise<InstructionsBelow> {
    const { agent, permissions, emit } = this.state();
    const { frontend, oneByOne, trust } = this.options;
    const { InstructionsBelow } = await import("./below.ts");
    return new InstructionsBelow(agent, permissions, {
      trust,
      confirm: frontend.confirm &&
        ((question) => oneByOne(() => frontend.confirm!(question, signal), signal)),
      onHeeded: (instructions) => emit({ type: "instructions", instructions }),
    });
  }
}
