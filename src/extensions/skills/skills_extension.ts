/** Skills, custom commands and the files of sub-agents. Their code is loaded only if there are some. @module */

import { commandIn } from "../../session/commands/command_line.ts";
import type { Command, Extension, SessionState } from "../../session/extension.ts";
import { fileTool } from "../../tools/read_file.ts";
import type { Part, TextPart } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import type { LoadedPromptFiles, PromptFile } from "./load.ts";
import { promptFolders } from "./places.ts";
import type { PromptFiles } from "./prompt_files.ts";

export class SkillsExtension implements Extension {
  #loaded: PromptFiles | undefined;

  /** The sub-agents of files. */
  get agents(): readonly PromptFile[] {
    return this.#loaded?.agents ?? [];
  }

  /** Returns the sub-agent with this name. */
  subAgent(name: string): PromptFile | undefined {
    return this.#loaded?.subAgent(name);
  }

  /** Returns the tools. The one that reads files also reads skills, so that the model needs no extra tool. */
  tools(own: readonly Tool[]): readonly Tool[] {
    return own.map((tool) =>
      tool !== fileTool ? tool : {
        ...tool,
        run: (args, context, prepared) =>
          this.#loaded?.read(args, context) ?? tool.run(args, context, prepared),
      }
    );
  }

  /** Finds the files of the user and of the folder. No file is read if there is no folder for them. */
  async find({ agent, permissions }: SessionState): Promise<LoadedPromptFiles> {
    const places = promptFolders(agent.state.workingDir, permissions.variables);
    if (places.length === 0) return { promptFiles: [], problems: [] };
    const { loadPromptFiles } = await import("./load.ts");
    return loadPromptFiles(places, permissions.paths);
  }

  /** Replaces the skills, commands and sub-agents. */
  async use(session: SessionState, found: LoadedPromptFiles): Promise<void> {
    const isEmpty = found.promptFiles.length + found.problems.length === 0;
    if (isEmpty && this.#loaded === undefined) return;
    const [{ loadInto }, { commandsOf }] = await Promise.all([
      import("./load_into.ts"),
      import("../../session/commands/registry.ts"),
    ]);
    const taken = (await commandsOf(session, this)).map(({ name }) => name);
    this.#loaded = loadInto(session, found, taken);
  }

  /** Returns what the user may type after a slash. */
  commands(): readonly Command[] {
    return this.#loaded?.commands ?? [];
  }

  expands(line: string) {
    const loaded = this.#loaded;
    const typed = loaded && commandIn(line);
    const promptFile = typed && loaded.named(typed.name);
    return promptFile &&
      ((part: TextPart, signal: AbortSignal): Promise<Part[]> =>
        loaded.open(promptFile, part, typed.argument, signal));
  }
}
