import { withUniqueIds } from "../backends/wire_values.ts";
import { BackendError } from "../errors.ts";
import type { Message, StopReason, ToolExecution, TurnEvent, TurnResult, Usage } from "../types.ts";
import type { CopilotAgent } from "./agent.ts";
import { type Answer, askModel, INTERRUPTED } from "./ask_model.ts";
import { runTools } from "./run_tools.ts";

/** Options of {@linkcode processTurn}. */
export interface TurnOptions {
  /** Told of progress as it happens; what it throws is dropped. */
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /**
   * What to wait for before more of an answer is read, if anything: for whoever shows it more slowly
   * than it comes.
   */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** Ends the turn: it returns with `stopReason: "aborted"`. */
  signal?: AbortSignal | undefined;
}

const running = new WeakSet<CopilotAgent>();

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
  if (running.has(agent)) {
    throw new TypeError("Cannot process a turn as the agent is still busy with the one before");
  }
  running.add(agent);
  try {
    return await new Turn(agent, options).run(userInput);
  } finally {
    running.delete(agent);
  }
}

class Turn {
  readonly #agent: CopilotAgent;
  readonly #signal: AbortSignal;
  readonly #ready: TurnOptions["ready"];
  readonly #onEvent: ((event: TurnEvent) => void) | undefined;
  readonly #executions: ToolExecution[] = [];
  #inputTokens = 0;
  #outputTokens = 0;

  constructor(agent: CopilotAgent, options: TurnOptions) {
    this.#agent = agent;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#ready = options.ready;
    this.#onEvent = options.onEvent;
  }

  async run(userInput: string): Promise<TurnResult> {
    const { messages } = this.#agent.state;
    const { maxToolRounds } = this.#agent.config;
    const before = messages.length;
    messages.push({ role: "user", content: userInput.toWellFormed() });
    for (let round = 0;; round++) {
      let answer: Answer;
      try {
        answer = await this.#ask();
      } catch (error) {
        this.#recordFailure(error, before);
        throw error;
      }
      messages.push(answer.message);
      const calls = answer.message.toolCalls ?? [];
      if (answer.stopReason !== undefined || calls.length === 0) {
        return this.#result(answer.message.content, answer.stopReason ?? "done");
      }
      if (round === maxToolRounds) {
        const text = `Stopped after ${maxToolRounds} rounds of tool calls.`;
        for (const call of calls) {
          messages.push(toolMessage(call.id, call.name, `${text} The call was not run.`, true));
        }
        messages.push({ role: "assistant", content: `[${text}]` });
        this.#notice("warning", `${text} Say "go on" to continue.`);
        return this.#result(answer.message.content || `[${text}]`, "max_rounds");
      }
      await this.#runCalls(answer.message);
      if (this.#signal.aborted) {
        messages.push({ role: "assistant", content: INTERRUPTED });
        return this.#result(answer.message.content || INTERRUPTED, "aborted");
      }
    }
  }

  async #ask(): Promise<Answer> {
    const agent = this.#agent;
    this.#emit({ type: "thinking" });
    const answer = await askModel(agent, {
      signal: this.#signal,
      ready: this.#ready,
      emit: (event) => this.#emit(event),
    });
    if (answer.usage) this.#count(answer.usage);
    const { message } = answer;
    if (message.toolCalls) {
      // Servers number from 0 again in each answer.
      const used = agent.state.messages.flatMap((m) => m.toolCalls?.map(({ id }) => id) ?? []);
      message.toolCalls = withUniqueIds(message.toolCalls, used);
    }
    for (const call of message.toolCalls ?? []) {
      if (call.recovered) {
        this.#emit({ type: "tool_call_recovered", name: call.name, id: call.id });
      }
    }
    return answer;
  }

  async #runCalls(message: Message): Promise<void> {
    const { tools, policy, config, state } = this.#agent;
    const executions = await runTools(message.toolCalls ?? [], {
      tools,
      policy,
      context: {
        workingDir: state.workingDir,
        maxOutputChars: config.maxOutputChars,
        seenFiles: state.seenFiles,
        signal: this.#signal,
      },
      emit: (event) => this.#emit(event),
    });
    for (const execution of executions) {
      const { toolCallId, toolName, result, isError } = execution;
      state.messages.push(toolMessage(toolCallId, toolName, result, isError));
      this.#executions.push(execution);
    }
  }

  /**
   * After a failure: a turn in which the model said nothing leaves no trace, else what it said and
   * did stays, closed by a note, as some chat templates refuse a user message after a tool result.
   */
  #recordFailure(error: unknown, before: number): void {
    const { messages } = this.#agent.state;
    const partial = error instanceof BackendError ? error.partialText : "";
    if (messages.length === before + 1 && partial === "") {
      messages.length = before;
      return;
    }
    const reason = error instanceof Error ? error.message : String(error);
    const note = `[The answer broke off: ${reason}]`;
    messages.push({ role: "assistant", content: partial ? `${partial}\n\n${note}` : note });
  }

  #count(usage: Usage): void {
    const { state } = this.#agent;
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    state.inputTokens += usage.inputTokens;
    state.outputTokens += usage.outputTokens;
    this.#emit({ type: "usage", usage });
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
