/** `copilot doctor`: tests the model server, and reports what works and what to change. @module */

import { CopilotAgent } from "../agent/agent.ts";
import { askModel } from "../agent/ask_model.ts";
import type { ModelAnswer } from "../agent/model_answer.ts";
import type { TurnEvent } from "../types/event.ts";
import { isNative } from "../models/ollama/connection.ts";
import { servedModel } from "../models/ollama/served_model.ts";
import { type CopilotConfig, MODEL_ROLES, type ModelRoles } from "../config.ts";
import { BackendError, UsageError } from "../errors.ts";
import { type ModelTarget, targetOf, withModel } from "../models/target.ts";
import { count, duration } from "../text/count.ts";
import type { Message } from "../types/message.ts";
import { EXIT } from "../exit_codes.ts";
import { failureParts, type UiKind } from "../session/hint_text.ts";
import { unsentKeyText } from "../session/notices.ts";
import { ModelFit } from "../session/fit_model.ts";
import type { SandboxStatus } from "../safety/permission_report.ts";
import type { Check } from "../session/data.ts";
import { openPermissions, type Permissions } from "../safety/permissions.ts";
import type { Session } from "../session/session.ts";
import { mcpChecks } from "../extensions/mcp/mcp_checks.ts";
import { addressOf, serverOf, specName } from "../models/model_server.ts";
import { folderTool } from "../tools/list_directory.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { wrapped } from "../text/wrap.ts";
import { checkServerAndModel } from "../session/server_checks.ts";
import type { DoctorOutput } from "../ui/terminal/session/command_runner.ts";
import { unsentKey } from "./keys.ts";
import { modelFlags } from "./settings.ts";

interface DoctorOptions extends DoctorOutput {
  permissions: Permissions;
  fit: ModelFit;
  roles: ModelRoles;
  json: boolean;
  ui: UiKind;
  folder?: string;
}

export async function examineSession(
  { agent: { config, state }, options: { demoUrl }, roles }: Session,
  choice: Parameters<typeof openPermissions>[0],
  output: DoctorOutput,
): Promise<void> {
  if (targetOf(config).url === demoUrl) {
    const text = "The demo has no model server. Choose one with /setup.";
    return output.write(wrapped(text, output.columns));
  }
  await runDoctor(config, {
    ...output,
    json: false,
    ui: "terminal",
    folder: state.workingDir,
    roles: roles.models,
    permissions: openPermissions(choice),
    fit: new ModelFit({ isChosen: true, asksRemote: true }),
  });
}

/** The token limit of an answer: room to think, and an end for a model that does not stop. */
const MAX_TOKENS = 2048;

/** Runs the checks in order, until one fails that the others need. Returns the exit code. */
export async function runDoctor(config: CopilotConfig, options: DoctorOptions): Promise<number> {
  const maxTokens = Math.min(targetOf(config).maxTokens ?? MAX_TOKENS, MAX_TOKENS);
  const { json, columns, write, ui, folder = "." } = options;
  const agent = new CopilotAgent(withModel(config, { maxTokens }), folder);
  const checks: Check[] = [];
  const add = (check: Check) => {
    checks.push(check);
    if (!json) write(checkRows(check, columns));
  };
  if (!json) {
    const what = config.compat ? "OpenAI-style server" : backendOf(config);
    write(`${wrapped(`copilot doctor: ${what}, ${serverOf(config)}`, columns)}\n`);
  }
  try {
    for await (const check of checksOf(agent, options)) {
      add(check);
      // A model that calls no tools still shows whether its server caches prompts, and each role is tested.
      const isLast = !["tools", ...MODEL_ROLES].includes(check.name);
      if (check.status === "fail" && isLast) break;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof BackendError)) throw error;
    const { why: text, ...advice } = failureParts(error, agent.config, ui);
    add({ name: "answer", status: "fail", text, ...advice });
  }
  const ok = checks.every(({ status }) => status !== "fail");
  const { name: model } = targetOf(agent.config);
  const [backend, server] = [backendOf(config), serverOf(config)];
  if (json) write(`${JSON.stringify({ ok, backend, server, model, checks })}\n`);
  else write(ok ? `Ready: ${oneLine(model)}\n` : "Not ready: see above\n");
  return ok ? EXIT.done : EXIT.error;
}

function backendOf(config: CopilotConfig): string {
  const { kind, isNative } = targetOf(config);
  return kind === "local" && !isNative ? "local, compatible endpoint" : kind;
}

export function checkRows({ name, status, text, advice }: Check, columns: number): string {
  const label = status === "fail" ? "FAIL" : status;
  const body = wrapped(`${text}${advice ? `\n${advice}` : ""}`, Math.max(20, columns - 15));
  return `${label.padEnd(6)}${name.padEnd(9)}${body.replaceAll("\n", `\n${" ".repeat(15)}`)}\n`;
}

