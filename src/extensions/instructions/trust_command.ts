/** `/trust`: whether the model gets the folder's instructions. @module */

import { instructionLines } from "./instruction_lines.ts";
import type { HeededInstructions } from "../../session/data.ts";
import { trustsInstructions } from "./instructions.ts";
import { repositoryOf } from "../../session/repository.ts";
import type { Command, SessionState } from "../../session/extension.ts";
import { takesText } from "../../session/commands/texts.ts";

/** @param load loads the instructions, or not, by the user's answer */
export const trustCommand = (
  load: (session: SessionState, answer: boolean) => Promise<HeededInstructions>,
): Command => ({
  name: "trust",
  after: "cd",
  argument: "[on|off]",
  help: "use the folder's instructions (AGENTS.md), or not; the choice is saved",
  question: "Use this folder's instructions?",
  run: (session, argument) => setTrust(session, argument, load),
  async choices({ agent, folderTrust }) {
    const trusts = await trustsInstructions(folderTrust, repositoryOf(agent.state.workingDir));
    return [
      { argument: "on", label: "on", detail: "yes, always", isCurrent: trusts === true },
      { argument: "off", label: "off", detail: "no", isCurrent: trusts === false },
    ];
  },
});

async function setTrust(
  session: SessionState,
  argument: string,
  load: Parameters<typeof trustCommand>[0],
): Promise<string> {
  if (!["", "on", "off"].includes(argument)) return takesText("trust", ["on", "off"]);
  const answer = argument !== "off";
  const instructions = await load(session, answer);
  const lines = instructionLines(instructions, session.surface.way);
  if (instructions.isHeeded === false) lines.push("This folder's instructions are not used.");
  else if (instructions.files.length === 0) {
    lines.push("This folder has no instructions. You will be asked about new ones.");
  }
  return lines.join("\n");
}
