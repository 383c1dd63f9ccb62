import { withUniqueIds } from "../models/wire_values.ts";
import { BackendError } from "../errors.ts";
import { targetOf } from "../models/target.ts";
import {
  identify,
  inputParts,
  newMessageId,
  notePart,
  typedText,
  userMessage,
} from "../text/parts.ts";
import { count } from "../text/count.ts";
import { reasonOf } from "../text/reason.ts";
import { jobEndNote } from "../tools/shell/jobs.ts";
import type { StopReason, ToolExecution, TurnEvent, TurnResult, Usage } from "../types/event.ts";
import type { Message, Part, ToolCall } from "../types/message.ts";
import type { Job, JsonSchema, NewestOutput } from "../types/tool.ts";
import { type CopilotAgent, memoryOf } from "./agent.ts";
import { askModel } from "./ask_model.ts";
import { loopGuard } from "./loop_guard.ts";
import { interruption, type ModelAnswer } from "./model_answer.ts";
import { readCall, runTools } from "./run_tools.ts";
import {
  addTokens,
  isOverLimit,
  learnFromRefusal,
  learnFromUsage,
  promptLimit,
  requestTokens,
} from "./tokens.ts";
import { UNFOUNDED_QUESTIONS, unfoundedIn } from "./unfounded.ts";
import { readJsonAnswer, schemaNote, schemaReminder } from "./answer_schema.ts";
import { type CompactOptions, makeRoom } from "./compact.ts";

/** Options of {@linkcode processTurn}. */
export interface TurnOptions {
  /** Called with each event as it happens. Its errors are dropped. */
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Returns a promise to wait for before more is read, for a frontend that shows it more slowly. */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** Called with a function that returns the newest lines of a running command's output; see `ToolContext`. */
  onOutput?: ((newest: NewestOutput) => void) | undefined;
  /** The schema of the final answer, which must be JSON. Without it, the answer is any text. */
  answerSchema?: JsonSchema | undefined;
  /** The maximum number of rounds of tool calls; by default the agent's `maxToolRounds`. */
  maxToolRounds?: number | undefined;
  /** Returns the messages that the user sent since the last request. The next request has them after the results. */
  steering?: (() => Promise<readonly (readonly Part[])[]>) | undefined;
  /** Returns true if nothing may be changed, as in plan mode. */
  isReadOnly?: (() => boolean | Promise<boolean>) | undefined;
  /** Has another agent write the summaries that make room. */
  summarizer?: CompactOptions["summarizer"];
  /** Ends the turn, which returns with `stopReason: "aborted"`. */
  signal?: AbortSignal | undefined;
}

/**
 * Processes one turn: sends `userInput`, runs the tools that the model requests, and returns the final answer
 * (spec 4.2). The conversation is in `agent.state.messages`. However the turn ends, a server accepts it: every
 * call has a result.
 *
 * @param userInput The text, or the parts of the message.
 * @throws {TypeError} if `userInput` has neither text nor images, or the agent is busy with another turn.
 * @throws {BackendError} if the model server fails. If it failed before the model said anything, the conversation
 * is unchanged.
 */
export async function processTurn(
  agent: CopilotAgent,
  userInput: string | readonly Part[],
  options: TurnOptions = {},
): Promise<TurnResult> {
  const { content, parts } = userMessage(userInput);
  if (content.trim() === "" && !parts?.some(({ type }) => type === "image")) {
    throw new TypeError("Cannot process a turn as its text is empty");
  }
  return await memoryOf(agent).exclusively(
    "process a turn",
    () => new Turn(agent, options).run(userInput),
  );
}

/** After this many calls that were read from text, a notice says how the server could parse them. */
const MIN_RECOVERED_CALLS = 2;
const PARSE_NATIVELY =
  "this model's tool calls come as text, and are read from there; a server that knows its template reads them itself: llama-server --jinja, vllm serve --enable-auto-tool-choice --tool-call-parser NAME, or in Ollama a model tagged tools";

/** The maximum number of requests for one answer if a server refuses them as too long. */
const MAX_FITTINGS = 3;
/** The maximum number of times that an answer is asked for again while no call works. */
const MAX_ASKED_AGAIN = 3;
/**
 * How often an answer that does not match the schema is asked for again. The first answer may have any form, because
 * calls may precede it; the server enforces the schema for the next ones.
 */
