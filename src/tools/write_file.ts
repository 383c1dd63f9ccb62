/** The tool `write_file`. @module */

import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import { FILE_SYNONYMS, takeView } from "./slips.ts";
import { contentAsMeant } from "./repair/content.ts";
import { prepareWrite, writeFile } from "./files/write_file.ts";

export const writeTool: Tool = callable({
  name: "write_file",
  description: "Create a file or replace all of it. Parent folders are created.",
  parameters: objectSchema({
    file_path: textSchema("File to write"),
    content: textSchema("The whole content"),
  }, ["file_path", "content"]),
  access: "write",
  subject: fileSubject("write"),
  slips: {
    synonyms: {
      file_path: FILE_SYNONYMS,
      content: bareNames(
        "text contents body data filetext filecontent filecontents code sourcecode newcontent value fullcontent",
      ),
    },
    readings: [takeView],
    editorCommand: "create",
    path: ["file_path", "write"],
    readTexts: (args, repairs) => {
      if (typeof args.content !== "string") return;
      const read = contentAsMeant(args.content, String(args.file_path));
      if (!read) return;
      args.content = read.text;
      repairs.push(read.repair);
    },
  },
  prepare: prepareWrite,
  run: writeFile,
});
