/**
 * The error classes for callers. Each carries data. Invalid arguments throw the built-in `TypeError` and
 * `RangeError`; an abort throws the signal's reason.
 * @module
 */

/** The kind of failure of a {@linkcode BackendError}, which decides about hints and retries. */
export type BackendErrorKind =
  /** Nothing listens there, the name does not resolve, or the connection broke. */
  | "connection"
  /** The connect, first-token, idle or no-progress limit was reached. */
  | "timeout"
  /** The server redirected the request, which was not followed. */
  | "redirect"
  /** The key is missing, wrong or lacks the permission (401, 403). */
  | "auth"
  /** The server does not know the model. */
  | "model_not_found"
  /** The conversation is longer than the model's context. */
  | "context_too_long"
  /** Too many requests, or the quota is used up (429). */
  | "rate_limit"
  /** Any other refusal of the request (4xx). */
  | "request"
  /** The server failed (5xx, an error inside a stream). */
  | "server"
  /** The answer violates the protocol: HTML, another JSON shape, broken lines. */
  | "protocol"
  /** The stream ended before its terminator. Its content must not be acted on. */
  | "incomplete";

/** The sizes of a request that is too long in tokens, if the server reports them. */
export interface ContextTokens {
  /** The request. */
  prompt?: number | undefined;
  /** The context of the model. */
  window?: number | undefined;
}

/** Thrown if a call to a model server fails. `message` is one line that says what to do. */
export class BackendError extends Error {
  /** The class's name. */
  override readonly name = "BackendError";
  /** The kind of failure. */
  readonly kind: BackendErrorKind;
  /** The HTTP status, if any. */
  readonly status: number | undefined;
  /** True if the same request may succeed later. Decided once, where the failure is detected. */
  readonly retryable: boolean;
  /** The server's requested wait in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's message as one line of at most 200 characters. */
  readonly serverMessage: string | undefined;
  /** The server's complete message. Some name the refused parameter after a long preface. */
  readonly words: string;
  /** The sizes that a server reported when it refused a request as too long. */
  readonly contextTokens: ContextTokens | undefined;
  /** The server's models, if it reports them and lacks the requested one. */
  readonly models: readonly string[] | undefined;
  /** The text of the answer before the failure; empty if nothing was shown yet. */
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

/** An error in the command line: one line for the user, exit code 2. */
export class UsageError extends Error {
  /** The class's name. */
  override readonly name = "UsageError";
}
