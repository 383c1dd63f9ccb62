/** An editor that drives `copilot acp`: it sends requests, answers questions, and stores all messages. @module */

import { TextLineStream } from "./lines.ts";
import { command, type RunOptions } from "./program.ts";

type Json = Record<string, unknown>;

/** A message of the program, unchanged. */
export interface AcpMessage {
  id?: number;
  method?: string;
  params?: Json;
  result?: Json;
  error?: { code: number; message: string };
}

/** Answers a request of the program; by default with "no such method". */
type Answer = (method: string, params: Json) => Json | undefined | Promise<Json | undefined>;

export class Editor implements AsyncDisposable {
  /** All messages of the program, and all lines on stdout, in order. */
  readonly messages: AcpMessage[] = [];
  readonly lines: string[] = [];
  answer: Answer = () => undefined;
  /** Called with each message as it comes. */
  onMessage: (message: AcpMessage) => void = () => {};
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  readonly #waiting = new Map<number, (message: AcpMessage) => void>();
  #nextId = 0;

  constructor(args: readonly string[], options: RunOptions = {}) {
    this.#child = command(["acp", ...args], { stdin: "", ...options }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Returns the updates of a session, or only those of one kind. */
  updates(kind?: string): Json[] {
    return this.messages.filter(({ method }) => method === "session/update")
      .map(({ params }) => params!.update as Json)
      .filter(({ sessionUpdate }) => kind === undefined || sessionUpdate === kind);
  }

  send(message: unknown): Promise<void> {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    return this.#writer.write(new TextEncoder().encode(`${text}\n`));
  }

  notify(method: string, params: Json): Promise<void> {
    return this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request, and returns the whole answer. */
  async ask(method: string, params: Json, id = ++this.#nextId): Promise<AcpMessage> {
    const answer = new Promise<AcpMessage>((resolve) => this.#waiting.set(id, resolve));
    await this.send({ jsonrpc: "2.0", id, method, params });
    return await answer;
  }

  /** Sends a request that must succeed, and returns its result. */
  async request(method: string, params: Json): Promise<Json> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result!;
  }

  /** Initializes, starts a session in `cwd`, and returns its id. */
  async begin(cwd: string, clientCapabilities: Json = {}): Promise<string> {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities });
    const { sessionId } = await this.request("session/new", { cwd, mcpServers: [] });
    return String(sessionId);
  }

  /** Sends a prompt of one text, and returns the reason why its turn ended. */
  async prompt(sessionId: string, text: string): Promise<unknown> {
    const prompt = [{ type: "text", text }];
    return (await this.request("session/prompt", { sessionId, prompt })).stopReason;
  }

  /** Closes the program's stdin. Returns its exit code and its stderr. */
  async end(): Promise<{ code: number; stderr: string }> {
    await this.#writer.close().catch(() => {});
    const [{ code }, stderr] = await Promise.all([
      this.#child.status,
      new Response(this.#child.stderr).text(),
    ]);
    await this.#reading;
    return { code, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#child.stderr.locked) await this.end();
  }

  async #read(): Promise<void> {
    for await (const line of this.#child.stdout.pipeThrough(new TextLineStream())) {
      this.lines.push(line);
      const message = JSON.parse(line) as AcpMessage;
      this.messages.push(message);
      this.onMessage(message);
      if (message.method !== undefined && message.id !== undefined) this.#answer(message);
      else if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    }
  }

  async #answer({ id, method, params = {} }: AcpMessage): Promise<void> {
    const result = await this.answer(method!, params);
    const error = { code: -32601, message: "no such method" };
    // The program may have ended meanwhile.
    await this.send({ jsonrpc: "2.0", id, ...result ? { result } : { error } }).catch(() => {});
  }
}
