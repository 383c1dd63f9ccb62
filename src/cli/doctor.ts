/**
 * `copilot doctor`: asks the configured model server for real, and says what works, what the program
 * will use and what to change.
 *
 * @module
 */

import { CopilotAgent } from "../agent/agent.ts";
import type { Backend, Delta, Reply } from "../backends/backend.ts";
import { isNative, servedModel } from "../backends/local/connection.ts";
import type { CopilotConfig } from "../config.ts";
import { BackendError } from "../errors.ts";
import { count } from "../text/count.ts";
import { repetitionWatcher } from "../text/repetition.ts";
import type { Message } from "../types/message.ts";
import { EXIT } from "../frontends/exit_codes.ts";
import { withHint } from "../session/hints.ts";
import type { SandboxStatus } from "../session/permission_report.ts";
import type { Permissions } from "../session/permissions.ts";
import { addressOf, serverOf } from "../session/model_server.ts";
import { duration } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { wrapped } from "../text/wrap.ts";
import { type Check, look } from "../session/server_look.ts";

/** What a run of the doctor needs. */
export interface DoctorOptions {
  permissions: Permissions;
  modelNamed: boolean;
  /** One JSON object at the end instead of lines. */
  json: boolean;
  columns: number;
  write(text: string): void;
  signal: AbortSignal;
}

/** Runs the checks in order, until one fails; the exit code. */
export async function runDoctor(config: CopilotConfig, options: DoctorOptions): Promise<number> {
  const agent = new CopilotAgent(withShortAnswers(config), ".");
  const checks: Check[] = [];
  if (!options.json) options.write(`copilot doctor: ${backendOf(config)}, ${serverOf(config)}\n`);
  try {
    for await (const check of examine(agent, options)) {
      checks.push(check);
      if (!options.json) options.write(lineOf(check, options.columns));
      if (check.status === "fail") break;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof BackendError)) throw error;
    const check: Check = { name: "answer", status: "fail", text: withHint(error, agent.config) };
    checks.push(check);
    if (!options.json) options.write(lineOf(check, options.columns));
  }
  const ok = checks.every(({ status }) => status !== "fail");
  const { model } = await agent.backend();
  if (options.json) {
    const report = { ok, backend: backendOf(config), server: serverOf(config), model, checks };
    options.write(`${JSON.stringify(report)}\n`);
  } else options.write(ok ? `Ready: ${oneLine(model)}\n` : "Not ready: see above\n");
  return ok ? EXIT.done : EXIT.error;
}

/** A model that does not know when to stop is not waited for; one that thinks may. */
const MAX_TOKENS = 2048;

function withShortAnswers(config: CopilotConfig): CopilotConfig {
  const short = <T extends { maxTokens: number }>(settings: T): T => ({
    ...settings,
    maxTokens: Math.min(settings.maxTokens, MAX_TOKENS),
  });
  if (config.local) return { ...config, local: short(config.local) };
  if (config.hosted) return { ...config, hosted: short(config.hosted) };
  return { ...config, compat: short(config.compat!) };
}

const backendOf = ({ local, hosted }: CopilotConfig) =>
  local ? (local.useCompat ? "local, compatible endpoint" : "local") : hosted ? "hosted" : "compat";

function lineOf({ name, status, text, advice }: Check, columns: number): string {
  const label = status === "fail" ? "FAIL" : status;
  const body = wrapped(`${text}${advice ? `\n${advice}` : ""}`, Math.max(20, columns - 15));
  return `${label.padEnd(6)}${name.padEnd(9)}${body.replaceAll("\n", `\n${" ".repeat(15)}`)}\n`;
}

async function* examine(agent: CopilotAgent, options: DoctorOptions): AsyncGenerator<Check> {
  yield commands(await options.permissions.sandboxStatus(agent.state.workingDir));
  const { json, write } = options;
  const onLoading = () => {
    if (!json) write(`${" ".repeat(15)}it is being loaded: waiting\n`);
  };
  yield* look(agent, { ...options, onLoading });
  yield* await probes(agent, options);
}

/** What the commands that the model runs are confined by. */
function commands({ mode, network, by, why }: SandboxStatus): Check {
  const name = "commands";
  if (mode === "off") {
    return by === undefined
      ? { name, status: "note", text: `not confined, and cannot be: ${why}` }
      : { name, status: "ok", text: `not confined; ${by} works: --sandbox workspace-write` };
  }
  if (by === undefined) {
    return { name, status: "note", text: `refused, as nothing confines them: ${why}` };
  }
  return {
    name,
    status: "ok",
    text: `confined by ${by}: ${mode}, ${network ? "with" : "without"} network`,
  };
}

/** So many characters of the same are no answer to questions as short as these. */
const RUNAWAY = 1000;
/** The end of an answer that was stopped, as it repeated itself. */
const RAN_AWAY = "ran away";

/** A reply, and when it began and ended, in milliseconds from its request. */
interface Probe extends Reply {
  first: number;
  total: number;
}

