/**
 * Fitting the settings to the model's server: `learn` asks it, `apply` says what follows for the
 * settings, a `ModelFit` remembers for which model that was done. @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import type { TurnOptions } from "../agent/turn.ts";
import type { LocalModelInfo, LocalServerOptions } from "../backends/local/connection.ts";
import type { ServedModel } from "../backends/local/served_model.ts";
import { isSmall } from "../agent/prompt.ts";
import {
  type CopilotConfig,
  isDefaultServer,
  type PromptTier,
  type Sampling,
  type Thinking,
} from "../config.ts";
import { BackendError } from "../errors.ts";
import { isChatName, type ModelTarget, targetOf, withModel } from "../model_target.ts";
import { isLoopback, isNear } from "../wire/connect.ts";
import { addressOf } from "./model_server.ts";
import { QueueWatch } from "./queue_watch.ts";
import { ToolSilence } from "./tool_silence.ts";
import type { TurnResult } from "../types/event.ts";
import type { Notice } from "./report.ts";

/** The facts that a server tells of a model: its context, its size, what it takes; and all models. */
type ModelFacts =
  & Partial<
    Pick<
      ServedModel,
      | "contextLength"
      | "takesTools"
      | "seesImages"
      | "names"
      | "parameters"
      | "statesSampling"
      | "owner"
      | "isOllama"
    >
  >
  & {
    /** False where the model does not think. */
    thinks?: boolean;
  };

type LookOptions = Pick<LocalServerOptions, "signal" | "onLoading">;

/** The most tokens of context that Ollama is asked for: more costs more memory than many machines have. */
const MAX_CONTEXT = 32_768;

/**
 * Asks the server about the model; undefined where it says nothing. The native endpoint says how much
 * context the model was made for and is loaded with, any other one what the server was started with.
 * Behind a compatible endpoint, Ollama says how much it gives a model only once that is loaded, and
 * loads it anew where the native endpoint gave it another size: it is asked to load it, as the first
 * message would, since what does not fit would be left out of that message without a word.
 */
export async function learn(
  target: ModelTarget,
  { signal, onLoading }: LookOptions,
): Promise<ModelFacts | undefined> {
  const { lacks, localModelInfo, loadedModel, loadModel } = await import(
    "../backends/local/connection.ts"
  );
  const { servedModel } = await import("../backends/local/served_model.ts");
  const at = { ...addressOf(target), signal, onLoading: (ms?: number) => onLoading?.(ms) };
  try {
    if (!target.isNative) {
      let facts: ServedModel = await servedModel(target.name, at);
      if (facts.isOllama) {
        if (facts.contextLength === undefined) onLoading?.();
        await loadModel(target.name, at);
        facts = { ...facts, ...await loadedModel(target.name, at) };
      }
      const isKnown = facts.names.length > 0 || facts.contextLength !== undefined;
      const can = { ...seesByAbilities(facts), ...(lacks(facts, "thinking") && { thinks: false }) };
      return isKnown ? { ...facts, ...can } : undefined;
    }
    const [info, loaded] = await Promise.all([
      localModelInfo(target.name, at),
      loadedModel(target.name, at),
    ]);
    if (Object.keys(info).length === 0) return undefined; // it is not installed
    if (loaded.isLoaded === false) onLoading?.();
    const { contextLength: made = 0, ownContext, parameters, statesSampling } = info;
    // What it is loaded with is kept where that is more, as another size would load it anew.
    const wanted = Math.max(ownContext ?? Math.min(made, MAX_CONTEXT), loaded.contextLength ?? 0);
    return {
      ...(wanted > 0 && { contextLength: wanted }),
      ...(parameters !== undefined && { parameters }),
      ...(statesSampling && { statesSampling }),
      ...(lacks(info, "tools") && { takesTools: false }),
      ...seesByAbilities(info),
      ...(lacks(info, "thinking") && { thinks: false }),
    };
  } catch {
    return undefined; // The turn that follows reports the failure.
  }
}

/** Whether a model with these abilities sees; empty where its server lists none. */
function seesByAbilities({ abilities }: LocalModelInfo): Pick<ModelFacts, "seesImages"> {
  return abilities?.length ? { seesImages: abilities.includes("vision") } : {};
}

