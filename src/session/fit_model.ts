/**
 * Fits the settings to the model's server: `learn` asks it, `apply` derives them, a `ModelFit` remembers for
 * which. @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import type { TurnOptions } from "../agent/turn.ts";
import {
  chooseLocalModel,
  isNative,
  isSameModel,
  lacks,
  listLocalModelAbilities,
  loadedModel,
  loadModel,
  type LocalModelInfo,
  localModelInfo,
  type LocalServerOptions,
} from "../models/ollama/connection.ts";
import { type ServedModel, servedModel } from "../models/ollama/served_model.ts";
import { isSmall } from "../agent/prompt.ts";
import type { CompatConfig, CopilotConfig, Optional, PromptTier, Thinking } from "../config.ts";
import { isDefaultServer, mayBeOwnServer } from "../config.ts";
import { BackendError } from "../errors.ts";
import { isChatName, type ModelTarget, targetOf, withModel } from "../models/target.ts";
import { isLoopback, isNear } from "../wire/connect.ts";
import { addressOf } from "../models/model_server.ts";
import { QueueWatch } from "../models/queue_watch.ts";
import { ToolSilence } from "../models/tool_silence.ts";
import type { TurnResult } from "../types/event.ts";
import type { Notice } from "./data.ts";
import { allSlotsWrite } from "../models/ollama/slots.ts";

type ModelFacts = Partial<Omit<ServedModel, "abilities">> & { thinks?: boolean };

type ProbeOptions = Pick<LocalServerOptions, "signal" | "onLoading">;

/** The maximum context to request from Ollama, in tokens. More needs more memory than many machines have. */
const MAX_CONTEXT = 32_768;

/**
 * Asks the server about the model; undefined if it reports nothing. The native endpoint reports the trained and
 * the loaded context; others report what the server was started with. Behind a compatible endpoint, Ollama
 * reports a model's context only after loading it, and reloads it if the native endpoint used another size. It is
 * asked to load the model, as the first message would, because it silently truncates a prompt that does not fit.
 */
export async function queryModel(
  target: ModelTarget,
  { signal, onLoading }: ProbeOptions,
): Promise<ModelFacts | undefined> {
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
    // A larger loaded context is used, because another size would reload the model.
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
    return undefined; // The next turn reports the failure.
  }
}

function seesByAbilities({ abilities }: LocalModelInfo): Pick<ModelFacts, "seesImages"> {
  return abilities?.length ? { seesImages: abilities.includes("vision") } : {};
}

interface FittedSettings
  extends Optional<Pick<CompatConfig, "contextLength" | "textTools" | "thinkBudget" | "sampling">> {
  /** Their model, server and endpoint; undefined if the server reported nothing. */
  key?: string | undefined;
  promptTier?: PromptTier | undefined;
  /** The user's setting that was dropped because the model does not support thinking. */
  think?: Thinking | undefined;
}

