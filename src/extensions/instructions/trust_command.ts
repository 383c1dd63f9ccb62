/** `/trust`: whether the model gets the folder's instructions. @module */

import { instructionLines } from "./instruction_lines.ts";
import { heedInstructions, trustsInstructions } from "./instructions.ts";
import { repositoryOf } from "../../session/repository.ts";
import type { Command, SessionState } from "../../session/state.ts";
import { takesText } from "../../session/commands/texts.ts";

export const trustCommand: Command = {
  name: "trust",
  argument: "[on|off]",
  help: "use the folder's instructions (AGENTS.md), or not; the choice is saved",
  question: "Use this folder's instructions?",
  run: setTrust,
  async choices({ agent, folderTrust }) {
    const trusts = await trustsInstructions(folderTrust, repositoryOf(agent.state.workingDir));
    return [
      { argument: "on", label: "on", detail: "yes, always", isCurrent: trusts === true },
      { argument: "off", label: "off", detail: "no", isCurrent: trusts === false },
    ];
  },
};

async function setTrust(session: SessionState, argument: string): Promise<string> {
  const { plug, surface: { way } } = session;
  if (!["", "on", "off"].includes(argument)) return takesText("trust", ["on", "off"]);
  const answer = argument !== "off";
  const instructions = await heedInstructions(session, { answer, plug });
  const lines = instructionLines(instructions, way);
  if (instructions.isHeeded === false) lines.push("This folder's instructions are not used.");
  else if (instructions.files.length === 0) {
    lines.push("This folder has no instructions. You will be asked about new ones.");
  }
  return lines.join("\n");
}
