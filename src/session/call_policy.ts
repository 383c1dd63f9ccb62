/**
 * One call of a tool, decided: by the settings, and where they leave it to a person, by them. Loaded
 * with the first call.
 *
 * @module
 */

import { type Place, placeOf } from "../permissions/containment.ts";
import { READER } from "../permissions/path_verdict.ts";
import { decide, grantOf, ruleFor } from "../permissions/policy.ts";
import type { PolicyCall, Settings, Verdict } from "../permissions/settings.ts";
import type { Decision } from "../types/policy.ts";
import type { Tool, ToolContext } from "../types/tool.ts";
import { oneLine, shortened } from "../text/one_line.ts";

/** How a person is asked about a call that the settings leave to them. */
export type Ask = (
  tool: Tool,
  args: Record<string, unknown>,
  context: ToolContext,
  question: Question,
) => Promise<Decision>;

/** What a person has to know of such a call. */
export interface Question {
  /** Why it is asked about, as in {@linkcode Verdict}. */
  reason: string;
  /** What the system keeps a command from, in one line. */
  confined?: string;
  /** The rule for exactly these arguments; undefined where no rule would save the question. */
  ruleFor(args: Record<string, unknown>): string | undefined;
}

/** Who decides what the settings leave open. */
export interface Deciding {
  /** What would be asked about simply runs. */
  yes: boolean;
  ask: Ask | undefined;
  onRefused(): void;
  /** What the system keeps commands from; undefined where it does not. */
  confined(): Promise<string | undefined>;
}

/** A call, whose arguments are checked. */
export interface Asked {
  tool: Tool;
  args: Record<string, unknown>;
  context: ToolContext;
}

/**
 * Decides one call.
 *
 * @throws {Error} when its folder was replaced, or when it would fail anyway; the message is for the model.
 */
export async function decideCall(
  { tool, args, context }: Asked,
  settings: Settings,
  { yes, ask, onRefused, confined }: Deciding,
): Promise<Decision> {
  const { workingDir } = context;
  if (isReplaced(workingDir)) {
    throw new Error(
      `Refused: the working directory ${workingDir} was replaced by a link. The user can change to it with /cd`,
    );
  }
  const call = callOf(tool, args);
  const { path } = call;
  // Looked up once: what is shown, decided and opened is one place.
  const places = new Map<string, Place>();
  const place = (at: string): Place => {
    const known = places.get(at) ?? placeOf(workingDir, at);
    places.set(at, known);
    return known;
  };
  let verdict = decide(call, settings, place);
  const isShared = path !== undefined && tool.access === "write" && hasOtherNames(place(path).real);
  if (verdict.effect === "allow" && isShared) {
    const effect = settings.approve === "never" ? "deny" : "ask";
    verdict = { effect, reason: "is a file with other names (hard links), maybe outside" };
  }
  const granted = path === undefined
    ? {}
    : { grant: grantOf(call.tool, path, settings, place, !yes) };
  if (verdict.effect === "allow" || verdict.effect === "ask" && yes) {
    return { allow: true, ...granted };
  }
  if (verdict.effect === "ask" && ask) {
    // Who may look at a file may be told why a change to it would fail.
    const mayRead = path !== undefined &&
      decide({ tool: READER, path }, settings, place).effect === "allow";
    const within = { ...context, ...granted };
    if (mayRead) await tool.check?.(args, within);
    const limits = call.command === undefined ? undefined : await confined();
    const decision = await ask(tool, args, within, {
      reason: verdict.reason,
      ...limits !== undefined && { confined: limits },
      ruleFor: (given) => isShared ? undefined : ruleFor(callOf(tool, given), settings, place),
    });
    if (!decision.allow) return decision;
    // What a person made of it is theirs, but for what they refuse for good.
    const edited = decision.args && decide(callOf(tool, decision.args), settings, place);
    if (edited?.effect !== "deny") return { ...decision, ...granted };
    verdict = edited;
  }
  onRefused();
  const isRule = verdict.effect === "ask" && !isShared && ruleFor(call, settings, place);
  const how = verdict.effect === "deny"
    ? ""
    : isRule
    ? "; --yes, or a rule, allows it"
    : "; --yes allows it";
  const summary = `it ${shortened(oneLine(verdict.reason), 100)}${how}`;
  return { allow: false, reason: refusal(tool, verdict), summary };
}

/** Whether a folder, which had no links in its path, has some now. */
function isReplaced(folder: string): boolean {
  try {
    return Deno.realPathSync(folder) !== folder;
  } catch {
    return false; // It is gone, and each tool says so in its own words.
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

/** The part of a call that the settings are about. */
function callOf(tool: Tool, args: Record<string, unknown>): PolicyCall {
  const { name, access } = tool;
  if (name === "run_bash") return { tool: { name, access }, command: String(args.command) };
  const path = args.file_path ?? args.path;
  return { tool: { name, access }, ...(typeof path === "string" && { path }) };
}

function refusal({ name, access }: Tool, { effect, reason }: Verdict): string {
  const what = access === "execute" ? "this command" : name;
  const why = effect === "deny"
    ? `${what} is not allowed: it ${reason}.`
    : `${what} needs an approval, as it ${reason}, and nobody is there to give it.`;
  const how = effect === "deny"
    ? ""
    : " (The user can allow it by starting copilot with --yes, or with a rule.)";
  return `Refused: ${why} Do not try another way; answer with what you can read, and say what you would have done.${how}`;
}
