/** Hooks of the user and of the folder. @module */

import type {
  Extension,
  PendingCall,
  PendingQuestion,
  SessionState,
  TurnEnd,
} from "../../session/extension.ts";
import type { Approval } from "../../safety/approval.ts";
import type { ToolExecution, TurnResult } from "../../types/event.ts";
import type { Part } from "../../types/message.ts";
import type { Policy } from "../../types/policy.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { hookFiles } from "./hook_files.ts";
import { hookText } from "./definition.ts";
import type { SessionHooks } from "./session_hooks.ts";

export class HooksExtension implements Extension {
  #hooks: SessionHooks | undefined;
  readonly pending: PendingQuestion[] = [];
  readonly seesFailures = true;

  async start(
    session: SessionState,
    source: "startup" | "resume",
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, permissions, readsFolder } = session;
    const files = readsFolder ? hookFiles(agent.state.workingDir, permissions.variables) : [];
    const ofPlugins = pluginsOf(session.extensions).flatMap((plugin) => plugin.hooks);
    if (files.length + ofPlugins.length === 0) return;
    const { openHooks } = await import("./open_hooks.ts");
    const { definitions, problems, pending } = await openHooks(files, session, signal);
    const lines = [
      ...problems.map(({ path, why }) => `${path}: ${why}`),
      ...pending.map(({ question: { path } }) =>
        `hooks in ${path} are not approved yet, so they do not run: a session in the terminal or an editor asks about them`
      ),
    ];
    if (lines.length > 0) {
      const notice = { code: "extension", kind: "hook_files", lines } as const;
      session.emit({ type: "session_notice", notice });
    }
    definitions.push(...ofPlugins);
    if (definitions.length + pending.length === 0) return;
    const { SessionHooks } = await import("./session_hooks.ts");
    const hooks = this.#hooks = new SessionHooks(session);
    await hooks.add(definitions, source, signal);
    this.pending.push(...pending.map(({ question, save, definitions }): PendingQuestion => ({
      question,
      async decide(isYes, signal) {
        await save(isYes);
        if (isYes) await hooks.add(definitions, "startup", signal);
      },
    })));
  }

  permissions() {
    const all = this.#hooks?.all ?? [];
    return Promise.resolve(all.map((hook) => ["hook", hookText(hook)] as const));
  }

  async message(text: string, signal: AbortSignal): Promise<readonly Part[]> {
    return await this.#hooks?.prompt(text, signal) ?? [];
  }

  beforeCall(call: PendingCall, next: Policy) {
    return this.#hooks?.decide(next, ...call) ?? next.decide(...call);
  }

  async afterCall(execution: ToolExecution, _: object, signal: AbortSignal) {
    return await this.#hooks?.after(execution, signal);
  }

  async beforeQuestion(question: Approval, signal: AbortSignal) {
    return await this.#hooks?.question(question, signal);
  }

  async beforeRoom(trigger: "manual" | "auto", focus: string, signal: AbortSignal): Promise<void> {
    await this.#hooks?.room(trigger, focus, signal);
  }

  async endOfTurn(
    result: TurnResult,
    round: number,
    signal: AbortSignal,
  ): Promise<TurnEnd | undefined> {
    return await this.#hooks?.end(result, round, signal);
  }

  async close(): Promise<void> {
    await this.#hooks?.close();
  }
}
