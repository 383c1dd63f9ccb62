/** The Agent Client Protocol 1 (https://agentclientprotocol.com): sessions over JSON-RPC lines on stdio. @module */

import { attempt } from "../../attempt.ts";
import { VERSION } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { definitionsIn, type McpDefinition } from "../../extensions/mcp/definition.ts";
import { invalidParams, RPC_CODES, RpcError, type RpcParams } from "../../rpc/message.ts";
import type { RpcPeer, RpcPeerOptions } from "../../rpc/peer.ts";
import type { StoredSession } from "../../records/store.ts";
import type { Frontend } from "../../session/frontend.ts";
import {
  forgetSession,
  forkSession,
  recordedSession,
  recordedSessions,
  sessionTitle,
} from "../../session/record.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/extension.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { isAbsolute } from "../../text/std_path.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { endingWith } from "../../wire/wait.ts";
import { AcpSession } from "./acp_session.ts";
import type { Editor } from "./editor.ts";

const PROTOCOL_VERSION = 1;
const PAGE_SESSIONS = 50;
/** The protocol's errors, in addition to those of JSON-RPC. */
const ACP_CODES = { cancelled: -32800, authRequired: -32000, notFound: -32002 } as const;

export interface AcpOptions {
  /** Connects the editor. The peer closes when the editor disconnects. */
  connect(options: Omit<RpcPeerOptions, "send">): RpcPeer;
  /** The folder of a server, for clients that name no folder. */
  folder?: string;
  /** Creates an unopened session in a folder. @throws {UsageError} if no server or no key is known. */
  makeSession(
    folder: string,
    frontend: Frontend,
    more?: Pick<SessionOptions, "resumes" | "editor"> & { servers?: readonly McpDefinition[] },
  ): Session;
  signal: AbortSignal;
}

export async function serveEditor(options: AcpOptions): Promise<void> {
  const server = new AcpServer(options);
  const peer = options.connect({
    answersInvalid: true,
    onRequest: (method, params, signal) => server.answer(method, params, signal),
    onNotification: (method, params) => {
      if (method === "session/cancel") server.cancel(params);
      else if (method === "$/cancel_request") peer.cancelIncoming(params.requestId);
    },
    cancellation: (requestId) => ({ method: "$/cancel_request", params: { requestId } }),
  });
  server.peer = peer;
  // All clients of `copilot serve` share the signal of the options.
  using stop = endingWith(options.signal);
  stop.signal.addEventListener("abort", () => peer.close(stop.signal.reason));
  await peer.closed;
  await server[Symbol.asyncDispose]();
}

type Method = (params: RpcParams, signal: AbortSignal) => Promise<unknown> | unknown;

class AcpServer implements AsyncDisposable, Editor {
  accepts = { notices: false, choices: false };
  fs = { readTextFile: false, writeTextFile: false };
  readonly #sessions = new Map<string, AcpSession>();
  /** Set before the first message. */
  peer!: RpcPeer;
  #isInitialized = false;

