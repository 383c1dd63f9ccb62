/**
 * What the settings come to for the calls of one tool.
 *
 * @module
 */

import { type Place, placeOf } from "../permissions/places.ts";
import { READER } from "../permissions/path_verdict.ts";
import { decide, grantOf, ruleFor } from "../permissions/policy.ts";
import { rulePathOf } from "../permissions/rules.ts";
import type { PolicyCall, Settings, Verdict } from "../permissions/settings.ts";
import type { Grant, Tool, ToolContext } from "../types/tool.ts";
import type { Approval } from "./frontend.ts";

/** A call, whose arguments are checked. */
export interface DecidedCall {
  tool: Tool;
  args: Record<string, unknown>;
  context: ToolContext;
}

/** Judges calls of one tool by the settings; each path in them is looked up once. */
export class CallJudge {
  readonly #tool: Tool;
  readonly #settings: Settings;
  readonly #workingDir: string;
  // What is shown, decided and opened is one place.
  readonly #places = new Map<string, Place>();

  constructor(tool: Tool, workingDir: string, settings: Settings) {
    this.#tool = tool;
    this.#workingDir = workingDir;
    this.#settings = settings;
  }

  verdict(args: Record<string, unknown>): Verdict {
    const verdict = decide(this.#call(args), this.#settings, this.#place);
    if (verdict.effect !== "allow" || !this.#isShared(args)) return verdict;
    const effect = this.#settings.approve === "never" ? "deny" : "ask";
    return { effect, reason: "is a file with other names (hard links), maybe outside" };
  }

  /** The rule for exactly these arguments; undefined where no rule would save the question. */
  rule(args: Record<string, unknown>): Approval["rule"] {
    if (this.#isShared(args)) return undefined;
    const call = this.#call(args);
    const text = ruleFor(call, this.#settings, this.#place);
    if (text === undefined || call.path === undefined) return text === undefined ? text : { text };
    return { text, path: rulePathOf(this.#place(".").real, this.#place(call.path).real) };
  }

  /** @param isAsked false where what would be asked about simply runs */
  grant(args: Record<string, unknown>, isAsked: boolean): Grant | undefined {
    const { tool, path } = this.#call(args);
    return path === undefined
      ? undefined
      : grantOf(tool, path, this.#settings, this.#place, isAsked);
  }

  /** Whether the model may read the file of the call, and so be told why a change to it would fail. */
  mayRead(args: Record<string, unknown>): boolean {
    const { path } = this.#call(args);
    return path !== undefined &&
      decide({ tool: READER, path }, this.#settings, this.#place).effect === "allow";
  }

  #call(args: Record<string, unknown>): PolicyCall {
    const { name, access } = this.#tool;
    const { path, command } = this.#tool.subject?.(args) ?? {};
    return {
      tool: { name, access },
      ...path !== undefined && { path },
      ...command !== undefined && { command },
    };
  }

  readonly #place = (at: string): Place => {
    const place = this.#places.get(at) ?? placeOf(this.#workingDir, at);
    this.#places.set(at, place);
    return place;
  };

  /** Whether the call writes a file that has other names. */
  #isShared(args: Record<string, unknown>): boolean {
    const { tool, path } = this.#call(args);
    return path !== undefined && tool.access === "write" && hasOtherNames(this.#place(path).real);
  }
}

function hasOtherNames(path: string): boolean {
  try {
    const { isFile, nlink } = Deno.lstatSync(path);
    return isFile && nlink !== null && nlink > 1;
  } catch {
    return false;
  }
}
