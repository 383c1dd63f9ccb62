/** Instructions in subfolders of the working directory, loaded when a file there is first read. @module */

import { attempt } from "../../attempt.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin, resolvePath } from "../../text/paths.ts";
import { dirname } from "../../text/std_path.ts";
import type { ToolExecution } from "../../types/event.ts";
import {
  decideOn,
  type FoundInstructions,
  instructionFileIn,
  trustInstructions,
} from "./instructions.ts";
import type { HeededInstructions } from "../../session/data.ts";
import type { SessionState } from "../../session/extension.ts";
import { repositoryOf } from "../../safety/repositories.ts";

const MAX_BELOW = 20;

export class InstructionsBelow {
  readonly #seen = new Set<string>();

  constructor(
    private readonly session: SessionState,
    private readonly onHeeded: (heeded: HeededInstructions) => void,
  ) {}

  /** Returns the instructions for a file that was read, without those the model already has. */
  async noteFor({ subject }: ToolExecution, signal: AbortSignal): Promise<string | undefined> {
    const { agent, permissions } = this.session;
    const { workingDir } = agent.state;
    if (subject?.action !== "read" || subject.path === undefined) return undefined;
    const real = attempt(() => Deno.realPathSync(resolvePath(agent.state, subject.path!)));
    if (real === undefined || !isWithin(workingDir, real)) return undefined;
    const folders: string[] = [];
    for (let at = dirname(real); at !== workingDir && isWithin(workingDir, at); at = dirname(at)) {
      if (!this.#seen.has(at)) folders.unshift(at);
    }
    const notes: string[] = [];
    for (const at of folders.slice(0, MAX_BELOW)) {
      this.#seen.add(at);
      const found = await instructionFileIn(at, workingDir, permissions);
      if (found && "text" in found && await this.#isHeeded(found, signal)) {
        notes.push(
          `\n\n[Instructions of the project, from ${oneLine(found.name)}:]\n${found.text.trim()}`,
        );
      }
    }
    return notes.length === 0 ? undefined : notes.join("");
  }

  async #isHeeded(file: FoundInstructions, signal: AbortSignal): Promise<boolean> {
    const { agent, folderTrust, trust, confirm } = this.session;
    const root = repositoryOf(agent.state.workingDir);
    const { said, ...decided } = await decideOn(folderTrust, root, [file], {
      trust,
      confirm: confirm && ((question) => confirm(question, signal)),
    });
    if (said) await trustInstructions(folderTrust, root, [file]).catch(() => {});
    this.onHeeded({ ...decided, refused: [] });
    return decided.isHeeded === true;
  }
}
