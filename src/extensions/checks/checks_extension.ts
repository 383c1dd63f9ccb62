/** Checks after edits: the model reads at once which errors its edit added. @module */

import type { Extension, PendingCall, SessionState } from "../../session/extension.ts";
import { count } from "../../text/count.ts";
import { shortened } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { resolve } from "../../text/std_path.ts";
import { shellTool } from "../../tools/run_bash.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { Decision, Policy } from "../../types/policy.ts";
import type { ToolContext } from "../../types/tool.ts";
import { checkersOf, type CheckSettings } from "./checkers.ts";
import { type CheckContext, EditChecks } from "./edit_checks.ts";

const MAX_SHOWN_ERRORS = 5;

export class ChecksExtension implements Extension {
  #session: SessionState | undefined;
  readonly #checks: EditChecks;
  /** The files of an answer's edits, which all have ended before the first gets its result. */
  readonly #edited = new Set<string>();
  /** True once the calls of an answer have ended. */
  #isOver = true;

  constructor(settings: CheckSettings = {}) {
    const told = new Set<string>();
    this.#checks = new EditChecks(checkersOf(settings), (line) => {
      if (!told.has(line)) this.#session?.tell("checks", line);
      told.add(line);
    });
  }

  open(session: SessionState): Promise<void> {
    this.#session = session;
    return Promise.resolve();
  }

  async beforeCall(call: PendingCall, next: Policy): Promise<Decision> {
    const decision = await next.decide(...call);
    const [tool, args, context] = call;
    const path = tool.access === "write" && decision.allow && tool.subject?.(args).path;
    // Edits in a sub-agent's worktree are checked when they are applied.
    if (!path || context.isIsolated) return decision;
    const checked = await this.#context(context);
    const file = resolve(context.workingDir, path);
    if (!checked.isSandboxed && !this.#session?.permissions.approvesAll) return decision;
    if (!isWithin(context.workingDir, file)) return decision;
    const isFirst = this.#isOver;
    this.#isOver = false;
    if (isFirst) this.#edited.clear();
    await this.#checks.before(file, checked, isFirst);
    this.#edited.add(file);
    return decision;
  }

  async afterCall(
    { details, isError }: ToolExecution,
    _: object,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { agent } = this.#session!;
    this.#isOver = true;
    if (this.#edited.size === 0 || isError || !details?.change) return undefined;
    const files = new Set(this.#edited);
    this.#edited.clear();
    const context = await this.#context(agent.toolContext(signal));
    const formatted = await this.#checks.format(files, context);
    for (const [what] of formatted) this.#session?.tell("checks", what);
    const changes = formatted.map(([what, rows]) => `\n\n[${what}:\n${rows}]`).join("");
    const errors = await this.#checks.after(files, context);
    if (errors.length === 0) return changes;
    const by = [...new Set(errors.map(({ checker }) => checker))].join(", ");
    const news = count(errors.length, "new error");
    const lines = errors.map(({ file, line, text }) => `${file}:${line}: ${text}`);
    const { kind, columns } = this.#session!.surface;
    const row = `✗ ${news} · ${by}: ${lines[0]}`;
    this.#session!.tell("checks", kind === "terminal" ? shortened(row, 2 * (columns - 2)) : row);
    const more = lines.splice(MAX_SHOWN_ERRORS).length;
    const shown = [...lines, ...more > 0 ? [`and ${more} more`] : []].join("\n");
    return `${changes}\n\n[The edit was made. ${news} (${by}):\n${shown}]`;
  }

  async #context(context: ToolContext): Promise<CheckContext> {
    const { permissions } = this.#session!;
    const { isSandboxed } = await permissions.mode(context.workingDir);
    const mayRun = async (command: string) => {
      // A question is refused, not answered: a yes may give the command the network or another right.
      let isAsked = false;
      const policy = permissions.policy(() => {
        isAsked = true;
        return Promise.resolve({ choice: "refuse", reason: "" });
      });
      const { allow } = await policy.decide(shellTool, { command }, context);
      return allow || isAsked && isSandboxed;
    };
    return { ...context, isSandboxed, mayRun };
  }
}
