/** The tool `list_directory`. @module */

import type { Tool } from "../types/tool.ts";
import { callable, namesSubject, objectSchema } from "./definition.ts";
import { FOLDER_SYNONYMS } from "./slips.ts";

export const folderTool: Tool = callable({
  name: "list_directory",
  description: "List a folder: folders end in /.",
  parameters: objectSchema({ path: { type: "string", default: ".", description: "Folder" } }, []),
  access: "read",
  subject: namesSubject("list"),
  slips: {
    synonyms: {
      path: [...FOLDER_SYNONYMS, "dirname"],
    },
    path: ["path", "read"],
  },
  run: async (args, context) =>
    (await import("./files/list_directory.ts")).listDirectory(args, context),
});
