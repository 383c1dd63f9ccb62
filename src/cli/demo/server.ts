/**
 * The built-in demo, loaded for `--demo` only: a loopback server that speaks Ollama's native API and
 * answers by rules, so that a first run goes the whole way without a model. @module
 */

import { CHARS_PER_TOKEN } from "../../text/count.ts";
import { isObject } from "../../text/json.ts";
import { type DemoReply, demoReply, type DemoRequest } from "./rules.ts";

const DEMO_MODEL = "demo";
const LATEST = `${DEMO_MODEL}:latest`;
/** The most bytes of a request: the largest piped prompt (64 MiB), escaped, and a long history. */
const MAX_BODY_BYTES = 512 * 2 ** 20;

/** A running demo server: its address, such as `http://127.0.0.1:41234`, and its one model's name. */
interface DemoServer {
  host: string;
  model: string;
  /** Ends it, and whatever answer is under way; a second call does nothing. */
  close(): Promise<void>;
}

export function startDemoServer(): DemoServer {
  const stop = new AbortController();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    signal: stop.signal,
    onListen() {},
    onError: () => errorResponse(500, "internal error"),
  }, answer);
  return {
    host: `http://127.0.0.1:${server.addr.port}`,
    model: DEMO_MODEL,
    async close() {
      stop.abort();
      await server.finished;
    },
  };
}

async function answer(request: Request): Promise<Response> {
  const route = `${request.method} ${new URL(request.url).pathname}`;
  switch (route) {
    case "GET /":
      return new Response("Ollama is running");
    case "GET /api/version":
      return Response.json({ version: "0.0.0" });
    case "GET /api/tags":
    case "GET /api/ps":
      return Response.json({ models: [{ name: LATEST, model: LATEST }] });
    case "POST /api/show":
    case "POST /api/chat": {
      const body = await readBody(request);
      if (typeof body === "string") return errorResponse(400, body);
      const { model } = body;
      if (typeof model !== "string" || model === "") return errorResponse(400, "model is required");
      if (model !== DEMO_MODEL && model !== LATEST) {
        return errorResponse(404, `model '${model.slice(0, 200)}' not found`);
      }
      return route === "POST /api/chat"
        ? answerChat(body)
        : Response.json({ capabilities: ["completion", "tools"] });
    }
    default:
      return new Response("404 page not found", { status: 404 });
  }
}

function errorResponse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

/** The request's body as a JSON object, or the reason why it is refused. */
async function readBody(request: Request): Promise<Record<string, unknown> | string> {
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (length > MAX_BODY_BYTES) return "http: request body too large";
  const text = await request.text();
  if (text.trim() === "") return "missing request body";
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : "json: cannot unmarshal: the request is no object";
  } catch (error) {
    return (error as Error).message;
  }
}

function answerChat(body: Record<string, unknown>): Response {
  const problem = wrongField(body);
  if (problem) return errorResponse(400, `json: cannot unmarshal: ${problem} has the wrong shape`);
  const { messages, tools, stream } = body as Partial<DemoRequest> & { stream?: boolean };
  const reply = messages?.length ? demoReply({ messages, tools }) : {};
  // Calls and tools count as well: a count that is far too low is that of a prompt which was cut.
  const asked = JSON.stringify([messages, tools]);
  const frames = wireFrames(reply, asked.length);
  if (stream === false) {
    const last = frames.at(-1)!;
    return Response.json({ ...last, message: { ...last.message, content: reply.text ?? "" } });
  }
  const lines = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
  return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
}

/** The lines of a streamed answer: a word each, and all tool calls on the last, as Ollama does. */
function wireFrames({ text = "", toolCalls }: DemoReply, askedChars: number) {
  const frame = (message: object, done: boolean) => ({
    model: DEMO_MODEL,
    message: { role: "assistant", ...message },
    done,
  });
  const calls = toolCalls?.map((call, index) => ({ function: { index, ...call } }));
  const answered = text.length + JSON.stringify(calls ?? "").length;
  return [
    ...(text.match(/\s*\S+|\s+/g) ?? []).map((content) => frame({ content }, false)),
    {
      ...frame({ content: "", ...(calls && { tool_calls: calls }) }, true),
      // Ollama's answer to a request without messages, which only loads the model.
      done_reason: text || calls ? "stop" : "load",
      prompt_eval_count: Math.ceil(askedChars / CHARS_PER_TOKEN),
      eval_count: Math.ceil(answered / CHARS_PER_TOKEN),
    },
  ];
}

/** The name of the first field of a chat request that has the wrong shape. */
function wrongField({ messages, tools, stream }: Record<string, unknown>): string | undefined {
  const isTool = (tool: unknown) =>
    isObject(tool) && isObject(tool.function) && typeof tool.function.name === "string";
  const isCall = (call: unknown) =>
    isTool(call) && isObject((call as { function: Record<string, unknown> }).function.arguments);
  const isMessage = (message: unknown) =>
    isObject(message) && typeof message.role === "string" &&
    typeof (message.content ?? "") === "string" && isList(message.tool_calls, isCall);
  if (!isList(messages, isMessage)) return "ChatRequest.messages";
  if (!isList(tools, isTool)) return "ChatRequest.tools";
  if (typeof (stream ?? true) !== "boolean") return "ChatRequest.stream";
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every(isItem));
}
