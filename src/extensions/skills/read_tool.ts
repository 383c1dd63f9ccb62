/** The file tool, which also reads skills, so that the model needs no extra tool. @module */

import { builtinTools } from "../../tools/mod.ts";
import { fileTool } from "../../tools/read_file.ts";
import type { Tool } from "../../types/tool.ts";
import type { PromptFiles } from "./prompt_files.ts";

/** Returns the built-in tools. The one that reads files asks `plugged` first. */
export function skillReadingTools(plugged: () => PromptFiles | undefined): Tool[] {
  return builtinTools.map((tool) =>
    tool !== fileTool ? tool : {
      ...tool,
      run: (args, context, prepared) =>
        plugged()?.read(args, context) ?? tool.run(args, context, prepared),
    }
  );
}
