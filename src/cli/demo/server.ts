/**
 * The built-in demo, loaded for `--demo` only: a loopback server that speaks as much of Ollama's native
 * API as a session asks for, and answers by rules: a first run goes the whole way without a model. @module
 */

import { CHARS_PER_TOKEN } from "../../text/count.ts";
import { type DemoReply, demoReply, type DemoRequest } from "./rules.ts";

const DEMO_MODEL = "demo";

/** A running demo server: its address, such as `http://127.0.0.1:41234`, and its one model's name. */
interface DemoServer {
  host: string;
  model: string;
  /** Ends it, and whatever answer is under way; a second call does nothing. */
  close(): Promise<void>;
}

export function startDemoServer(): DemoServer {
  const stop = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} };
  const server = Deno.serve(options, answer);
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
  switch (`${request.method} ${new URL(request.url).pathname}`) {
    case "GET /":
      return new Response("Ollama is running");
    case "GET /api/version":
      return Response.json({ version: "0.0.0" });
    case "GET /api/tags":
    case "GET /api/ps":
      return Response.json({ models: [{ name: DEMO_MODEL, model: DEMO_MODEL }] });
    case "POST /api/show":
      return Response.json({ capabilities: ["completion", "tools"] });
    case "POST /api/chat":
      return answerChat(await request.json());
    default:
      return new Response("404 page not found", { status: 404 });
  }
}

function answerChat({ messages, tools }: DemoRequest): Response {
  // Calls and tools count as well: a count that is far too low is that of a prompt which was cut.
  const askedChars = JSON.stringify([messages, tools]).length;
  const frames = wireFrames(demoReply({ messages, tools }), askedChars);
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
      done_reason: "stop",
      prompt_eval_count: Math.ceil(askedChars / CHARS_PER_TOKEN),
      eval_count: Math.ceil(answered / CHARS_PER_TOKEN),
    },
  ];
}