/** Settings that came from a server's facts, not from the person. */
interface FittedSettings {
  /** The model, server and endpoint that they are for; undefined where the server said nothing. */
  key?: string | undefined;
  contextLength?: number | undefined;
  textTools?: boolean | undefined;
  promptTier?: PromptTier | undefined;
  thinkBudget?: number | undefined;
  sampling?: Sampling | undefined;
  /** The person's setting that was left out, as the model does not think. */
  think?: Thinking | undefined;
}

/**
 * The settings for the model `name` of `config`'s server. `facts` change only what the person has left
 * open: a setting that is other than in `previous` is the person's.
 */
export function apply(
  config: CopilotConfig,
  name: string,
  facts: ModelFacts | undefined,
  previous: FittedSettings,
): { config: CopilotConfig; fitted: FittedSettings } {
  const target = targetOf(config);
  const isOpen = (key: "contextLength" | "textTools" | "thinkBudget") =>
    target[key] === undefined || target[key] === previous[key];
  // The messages API describes tools in the text by itself where a server refuses them.
  const takesText = target.kind !== "hosted";
  const change = {
    ...isOpen("contextLength") && { contextLength: facts?.contextLength },
    ...takesText && isOpen("textTools") &&
      { textTools: facts?.takesTools === false ? true : undefined },
    ...takesText && isOpen("thinkBudget") && { thinkBudget: budgetFor(facts) },
  };
  const think = config[target.kind]?.think ?? previous.think;
  const leavesThinking = facts?.thinks === false && think !== undefined;
  const { sampling } = config[target.kind] ?? {};
  const isAuto = sampling === "auto" || sampling !== undefined && sampling === previous.sampling;
  const { promptTier = "auto" } = config;
  const fittedTier = promptTier === "auto" || promptTier === previous.promptTier
    ? tierOf(facts, change.contextLength ?? target.contextLength)
    : undefined;
  const fitted = withModel(config, {
    ...{ model: name, ...change },
    ...isAuto && { sampling: facts?.statesSampling ? "server" : "auto" },
    ...think !== undefined && { think: leavesThinking ? undefined : think },
  });
  return {
    config: { ...fitted, promptTier: fittedTier ?? promptTier },
    fitted: {
      key: facts && targetKey({ ...target, name }),
      ...change,
      ...leavesThinking && { think },
      ...isAuto && facts?.statesSampling && { sampling: "server" },
      ...fittedTier !== undefined && fittedTier !== "auto" && { promptTier: fittedTier },
    },
  };
}

/** The most tokens of thinking for a model of a server that takes such a limit. */
function budgetFor({ owner = "", contextLength }: ModelFacts = {}): number | undefined {
  if (!/^(llamacpp|vllm)$/.test(owner) || contextLength === undefined) return undefined;
  return Math.floor(Math.min(contextLength / 2, MAX_CONTEXT) / 4);
}

/** The tier for a model whose size the server states; its name says it otherwise. */
function tierOf({ parameters }: ModelFacts = {}, contextLength: number | undefined): PromptTier {
  if (parameters === undefined) return "auto";
  return isSmall(parameters / 1e9, contextLength) ? "lean" : "full";
}

const targetKey = ({ isNative, url, name }: ModelTarget) => [isNative, url, name].join(" ");

/** The model that a server has in place of one that nobody named, where it is clear which. */
export function servedInstead(
  { url, name, isChosen }: ModelTarget,
  names: readonly string[] = [],
): string | undefined {
  const able = names.filter(isChatName);
  if (isChosen || names.includes(name) || able.length > 1 && !isLoopback(url)) return undefined;
  return able[0];
}

/** The only model of a server that was asked for another one by name: llama.cpp answers with it all the same. */
async function onlyOther(
  { name, isChosen }: ModelTarget,
  names: readonly string[] = [],
): Promise<string | undefined> {
  const [only] = names;
  if (!isChosen || only === undefined || names.length > 1 || only === name) return undefined;
  const { isSameModel } = await import("../backends/local/connection.ts");
  return isSameModel(only, name) ? undefined : only;
}

