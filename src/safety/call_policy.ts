/** Decides one call of a tool: by the settings or, if they ask, by the user. @module */

import { attempt } from "../attempt.ts";
import { swappers } from "./folder_looks.ts";
import { entryAt, type Place, placeOf } from "./places.ts";
import { networkGrants, usesNetwork } from "./shell/beginnings.ts";
import { chosenPrograms, programNames } from "./shell/command_verdict.ts";
import { decide, grantOf, rulesFor } from "./policy.ts";
import { KEPT_READ_ONLY, READER } from "./path_verdict.ts";
import { type KeptRule, type OfferedRule, parseKept, parseRule, rulePathOf } from "./rules.ts";
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
  /** Returns the system's limits for a command; undefined without limits. */
  confined(): Promise<string | undefined>;
  /** Notes which sandboxed programs run now. */
  swaps(): Promise<void>;
  allow(rule: KeptRule, folder: string): void;
  network(grants: NonNullable<Verdict["networked"]>): void;
  save(rule: KeptRule, folder: string): Promise<string>;
}

export class CallPolicy {
  /** Each path is resolved once, so that the question, the verdict and the grant agree. */
  readonly #places = new Map<string, Place>();
  #shared: boolean | undefined;

  constructor(
    private readonly tool: Tool,
    private readonly context: ToolContext,
    private readonly by: Deciding,
  ) {}

  /** Decides the call. @throws {Error} if it would fail anyway; the message is for the model. */
  async decide(args: Arguments): Promise<Decision> {
    const { settings, yes, approve, onRefused } = this.by;
    const replaced = this.#replaced();
    if (replaced) return replaced;
    let verdict = this.#verdict(args);
    const { path } = this.#call(args);
    const grant = path !== undefined && {
      grant: {
        ...grantOf(this.tool, path, settings, this.#place, !yes),
        ...this.#isShared(args) && { isShared: true } as const,
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
      const asked = this.#withNetwork(args, verdict);
      const decision = await this.#ask(args, asked, { ...this.context, ...grant }, approve);
      // The user may take long to answer.
      if ("allow" in decision) return decision.allow && this.#replaced() || decision;
      verdict = decision;
    }
    if (verdict.isPlanned) return PLAN_REFUSAL;
    // The user is not asked, so nothing leaves the sandbox: the programs that would run outside do not matter.
    if (verdict.isKeptReadOnly) verdict = { ...verdict, reason: KEPT_READ_ONLY };
    onRefused();
    const way = verdict.effect === "deny" ? undefined : this.#wayOut(args, verdict);
    const reason = shortened(oneLine(verdict.reason), 100);
    const summary = `it ${reason}${way ? `; ${way} allows it` : ""}`;
    return { allow: false, ...refusal(this.tool, verdict, way), summary };
  }

  /** Returns the flags or the rule that would allow the call with the least, for a line to the user. */
  #wayOut(args: Arguments, { right, isBeyond, isKeptReadOnly, mayBeDenied }: Verdict): string {
    const { yes, settings: { view, approve } } = this.by;
    // A deny rule may cover it, so only a user who reads it can decide.
    if (yes && mayBeDenied) return "a session without -p";
    const isOut = view !== undefined && isBeyond === true;
    const isByMode = !yes &&
      (isOut
        ? approve === "ask" && (right?.kind === "network" || isKeptReadOnly === true)
        : this.#verdict(args, "auto").effect === "allow");
    const flags = [
      ...isByMode ? ["--approve auto"] : [],
      ...isOut && right?.kind === "network" ? ["--network"] : [],
      ...isKeptReadOnly ? ["--sandbox workspace-write"] : [],
    ].join(" ");
    const rules = this.#rules(args)?.map(({ rule }) => rule).join(", ") ??
      this.#gitRule(args, right);
    // With --yes the sandbox decides, and leaving it needs another flag.
    const all = [...yes ? [] : ["--yes"], ...isOut ? ["--sandbox off"] : []].join(" ");
    const rule = rules && `the rule ${rules}`;
    return [flags, rule].filter(Boolean).join(" or ") || all;
  }

  /** Returns the rule that allows git with the user's credentials, which no question offers. */
  #gitRule(args: Arguments, right: Verdict["right"]): string | undefined {
    if (right?.kind !== "credentials") return undefined;
    const rule = `run_bash(${/git [\w-]+/.exec(String(args.command))} *)`;
    const { settings } = this.by;
    const rules = [...settings.rules, parseRule("allow", rule)];
    const { effect } = decide(this.#call(args), { ...settings, rules }, this.#place);
    return effect === "allow" ? rule : undefined;
  }

  #call(args: Arguments): PolicyCall {
    const { tool } = this;
    return { tool, ...tool.subject?.(args), ...tool.ruleName !== undefined && { args } };
  }

  #verdict(args: Arguments, approve = this.by.settings.approve): Verdict {
    const { isIsolated } = this.context;
    // The user is asked about all edits in a worktree at its end.
    if (isIsolated && approve === "ask" && this.tool.access === "write") approve = "auto";
    const settings = { ...this.by.settings, approve };
    const call = this.#call(args);
    const verdict = decide(call, settings, this.#place);
    if (isIsolated && this.#leavesFolder(call, verdict)) {
      return { effect: "deny", reason: "would leave the sub-agent's worktree" };
    }
    if (verdict.effect !== "allow" || !this.#isShared(args)) return verdict;
    const effect = approve === "never" ? "deny" : "ask";
    return {
      effect,
      reason: "has other hard links, which may be outside of the working directory",
    };
  }

  /** True if a call may change something outside of the working directory, also if a rule allows it. */
  #leavesFolder({ tool: { access, ruleName }, path, command }: PolicyCall, { right }: Verdict) {
    if (right && !isUsualRight(right) && right.kind !== "network") return true;
    if (access === "read") return false;
    if (command !== undefined) return this.by.settings.view === undefined;
    return ruleName !== undefined || path !== undefined && !this.#place(path).isInside;
  }

  /** Adds the network to a question about a command that needs it: without it, a yes would only make it fail. */
  #withNetwork(args: Arguments, verdict: Verdict): Verdict {
    const { command } = this.#call(args);
    const { view } = this.by.settings;
    if (command === undefined || verdict.right || !view || view().network) return verdict;
    if (!usesNetwork(command)) return verdict;
    return { ...verdict, right: { kind: "network" }, networked: networkGrants(command) };
  }

