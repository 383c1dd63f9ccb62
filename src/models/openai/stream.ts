import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { throwErrorObject } from "../../wire/failure.ts";
import { JsonReader, type StreamReader } from "../../wire/http.ts";
import { parseJson } from "../../wire/ndjson.ts";
import { SseDecoder, type SseEvent } from "../../wire/sse.ts";
import { DeltaReader, hasEvents, incompleteAnswer, type OnDelta } from "../delta_reader.ts";
import { type Fields, fieldsOf, listOf, shapeError, stringOf } from "../fields.ts";
import { ToolCallParts } from "./tool_call_parts.ts";

/** Returns a reader for an answer of `contentType`. */
export function compatReader(
  contentType: string,
  stream: boolean,
  onDelta?: OnDelta,
): StreamReader<Fields> {
  if (hasEvents(contentType, stream)) return new CompletionReader(onDelta);
  return new JsonReader(compatAnswer, () => new CompletionReader(onDelta));
}

/** Returns an answer in one piece. @throws {BackendError} if it has no choice. */
function compatAnswer(value: unknown): Fields {
  const response = fieldsOf(value, "answer");
  if (listOf(response.choices, "choices").length > 0) return response;
  throw shapeError("choices", "a list of at least one", response.choices);
}

/**
 * The servers' reasons to stop. Without a reason, the stream ended with [DONE] alone. `eos_token` is
 * text-generation-inference's. If the context is full, Mistral says `model_length`, and Z.ai the longest one.
 * Anthropic's come from servers in front of its API.
 */
export const FINISH_REASONS = {
  stop: ",stop,eos_token,eos,stop_sequence,end_turn,end,complete,completed".split(","),
  tool_calls: "tool_calls,tool_call,tool-calls,function_call,function_calls,tool_use".split(","),
  length: ["length", "max_tokens", "model_length", "model_context_window_exceeded"],
  refused: ["content_filter", "refusal"],
};

/** Reasons of incomplete answers. Some servers send "stop" after them anyway. */
const CUT_REASONS = new Set([...FINISH_REASONS.length, ...FINISH_REASONS.refused]);

