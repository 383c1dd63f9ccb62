/** The checks of a real model server: requests in every way that it offers, and the expected answers. */

import { imagesOf } from "../src/text/parts.ts";
import { assert, assertEquals } from "@std/assert";
import { CopilotAgent } from "../src/agent/agent.ts";
import { processTurn } from "../src/agent/turn.ts";
import type { CallOptions, Reply } from "../src/models/backend.ts";
import { servedModel } from "../src/models/ollama/served_model.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../src/config.ts";
import { BackendError } from "../src/errors.ts";
import { withModel } from "../src/models/target.ts";
import { ModelFit } from "../src/session/fit_model.ts";
import { processFittedTurn } from "../src/session/fitted_turn.ts";
import type { TurnEvent } from "../src/types/event.ts";
import type { Message } from "../src/types/message.ts";
import type { JsonSchema, Tool } from "../src/types/tool.ts";
import { tempFolder } from "../tests/helpers/temp_folder.ts";
import { command, run } from "../tests/helpers/program.ts";
import { waitUntil } from "../tests/helpers/wait_until.ts";
import { HISTORIES } from "../tests/models/conformance.ts";

/** The result of a check. */
export interface Outcome {
  status: "ok" | "FAIL" | "SKIP";
  /** Details; may be empty. */
  text: string;
}

/** A running server, and a model that it serves. */
export interface Target {
  host: string;
  model: string;
  /** True for the model of `tiny_model.ts`, whose answers are known. */
  isOurs: boolean;
  /** The key that it requires. */
  key?: string | undefined;
}

/** A backend that can talk to the server, with its settings. */
export interface Way {
  name: string;
  /** The reason why the server does not offer this way. */
  missing?: string;
  /** The program's flags for it. */
  flags: readonly string[];
  config(more: { model?: string; maxTokens?: number; maxRetries?: number }): CopilotConfig;
  /** A part of the request's body that forces the model to call a tool; undefined if there is no such part. */
  force?: Record<string, unknown>;
}

type Check = (signal: AbortSignal) => Promise<Outcome>;
const ok = (text = ""): Outcome => ({ status: "ok", text });
const skip = (text: string): Outcome => ({ status: "SKIP", text });

/** Returns every way to the server. The ones that it does not offer have `missing`. */
export async function waysTo({ host, model, key = "" }: Target): Promise<Way[]> {
  const serves = async (path: string, body: unknown) => {
    const response = await fetch(host + path, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "anthropic-version": "2023-06-01" },
        ...(key !== "" && { authorization: `Bearer ${key}`, "x-api-key": key }),
      },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    return response.status === 404 || response.status === 405 ? { missing: `no ${path}` } : {};
  };
  const messages = [{ role: "user", content: "hi" }];
  const settings = { model, temperature: 0, maxTokens: 64, maxRetries: 0, apiKey: key };
  const given = key === "" ? [] : ["--api-key", key];
  const local = { ...settings, host };
  return [
    {
      name: "compat",
      flags: ["--base-url", `${host}/v1`, ...given],
      config: (more) => ({ compat: compatConfig({ ...settings, baseUrl: `${host}/v1`, ...more }) }),
      force: { tool_choice: "required" },
    },
    {
      name: "local native",
      flags: ["--local", "--host", host, ...given],
      ...await serves("/api/chat", { model, messages, stream: false, options: { num_predict: 1 } }),
      config: (more) => ({ local: localConfig({ ...local, ...more }) }),
    },
    {
      name: "local compatible",
      flags: ["--local", "--use-compat", "--host", host, ...given],
      config: (more) => ({ local: localConfig({ ...local, useCompat: true, ...more }) }),
      force: { tool_choice: "required" },
    },
    {
      name: "hosted",
      flags: ["--hosted", "--base-url", host, "--api-key", key || "none"],
      ...await serves("/v1/messages", { model, messages, max_tokens: 1 }),
      config: (more) => ({
        hosted: hostedConfig({ ...settings, apiKey: key || "none", baseUrl: host, ...more }),
      }),
      force: { tool_choice: { type: "any" } },
    },
  ];
}

