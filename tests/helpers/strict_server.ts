/**
 * A model server on loopback that plays a script in any of the three wire formats, chosen by the
 * path of each request, and refuses every request that the real server would refuse.
 *
 * ```ts ignore
 * await using server = strictServer([
 *   { text: "Let me look.", toolCalls: [{ name: "read_file", arguments: { file_path: "a" } }] },
 *   { error: { status: 503, message: "busy" } },
 *   (request) => ({ text: `You sent ${request.text.length} characters.` }),
 * ]);
 * const config = localConfig({ host: server.url, model: "test" }); // or compatConfig, hostedConfig
 * ```
 *
 * Each accepted request takes the next step; a refused one takes none, is answered with 400 and has
 * its `problem` set. `baseUrl` for compat is `${server.url}/v1`.
 *
 * @module
 */

import { strictCompat } from "./strict_compat.ts";
import { strictHosted } from "./strict_hosted.ts";
import { strictLocal } from "./strict_local.ts";
import {
  type Bytes,
  type Json,
  type Piece,
  Refused,
  type Step,
  wellFormed,
  type WireFormat,
} from "./strict_wire.ts";

export type { Step } from "./strict_wire.ts";

type Calling = Required<Pick<Step, "toolCalls">>;
/** An answer that calls a tool. */
export const use = (name: string, args: Record<string, unknown>): Calling => ({
  toolCalls: [{ name, arguments: args }],
});
/** An answer that calls `run_bash`. */
export const bash = (command: string): Calling => use("run_bash", { command });

/** A chat request that the server received. */
export interface StrictRequest {
  format: WireFormat["name"];
  path: string;
  headers: Headers;
  /** The body, byte for byte. */
  text: string;
  /** The body, parsed; `{}` when it was no JSON object. */
  body: Json;
  /** The reason for a refusal. */
  problem?: string;
  /** Resolves when the client closes the connection before the whole answer was sent. */
  closed: Promise<void>;
}

export interface StrictServer extends AsyncDisposable {
  /** Without a slash at its end. */
  url: string;
  /** The chat requests, refused ones included, in the order of arrival. */
  requests: StrictRequest[];
  /** The other requests with a body: their paths and bodies. */
  others: string[];
}

const FORMATS: Record<string, WireFormat> = {
  "/v1/chat/completions": strictCompat,
  "/api/chat": strictLocal,
  "/v1/messages": strictHosted,
};

/** Starts the server. `models`: the only ones it knows; any other name is answered with 404. `sees`: they see images. */
export function strictServer(
  steps: readonly (Step | ((request: StrictRequest) => Step | Promise<Step>))[],
  { models, sees = false }: { models?: readonly string[]; sees?: boolean } = {},
): StrictServer {
  const [requests, others]: [StrictRequest[], string[]] = [[], []];
  const script = [...steps];
  let count = 0;
  const next = (): number => ++count;
  // A hanging answer would delay a graceful shutdown for ever, so the server closes it.
  const closing = new AbortController();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname: path } = new URL(request.url);
    const format = request.method === "POST" ? FORMATS[path] : undefined;
    if (!format) {
      if (request.body) others.push(`${path} ${await request.text()}`);
      return describe(path, models ?? ["test"], sees);
    }
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    const bytes = await request.bytes();
    const received: StrictRequest = {
      format: format.name,
      path,
      headers: request.headers,
      text: new TextDecoder().decode(bytes),
      body: {},
      closed,
    };
    requests.push(received);
    const headers = { "content-type": "application/json" };
    const fail = (status: number, message: string, type?: string): Response =>
      new Response(format.error(type, status, message), { status, headers });
    try {
      received.body = parse(bytes, request.headers);
      wellFormed(received.body);
      format.check(received.body, request.headers);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      received.problem = error.message;
      return fail(error.status, error.message);
    }
    const model = received.body.model as string;
    if (models && !models.includes(model)) return fail(404, `model '${model}' not found`);
    const scripted = script.shift();
    if (!scripted) return fail(400, "The script of the strict server has no step left");
    const step = typeof scripted === "function" ? await scripted(received) : scripted;
    const { error } = step;
    if (error && error.status !== 200) return fail(error.status, error.message, error.type);
    const context = { model, body: received.body, next };
    if (!format.streams(received.body)) {
      const body = error
        ? format.error(error.type, 200, error.message)
        : format.whole(step, context);
      const cut = step.cut ? body.slice(0, body.length / 2) : body;
      return new Response(cut, { headers });
    }
    const pieces = upTo(step, format.stream(step, context));
    if (error) pieces.push(format.streamError(format.error(error.type, 200, error.message)));
    const sent = step.garble?.(pieces) ?? inWrites(pieces);
    return new Response(streamOf(sent, step.hang ? closing.signal : undefined, onClosed), {
      headers: { "content-type": format.streamType },
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    others,
    [Symbol.asyncDispose]: () => {
      closing.abort();
      return server.shutdown();
    },
  };
}