/** Folds an answer of events. Fields that every chunk repeats come from the first one. */
class CompletionReader extends DeltaReader {
  #isDone = false;
  /** True if the last event counted the tokens of a finished answer. */
  #isCounted = false;
  #head: Fields | undefined;
  #index: unknown;
  #finish: string | null = null;
  #usage: Fields | undefined;
  #timings: unknown;
  #promptRead = -1;
  /** The pieces of the texts. Joined one by one, 500 000 take 100 MB more. */
  readonly #pieces = { content: [""], reasoning: [""], refusal: [""] };
  readonly #calls = new ToolCallParts((delta) => this.emit(delta));
  protected readonly decoder = new SseDecoder((event) => this.#takeEvent(event));

  get done(): boolean {
    return this.#isDone || this.#isCounted;
  }
  get finished(): boolean {
    return this.#finish !== null;
  }

  end(): Fields {
    if (!this.#isDone) this.decoder.end();
    // A finish reason alone is enough, because some servers omit [DONE].
    if (!this.#isDone && !this.finished) throw incompleteAnswer();
    const { choices: _choices, usage: _usage, object: _object, ...rest } = this.#head ?? {};
    return {
      ...rest,
      object: "chat.completion",
      choices: [{ index: 0, message: this.#wholeMessage(), finish_reason: this.#finish }],
      ...(this.#usage && { usage: this.#usage }),
      ...(this.#timings !== undefined && { timings: this.#timings }),
    };
  }

  #takeEvent({ event, data, cut }: SseEvent): void {
    // Some proxies send their comments as data, and empty events as null.
    if (this.#isDone || data === "" || data === "null" || data.startsWith(": ")) return;
    if (data === "[DONE]") {
      this.#isDone = true;
      return;
    }
    if (cut && this.finished && jsonOrUndefined(data) === undefined) return;
    const value = withUnparsedText(fieldsOf(parseJson(data, cut), "event"));
    const isError = event === "error";
    if (value.choices === undefined || value.error || isError) throwErrorObject(value, isError);
    this.#take(value);
  }

  #take(chunk: Fields): void {
    this.#head ??= chunk;
    // Each usage is a running total, so the last one counts.
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    if (isObject(chunk.timings)) this.#timings = chunk.timings;
    this.#takePromptProgress(chunk.prompt_progress);
    const choices = listOf(chunk.choices, "choices");
    this.#isCounted = this.finished && choices.length === 0 && isObject(chunk.usage);
    for (let i = 0; i < choices.length; i++) this.#takeChoice(fieldsOf(choices[i], "choice"));
  }

  /** llama.cpp reports how much of the prompt it has read, first when it starts. */
  #takePromptProgress(value: unknown): void {
    if (!isObject(value) || typeof value.processed !== "number") return;
    const { processed, total, cache, time_ms: ms } = value;
    if (processed <= this.#promptRead) return;
    this.#promptRead = processed;
    if (typeof total !== "number") return void this.progress++;
    const cached = typeof cache === "number" ? cache : 0;
    const read = { processed, total, cached, ...(typeof ms === "number" && ms > 0 && { ms }) };
    this.tell({ type: "prompt_progress", ...read }, processed > 0);
  }

  #takeChoice(choice: Fields): void {
    // The request asks for one choice. If a server sends more, the first one counts.
    if ((this.#index ??= choice.index ?? 0) !== (choice.index ?? 0)) return;
    // Moonshot counts the tokens here.
    if (isObject(choice.usage)) this.#usage = choice.usage;
    // Some servers send a whole `message` in a stream.
    const part = choice.delta ?? choice.message;
    if (part !== undefined && part !== null) this.#takeMessage(fieldsOf(part, "delta"));
    const reason = stringOf(choice.finish_reason, "finish_reason");
    if (reason === "") return;
    if (this.#finish === null) this.progress++;
    if (!CUT_REASONS.has(this.#finish ?? "")) this.#finish = reason;
  }

  #takeMessage(message: Fields): void {
    readContent(message, this.#add);
    this.#add("refusal", stringOf(message.refusal, "refusal"));
    if (message.tool_calls) this.#calls.add(listOf(message.tool_calls, "tool_calls"));
    // The form before tool_calls: one call without an id.
    if (message.function_call) this.#calls.add([{ index: 0, function: message.function_call }]);
  }

  /** Not a method, because it is passed on for each chunk. */
  readonly #add = (part: "content" | "reasoning" | "refusal", text: string): void => {
    if (text === "") return;
    this.#pieces[part].push(text);
    this.emit({ type: part === "reasoning" ? "reasoning" : "text", text });
  };

  #wholeMessage(): Fields {
    const toolCalls = this.#calls.end();
    const { content: texts, reasoning: thoughts, refusal: refusals } = this.#pieces;
    const [content, reasoning, refusal] = [texts, thoughts, refusals].map((one) => one.join(""));
    return {
      role: "assistant",
      content: content === "" && toolCalls.length > 0 ? null : content,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(refusal !== "" && { refusal }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
  }
}

/** If llama.cpp cannot parse an answer, its error has the rest of the answer, which is text here. */
function withUnparsedText(event: Fields): Fields {
  const words = isObject(event.error) ? String(event.error.message) : "";
  const [, content] = /^Failed to parse input at pos \d+: ([^]+)$/.exec(words) ?? [];
  return content === undefined
    ? event
    : { choices: [{ delta: { content }, finish_reason: "stop" }] };
}

type OnContent = (part: "content" | "reasoning", text: string) => void;

/** Reads the reasoning and the text of a message, or of a piece of one, from any server's fields. */
export function readContent(message: Fields, add: OnContent): void {
  const { reasoning_content, reasoning, thinking, content } = message;
  const thought = stringOf(reasoning_content, "reasoning_content") ||
    stringOf(reasoning, "reasoning") || stringOf(thinking, "thinking");
  add("reasoning", thought);
  if (Array.isArray(content)) readParts(content, "content", add);
  else add("content", stringOf(content, "content"));
}

function readParts(parts: readonly unknown[], kind: "content" | "reasoning", add: OnContent): void {
  for (const value of parts) {
    const { type, thinking, text, refusal } = fieldsOf(value, "content part");
    if (type !== "thinking") add(kind, stringOf(text, "text") || stringOf(refusal, "refusal"));
    else if (Array.isArray(thinking)) readParts(thinking, "reasoning", add);
    else add("reasoning", stringOf(thinking, "thinking"));
  }
}