async function* checksOf(agent: CopilotAgent, options: DoctorOptions): AsyncGenerator<Check> {
  const { permissions, fit, json, ui, write, signal } = options;
  yield confinementCheck(await permissions.sandboxStatus(agent.state.workingDir));
  const unsent = unsentKey(agent.config);
  if (unsent !== undefined) {
    yield { name: "key", status: "note", ...unsentKeyText(unsent, "flags") };
  }
  yield* mcpChecks(agent.state.workingDir, permissions.variables);
  const onLoading = () => {
    if (!json) write(`${" ".repeat(15)}the server is loading the model: waiting\n`);
  };
  yield* checkServerAndModel({ agent, fit, signal, ui, onLoading });
  yield* probes(agent, signal);
  for (const [role, spec] of Object.entries(options.roles)) {
    yield await roleCheck(role, spec, agent, options);
  }
}

/** Tests the model of a role: its server, and a call, or an answer of the one that only summarizes. */
async function roleCheck(
  role: string,
  spec: string,
  { config, state }: CopilotAgent,
  { signal, ui }: DoctorOptions,
): Promise<Check> {
  const advice = 'Start it, or change it under "roles" in config.json';
  const named = ({ text, ...check }: Check) => (
    { ...check, name: role, text: `${specName(spec)}: ${text}` }
  );
  try {
    const agent = new CopilotAgent(modelFlags.at(spec, config), state.workingDir);
    const fit = new ModelFit({ isChosen: true, asksRemote: true });
    for await (const check of checkServerAndModel({ agent, fit, signal, ui })) {
      if (check.status === "fail") return named({ ...check, advice });
    }
    if (role === "summary") return named(answerCheck(await sendProbe(agent, [HELLO], [], signal)));
    const asked = await sendProbe(agent, callRequest(agent), agent.offered, signal);
    return named(toolsCheck(asked, targetOf(agent.config), await serverKind(agent, signal)));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof BackendError || error instanceof UsageError)) throw error;
    return named({ name: role, status: "fail", text: oneLine(reasonOf(error)), advice });
  }
}

export function confinementCheck({ mode, network, by, why, advice }: SandboxStatus): Check {
  const name = "commands";
  if (by === undefined) {
    const state = mode === "off"
      ? "not sandboxed: no sandbox works"
      : "refused, because no sandbox works";
    const text = `${state}: ${why}`;
    return { name, status: "note", text, ...advice !== undefined && { advice } };
  }
  if (mode === "off") return { name, status: "note", text: "not sandboxed: the sandbox is off" };
  const text = `sandboxed with ${by}: ${mode}, ${network ? "with" : "without"} network`;
  return { name, status: "ok", text };
}

/** An answer; `first` and `total` are ms since the request. */
type Probe = ModelAnswer & { first: number; total: number };

async function sendProbe(
  agent: CopilotAgent,
  messages: Message[],
  tools: CopilotAgent["tools"],
  signal: AbortSignal,
): Promise<Probe> {
  const start = performance.now();
  let first = 0;
  const emit = ({ type }: TurnEvent) => {
    if (type.endsWith("_delta")) first ||= performance.now() - start;
  };
  const answer = await askModel(agent, { messages, tools, emit, signal });
  const total = performance.now() - start;
  return { ...answer, first: first || total, total };
}

const HELLO: Message = { role: "user", content: "Reply with the single word: ready" };

const callRequest = (agent: CopilotAgent): Message[] => [
  { role: "system", content: agent.systemPrompt },
  { role: "user", content: `Call the tool ${folderTool.name} with the path "." now.` },
];

/** Requests an answer, a call, and an answer to its result. The last two share a prefix, which a cache has. */
async function* probes(agent: CopilotAgent, signal: AbortSignal): AsyncGenerator<Check> {
  const loaded = await sendProbe(agent, [HELLO], [], signal);
  yield answerCheck(loaded);

  const messages = callRequest(agent);
  const asked = await sendProbe(agent, messages, agent.offered, signal);
  const kind = await serverKind(agent, signal);
  yield toolsCheck(asked, targetOf(agent.config), kind);
  const [call] = asked.message.toolCalls ?? [];
  const further: Message[] = call === undefined ? [messages[0]!, HELLO] : [
    ...messages,
    { ...asked.message, toolCalls: [call] },
    {
      role: "tool",
      content: "README.md  1 KB\n[1 entry]",
      toolCallId: call.id,
      toolName: call.name,
    },
  ];
  const again = await sendProbe(agent, further, agent.offered, signal);
  yield cacheCheck(asked, again, kind);
  if (call === undefined) return;

  const isAnswered = again.message.standsFor !== "empty_answer";
  const what = isAnswered ? "continues" : "no answer";
  yield {
    name: "result",
    status: isAnswered ? "ok" : "note",
    text: `${what} after a tool's result`,
  };
}

