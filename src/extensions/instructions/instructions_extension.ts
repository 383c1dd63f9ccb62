/** The instructions of the user and of the folder, for the model. @module */

import { attempt } from "../../attempt.ts";
import type { LoadedInstructions } from "../../session/data.ts";
import type { Command, Extension, PendingQuestion, SessionState } from "../../session/extension.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin, resolvePath } from "../../text/paths.ts";
import { dirname } from "../../text/std_path.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import { instructionLines, instructionQuestion } from "./instruction_lines.ts";
import {
  decideOn,
  instructionFileIn,
  loadInstructions,
  trustInstructions,
  trustsInstructions,
} from "./instructions.ts";
import { takesText } from "../../session/commands/texts.ts";

export class InstructionsExtension implements Extension {
  #session: SessionState | undefined;
  readonly openQuestions: PendingQuestion[] = [];
  /** The subfolders whose instructions a conversation has. */
  readonly #seen = new WeakMap<object, Set<string>>();

  /** @param skills the skills, commands and sub-agents, which one answer covers, too */
  constructor(private readonly skills: SkillsExtension) {}

  async open(session: SessionState, signal: AbortSignal): Promise<void> {
    if (!session.options.readsFolder) return;
    this.#session = session;
    const { confirm, options: { trust } } = session;
    this.#report(session, await loadInstructions(session, { trust, confirm, signal }, this.skills));
  }

  async enter(session: SessionState): Promise<readonly string[]> {
    return instructionLines(await loadInstructions(session, {}, this.skills), session.surface.kind);
  }

  commands(): Command[] {
    return [{
      name: "trust",
      group: "Setup",
      argument: "[on|off]",
      help: "use the folder's instructions (AGENTS.md), or not; it is saved",
      question: "Use this folder's instructions?",
      run: async (session, argument) => {
        if (!["", "on", "off"].includes(argument)) return takesText("trust", ["on", "off"]);
        const instructions = await loadInstructions(
          session,
          { answer: argument !== "off" },
          this.skills,
        );
        const lines = instructionLines(instructions, session.surface.kind);
        if (instructions.isLoaded === false) lines.push("This folder's instructions are not used.");
        else if (instructions.files.length === 0) {
          lines.push("This folder has no instructions. You will be asked about new ones.");
        }
        return lines.join("\n");
      },
      async choices({ agent, folderTrust }) {
        const trusts = await trustsInstructions(folderTrust, repositoryOf(agent.state.workingDir));
        return [
          { argument: "on", label: "on", detail: "yes, always", isCurrent: trusts === true },
          { argument: "off", label: "off", detail: "no", isCurrent: trusts === false },
        ];
      },
    }];
  }

  async permissions({ agent, folderTrust }: SessionState) {
    const trusts = await trustsInstructions(folderTrust, repositoryOf(agent.state.workingDir));
    if (trusts === undefined) return [];
    const text = `its instructions are ${trusts ? "used" : "not used"} (/trust)`;
    return [["folder", text]] as const;
  }

  /** Returns the instructions of subfolders, for the first file that a conversation reads there. */
  async afterCall(
    { isError, subject: { action, path = "" } = {} }: ToolExecution,
    conversation: object,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const session = this.#session;
    if (!session || isError || action !== "read" || !/[/\\]/.test(path)) return undefined;
    const { agent: { state }, permissions, folderTrust, confirm, options: { trust } } = session;
    const { workingDir } = state;
    const real = attempt(() => Deno.realPathSync(resolvePath(state, path)));
    if (real === undefined || !isWithin(workingDir, real)) return undefined;
    const seen = this.#seen.get(conversation) ?? new Set();
    this.#seen.set(conversation, seen);
    const folders: string[] = [];
    for (let at = dirname(real); at !== workingDir && isWithin(workingDir, at); at = dirname(at)) {
      if (!seen.has(at)) folders.unshift(at);
    }
    const root = repositoryOf(workingDir);
    let notes = "";
    for (const at of folders) {
      seen.add(at);
      const file = await instructionFileIn(at, workingDir, permissions);
      if (!file || !("text" in file)) continue;
      const asking = { trust, confirm, signal };
      const { said, ...decided } = await decideOn(folderTrust, root, [file], asking);
      if (said) await trustInstructions(folderTrust, root, [file]).catch(() => {});
      this.#report(session, { ...decided, refused: [] });
      if (decided.isLoaded !== true) continue;
      notes += `\n\n[Instructions of the project, from ${
        oneLine(file.name)
      }:]\n${file.text.trim()}`;
    }
    return notes || undefined;
  }

  #report(session: SessionState, instructions: LoadedInstructions): void {
    // The newest question replaces an earlier one: an answer is about all instructions.
    this.openQuestions.length = 0;
    if (instructions.isLoaded === undefined && instructions.files.length > 0) {
      const decide = async (answer: boolean) =>
        void await loadInstructions(session, { answer }, this.skills);
      this.openQuestions.push({ question: instructionQuestion(instructions), decide });
    }
    session.emit({ type: "instructions", instructions });
  }
}