/** The tool that the checks call. */
const list: Tool = {
  name: "list_directory",
  description: "List a directory.",
  parameters: {
    type: "object",
    properties: { path: { type: "string", enum: ["."] } },
    required: ["path"],
  },
  access: "read",
  run: () => "README.md  1 KB\n[1 entry]",
};
const user = (content: string): Message => ({ role: "user", content });
const HELLO = user("Say hello.");
const STORY = user("Write a long story about a fox and a stone.");
const CALL = user('Call the tool list_directory with the path "." now.');

/** Returns every check of `way`, with its name. */
export function checksOf(way: Way, target: Target): [name: string, check: Check][] {
  const send = async (
    messages: readonly Message[],
    { tools = [], more = {}, ...options }: CallOptions & {
      tools?: readonly Tool[];
      more?: Parameters<Way["config"]>[0];
    },
  ): Promise<Reply> => {
    const backend = new CopilotAgent(way.config(more), ".").backend;
    return await backend.send(messages, tools, options);
  };
  const served = (signal: AbortSignal) =>
    servedModel(target.model, { host: target.host, apiKey: target.key, signal });
  const forced: typeof fetch = (url, init) =>
    fetch(url, {
      ...init,
      body: JSON.stringify({ ...JSON.parse(String(init?.body)), ...way.force }),
    });

  return [
    ["an answer, whole and in pieces", async (signal) => {
      const whole = await send([HELLO], { stream: false, signal });
      let text = "";
      const streamed = await send([HELLO], {
        signal,
        onDelta: (delta) => text += delta.type === "text" ? delta.text : "",
      });
      for (const { message, usage } of [whole, streamed]) {
        assert(message.content !== "" || message.reasoning, "it said nothing");
        assert(usage && usage.inputTokens > 0 && usage.outputTokens > 0, "tokens were not counted");
      }
      assertEquals(text.trim(), streamed.message.content.trim());
      assertEquals(streamed.usage!.inputTokens, whole.usage!.inputTokens);
      if (target.isOurs) {
        assertEquals(whole.message, streamed.message);
        assertEquals(whole.message.content, "Hello, I am a very small model: 你好 🎉.");
        assertEquals([whole.finish, streamed.finish], ["stop", "stop"]);
      }
      return ok(`${whole.usage!.inputTokens} tokens of prompt`);
    }],
    ["a tool call and its result", async (signal) => {
      // Our model calls the tool by itself. Others may have to be forced.
      if (!target.isOurs && !way.force) return skip("the model cannot be made to call");
      const { takesTools } = await served(signal);
      if (takesTools === false) return skip("the model's template does not support tools");
      const finishes: string[] = [];
      for (const stream of [true, false]) {
        const options = { tools: [list], stream, signal };
        const { message, finish } = await send([CALL], {
          ...options,
          ...(!target.isOurs && { fetch: forced }),
        });
        finishes.push(finish);
        const [call] = message.toolCalls ?? [];
        const silence = `it called no tool, and said: ${message.content.slice(0, 80)}`;
        if (!call && !target.isOurs) return skip(silence);
        assert(call, silence);
        assertEquals([call.name, call.arguments, call.invalid], [
          list.name,
          { path: "." },
          undefined,
        ]);
        const { id, name } = call;
        const result: Message = {
          role: "tool",
          toolCallId: id,
          toolName: name,
          content: "1 file: a",
        };
        const after = await send([CALL, message, result], options);
        if (target.isOurs) assertEquals(after.message.content, "There is what the tool said.");
      }
      return ok(finishes[0]);
    }],
    ["two calls in one answer, and one more round", async (signal) => {
      if (!target.isOurs) return skip("the model calls nothing by itself");
      const agent = new CopilotAgent(way.config({}), ".", { tools: [list] });
      const types: string[] = [];
      const { response, toolExecutions } = await processTurn(agent, "Rounds: call it.", {
        signal,
        onEvent: ({ type }) => void types.push(type),
      });
      assertEquals(response, "There is what the tool said.");
      assertEquals(toolExecutions.map((one) => [one.toolName, one.isError]), [
        [list.name, false],
        [list.name, false],
        [list.name, false],
      ]);
      assertEquals(types.filter((type) => type === "thinking").length, 3);
      assert(!types.includes("tool_call_recovered"), "the server handed its calls on as text");
      return ok("3 native calls in 3 requests");
    }],
    ...HISTORIES.map(([name, messages]): [string, Check] => [
      `a history: ${name}`,
      async (signal) => {
        if (messages.some((message) => imagesOf(message).length > 0)) {
          return skip("the model may not see");
        }
        await send(messages, { tools: [list], more: { maxTokens: 4 }, signal });
        return ok();
      },
    ]),
    ["an answer that is cut", async (signal) => {
      const { finish, usage } = await send([STORY], { more: { maxTokens: 8 }, signal });
      assertEquals(finish, "length");
      return ok(`after ${usage?.outputTokens} tokens`);
    }],
    ["an answer that is stopped frees its place", async (signal) => {
      const stop = new AbortController();
      const sent = send([STORY], {
        more: { maxTokens: 2000 },
        signal: stop.signal,
        onDelta: () => stop.abort(),
      });
      assertEquals(await sent.catch((error) => error), stop.signal.reason);
      const slots = async () => {
        const response = await fetch(`${target.host}/slots`, { signal });
        const list = await response.json().catch(() => null);
        return Array.isArray(list) ? list : undefined;
      };
      const start = performance.now();
      if (await slots() === undefined) return skip("the server does not say");
      await waitUntil(async () => !(await slots())!.some((slot) => slot.is_processing));
      return ok(`within ${Math.ceil(performance.now() - start)} ms`);
    }],
    ["a prompt that was sent before is held", async (signal) => {
      const system: Message = { role: "system", content: "You help. ".repeat(100) };
      await send([system, HELLO], { more: { maxTokens: 4 }, signal });
      const { usage } = await send([system, HELLO, { role: "assistant", content: "Hi." }, HELLO], {
        more: { maxTokens: 4 },
        signal,
      });
      if (usage?.cachedTokens === undefined) return skip("the server does not say");
      assert(usage.cachedTokens > usage.inputTokens / 2, JSON.stringify(usage));
      return ok(`${usage.cachedTokens} of ${usage.inputTokens} tokens`);
    }],
    ["a name of no model", async (signal) => {
      try {
        const more = { model: "no-such-model:1b", maxTokens: 4 };
        const { message } = await send([HELLO], { more, signal });
        return ok(`answered all the same: ${JSON.stringify(message.content)}`);
      } catch (error) {
        assert(error instanceof BackendError, String(error));
        assertEquals(error.kind, "model_not_found", error.message);
        return ok(error.message);
      }
    }],
    ["a prompt that is too long", async (signal) => {
      const { contextLength: window } = await served(signal);
      if (!window || window > 16_384) return skip(`a window of ${window ?? "unknown"} tokens`);
      const long = user("The fox and the stone. ".repeat(window / 3));
      const error = await send([long], { signal }).catch((error) => error);
      // An Ollama with Go's templates cuts the prompt if it cannot be configured to refuse it. The count shows
      // it.
      const { inputTokens } = error.usage ?? {};
      if (inputTokens <= window) {
        const told: string[] = [];
        const onEvent = (event: TurnEvent) =>
          void (event.type === "notice" && told.push(event.code ?? ""));
        const config = withModel(way.config({}), { contextLength: window });
        await processTurn(new CopilotAgent(config, "."), long.content, { signal, onEvent });
        assert(told.includes("prompt_cut"), `cut to ${inputTokens} tokens unnoticed: ${told}`);
        return ok(`cut to ${inputTokens} tokens, which is noticed`);
      }
      assert(error instanceof BackendError, `it was taken: ${JSON.stringify(error)}`);
      assertEquals(error.kind, "context_too_long", error.message);
      return ok(error.message);
    }],
    ["a conversation that is too long is made to fit", async (signal) => {
      const { contextLength: window } = await served(signal);
      if (!window || window > 16_384) return skip(`a window of ${window ?? "unknown"} tokens`);
      // The native endpoint uses the requested window, and would use a larger one.
      const config = way.name === "local native"
        ? withModel(way.config({}), { contextLength: window })
        : way.config({});
      const agent = new CopilotAgent(config, ".", { tools: [list] });
      // Ollama does not refuse a prompt that is too long, so the window must be known before.
      const fit = new ModelFit({ isChosen: true, asksRemote: true });
      for (let i = 0; i < 20; i++) {
        agent.state.messages.push(user(`${i}: ${"The fox and the stone. ".repeat(window / 60)}`));
        agent.state.messages.push({ role: "assistant", content: `Yes, ${i}.` });
      }
      const events: TurnEvent[] = [];
      const onEvent = (event: TurnEvent) => void events.push(event);
      const { response } = await processFittedTurn(agent, fit, "Say hello.", { signal, onEvent });
      const fitted = events.find(({ type }) => type === "compaction");
      assert(fitted?.type === "compaction", "nothing was left out");
      if (target.isOurs) assertEquals(response, "Hello, I am a very small model: 你好 🎉.");
      return ok(`${fitted.tokensBefore} tokens became ${fitted.tokensAfter}`);
    }],
  ];
}

