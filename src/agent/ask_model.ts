import type { CallOptions, Delta, Reply } from "../backends/backend.ts";
import { BackendError } from "../errors.ts";
import { isBlank } from "../text/think.ts";
import type { StopReason, TurnEvent, Usage } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import type { CopilotAgent } from "./agent.ts";
import { answerStream } from "./answer_stream.ts";
import { runawayGuard } from "./runaway_guard.ts";

/** What one request came to. */
export interface Answer {
  /** The assistant's message, as it goes into the conversation; its content is never blank. */
  message: Message;
  /** Tokens counted by the server. */
  usage?: Usage | undefined;
  /** Set when the turn ends here, whatever the message asks for. */
  stopReason?: StopReason;
  /** True when the model thought, then said and called nothing, and may be asked once more. */
  askAgain?: boolean;
}

/** Stands in for an answer that has no text and no calls. */
export const NO_ANSWER = "[The model gave no answer]";
/** Asks for the answer that did not come; in the person's place, as roles alternate. */
export const ASK_AGAIN =
  "[You gave no answer. Say what you found out, or call the next tool, without thinking it over again.]";
/** Stands where the person stopped the model. */
export const INTERRUPTED = "[Interrupted by the user]";

/**
 * Sends the conversation, or other `messages`, and reads the answer while it streams. A runaway repetition ends the
 * request at once; so does the signal, and what was said until then is the answer.
 *
 * @throws {BackendError} with `partialText` when the server fails.
 */
export async function askModel(
  agent: CopilotAgent,
  options: Pick<CallOptions, "ready"> & {
    signal: AbortSignal;
    emit: (event: TurnEvent) => void;
    mayAskAgain?: boolean;
    tools?: readonly Tool[];
    messages?: readonly Message[];
  },
): Promise<Answer> {
  const { signal, ready, emit, mayAskAgain, tools = agent.offered } = options;
  const { messages = conversation(agent) } = options;
  const backend = await agent.backend();
  const runaway = new AbortController();
  const stream = answerStream(tools, emit, () => runaway.abort(), {
    isTyped: backend.isTyped,
    fences: !agent.callsNatively(),
  });
  const guard = runawayGuard(() => runaway.abort());
  let reply: Reply;
  try {
    signal.throwIfAborted();
    reply = await backend.send(messages, tools, {
      signal: AbortSignal.any([signal, runaway.signal]),
      ready,
      onDelta: (delta: Delta) => {
        stream.push(delta);
        guard(delta);
      },
      onRetry: (notice) =>
        emit(
          notice.isLoading
            ? { type: "loading", model: backend.model, nextLookMs: notice.delayMs }
            : { type: "retry", ...notice },
        ),
      onNotice: (message) => emit({ type: "notice", level: "info", message }),
    });
    stream.end();
  } catch (error) {
    const { text, reasoning } = stream.end();
    if (runaway.signal.aborted && !signal.aborted) return stoppedAnswer(text, reasoning, emit);
    if (signal.aborted) {
      const content = text.trim() === "" ? INTERRUPTED : `${text.trimEnd()}\n\n${INTERRUPTED}`;
      return { message: { role: "assistant", content }, stopReason: "aborted" };
    }
    if (error instanceof BackendError) error.partialText = text.trim();
    throw error;
  }
  // The last piece may have completed the repetition when the whole answer was already there.
  if (runaway.signal.aborted) {
    const { text, reasoning } = stream.end();
    return { ...stoppedAnswer(text, reasoning, emit), usage: reply.usage };
  }
  if (mayAskAgain && onlyThought(reply)) {
    const text = "The model gave no answer, only reasoning: it is asked once more.";
    emit({ type: "notice", level: "info", message: text });
    const message = { ...reply.message, content: NO_ANSWER };
    return { message, usage: reply.usage, askAgain: true };
  }
  const message = completed(reply, emit);
  const isCut = reply.finish === "length" && !message.toolCalls?.length;
  return { message, usage: reply.usage, ...(isCut && { stopReason: "budget" }) };
}

function onlyThought({ finish, message: { content, toolCalls, reasoning = "" } }: Reply): boolean {
  return finish === "stop" && !toolCalls?.length && isBlank(content) && !isBlank(reasoning);
}

function conversation({ systemPrompt, state }: CopilotAgent): Message[] {
  return [{ role: "system", content: systemPrompt }, ...state.messages];
}

function stoppedAnswer(
  text: string,
  reasoning: string,
  emit: (event: TurnEvent) => void,
): Answer {
  emit({ type: "notice", level: "warning", message: "The model repeated itself and was stopped." });
  const content = text.trim() === "" ? NO_ANSWER : text.trim();
  const message: Message = { role: "assistant", content, ...(reasoning && { reasoning }) };
  return { message, stopReason: "loop" };
}

/** The reply's message, never blank; tells the person of an answer that did not end well. */
function completed(
  { message, finish, finishDetail }: Reply,
  emit: (event: TurnEvent) => void,
): Message {
  const warn = (text: string) => emit({ type: "notice", level: "warning", message: text });
  if (finish === "length") {
    warn("The answer was cut off at the token limit (maxTokens, or the model's context).");
  } else if (finish === "refused" || finish === "other") {
    warn(`The model ended its answer with "${finishDetail}".`);
  }
  if (!isBlank(message.content) || message.toolCalls?.length) return message;
  const thought = message.reasoning?.trim() ? ", only reasoning" : "";
  warn(`The model gave no answer${thought}. Ask again, or use another model.`);
  return { ...message, content: NO_ANSWER };
}
