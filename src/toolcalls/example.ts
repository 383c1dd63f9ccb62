import { isObject } from "../text/json.ts";
import { parseLooseJson } from "../text/loose_json.ts";
import { foldMarker } from "../text/markers.ts";
import { type CallContext, exampleArguments, exampleJson } from "./format.ts";
import { formats } from "./formats/all.ts";

/** A right call of the first tool, in the format that the mark `mark` is of; JSON in tags for others. */
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

/** Keys of calls, and of other agents' arguments, that no answer in earnest has. */
const KEYS_OF_CALLS = ["tool_calls", "tool_call", "cmd", "action"];
/** The most characters before arguments that are the point of an answer. */
const MAX_LEAD = 300;

/** True where an answer ends in the arguments of a call whose name is lost. */
export function isLostCall(
  content: string,
  { schemas }: { schemas: CallContext["schemas"] },
): boolean {
  const [json, key] = /\{\s*"(\w+)"\s*:[^]*\}\s*$/.exec(content.slice(-4000)) ?? [];
  if (json === undefined || content.length - json.length > MAX_LEAD) return false;
  // The name of no tool, right before its arguments: `web_search{"query": "x"}`.
  if (/^\s*[\w.-]+$/.test(content.slice(0, content.indexOf(json)))) return true;
  if (content.includes("```") || key!.startsWith("tool_call")) return !content.includes("```");
  const read = parseLooseJson(json);
  if (!("value" in read) || !isObject(read.value)) return false;
  const known = Object.values(schemas).map((schema) =>
    Object.keys(isObject(schema) && isObject(schema.properties) ? schema.properties : {})
  );
  const keys = Object.keys(read.value).filter((one) => !KEYS_OF_CALLS.includes(one));
  return (keys.length > 1 || keys.length < Object.keys(read.value).length) &&
    known.some((own) => keys.every((one) => own.includes(one)));
}
