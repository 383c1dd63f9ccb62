import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { Delta, Reply } from "../../src/models/backend.ts";
import { BackendError } from "../../src/errors.ts";
import { AnswerStream } from "../../src/agent/answer_stream.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { RetryNotice } from "../../src/types/event.ts";
import type { Message } from "../../src/types/message.ts";
import type { Tool } from "../../src/types/tool.ts";
import { forEverySplit } from "../helpers/split.ts";
import { type Step, strictServer } from "../helpers/strict_server.ts";
import {
  hasPlainText,
  HISTORIES,
  type Outcome,
  question,
  type Scenario,
  SCENARIOS,
  type Way,
  WAYS,
} from "./conformance.ts";

/** A test for each way to which it applies. */
function onEveryWay(
  name: string,
  run: (way: Way) => Promise<void>,
  applies: (way: Way) => boolean = () => true,
): void {
  for (const way of WAYS.filter(applies)) Deno.test(`${way.name}: ${name}`, () => run(way));
}

/** The others give nothing before the end. */
const streams = ({ stream }: Way) => stream;

function outcome({ message, finish, usage }: Reply): Outcome {
  const { content, reasoning, toolCalls } = message;
  return {
    ...(content !== "" && { content }),
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls && {
      calls: toolCalls.map((call) => [call.name, call.invalid?.text ?? call.arguments]),
    }),
    finish,
    usage,
  };
}

/** What the deltas amount to, to be compared with the reply. */
function joined(deltas: Delta[]): { text: string; reasoning: string; names: string[] } {
  const all = { text: "", reasoning: "", tool_arguments: "", names: [] as string[] };
  for (const delta of deltas) {
    if (delta.type === "tool_call") all.names.push(delta.name);
    else if ("text" in delta) all[delta.type] += delta.text;
  }
  return all;
}

async function check({ step, expected }: Scenario, { backend, stream }: Way): Promise<void> {
  await using server = strictServer([step]);
  const deltas: Delta[] = [];
  // What a server refuses is not repeated.
  const { status = 500 } = step.error ?? {};
  const sent = backend(server.url, status >= 400 && status < 429 ? 4 : 0).send(
    question,
    builtinTools,
    {
      stream,
      onDelta: (delta) => deltas.push(delta),
    },
  );
  if ("error" in expected) {
    const error = await assertRejects(() => sent, BackendError);
    assertEquals(error.kind, expected.error, error.message);
    if (expected.says) assertEquals(error.serverMessage, expected.says);
    const { text } = joined(deltas);
    assert((step.text ?? "").startsWith(text), `no text but the model's: ${text}`);
    return assertEquals(server.requests.length, 1);
  }
  const reply = await sent;
  assertEquals(outcome(reply), expected);
  assertEquals(server.requests.map(({ problem }) => problem), [undefined]);
  const all = joined(deltas);
  if (!stream) return assertEquals(deltas, []);
  assertEquals(all.text, step.text ?? "");
  assertEquals(all.reasoning, step.reasoning ?? "");
  assertEquals(all.names, step.toolCalls?.map(({ name }) => name) ?? []);
}

for (const scenario of SCENARIOS) {
  onEveryWay(scenario.name, (way) => check(scenario, way), scenario.applies);
}

onEveryWay("NET-04 the text before a cut was delivered", async ({ backend }) => {
  for (const end of [{ cut: "text" }, { error: { status: 200, message: "x" } }] as Step[]) {
    await using server = strictServer([{ text: "Hello there, you.", ...end }, { text: "again" }]);
    const deltas: Delta[] = [];
    const send = backend(server.url, 4).send(question, [], { onDelta: (d) => deltas.push(d) });
    await assertRejects(() => send, BackendError);
    assert(joined(deltas).text.startsWith("Hello"), joined(deltas).text);
    assertEquals(server.requests.length, 1, "what was shown is not asked for again");
  }
}, streams);

onEveryWay("NET-08 ids that are empty, missing or there twice become unique", async (way) => {
  const call = { name: "read_file", arguments: { file_path: "a" } };
  const toolCalls = ["", null, "a", "a", undefined].map((id) => (
    id === undefined ? call : { ...call, id }
  ));
  await using server = strictServer([{ toolCalls }, { text: "done" }]);
  const backend = way.backend(server.url);
  const { message } = await backend.send(question, builtinTools, { stream: way.stream });
  const ids = message.toolCalls!.map(({ id }) => id);
  assertEquals([ids.length, new Set(ids).size, ids.includes("")], [5, 5, false]);
  const history = [...question, message, ...results(message)];
  await backend.send(history, builtinTools, { stream: way.stream });
  assertEquals(server.requests.map(({ problem }) => problem), [undefined, undefined]);
});

/** A result for each call: the first empty, the second an error. */
function results({ toolCalls = [] }: Message): Message[] {
  return toolCalls.map(({ id, name }, i): Message => ({
    role: "tool",
    toolCallId: id,
    toolName: name,
    content: i === 0 ? "" : `result ${i}`,
    ...(i === 1 && { isError: true }),
  }));
}

onEveryWay("a conversation is accepted, and only grows at its end", async (way) => {
  const look = (path: string) => ({ name: "read_file", arguments: { file_path: path } });
  const steps: Step[] = [
    { reasoning: "Two files.", text: "I will look.\n", toolCalls: [look("a"), look("你好 🎉")] },
    { toolCalls: [look("c")] },
    { reasoning: "Enough.", text: "Done. " },
    { text: "Bye." },
  ];
  await using server = strictServer(steps);
  const backend = way.backend(server.url);
  const history = [...question];
  for (const { toolCalls } of steps) {
    const { message } = await backend.send(history, builtinTools, { stream: way.stream });
    assertEquals(message.toolCalls?.length, toolCalls?.length);
    history.push(message, ...results(message));
    if (!message.toolCalls) history.push({ role: "user", content: "And now?" });
  }
  assertEquals(server.requests.map(({ problem }) => problem), steps.map(() => undefined));
  // The strict server knows its thoughts by their signature: they went back unchanged.
  const bodies = server.requests.map(({ text }) => text);
  bodies.forEach((body, i) => {
    const before = (bodies[i - 1] ?? "").replace(/[\]}]+$/, "");
    assertEquals(body.slice(0, before.length), before, `request ${i} extends the one before`);
  });
});