/** Returns the settings for the model `name`. A setting that differs from `previous` is the user's, and stays. */
export function apply(
  config: CopilotConfig,
  name: string,
  facts: ModelFacts | undefined,
  previous: FittedSettings,
): { config: CopilotConfig; fitted: FittedSettings } {
  const target = targetOf(config);
  const isOpen = (key: "contextLength" | "textTools" | "thinkBudget") =>
    target[key] === undefined || target[key] === previous[key];
  // The messages API describes tools in text by itself if a server rejects them.
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
    model: name,
    ...change,
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

function budgetFor({ owner = "", contextLength }: ModelFacts = {}): number | undefined {
  if (!/^(llamacpp|vllm)$/.test(owner) || contextLength === undefined) return undefined;
  return Math.floor(Math.min(contextLength / 2, MAX_CONTEXT) / 4);
}

/** Returns the tier for the size that the server reports, or else for the model's name. */
function tierOf({ parameters }: ModelFacts = {}, contextLength: number | undefined): PromptTier {
  if (parameters === undefined) return "auto";
  return isSmall(parameters / 1e9, contextLength) ? "lean" : "full";
}

export const targetKey = ({ isNative, url, name }: ModelTarget) => [isNative, url, name].join(" ");

export function servedInstead(
  { url, name, isChosen }: ModelTarget,
  names: readonly string[] = [],
): string | undefined {
  const able = names.filter(isChatName);
  if (isChosen || names.includes(name) || able.length > 1 && !isLoopback(url)) return undefined;
  return able[0];
}

/** Returns the models of a server that was asked for another one. llama.cpp and others answer regardless. */
const othersThan = ({ name, isChosen }: ModelTarget, names: readonly string[] = []) =>
  isChosen && !names.some((one) => isSameModel(one, name)) ? names.filter(isChatName) : [];

/**
 * Asks the server for a model to replace a missing default one. @throws {BackendError} without a list from
 * Ollama.
 */
export async function modelInstead(
  target: ModelTarget,
  options: ProbeOptions,
): Promise<string | undefined> {
  if (target.isChosen) return undefined;
  const at = { ...addressOf(target), ...options };
  if (!target.isNative) return servedInstead(target, (await servedModel(target.name, at)).names);
  const model = chooseLocalModel(await listLocalModelAbilities(at));
  return model === target.name ? undefined : model ?? undefined;
}

/** Switches to the compatible endpoint of a local server that has no native one. Returns true if it switched. */
export async function useCompatible(
  agent: CopilotAgent,
  target: ModelTarget,
  options: ProbeOptions,
): Promise<boolean> {
  if (!target.isNative) return false;
  const at = { ...addressOf(target), ...options };
  if (await isNative(at) || (await servedModel(target.name, at)).names.length === 0) return false;
  agent.configure(withModel(agent.config, { useCompat: true }));
  return true;
}

export interface FitOptions extends Pick<TurnOptions, "signal" | "onEvent"> {
  onNotice?(notice: Notice): void;
}

/** Fits an agent's settings to its server, once per model, because a change would reload it. */
export class ModelFit {
  isChosen: boolean;
  readonly #asksRemote: boolean;
  readonly #reportsOthers: boolean;
  #mayChange = false;
  #facts = "";
  readonly #silence = new ToolSilence();
  #fitted: FittedSettings = {};
  /** The models of a server that does not have the named one, to report them once. */
  #others = "";

  /**
   * `asksRemote`: also on other machines. `reportsOthers`: reports that the server does not list the named
   * model.
   */
  constructor(options: { isChosen: boolean; asksRemote: boolean; reportsOthers?: boolean }) {
    this.isChosen = options.isChosen;
    this.#asksRemote = options.asksRemote;
    this.#reportsOthers = options.reportsOthers === true;
  }

  targetOf(agent: CopilotAgent): ModelTarget {
    return targetOf(agent.config, this.isChosen);
  }

  loadingName(agent: CopilotAgent): string {
    const { name, isNative, isChosen } = this.targetOf(agent);
    return isNative || isChosen ? name : "its model";
  }

  /**
   * Fits the settings to the model: the context, the model if the user named no model, the format of tools. Each
   * server is asked once per model; a local one is asked for each message, because it may have been restarted
   * with other settings. A server that did not answer is asked again the next time.
   */
  async prepare(agent: CopilotAgent, progress: FitOptions = {}): Promise<void> {
    const target = this.targetOf(agent);
    const { signal, onEvent } = progress;
    const isFitted = this.#fitted.key === targetKey(target);
    if (signal?.aborted || !this.#asks(target) || isFitted && !this.#mayChange) return;
    const { name, isNative } = target;
    const model = this.loadingName(agent);
    const onLoading = onEvent &&
      ((nextLookMs?: number) =>
        onEvent({ type: "loading", model, ...(nextLookMs !== undefined && { nextLookMs }) }));
    let facts = await queryModel(target, { signal, onLoading });
    const found = JSON.stringify(facts);
    if (isFitted && (!facts || found === this.#facts)) return;
    const { key: _, ...settings } = this.#fitted;
    if (!facts && Object.values(settings).every((value) => value === undefined)) return;
    const instead = servedInstead(target, facts?.names);
    if (instead !== undefined) {
      progress.onNotice?.({ code: "model_instead", model: instead });
      if (facts!.names!.length > 1) {
        facts = await queryModel({ ...target, name: instead }, { signal, onLoading });
      }
    }
    const models = this.#reportsOthers ? othersThan(target, facts?.names) : [];
    if (models.length > 0 && `${models}` !== this.#others) {
      progress.onNotice?.({ code: "other_model", models, asked: name });
    }
    this.#others = `${models}`;
    const { config, fitted } = apply(agent.config, instead ?? name, facts, this.#fitted);
    if (fitted.textTools) progress.onNotice?.({ code: "text_tools" });
    if (fitted.think) progress.onNotice?.({ code: "no_thinking" });
    this.#fitted = fitted;
    this.#facts = found;
    this.#mayChange = !isNative && isNear(target.url) && facts !== undefined && !facts.isOllama;
    agent.configure(config);
    agent.seesImages = facts?.seesImages ?? agent.seesImages;
  }

  /** Returns the agent's settings without those that were derived from its server's facts. */
  unfitted(agent: CopilotAgent): CopilotConfig {
    return apply(agent.config, this.targetOf(agent).name, undefined, this.#fitted).config;
  }

  reset(agent: CopilotAgent): void {
    agent.configure(this.unfitted(agent));
    this.#fitted = {};
  }

  onAnswer(agent: CopilotAgent, result: TurnResult, { onNotice }: FitOptions): void {
    if (this.#silence.isNews(this.targetOf(agent).name, result)) onNotice?.({ code: "no_tools" });
  }

  /** Asks the server again about a model that refused a request. Returns true if its settings changed. */
  async #relearn(agent: CopilotAgent, progress: FitOptions): Promise<boolean> {
    const before = this.targetOf(agent);
    const found = this.#facts;
    if (this.#fitted.key === undefined) return false;
    this.#fitted = { ...this.#fitted, key: undefined };
    await this.prepare(agent, progress);
    const now = this.targetOf(agent);
    return found !== this.#facts &&
      (["name", "contextLength", "textTools"] as const).some((one) => now[one] !== before[one]);
  }

  /** Watches for other requests ahead in the server's queue, if the server can report them. */
  queueWatch(agent: CopilotAgent, { signal, onEvent }: FitOptions): QueueWatch | undefined {
    const target = this.targetOf(agent);
    if (target.isNative || !onEvent || !this.#asks(target)) return undefined;
    const isBusy = async () => {
      return await allSlotsWrite({ ...addressOf(target), signal }).catch(() => false);
    };
    return new QueueWatch(isBusy, () => onEvent({ type: "queued" }));
  }

  #asks({ kind, url, isNative }: ModelTarget): boolean {
    if (isDefaultServer("compat", url)) return false;
    if (kind === "hosted") return isLoopback(url);
    return isNative || this.#asksRemote || isNear(url) || mayBeOwnServer(url);
  }

  /**
   * Repairs the settings after a failed turn, with what the same local server has: its compatible endpoint, or an
   * installed model if the user named no model. Returns true if the turn should be repeated.
   * @throws {BackendError} if the server does not list its models.
   */
  async recover(agent: CopilotAgent, error: unknown, progress: FitOptions): Promise<boolean> {
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
      // The native endpoint lists the installed models, even if `--use-compat` uses the other one.
      const asked = modelInstead({ ...target, isNative: true }, { signal });
      const model = await asked.catch((error) => {
        if (!signal?.aborted) throw error;
      });
      if (signal?.aborted) return true; // The turn then reports that it was aborted.
      if (model === undefined) return false;
      agent.setModel(model);
      progress.onNotice?.({ code: "model_instead", model });
    }
    await this.prepare(agent, progress);
    return true;
  }
}