/**
 * Asks the server for the model that takes the place of one that it lacks and nobody named, if there is
 * one. @throws {BackendError} when Ollama does not list its models.
 */
export async function modelInstead(
  target: ModelTarget,
  options: LookOptions,
): Promise<string | undefined> {
  if (target.isChosen) return undefined;
  const { chooseLocalModel, listLocalModelAbilities } = await import(
    "../backends/local/connection.ts"
  );
  const { servedModel } = await import("../backends/local/served_model.ts");
  const at = { ...addressOf(target), ...options };
  if (!target.isNative) return servedInstead(target, (await servedModel(target.name, at)).names);
  const model = chooseLocalModel(await listLocalModelAbilities(at));
  return model === target.name ? undefined : model ?? undefined;
}

/**
 * Has the agent go on with the compatible endpoint of its local server, where that lacks the native one
 * and lists its models where llama.cpp does; true where it does so now.
 */
export async function useCompatible(
  agent: CopilotAgent,
  target: ModelTarget,
  options: LookOptions,
): Promise<boolean> {
  if (!target.isNative) return false;
  const { isNative } = await import("../backends/local/connection.ts");
  const { servedModel } = await import("../backends/local/served_model.ts");
  const at = { ...addressOf(target), ...options };
  if (await isNative(at) || (await servedModel(target.name, at)).names.length === 0) return false;
  agent.configure(withModel(agent.config, { useCompat: true }));
  return true;
}

export interface Progress extends Pick<TurnOptions, "signal" | "onEvent"> {
  onNotice?(notice: Notice): void;
}

/** Fits an agent's settings to its model's server, once for a model, as a change would load it anew. */
export class ModelFit {
  /** True where a person named the model, so that no other one takes its place. */
  isChosen: boolean;
  readonly #asksRemote: boolean;
  readonly #tellsOther: boolean;
  /** True where the server may be started with other settings while the session lasts. */
  #mayChange = false;
  /** The facts in use, as JSON. */
  #facts = "";
  readonly #silence = new ToolSilence();
  #fitted: FittedSettings = {};
  /** The server's only model, where that was not the one that was named. */
  #other: string | undefined;

  /**
   * `asksRemote`: a compatible endpoint is asked about its model on other machines as well. `tellsOther`: a
   * notice names the server's only model where another one was named.
   */
  constructor(options: { isChosen: boolean; asksRemote: boolean; tellsOther?: boolean }) {
    this.isChosen = options.isChosen;
    this.#asksRemote = options.asksRemote;
    this.#tellsOther = options.tellsOther === true;
  }

  targetOf(agent: CopilotAgent): ModelTarget {
    return targetOf(agent.config, this.isChosen);
  }

  /** The name of a model that loads: a server that was started with its model may have another than the default. */
  loadingName(agent: CopilotAgent): string {
    const { name, isNative, isChosen } = this.targetOf(agent);
    return isNative || isChosen ? name : "its model";
  }

