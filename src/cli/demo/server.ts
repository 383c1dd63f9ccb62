/** The demo: a server on loopback with the part of Ollama's API that a session uses. It plays a scene. @module */

import { makeTempFolder } from "../../temp_folder.ts";
import { CHARS_PER_TOKEN } from "../../text/count.ts";
import { type DemoReply, type DemoRequest, look, PROJECT, tour } from "./scenes.ts";

const DEMO_MODEL = "demo";

interface Demo {
  host: string;
  model: string;
  /** The folder of the tour's project; undefined for a demo of the user's own folder. */
  folder: string | undefined;
  /** Ends the server and removes the project. A second call does nothing. */
  close(): Promise<void>;
}

/** Starts the demo: the tour through a sample project, or a look at the folder it is started in. */
export function startDemo(scene: "tour" | "look"): Demo {
  const stop = new AbortController();
  const reply = scene === "tour" ? tour : look;
  const parent = scene === "tour" ? makeTempFolder("copilot-demo-") : undefined;
  const folder = parent && `${parent}/shop`;
  if (folder !== undefined) {
    Deno.mkdirSync(folder);
    for (const [name, text] of Object.entries(PROJECT)) {
      Deno.writeTextFileSync(`${folder}/${name}`, text);
    }
  }
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} },
    (request) => answer(request, (asked) => reply(asked.messages)),
  );
  let closing: Promise<void> | undefined;
  return {
    host: `http://127.0.0.1:${server.addr.port}`,
    model: DEMO_MODEL,
    folder,
    close: () =>
      closing ??= (async () => {
        stop.abort();
        await server.finished;
        if (parent !== undefined) await Deno.remove(parent, { recursive: true });
      })(),
  };
}

async function answer(
  request: Request,
  reply: (asked: DemoRequest) => DemoReply,
): Promise<Response> {
  switch (`${request.method} ${new URL(request.url).pathname}`) {
    case "GET /api/tags":
    case "GET /api/ps":
      return Response.json({ models: [{ name: DEMO_MODEL, model: DEMO_MODEL }] });
    case "POST /api/show":
      return Response.json({ capabilities: ["completion", "tools"] });
    case "POST /api/chat": {
      const asked: DemoRequest = await request.json();
      // Tools count as well: a count that is far too low means that the prompt was cut.
      const frames = wireFrames(reply(asked), JSON.stringify(asked).length);
      const lines = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
      return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
    }
    default:
      return new Response("404 page not found", { status: 404 });
  }
}

function wireFrames({ text, call }: DemoReply, askedChars: number) {
  const frame = (message: object, done: boolean) => ({
    model: DEMO_MODEL,
    message: { role: "assistant", ...message },
    done,
  });
  const answered = text.length + JSON.stringify(call ?? "").length;
  return [
    ...(text.match(/\s*\S+|\s+/g) ?? []).map((content) => frame({ content }, false)),
    {
      ...frame({ content: "", ...call && { tool_calls: [{ function: call }] } }, true),
      done_reason: "stop",
      prompt_eval_count: Math.ceil(askedChars / CHARS_PER_TOKEN),
      eval_count: Math.ceil(answered / CHARS_PER_TOKEN),
    },
  ];
}
