/** Servers at an address: each message is a POST, its answer one JSON value or a stream of events. @module */

import { RpcError, type RpcMessage } from "../../rpc/message.ts";
import { RpcPeer, type RpcPeerOptions } from "../../rpc/peer.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { excerpt } from "../../wire/excerpt.ts";
import { bodyText, openResponse } from "../../wire/http.ts";
import { SseDecoder } from "../../wire/sse.ts";
import { wait } from "../../wire/wait.ts";
import type { McpDefinition } from "./definition.ts";
import type { HttpAuth } from "./oauth.ts";
import { MCP_CODES, MODERN_VERSION } from "./protocol.ts";

/** The maximum size of one answer, in bytes: large ones contain an image of a few MiB. */
const MAX_HTTP_ANSWER = 32 * 2 ** 20;
const TOO_LONG = `its answer has over ${MAX_HTTP_ANSWER} bytes`;
const MAX_FAILURE_BYTES = 65_536;
/** The number of times that a broken stream is resumed, and the usual wait before it, in ms. */
const MAX_RESUMES = 5;
const RESUME_MS = 1000;
const FAREWELL_MS = 1000;

export type CarrierHandlers = Pick<
  RpcPeerOptions,
  "onRequest" | "onNotification" | "cancellation"
>;

/** A connection to a server, which is a program or an address. */
export interface Carrier {
  peer: RpcPeer;
  /** Called when the protocol revision is known: over HTTP each request names it. */
  speaks?(version: string): void;
  /** The end of a program's stderr, for error messages; may be empty. */
  lastWords?(): string;
  /** Returns what the sandbox denied a program, and the setting that grants it, by the words of an error. */
  limitIn?(error: string): string | undefined;
  /** Closes the connection. Ends the program and all processes that it started. */
  end(): Promise<void>;
}

/** A status that does not answer the request. */
export class HttpStatusError extends Error {
  override readonly name = "HttpStatusError";
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** True for a refusal with which an older server may answer a request that it does not know. */
export function isOlder(error: unknown): boolean {
  if (error instanceof RpcError) return !Object.values<number>(MCP_CODES).includes(error.code);
  return error instanceof HttpStatusError && error.status >= 400 && error.status < 500 &&
    ![401, 403, 429].includes(error.status);
}

/** A connection to the address of a definition. Nothing is sent before the first message. */
export class HttpCarrier implements Carrier {
  readonly peer: RpcPeer;
  /** The revision that the handshake agreed on. Later requests name it. */
  #legacy: string | undefined;
  #session: string | undefined;
  readonly #over = new AbortController();

  constructor(
    private readonly definition: McpDefinition,
    handlers: CarrierHandlers,
    private readonly auth: HttpAuth | undefined,
    private readonly headersOf: (message: RpcMessage) => Record<string, string> = () => ({}),
  ) {
    const { cancellation } = handlers;
    this.peer = new RpcPeer({
      ...handlers,
      send: (message, signal) => this.#send(message, signal),
      // In the modern revision, closing the request's connection cancels it.
      cancellation: (id, method) => this.#legacy ? cancellation?.(id, method) : undefined,
    });
  }

  speaks(version: string): void {
    this.#legacy = version === MODERN_VERSION ? undefined : version;
  }

  async end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.peer.close(new Error("the connection was closed"));
    this.#over.abort(new Error("the connection was closed"));
    if (session === undefined) return;
    const signal = AbortSignal.timeout(FAREWELL_MS);
    try {
      const headers = { ...await this.#headers(), "mcp-session-id": session };
      const response = await openResponse(this.#url, { method: "DELETE", headers, signal });
      await response.body?.cancel();
    } catch {
      // The server is gone, so there is no session to end.
    }
  }

  get #url(): string {
    return this.definition.url!;
  }

  async #headers(): Promise<Record<string, string>> {
    const token = await this.auth?.header();
    return {
      ...this.definition.headers,
      ...token !== undefined && { authorization: token },
      ...this.#legacy !== undefined && { "mcp-protocol-version": this.#legacy },
      ...this.#session !== undefined && { "mcp-session-id": this.#session },
    };
  }