  /**
   * Fits the settings to the model: the context, the model where nobody named one, how tools are described.
   * Each server is asked once about a model, one that is near again for each message, as it may have been
   * started with other settings since. A server that did not answer is asked again the next time.
   */
  async prepare(agent: CopilotAgent, progress: Progress = {}): Promise<void> {
    const target = this.targetOf(agent);
    const { signal, onEvent } = progress;
    const isFitted = this.#fitted.key === targetKey(target);
    if (signal?.aborted || !this.#asks(target) || isFitted && !this.#mayChange) return;
    const { name, isNative } = target;
    const model = this.loadingName(agent);
    const onLoading = onEvent &&
      ((nextLookMs?: number) =>
        onEvent({ type: "loading", model, ...(nextLookMs !== undefined && { nextLookMs }) }));
    let facts = await learn(target, { signal, onLoading });
    const told = JSON.stringify(facts);
    if (isFitted && (!facts || told === this.#facts)) return;
    const { key: _, ...settings } = this.#fitted;
    if (!facts && Object.values(settings).every((value) => value === undefined)) return;
    const instead = servedInstead(target, facts?.names);
    if (instead !== undefined) {
      progress.onNotice?.({ code: "model_instead", model: instead });
      if (facts!.names!.length > 1) {
        facts = await learn({ ...target, name: instead }, { signal, onLoading });
      }
    }
    const other = this.#tellsOther ? await onlyOther(target, facts?.names) : undefined;
    if (other !== undefined && other !== this.#other) {
      progress.onNotice?.({ code: "other_model", model: other, asked: name });
    }
    this.#other = other;
    const { config, fitted } = apply(agent.config, instead ?? name, facts, this.#fitted);
    if (fitted.textTools) progress.onNotice?.({ code: "text_tools" });
    if (fitted.think) progress.onNotice?.({ code: "no_thinking" });
    this.#fitted = fitted;
    this.#facts = told;
    this.#mayChange = !isNative && isNear(target.url) && facts !== undefined && !facts.isOllama;
    agent.configure(config);
    agent.seesImages = facts?.seesImages ?? agent.seesImages;
  }

  /** Takes back what was fitted to the model before: of the one that was chosen now nothing is known yet. */
  reset(agent: CopilotAgent): void {
    agent.configure(apply(agent.config, this.targetOf(agent).name, undefined, this.#fitted).config);
    this.#fitted = {};
  }

  hasAnswered(agent: CopilotAgent, result: TurnResult, { onNotice }: Progress): void {
    if (this.#silence.isNews(this.targetOf(agent).name, result)) onNotice?.({ code: "no_tools" });
  }

  /** Asks the server again about a model that refused a request; true where its settings changed. */
  async #relearn(agent: CopilotAgent, progress: Progress): Promise<boolean> {
    const before = this.targetOf(agent);
    const told = this.#facts;
    if (this.#fitted.key === undefined) return false;
    this.#fitted = { ...this.#fitted, key: undefined };
    await this.prepare(agent, progress);
    const now = this.targetOf(agent);
    return told !== this.#facts &&
      (["name", "contextLength", "textTools"] as const).some((one) => now[one] !== before[one]);
  }

  /** Watches for other requests that a server of one's own answers first, where it is one that may say so. */
  queueWatch(agent: CopilotAgent, { signal, onEvent }: Progress): QueueWatch | undefined {
    const target = this.targetOf(agent);
    if (target.isNative || !onEvent || !this.#asks(target)) return undefined;
    const isBusy = async () => {
      const { allSlotsWrite } = await import("../backends/local/slots.ts");
      return await allSlotsWrite({ ...addressOf(target), signal }).catch(() => false);
    };
    return new QueueWatch(isBusy, () => onEvent({ type: "queued" }));
  }

  #asks({ kind, url, isNative }: ModelTarget): boolean {
    if (isDefaultServer("compat", url)) return false;
    if (kind === "hosted") return isLoopback(url);
    return isNative || this.#asksRemote || isNear(url);
  }

  /**
   * Mends a turn that failed, with what the same local server has: its compatible endpoint, or an
   * installed model where nobody named one. True where the turn is worth another attempt.
   * @throws {BackendError} when the server does not list its models.
   */
  async recover(agent: CopilotAgent, error: unknown, progress: Progress): Promise<boolean> {
    const isRefused = error instanceof BackendError &&
      (error.kind === "request" || error.kind === "model_not_found");
    if (isRefused && await this.#relearn(agent, progress)) return true;
    const target = this.targetOf(agent);
    const { signal } = progress;
    if (target.kind !== "local" || !(error instanceof BackendError)) return false;
    const isUnknownPath = error.kind !== "model_not_found" && error.status === 404;
    if (isUnknownPath && await useCompatible(agent, target, { signal })) {
      progress.onNotice?.({ code: "compatible_endpoint" });
    } else {
      if (error.kind !== "model_not_found" || target.isChosen) return false;
      // The native endpoint lists what is installed, also where `--use-compat` asks the other one.
      const asked = modelInstead({ ...target, isNative: true }, { signal });
      const model = await asked.catch((error) => {
        if (!signal?.aborted) throw error;
      });
      if (signal?.aborted) return true; // The turn then says that it is aborted.
      if (model === undefined) return false;
      agent.setModel(model);
      progress.onNotice?.({ code: "model_instead", model });
    }
    await this.prepare(agent, progress);
    return true;
  }
}
