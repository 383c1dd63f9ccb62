/** Decides one call of a tool: by the settings or, if they ask, by the user. @module */

import { attempt } from "../attempt.ts";
import { limitsOf } from "./confinement.ts";
import { swappers } from "./folder_looks.ts";
import { entryAt, type Place, placeOf } from "./places.ts";
import { networkGrants, usesNetwork } from "./shell/beginnings.ts";
import { chosenPrograms, programNames } from "./shell/command_verdict.ts";
import { decide, grantOf, rulesFor } from "./policy.ts";
import { KEPT_READ_ONLY, READER } from "./path_verdict.ts";
import { type KeptRule, type OfferedRule, parseRule, rulePathOf } from "./rules.ts";
import { isUsualRight, type PolicyCall, type Settings, type Verdict } from "./settings.ts";
import { accessAt } from "./view.ts";
import { isObject } from "../text/json.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { findProgram } from "../find_program.ts";
import { toolPath } from "../tools/paths.ts";
import type { Right } from "../types/confine.ts";
import type { Decision } from "../types/policy.ts";
import type { Prepared, Tool, ToolContext } from "../types/tool.ts";
import type { Approval, ApprovalChoice, Approver } from "./approval.ts";

type Arguments = Record<string, unknown>;

/** The settings, and the user's part in decisions. Without `approve`, the user cannot be asked. */
interface Deciding extends Pick<Approver, "onEvent"> {
  approve: Approver["approve"] | undefined;
  settings: Settings;
  yes: boolean;
  onRefused(): void;
  /** Notes which sandboxed programs run now. */
  swaps(): Promise<void>;
  allow(rule: KeptRule, folder: string): void;
  network(grants: NonNullable<Verdict["networked"]>): void;
  save(rule: KeptRule, folder: string): Promise<string>;
}

export class CallPolicy {
  /** Each path is resolved once, so that the question, the verdict and the grant agree. */
  readonly #places = new Map<string, Place>();
  readonly #call: PolicyCall;
  #shared: boolean | undefined;

  constructor(
    private readonly tool: Tool,
    private readonly args: Arguments,
    private readonly context: ToolContext,
    private readonly by: Deciding,
  ) {
    this.#call = { tool, ...tool.subject?.(args), ...tool.ruleName !== undefined && { args } };
  }

  /** Decides the call. @throws {Error} if it would fail anyway; the message is for the model. */
  async decide(): Promise<Decision> {
    const { settings, yes, approve, onRefused } = this.by;
    const replaced = this.#replaced();
    if (replaced) return replaced;
    let verdict = this.#verdict();
    const { path } = this.#call;
    const grant = path !== undefined && {
      grant: {
        ...grantOf(this.tool, path, settings, this.#place, !yes),
        ...this.#isShared() && { isShared: true } as const,
        ...this.#isHeld(path) && { isHeld: true } as const,
      },
    };
    // In the sandbox, --yes allows what the view allows; otherwise everything that no deny rule may cover.
    const isYes = yes && !verdict.mayBeDenied && !(verdict.isBeyond && settings.view !== undefined);
    if (verdict.effect === "allow" || verdict.effect === "ask" && isYes) {
      return { allow: true, ...grant, ...liftedBy(verdict) };
    }
    if (verdict.effect === "ask" && path !== undefined) this.#checkThere(path);
    if (verdict.effect === "ask" && approve) {
      const asked = this.#withNetwork(verdict);
      const decision = await this.#ask(asked, { ...this.context, ...grant }, approve);
      // The user may take long to answer.
      if ("allow" in decision) return decision.allow && this.#replaced() || decision;
      verdict = decision;
    }
    if (verdict.isPlanned) return PLAN_REFUSAL;
    // The user is not asked, so nothing leaves the sandbox: the programs that would run outside do not matter.
    if (verdict.isKeptReadOnly) verdict = { ...verdict, reason: KEPT_READ_ONLY };
    onRefused();
    const way = verdict.effect === "deny" ? undefined : this.#wayOut(verdict);
    const reason = shortened(oneLine(verdict.reason), 100);
    const summary = `it ${reason}${way ? `; ${way} allows it` : ""}`;
    return { allow: false, ...refusal(this.tool, verdict, way), summary };
  }

  /** Returns the flags or the rule that would allow the call with the least, for a line to the user. */
  #wayOut({ right, isBeyond, isKeptReadOnly, mayBeDenied }: Verdict): string {
    const { yes, settings: { view, approve } } = this.by;
    // A deny rule may cover it, so only a user who reads it can decide.
    if (yes && mayBeDenied) return "a session without -p";
    const isOut = view !== undefined && isBeyond === true;
    const isByMode = !yes &&
      (isOut
        ? approve === "ask" && (right?.kind === "network" || isKeptReadOnly === true)
        : this.#verdict("auto").effect === "allow");
    const flags = [
      ...isByMode ? ["--approve auto"] : [],
      ...isOut && right?.kind === "network" ? ["--network"] : [],
      ...isKeptReadOnly ? ["--sandbox workspace-write"] : [],
    ].join(" ");
    const rules = this.#rules()?.map(({ rule }) => rule).join(", ") ?? this.#gitRule(right);
    // With --yes the sandbox decides, and leaving it needs another flag.
    const all = [...yes ? [] : ["--yes"], ...isOut ? ["--sandbox off"] : []].join(" ");
    const rule = rules && `the rule ${rules}`;
    return [flags, rule].filter(Boolean).join(" or ") || all;
  }

  /** Returns the rule that allows git with the user's credentials, which no question offers. */
  #gitRule(right: Verdict["right"]): string | undefined {
    if (right?.kind !== "credentials") return undefined;
    const rule = `run_bash(${/git [\w-]+/.exec(this.#call.command ?? "")} *)`;
    return this.#isAllowedBy(rule) ? rule : undefined;
  }

