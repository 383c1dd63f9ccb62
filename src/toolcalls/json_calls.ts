/**
 * From JSON to tool calls.
 *
 * @module
 */

import type { ToolCall } from "../types.ts";
import { type CallContext, isOffered } from "./format.ts";
import { parseJson } from "./json_scanner.ts";

/**
 * The calls that a value stands for, an object or an array of them, or undefined where any of it is
 * none: its name is not offered, it is the echo of a tool's definition, or it has other keys but no
 * arguments, like a `package.json`. An object that is only a name is a call without arguments.
 */
export function callsFrom(value: unknown, context: CallContext): ToolCall[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  const calls = items.map((item) => callFrom(item, context));
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

function callFrom(value: unknown, context: CallContext): ToolCall | undefined {
  if (!isRecord(value)) return undefined;
  const { name } = value;
  if (typeof name !== "string" || !isOffered(name, context)) return undefined;
  const key = ["arguments", "parameters"].find((key) => Object.hasOwn(value, key));
  if (key === undefined && Object.keys(value).length > 1) return undefined;
  if (key === "parameters" && isSchema(value.parameters)) return undefined;
  const given = key === undefined ? {} : value[key];
  const isText = typeof given === "string";
  const args = isText ? given.trim() === "" ? {} : parseJson(given) : given ?? {};
  if (isRecord(args)) return newCall(name, args, context);
  const text = isText ? given : JSON.stringify(given);
  return invalidCall(name, text, "its arguments must be a JSON object", context);
}

function newCall(name: string, args: Record<string, unknown>, context: CallContext): ToolCall {
  return { id: context.newId(), name, arguments: args, recovered: true };
}

/** A call that is not to be run but answered with `reason`. */
export function invalidCall(
  name: string,
  text: string,
  reason: string,
  context: CallContext,
): ToolCall {
  return { ...newCall(name, {}, context), invalid: { text, reason } };
}

/** Whether an object is a JSON Schema of arguments, not arguments. */
function isSchema(value: unknown): boolean {
  return isRecord(value) && value.type === "object" &&
    (isRecord(value.properties) || Object.keys(value).length === 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
