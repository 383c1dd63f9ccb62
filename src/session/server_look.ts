/**
 * What a model server says of itself, as far as a session and the doctor want to know: whether it is
 * there, its models, the context. The model is asked for nothing.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import {
  ASK_TIMEOUT_MS,
  checkLocalConnection,
  chooseLocalModel,
  isSameModel,
  listLocalModelAbilities,
  listLocalModels,
  type LocalModelInfo,
  localModelInfo,
  type ServedModel,
  servedModel,
} from "../backends/local/connection.ts";
import { BackendError } from "../errors.ts";
import { isLoopback } from "../wire/connect.ts";
import { isCompatOnly, prepare, servedInstead, serversOwn } from "./fit_model.ts";
import { withHint } from "./hints.ts";
import { addressOf, choosesModel, serverOf } from "./model_server.ts";
import { duration } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";

/** What was found out about one thing. */
export interface Check {
  name: "commands" | "server" | "model" | "context" | "answer" | "tools" | "result" | "cache";
  /** `note`: it works, and could be better. */
  status: "ok" | "note" | "fail";
  /** One line. */
  text: string;
  /** What to do. */
  advice?: string;
}

/** What a look at the server needs. */
export interface LookOptions {
  modelNamed: boolean;
  signal: AbortSignal;
  /** Told once when the server is loading the model, which is waited for. */
  onLoading?(): void;
}

/** Looks at the server, the model and the context, in order. */
export async function* look(
  agent: CopilotAgent,
  options: LookOptions,
): AsyncGenerator<Check> {
  yield await server(agent, options);
  yield await model(agent, options);
  yield* await context(agent, options);
}

/**
 * What a session should know of its local server from the start, in lines to show: what is wrong,
 * or what there is. Nothing of a server elsewhere, which is not asked.
 */
export async function greeting(
  agent: CopilotAgent,
  options: LookOptions,
): Promise<{ lines: string[]; isFound: boolean }> {
  if (!choosesModel(agent.config)) return { lines: [], isFound: true };
  const { model: wanted } = await agent.backend();
  const known: string[] = [];
  for await (const { name, status, text, advice } of look(agent, options)) {
    if (status === "fail") {
      return { lines: [`· ${text}${advice ? `. ${advice}` : ""}`], isFound: false };
    }
    if (name !== "server") {
      known.push(name === "context" ? `${text.split(",")[0]} of context` : text);
    }
  }
  const { model } = await agent.backend();
  const instead = model === wanted ? [] : [`· ${serversOwn(oneLine(model), "/model")}`];
  return { lines: [...instead, `· ${known.join(" · ")}`], isFound: true };
}

async function server(agent: CopilotAgent, options: LookOptions): Promise<Check> {
  const name = "server";
  const { config } = agent;
  if (config.hosted) return { name, status: "ok", text: "asked below: it has nothing to look at" };
  const start = performance.now();
  if (await checkLocalConnection({ ...addressOf(config), signal: options.signal })) {
    const text = `answers after ${duration(performance.now() - start)}`;
    return await isCompatOnly(agent, options)
      ? { name, status: "note", text: `${text}; no Ollama: its compatible endpoint is used` }
      : { name, status: "ok", text };
  }
  const took = performance.now() - start;
  // Who refuses does so at once.
  if (took > ASK_TIMEOUT_MS / 2) {
    const text = `${serverOf(config)} does not answer within ${duration(took)}`;
    return { name, status: "fail", text, advice: "It may be busy with another request" };
  }
  const error = new BackendError(`Nothing answers at ${serverOf(config)}`, { kind: "connection" });
  return { name, status: "fail", text: withHint(error, config) };
}

/** The model, and another where the default is not installed, as a first turn would choose it. */
async function model(agent: CopilotAgent, options: LookOptions): Promise<Check> {
  const name = "model";
  const { modelNamed, signal } = options;
  const wanted = (await agent.backend()).model;
  if (agent.config.hosted) return { name, status: "ok", text: oneLine(wanted) };
  let isTold = false;
  const onLoading = () => {
    if (!isTold) options.onLoading?.();
    isTold = true;
  };
  const at = { ...addressOf(agent.config), signal, onLoading };
  let names: string[];
  try {
    names = await listLocalModels(at);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return {
      name,
      status: "note",
      text: `${oneLine(wanted)}; the server does not list its models`,
    };
  }
  let chosen = names.some((one) => isSameModel(one, wanted)) ? wanted : null;
  const { local } = agent.config;
  const isNative = local && !local.useCompat;
  if (chosen === null && !modelNamed) {
    chosen = isNative
      ? chooseLocalModel(await listLocalModelAbilities(at))
      : servedInstead(wanted, (await servedModel(wanted, at)).names, isLoopback(at.host)) ?? null;
  }
  if (chosen === null && !isNative && names.length === 1) {
    // llama.cpp answers to any name.
    const text = `${oneLine(wanted)} is not the name of the one that is there: ${
      oneLine(names[0]!)
    }`;
    return { name, status: "note", text };
  }
  if (chosen === null) {
    const there = names.slice(0, 20).map(oneLine).join(", ") || "none";
    return {
      name,
      status: "fail",
      text: `${oneLine(wanted)} is not there; there are: ${there}`,
      advice: isNative ? `ollama pull ${oneLine(wanted)}, or --model` : "--model NAME",
    };
  }
  if (chosen !== wanted) agent.setModel(chosen);
  const info: Partial<LocalModelInfo & ServedModel> = isNative
    ? await localModelInfo(chosen, at)
    : await servedModel(chosen, at);
  const { size, quantization, abilities } = info;
  const about = [size, quantization].filter(Boolean).join(", ");
  const text = oneLine(`${chosen}${about && ` (${about})`}`);
  if (info.takesTools === false || abilities && !abilities.includes("tools")) {
    return {
      name,
      status: "note",
      text: `${text}: its template knows no tools`,
      advice:
        "Calls are described in the prompt and read from its text; a model made for tools does better",
    };
  }
  // All models that answer can do that.
  const does = abilities?.filter((ability) => ability !== "completion") ?? [];
  return { name, status: "ok", text: `${text}${does.length > 0 ? `: ${does.join(", ")}` : ""}` };
}

/** Less than this holds the prompt, and hardly a file. */
const SMALL_CONTEXT = 8192;

async function context(agent: CopilotAgent, options: LookOptions): Promise<Check[]> {
  const { modelNamed, signal } = options;
  await prepare(agent, { modelNamed, anywhere: true, signal });
  const { local, compat } = agent.config;
  const length = (local ?? compat)?.contextLength;
  if (length === undefined) return [];
  const isSmall = length < SMALL_CONTEXT;
  return [{
    name: "context",
    status: isSmall ? "note" : "ok",
    text: `${length} tokens${local && !local.useCompat ? ", asked for with every request" : ""}`,
    ...(isSmall && { advice: "Long files will not fit: give the model more, or use another" }),
  }];
}
