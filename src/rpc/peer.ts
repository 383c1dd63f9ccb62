/**
 * One side of a JSON-RPC 2.0 connection. Both sides are equal: each sends requests and notifications, and answers
 * those of the other. The owner of the peer transports the messages: `send` takes outgoing ones, and `receive`
 * accepts incoming ones. @module
 */

import {
  readMessage,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcMessage,
  type RpcParams,
} from "./message.ts";

/** The maximum number of incoming requests at a time. Further ones are refused. */
const MAX_INCOMING = 100;

export interface RpcPeerOptions {
  /** Sends a message. A rejection fails the request. `signal` is aborted once its answer is not needed. */
  send(message: RpcMessage, signal?: AbortSignal): Promise<void>;
  /** Answers a request; if missing, with "method not found". @throws {RpcError} to answer with its code. */
  onRequest?(method: string, params: RpcParams, call: RpcCall): Promise<unknown> | unknown;
  /** Handles a notification. If it throws, the connection closes. */
  onNotification?(method: string, params: RpcParams): void;
  /** Returns the notification that cancels one of our requests; undefined to send no notification. */
  cancellation?(id: RpcId, method: string): { method: string; params: RpcParams } | undefined;
  /** Called with the reason that input is ignored: it is invalid, or an answer without a request. */
  onIgnored?(reason: string): void;
  /** True to answer invalid input with an error, as a server must. By default, it is ignored. */
  answersInvalid?: boolean;
}

interface RpcCall {
  id: RpcId;
  /** Aborted when the other side cancels the request, or the connection ends. */
  signal: AbortSignal;
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

export class RpcPeer {
  #nextId = 1;
  readonly #pending = new Map<RpcId, PendingRequest>();
  /** Requests given up whose answers may still come. */
  readonly #abandoned = new Set<RpcId>();
  readonly #incoming = new Map<RpcId, AbortController>();
  readonly #over = Promise.withResolvers<Error>();
  #reason: Error | undefined;

  constructor(private readonly options: RpcPeerOptions) {}

  /** Resolves with the reason once the connection is closed. */
  get closed(): Promise<Error> {
    return this.#over.promise;
  }

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
      if (!this.#pending.has(id)) return;
      this.#abandon(id);
      answer.reject(signal!.reason);
      const told = this.options.cancellation?.(id, method);
      if (told) this.notify(told.method, told.params).catch(() => {});
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

  /** Handles one parsed message of the other side, or a batch. Never throws. */
  receive(value: unknown): void {
    if (Array.isArray(value)) {
      for (const one of value) this.#take(one);
      if (value.length === 0) this.refuse("a batch must not be empty");
    } else this.#take(value);
  }

  receiveText(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.refuse(`not JSON: ${text.slice(0, 200)}`, null, RPC_CODES.parseError);
    }
    this.receive(value);
  }

  /** Records that some input is not a message. A serving peer answers it. */
  refuse(reason: string, id: RpcId | null = null, code: number = RPC_CODES.invalidRequest): void {
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
    const message = readMessage(value);
    switch (message.kind) {
      case "invalid":
        return this.refuse(message.reason, message.id);
      case "request":
        return void this.#answer(message.id, message.method, message.params);
      case "notification":
        try {
          return this.options.onNotification?.(message.method, message.params);
        } catch (error) {
          return this.close(error as Error);
        }
      case "result":
        return this.#settle(message.id)?.resolve(message.result);
      case "error":
        return this.#settle(message.id)?.reject(message.error);
    }
  }

  /** Returns the request that an answer belongs to; undefined if it was cancelled or does not exist. */
  #settle(id: RpcId | null): PendingRequest | undefined {
    const pending = id === null ? undefined : this.#pending.get(id);
    if (id !== null) this.#pending.delete(id);
    if (pending || id !== null && this.#abandoned.delete(id)) return pending;
    this.options.onIgnored?.(`an answer to no request: id ${JSON.stringify(id)}`.slice(0, 200));
  }

  /** Remembers the id, because an answer may still arrive. The oldest ids are dropped. */
  #abandon(id: RpcId): void {
    this.#pending.delete(id);
    this.#abandoned.add(id);
    if (this.#abandoned.size <= MAX_INCOMING) return;
    const [oldest] = this.#abandoned;
    this.#abandoned.delete(oldest!);
  }

  async #answer(id: RpcId, method: string, params: RpcParams): Promise<void> {
    if (this.#incoming.has(id)) {
      return this.#answerError(id, new RpcError(RPC_CODES.invalidRequest, "the id is in use"));
    }
    if (this.#incoming.size >= MAX_INCOMING) {
      return this.#answerError(id, new RpcError(RPC_CODES.internalError, "too many requests"));
    }
    const controller = new AbortController();
    this.#incoming.set(id, controller);
    try {
      if (!this.options.onRequest) {
        throw new RpcError(RPC_CODES.methodNotFound, `method not found: ${method}`);
      }
      const call = { id, signal: controller.signal };
      const result = await this.options.onRequest(method, params, call);
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