async function probe(
  backend: Backend,
  messages: Message[],
  tools: CopilotAgent["tools"],
  signal: AbortSignal,
): Promise<Probe> {
  const start = performance.now();
  const stop = new AbortController();
  const watcher = repetitionWatcher(RUNAWAY);
  let first = 0;
  let content = "";
  const onDelta = (delta: Delta) => {
    first ||= performance.now() - start;
    if (delta.type === "text") content += delta.text;
    if ("text" in delta && watcher.push(delta.text) !== undefined) stop.abort();
  };
  const reply = await backend
    .send(messages, tools, { signal: AbortSignal.any([signal, stop.signal]), onDelta })
    .catch((error): Reply => {
      if (signal.aborted || !stop.signal.aborted) throw error;
      const message: Message = { role: "assistant", content };
      return { message, finish: "other", finishDetail: RAN_AWAY, usage: undefined };
    });
  const total = performance.now() - start;
  return { ...reply, first: first || total, total };
}

/** A first answer, which loads the model; a tool call; the answer to its result. */
async function* probes(agent: CopilotAgent, { signal }: DoctorOptions): AsyncGenerator<Check> {
  const backend = await agent.backend();
  const hello: Message = { role: "user", content: "Reply with the single word: ready" };
  const loaded = await probe(backend, [hello], [], signal);
  yield answered(loaded);

  const messages: Message[] = [
    { role: "system", content: agent.systemPrompt },
    { role: "user", content: 'Call the tool list_directory with the path "." now.' },
  ];
  const asked = await probe(backend, messages, agent.offered, signal);
  const { local, compat } = agent.config;
  const described = (local ?? compat)?.textTools === true;
  yield await called(asked, described, () => nativeCalls(agent, signal));
  const [call] = asked.message.toolCalls ?? [];
  if (call === undefined) return;

  const result: Message = {
    role: "tool",
    content: "README.md  1 KB\n[1 entry]",
    toolCallId: call.id,
    toolName: call.name,
  };
  const message = { ...asked.message, toolCalls: [call] };
  const again = await probe(backend, [...messages, message, result], agent.offered, signal);
  const isTold = again.message.content.trim() !== "" || again.message.toolCalls !== undefined;
  yield isTold
    ? { name: "result", status: "ok", text: "goes on after a tool's result" }
    : { name: "result", status: "note", text: "says nothing after a tool's result" };
  yield cached(asked, again);
}

function answered({ message, usage, first, total, finishDetail }: Probe): Check {
  const name = "answer";
  if (finishDetail === RAN_AWAY) {
    const advice = "A model that follows instructions does better, or one that is quantised less";
    return { name, status: "note", text: "it repeated itself, and was stopped", advice };
  }
  const { content, reasoning } = message;
  if (content.trim() === "" && !reasoning) {
    return { name, status: "fail", text: "the model said nothing", advice: "Try another model" };
  }
  const tokens = usage?.outputTokens ?? 0;
  const speed = tokens > 5 && total - first > 50
    ? `, ${Math.round(tokens / ((total - first) / 1000))} tokens/s`
    : "";
  const thinks = reasoning ? "; it thinks first" : "";
  return { name, status: "ok", text: `after ${duration(first)}${speed}${thinks}` };
}

/** How the server of `agent` is made to read calls itself. */
async function nativeCalls({ config }: CopilotAgent, signal: AbortSignal): Promise<string> {
  const reads = "reads such calls itself";
  if (config.hosted) return "";
  const at = { ...addressOf(config), signal };
  if (await isNative(at)) {
    return `A model that Ollama tags "tools" ${reads}: ollama.com/search?c=tools`;
  }
  const { owner } = await servedModel((config.local ?? config.compat)!.model, at);
  const how = owner === "llamacpp"
    ? "llama-server --jinja"
    : owner === "vllm"
    ? "vllm serve --enable-auto-tool-choice --tool-call-parser NAME"
    : "see its manual";
  return `A server that knows the model's template ${reads}: ${how}`;
}

/**
 * `described`: the tools were, in the prompt, as the model's template takes none; `how` says how calls
 * become native.
 */
async function called(
  { message, usage, first }: Probe,
  described: boolean,
  how: () => Promise<string>,
): Promise<Check> {
  const name = "tools";
  const prompt = usage?.inputTokens
    ? ` (${count(usage.inputTokens, "token")} of prompt, ${duration(first)})`
    : "";
  const [call] = message.toolCalls ?? [];
  if (call === undefined) {
    return {
      name,
      status: "fail",
      text: `it called none, and said: ${oneLine(message.content).slice(0, 120)}`,
      advice: "Use a model that was trained to call tools",
    };
  }
  if (call.invalid) {
    return { name, status: "note", text: `it called, wrongly: ${oneLine(call.invalid.reason)}` };
  }
  if (!call.recovered) return { name, status: "ok", text: `called natively${prompt}` };
  const text = `called in the answer's text, and understood${prompt}`;
  if (described) return { name, status: "ok", text };
  return { name, status: "note", text, advice: await how() };
}

/** A request that takes less than this, in milliseconds, tells nothing about a cache. */
const MIN_TELLING_MS = 300;

function cached(before: Probe, after: Probe): Check {
  const name = "cache";
  const held = after.usage?.cachedTokens;
  if (held) return { name, status: "ok", text: `${held} tokens of the prompt were held` };
  const times = `${duration(before.first)}, then ${duration(after.first)}`;
  if (before.first < MIN_TELLING_MS) {
    return { name, status: "ok", text: `too fast to tell: ${times}` };
  }
  if (after.first < before.first / 2) return { name, status: "ok", text: `works: ${times}` };
  return {
    name,
    status: "note",
    text: `the same prompt took as long again: ${times}`,
    advice:
      "Each turn reads everything anew: look for the server's prompt cache, and for others who use it",
  };
}
