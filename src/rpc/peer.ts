/**
 * One side of a JSON-RPC 2.0 connection. Both sides are equal: each sends requests and notifications, and answers
 * those of the other. The owner of the peer transports the messages: `send` takes outgoing ones, and `receive`
 * accepts the text of incoming ones. @module
 */

import { isObject } from "../text/json.ts";
import { RPC_CODES, RpcError, type RpcId, type RpcMessage, type RpcParams } from "./message.ts";

export interface RpcPeerOptions {
  /** Sends a message. A rejection fails the request. `signal` is aborted once its answer is not needed. */
  send(message: RpcMessage, signal?: AbortSignal): Promise<void>;
  /**
   * Answers a request; if missing, with "method not found". `signal` is aborted when the other side cancels it, or the
   * connection ends. @throws {RpcError} to answer with its code.
   */
  onRequest?(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown> | unknown;
  /** Handles a notification. It must not throw. */
  onNotification?(method: string, params: RpcParams): void;
  /** Returns the notification that cancels one of our requests; undefined to send no notification. */
  cancellation?(id: RpcId, method: string): { method: string; params: RpcParams } | undefined;
  /** Called with the reason that input is ignored: it is invalid. */
  onIgnored?(reason: string): void;
  /** True to answer invalid input with an error, as a server must. By default, it is ignored. */
  answersInvalid?: boolean;
}

export class RpcPeer {
  #nextId = 1;
  readonly #pending = new Map<RpcId, PromiseWithResolvers<unknown>>();
  readonly #incoming = new Map<RpcId, AbortController>();
  readonly #over = Promise.withResolvers<Error>();
  /** Resolves with the reason once the connection is closed. */
  readonly closed = this.#over.promise;
  #reason: Error | undefined;

  constructor(private readonly options: RpcPeerOptions) {}

  get isClosed(): boolean {
    return this.#reason !== undefined;
  }

  /**
   * Sends a request and returns its result. Aborting `signal` cancels it and notifies the other side.
   *
   * @throws {RpcError} the other side's error; the reason of `signal`; the reason of the close.
   */
  async request(
    method: string,
    params: RpcParams,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#reason) throw this.#reason;
    const id = this.#nextId++;
    const over = new AbortController();
    const answer = Promise.withResolvers<unknown>();
    const abandon = () => {
      this.#pending.delete(id);
      answer.reject(signal!.reason);
      const notice = this.options.cancellation?.(id, method);
      if (notice) this.notify(notice.method, notice.params).catch(() => {});
    };
    this.#pending.set(id, answer);
    signal?.addEventListener("abort", abandon);
    try {
      this.options.send({ jsonrpc: "2.0", id, method, params }, over.signal)
        .catch((error) => answer.reject(error));
      return await answer.promise;
    } finally {
      this.#pending.delete(id);
      signal?.removeEventListener("abort", abandon);
      over.abort("over"); // without a reason the runtime makes an error
    }
  }

  /** Sends a notification. @throws what `send` throws; the reason of the close. */
  async notify(method: string, params?: RpcParams): Promise<void> {
    if (this.#reason) throw this.#reason;
    await this.options.send({ jsonrpc: "2.0", method, ...params && { params } });
  }

  /** Handles the JSON of one message of the other side, or of a batch. Never throws. */
  receive(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#refuse(`not JSON: ${text.slice(0, 200)}`, null, RPC_CODES.parseError);
    }
    const messages = Array.isArray(value) ? value : [value];
    if (messages.length === 0) this.#refuse("a batch must not be empty");
    for (const one of messages) this.#take(one);
  }

  /** Records that some input is not a message. A serving peer answers it. */
  #refuse(reason: string, id: RpcId | null = null, code: number = RPC_CODES.invalidRequest): void {
    this.options.onIgnored?.(reason);
    if (this.options.answersInvalid) this.#answerError(id, new RpcError(code, reason));
  }

  /** Cancels a request of the other side, as its notification asks. */
  cancelIncoming(id: unknown): void {
    this.#incoming.get(id as RpcId)?.abort(new DOMException("cancelled", "AbortError"));
  }

  /** Closes the connection. Open requests on both sides end with `reason`. */
  close(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    for (const controller of this.#incoming.values()) controller.abort(reason);
    this.#over.resolve(reason);
  }

  #take(value: unknown): void {
    if (this.#reason) return;
    if (!isObject(value)) return this.#refuse("a message must be a JSON object");
    const isId = typeof value.id === "string" || Number.isFinite(value.id);
    const id = isId ? value.id as RpcId : null;
    if (value.jsonrpc !== "2.0") return this.#refuse('jsonrpc must be "2.0"', id);
    const { method, params = {} } = value;
    if (method === undefined) return this.#settle(id, value);
    if (typeof method !== "string") return this.#refuse("method must be a string", id);
    if (!isObject(params)) return this.#refuse("params must be an object", id);
    if (Object.hasOwn(value, "id")) {
      if (id === null) return this.#refuse("id must be a string or a number");
      return void this.#answer(id, method, params);
    }
    this.options.onNotification?.(method, params);
  }

  /** Settles the request that an answer belongs to. Another answer, as to a cancelled request, is dropped. */
  #settle(id: RpcId | null, { result, error }: Record<string, unknown>): void {
    const pending = this.#pending.get(id!);
    if (isObject(error)) {
      const { code, message, data } = error;
      const known = typeof code === "number" ? code : RPC_CODES.internalError;
      const words = typeof message === "string" && message || "an error without a message";
      return pending?.reject(new RpcError(known, words, data));
    }
    if (result === undefined) return this.#refuse("it has no method, result or error", id);
    pending?.resolve(result);
  }

  async #answer(id: RpcId, method: string, params: RpcParams): Promise<void> {
    const controller = new AbortController();
    this.#incoming.set(id, controller);
    try {
      if (!this.options.onRequest) {
        throw new RpcError(RPC_CODES.methodNotFound, `method not found: ${method}`);
      }
      const result = await this.options.onRequest(method, params, controller.signal);
      await this.#send({ jsonrpc: "2.0", id, result: result ?? {} });
    } catch (error) {
      this.#answerError(id, error);
    } finally {
      this.#incoming.delete(id);
    }
  }

  #answerError(id: RpcId | null, thrown: unknown): void {
    const { code = RPC_CODES.internalError, data } = thrown instanceof RpcError ? thrown : {};
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    this.#send({ jsonrpc: "2.0", id, error: { code, message, ...data !== undefined && { data } } });
  }

  /** Sends an answer. If that fails, the connection is closing, which its carrier reports. */
  async #send(message: RpcMessage): Promise<void> {
    if (this.#reason) return;
    await this.options.send(message).catch(() => {});
  }
}
