import { attempt } from "../../attempt.ts";
import { notePart } from "../../text/parts.ts";
import { join } from "../../text/std_path.ts";
import { isPlanning } from "../plan_mode.ts";
import type { CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";

const INSTRUCTION_FILE = "AGENTS.md";
const MAX_LINES = 60;
const OTHERS = ["CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md"];

export const initCommand: Command = {
  name: "init",
  group: "Work",
  help: `generate ${INSTRUCTION_FILE}: how to build, test and change this project`,
  run: init,
};

async function init(session: SessionState): Promise<CommandAnswer> {
  if (await isPlanning(session)) {
    return "Plan mode writes no files: run /plan off, then /init.";
  }
  const { workingDir } = session.agent.state;
  const isThere = (name: string) =>
    attempt(() => Deno.statSync(join(workingDir, name)).isFile) === true;
  const text = `${
    isThere(INSTRUCTION_FILE) ? "Improve" : "Write"
  } ${INSTRUCTION_FILE} for this folder.`;
  const others = OTHERS.filter(isThere);
  const note = [
    `Look first: the README, the files for building, testing and CI, the folders, some sources and tests. Then ${
      isThere(INSTRUCTION_FILE)
        ? `read ${INSTRUCTION_FILE} and edit it: keep what is right, mend what is wrong or missing; do not write it anew.`
        : `write ${INSTRUCTION_FILE}.`
    }`,
    ...others.length > 0 ? [`Take over what holds from ${others.join(", ")}.`] : [],
    `It instructs coding agents, in at most ${MAX_LINES} lines of Markdown: what the project is; the commands that build, test, lint and format it, and run a single test; where things are; conventions and pitfalls. Write only what you saw here, nothing that is true of any project.`,
  ].join("\n");
  return { type: "turn", parts: [{ type: "text", text }, notePart(`[${note}]`)] };
}
