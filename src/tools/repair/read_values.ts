/** Repairs a path, a command or a text of a call whose arguments are valid. @module */

import type { Tool, ToolContext } from "../../types/tool.ts";
import type { ToolArgs } from "../schema.ts";
import { slipsOf } from "../slips.ts";
import { repairPath } from "./paths.ts";

/** Returns the repaired arguments, and a line for each repair. @throws {SlipError} without a single reading. */
export async function readValues(
  tool: Tool,
  given: ToolArgs,
  { workingDir: folder, request }: Pick<ToolContext, "workingDir" | "request">,
): Promise<{ args: ToolArgs; repairs: string[] }> {
  const args = { ...given };
  const repairs: string[] = [];
  const slips = slipsOf(tool);
  const [key, usual] = slips?.path ?? [];
  const path = key && args[key];
  if (key === "path" && typeof path === "string" && path.trim() === "") {
    args.path = ".";
    repairs.push("the empty path as .");
  } else if (key && usual && typeof path === "string") {
    const use = typeof usual === "function" ? usual(args) : usual;
    const meant = await repairPath(path, { folder, use, request, isFile: key === "file_path" });
    if (meant !== undefined) {
      args[key] = meant;
      repairs.push(`the path ${JSON.stringify(path)} as ${meant}`);
    }
  }
  slips?.readTexts?.(args, repairs);
  return { args, repairs };
}
