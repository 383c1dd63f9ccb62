/** One server of a session. It starts on first use, and its tools are compared with the approved ones. @module */

import { RpcError } from "../../rpc/message.ts";
import { isObject, isSameJson } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import type { FolderTrust, TrustVerdict } from "../../safety/folder_trust.ts";
import type { Elicit } from "../../session/form.ts";
import type { Confine } from "../../types/confine.ts";
import type { ToolContext, ToolOutcome } from "../../types/tool.ts";
import type { VariableReader } from "../../user_files.ts";
import { McpClient, type RequestOptions } from "./client.ts";
import { broughtBy, expanded, type McpDefinition, variablesOf } from "./definition.ts";
import { HttpCarrier, HttpStatusError } from "./http.ts";
import type { MemoryStore, ServerMemory } from "./memory.ts";
import type { HttpAuth } from "./oauth.ts";
import { paramHeaders, problemOfHeaders } from "./param_headers.ts";
import {
  promptDefinitionOf,
  resourceDefinitionOf,
  type ToolDefinition,
  toolDefinitionOf,
} from "./protocol.ts";
import { contentText, resourceText, resultOutcome } from "./results.ts";
import { startProgram } from "./stdio.ts";
import { orAborted } from "../../wire/wait.ts";

const MAX_LIST = 1000;
const CALL_MS = 120_000;
const MAX_SIGN_INS = 3;

export interface ServerOptions {
  folder: string;
  memory: MemoryStore;
  folderTrust: FolderTrust;
  env: readonly string[];
  variables: VariableReader;
  /** Sandboxes the server with that id, separately from all others. */
  confine?: ((id: string, scope: McpDefinition["scope"]) => Confine) | undefined;
  /** Returns the name of the view that programs would get now. A program with another view is restarted. */
  view?(): Promise<string>;
  /** How long a wrong name of a tool waits for servers whose tools are not known, in ms. */
  lookMs?: number;
  /** True if the user trusts the folder's definitions for this run without seeing them. */
  isTrusted: boolean;
  elicit?: Elicit | undefined;
  /** Returns the authorization for an address, if any. */
  authFor(definition: McpDefinition): HttpAuth | undefined;
  /** The user's command that approves servers and tools, for news. */
  command?: "/mcp" | "copilot mcp";
  /** Gets lines for the user. */
  onNews?(...lines: string[]): void;
}

/** A tool that differs from the approved one. Without `before` it is new. */
export interface ToolChange {
  before?: ToolDefinition | undefined;
  now: ToolDefinition;
}

type ServerState = "ready" | "unapproved" | "disabled" | "broken";

export class McpServer {
  /** The reason why it could not be used the last time; undefined if it could. */
  failure: string | undefined;
  #client: Promise<McpClient> | undefined;
  #running: McpClient | undefined;
  /** Set once its tools are being listed, until they may have changed. */
  #listed: Promise<void> | undefined;
  #view: string | undefined;
  #confine: Confine | undefined;
  /** Aborted with the session, which also ends a start in progress. */
  readonly #over = new AbortController();

  constructor(
    readonly definition: McpDefinition,
    readonly id: string,
    private readonly options: ServerOptions,
    public trust: TrustVerdict,
  ) {}

  get name(): string {
    return this.definition.name;
  }

  get memory(): ServerMemory {
    return this.options.memory.of(this.id);
  }

  /** The tools that are approved unchanged, sorted by name; undefined until they are known. */
  get tools(): readonly ToolDefinition[] | undefined {
    return this.#judged?.filter(isUnchanged).map(({ now }) => now);
  }

  get changes(): readonly ToolChange[] {
    return this.#judged?.filter((one) => !isUnchanged(one)) ?? [];
  }

