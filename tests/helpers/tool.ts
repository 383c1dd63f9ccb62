import type { JsonSchema, Tool } from "../../src/types/tool.ts";

/** A tool that reads and needs all its arguments, described by its name. */
export function readingTool(
  name: string,
  properties: Record<string, JsonSchema>,
  run: Tool["run"] = () => "",
): Tool {
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  return { name, description: name, parameters, access: "read", run };
}

export const TEXT: JsonSchema = { type: "string" };