const MAX_SCHEMA_RETRIES = 2;

class Turn {
  readonly #signal: AbortSignal;
  readonly #executions: ToolExecution[] = [];
  readonly #loop = loopGuard();
  /** The jobs whose end the newest message reports. */
  #reportedJobs: readonly Job[] = [];
  #rounds = 0;
  /** How often an answer was asked for again since a call last worked. */
  #retries = 0;
  /** The number of calls before each claim that was questioned. */
  readonly #claims = new Set<number>();
  /** The start of an answer without calls whose connection broke. */
  #partialAnswer = "";
  /** False if the next answer should come without thinking. */
  #thinks = true;
  /** How often the final answer was asked for again because it did not match the schema. */
  #schemaRetries = 0;
  /** The user's messages of this turn, as typed. */
  #request = "";
  /** Why calls of the newest answer have no single reading, by their ids. */
  #errors: ReadonlyMap<string, string | undefined> = new Map();
  readonly #tokens = { inputTokens: 0, outputTokens: 0 };

  constructor(private readonly agent: CopilotAgent, private readonly options: TurnOptions) {
    this.#signal = options.signal ?? new AbortController().signal;
  }

  get #maxRounds(): number {
    return this.options.maxToolRounds ?? this.agent.config.maxToolRounds;
  }

  async run(userInput: string | readonly Part[]): Promise<TurnResult> {
    identify(this.agent.state.messages);
    const { answerSchema } = this.options;
    const notes = [...this.#jobEndNotes(), ...answerSchema ? [schemaNote(answerSchema)] : []];
    const parts = [...inputParts(userInput), ...notes.map((text) => notePart(text))];
    const message = this.#add(userMessage(parts));
    this.#request = typedText(message);
    try {
      let result: TurnResult | undefined;
      while (!result) result = await this.step();
      if (result.stopReason === "aborted") this.#dropAttachments(message);
      return result;
    } catch (error) {
      this.#recordFailure(error, message);
      throw error;
    }
  }

  /** Removes the attached files of a message that the user cancelled before an answer. */
  #dropAttachments(message: Message): void {
    const { messages } = this.agent.state;
    const [before, last] = messages.slice(-2);
    if (before !== message || last?.standsFor !== "interruption" || !message.parts) return;
    const isAttached = (part: Part) =>
      part.type === "resource" && (part.kind === "file" || part.kind === "folder");
    const words = userMessage(message.parts.filter((part) => !isAttached(part)));
    messages.splice(-2, 1, { ...words, id: newMessageId() });
  }

  /** Runs one request and its calls. Returns the turn's result if it ends with them. */
  private async step(): Promise<TurnResult | undefined> {
    const { message, stopReason, askAgain, isOverthought, isBroken } = await this.#answer();
    this.#thinks = !isOverthought;
    this.#add(message);
    if (askAgain) {
      if (isBroken) this.#partialAnswer += message.content;
      this.#retries += isOverthought || isBroken ? MAX_ASKED_AGAIN : 1;
      this.#add(askAgain);
      return undefined;
    }
    if (stopReason !== undefined || !message.toolCalls?.length) {
      const { answerSchema } = this.options;
      if (answerSchema && (stopReason === undefined || this.#canEnforce(stopReason))) {
        return this.#finalAnswer(message, answerSchema);
      }
      if (stopReason === undefined && await this.#isUnfounded(message)) return undefined;
      return this.#resultOf(message, stopReason ?? "done");
    }
    if (this.#rounds++ === this.#maxRounds) return this.#outOfRounds(message);
    return await this.#runCalls(message);
  }

  /** Asks for the change that an answer claims in a turn that made no change, or for the step that it announces. */
  async #isUnfounded({ content: answer, standsFor }: Message): Promise<boolean> {
    if (standsFor !== undefined || this.#retries >= MAX_ASKED_AGAIN) return false;
    const [request, executions, { tools }] = [this.#request, this.#executions, this.agent];
    const said = { answer, request, executions, tools };
    // Reading the mode takes longer than reading the answer.
    if (!unfoundedIn({ ...said, isReadOnly: false })) return false;
    const isReadOnly = await this.options.isReadOnly?.() === true;
    const kind = unfoundedIn({ ...said, isReadOnly });
    if (kind === undefined) return false;
    if (kind === "claim") {
      if (this.#claims.has(executions.length) || this.#claims.size === MAX_ASKED_AGAIN) {
        return false;
      }
      this.#claims.add(executions.length);
    }
    this.#retries++;
    const what = kind === "claim"
      ? "The answer claims a change that was not made: the model is asked once more."
      : "The answer announces a step without a call: the model is asked once more.";
    this.#notice("info", "asked_again", what);
    this.#add({ role: "user", content: UNFOUNDED_QUESTIONS[kind], standsFor: "reminder" });
    return true;
  }

  /** True for an endless answer of any form, which the server's grammar will end in the next request. */
  #canEnforce(stopReason: StopReason): boolean {
    const isEndless = stopReason === "budget" || stopReason === "loop";
    return isEndless && this.#schemaRetries === 0 && this.agent.backend.hasGrammar;
  }

  /** Returns the turn's result if the final answer matches. Otherwise asks for it again, up to a limit. */
  #finalAnswer(message: Message, schema: JsonSchema): TurnResult | undefined {
    const end = message.standsFor === "empty_answer" ? "" : message.content;
    const answer = this.#partialAnswer + end;
    this.#partialAnswer = "";
    const read = readJsonAnswer(schema, answer);
    if ("json" in read) return this.#result(read.json, "done");
    const { objection } = read;
    if (this.#schemaRetries === MAX_SCHEMA_RETRIES) {
      return { ...this.#result(answer || message.content, "done"), objection };
    }
    this.#schemaRetries++;
    const again = `The answer does not match the schema (${objection}): it is asked for again.`;
    this.#notice("info", "answer_form", again);
    this.#add({ role: "user", content: schemaReminder(schema, objection), standsFor: "reminder" });
    return undefined;
  }

  #add(message: Message): Message {
    message.id ??= newMessageId();
    this.agent.state.messages.push(message);
    return message;
  }

  /** Returns the answer to the conversation, which is shortened if necessary. */
  async #answer(): Promise<ModelAnswer> {
    let answer: ModelAnswer;
    try {
      if (await isOverLimit(this.agent, this.#signal)) await this.#makeRoom();
      answer = await this.#sendFitting();
    } catch (error) {
      if (!this.#signal.aborted) throw error;
      return { message: interruption(), stopReason: "aborted" };
    }
    if (answer.usage) this.#measure(answer.usage);
    this.#readCalls(answer.message);
    return answer;
  }

  /** Sends the conversation. If the server refuses it as too long, it is shortened and sent again. */
  async #sendFitting(): Promise<ModelAnswer> {
    for (let tries = 1;; tries++) {
      try {
        return await this.#send();
      } catch (error) {
        const isTooLong = error instanceof BackendError && error.kind === "context_too_long";
        if (!isTooLong || tries === MAX_FITTINGS) throw error;
        const isFitting = learnFromRefusal(this.agent, error.contextTokens);
        if (!isFitting && !await this.#makeRoom()) throw error;
      }
    }
  }

  #send(): Promise<ModelAnswer> {
    this.#emit({ type: "thinking" });
    return askModel(this.agent, {
      answerSchema: this.#schemaRetries > 0 ? this.options.answerSchema : undefined,
      signal: this.#signal,
      mayAskAgain: this.#retries < MAX_ASKED_AGAIN,
      thinks: this.#thinks,
      ready: this.options.ready,
      emit: this.#emit,
    });
  }

  /** Gives calls unique ids, because servers number from 0 again, and reports calls that were read from text. */
  #readCalls(message: Message): void {
    if (!message.toolCalls) return;
    const { config, state, tools } = this.agent;
    // Repaired here, so that the conversation shows the model its calls as they should have been.
    const reads = message.toolCalls.map((call) => readCall(call, tools, state.workingDir));
    const calls = reads.map(({ call }) => call);
    const earlier = state.messages.flatMap(({ toolCalls = [] }) => toolCalls);
    message.toolCalls = withUniqueIds(calls, earlier.map(({ id }) => id));
    this.#errors = new Map(message.toolCalls.map(({ id }, i) => [id, reads[i]!.error]));
    const recovered = message.toolCalls.filter(isRecovered);
    if (recovered.length === 0) return;
    for (const { name, id } of recovered) this.#emit({ type: "tool_call_recovered", name, id });
    const isMeant = targetOf(config).textTools === true;
    const before = earlier.filter(isRecovered).length;
    const isEnough = before + recovered.length >= MIN_RECOVERED_CALLS;
    if (!isMeant && before < MIN_RECOVERED_CALLS && isEnough) {
      this.#notice("info", "calls_in_text", PARSE_NATIVELY);
    }
  }

  /** Shortens the conversation; false if that is impossible. */
  async #makeRoom(): Promise<boolean> {
    const count = (usage: Usage) => this.#count(usage);
    const { summarizer } = this.options;
    const options = { signal: this.#signal, emit: this.#emit, count, summarizer };
    return await makeRoom(this.agent, options) !== null;
  }

  /** Returns the calls of an answer. A call that may be only an example is certain once it is repeated. */
  #callsToRun(answer: Message): ToolCall[] {
    const { toolCalls: calls = [] } = answer;
    if (!calls.some(({ mayBeShown }) => mayBeShown)) return calls;
    const earlier = this.agent.state.messages.filter((message) => message !== answer)
      .flatMap(({ toolCalls = [] }) => toolCalls.filter(({ mayBeShown }) => mayBeShown));
    const keyOf = ({ name, arguments: args }: ToolCall) => JSON.stringify([name, args]);
    const known = new Set(earlier.map(keyOf));
    return calls.map((call) =>
      call.mayBeShown && known.has(keyOf(call)) ? { ...call, mayBeShown: false } : call
    );
  }

  /** Runs the calls of an answer. Returns the turn's result if it ends with them. */
  async #runCalls(answer: Message): Promise<TurnResult | undefined> {
    const { tools, policy } = this.agent;
    const { onOutput } = this.options;
    this.#partialAnswer = "";
    const context = this.agent.toolContext(this.#signal);
    // As many characters as the prompt may have tokens: about a quarter of it.
    context.maxOutputChars = Math.min(context.maxOutputChars, promptLimit(this.agent) ?? Infinity);
    context.request = this.#request;
    if (onOutput) context.onOutput = onOutput;
    const options = { tools, policy, context, errors: this.#errors, emit: this.#emit };
    const executions = await runTools(this.#callsToRun(answer), options);
    this.#executions.push(...executions);
    if (executions.some(({ isError }) => !isError)) this.#retries = 0;
    for (const { details } of executions) {
      if (details?.usage) addTokens(details.usage, this.#tokens);
    }
    for (const outcome of ["done", "failed"]) {
      for (const one of executions) if (one.outcome === outcome) await this.#appendNotes(one);
    }
    const isAborted = this.#signal.aborted;
    const loop = isAborted ? undefined : this.#loop(answer.content, executions);
    if (!isAborted && !loop?.isOver) {
      const news = this.#jobEndNotes().map((text) => `\n\n${text}`);
      executions.at(-1)!.result += [loop?.nudge ?? "", ...news].join("");
    }
    for (const execution of executions) {
      // A forwarded call is answered under the name that the model used.
      const call = answer.toolCalls!.find(({ id }) => id === execution.toolCallId);
      this.#add(this.#toolMessage({ ...execution, toolName: call?.name ?? execution.toolName }));
    }
    if (isAborted) return this.#stopped(answer, interruption(), "aborted");
    if (!loop?.isOver) {
      for (const parts of await this.options.steering?.() ?? []) {
        this.#request += `\n\n${typedText(this.#add(userMessage(parts)))}`;
      }
      return undefined;
    }
    const text = `Stopped: ${loop.why}.`;
    const isRefused = executions.every(({ outcome }) => outcome === "refused");
    const other = isRefused ? "allow the calls" : "use another model";
    this.#notice("warning", "loop", `${text} Give other instructions, or ${other}.`);
    return this.#stopped(answer, endOfTurn(text), "loop");
  }

  /** Appends what extensions say about a call to its result. */
  async #appendNotes(execution: ToolExecution): Promise<void> {
    const { afterCall } = this.agent;
    if (afterCall === undefined || this.#signal.aborted) return;
    try {
      execution.result += await afterCall(execution, this.#signal) ?? "";
    } catch (error) {
      // After an abort, the result is unchanged.
      if (!this.#signal.aborted) throw error;
    }
  }

  #toolMessage(execution: ToolExecution): Message {
    const { toolCallId, toolName, result, images, isError, outcome, details } = execution;
    const hasRun = outcome !== "refused" && outcome !== "not_run";
    const tool = hasRun && this.agent.tools.find(({ name }) => name === toolName);
    const message: Message = toolResult({ id: toolCallId, name: toolName }, result, isError);
    const { skill: name } = details ?? {};
    if (images) message.parts = images;
    if (name !== undefined) {
      message.parts = [{ type: "resource", kind: "skill", name, text: result }];
    }
    if (!tool) return message;
    // Commands of a sub-agent count for its call, because they cannot be undone either.
    const ran = (details?.calls ?? []).filter((call) => call.outcome === "done");
    const isCommand = ran.some((call) =>
      this.agent.tools.some(({ name, access }) => name === call.toolName && access === "execute")
    );
    return { ...message, toolAccess: isCommand ? "execute" : tool.access };
  }

  #outOfRounds(answer: Message): TurnResult {
    const text = `Stopped after ${count(this.#maxRounds, "round")} of tool calls.`;
    for (const call of answer.toolCalls ?? []) {
      this.#add(toolResult(call, `${text} The call was not run.`, true));
    }
    this.#notice("warning", "max_rounds", text);
    return this.#stopped(answer, endOfTurn(text), "max_rounds");
  }

  /** Ends the turn with a note after the results: some chat templates refuse a user message after a result. */
  #stopped(answer: Message, note: Message, stopReason: StopReason): TurnResult {
    this.#add(note);
    return this.#resultOf(answer.content === "" ? note : answer, stopReason);
  }

  /** Removes the message of a failed turn in which the model said nothing; otherwise ends the turn with a note. */
  #recordFailure(error: unknown, message: Message): void {
    const { messages } = this.agent.state;
    const partial = error instanceof BackendError ? error.partialText : "";
    if (messages.at(-1) === message && partial === "") {
      messages.pop();
      for (const job of this.#reportedJobs) job.isReported = false;
      return;
    }
    const reason = reasonOf(error);
    const note = endOfTurn(`The answer broke off: ${reason}`);
    const said: Message = { role: "assistant", content: `${partial}\n\n${note.content}` };
    this.#add(partial === "" ? note : said);
  }

  /** Counts tokens, and reports a server that read only a part of the request. */
  #measure(usage: Usage): void {
    const tokens = requestTokens(this.agent);
    if (learnFromUsage(this.agent, usage)) {
      const what =
        `The server read only ${usage.inputTokens} of about ${tokens} tokens and left out the rest ` +
        "without a word: its context is too small. The conversation is kept within that from now " +
        "on. Give the model more: by the setting context-length, or where the server is started.";
      this.#notice("warning", "prompt_cut", what);
    }
    this.#count(usage);
  }

  #count(usage: Usage): void {
    addTokens(usage, this.#tokens, this.agent.state);
    this.#emit({ type: "usage", usage });
  }

  /** Returns a note for each job that ended since the last message. */
  #jobEndNotes(): string[] {
    const ended = this.agent.jobs?.list.filter((job) => !job.isReported && job.outcome) ?? [];
    this.#reportedJobs = ended;
    for (const job of ended) job.isReported = true;
    return ended.map(jobEndNote);
  }

  #notice(level: "info" | "warning", code: string, message: string): void {
    this.#emit({ type: "notice", level, code, message });
  }

  /** An error of the callback is dropped, as TurnOptions documents. */
  readonly #emit = (event: TurnEvent): void => {
    try {
      const result: unknown = this.options.onEvent?.(event);
      if (result instanceof Promise) result.catch(() => {});
    } catch { /* dropped */ }
  };

  #resultOf({ content, standsFor }: Message, stopReason: StopReason): TurnResult {
    return { ...this.#result(content, stopReason), ...standsFor && { isUnanswered: true } };
  }

  #result(response: string, stopReason: StopReason): TurnResult {
    return {
      response: this.#partialAnswer + response,
      toolExecutions: this.#executions,
      ...this.#tokens,
      stopReason,
    };
  }
}

function toolResult(
  call: Pick<ToolCall, "id" | "name">,
  text: string,
  isError: boolean,
): Message {
  const about = { role: "tool", toolCallId: call.id, toolName: call.name } as const;
  return { ...about, content: text, ...(isError && { isError }) };
}

function endOfTurn(text: string): Message {
  return { role: "assistant", content: `[${text}]`, standsFor: "end_of_turn" };
}

const isRecovered = ({ recovered }: ToolCall): boolean => recovered === true;
