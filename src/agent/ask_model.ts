/** One request to the model, and its answer. @module */

import type { CallOptions, Delta, Reply, SendOptions } from "../models/backend.ts";
import { BackendError } from "../errors.ts";
import { reasonOf } from "../text/reason.ts";
import type { TurnEvent } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { endingWith } from "../wire/wait.ts";
import { type CopilotAgent, requestMessages } from "./agent.ts";
import { AnswerStream } from "./answer_stream.ts";
import {
  askAgainAfter,
  completed,
  interruption,
  type ModelAnswer,
  overthought,
  stoppedAnswer,
} from "./model_answer.ts";
import { answerRoom, thinkBudget } from "./tokens.ts";

interface AskOptions extends Pick<CallOptions, "ready" | "answerSchema" | "thinks"> {
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /**
   * True: an empty answer or a lost call returns `askAgain`, and a connection that breaks within a call is retried.
   * Default: false.
   */
  mayAskAgain?: boolean;
  tools?: readonly Tool[];
  messages?: readonly Message[];
}

/** The abort reasons of a repetition and of endless thinking: strings, because errors would cost 0.4 ms per start. */
const REPEATED = "the answer repeats itself";
const OVERTHOUGHT = "the model thinks without end";
/** The stream is cut at this multiple of the budget if the server does not end the thinking. */
const MAX_BUDGETS = 2;

/**
 * Sends the conversation, or `messages`, and reads the answer while it streams. An endless repetition and the signal
 * end the request at once: the answer is then the text so far.
 * @throws {BackendError} with `partialText` if the server fails
 */
export async function askModel(agent: CopilotAgent, options: AskOptions): Promise<ModelAnswer> {
  const { signal, ready, emit, tools = agent.offered } = options;
  const messages = requestMessages(agent, options.messages);
  const backend = agent.backend;
  const hasBlocks = () => backend.hasBlocks;
  using ending = endingWith(signal);
  const onRunaway = () => ending.abort(REPEATED);
  // An answer that must match a schema contains no calls.
  const read = { tools: options.answerSchema ? [] : tools, hasBlocks };
  const room = answerRoom(agent, options.tools && options.messages);
  const budget = thinkBudget(agent, room);
  const splitter = new AnswerStream({
    ...read,
    emit,
    onRunaway,
    maxThought: budget && MAX_BUDGETS * budget,
    onOverthought: () => ending.abort(OVERTHOUGHT),
  });
  let reply: Reply;
  try {
    signal.throwIfAborted();
    reply = await backend.send(messages, tools, {
      signal: ending.signal,
      ready,
      room,
      thinks: options.thinks,
      answerSchema: options.answerSchema,
      slot: agent.slot,
      awaitsRestart: true,
      splitter,
      ...reports(emit, backend.model),
    });
  } catch (error) {
    const { reason } = ending.signal;
    const split = splitter.end();
    if (signal.aborted) return { message: interruption(split.text), stopReason: "aborted" };
    if (reason === REPEATED) return stoppedAnswer(split, options);
    if (reason === OVERTHOUGHT) {
      const why = "The model thought past its budget (--think-budget)";
      return overthought(split.reasoning, options, why);
    }
    if (!(error instanceof BackendError)) throw error;
    return await afterFailure(agent, options, error, split.text, splitter.received);
  }
  // If the whole answer was already there, the last piece may have completed the repetition.
  if (ending.signal.reason !== REPEATED) return completed(reply, options, read.tools);
  return { ...stoppedAnswer(splitter.end(), options), usage: reply.usage };
}

function reports(
  emit: AskOptions["emit"],
  model: string,
): Pick<SendOptions, "onRetry" | "onNotice"> {
  return {
    onRetry: (retry) =>
      emit(
        retry.isLoading
          ? { type: "loading", model, nextLookMs: retry.delayMs }
          : { type: "retry", ...retry },
      ),
    onNotice: (message) =>
      emit({ type: "notice", level: "info", code: "request_adjusted", message }),
  };
}

/** Asks again after a failure within an answer if that may help. Otherwise throws `error` with the text. */
async function afterFailure(
  agent: CopilotAgent,
  options: AskOptions,
  error: BackendError,
  text: string,
  received: ReadonlySet<Delta["type"]>,
): Promise<ModelAnswer> {
  const tell = (message: string) =>
    options.emit({ type: "notice", level: "info", code: "asked_again", message });
  // Nothing has run yet, and the text so far is not an answer: it is missing, or ends in a call.
  const isLost = received.size > 0 && (text.trim() === "" || received.has("tool_call"));
  if (options.mayAskAgain && isLost && error.kind === "incomplete") {
    tell("The connection broke during the answer: the model is asked again.");
    return await askModel(agent, { ...options, mayAskAgain: false });
  }
  const again = options.mayAskAgain ? askAgainAfter(error, text, received) : undefined;
  if (again) {
    tell(`${reasonOf(error)}: the model is asked again.`);
    return again;
  }
  error.partialText = text.trim();
  throw error;
}