/** Checks a server that has just started: a turn waits for it, with `loading` events. */
export function loadingCheck(host: string): Check {
  return async (signal) => {
    const baseUrl = `${host}/v1`;
    const config = compatConfig({ baseUrl, model: "slow", maxTokens: 4 });
    const agent = new CopilotAgent({ compat: config }, ".", { tools: [], systemPrompt: "Help." });
    let seen = 0;
    const onEvent = ({ type }: TurnEvent) => void (type === "loading" && seen++);
    const { response } = await processTurn(agent, "Say hello.", { signal, onEvent });
    assert(seen > 0, "it was not loading");
    return ok(`${JSON.stringify(response)} after ${seen} looks`);
  };
}

/** Checks a server without tool support: the text describes the tools, and the server answers. */
export function withoutTools(host: string): Check {
  return async (signal) => {
    const config = localConfig({ host, model: "any", useCompat: true, maxTokens: 16 });
    const agent = new CopilotAgent({ local: config }, ".", { tools: [list] });
    const notices: string[] = [];
    await processTurn(agent, "Say hello.", {
      signal,
      onEvent: (event) => void (event.type === "notice" && notices.push(event.message)),
    });
    assert(notices[0]?.includes("tools described in the prompt"), notices.join(" "));
    return ok(notices[0]);
  };
}

