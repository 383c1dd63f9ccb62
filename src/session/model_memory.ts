/**
 * What model servers told of their models, kept for a while: a start does not ask again before its first
 * request. @module
 */

import { attempt } from "../attempt.ts";
import { isObject } from "../text/json.ts";
import type { ServedModel } from "../backends/local/served_model.ts";
import { join } from "../text/std_path.ts";
import { readJsonFile, stateFolder } from "../user_files.ts";

/** The facts that a server tells of a model: its context, its size, what it takes; and all models. */
export type ModelFacts =
  & Partial<
    Pick<
      ServedModel,
      "contextLength" | "takesTools" | "seesImages" | "names" | "parameters" | "statesSampling"
    >
  >
  & {
    /** False where the model does not think. */
    thinks?: boolean;
  };

/** Facts that are older, in ms, are asked for again while they are in use; after MAX_AGE_MS, before that. */
const FRESH_FACTS_MS = 10 * 60_000;
const MAX_AGE_MS = 7 * 24 * 60 * 60_000;
/** The most models that are remembered, and the most names of a server that are. */
const MAX_MODELS = 50;
const MAX_KEPT_NAMES = 200;

interface KeptFacts {
  /** When it was told, in ms. */
  at: number;
  facts: ModelFacts;
}

const SHAPE: { [name in keyof ModelFacts]-?: (value: unknown) => boolean } = {
  contextLength: (value) => Number.isInteger(value) && Number(value) >= 256,
  parameters: (value) => typeof value === "number" && value > 0,
  seesImages: (value) => typeof value === "boolean",
  takesTools: (value) => typeof value === "boolean",
  statesSampling: (value) => typeof value === "boolean",
  thinks: (value) => typeof value === "boolean",
  names: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
};

/** The memory in a file of the person's own; where that cannot be read or written, there is none. */
export class ModelMemory {
  constructor(
    private readonly folder: string | undefined = stateFolder(),
    private readonly now: () => number = Date.now,
  ) {}

  /** The facts of the model with the key; `isFresh`: they need not be asked for again. */
  recall(key: string): { facts: ModelFacts; isFresh: boolean } | undefined {
    const entry = this.#read().get(key);
    return entry && { facts: entry.facts, isFresh: this.now() - entry.at < FRESH_FACTS_MS };
  }

  keep(key: string, told: ModelFacts): void {
    const known = Object.entries(told).filter(([name]) => Object.hasOwn(SHAPE, name));
    const { names, ...facts }: ModelFacts = Object.fromEntries(known);
    const some = names && { names: names.slice(0, MAX_KEPT_NAMES) };
    const entries = this.#read();
    entries.delete(key);
    entries.set(key, { at: this.now(), facts: { ...facts, ...some } });
    this.#write([...entries].slice(-MAX_MODELS));
  }

  forget(key: string): void {
    const entries = this.#read();
    if (entries.delete(key)) this.#write([...entries]);
  }

  #read(): Map<string, KeptFacts> {
    const stored = this.folder && attempt(() => readJsonFile(this.#path));
    const models = stored && isObject(stored.models) ? Object.entries(stored.models) : [];
    return new Map(models.flatMap(([key, entry]) => this.#isKept(entry) ? [[key, entry]] : []));
  }

  #isKept(entry: unknown): entry is KeptFacts {
    if (!isObject(entry) || typeof entry.at !== "number" || !isObject(entry.facts)) return false;
    const age = this.now() - entry.at;
    return age >= 0 && age < MAX_AGE_MS &&
      Object.entries(entry.facts).every(([name, value]) =>
        Object.hasOwn(SHAPE, name) && SHAPE[name as keyof ModelFacts](value)
      );
  }

  #write(entries: readonly [string, KeptFacts][]): void {
    if (this.folder === undefined) return;
    const temporary = `${this.#path}.${crypto.randomUUID()}.tmp`;
    attempt(() => {
      Deno.mkdirSync(this.folder!, { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ models: Object.fromEntries(entries) });
      Deno.writeTextFileSync(temporary, text, { mode: 0o600 });
      Deno.renameSync(temporary, this.#path);
    });
  }

  get #path(): string {
    return join(this.folder!, "servers.json");
  }
}
