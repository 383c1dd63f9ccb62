import { commandsOf } from "../../session/commands/registry.ts";
import { commandIn } from "../../session/commands/command_line.ts";
import type { Command, Extension, SessionState } from "../../session/extension.ts";
import { fileTool } from "../../tools/read_file.ts";
import type { Part, TextPart } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { type LoadedPromptFiles, loadPromptFiles, type PromptFile } from "./load.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { promptFolders } from "./places.ts";
import { PromptFiles } from "./prompt_files.ts";

export class SkillsExtension implements Extension {
  #loaded: PromptFiles | undefined;
  /** The names of the other commands, also of those that servers bring later. */
  #taken = () => new Set<string>();

  get agents(): readonly PromptFile[] {
    return this.#loaded?.agents ?? [];
  }

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

  async find({ agent, permissions, extensions }: SessionState): Promise<LoadedPromptFiles> {
    const places = [
      ...promptFolders(agent.state.workingDir, permissions.variables),
      ...pluginsOf(extensions).flatMap((plugin) => plugin.places),
    ];
    if (places.length === 0) return { promptFiles: [], problems: [] };
    return await loadPromptFiles(places, permissions.paths);
  }

  /** Replaces the skills, commands and sub-agents, and lists them in the prompt. Other commands take precedence. */
  use(session: SessionState, { promptFiles, problems }: LoadedPromptFiles): void {
    if (promptFiles.length + problems.length === 0 && this.#loaded === undefined) return;
    const { agent, permissions } = session;
    this.#taken = () => new Set(commandsOf(session, this).map(({ name }) => name));
    const taken = this.#taken();
    const loaded = this.#loaded = promptFiles.length === 0
      ? undefined
      : new PromptFiles(session, promptFiles, permissions.paths);
    const list = loaded && ((...room: [number, number]) => loaded.catalogue(...room));
    // A list with only sub-agents is short, and useless without their tool.
    agent.plugCatalogue(list, ...promptFiles.some(({ kind }) => kind === "skill") ? [] : [0]);
    const hidden = promptFiles.filter(({ kind, name, isForModel }) =>
      kind === "command" && taken.has(name) && !isForModel
    ).map(({ path }) => ({ path, why: "a built-in command has this name" }));
    // copilot plugin reports those of plug-ins, which the user cannot change.
    const own = problems.filter(({ plugin }) => plugin === undefined);
    const lines = [...own, ...hidden].map(({ path, why }) => `${path} is ignored: ${why}`);
    if (lines.length > 0) session.tell("prompt_files", ...lines);
  }

  commands(): readonly Command[] {
    const [all, taken] = [this.#loaded?.commands ?? [], this.#taken()];
    return all.filter(({ name }) => !taken.has(name));
  }

  expands(line: string) {
    const loaded = this.#loaded;
    const typed = loaded && commandIn(line);
    const promptFile = typed && loaded.find(typed.name);
    if (!promptFile || this.#taken().has(promptFile.name)) return undefined;
    return (part: TextPart, signal: AbortSignal): Promise<Part[]> =>
      loaded.open(promptFile, part, typed.argument, signal);
  }
}