  /** The listed tools, of this session or an earlier one, with the approved ones. */
  get #judged(): ToolChange[] | undefined {
    const { definition: { include, exclude }, memory: { tools, pins = [] } } = this;
    return tools
      ?.filter(({ name }) => (include?.includes(name) ?? true) && !exclude.includes(name))
      .map((now) => ({ now, before: pins.find(({ name }) => name === now.name) }));
  }

  get isRunning(): boolean {
    return this.#running !== undefined && !this.#running.carrier.peer.isClosed;
  }

  get standing(): ServerState {
    const { definition: { problem, isEnabled, scope }, trust: { isApproved }, options } = this;
    if (problem !== undefined) return "broken";
    if (!isEnabled) return "disabled";
    return scope !== "folder" || isApproved || options.isTrusted ? "ready" : "unapproved";
  }

  async decide(isApproved: boolean): Promise<void> {
    this.trust = { isApproved };
    await this.options.folderTrust.save(broughtBy(this.definition), isApproved).catch(() => {});
  }

  /** Approves the changes that the user was shown. The server may have made others since. */
  async approveTools(shown: readonly ToolChange[]): Promise<void> {
    const { pins = [] } = this.memory;
    const approved = shown.map(({ now }) => now);
    const others = pins.filter((pin) => !approved.some(({ name }) => name === pin.name));
    await this.options.memory.change(this.id, { pins: [...others, ...approved] });
  }

  /** Starts the server if it is not running, and lists its tools if they may have changed. */
  async refresh(signal?: AbortSignal): Promise<McpClient> {
    const client = await this.#connected(signal);
    this.#listed ??= this.#listTools(client).catch((error) => {
      this.#listed = undefined;
      throw error;
    });
    await orAborted(this.#listed, signal);
    return client;
  }

  /** Calls a tool. Restarts a server that died. @throws {Error} for the model: the server's, or why there is no answer. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    { signal, onOutput, imageLimits }: Pick<ToolContext, "signal" | "onOutput" | "imageLimits">,
  ): Promise<string | ToolOutcome> {
    let newest = "";
    onOutput?.(() => newest);
    const result = await this.#ask("tools/call", { name: tool, arguments: args }, {
      signal,
      timeoutMs: this.definition.timeoutMs ?? CALL_MS,
      onProgress: (text) => newest = text,
    }, () => {
      if (this.tools?.some(({ name }) => name === tool)) return;
      const isChanged = this.changes.some(({ now }) => now.name === tool);
      throw new Error(
        isChanged
          ? `The server ${this.name} has changed the tool ${tool} since the user approved it: it is not called before they approve the change. Do without it, and tell them.`
          : `The server ${this.name} has no tool ${oneLine(tool)} any more.`,
      );
    });
    if (result.isError !== true) return resultOutcome(result, imageLimits);
    const text = contentText(result.content, result.structuredContent);
    const limit = this.#running?.carrier.limitIn?.(text);
    const cause = limit ? `\nCause: ${limit}` : "";
    throw new Error((text || `the tool ${tool} failed without a word`) + cause);
  }

  async read(uri: string, signal: AbortSignal): Promise<string> {
    const { contents } = await this.#ask("resources/read", { uri }, { signal });
    return resourceText(contents);
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string> {
    const { messages } = await this.#ask("prompts/get", { name, arguments: args }, { signal });
    const list = Array.isArray(messages) ? messages.filter(isObject).slice(0, 50) : [];
    return list.map(({ role, content }) =>
      `${role === "assistant" ? "Assistant: " : ""}${contentText(content)}`
    ).join("\n\n");
  }

  /** Lists its tools, and its prompts and resources for the user; may be empty. */
  async listAll(signal: AbortSignal): Promise<McpClient> {
    const client = await this.refresh(signal);
    const list = async <T>(kind: keyof typeof client.facts.has, read: (one: unknown) => T) => {
      if (!client.facts.has[kind]) return [];
      const entries = await client.list(kind, MAX_LIST, { signal });
      return entries.map(read).filter((one) => one !== undefined);
    };
    await this.options.memory.change(this.id, {
      prompts: await list("prompts", promptDefinitionOf),
      resources: await list("resources", resourceDefinitionOf),
    });
    return client;
  }

  /** Signs in to an address. `tell` shows a line to the user. */
  async signIn(tell: (text: string) => void, signal: AbortSignal): Promise<void> {
    const auth = this.options.authFor(expanded(this.definition, this.options.variables));
    if (!auth) {
      throw new Error(`${this.name} takes no sign-in: its definition has a token, or turns it off`);
    }
    for (let round = 1;; round++) {
      const failure = await this.refresh(signal).then(() => undefined, (error) => error as Error);
      if (auth.wanted === undefined) {
        if (failure) throw failure;
        // A server may allow listing without a token and require one later.
        if (await auth.header() !== undefined) return;
      }
      if (round > MAX_SIGN_INS) {
        throw new Error(`${this.name} still refuses after ${MAX_SIGN_INS} sign-ins`);
      }
      await auth.signIn(tell, signal).catch((error) => {
        signal.throwIfAborted();
        throw new Error(`Cannot sign in to ${this.name}: ${reasonOf(error)}`, { cause: error });
      });
    }
  }

  async signOut(): Promise<void> {
    await this.options.authFor(this.definition)?.signOut();
  }

  async end(): Promise<void> {
    this.#over.abort(new Error("the session is over"));
    const client = await this.#client?.catch(() => undefined);
    await client?.carrier.end();
  }

  /** Sends one request, and repeats it once if the server lost the session. */
  async #ask(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions & { signal: AbortSignal },
    check = () => {},
  ): Promise<Record<string, unknown>> {
    for (let round = 1;; round++) {
      const client = await this.refresh(options.signal);
      check();
      try {
        return await client.request(method, params, options);
      } catch (error) {
        options.signal.throwIfAborted();
        const isLost = error instanceof HttpStatusError && error.status === 404 &&
          client.facts.era === "legacy";
        if (!isLost || round > 1) throw this.#failureOf(error, client);
        this.#forget();
      }
    }
  }

  #failureOf(error: unknown, client: McpClient): Error {
    if (error instanceof RpcError) {
      const words = oneLine(error.message);
      return new Error(`The server ${this.name} answered: ${words} (${error.code})`);
    }
    const said = client.carrier.peer.isClosed && client.carrier.lastWords?.();
    const words = oneLine(reasonOf(error));
    return new Error(`The server ${this.name} gave no answer: ${words}${said ? ` (${said})` : ""}`);
  }

  #forget(): void {
    this.#client = this.#listed = undefined;
  }

  async #connected(signal: AbortSignal | undefined): Promise<McpClient> {
    if (this.#running && !this.isRunning) this.#forget();
    await this.#endOther();
    if (this.standing !== "ready" || this.#over.signal.aborted) {
      throw new Error(`The server ${this.name} may not be used: ${this.#objection()}`);
    }
    this.#client ??= this.#connect();
    try {
      return await orAborted(this.#client, signal);
    } catch (error) {
      signal?.throwIfAborted();
      this.#forget();
      this.failure = oneLine(reasonOf(error));
      throw new Error(`The server ${this.name} cannot be used: ${this.failure}`, { cause: error });
    }
  }

  /** Ends a program whose view is outdated. The next use starts it again. */
  async #endOther(): Promise<void> {
    if (this.definition.url !== undefined) return;
    const view = await this.options.view?.();
    const running = this.#running;
    const isSame = this.#view === view;
    this.#view = view;
    if (isSame || running === undefined || !this.isRunning) return;
    this.#forget();
    await running.carrier.end();
  }

  #objection(): string {
    if (this.#over.signal.aborted) return "the session is over";
    const { problem } = this.definition;
    if (problem !== undefined) return problem;
    return this.standing === "disabled"
      ? "it is turned off in its definition"
      : `the user has not approved it, which copilot mcp approve ${this.name} does`;
  }

  async #connect(): Promise<McpClient> {
    const { definition, options, name } = this;
    const { env, folder, variables } = options;
    this.#confine ??= options.confine?.(this.id, definition.scope);
    const isUnseen = definition.scope === "folder" && !this.trust.isApproved;
    const hidden = isUnseen ? variablesOf(definition).join(", ") : "";
    if (hidden !== "") {
      throw new Error(
        `it uses the variable ${hidden}, which --trust does not give away: copilot mcp approve ${name} shows it`,
      );
    }
    const full = expanded(definition, variables);
    const client = await McpClient.connect(
      (handlers) =>
        full.url === undefined
          ? startProgram(full, handlers, { folder, env, confine: this.#confine })
          : new HttpCarrier(
            full,
            handlers,
            options.authFor(full),
            (message) => paramHeaders(this.tools ?? [], message),
          ),
      {
        name,
        era: this.memory.era,
        timeoutMs: definition.timeoutMs,
        elicit: options.elicit,
        onToolsChanged: () => this.#listed = undefined,
      },
      this.#over.signal,
    );
    this.#running = client;
    this.failure = undefined;
    await options.memory.change(this.id, { era: client.facts.era });
    return client;
  }

  async #listTools(client: McpClient): Promise<void> {
    const entries = client.facts.has.tools
      ? await client.list("tools", MAX_LIST, { signal: this.#over.signal })
      : [];
    const isHttp = this.definition.url !== undefined;
    const { tools, reasons } = readTools(entries.slice(0, MAX_LIST), isHttp);
    if (entries.length > MAX_LIST) reasons.push(`its list of tools has more than ${MAX_LIST}`);
    const news = reasons.map((why) => `MCP server ${this.name}: not all is used: ${why}`);
    const { changes: { length: before }, memory: { pins } } = this;
    // An approved definition approves the tools of the first listing.
    await this.options.memory.change(this.id, { tools, pins: pins ?? tools });
    const changed = this.changes.map(({ now, before }) => `${now.name}${before ? "" : " (new)"}`);
    if (changed.length > 0 && changed.length !== before) {
      const how = `${this.options.command ?? "copilot mcp"} approve ${this.name}`;
      const names = shortened(oneLine(changed.join(", ")), 400);
      news.push(
        `MCP server ${this.name}: tools that changed since you approved it are not offered: ${names} (${how} shows them)`,
      );
    }
    if (news.length > 0) this.options.onNews?.(...news);
  }
}

const isUnchanged = ({ now, before }: ToolChange): boolean => isSameJson(now, before);

/** Returns the usable tools of a list, sorted by name and each name once, and why others are not usable. */
export function readTools(
  entries: readonly unknown[],
  isHttp: boolean,
) {
  const reasons: string[] = [];
  const tools = new Map<string, ToolDefinition>();
  for (const entry of entries) {
    const tool = toolDefinitionOf(entry);
    const problem = typeof tool === "string" ? tool : isHttp ? problemOfHeaders(tool) : undefined;
    if (problem !== undefined) reasons.push(oneLine(problem).slice(0, 200));
    else if (typeof tool !== "string" && !tools.has(tool.name)) tools.set(tool.name, tool);
  }
  const inOrder = [...tools.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  return { tools: inOrder, reasons: [...new Set(reasons)].slice(0, 10) };
}
