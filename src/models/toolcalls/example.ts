import { foldMarker } from "../../text/markers.ts";
import { type CallContext, exampleArguments, exampleJson } from "./format.ts";
import { formats } from "./formats/all.ts";

/** Returns a correct call of the first tool in the format of `mark`, or as JSON in tags. */
export function exampleCall(
  mark: string,
  { tools, schemas }: { tools: readonly string[]; schemas: CallContext["schemas"] },
): string {
  const name = tools[0] ?? "";
  const context: CallContext = { tools: new Set(tools), schemas, newId: () => "" };
  const words = mark.replace(/^[<[|/]+/, "").slice(0, 9);
  const own = words === ""
    ? undefined
    : formats.find(({ markers = [], example }) =>
      example && markers.some((one) => foldMarker(one).replace(/^[<[|]+/, "").startsWith(words))
    );
  return own?.example?.(name, exampleArguments(name, context)) ??
    `<tool_call>${exampleJson(name, context)}</tool_call>`;
}