  /** Returns the rules that would make the question unnecessary; undefined if no rule can. */
  #rules(args: Arguments): readonly OfferedRule[] | undefined {
    if (this.#isShared(args) || this.context.isIsolated) return undefined;
    const rules = rulesFor(this.#call(args), this.by.settings, this.#place);
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
  #isShared(args: Arguments): boolean {
    const { tool, path } = this.#call(args);
    if (path === undefined || tool.access !== "write") return false;
    return this.#shared ??= hasHardLinks(entryAt(this.#place(path).real));
  }

  /**
   * Asks the user. Returns the decision, or the verdict that denies the edited command. An edited command runs
   * without another question, unless it needs a right that the question did not name.
   */
  async #ask(
    args: Arguments,
    verdict: Verdict,
    context: ToolContext,
    approve: NonNullable<Approver["approve"]>,
  ): Promise<Decision | Verdict> {
    const { signal, grant } = context;
    const { path, command } = this.#call(args);
    // After a yes, the tool would refuse such a path.
    if (path !== undefined) toolPath(context, path);
    const confinedTo = command !== undefined && await this.by.confined();
    const prepared = await this.#prepare(args, context);
    const rules = this.#rules(args);
    const approval = this.#approval(args, verdict, prepared, rules);
    const showsLimits = confinedTo && isUsualRight(verdict.right);
    const answer = await approve({ ...approval, ...showsLimits && { confinedTo } }, signal);
    signal.throwIfAborted();
    if (answer.choice === "refuse") return refusalByUser(answer.reason);
    let given = args;
    if (answer.choice === "edit") {
      given = { ...args, command: answer.command };
      const { right } = verdict;
      verdict = this.#withNetwork(given, this.#verdict(given));
      if (verdict.effect === "deny") return verdict;
      // The user was asked about one folder.
      if (right?.folder && verdict.right) verdict = { ...verdict, right };
      if (!isUsualRight(verdict.right) && verdict.right?.kind !== right?.kind) {
        const decision = await this.#ask(given, verdict, context, approve);
        return "allow" in decision && decision.allow ? { args: given, ...decision } : decision;
      }
    } else {
      const allowed = approval.allowsEdits && answer.choice === "session"
        ? [ALL_EDITS]
        : rules ?? [];
      for (const rule of allowed) await this.#remember(rule, answer.choice);
    }
    const { networked } = verdict;
    if (networked && given === args) this.by.network(networked);
    // A program may have changed what git runs while the user read.
    if (!isUsualRight(verdict.right) && this.by.settings.git?.hasChanged()) return CHANGED;
    // Another session may have started a command meanwhile.
    if (path !== undefined) await this.by.swaps();
    const isHeld = path !== undefined && this.#isHeld(path) && { isHeld: true as const };
    // If the command fails again, the next question is about the whole sandbox, not about a folder.
    if (verdict.right?.folder) {
      this.by.settings.outputs?.set(String(this.#call(given).command), "");
    }
    return {
      allow: true,
      ...liftedBy(verdict),
      ...given !== args && { args: given },
      ...grant && { grant: { ...grant, ...isHeld } },
      ...prepared && { prepared },
    };
  }

  /** True if nothing but the mode `ask` asks about this edit in the folder. */
  #isPlainEdit(args: Arguments, { isRoutine }: Verdict): boolean {
    const { settings } = this.by;
    const rules = [...settings.rules, parseKept(ALL_EDITS)];
    return isRoutine === true && this.tool.access === "write" && !this.#isShared(args) &&
      decide(this.#call(args), { ...settings, rules }, this.#place).effect === "allow";
  }

  /** Prepares the call; undefined if that fails for a file that the model may not read. */
  async #prepare(args: Arguments, context: ToolContext): Promise<Prepared | undefined> {
    const { path } = this.#call(args);
    const mayRead = path !== undefined &&
      decide({ tool: READER, path }, this.by.settings, this.#place).effect === "allow";
    if (mayRead) return await this.tool.prepare?.(args, context);
    try {
      // A quoted file counts as seen, but the model does not get this error.
      const seenFiles = context.seenFiles && new Map(context.seenFiles);
      return await this.tool.prepare?.(args, { ...context, ...seenFiles && { seenFiles } });
    } catch {
      context.signal.throwIfAborted();
      return undefined;
    }
  }

  #approval(
    args: Arguments,
    verdict: Verdict,
    prepared: Prepared | undefined,
    rules: readonly OfferedRule[] | undefined,
  ): Approval {
    const { reason, isRoutine, networked, right } = verdict;
    const isDanger = verdict.isLossy === true || verdict.isBeyond === true;
    const { callId = "", isFromUser = false, subAgent } = this.context;
    const subject = this.tool.subject?.(args) ?? {};
    // The terminal's line editor has a single line.
    const isEditable = subject.command !== undefined && subject.command === args.command &&
      !/[\n\r]/.test(subject.command);
    const choices: ApprovalChoice[] = [
      ...["once", "refuse"] as const,
      ...rules ? ["session", "folder"] as const : [],
      ...isEditable ? ["edit"] as const : [],
    ];
    return {
      call: { id: callId, name: this.tool.name, arguments: withoutDefaults(this.tool, args) },
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
      ...rules && this.#isPlainEdit(args, verdict) && { allowsEdits: true } as const,
      ...rules && subject.path !== undefined &&
        { rulePath: rulePathOf(this.#place(".").real, this.#place(subject.path).real) },
      ...!isUsualRight(right) && { right, programs: this.#programs(subject.command ?? "", right!) },
      ...networked && { networked },
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

  async #remember(
    { words, ...kept }: OfferedRule,
    choice: "once" | "session" | "folder",
  ): Promise<void> {
    const { allow, save, onEvent } = this.by;
    const { workingDir } = this.context;
    const { rule } = kept;
    if (choice === "once") return;
    if (choice === "session") {
      allow(kept, workingDir);
      return onEvent({ type: "rule_added", rule, words });
    }
    try {
      onEvent({ type: "rule_added", rule, words, path: await save(kept, workingDir) });
    } catch (error) {
      onEvent({ type: "rule_added", rule, words, error: reasonOf(error) });
    }
  }
}

/** The rule that the answer "all edits" adds to a session. */
export const ALL_EDITS: OfferedRule = { rule: "write(**)", words: "all edits in this folder" };

const hasHardLinks = (entry?: Deno.FileInfo) => entry?.isFile === true && (entry.nlink ?? 1) > 1;

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