function parse(bytes: Uint8Array, headers: Headers): Json {
  if (!headers.get("content-type")?.startsWith("application/json")) {
    throw new Refused("content-type must be application/json");
  }
  try {
    const body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof body === "object" && body !== null) return body;
  } catch { /* refused below */ }
  throw new Refused("The request body is not valid JSON");
}

/** The bytes to send: all, or up to the step's cut, error or missing end. */
function upTo({ cut, error, hang }: Step, pieces: Piece[]): string[] {
  const bytes = pieces.map((piece) => piece.bytes);
  const kinds = pieces.map((piece) => piece.kind);
  if (cut === "name") return bytes.slice(0, kinds.lastIndexOf("name") + 1);
  if (cut === "text" || cut === "arguments") {
    const last = kinds.lastIndexOf(cut);
    let first = last;
    while (kinds[first - 1] === cut) first--;
    return bytes.slice(0, Math.ceil((first + last) / 2));
  }
  return cut || error || hang ? bytes.slice(0, kinds.indexOf("finish")) : bytes;
}

/** The events of a write of its own each, but 16 together in a long answer, most of whose time is writes. */
function inWrites(events: string[]): string[] {
  if (events.length < 256) return events;
  const writes: string[] = [];
  for (let i = 0; i < events.length; i += 16) writes.push(events.slice(i, i + 16).join(""));
  return writes;
}

/** Returns a body of `pieces`. With `hang`, it stays open until that is aborted. */
function streamOf(
  pieces: Iterable<Bytes> | AsyncIterable<Bytes>,
  hang: AbortSignal | undefined,
  onClosed: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const gone = Promise.withResolvers<"gone">();
  const over = Promise.withResolvers<"over">();
  const end = () => over.resolve("over");
  hang?.addEventListener("abort", end);
  const rest = (async function* () {
    yield* pieces;
  })();
  return new ReadableStream({
    async pull(controller) {
      const { value } = await rest.next();
      if (value !== undefined) {
        return controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      }
      if (hang && await Promise.race([gone.promise, over.promise]) === "gone") return;
      controller.close();
    },
    cancel() {
      hang?.removeEventListener("abort", end); // otherwise the pieces stay in memory as long as the server
      gone.resolve("gone");
      onClosed();
    },
  });
}

/** Answers to requests other than chats. They use no step of the script. */
function describe(path: string, models: readonly string[], sees: boolean): Response {
  const capabilities = ["completion", "tools", ...sees ? ["vision"] : []];
  switch (path) {
    case "/":
      return new Response("Ollama is running");
    case "/api/version":
      return Response.json({ version: "0.12.0" });
    case "/api/tags":
      return Response.json({ models: models.map((name) => ({ name, model: name })) });
    case "/api/show":
      return Response.json({ capabilities, model_info: { "test.context_length": 40_960 } });
    case "/v1/models":
      return Response.json({ object: "list", data: models.map((id) => ({ id, object: "model" })) });
  }
  return Response.json({ error: { message: `no such path: ${path}` } }, { status: 404 });
}
