import { withUniqueIds } from "../backends/wire_values.ts";
import { BackendError } from "../errors.ts";
import { targetOf } from "../model_target.ts";
import { shortCommand } from "../tools/shell/jobs.ts";
import type { StopReason, ToolExecution, TurnEvent, TurnResult, Usage } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { Job } from "../types/tool.ts";
import type { CopilotAgent } from "./agent.ts";
import { type Answer, ASK_AGAIN, askModel, INTERRUPTED } from "./ask_model.ts";
import { exclusively } from "./busy.ts";
import { loopGuard } from "./loop_guard.ts";
import { runTools } from "./run_tools.ts";
import { learnFromUsage, promptLimit, requestTokens } from "./tokens.ts";

/** Options of {@linkcode processTurn}. */
export interface TurnOptions {
  /** Told of progress as it happens; what it throws is dropped. */
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /**
   * What to wait for before more of an answer is read, if anything: for whoever shows it more slowly
   * than it comes.
   */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** Given what looks up the newest line that a running command printed; see `ToolContext`. */
  onOutput?: ((newest: () => string) => void) | undefined;
  /** Ends the turn: it returns with `stopReason: "aborted"`. */
  signal?: AbortSignal | undefined;
}

/**
 * Processes one turn: sends `userInput`, runs the tools that the model asks for, and returns the
 * final answer (spec 4.2). The conversation is kept in `agent.state.messages`; it is one that a
 * server accepts however the turn ends, with a result for every call.
 *
 * @throws {TypeError} when `userInput` is empty, or the agent is still busy with another turn.
 * @throws {BackendError} when the model server fails. If it failed before the model said anything,
 * the conversation is as it was before the turn.
 */
export async function processTurn(
  agent: CopilotAgent,
  userInput: string,
  options: TurnOptions = {},
): Promise<TurnResult> {
  if (userInput.trim() === "") throw new TypeError("Cannot process a turn as its text is empty");
  return await exclusively(agent, "process a turn", () => new Turn(agent, options).run(userInput));
}

/** Once so many calls were read from text, the server is worth a word. */
const TELLING_RECOVERIES = 2;
const PARSE_NATIVELY =
  "this model's tool calls come as text, and are read from there; a server that knows its template reads them itself: llama-server --jinja, vllm serve --enable-auto-tool-choice --tool-call-parser NAME, or in Ollama a model tagged tools";

function recoveredIn(messages: readonly Message[]): ToolCall[] {
  return messages.flatMap(({ toolCalls = [] }) => toolCalls.filter((call) => call.recovered));
}

class Turn {
  readonly #agent: CopilotAgent;
  readonly #signal: AbortSignal;
  readonly #ready: TurnOptions["ready"];
  readonly #onOutput: TurnOptions["onOutput"];
  readonly #onEvent: ((event: TurnEvent) => void) | undefined;
  readonly #executions: ToolExecution[] = [];
  readonly #loop = loopGuard();
  /** The jobs whose end the newest message tells of. */
  #told: readonly Job[] = [];
  #inputTokens = 0;
  #outputTokens = 0;

  constructor(agent: CopilotAgent, options: TurnOptions) {
    this.#agent = agent;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#ready = options.ready;
    this.#onOutput = options.onOutput;
    this.#onEvent = options.onEvent;
  }

  async run(userInput: string): Promise<TurnResult> {
    const { messages } = this.#agent.state;
    const { maxToolRounds } = this.#agent.config;
    const asked: Message = { role: "user", content: userInput.toWellFormed() + this.#news() };
    messages.push(asked);
    let wasAskedAgain = false;
    for (let round = 0;; round++) {
      let answer: Answer;
      try {
        answer = await this.#ask(!wasAskedAgain);
      } catch (error) {
        this.#recordFailure(error, asked);
        throw error;
      }
      messages.push(answer.message);
      if (answer.askAgain) {
        wasAskedAgain = true;
        messages.push({ role: "user", content: ASK_AGAIN });
        round--; // it called nothing
        continue;
      }
      const calls = answer.message.toolCalls ?? [];
      if (answer.stopReason !== undefined || calls.length === 0) {
        return this.#result(answer.message.content, answer.stopReason ?? "done");
      }
      if (round === maxToolRounds) {
        const text = `Stopped after ${maxToolRounds} rounds of tool calls.`;
        for (const call of calls) {
          messages.push(toolMessage(call.id, call.name, `${text} The call was not run.`, true));
        }
        this.#notice("warning", `${text} Say "go on" to continue.`);
        return this.#stopped(answer.message, `[${text}]`, "max_rounds");
      }
      const executions = await this.#runCalls(answer.message);
      if (this.#signal.aborted) return this.#stopped(answer.message, INTERRUPTED, "aborted");
      const loop = this.#loop(answer.message.content, executions);
      if (loop?.isOver) {
        const text = `Stopped: the same call gave the same result ${loop.times} times in a row.`;
        this.#notice("warning", `${text} Say what to do instead, or use another model.`);
        return this.#stopped(answer.message, `[${text}]`, "loop");
      }
      const added = (loop?.nudge ?? "") + this.#news();
      if (added !== "") executions.at(-1)!.result = messages.at(-1)!.content += added;
    }
  }

  /** Ends the turn after results, by a note: some chat templates refuse a user message after one. */
  #stopped({ content }: Message, note: string, stopReason: StopReason): TurnResult {
    this.#agent.state.messages.push({ role: "assistant", content: note });
    return this.#result(content || note, stopReason);
  }

  async #ask(mayAskAgain: boolean): Promise<Answer> {
    const agent = this.#agent;
    let answer: Answer;
    try {
      const limit = promptLimit(agent);
      if (limit !== undefined && requestTokens(agent) > limit) await this.#makeRoom();
      answer = await this.#send(mayAskAgain).catch(async (error) => {
        const isTooLong = error instanceof BackendError && error.kind === "context_too_long";
        if (!isTooLong || !await this.#makeRoom(error)) throw error;
        return await this.#send(mayAskAgain);
      });
    } catch (error) {
      if (!this.#signal.aborted) throw error;
      return { message: { role: "assistant", content: INTERRUPTED }, stopReason: "aborted" };
    }
    if (answer.usage) this.#measure(answer.usage);
    const { message } = answer;
    if (message.toolCalls) {
      // Servers number from 0 again in each answer.
      const used = agent.state.messages.flatMap((m) => m.toolCalls?.map(({ id }) => id) ?? []);
      message.toolCalls = withUniqueIds(message.toolCalls, used);
    }
    const recovered = recoveredIn([message]);
    for (const { name, id } of recovered) this.#emit({ type: "tool_call_recovered", name, id });
    const before = recoveredIn(agent.state.messages).length;
    const { textTools } = targetOf(agent.config);
    if (
      !textTools && before < TELLING_RECOVERIES && before + recovered.length >= TELLING_RECOVERIES
    ) {
      this.#notice("info", PARSE_NATIVELY);
    }
    return answer;
  }

