/** The tool `list_directory`. @module */

import type { Tool } from "../types/tool.ts";
import { callable, namesSubject, objectSchema } from "./definition.ts";
import { FOLDER_SYNONYMS } from "./slips.ts";
import { listDirectory } from "./files/list_directory.ts";

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
  run: listDirectory,
});
