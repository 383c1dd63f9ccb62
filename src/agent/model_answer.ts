/** Decides about an answer: it is used, it ends the turn, or the model is asked again. @module */

import type { Delta, Reply, SplitAnswer } from "../models/backend.ts";
import { namesAndSchemas } from "../models/reply.ts";
import { BackendError } from "../errors.ts";
import { notePart, textOfParts } from "../text/parts.ts";
import { REPETITION_WARNING } from "../text/repetition.ts";
import { isBlank } from "../text/think.ts";
import { exampleCall } from "../models/toolcalls/example.ts";
import { extractToolCallsFromText } from "../models/toolcalls/extract.ts";
import { isLostCall } from "../models/toolcalls/formats/bare_json.ts";
import { isProposal } from "../models/toolcalls/proposal.ts";
import type { StopReason, TurnEvent, Usage } from "../types/event.ts";
import type { Message, Part } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { UNREAD_CALL } from "../wire/failure.ts";

export interface ModelAnswer {
  /** The assistant's message for the conversation. Its content is never blank. */
  message: Message;
  usage?: Usage | undefined;
  /** Set if the turn ends here, even if the message has calls. */
  stopReason?: StopReason;
  /** The message that asks for the missing answer, to be added to the conversation. */
  askAgain?: Message;
  /** True if the answer to that request continues this one. */
  isBroken?: boolean;
  /** True if that request should be answered without thinking. */
  isOverthought?: boolean;
}

/** They replace an answer without text and calls, and mark an answer that the user stopped. */
const NO_ANSWER = "[The model gave no answer]";
const INTERRUPTED_NOTE = "[Interrupted by the user]";
const ASK_AGAIN =
  "[You gave no answer. Say what you found out, or call the next tool, without thinking it over again.]";

const CALL_AGAIN =
  '[Your answer did not arrive: the server could not read it. If it was a call, write it again; its arguments must be one valid JSON object, such as {"path": "src"}.]';
const GO_ON =
  "[The connection broke off your answer here. Go on right where it stopped, without a word about this.]";
/** An answer with fewer tokens and no content is empty: an end token, or a tag. */
const MIN_SWALLOWED = 8;

const TOO_LONG_ANSWER = /^\s*error: the prompt size exceeds the context window/i;
const EMPTY_WORDS = /^\s*[[(](?:empty|no)[ _](?:content|response|answer|output)[\])]\.?\s*$/i;

/** Returns a message that asks for the missing answer. It has the user role, because roles alternate. */
function reminder(content: string): Message {
  return { role: "user", content, standsFor: "reminder" };
}

/** Returns the message of an answer that the user stopped: its text so far and a note, as parts. */
export function interruption(text = ""): Message {
  if (text.trim() === "") {
    return { role: "assistant", content: INTERRUPTED_NOTE, standsFor: "interruption" };
  }
  const parts: Part[] = [{ type: "text", text: text.trimEnd() }, notePart(INTERRUPTED_NOTE)];
  return { role: "assistant", content: textOfParts(parts), parts };
}

const THOUGHTS_SHOWN = 800;

/** How the answers to one request are reported. */
interface AnswerOptions {
  emit: (event: TurnEvent) => void;
  /** True asks again for a missing answer; by default false. */
  mayAskAgain?: boolean;
}

/** Returns how to continue if a server could not parse a call, or broke off the text. */
export function askAgainAfter(
  error: BackendError,
  text: string,
  received: ReadonlySet<Delta["type"]>,
): ModelAnswer | undefined {
  if (UNREAD_CALL.test(error.words)) {
    return {
      message: withAnswer({ role: "assistant", content: text.trim() }),
      askAgain: reminder(CALL_AGAIN),
    };
  }
  const isBroken = error.kind === "incomplete" || error.kind === "server" && error.retryable;
  if (!isBroken || text.trim() === "" || received.has("tool_call")) return undefined;
  return { message: { role: "assistant", content: text }, askAgain: reminder(GO_ON), isBroken };
}

/** Asks again, without thinking, if an answer was only thinking; or ends the turn. */
export function overthought(
  reasoning: string,
  { emit, mayAskAgain }: AnswerOptions,
  why = "The model thought until its limit",
): ModelAnswer {
  const empty = withAnswer({ role: "assistant", content: "", reasoning });
  if (!mayAskAgain) {
    const what = `${why} and gave no answer. Ask again, or use another model.`;
    emit({ type: "notice", level: "warning", code: "no_answer", message: what });
    return { message: empty, stopReason: "budget" };
  }
  const message = `${why} and gave no answer: it is asked once more, with thinking off.`;
  emit({ type: "notice", level: "info", code: "asked_again", message });
  const end = reasoning.replace(REPETITION_WARNING, "").trim().slice(-THOUGHTS_SHOWN);
  const askAgain = reminder(
    `[You thought for too long and gave no answer. Your thoughts ended with: "${end}". Do not think it over again: call the next tool now, or answer.]`,
  );
  return { message: empty, askAgain, isOverthought: true };
}

/** Returns the answer that was stopped because it repeats itself. Thinking alone is asked for again. */
export function stoppedAnswer(
  { text, reasoning }: Pick<SplitAnswer, "text" | "reasoning">,
  options: AnswerOptions,
): ModelAnswer {
  const { emit, mayAskAgain } = options;
  if (mayAskAgain && text.trim() === "" && !isBlank(reasoning)) {
    return overthought(reasoning, options, "The model repeated itself while it thought");
  }
  const what = "The model repeated itself and was stopped.";
  emit({ type: "notice", level: "warning", code: "repetition", message: what });
  const content = text.trim();
  const message = withAnswer({ role: "assistant", content, ...reasoning && { reasoning } });
  return { message, stopReason: "loop" };
}