  /** True if one more rule would allow the call. */
  #isAllowedBy(rule: string): boolean {
    const { settings } = this.by;
    const rules = [...settings.rules, parseRule("allow", rule)];
    return decide(this.#call, { ...settings, rules }, this.#place).effect === "allow";
  }

  #verdict(approve = this.by.settings.approve): Verdict {
    const { isIsolated } = this.context;
    // The user is asked about all edits in a worktree at its end.
    if (isIsolated && approve === "ask" && this.tool.access === "write") approve = "auto";
    const settings = { ...this.by.settings, approve };
    const verdict = decide(this.#call, settings, this.#place);
    if (isIsolated && this.#leavesFolder(verdict)) {
      return { effect: "deny", reason: "would leave the sub-agent's worktree" };
    }
    if (verdict.effect !== "allow" || !this.#isShared()) return verdict;
    const effect = approve === "never" ? "deny" : "ask";
    return {
      effect,
      reason: "has other hard links, which may be outside of the working directory",
    };
  }

  /** True if a call may change something outside of the working directory, also if a rule allows it. */
  #leavesFolder({ right }: Verdict): boolean {
    const { tool: { access, ruleName }, path, command } = this.#call;
    if (right && !isUsualRight(right) && right.kind !== "network") return true;
    if (access === "read") return false;
    if (command !== undefined) return this.by.settings.view === undefined;
    return ruleName !== undefined || path !== undefined && !this.#place(path).isInside;
  }