  #send(mayAskAgain: boolean): Promise<Answer> {
    this.#emit({ type: "thinking" });
    return askModel(this.#agent, {
      signal: this.#signal,
      mayAskAgain,
      ready: this.#ready,
      emit: (event) => this.#emit(event),
    });
  }

  /** Makes the conversation shorter; false where it can not be. Loaded when it is needed. */
  async #makeRoom(refusal?: BackendError): Promise<boolean> {
    const { makeRoom } = await import("./compact.ts");
    const done = await makeRoom(this.#agent, {
      signal: this.#signal,
      emit: (event) => this.#emit(event),
      count: (usage) => this.#count(usage),
      refusal,
    });
    return done !== null;
  }

  async #runCalls(message: Message): Promise<ToolExecution[]> {
    const { tools, policy, state } = this.#agent;
    const executions = await runTools(message.toolCalls ?? [], {
      tools,
      policy,
      context: {
        ...this.#agent.toolContext(this.#signal),
        ...(this.#onOutput && { onOutput: this.#onOutput }),
      },
      emit: (event) => this.#emit(event),
    });
    for (const execution of executions) {
      const { toolCallId, toolName, result, isError } = execution;
      state.messages.push(toolMessage(toolCallId, toolName, result, isError));
      this.#executions.push(execution);
    }
    return executions;
  }

  /**
   * After a failure: a turn in which the model said nothing leaves no trace, else what it said and
   * did stays, closed by a note, as some chat templates refuse a user message after a tool result.
   */
  #recordFailure(error: unknown, asked: Message): void {
    const { messages } = this.#agent.state;
    const partial = error instanceof BackendError ? error.partialText : "";
    if (messages.at(-1) === asked && partial === "") {
      messages.pop();
      for (const job of this.#told) job.isTold = false;
      return;
    }
    const reason = error instanceof Error ? error.message : String(error);
    const note = `[The answer broke off: ${reason}]`;
    messages.push({ role: "assistant", content: partial ? `${partial}\n\n${note}` : note });
  }

  /** Counts, and tells of a server that read only a part of the request. */
  #measure(usage: Usage): void {
    const agent = this.#agent;
    const tokens = requestTokens(agent);
    if (learnFromUsage(agent, usage)) {
      this.#notice(
        "warning",
        `The server read only ${usage.inputTokens} of about ${tokens} tokens and left out the rest ` +
          "without a word: its context is too small. The conversation is kept within that from now " +
          "on. Give the model more with --context-length, or where the server is started.",
      );
    }
    this.#count(usage);
  }

  #count(usage: Usage): void {
    const { state } = this.#agent;
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    state.inputTokens += usage.inputTokens;
    state.outputTokens += usage.outputTokens;
    this.#emit({ type: "usage", usage });
  }

  /** Which jobs have ended since the model last heard of them. */
  #news(): string {
    const ended = this.#agent.jobs?.list.filter((job) => !job.isTold && job.outcome) ?? [];
    this.#told = ended;
    return ended.map((job) => {
      job.isTold = true;
      return `\n\n[Job ${job.number} is over (${
        shortCommand(job)
      }): ${job.outcome}. job_output shows what it printed.]`;
    }).join("");
  }

  #notice(level: "info" | "warning", message: string): void {
    this.#emit({ type: "notice", level, message });
  }

  #emit(event: TurnEvent): void {
    // What the caller's callback throws, at once or later, is dropped: documented on TurnOptions.
    try {
      const result: unknown = this.#onEvent?.(event);
      if (result instanceof Promise) result.catch(() => {});
    } catch {
      // see above
    }
  }

  #result(response: string, stopReason: StopReason): TurnResult {
    return {
      response,
      toolExecutions: this.#executions,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      stopReason,
    };
  }
}

function toolMessage(id: string, name: string, content: string, isError: boolean): Message {
  return { role: "tool", toolCallId: id, toolName: name, content, ...(isError && { isError }) };
}
