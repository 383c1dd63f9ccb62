// A scripted chat-completions server without delays; the prompt names what it plays.
// "hello" answers, "reads N" asks for N reads in N rounds, "big" streams 2 MB in 500 000 pieces.
const encoder = new TextEncoder();
const data = (fields: Record<string, unknown>): string =>
  `data: ${
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "bench",
      ...fields,
    })
  }\n\n`;
const event = (delta: unknown, finish: string | null = null): string =>
  data({ choices: [{ index: 0, delta, finish_reason: finish }] });
/** The end of an answer, with the usage that a session shows after the turn. */
const END = event({}, "stop") +
  data({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 1000 } }) +
  "data: [DONE]\n\n";
const BIG = 500_000;

function answer(text: string): string {
  return text.split(/(?<= )/).map((content) => event({ content })).join("") + END;
}

function read(round: number): string {
  const call = {
    index: 0,
    id: `call_${round}`,
    type: "function",
    // The files alternate: the loop guard stops a call that repeats.
    function: { name: "read_file", arguments: `{"file_path":"${round % 2 ? "b" : "a"}.txt"}` },
  };
  return event({ tool_calls: [call] }) + event({}, "tool_calls") + "data: [DONE]\n\n";
}

/** 500 000 events of 4 bytes of text each, in chunks of some 64 KB. */
function bigStream(): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      let chunk = "";
      // The words differ, or the text would be cut as repetition.
      while (sent < BIG && chunk.length < 65_536) {
        chunk += event({ content: ((sent++ * 7919) % 46_656).toString(36).padStart(3, "0") + " " });
      }
      if (sent === BIG) chunk += END;
      controller.enqueue(encoder.encode(chunk));
      if (sent === BIG) controller.close();
    },
  });
}

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/v1`),
}, async (request) => {
  if (request.method !== "POST") return new Response("", { status: 404 });
  const { messages } = await request.json();
  const prompt: string = messages.findLast((m: { role: string }) => m.role === "user").content;
  const round = messages.filter((m: { role: string }) => m.role === "tool").length;
  const reads = Number(/^reads (\d+)/.exec(prompt)?.[1] ?? 0);
  const body = prompt.startsWith("big")
    ? bigStream()
    : round < reads
    ? read(round)
    : answer("Hello, this is the answer to your question.");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});
await server.finished;