  /** Adds the network to a question about a command that needs it: without it, a yes would only make it fail. */
  #withNetwork(verdict: Verdict): Verdict {
    const { command } = this.#call;
    const { view } = this.by.settings;
    if (command === undefined || verdict.right || !view || view().network) return verdict;
    if (!usesNetwork(command)) return verdict;
    return { ...verdict, right: { kind: "network" }, networked: networkGrants(command) };
  }

  /** Returns the rules that would make the question unnecessary; undefined if no rule can. */
  #rules(): readonly OfferedRule[] | undefined {
    if (this.#isShared() || this.context.isIsolated) return undefined;
    const rules = rulesFor(this.#call, this.by.settings, this.#place);
    return rules.length === 0 ? undefined : rules;
  }

  readonly #place = (at: string): Place => {
    const place = this.#places.get(at) ?? placeOf(this.context.workingDir, at);
    this.#places.set(at, place);
    return place;
  };

  /**
   * Returns a refusal if the folder's path, which had no links, now has one. Tools report a missing folder
   * themselves.
   */
  #replaced(): Decision | undefined {
    const { workingDir } = this.context;
    if ((attempt(() => Deno.realPathSync(workingDir)) ?? workingDir) === workingDir) {
      return undefined;
    }
    const explanation =
      `the working directory ${workingDir} was replaced by a link. The user can change to it with /cd`;
    return { allow: false, reason: `Refused: ${explanation}`, explanation };
  }

  /** @throws {Error} for a missing file to read that commands may have in their own `/tmp` */
  #checkThere(path: string): void {
    const { real } = this.#place(path);
    const { view } = this.by.settings;
    if (this.tool.access !== "read" || view === undefined || entryAt(real) !== undefined) return;
    if (accessAt(view(), real) !== "own") return;
    throw new Error(
      `There is no ${path}. If a command wrote it, only commands see it: read it with one`,
    );
  }

  /** True if the call writes a file that is closed to commands while some run, also of sessions that write its folder. */
  #isHeld(path: string): boolean {
    if (this.tool.access !== "write" || swappers.now.size === 0) return false;
    const view = this.by.settings.view?.();
    return view !== undefined && accessAt(view, this.#place(path).real) !== "write";
  }

  /** True if the call writes a file with several hard links. Cached, so that verdict and grant agree. */
  #isShared(): boolean {
    const { tool, path } = this.#call;
    if (path === undefined || tool.access !== "write") return false;
    const entry = entryAt(this.#place(path).real);
    return this.#shared ??= entry?.isFile === true && (entry.nlink ?? 1) > 1;
  }

  /**
   * Asks the user. Returns the decision, or the verdict that denies the edited command. An edited command runs
   * without another question, unless it needs a right that the question did not name.
   */
  async #ask(
    verdict: Verdict,
    context: ToolContext,
    approve: NonNullable<Approver["approve"]>,
  ): Promise<Decision | Verdict> {
    const { signal, grant } = context;
    const { path } = this.#call;
    // After a yes, the tool would refuse such a path.
    if (path !== undefined) toolPath(context, path);
    const prepared = await this.#prepare(context);
    const rules = this.#rules();
    const approval = this.#approval(verdict, prepared, rules);
    const answer = await approve(approval, signal);
    signal.throwIfAborted();
    if (answer.choice === "refuse") return refusalByUser(answer.reason);
    let given = this.args;
    if (answer.choice === "edit") {
      given = { ...given, command: answer.command };
      const edited = new CallPolicy(this.tool, given, this.context, this.by);
      const { right } = verdict;
      verdict = edited.#withNetwork(edited.#verdict());
      if (verdict.effect === "deny") return verdict;
      // The user was asked about one folder.
      if (right?.folder && verdict.right) verdict = { ...verdict, right };
      if (!isUsualRight(verdict.right) && verdict.right?.kind !== right?.kind) {
        const decision = await edited.#ask(verdict, context, approve);
        return "allow" in decision && decision.allow ? { args: given, ...decision } : decision;
      }
    } else if (answer.choice !== "once") {
      const isSaved = answer.choice === "folder";
      const allowed = approval.allowsEdits && !isSaved ? [ALL_EDITS] : rules ?? [];
      for (const rule of allowed) await this.#remember(rule, isSaved);
    }
    const { networked } = verdict;
    if (networked && given === this.args) this.by.network(networked);
    // A program may have changed what git runs while the user read.
    if (!isUsualRight(verdict.right) && this.by.settings.git?.hasChanged()) return CHANGED;
    // Another session may have started a command meanwhile.
    if (path !== undefined) await this.by.swaps();
    const isHeld = path !== undefined && this.#isHeld(path) && { isHeld: true as const };
    // If the command fails again, the next question is about the whole sandbox, not about a folder.
    if (verdict.right?.folder) {
      this.by.settings.outputs?.set(String(given.command), "");
    }
    return {
      allow: true,
      ...liftedBy(verdict),
      ...given !== this.args && { args: given },
      ...grant && { grant: { ...grant, ...isHeld } },
      ...prepared && { prepared },
    };
  }

  /** True if nothing but the mode `ask` asks about this edit in the folder. */
  #isPlainEdit({ isRoutine }: Verdict): boolean {
    return isRoutine === true && this.tool.access === "write" && !this.#isShared() &&
      this.#isAllowedBy(ALL_EDITS.rule);
  }

  /** Prepares the call; undefined if that fails for a file that the model may not read. */
  async #prepare(context: ToolContext): Promise<Prepared | undefined> {
    const { args, tool } = this;
    const { path } = this.#call;
    const mayRead = path !== undefined &&
      decide({ tool: READER, path }, this.by.settings, this.#place).effect === "allow";
    if (mayRead) return await tool.prepare?.(args, context);
    try {
      // A quoted file counts as seen, but the model does not get this error.
      const seenFiles = context.seenFiles && new Map(context.seenFiles);
      return await tool.prepare?.(args, { ...context, ...seenFiles && { seenFiles } });
    } catch {
      context.signal.throwIfAborted();
      return undefined;
    }
  }

  #approval(
    verdict: Verdict,
    prepared: Prepared | undefined,
    rules: readonly OfferedRule[] | undefined,
  ): Approval {
    const { reason, isRoutine, networked, right } = verdict;
    const { settings } = this.by;
    const isConfined = settings.view && this.#call.command !== undefined && isUsualRight(right);
    const isDanger = verdict.isLossy === true || verdict.isBeyond === true;
    const { callId = "", isFromUser = false, subAgent } = this.context;
    const { args, tool } = this;
    const subject = tool.subject?.(args) ?? {};
    // The terminal's line editor has a single line.
    const isEditable = subject.command !== undefined && subject.command === args.command &&
      !/[\n\r]/.test(subject.command);
    const choices: ApprovalChoice[] = [
      ...["once", "refuse"] as const,
      ...rules ? ["session", "folder"] as const : [],
      ...isEditable ? ["edit"] as const : [],
    ];
    return {
      call: { id: callId, name: tool.name, arguments: withoutDefaults(tool, args) },
      subject,
      reason,
      isRoutine: isRoutine === true,
      ...isDanger && { isDanger },
      ...verdict.isLossy && { isLossy: true } as const,
      isFromUser,
      choices,
      ...subAgent !== undefined && { subAgent },
      ...prepared?.change && { preview: prepared.change },
      ...rules && { rules },
      ...rules && this.#isPlainEdit(verdict) && { allowsEdits: true } as const,
      ...rules && subject.path !== undefined &&
        { rulePath: rulePathOf(this.#place(".").real, this.#place(subject.path).real) },
      ...!isUsualRight(right) && { right, programs: this.#programs(subject.command ?? "", right!) },
      ...networked && { networked },
      ...isConfined && { confinedTo: `sandboxed: ${limitsOf(settings)}` },
    };
  }

  #programs(command: string, { kind }: Right): string[] {
    const chosen = chosenPrograms(command);
    if (chosen) return [`it (it chooses its programs itself: ${shortened(oneLine(chosen), 100)})`];
    const { programs, commandPrograms } = this.by.settings;
    const folders = (/^(sandbox|credentials)$/.test(kind) ? programs : commandPrograms) ?? [];
    return programNames(command).flatMap((name) => {
      const path = name.includes("/") ? name : findProgram(name, folders, undefined);
      if (path === undefined) return [];
      const place = this.#place(path);
      // The words of a wrapper may be programs, or addresses.
      if (/^\w+:\/\//.test(name) && !entryAt(place.real)) return [];
      return place.isInside ? place.real : place.path;
    });
  }

  /** Adds a rule to the session, and with `isSaved` also to the user's file. */
  async #remember({ words, ...kept }: OfferedRule, isSaved: boolean): Promise<void> {
    const { allow, save, onEvent } = this.by;
    const { workingDir } = this.context;
    const added = { type: "rule_added", rule: kept.rule, words } as const;
    allow(kept, workingDir);
    try {
      onEvent(isSaved ? { ...added, path: await save(kept, workingDir) } : added);
    } catch (error) {
      onEvent({ ...added, error: reasonOf(error) });
    }
  }
}

/** The rule that the answer "all edits" adds to a session. */
export const ALL_EDITS: OfferedRule = { rule: "write(**)", words: "all edits in this folder" };

const liftedBy = ({ right, mayBePrivate }: Verdict): Pick<Verdict, "right" | "mayBePrivate"> => ({
  ...right && { right },
  ...mayBePrivate && { mayBePrivate },
});

const CHANGED: Decision = {
  allow: false,
  reason: "Refused: the repository's settings changed meanwhile. Try again.",
  summary: "the repository's settings changed meanwhile: try again",
};

const PLAN_REFUSAL: Decision = {
  allow: false,
  reason:
    "Refused: this is plan mode, so nothing is written, and commands run only in a read-only sandbox. Look around, then present your plan; the user accepts it with /plan.",
  summary: "plan mode",
};

function refusal({ name, access }: Tool, { reason: why }: Verdict, way: string | undefined) {
  const what = access === "execute" ? "this command" : name;
  const refused = way === undefined
    ? `${what} is not allowed: it ${why}`
    : `${what} needs an approval, which cannot be asked for here: it ${why}`;
  const how = way === undefined ? "" : ` (For the user: ${way} allows it.)`;
  const reason =
    `Refused: ${refused}. Do not try another way; answer with what you can read, and say what you would have done.`;
  return { explanation: `${refused}${way ? `; ${way} allows it` : ""}.`, reason: reason + how };
}

function withoutDefaults({ parameters: { properties } }: Tool, args: Arguments): Arguments {
  const defaultOf = (name: string) => {
    const schema = isObject(properties) ? properties[name] : undefined;
    return isObject(schema) ? schema.default : undefined;
  };
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== defaultOf(name)),
  );
}

function refusalByUser(reason: string): Decision {
  const why = reason === ""
    ? "Do not try another way; ask what they want instead."
    : `They say: ${reason}`;
  return {
    allow: false,
    reason: `Refused by the user. ${why}`,
    explanation: "you said no",
    ...reason !== "" && { summary: `you said: ${reason}` },
  };
}
