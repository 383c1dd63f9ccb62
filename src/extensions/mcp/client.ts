/** One connection to a server, in either era of the protocol. @module */

import { RPC_CODES, RpcError, type RpcParams } from "../../rpc/message.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { Elicit } from "../../session/form.ts";
import { elicitationOf } from "./elicitation.ts";
import { type Carrier, type CarrierHandlers, HttpStatusError, isOlder } from "./http.ts";
import { limitedBy } from "./time_limit.ts";
import { progressText } from "./results.ts";
import {
  CLIENT_INFO,
  type Era,
  LEGACY_VERSIONS,
  MCP_CODES,
  MODERN_VERSION,
  notSpoken,
} from "./protocol.ts";

/** The time for a modern server to answer the first question, in ms. The handshake is tried after it. */
const DISCOVER_MS = 3000;
/** The time for a server to start, in ms. It may have to be downloaded first. */
const START_MS = 60_000;
const REQUEST_MS = 60_000;
/** The number of times that a server may ask for more input before it answers one request. */
const MAX_INPUT_ROUNDS = 10;

interface ClientOptions {
  /** The server's name in the user's settings. */
  name: string;
  era?: Era | undefined;
  timeoutMs?: number | undefined;
  /** Asks the user for what the server wants to know. If it is missing, the user cannot be asked. */
  elicit?: Elicit | undefined;
  onToolsChanged?(): void;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((text: string) => void) | undefined;
  timeoutMs?: number | undefined;
}

export class McpClient {
  /** Of the server's description of itself, only its capabilities are used. */
  facts: { era: Era; version: string; has: Partial<Record<ListKind, unknown>> } = {
    era: "legacy",
    version: "",
    has: {},
  };
  /** Set once it is open. */
  carrier!: Carrier;
  readonly #progress = new Map<string, (params: RpcParams) => void>();
  #nextToken = 1;
  /** The number of questions that the user is being asked for the server. */
  #asking = 0;

  private constructor(private readonly options: ClientOptions) {}

  /**
   * Connects to a server. Sends a modern request first, and the handshake if the server does not know that
   * request, does not answer it in time, or is known to be older.
   *
   * @throws {Error} with the end of a sentence about the server, if it cannot be used.
   */
  static async connect(
    open: (handlers: CarrierHandlers) => Promise<Carrier> | Carrier,
    options: ClientOptions,
    signal?: AbortSignal,
  ): Promise<McpClient> {
    const client = new McpClient(options);
    client.carrier = await open(client.#handlers());
    try {
      await client.#agree(signal);
      return client;
    } catch (error) {
      // Checked first: the end of a program invalidates what is known of it.
      const failure = client.#startFailure(error, signal);
      await client.carrier.end();
      throw failure;
    }
  }

  /**
   * Sends a request and answers the questions that the server asks meanwhile.
   * @throws {RpcError} the server's error; {Error} if there is no answer; the reason of `signal`.
   */
  async request(method: string, params: RpcParams, options: RequestOptions = {}): Promise<Answer> {
    let more: RpcParams = {};
    for (let round = 1; round <= MAX_INPUT_ROUNDS; round++) {
      const result = await this.#once(method, { ...params, ...more }, options);
      if (this.facts.era === "legacy" || result.resultType !== "input_required") return result;
      const { inputRequests, requestState } = result;
      more = {
        ...isObject(inputRequests) && {
          inputResponses: await this.#answers(inputRequests, options.signal),
        },
        ...requestState !== undefined && { requestState },
      };
    }
    throw new Error(`it asked for more input ${MAX_INPUT_ROUNDS} times without an answer`);
  }

  /** Returns a list, page by page, until it has more than `limit` entries. */
  async list(
    kind: ListKind,
    limit: number,
    options: RequestOptions = {},
  ): Promise<unknown[]> {
    const entries: unknown[] = [];
    let params: RpcParams = {};
    // Pages may be empty, and without end.
    for (let pages = 0; pages < limit && entries.length <= limit; pages++) {
      const page = await this.request(`${kind}/list`, params, options);
      const part = page[kind];
      if (!Array.isArray(part)) {
        throw new Error(`its answer to ${kind}/list has no list of ${kind}`);
      }
      entries.push(...part.slice(0, limit + 1));
      const { nextCursor: cursor } = page;
      // An empty cursor is a valid cursor.
      if (typeof cursor !== "string") break;
      params = { cursor };
    }
    return entries;
  }

  #handlers(): CarrierHandlers {
    return {
      onRequest: (method, params, signal) => this.#answer(method, params, signal),
      onNotification: (method, params) => this.#notice(method, params),
      // The protocol forbids cancelling the handshake.
      cancellation: (id, method) =>
        method === "initialize" || method === "server/discover" ? undefined : {
          method: "notifications/cancelled",
          params: { requestId: id, reason: "given up" },
        },
    };
  }

