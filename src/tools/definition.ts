import type { CallAction, Subject, Tool } from "../types/tool.ts";
import { checkArguments, type ToolArgs } from "./schema.ts";
import type { Slips } from "./slips.ts";

export const textSchema = (description: string): ToolArgs => ({ type: "string", description });
export const objectSchema = (properties: ToolArgs, required: string[]): Tool["parameters"] => {
  return { type: "object", properties, required };
};

/** The parameters with text for a file. Its {@linkcode Change} shows that text better. */
export const WRITTEN_ARGUMENTS: readonly string[] = ["content", "old_string", "new_string"];

/** Returns `tool` with a check and completion of its arguments, for callers other than an agent. */
export function callable(tool: Tool & { slips?: Slips }): Tool {
  const complete = (args: ToolArgs): ToolArgs => {
    const checked = checkArguments(tool, args);
    if (!checked.ok) throw new TypeError(checked.error);
    return checked.args;
  };
  const { prepare } = tool;
  return {
    ...tool,
    ...prepare && { prepare: async (args, context) => await prepare(complete(args), context) },
    run: async (args, context, prepared) => await tool.run(complete(args), context, prepared),
  };
}

export const fileSubject = (action: CallAction) => ({ file_path: path }: ToolArgs): Subject => ({
  ...typeof path === "string" && { path, isFile: true },
  action,
});
export const searchSubject =
  (action: CallAction) => ({ path, pattern: query }: ToolArgs): Subject => ({
    ...typeof path === "string" && { path },
    ...typeof query === "string" && { query },
    action,
  });
export const namesSubject = (action: CallAction) => (args: ToolArgs): Subject => ({
  ...searchSubject(action)(args),
  showsNames: true,
});
