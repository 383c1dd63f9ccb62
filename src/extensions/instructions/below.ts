/** Instructions in subfolders of the working directory, loaded when a file there is first read. @module */

import type { CopilotAgent } from "../../agent/agent.ts";
import { attempt } from "../../attempt.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin, resolvePath } from "../../text/paths.ts";
import { dirname } from "../../text/std_path.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { FolderTrust } from "../../safety/folder_trust.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { instructionQuestion } from "./instruction_lines.ts";
import {
  type FoundInstructions,
  instructionFileIn,
  judgeInstructions,
  trustInstructions,
} from "./instructions.ts";
import type { Permissions } from "../../session/permissions.ts";
import type { HeededInstructions } from "../../session/data.ts";
import { repositoryOf } from "../../session/repository.ts";

interface BelowOptions {
  folderTrust: FolderTrust;
  /** Loads them this time. */
  trust: boolean;
  /** Asks the user; undefined if there is no answer. */
  confirm: ((question: Confirmation) => Promise<boolean | undefined>) | undefined;
  onHeeded(heeded: HeededInstructions): void;
}

/** The maximum depth of a folder below the working directory. */
const MAX_BELOW = 20;

export class InstructionsBelow {
  /** The checked folders, by real path. */
  readonly #seen = new Set<string>();

  constructor(
    private readonly agent: CopilotAgent,
    private readonly permissions: Permissions,
    private readonly options: BelowOptions,
  ) {}

  /** Returns the instructions for a file that was read, without those the model already has. */
  async noteFor({ subject }: ToolExecution): Promise<string | undefined> {
    const { workingDir } = this.agent.state;
    if (subject?.action !== "read" || subject.path === undefined) return undefined;
    const real = attempt(() => Deno.realPathSync(resolvePath(this.agent.state, subject.path!)));
    if (real === undefined || !isWithin(workingDir, real)) return undefined;
    const folders: string[] = [];
    for (let at = dirname(real); at !== workingDir && isWithin(workingDir, at); at = dirname(at)) {
      if (!this.#seen.has(at)) folders.unshift(at);
    }
    const notes: string[] = [];
    for (const at of folders.slice(0, MAX_BELOW)) {
      this.#seen.add(at);
      const found = await instructionFileIn(
        at,
        workingDir,
        repositoryOf(workingDir),
        this.permissions,
      );
      const isHeeded = found !== undefined && "text" in found && await this.#isHeeded(found);
      if (isHeeded) {
        notes.push(
          `\n\n[Instructions of the project, from ${oneLine(found.name)}:]\n${found.text.trim()}`,
        );
      }
    }
    return notes.length === 0 ? undefined : notes.join("");
  }

  async #isHeeded(file: FoundInstructions): Promise<boolean> {
    const { folderTrust, trust, confirm, onHeeded } = this.options;
    const root = repositoryOf(this.agent.state.workingDir);
    const found = await judgeInstructions(folderTrust, root, [file]);
    const { isTrusted, doubt, files: [judged] } = found;
    const shown = {
      name: file.name,
      lines: file.text.trimEnd().split("\n").length,
      ...judged?.change && { change: judged.change },
    };
    // A new file does not make the others untrusted.
    const about = doubt && judged?.change?.type !== "added" && { doubt };
    const said = trust || isTrusted !== undefined
      ? undefined
      : await confirm?.(instructionQuestion({ ...about, files: [shown] }));
    if (said) await trustInstructions(folderTrust, root, [file]).catch(() => {});
    const isHeeded = said ?? (trust || isTrusted);
    const open = isHeeded === undefined && about;
    onHeeded({
      files: [{ ...shown, isHeeded: isHeeded === true }],
      refused: [],
      isHeeded,
      ...open,
    });
    return isHeeded === true;
  }
}