export function answerCheck({ message, usage, stopReason, first, total }: Probe): Check {
  const name = "answer";
  if (stopReason === "loop") {
    const advice = "Try a model that follows instructions better, or one that is quantised less";
    return { name, status: "note", text: "it repeated itself, and was stopped", advice };
  }
  const { reasoning, standsFor } = message;
  if (standsFor === "empty_answer" && !reasoning) {
    return { name, status: "fail", text: "the model said nothing", advice: "Try another model" };
  }
  const tokens = usage?.outputTokens ?? 0;
  const speed = tokens > 5 && total - first > 50 ? speedText(tokens, total - first) : "";
  const thinks = reasoning ? "; it thinks first" : "";
  return { name, status: "ok", text: `after ${duration(first)}${speed}${thinks}` };
}

function speedText(tokens: number, ms: number): string {
  const speed = tokens / (ms / 1000);
  return `, ${speed < 1 ? speed.toFixed(1) : Math.round(speed)} tokens/s`;
}

/** Returns the program that serves the model, such as `ollama`, `llamacpp` or `vllm`, if it is known. */
async function serverKind({ config }: CopilotAgent, signal: AbortSignal) {
  const target = targetOf(config);
  if (target.kind === "hosted") return "hosted";
  const at = { ...addressOf(target), signal };
  return await isNative(at) ? "ollama" : (await servedModel(target.name, at)).owner;
}

/** How to make a server read calls itself. */
const CALL_ADVICE: Readonly<Record<string, string>> = {
  hosted: "",
  llamacpp: "llama-server --jinja reads such calls itself",
  ollama: 'A model that Ollama tags "tools" reads such calls itself: ollama.com/search?c=tools',
  vllm: "vllm serve --enable-auto-tool-choice --tool-call-parser NAME reads such calls itself",
};
const USUAL_CALL_ADVICE =
  "A server that knows the model's template reads such calls itself: see its manual";
/** How to make a server cache prompts. */
const CACHE_ADVICE: Readonly<Record<string, string>> = {
  llamacpp:
    "llama-server caches prompts unless it has --no-cache-prompt; --cache-reuse 256 and --cache-ram 8192 keep more of them, -np 2 gives another program its own slot",
  ollama:
    "Ollama: OLLAMA_NUM_PARALLEL=2 gives another program its own cache, OLLAMA_KEEP_ALIVE=1h keeps the model loaded",
  vllm: "vllm serve --enable-prefix-caching",
};
const USUAL_CACHE_ADVICE =
  "Turn on the server's prompt cache, and see which other programs use the server";

export function toolsCheck(
  { message, usage, first }: Probe,
  { textTools }: ModelTarget,
  kind = "",
): Check {
  const name = "tools";
  const prompt = usage?.inputTokens
    ? ` (${count(usage.inputTokens, "token")} of prompt, ${duration(first)}${
      first < MIN_TELLING_MS ? "" : speedText(usage.inputTokens - (usage.cachedTokens ?? 0), first)
    })`
    : "";
  const [call] = message.toolCalls ?? [];
  if (call === undefined) {
    const text = `it called no tool, and said: ${oneLine(message.content).slice(0, 120)}`;
    return { name, status: "fail", text, advice: "Use a model that was trained to call tools" };
  }
  if (call.invalid) {
    const text = `it called a tool, but wrongly: ${oneLine(call.invalid.reason)}`;
    return { name, status: "note", text };
  }
  if (!call.recovered) return { name, status: "ok", text: `called natively${prompt}` };
  const text = `called in the answer's text, which was parsed${prompt}`;
  if (textTools) return { name, status: "ok", text };
  return { name, status: "note", text, advice: CALL_ADVICE[kind] ?? USUAL_CALL_ADVICE };
}

/** A request of fewer milliseconds says nothing about a cache. */
const MIN_TELLING_MS = 300;

/** Compares two requests with a shared prefix. `kind`: the program that serves the model, if it is known. */
export function cacheCheck(before: Probe, after: Probe, kind = ""): Check {
  const name = "cache";
  const { cachedTokens, inputTokens = 0 } = after.usage ?? {};
  const isCounted = cachedTokens !== undefined && inputTokens > 0;
  const times = `${duration(before.first)}, then ${duration(after.first)}`;
  const text = isCounted
    ? `${
      Math.round(100 * cachedTokens / inputTokens)
    } % of a second prompt came from the cache (${cachedTokens} of ${inputTokens} tokens)`
    : `the server reports no cached tokens; a prompt with the same start took ${times}`;
  const isFast = before.first < MIN_TELLING_MS || after.first < before.first / 2;
  if (isCounted ? cachedTokens >= inputTokens / 2 : isFast) return { name, status: "ok", text };
  const advice = `Each turn processes the whole prompt again. ${
    CACHE_ADVICE[kind] ?? USUAL_CACHE_ADVICE
  }`;
  return { name, status: "note", text, advice };
}
