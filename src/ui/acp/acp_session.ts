/** One session of an editor: events become updates, questions become requests. @module */

import { RPC_CODES, RpcError } from "../../rpc/message.ts";
import { commandIn } from "../../session/commands/command_line.ts";
import type { Approval, ApprovalAnswer } from "../../safety/approval.ts";
import {
  type Frontend,
  PLAIN_SURFACE,
  type SessionEvent,
  type Status,
} from "../../session/frontend.ts";
import { failureText } from "../../session/hint_text.ts";
import { commandsOf } from "../../session/commands/registry.ts";
import type { Session } from "../../session/session.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isTyped, typedText } from "../../text/parts.ts";
import type { Part } from "../../types/message.ts";
import type { EditorFiles } from "../../types/tool.ts";
import type { StopReason } from "../../types/event.ts";
import { noticeLines } from "../../session/notices.ts";
import { jobEnded, progressLine } from "../progress.ts";
import { instructionLines } from "../../extensions/instructions/instruction_lines.ts";
import { editorFiles } from "./editor_files.ts";
import type { Editor } from "./editor.ts";
import { askAbout, askApproval, type EditorSession } from "./questions.ts";
import { replayUpdates } from "./replay.ts";
import { ShownCalls } from "./shown_calls.ts";
import { ConfigOptions, modeIn } from "./config_options.ts";
import { type ContentBlock, promptParts } from "./content.ts";

const MAX_SESSION_TITLE = 100;

const ACP_STOP_REASONS: Readonly<Record<StopReason, string>> = {
  done: "end_turn",
  max_rounds: "max_turn_requests",
  aborted: "cancelled",
  loop: "end_turn",
  budget: "max_tokens",
};

/** The answer to a prompt (schema `PromptResponse`). `usage` covers its turn; harnesses count with it. */
interface PromptAnswer {
  stopReason: string;
  usage?: { totalTokens: number; inputTokens: number; outputTokens: number };
}

interface WaitingPrompt {
  parts: readonly Part[];
  signal: AbortSignal;
  /** Set once the running turn has the prompt, or the editor cancelled it. */
  answer?: Promise<PromptAnswer>;
}

const CANCELLED: PromptAnswer = { stopReason: "cancelled" };

export class AcpSession implements Frontend {
  readonly surface: Required<Frontend>["surface"] = { ...PLAIN_SURFACE, kind: "editor" };
  readonly #session: Session;
  readonly #options: ConfigOptions;
  #id: string = crypto.randomUUID();
  /** Updates queued until the editor knows the session; undefined afterwards. */
  #queued: Record<string, unknown>[] | undefined = [];
  /** The running turn, and the end of the newest requested one. */
  #turn: AbortController | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  readonly #calls = new ShownCalls((update) => this.#update(update));
  readonly #waiting: WaitingPrompt[] = [];
  #running: Promise<PromptAnswer> | undefined;
  /** The last update of each kind, as JSON. */
  readonly #sent = new Map([["plan", '{"entries":[]}']]);
  #messageId = "";
  #isTitled = false;

  /** @param make creates the displayed session, with the editor's files if it offers them */
  constructor(
    private readonly editor: Editor,
    make: (frontend: Frontend, files: EditorFiles | undefined) => Session,
  ) {
    this.#session = make(this, editorFiles(editor, editor.fs, () => this.#id));
    this.#options = new ConfigOptions(this.#session);
  }

  /** `id`: the editor's existing name of the session. @throws {UsageError} for invalid settings. */
  async open(signal: AbortSignal, id?: string): Promise<void> {
    await this.#session.open(signal);
    this.#id = id ?? this.#session.record?.name?.replace(/\.jsonl$/, "") ?? this.#id;
    await this.#options.loadModels();
  }

  get id(): string {
    return this.#id;
  }