  async #agree(given: AbortSignal | undefined): Promise<void> {
    using limited = limitedBy(given, START_MS, `it did not answer within ${START_MS / 1000} s`);
    const { signal } = limited;
    if (this.options.era !== "legacy" && await this.#isModern(signal)) return;
    await this.#initialize(signal).catch(async (error) => {
      if (!(error instanceof RpcError)) throw error;
      // A server that started slowly, or was older the last time, may be modern.
      if (!await this.#isModern(signal)) throw error;
    });
  }

  /** Sends a modern request. Returns false if the server is older or does not answer in time. */
  async #isModern(signal: AbortSignal): Promise<boolean> {
    using first = limitedBy(signal, DISCOVER_MS, "");
    try {
      await this.#discover(first.signal);
      return true;
    } catch (error) {
      const isLate = first.signal.aborted && !signal.aborted;
      if (isLate || isOlder(error)) return false;
      throw error;
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const result = await this.#send("server/discover", {}, signal);
    // Some older servers answer any request with an empty result.
    if (!isObject(result) || !Array.isArray(result.supportedVersions)) {
      throw new RpcError(RPC_CODES.methodNotFound, "no answer to server/discover");
    }
    if (!result.supportedVersions.includes(MODERN_VERSION)) {
      throw notSpoken(result.supportedVersions);
    }
    this.#isKnown("modern", MODERN_VERSION, result);
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { peer } = this.carrier;
    const result = await peer.request("initialize", {
      protocolVersion: LEGACY_VERSIONS[0],
      capabilities: this.#capabilities,
      clientInfo: CLIENT_INFO,
    }, { signal });
    const version = isObject(result) ? result.protocolVersion : undefined;
    if (typeof version !== "string" || !LEGACY_VERSIONS.includes(version)) {
      throw notSpoken([version]);
    }
    this.#isKnown("legacy", version, result as Answer);
    await peer.notify("notifications/initialized");
  }

  #isKnown(era: Era, version: string, { capabilities }: Answer): void {
    this.facts = { era, version, has: objectOr(capabilities) };
    this.carrier.speaks?.(version);
  }

  get #capabilities(): Record<string, unknown> {
    return this.options.elicit ? { elicitation: { form: {}, url: {} } } : {};
  }

  async #once(method: string, params: RpcParams, options: RequestOptions): Promise<Answer> {
    const { timeoutMs = this.options.timeoutMs ?? REQUEST_MS } = options;
    const words = `it sent no answer to ${method} within ${timeoutMs / 1000} s`;
    using limited = limitedBy(options.signal, timeoutMs, words, () => this.#asking > 0);
    const token = `p${this.#nextToken++}`;
    if (options.onProgress) {
      this.#progress.set(token, (progress) => {
        limited.renew();
        options.onProgress!(progressText(progress));
      });
    }
    try {
      const given = options.onProgress ? { ...params, _meta: { progressToken: token } } : params;
      const result = await this.#send(method, given, limited.signal);
      if (!isObject(result)) throw new Error(`its answer to ${method} is not an object`);
      return result;
    } finally {
      this.#progress.delete(token);
    }
  }

  async #send(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown> {
    // Before a revision is agreed on, requests have the modern form.
    const isModern = this.facts.version === "" || this.facts.era === "modern";
    const meta = isModern && {
      "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
      "io.modelcontextprotocol/clientCapabilities": this.#capabilities,
      "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    };
    const given = isObject(params._meta) ? params._meta : undefined;
    const full = meta || given ? { ...params, _meta: { ...given, ...meta } } : params;
    const ask = () => this.carrier.peer.request(method, full, { signal });
    return await ask().catch((error) => {
      const isVersion = error instanceof RpcError && error.code === MCP_CODES.unsupportedVersion;
      if (!isModern || !isVersion) throw error;
      const { supported } = objectOr(error.data);
      const versions = Array.isArray(supported) ? supported : [];
      if (!versions.includes(MODERN_VERSION)) throw notSpoken(versions);
      return ask();
    });
  }

  async #answer(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown> {
    if (method === "ping") return {};
    const { elicit, name } = this.options;
    if (method === "elicitation/create" && elicit) {
      const question = elicitationOf(name, params);
      this.#asking++;
      try {
        return await elicit(question, signal);
      } finally {
        this.#asking--;
      }
    }
    // The server, or the model whose call needs it, reads this.
    const asked = shortened(oneLine(method), 100);
    throw new RpcError(RPC_CODES.methodNotFound, `copilot does not offer ${asked} to servers`);
  }

  async #answers(
    requests: Record<string, unknown>,
    signal = new AbortController().signal,
  ): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {};
    for (const [key, request] of Object.entries(requests)) {
      const { method, params } = objectOr(request);
      answers[key] = this.options.elicit
        ? await this.#answer(String(method), objectOr(params), signal)
        : { action: "cancel" };
    }
    return answers;
  }

  #notice(method: string, params: RpcParams): void {
    if (method === "notifications/progress") {
      this.#progress.get(String(params.progressToken))?.(params);
    } else if (method === "notifications/cancelled") {
      this.carrier.peer.cancelIncoming(params.requestId);
    } else if (method === "notifications/tools/list_changed") this.options.onToolsChanged?.();
  }

  #startFailure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return error;
    if (error instanceof HttpStatusError && [400, 404, 405].includes(error.status)) {
      const old = 'a server that speaks only the transport "sse" of 2024 answers so, too';
      return new Error(`${error.message} (${old})`, { cause: error });
    }
    const said = this.carrier.lastWords?.();
    const { message } = error as Error;
    return !said ? error : new Error(`${message} (${shortened(said, 600)})`, { cause: error });
  }
}

type Answer = Record<string, unknown>;
type ListKind = "tools" | "prompts" | "resources";
