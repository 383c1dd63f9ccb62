/** One request to the model, and its answer. @module */

import type { CallOptions, Delta, Reply } from "../backends/backend.ts";
import { namesAndSchemas } from "../backends/reply.ts";
import { BackendError } from "../errors.ts";
import { notePart, textOfParts, withoutImages } from "../text/parts.ts";
import { HIDDEN_CYCLE, RepetitionWatcher } from "../text/repetition.ts";
import { isBlank } from "../text/think.ts";
import { extractToolCallsFromText } from "../toolcalls/extract.ts";
import { isProposal } from "../toolcalls/proposal.ts";
import type { StopReason, TurnEvent, Usage } from "../types/event.ts";
import type { Message, Part } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { endingWith } from "../wire/wait.ts";
import type { CopilotAgent } from "./agent.ts";
import { AnswerStream } from "./answer_stream.ts";
import { answerRoom } from "./tokens.ts";

export interface ModelAnswer {
  /** The assistant's message, as it goes into the conversation; its content is never blank. */
  message: Message;
  usage?: Usage | undefined;
  /** Set when the turn ends here, whatever the message asks for. */
  stopReason?: StopReason;
  /** True where the answer came whole: what cannot be read in it was not cut off. */
  isWhole?: boolean;
  /** Asks once more for an answer that did not come; to be added to the conversation. */
  askAgain?: Message;
}

/** Stand in for an answer without text and calls, and where the person stopped the model. */
const NO_ANSWER = "[The model gave no answer]";
const INTERRUPTED_NOTE = "[Interrupted by the user]";
const ASK_AGAIN =
  "[You gave no answer. Say what you found out, or call the next tool, without thinking it over again.]";

const CALL_AGAIN =
  '[Your answer did not arrive: the server could not read it. If it was a call, write it again; its arguments must be one valid JSON object, such as {"path": "src"}.]';
/** An answer of fewer tokens that holds nothing is an empty one: an end, or a tag. */
const MIN_SWALLOWED = 8;

/** A message that asks for the answer that did not come; in the person's place, as roles alternate. */
function reminder(content: string): Message {
  return { role: "user", content, standsFor: "reminder" };
}

/** The message of an answer that the person stopped, with what there was of it and a note, as parts. */
export function interruption(text = ""): Message {
  if (text.trim() === "") {
    return { role: "assistant", content: INTERRUPTED_NOTE, standsFor: "interruption" };
  }
  const parts: Part[] = [{ type: "text", text: text.trimEnd() }, notePart(INTERRUPTED_NOTE)];
  return { role: "assistant", content: textOfParts(parts), parts };
}

interface AskOptions extends Pick<CallOptions, "ready" | "form"> {
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /**
   * True to report an answer without text and calls, or one that the server kept, as `askAgain`, and to
   * ask again where the connection breaks off amid a call: false.
   */
  mayAskAgain?: boolean;
  /** The tools to offer: the agent's. */
  tools?: readonly Tool[];
  /** The messages to send: the agent's conversation. */
  messages?: readonly Message[];
}

/** Why a request is aborted whose answer repeats itself; told from a person's reasons by what it is. */
const REPEATED = new Error("The answer repeats itself");

/**
 * Sends the conversation, or other `messages`, and reads the answer while it streams. A runaway repetition
 * ends the request at once; so does the signal, and what was said until then is the answer. A
 * BackendError with `partialText` is thrown when the server fails.
 */
export async function askModel(agent: CopilotAgent, options: AskOptions): Promise<ModelAnswer> {
  const { signal, ready, emit, tools = agent.offered } = options;
  const system: Message = { role: "system", content: agent.systemPrompt };
  const { messages: all = [system, ...agent.state.messages] } = options;
  const messages = agent.seesImages === false ? all.map(withoutImages) : all;
  const backend = await agent.backend();
  const isTyped = () => backend.isTyped;
  using ending = endingWith(signal);
  const onRunaway = () => ending.abort(REPEATED);
  const fences = !agent.callsNatively();
  const read = { tools: toolsInText(options, tools), isTyped, fences };
  const splitter = new AnswerStream({ ...read, emit, onRunaway });
  const guard = runawayGuard(onRunaway);
  const begun = new Set<Delta["type"]>();
  let reply: Reply;
  try {
    signal.throwIfAborted();
    reply = await backend.send(messages, tools, {
      signal: ending.signal,
      ready,
      ...{
        room: answerRoom(agent, options.messages),
        form: options.form,
        slot: agent.slot,
        splitter,
      },
      onDelta: (delta) => {
        begun.add(delta.type);
        guard(delta);
      },
      onRetry: (retry) =>
        emit(
          retry.isLoading
            ? { type: "loading", model: backend.model, nextLookMs: retry.delayMs }
            : { type: "retry", ...retry },
        ),
      onNotice: (message) =>
        emit({ type: "notice", level: "info", code: "request_adjusted", message }),
    });
  } catch (error) {
    const { text } = splitter.end();
    if (signal.aborted) return { message: interruption(text), stopReason: "aborted" };
    if (ending.signal.reason === REPEATED) return stoppedAnswer(splitter, emit);
    if (!(error instanceof BackendError)) throw error;
    // Nothing has run yet, and what was said so far is not the answer: it ends in a call, or is none.
    const isLost = begun.size > 0 && (text.trim() === "" || begun.has("tool_call"));
    if (options.mayAskAgain && isLost && error.kind === "incomplete") {
      const message = "The connection broke during the answer: the model is asked again.";
      emit({ type: "notice", level: "info", code: "asked_again", message });
      return await askModel(agent, { ...options, mayAskAgain: false });
    }
    error.partialText = text.trim();
    throw error;
  }
  // The last piece may have completed the repetition when the whole answer was already there.
  if (ending.signal.reason !== REPEATED) return completed(reply, options, read.tools);
  return { ...stoppedAnswer(splitter, emit), usage: reply.usage };
}

