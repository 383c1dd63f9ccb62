/**
 * Checks a model server for a start and for the doctor: its response, its models, the context. It sends no
 * prompt. @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import {
  ASK_TIMEOUT_MS,
  connectionFailure,
  isSameModel,
  listLocalModels,
  type LocalModelInfo,
  localModelInfo,
  onFailure,
} from "../models/ollama/connection.ts";
import { LIST_TIMEOUT_MS, type ServedModel, servedModel } from "../models/ollama/served_model.ts";
import { BackendError } from "../errors.ts";
import { duration } from "../text/count.ts";
import type { ModelTarget } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import { type ModelFit, modelInstead, useCompatible } from "./fit_model.ts";
import { hintFor, modelHint, type UiKind } from "./hint_text.ts";
import { addressOf, choosesModel, serverOf } from "../models/model_server.ts";
import type { Check, Notice } from "./data.ts";

interface ServerProbe {
  agent: CopilotAgent;
  fit: ModelFit;
  signal: AbortSignal;
  /** Where the advice of a failed check is read. */
  ui: UiKind;
  /** Called once if the server starts loading the model. The check waits for it. */
  onLoading?(): void;
  listTimeoutMs?: number;
}

/** Checks the server, the model and the context, in this order. The agent switches to the model that was found. */
export async function* checkServerAndModel(given: ServerProbe): AsyncGenerator<Check> {
  let isLoading = false;
  const probe = {
    ...given,
    onLoading() {
      if (!isLoading) given.onLoading?.();
      isLoading = true;
    },
  };
  const server = await checkServer(probe);
  if (server.status === "fail") return yield server;
  const listed = await listedModels(probe);
  // A server of another kind responds, too.
  const isOther = listed instanceof BackendError && listed.kind === "protocol";
  const text = `${server.text}, but lists no models: it may not be a model server`;
  yield isOther ? { ...server, status: "note", text } : server;
  yield await checkModel(probe, listed);
  yield* await checkContext(probe);
}

async function listedModels(probe: ServerProbe): Promise<readonly string[] | BackendError> {
  const { agent, fit, signal, onLoading, listTimeoutMs } = probe;
  const target = fit.targetOf(agent);
  if (target.kind === "hosted") return [];
  return await listLocalModels({ ...addressOf(target), signal, onLoading }, listTimeoutMs)
    .catch(onFailure((error) => error));
}

/** Returns the checks at the start of a session, up to a failed one; undefined if the server chooses no model. */
export async function serverNotice(
  probe: ServerProbe,
): Promise<Extract<Notice, { code: "server" }> | undefined> {
  const { agent, fit } = probe;
  if (!choosesModel(agent.config)) return undefined;
  const wanted = fit.targetOf(agent).name;
  const checks: Check[] = [];
  for await (const check of checkServerAndModel({ listTimeoutMs: LIST_TIMEOUT_MS, ...probe })) {
    checks.push(check);
    if (check.status === "fail") return { code: "server", checks };
  }
  const { name } = fit.targetOf(agent);
  return { code: "server", checks, ...(name !== wanted && { instead: name }) };
}

async function checkServer({ agent, fit, signal, ui, onLoading }: ServerProbe): Promise<Check> {
  const name = "server";
  const { config } = agent;
  const target = fit.targetOf(agent);
  if (target.kind === "hosted") {
    return { name, status: "ok", text: "checked by the requests below" };
  }
  const start = performance.now();
  const failure = await connectionFailure({ ...addressOf(target), signal });
  if (failure === undefined) {
    const text = `answers after ${duration(performance.now() - start)}`;
    const isNoOllama = await useCompatible(agent, target, { signal, onLoading });
    const used = "; not Ollama, so its OpenAI-compatible endpoint is used";
    return isNoOllama ? { name, status: "note", text: text + used } : { name, status: "ok", text };
  }
  const took = performance.now() - start;
  // A server that refuses the connection does so at once.
  if (took > ASK_TIMEOUT_MS / 2) {
    const text = `${serverOf(config)} does not answer within ${duration(took)}`;
    return { name, status: "fail", text, advice: "It may be busy with another request" };
  }
  const isAnswer = failure.status !== undefined;
  const text = isAnswer ? oneLine(failure.message) : `Nothing answers at ${serverOf(config)}`;
  return failedCheck(name, text, hintFor(failure, config, ui));
}

