/**
 * The error classes that callers catch. Each carries data; bad arguments throw the built-in
 * `TypeError` and `RangeError` instead, an abort throws the signal's own reason.
 * @module
 */

/** The kind of failure of a {@linkcode BackendError}, which decides hints and retries. */
export type BackendErrorKind =
  /** Nothing listens there, the name does not resolve, the connection broke. */
  | "connection"
  /** Connect, first-token, idle or no-progress limit reached. */
  | "timeout"
  /** The server sent the request elsewhere; it was not followed. */
  | "redirect"
  /** Key missing, wrong or without the right (401, 403). */
  | "auth"
  /** The model is unknown to the server. */
  | "model_not_found"
  /** The conversation is longer than the model's context. */
  | "context_too_long"
  /** Too many requests or no quota (429). */
  | "rate_limit"
  /** Any other refusal of the request (4xx). */
  | "request"
  /** The server failed (5xx, an error inside a stream). */
  | "server"
  /** The answer was not what the protocol says: HTML, another JSON shape, broken lines. */
  | "protocol"
  /** The stream ended before its terminator; what came of it must not be acted on. */
  | "incomplete";

/** The sizes, in tokens, of a request that is too long; each only where the server names it. */
export interface ContextTokens {
  /** The request. */
  prompt?: number | undefined;
  /** The context of the model. */
  window?: number | undefined;
}

/** A call to a model server failed. `message` is one line that names what to do. */
export class BackendError extends Error {
  /** The class's name. */
  override readonly name = "BackendError";
  /** The kind of failure. */
  readonly kind: BackendErrorKind;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  /** True when the same request may succeed later; decided once, where the failure is seen. */
  readonly retryable: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's own words, in one line of at most 200 characters. */
  readonly serverMessage: string | undefined;
  /** The server's own words, whole: some name what they refuse behind a long preface. */
  readonly words: string;
  /** The sizes that a server named when it refused a request as too long. */
  readonly contextTokens: ContextTokens | undefined;
  /** The models that the server has, where one that it has not was asked for and it names them. */
  readonly models: readonly string[] | undefined;
  /** The text of the answer before the failure; empty when nothing was shown yet. */
  partialText = "";

  /** `message`: one line; `details`: the fields. */
  constructor(message: string, details: {
    kind: BackendErrorKind;
    status?: number | undefined;
    retryable?: boolean | undefined;
    retryAfterMs?: number | undefined;
    serverMessage?: string | undefined;
    words?: string | undefined;
    contextTokens?: ContextTokens | undefined;
    models?: readonly string[] | undefined;
    cause?: unknown;
  }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = details.kind;
    this.status = details.status;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.serverMessage = details.serverMessage;
    this.words = details.words ?? details.serverMessage ?? "";
    this.contextTokens = details.contextTokens;
    this.models = details.models;
  }
}

/** The command line was wrong: one line for the person, exit code 2. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = "UsageError";
}