  async #send(message: RpcMessage, given?: AbortSignal): Promise<void> {
    const signal = given ? AbortSignal.any([given, this.#over.signal]) : this.#over.signal;
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...await this.#headers(),
      ...this.#legacy === undefined && { ...modernHeaders(message), ...this.headersOf(message) },
    };
    const body = JSON.stringify(message);
    const response = await openResponse(this.#url, { method: "POST", headers, body, signal });
    const { status } = response;
    const challenge = response.headers.get("www-authenticate") ?? "";
    // A server may refuse a request for reasons other than tokens.
    if (this.auth && (status === 401 || status === 403 && /bearer/i.test(challenge))) {
      await response.body?.cancel();
      await this.auth.refused(status, challenge);
    }
    await this.#take(response, message, signal);
  }

  async #take(response: Response, message: RpcMessage, signal: AbortSignal): Promise<void> {
    const { status, headers, ok } = response;
    const isRequest = "method" in message && "id" in message;
    if (!ok) {
      const text = await bodyText(response, MAX_FAILURE_BYTES);
      const hadSession = this.#session !== undefined;
      // The example of the SDK answers 400 to a session from before its restart.
      if (hadSession && (status === 404 || status === 400 && /session/i.test(text))) {
        this.#session = undefined;
        throw new HttpStatusError(404, failure(this.#url, response, text).message);
      }
      const value = jsonOrUndefined(text);
      // A protocol error, which may lack the id of the request.
      if (isRequest && isObject(value) && isObject(value.error)) {
        const { code, message: words, data } = value.error;
        if (typeof code === "number") throw new RpcError(code, excerpt(String(words)), data);
      }
      throw failure(this.#url, response, text);
    }
    const session = headers.get("mcp-session-id");
    if (session !== null && "method" in message && message.method === "initialize") {
      this.#session = session;
    }
    const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (!isRequest) {
      await response.body?.cancel();
      if ("method" in message && message.method === "notifications/initialized") this.#listen();
      return;
    }
    if (type === "text/event-stream") return await this.#readStream(response, signal);
    const text = await bodyText(response, MAX_HTTP_ANSWER);
    if (type !== "application/json") {
      throw new Error(`it answered with ${type || "no content type"}, not JSON: ${excerpt(text)}`);
    }
    this.peer.receive(text);
    if (signal.aborted) return;
    throw new Error(
      text.length >= MAX_HTTP_ANSWER ? TOO_LONG : "its answer is not to this request",
    );
  }

  /** Listens to the stream of an older server for changed lists and questions, which the SDK sends there. */
  async #listen(): Promise<void> {
    const { signal } = this.#over;
    try {
      const first = await this.#resume(undefined, signal);
      const isStream = first.headers.get("content-type")?.includes("event-stream");
      if (!first.ok || !isStream) return await first.body?.cancel();
      await this.#readStream(first, signal, Infinity);
    } catch {
      // The session is over or the server is gone. The next request reports it.
    }
  }

  async #resume(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = {
      accept: "text/event-stream",
      ...await this.#headers(),
      ...lastId !== undefined && { "last-event-id": lastId },
    };
    return await openResponse(this.#url, { method: "GET", headers, signal });
  }

  /** Reads events until `signal` is aborted: once its request is answered, or never without one. */
  async #readStream(
    first: Response,
    signal: AbortSignal,
    maxBytes = MAX_HTTP_ANSWER,
  ): Promise<void> {
    let response = first;
    let lastId: string | undefined;
    for (let round = 0;; round++) {
      const events = await this.#readEvents(response, signal, maxBytes);
      lastId = events.lastId ?? lastId;
      if (signal.aborted) return;
      // Only revisions with sessions can resume a stream, and only if it has ids or answers no request.
      const isOver = this.#legacy === undefined || round >= MAX_RESUMES;
      if (isOver || lastId === undefined && maxBytes < Infinity) {
        throw new Error("its answer broke off");
      }
      await wait(events.retryMs ?? RESUME_MS, signal);
      response = await this.#resume(lastId, signal);
      if (response.ok) continue;
      const text = await bodyText(response, MAX_FAILURE_BYTES);
      throw failure(this.#url, response, text);
    }
  }

  async #readEvents(
    response: Response,
    signal: AbortSignal,
    maxBytes: number,
  ): Promise<SseDecoder> {
    const decoder = new SseDecoder(({ event, data, cut }) => {
      if (event === "message" && data !== "" && !cut) this.peer.receive(data);
    });
    let total = 0;
    try {
      for await (const chunk of response.body ?? []) {
        total += chunk.length;
        decoder.push(chunk);
        if (signal.aborted || total > maxBytes) break;
      }
    } catch {
      // The connection broke, or was closed because the answer is complete.
    }
    if (total > maxBytes && !signal.aborted) throw new Error(TOO_LONG);
    return decoder;
  }
}

function modernHeaders(message: RpcMessage): Record<string, string> {
  if (!("method" in message)) return {};
  const { method, params = {} } = message;
  // The revision of a handshake is not agreed on yet.
  if (method === "initialize") return {};
  const isNamed = ["tools/call", "resources/read", "prompts/get"].includes(method);
  const name = method === "resources/read" ? params.uri : params.name;
  return {
    "mcp-protocol-version": MODERN_VERSION,
    "mcp-method": method,
    ...isNamed && typeof name === "string" && { "mcp-name": headerValue(name) },
  };
}

/** Returns a header value. Anything but printable ASCII is sent as base64. */
export function headerValue(value: string): string {
  const isPlain = /^[!-~](?:[\t -~]*[!-~])?$/.test(value) && !/^=\?base64\?.*\?=$/i.test(value);
  if (isPlain || value === "") return value;
  return `=?base64?${new TextEncoder().encode(value).toBase64()}?=`;
}

function failure(url: string, { status, headers }: Response, text: string): Error {
  const { host } = new URL(url);
  if (status >= 300 && status < 400) {
    const where = URL.parse(headers.get("location") ?? "nowhere:", url)?.href ?? "";
    const why = `${host} redirects to ${excerpt(where)}, which is not followed`;
    return new HttpStatusError(status, `${why}: put that address in the definition if it is right`);
  }
  const said = excerpt(text.replace(/<[^<>]*>/g, " "));
  return new HttpStatusError(status, `${host} answered ${status}${said ? `: ${said}` : ""}`);
}