const failedCheck = (name: string, text: string, advice?: string): Check => ({
  ...{ name, status: "fail", text },
  ...advice !== undefined && { advice },
});

async function checkModel(
  { agent, fit, signal, ui, onLoading }: ServerProbe,
  names: readonly string[] | BackendError,
): Promise<Check> {
  const target = fit.targetOf(agent);
  const { isNative } = target;
  const name = oneLine(target.name);
  if (target.kind === "hosted") return { name: "model", status: "ok", text: name };
  const at = { ...addressOf(target), signal, onLoading };
  // With 403, a key may be for chats only.
  if (names instanceof BackendError && names.status === 401) {
    return failedCheck("model", oneLine(names.message), hintFor(names, agent.config, ui));
  }
  if (names instanceof BackendError) {
    const text = `${name}; the server does not list its models`;
    return { name: "model", status: "note", text };
  }
  const isThere = names.some((one) => isSameModel(one, target.name));
  const model = isThere ? target.name : await modelInstead(target, { signal, onLoading });
  if (model === undefined) return missingModel(target, names, ui);
  if (!isThere) agent.setModel(model);
  return modelCheck(model, await (isNative ? localModelInfo : servedModel)(model, at));
}

function missingModel(target: ModelTarget, names: readonly string[], ui: UiKind): Check {
  const name = "model";
  const model = oneLine(target.name);
  if (!target.isNative && names.length === 1) {
    // llama.cpp has one model, and answers to any name.
    const text = `the server's only model is ${oneLine(names[0]!)}, not ${model}`;
    return { name, status: "note", text };
  }
  const there = names.slice(0, 20).map(oneLine).join(", ");
  const text = there === ""
    ? "the server lists no models"
    : `the server has no model ${model}; it has: ${there}`;
  return failedCheck(name, text, modelHint(target, names, ui));
}

function modelCheck(model: string, info: Partial<LocalModelInfo & ServedModel>): Check {
  const { size, quantization, abilities, takesTools } = info;
  const facts = [size, quantization].filter((one) => one !== undefined);
  const found = { name: "model", facts };
  const text = oneLine(`${model}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`);
  if (takesTools === false || abilities && !abilities.includes("tools")) {
    const advice =
      "Tools are described in the prompt and calls are parsed from its text; a model trained for tools does better";
    const lack = `${text}: its template does not support tools`;
    return { ...found, status: "note", text: lack, advice };
  }
  // Every chat model has the ability `completion`.
  const does = abilities?.filter((ability) => ability !== "completion").join(", ");
  if (!does) return { ...found, status: "ok", text };
  return { ...found, status: "ok", text: oneLine(`${text}: ${does}`), does: oneLine(does) };
}

/** A smaller context, in tokens, fits the prompt and hardly a file. */
const MIN_USEFUL_CONTEXT = 8192;

async function checkContext({ agent, fit, signal }: ServerProbe): Promise<Check[]> {
  await fit.prepare(agent, { signal });
  const { kind, isNative, contextLength } = fit.targetOf(agent);
  if (kind === "hosted" || contextLength === undefined) return [];
  const isSmall = contextLength < MIN_USEFUL_CONTEXT;
  return [{
    name: "context",
    status: isSmall ? "note" : "ok",
    text: `${contextLength} tokens${isNative ? ", set with every request" : ""}`,
    contextLength,
    ...(isSmall &&
      { advice: "Long files will not fit: give the model more context, or use another model" }),
  }];
}