/** Every answer of this form is short, so that a model which writes nonsense also ends. */
const SCHEMA: JsonSchema = {
  type: "object",
  properties: { kind: { type: "string", enum: ["fox", "stone"] }, isDone: { type: "boolean" } },
  required: ["kind", "isDone"],
  additionalProperties: false,
};
/** The maximum milliseconds until a stopped program exits. */
const MAX_STOP_MS = 5000;

/** Returns the checks of `way` by the whole program. */
export function programChecks(way: Way, { model, isOurs }: Target): [string, Check][] {
  const flags = [...way.flags, "--model", model];
  return [
    ["the program: an answer of a schema", async () => {
      using temp = tempFolder();
      const schema = `${temp.path}/schema.json`;
      await Deno.writeTextFile(schema, JSON.stringify(SCHEMA));
      const args = [...flags, "-p", "Say hello.", "--json-schema", schema, "--max-tokens", "64"];
      const { code, stdout, stderr } = await run(args, { cwd: temp.path });
      // Ollama's messages endpoint has no field for a form, and ignores a choice of a tool.
      if (code !== 0 && way.name === "hosted") return skip("held to no form");
      assertEquals(code, 0, `${stderr} ${stdout}`);
      const { kind, isDone } = JSON.parse(stdout);
      assert(["fox", "stone"].includes(kind) && typeof isDone === "boolean", stdout);
      return ok(stdout.replace(/\s+/g, " ").trim());
    }],
    ["the program is stopped", async () => {
      using temp = tempFolder();
      const args = [...flags, "-p", "Write a long story about a fox.", "--output", "stream-json"];
      const child = command(args, { cwd: temp.path }).spawn();
      const reader = child.stdout.getReader();
      await reader.read();
      const start = performance.now();
      child.kill("SIGINT");
      for (;;) if ((await reader.read()).done) break;
      const { code } = await child.status;
      await child.stderr.cancel();
      const took = Math.ceil(performance.now() - start);
      // A small model may have finished before.
      assert(code === 130 || code === 0, `exit code ${code}`);
      assert(took < MAX_STOP_MS, `after ${took} ms`);
      return ok(`exit code ${code} after ${took} ms`);
    }],
    // It must report our own model as ready.
    ["copilot doctor", async () => {
      const { code, stdout, stderr } = await run(["doctor", ...flags, "--json"]);
      assertEquals(stderr, "");
      const report = JSON.parse(stdout);
      assert(report.checks.length >= 3 && (!isOurs || code === 0 && report.ok), stdout);
      return ok(report.ok ? "ready" : stdout);
    }],
  ];
}