/** Returns the answer of a complete reply to a request that offered `tools`. Notices report a bad end. */
export function completed(
  reply: Reply,
  { mayAskAgain, emit }: AnswerOptions,
  tools: readonly Tool[],
): ModelAnswer {
  const { usage, finish, finishDetail } = reply;
  const message = finish === "stop" ? withThoughtCalls(reply.message, tools) : reply.message;
  const hasThought = !isBlank(message.reasoning ?? "");
  const hasCalls = (message.toolCalls?.length ?? 0) > 0;
  const isEmpty = !hasCalls && (isBlank(message.content) || EMPTY_WORDS.test(message.content));
  const tell = (level: "info" | "warning", code: string, message: string) =>
    emit({ type: "notice", level, code, message });
  // GPT4All and similar servers say so instead of an answer; LMDeploy says nothing at all.
  const isFull = TOO_LONG_ANSWER.test(message.content) ||
    mayAskAgain && finish === "length" && isEmpty && !hasThought && !usage?.outputTokens;
  if (isFull) {
    const words = message.content.trim() ||
      "The server gave an empty answer, as if the context is full";
    throw new BackendError(words, { kind: "context_too_long" });
  }
  if (mayAskAgain && finish === "length" && isEmpty && hasThought) {
    return { ...overthought(message.reasoning!, { emit, mayAskAgain }), usage };
  }
  const isOver = finish === "stop" || finish === "other" && isEmpty;
  const again = mayAskAgain && isOver && !hasCalls
    ? questionFor(reply, isEmpty, hasThought, tools)
    : undefined;
  if (again) {
    tell("info", "asked_again", again.notice);
    return { message: withAnswer(message), usage, askAgain: reminder(again.words) };
  }
  if (finish === "length") {
    const at = usage?.outputTokens ? ` of ${usage.outputTokens} tokens` : "";
    const what = `The answer was cut off at the limit${at} (--max-tokens, or the model's context).`;
    tell("warning", "token_limit", what);
  } else if (finish === "refused" || finish === "other") {
    tell("warning", "ended_early", `The model ended its answer with "${finishDetail}".`);
  }
  if (!mayAskAgain && reply.callMark !== undefined && !hasCalls) {
    tell("warning", "no_answer", "A call in the answer could not be read, and nothing was run.");
  }
  if (isEmpty) {
    const thought = hasThought ? ", only reasoning" : "";
    const what = `The model gave no answer${thought}. Ask again, or use another model.`;
    tell("warning", "no_answer", what);
  }
  const isCut = finish === "length" && !hasCalls;
  return { message: withAnswer(message), usage, ...(isCut && { stopReason: "budget" }) };
}

/** Returns the question to the model after a reply without a call that was probably meant to have one. */
function questionFor(
  { message, callMark, usage }: Reply,
  isEmpty: boolean,
  hasThought: boolean,
  tools: readonly Tool[],
): { notice: string; words: string } | undefined {
  const written = usage?.outputTokens ?? 0;
  const known = namesAndSchemas(tools);
  if (tools.length > 0 && (callMark !== undefined || isLostCall(message.content, known))) {
    const example = exampleCall(callMark ?? "", known);
    return {
      notice: "A call in the answer could not be read: the model is asked again.",
      words:
        `[Your answer held a tool call that could not be read, so nothing ran. If you meant a call, write it again, whole, such as: ${example} The tools are: ${
          known.tools.join(", ")
        }. Else answer without such marks.]`,
    };
  }
  if (!isEmpty) return undefined;
  if (!hasThought && tools.length > 0 && written >= MIN_SWALLOWED) {
    const what =
      `The server handed on nothing of ${written} tokens, likely a call that it could not`;
    return { notice: `${what} read: the model is asked once more.`, words: CALL_AGAIN };
  }
  const only = hasThought ? ", only reasoning" : "";
  const notice = `The model gave no answer${only}: it is asked once more.`;
  return { notice, words: ASK_AGAIN };
}

/** Words in thoughts about a call that should not be made. */
const NEGATION = /\b(?:not?|never|cannot|against)\b|n['’]t\b/i;

/** Returns the message, with the calls at the end of its reasoning if it has nothing else. */
function withThoughtCalls(message: Message, tools: readonly Tool[]): Message {
  const { reasoning = "", content, toolCalls = [] } = message;
  const isElsewhere = !isBlank(content) || toolCalls.length > 0;
  if (isElsewhere || isBlank(reasoning)) return message;
  const options = { ...namesAndSchemas(tools), fences: false, thinkTags: false };
  const [rest, calls] = extractToolCallsFromText(reasoning, options);
  const isLast = reasoning.trimStart().startsWith(rest.replace(/<[|｜][^<>]*$/, "").trim());
  const isMeant = calls && isLast && !isProposal(rest, "") && !NEGATION.test(rest.slice(-200));
  return isMeant ? { ...message, toolCalls: calls } : message;
}

function withAnswer(message: Message): Message {
  return isBlank(message.content) && !message.toolCalls?.length
    ? { ...message, content: NO_ANSWER, standsFor: "empty_answer" }
    : message;
}
