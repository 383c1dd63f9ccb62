/** `--until` and `/until`: a turn ends when a check of the user passes. @module */

import { UsageError } from "../../errors.ts";
import { programFolders } from "../../find_program.ts";
import { userProgram } from "../../start_program.ts";
import type { Command, Extension, SessionState, TurnEnd } from "../../session/extension.ts";
import type { CommandAnswer } from "../../session/data.ts";
import type { Part } from "../../types/message.ts";
import { oneLine } from "../../text/one_line.ts";
import { hasShell } from "../../tools/files/in_folder.ts";
import type { CheckLimits, UntilCheck } from "./check.ts";

export const DEFAULT_LIMITS: CheckLimits = { rounds: 5, seconds: 600, mayEdit: false };

export class UntilExtension implements Extension {
  #check: UntilCheck | undefined;

  constructor(
    private readonly command?: string,
    private readonly limits: CheckLimits = DEFAULT_LIMITS,
  ) {}

  async open(session: SessionState): Promise<void> {
    const fault = this.command && await this.#set(session, this.command);
    if (fault) throw new UsageError(`--until: ${fault}`);
  }

  commands(): readonly Command[] {
    return [{
      name: "until",
      argument: "[COMMAND|off]",
      group: "Work",
      help: "run a check after each turn; the model continues until it passes",
      run: async (session, argument) => await this.#run(session, argument),
      choices: async (session) => {
        const current = this.#check?.command;
        const all = [...await offeredChecks(session), ...current === undefined ? [] : ["off"]];
        return all.map((label) => ({ argument: label, label, isCurrent: label === current }));
      },
    }];
  }

  /** The first message of a turn sees the folder before the model changes it. */
  async message(): Promise<readonly Part[]> {
    await this.#check?.begin();
    return [];
  }

  async endOfTurn(_: unknown, round: number, signal: AbortSignal): Promise<TurnEnd | undefined> {
    return await this.#check?.end(round > 0, signal);
  }

  async #run(session: SessionState, argument: string): Promise<CommandAnswer> {
    if (argument === "off") {
      this.#check = undefined;
      delete session.check;
      return "No check runs after a turn.";
    }
    if (argument !== "") {
      const fault = await this.#set(session, argument);
      if (fault) return `/until: ${fault}.`;
      return `After each turn that changes files, ${
        oneLine(argument)
      } runs, and the model continues until it passes (at most ${this.limits.rounds} rounds). /until off ends this.`;
    }
    if (this.#check) return `The check is ${oneLine(this.#check.command)}. /until off ends it.`;
    const known = await offeredChecks(session);
    const examples = known.length > 0 ? known : ["npm test"];
    const named = examples.map((one) => `/until ${oneLine(one)}`).join(", ");
    return `No check is set. Name one, such as ${named}.`;
  }

  /** Sets the check. Returns why it cannot run. */
  async #set(session: SessionState, command: string): Promise<string | undefined> {
    const [program] = /^[\w.-]+(?=\s|$)/.exec(command) ?? [];
    const args = ["-c", 'PATH=$1; command -v -- "$0"', `${program}`, programFolders().join(":")];
    const search = program && hasShell && userProgram("bash", { args });
    if (search && !(await search.output()).success) return `there is no program ${program}`;
    const { UntilCheck } = await import("./check.ts");
    this.#check = new UntilCheck(command, this.limits, session);
  }
}

const offeredChecks = async ({ agent }: SessionState): Promise<string[]> =>
  await (await import("./known_checks.ts")).knownChecks(agent.state.workingDir);