  /** Returns the modes and options for the answer that starts a session. */
  get settings(): Record<string, unknown> {
    const { status } = this.#session;
    const [currentModeId, configOptions] = [modeIn(status), this.#options.list(status)];
    this.#sent.set("config_option_update", JSON.stringify({ configOptions }));
    this.#sent.set("current_mode_update", JSON.stringify({ currentModeId }));
    return { modes: { currentModeId, availableModes: this.#options.modes }, configOptions };
  }

  /** Marks the session as known to the editor: sends queued updates and the commands. */
  announce(): void {
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    for (const update of queued) this.#update(update);
    this.#tellCommands();
  }

  replay(): void {
    this.#queued = undefined;
    for (const update of replayUpdates(this.#session)) this.#update(update);
  }

  /** Tells the title, the plan and the usage of a resumed session. */
  tellState(): void {
    const { messages } = this.#session.agent.state;
    const first = messages.find(isTyped);
    if (first) this.#title(typedText(first));
    this.#tellPlan(this.#session.status);
    this.#tellUsage(this.#session.status);
  }

  prompt(blocks: unknown, signal: AbortSignal): Promise<PromptAnswer> {
    this.announce();
    const { workingDir, messages } = this.#session.agent.state;
    const parts = promptParts(blocks, workingDir, messages.length === 0);
    const waiting: WaitingPrompt = { parts, signal };
    this.#waiting.push(waiting);
    const turn = this.#ended.then(() => {
      if (waiting.answer) return waiting.answer;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      return this.#running = this.#run(parts, signal);
    });
    this.#ended = turn.catch(() => {});
    return turn;
  }

  /** A prompt that comes during a turn is a part of it, and has its answer. */
  steering(): (readonly Part[])[] {
    const taken = this.#waiting.filter(({ parts, signal }) =>
      !signal.aborted && !this.#commandIn(parts)
    );
    for (const one of taken) {
      one.answer = this.#running!.then(({ stopReason }) => ({ stopReason }));
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
    }
    return taken.map(({ parts }) => parts);
  }

  #commandIn([first]: readonly Part[]): ReturnType<typeof commandIn> {
    const isText = first?.type === "text" && !this.#session.expands(first.text);
    return isText ? commandIn(first.text) : undefined;
  }

  async #run(parts: readonly Part[], signal: AbortSignal): Promise<PromptAnswer> {
    const turn = this.#turn = new AbortController();
    const all = AbortSignal.any([turn.signal, signal]);
    try {
      if (all.aborted) return CANCELLED;
      await this.#askOpenQuestions(all);
      const command = this.#commandIn(parts);
      return await (command ? this.#command(command, all) : this.#answer(parts, all));
    } catch (error) {
      if (all.aborted) return CANCELLED;
      if (error instanceof RpcError) throw error;
      const message = failureText(error, this.#session.agent.config, "editor");
      throw new RpcError(RPC_CODES.internalError, message);
    } finally {
      this.#calls.close();
      this.#turn = undefined;
    }
  }

  async #answer(parts: readonly Part[], signal: AbortSignal): Promise<PromptAnswer> {
    this.#title(parts.flatMap((part) => part.type === "text" ? [part.text] : []).join(" "));
    const result = await this.#session.prompt(parts, signal);
    const { stopReason, isUnanswered, response, inputTokens, outputTokens } = result;
    if (isUnanswered && stopReason === "done") this.#say(response);
    const totalTokens = inputTokens + outputTokens;
    return {
      stopReason: ACP_STOP_REASONS[stopReason],
      ...totalTokens > 0 && { usage: { totalTokens, inputTokens, outputTokens } },
    };
  }

  /** Stops the turn, and drops the prompts that wait for its end. */
  cancel(): void {
    for (const one of this.#waiting.splice(0)) one.answer = Promise.resolve(CANCELLED);
    this.#turn?.abort(new DOMException("cancelled", "AbortError"));
  }

  async set(id: unknown, value: unknown, signal: AbortSignal): Promise<unknown> {
    await this.#options.set(id, value, signal);
    this.#tellOptions();
    return this.#options.list();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
    this.#calls.stopOutput();
    await this.#session[Symbol.asyncDispose]();
  }

  async #command(
    { name, argument }: { name: string; argument: string },
    signal: AbortSignal,
  ): Promise<PromptAnswer> {
    const session = this.#session;
    const answer = await session.command(name, argument, signal);
    if (typeof answer === "object" && answer.type === "turn") {
      return await this.#answer(answer.parts, signal);
    }
    const text = typeof answer === "string" ? answer : answer.text;
    const isLaidOut = text.includes("\n");
    this.#messageId = crypto.randomUUID();
    this.#say(isLaidOut ? `\`\`\`\n${text}\n\`\`\`` : text);
    this.#tellOptions();
    return { stopReason: "end_turn" };
  }

  onEvent(event: SessionEvent): void {
    const folder = this.#session.agent.state.workingDir;
    switch (event.type) {
      case "status":
        return this.#onStatus(event);
      case "thinking":
        this.#messageId = crypto.randomUUID();
        return;
      case "text_delta":
        return this.#say(event.text);
      case "reasoning_delta":
        return this.#say(event.text, "agent_thought_chunk");
      case "tool_start":
        return this.#calls.start(event, folder);
      case "tool_done":
        return this.#calls.end(event.exec, folder);
      case "output":
        return this.#calls.showOutput(event.newest);
      case "session_notice":
        return this.#notice("info", noticeLines(event.notice, "editor"));
      case "job_ended":
        return this.#notice("info", [jobEnded(event.job)]);
      case "instructions":
        return this.#notice("info", instructionLines(event.instructions, "editor"));
      case "notice":
        return this.#notice(event.level, [event.message]);
      case "retry":
      case "queued":
      case "loading": {
        const line = progressLine(event);
        return this.#notice("info", line === undefined ? [] : [line]);
      }
    }
  }

  /** Asks the user in the editor. A question that the editor cancels counts as a no. */
  readonly approve = (approval: Approval, signal: AbortSignal): Promise<ApprovalAnswer> =>
    askApproval(approval, this.#session.agent.state.workingDir, this.#asking, signal);

  get #asking(): EditorSession {
    return { editor: this.editor, sessionId: this.#id, calls: this.#calls };
  }

  /** Asks about what the folder brings, with the first prompt after it was found. */
  async #askOpenQuestions(signal: AbortSignal): Promise<void> {
    for (const { question, decide } of this.#session.openQuestions()) {
      const folder = this.#session.agent.state.workingDir;
      const isYes = await askAbout(question, folder, this.#asking, signal);
      if (isYes !== undefined) await decide(isYes, signal);
    }
    this.#tellCommands();
  }

  #onStatus(status: Status): void {
    // The answer that starts a session includes all options.
    if (!this.#sent.has("config_option_update")) return;
    this.#sendNew("current_mode_update", { currentModeId: modeIn(status) });
    this.#tellOptions(status);
    this.#tellPlan(status);
    this.#tellUsage(status);
  }

  /** Sends an update that differs from the last one of its kind. */
  #sendNew(sessionUpdate: string, fields: Record<string, unknown>): void {
    const text = JSON.stringify(fields);
    if (text === this.#sent.get(sessionUpdate)) return;
    this.#sent.set(sessionUpdate, text);
    this.#update({ sessionUpdate, ...fields });
  }

  /** The model's task list. The first open step is the current one. */
  #tellPlan({ tasks }: Status): void {
    const now = tasks.findIndex(({ isDone }) => !isDone);
    const entries = tasks.map(({ text, isDone }, at) => ({
      content: text,
      priority: "medium",
      status: isDone ? "completed" : at === now ? "in_progress" : "pending",
    }));
    this.#sendNew("plan", { entries });
  }

  /** The slash commands. Skills and commands of a folder come once the user has trusted it. */
  #tellCommands(): void {
    const commands = commandsOf(this.#session).filter(({ isOfTerminal }) => !isOfTerminal);
    const availableCommands = commands.map(({ name, help: description, argument }) => ({
      name,
      description,
      ...argument !== undefined && { input: { hint: argument } },
    }));
    this.#sendNew("available_commands_update", { availableCommands });
  }

  #tellOptions(status?: Status): void {
    this.#sendNew("config_option_update", { configOptions: this.#options.list(status) });
  }

  #tellUsage({ tokens: { used, window }, cost }: Status): void {
    if (window === undefined) return;
    const amount = cost !== undefined && { cost: { amount: cost, currency: "USD" } };
    this.#sendNew("usage_update", { used, size: window, ...amount });
  }

  #title(text: string): void {
    if (this.#isTitled || text.trim() === "") return;
    this.#isTitled = true;
    const title = shortened(oneLine(text), MAX_SESSION_TITLE);
    const updatedAt = new Date().toISOString();
    this.#update({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  #say(text: string, sessionUpdate = "agent_message_chunk"): void {
    if (text === "") return;
    const content: ContentBlock = { type: "text", text };
    this.#update({ sessionUpdate, content, messageId: this.#messageId });
  }

  #notice(severity: "info" | "warning", lines: readonly string[]): void {
    if (!this.editor.accepts.notices) return;
    for (const line of lines) {
      this.#update({ sessionUpdate: "notice", severity, title: oneLine(line).replace(/^· /, "") });
    }
  }

  #update(update: Record<string, unknown>): void {
    if (this.#queued !== undefined) this.#queued.push(update);
    else this.editor.update(this.#id, update);
  }
}