  readonly #methods: Readonly<Record<string, Method>> = {
    initialize: (params) => this.#initialize(params),
    authenticate: (params) => this.#authenticate(params),
    "session/new": (params, signal) => this.#start(params, signal),
    "session/fork": (params, signal) =>
      this.#start(params, signal, () => forkSession(recordOf(textIn(params, "sessionId")))),
    "session/load": (params, signal) => this.#resume(params, signal, true),
    "session/resume": (params, signal) => this.#resume(params, signal, false),
    "session/list": (params) => listSessions(params),
    "session/close": async (params) => {
      await this.#close(this.#sessionOf(params).id);
      return {};
    },
    "session/delete": async (params) => {
      const id = textIn(params, "sessionId");
      const isOpen = await this.#close(id);
      if (!forgetSession(fileName(id)) && !isOpen) throw unknownSession(id);
      return {};
    },
    "session/set_mode": async (params, signal) => {
      await this.#sessionOf(params).set("mode", params.modeId, signal);
      return {};
    },
    "session/set_config_option": async (params, signal) => {
      const session = this.#sessionOf(params);
      return { configOptions: await session.set(params.configId, params.value, signal) };
    },
    "session/prompt": (params, signal) => this.#sessionOf(params).prompt(params.prompt, signal),
  };

  constructor(private readonly options: AcpOptions) {}

  /** Answers a request. @throws {RpcError} */
  async answer(name: string, params: RpcParams, signal: AbortSignal): Promise<unknown> {
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    if (method === undefined) {
      throw new RpcError(RPC_CODES.methodNotFound, `there is no method ${repeated(name)}`);
    }
    if (!this.#isInitialized && name !== "initialize") {
      throw new RpcError(RPC_CODES.invalidRequest, "the first request must be initialize");
    }
    try {
      return await method(params, signal);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      if (signal.aborted) throw new RpcError(ACP_CODES.cancelled, "cancelled");
      const message = oneLine(reasonOf(error));
      if (error instanceof UsageError) throw new RpcError(ACP_CODES.authRequired, message);
      throw new RpcError(RPC_CODES.internalError, message);
    }
  }

  cancel({ sessionId }: RpcParams): void {
    this.#sessions.get(String(sessionId))?.cancel();
  }

  update(sessionId: string, update: Record<string, unknown>): void {
    // Do not wait for an editor that has stopped reading.
    this.peer.notify("session/update", { sessionId, update })
      .catch((error) => this.peer.close(error));
  }

  async request(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown> {
    return await this.peer.request(method, params, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#close(id)));
  }

  #initialize({ protocolVersion, clientCapabilities }: RpcParams): unknown {
    if (!Number.isInteger(protocolVersion)) {
      throw invalidParams("protocolVersion must be an integer");
    }
    const { session, auth, fs, _meta } = objectOr(clientCapabilities);
    const hasTerminal = objectOr(auth).terminal === true;
    this.accepts = {
      notices: isObject(objectOr(session).notices),
      choices: objectOr(_meta)["copilot/choices"] === true,
    };
    const { readTextFile, writeTextFile } = objectOr(fs);
    this.fs = { readTextFile: readTextFile === true, writeTextFile: writeTextFile === true };
    this.#isInitialized = true;
    const { folder } = this.options;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "copilot", title: "copilot", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
      },
      authMethods: [{ ...SET_UP, ...hasTerminal && { type: "terminal", args: [] } }],
      ...folder !== undefined && { _meta: { "copilot/folder": folder } },
    };
  }

  async #authenticate({ methodId }: RpcParams): Promise<unknown> {
    if (methodId !== SET_UP.id) {
      throw invalidParams(`there is no method ${repeated(String(methodId))}`);
    }
    const folder = attempt(Deno.cwd) ?? "/";
    await using _ = new AcpSession(this, (frontend) => this.options.makeSession(folder, frontend));
    return {};
  }

  /** Opens and stores a session. `id`: the editor's existing name of it. */
  async #open(
    params: RpcParams,
    signal: AbortSignal,
    find?: () => StoredSession | Promise<StoredSession>,
    id?: string,
  ): Promise<AcpSession> {
    const folder = textIn(params, "cwd");
    if (!isAbsolute(folder)) throw invalidParams("cwd must be an absolute path");
    const info = await Deno.stat(folder).catch(() => undefined);
    if (!info?.isDirectory) throw invalidParams(`cwd is not a folder: ${repeated(folder)}`);
    const servers = serversIn(params.mcpServers);
    const resumes = await find?.();
    const session = new AcpSession(
      this,
      (frontend, editor) =>
        this.options.makeSession(folder, frontend, { resumes, editor, servers }),
    );
    try {
      await session.open(signal, id);
      // The editor may have left meanwhile.
      signal.throwIfAborted();
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
    this.#sessions.set(session.id, session);
    // Queued updates are sent after the answer that names the session.
    setTimeout(() => session.announce(), 0);
    return session;
  }

  async #start(
    params: RpcParams,
    signal: AbortSignal,
    find?: () => StoredSession,
  ): Promise<unknown> {
    const session = await this.#open(params, signal, find);
    return { sessionId: session.id, ...session.settings };
  }

  /** Resumes a recorded session. `replays`: the editor receives all of it again before the answer. */
  async #resume(params: RpcParams, signal: AbortSignal, replays: boolean): Promise<unknown> {
    const id = textIn(params, "sessionId");
    const session = await this.#open(params, signal, async () => {
      recordOf(id);
      await this.#close(id);
      return recordOf(id);
    }, id);
    if (replays) session.replay();
    session.tellState();
    return session.settings;
  }

  #sessionOf(params: RpcParams): AcpSession {
    const id = textIn(params, "sessionId");
    const session = this.#sessions.get(id);
    if (session === undefined) throw unknownSession(id);
    return session;
  }

  /** Ends a session and everything it started. Returns false if it is not open. */
  async #close(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.[Symbol.asyncDispose]();
    return session !== undefined;
  }
}

/** The client offers this command to a user without a model: it opens the set-up in a terminal. */
const SET_UP = {
  id: "setup",
  name: "Choose a model",
  description: "Lists the model servers of this machine and hosted ones; the choice is kept",
};

const fileName = (id: string): string => `${id}.jsonl`;

function listSessions({ cwd, cursor = "0" }: RpcParams): unknown {
  const folder = typeof cwd === "string" ? cwd : undefined;
  const from = Number(cursor);
  if (!Number.isSafeInteger(from) || from < 0) throw invalidParams("the cursor is invalid");
  const found = [...recordedSessions(folder).drop(from).take(PAGE_SESSIONS + 1)];
  const sessions = found.slice(0, PAGE_SESSIONS).map((stored) => ({
    sessionId: stored.name.replace(/\.jsonl$/, ""),
    cwd: stored.head.folder,
    title: oneLine(sessionTitle(stored).title),
    updatedAt: stored.updated,
  }));
  const isLast = found.length === sessions.length;
  return { sessions, ...!isLast && { nextCursor: `${from + PAGE_SESSIONS}` } };
}

/** Reads the MCP servers from the editor. The user has approved them there. */
function serversIn(given: unknown): McpDefinition[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || !given.every(isObject)) {
    throw invalidParams("mcpServers must be a list of objects");
  }
  const named = (pairs: unknown) =>
    Object.fromEntries(
      (Array.isArray(pairs) ? pairs.filter(isObject) : []).map(({ name, value }) => [name, value]),
    );
  const servers = given.map(({ name, type, command, args, env, url, headers }) => [
    String(name),
    type === undefined || type === "stdio"
      ? { command, args, env: named(env) }
      : { type, url, headers: named(headers) },
  ]);
  return definitionsIn({ mcpServers: Object.fromEntries(servers) }, { scope: "given" });
}

function textIn(params: RpcParams, name: string): string {
  const value = params[name];
  if (typeof value !== "string" || value === "") throw invalidParams(`${name} must be a text`);
  return value;
}

const repeated = (name: string): string => shortened(oneLine(name), 100);
const unknownSession = (id: string): RpcError =>
  new RpcError(ACP_CODES.notFound, `there is no session ${repeated(id)}`);

function recordOf(id: string): StoredSession {
  const stored = recordedSession(fileName(id));
  if (stored === undefined) throw unknownSession(id);
  return stored;
}