for (const [name, messages] of HISTORIES) {
  onEveryWay(`SES-01 a history is accepted: ${name}`, async ({ backend, stream }) => {
    await using server = strictServer([{ text: "ok" }]);
    const { message } = await backend(server.url).send(messages, builtinTools, { stream });
    assertEquals(message.content, "ok");
    assertEquals(server.requests.map(({ problem }) => problem), [undefined]);
  });
}

onEveryWay("a request without tools and system prompt", async ({ backend, stream }) => {
  await using server = strictServer([{ text: "ok" }]);
  const messages: Message[] = [{ role: "user", content: "go on" }];
  const { message } = await backend(server.url).send(messages, [], { stream });
  assertEquals([message.content, server.requests[0]!.problem], ["ok", undefined]);
});

/** Splits an answer as the agent does. */
const splitterFor = (tools: readonly Tool[]) =>
  new AnswerStream({ tools, emit: () => {}, onRunaway: () => {} });

onEveryWay("calls in the text are found and marked, native ones come first", async (way) => {
  const read = { name: "read_file", arguments: { file_path: "a" } };
  const text = `Look: <toolcall>${JSON.stringify(read)}</toolcall>`;
  await using server = strictServer([{ text }, { text, toolCalls: [read] }, { text }]);
  const backend = way.backend(server.url);
  const send = async (tools = builtinTools) => {
    const options = { stream: way.stream, splitter: splitterFor(tools) };
    return (await backend.send(question, tools, options)).message;
  };
  const recovered = await send();
  assertEquals([recovered.content, recovered.toolCalls?.[0]?.recovered], ["Look:", true]);
  assert(recovered.toolCalls![0]!.id !== "");
  const native = await send();
  assertEquals([native.content, native.toolCalls?.[0]?.recovered], ["Look:", undefined]);
  assertEquals((await send([])).toolCalls, undefined);
}, hasPlainText);

// Backing off takes real time: all ways wait together.
const transient: [name: string, step: Step, applies?: (way: Way) => boolean][] = [
  ["NET-10 a busy server", { error: { status: 503, message: "busy" } }],
  ["NET-03 an error before any output", {
    error: { status: 200, message: "busy", type: "overloaded_error" },
  }],
  ["NET-04 an answer that ends before any output", { cut: "finish" }, streams],
];
for (const [name, step, applies = () => true] of transient) {
  Deno.test(`${name} is asked again, on every way`, async () => {
    await Promise.all(
      WAYS.filter(applies).map(async ({ backend, stream, name }) => {
        await using server = strictServer([step, { text: "again" }]);
        const notices: RetryNotice[] = [];
        const { message } = await backend(server.url, 4).send(question, builtinTools, {
          stream,
          onRetry: (notice) => notices.push(notice),
        });
        assertEquals([message.content, notices.length, notices[0]?.attempt], ["again", 1, 1], name);
        assertEquals(server.requests[0]!.text, server.requests[1]!.text, name);
      }),
    );
  });
}

onEveryWay("NET-13 an abort amid the answer closes the connection", async ({ backend }) => {
  await using server = strictServer([{ text: "Hello there, you.", hang: true }]);
  const controller = new AbortController();
  const reason = new Error("enough");
  const deltas: Delta[] = [];
  const send = backend(server.url, 4).send(question, [], {
    signal: controller.signal,
    onDelta(delta) {
      deltas.push(delta);
      controller.abort(reason);
    },
  });
  assertStrictEquals(await send.catch((error) => error), reason);
  const { length } = deltas;
  await server.requests[0]!.closed;
  assertEquals([deltas.length, server.requests.length], [length, 1]);
}, streams);

onEveryWay("NET-13 an abort before the answer begins", async ({ backend, stream }) => {
  const reason = new Error("enough");
  const controller = new AbortController();
  await using server = strictServer([() => {
    controller.abort(reason);
    return { text: "late" };
  }]);
  const options = { stream, signal: controller.signal };
  const send = () => backend(server.url, 4).send(question, [], options).catch((error) => error);
  assertStrictEquals(await send(), reason);
  assertStrictEquals(await send(), reason);
  assertEquals(server.requests.length, 1, "an aborted signal sends nothing");
});

onEveryWay("NET-01 an answer is the same however the network cuts it", async (way) => {
  const { backend, stream } = way;
  const toolCalls = [{ id: "call_1", name: "f", arguments: { a: "🎉" } }];
  await using server = strictServer([{ reasoning: "嗯", text: "é 你好 🎉", toolCalls }]);
  let bytes = new Uint8Array();
  let headers = new Headers();
  const whole = await backend(server.url).send(question, [], {
    stream,
    fetch: async (...args) => {
      const response = await fetch(...args);
      headers = response.headers;
      bytes = await response.bytes();
      return new Response(bytes, { headers });
    },
  });
  const cuts: Uint8Array[][] = [];
  forEverySplit(bytes, (pieces) => cuts.push(pieces));
  const again = backend(server.url);
  for (const pieces of cuts) {
    const body = ReadableStream.from(pieces);
    const reply = await again.send(question, [], {
      stream,
      fetch: () => Promise.resolve(new Response(body, { headers })),
    });
    assertEquals(reply, whole);
  }
});
