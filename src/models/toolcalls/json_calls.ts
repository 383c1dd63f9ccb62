import { isObject } from "../../text/json.ts";
import { isMeantAlias } from "../../text/tool_aliases.ts";
import type { ToolCall } from "../../types/message.ts";
import { type CallContext, isUnknown, offeredName } from "./format.ts";
import { parseLenientJson } from "./json_scanner.ts";

/**
 * Returns the calls in an object or an array; undefined if one is not a call: its name is not offered, it repeats
 * a definition, or it has other keys but no arguments. A name alone is a call without arguments.
 */
export function callsFrom(value: unknown, context: CallContext): ToolCall[] | undefined {
  if (isObject(value) && context.tools && Array.isArray(value.tool_calls)) value = value.tool_calls;
  const items = Array.isArray(value) ? value : [value];
  const calls = items.map((item) => callFrom(item, context));
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

function callFrom(given: unknown, context: CallContext): ToolCall | undefined {
  if (!isObject(given)) return undefined;
  // A native call of the compatible protocol, written as text.
  const inner = [given.function, given.tool_call, given.function_call].find(isObject);
  const value = inner ?? given;
  const name = toolNamedIn(value, context);
  if (name === undefined) return undefined;
  // Another agent's name needs arguments to be certain.
  const isOther = context.tools !== undefined && !context.tools.has(name);
  if (
    isUnknown(name, context) &&
    !(isObject(value.arguments ?? value.parameters) && Object.keys(value).length < 4)
  ) {
    return undefined;
  }
  const keys = context.tools ? ARGUMENT_KEYS : BASIC_ARGUMENT_KEYS;
  const key = keys.find((key) => Object.hasOwn(value, key));
  if (key === undefined && (Object.keys(value).length > 1 || isOther)) return undefined;
  if (key === "parameters" && isSchema(value.parameters)) return undefined;
  const args = key === undefined ? {} : value[key];
  const isText = typeof args === "string";
  const parsed = isText ? args.trim() === "" ? {} : parseLenientJson(args) : args ?? {};
  const argumentNames = isObject(parsed) ? Object.keys(parsed) : [];
  if (isOther && !isUnknown(name, context) && !isMeantAlias(name, argumentNames, context.schemas)) {
    return undefined;
  }
  if (isObject(parsed)) return newCall(name, parsed, context);
  const text = isText ? args : JSON.stringify(args);
  return invalidCall(name, text, "its arguments must be a JSON object", context);
}

/** The keys of the arguments, in the specification and from models. */
const BASIC_ARGUMENT_KEYS = ["arguments", "parameters"];
const ARGUMENT_KEYS = "arguments parameters args input tool_input action_input kwargs params"
  .split(" ");
const NAME_KEYS = ["name", "tool_name", "tool", "function", "action", "method"];

function toolNamedIn(value: Record<string, unknown>, context: CallContext): string | undefined {
  const keys = context.tools ? NAME_KEYS : ["name"];
  const name = value[keys.find((key) => typeof value[key] === "string") ?? "name"];
  return typeof name === "string" ? offeredName(name, context, true) : undefined;
}

export function newCall(
  name: string,
  args: Record<string, unknown>,
  context: CallContext,
): ToolCall {
  return { id: context.newId(), name, arguments: args, recovered: true };
}

/** The reason that an incomplete call is invalid. */
export const CUT_OFF_REASON = "its arguments were cut off before their end";

/** Returns a call that is not run but answered with `reason`. */
export function invalidCall(
  name: string,
  text: string,
  reason: string,
  context: CallContext,
): ToolCall {
  return { ...newCall(name, {}, context), invalid: { text, reason } };
}

/** Returns a complete but broken call. It may still have one reading, by the schema of its tool. */
export function malformedCall(name: string, text: string, context: CallContext): ToolCall {
  const reason =
    "its JSON is not valid: check brackets, and escape quotes and backslashes in strings";
  return { ...newCall(name, {}, context), invalid: { text, reason, isMalformed: true } };
}

function isSchema(value: unknown): boolean {
  return isObject(value) && value.type === "object" &&
    (isObject(value.properties) || Object.keys(value).length === 1);
}
