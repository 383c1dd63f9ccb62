/** `--until` and `/until`: a turn ends when a check of the user passes. @module */

import { UsageError } from "../../errors.ts";
import type { Command, Extension, SessionState, TurnEnd } from "../../session/extension.ts";
import type { CommandAnswer } from "../../session/data.ts";
import type { Part } from "../../types/message.ts";
import { oneLine } from "../../text/one_line.ts";
import type { CheckLimits, UntilCheck } from "./check.ts";

export const DEFAULT_LIMITS: CheckLimits = { rounds: 5, seconds: 600, mayEdit: false };

export class UntilExtension implements Extension {
  #session: SessionState | undefined;
  #check: UntilCheck | undefined;

  constructor(
    private readonly command?: string,
    private readonly limits: CheckLimits = DEFAULT_LIMITS,
  ) {}

  async open(session: SessionState): Promise<void> {
    this.#session = session;
    const { command } = this;
    if (command === undefined) return;
    if (!await hasProgram(session, command)) throw new UsageError(`--until: ${noProgram(command)}`);
    await this.#set(command);
  }

  commands(): readonly Command[] {
    return [{
      name: "until",
      argument: "[COMMAND|off]",
      group: "Work",
      help: "after each turn that changes files, run a check; the model continues until it passes",
      run: async (session, argument) => await this.#run(session, argument),
      choices: async ({ agent }) => {
        const { knownChecks } = await import("./known_checks.ts");
        const rows = (await knownChecks(agent.state.workingDir)).map((argument) => ({
          argument,
          label: argument,
          isCurrent: argument === this.#check?.command,
        }));
        return this.#check ? [...rows, { argument: "off", label: "off" }] : rows;
      },
    }];
  }

  /** The first message of a turn sees the folder before the model changes it. */
  async message(_: string, signal: AbortSignal): Promise<readonly Part[]> {
    await this.#check?.begin(signal);
    return [];
  }

  async endOfTurn(_: unknown, _round: number, signal: AbortSignal): Promise<TurnEnd | undefined> {
    return await this.#check?.end(signal);
  }

  async #run(session: SessionState, argument: string): Promise<CommandAnswer> {
    if (argument === "off") {
      const was = this.#check;
      this.#check = undefined;
      delete session.check;
      return was ? `No check runs after a turn any more.` : "No check is set.";
    }
    if (argument !== "") {
      if (!await hasProgram(session, argument)) return `${noProgram(argument)}.`;
      await this.#set(argument);
      return `After each turn that changes files, ${
        oneLine(argument)
      } runs, and the model continues until it passes (at most ${this.limits.rounds} rounds). /until off ends this.`;
    }
    if (this.#check) return `The check is ${oneLine(this.#check.command)}. /until off ends it.`;
    const { knownChecks } = await import("./known_checks.ts");
    const known = (await knownChecks(session.agent.state.workingDir)).map((one) => `/until ${one}`);
    const examples = known.length > 0 ? known : ["/until npm test"];
    return `No check is set. Name one, such as ${examples.map(oneLine).join(", ")}.`;
  }

  async #set(command: string): Promise<void> {
    const { UntilCheck } = await import("./check.ts");
    this.#check = new UntilCheck(command, this.limits, this.#session!);
  }
}

/** The first word of a command, if it is the bare name of a program. */
const programOf = (command: string): string | undefined => /^[\w.-]+(?=\s|$)/.exec(command)?.[0];
const noProgram = (command: string): string => `there is no program ${programOf(command)}`;

/** False if the command begins with the bare name of a program, of which the shell knows none. */
async function hasProgram({ agent }: SessionState, command: string): Promise<boolean> {
  const name = programOf(command);
  if (name === undefined || Deno.build.os === "windows") return true;
  const asking = { args: ["-c", 'command -v -- "$1"', "sh", name], cwd: agent.state.workingDir };
  const { success } = await new Deno.Command("/bin/sh", { ...asking, stdin: "null" }).output();
  return success;
}