/** The tools whose calls are read from the text: what is JSON of a form is no call, whatever it looks like. */
function toolsInText({ form }: AskOptions, tools: readonly Tool[]): readonly Tool[] {
  return form && !form.isCall ? [] : tools;
}

function stoppedAnswer(splitter: AnswerStream, emit: AskOptions["emit"]): ModelAnswer {
  const { text, reasoning } = splitter.end();
  const told = "The model repeated itself and was stopped.";
  emit({ type: "notice", level: "warning", code: "repetition", message: told });
  const content = text.trim();
  const message = withAnswer({ role: "assistant", content, ...reasoning && { reasoning } });
  return { message, stopReason: "loop" };
}

/**
 * Watches the pieces of an answer as the model wrote them, as text that is not shown may go on without
 * end too: white space, tags, a call and its arguments. Calls `onRunaway` once.
 */
function runawayGuard(onRunaway: () => void): (delta: Delta) => void {
  const watcher = () => new RepetitionWatcher(HIDDEN_CYCLE);
  const watchers = { text: watcher(), reasoning: watcher(), tool_arguments: watcher() };
  let ranAway = false;
  return (delta) => {
    if (ranAway || delta.type === "tool_call" || delta.type === "prompt_progress") return;
    ranAway = watchers[delta.type].push(delta.text) !== undefined;
    if (ranAway) onRunaway();
  };
}

/** The answer of a whole reply, for which `tools` were offered; notices tell of one that did not end well. */
function completed(
  reply: Reply,
  { mayAskAgain, emit }: AskOptions,
  tools: readonly Tool[],
): ModelAnswer {
  const { usage, finish, finishDetail } = reply;
  const message = finish === "stop" ? withThoughtCalls(reply.message, tools) : reply.message;
  const tell = (level: "info" | "warning", code: string, message: string) =>
    emit({ type: "notice", level, code, message });
  const hasThought = !isBlank(message.reasoning ?? "");
  const isEmpty = isBlank(message.content) && !message.toolCalls?.length;
  const mayBeAsked = mayAskAgain && finish === "stop" && isEmpty;
  const written = usage?.outputTokens ?? 0;
  if (mayBeAsked && !hasThought && tools.length > 0 && written >= MIN_SWALLOWED) {
    const what =
      `The server handed on nothing of ${written} tokens, likely a call that it could not`;
    tell("info", "asked_again", `${what} read: the model is asked once more.`);
    return { message: withAnswer(message), usage, askAgain: reminder(CALL_AGAIN) };
  }
  if (mayBeAsked) {
    const only = hasThought ? ", only reasoning" : "";
    tell("info", "asked_again", `The model gave no answer${only}: it is asked once more.`);
    return { message: withAnswer(message), usage, askAgain: reminder(ASK_AGAIN) };
  }
  if (finish === "length") {
    const what = "The answer was cut off at the token limit (maxTokens, or the model's context).";
    tell("warning", "token_limit", what);
  } else if (finish === "refused" || finish === "other") {
    tell("warning", "ended_early", `The model ended its answer with "${finishDetail}".`);
  }
  if (isEmpty) {
    const thought = message.reasoning?.trim() ? ", only reasoning" : "";
    const what = `The model gave no answer${thought}. Ask again, or use another model.`;
    tell("warning", "no_answer", what);
  }
  const isCut = finish === "length" && !message.toolCalls?.length;
  const isWhole = finish === "stop" || finish === "tool_calls";
  return { message: withAnswer(message), usage, isWhole, ...(isCut && { stopReason: "budget" }) };
}

/** The message, with the calls at the very end of its reasoning where it has nothing else. */
function withThoughtCalls(message: Message, tools: readonly Tool[]): Message {
  const { reasoning = "", content, toolCalls = [] } = message;
  const isElsewhere = !isBlank(content) || toolCalls.length > 0;
  if (isElsewhere || isBlank(reasoning)) return message;
  const options = { ...namesAndSchemas(tools), fences: false, thinkTags: false };
  const [rest, calls] = extractToolCallsFromText(reasoning, options);
  const isLast = reasoning.trimStart().startsWith(rest.trim());
  return calls && isLast && !isProposal(rest, "") ? { ...message, toolCalls: calls } : message;
}

/** The message, with a note in place of an answer where there is none. */
function withAnswer(message: Message): Message {
  return isBlank(message.content) && !message.toolCalls?.length
    ? { ...message, content: NO_ANSWER, standsFor: "empty_answer" }
    : message;
}
