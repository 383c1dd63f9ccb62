/** The tool for files, which also reads skills: the model needs no tool of its own for them. @module */

import { builtinTools } from "../../tools/mod.ts";
import { fileTool } from "../../tools/read_file.ts";
import type { Tool } from "../../types/tool.ts";
import type { PromptFiles } from "./prompt_files.ts";

/** The built-in tools, of which the one that reads files asks `plugged` first. */
export function skillReadingTools(plugged: () => PromptFiles | undefined): Tool[] {
  return builtinTools.map((tool) =>
    tool !== fileTool ? tool : {
      ...tool,
      run: (args, context, prepared) =>
        plugged()?.read(args, context) ?? tool.run(args, context, prepared),
    }
  );
}
