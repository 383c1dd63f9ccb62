/** The built-in tools: one module per tool, with its definition for the model. @module */

import type { Tool } from "../types/tool.ts";
import { editTool } from "./edit_file.ts";
import { globTool } from "./glob_files.ts";
import { grepTool } from "./grep_code.ts";
import { folderTool } from "./list_directory.ts";
import { fileTool } from "./read_file.ts";
import { jobTool, shellOrJobTool, shellTool } from "./run_bash.ts";
import { writeTool } from "./write_file.ts";

/** The seven built-in tools, in the order of the request. */
export const builtinTools: readonly Tool[] = [
  fileTool,
  writeTool,
  editTool,
  shellTool,
  globTool,
  grepTool,
  folderTool,
];

/** Returns `tools` with jobs: `run_bash` with commands in the background, and `job_output`, which reads them. */
export function withJobs(tools: readonly Tool[]): readonly Tool[] {
  return tools.flatMap((tool) => tool === shellTool ? [shellOrJobTool, jobTool] : [tool]);
}
