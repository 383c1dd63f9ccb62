/** Arguments in formats that write values without types. @module */

import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { looseJson } from "../../text/loose_json.ts";
import type { CallContext } from "./format.ts";
import { parseLenientJson } from "./json_scanner.ts";

export type GivenArguments = Record<string, unknown> | undefined;

export function jsonArguments(body: string): Record<string, unknown> | undefined {
  // Some models put the object into a code block.
  const text = body.trim().replace(/^(?:```\w*|json\b)\s*/, "").replace(/(?<!\s)\s*```$/, "");
  if (text === "") return {};
  let value = parseLenientJson(text);
  if (value === undefined && text.startsWith('"')) {
    value = parseLenientJson(String(jsonOrUndefined(text)));
  }
  value ??= looseJson(text, 1);
  return isObject(value) ? value : undefined;
}

/**
 * Reads arguments one by one. `open` matches the mark before a value, with its key in the group `key`; `close`
 * matches the mark after it. Returns undefined for any other text.
 */
export function taggedArguments(
  body: string,
  open: RegExp,
  close: RegExp,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
  const args: Record<string, unknown> = {};
  const opening = new RegExp(open.source, "y");
  const closing = new RegExp(close.source, "g");
  const following = new RegExp(`\\n${open.source}`, "g");
  const isParameter = (key: string, present: string) =>
    Object.hasOwn(propertiesOf(name, context), key) && !Object.hasOwn(args, key) && key !== present;
  let next = following.exec(body);
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(body.slice(at, at + 256))![0].length;
    if (at >= body.length) return args;
    opening.lastIndex = at;
    const match = opening.exec(body);
    if (!match) return body.slice(at).trim() === "" ? args : undefined;
    const from = at + match[0].length;
    const key = match.groups!.key!.trim();
    const closed = closeOf(body, from, opening, closing);
    if (!closed) return undefined;
    const to = closed.index;
    if (next && next.index < from) {
      following.lastIndex = from;
      next = following.exec(body);
    }
    // A parameter at the start of a line before `close` shows that this value lacks its own mark.
    const isUnended = next !== null && next.index < to &&
      isParameter(next.groups!.key!.trim(), key);
    const end = isUnended ? next!.index : to;
    let value = body.slice(from, end);
    // Some models end a value with the tag of its key: `</content>`.
    if (!value.includes(`<${key}`)) {
      value = value.replace(new RegExp(`</${RegExp.escape(key)}>\\s*$`), "");
    }
    args[key] = typedValue(value, key, name, context);
    at = isUnended ? end : closed.end;
  }
}

/**
 * Returns the position of the mark that ends a value: the first one before another value or the end. A mark
 * inside the value is followed by more of its text, and a doubled mark by another one.
 */
function closeOf(
  body: string,
  from: number,
  opening: RegExp,
  closing: RegExp,
): { index: number; end: number } | undefined {
  let first: { index: number; end: number } | undefined;
  closing.lastIndex = from;
  for (let tries = 0; tries < 50; tries++) {
    const match = closing.exec(body);
    if (!match) return first;
    const found = { index: match.index, end: closing.lastIndex };
    first ??= found;
    const rest = body.slice(found.end, found.end + 256);
    opening.lastIndex = found.end + rest.length - rest.trimStart().length;
    if (rest.trim() === "" || opening.test(body)) {
      const isDoubled = first !== found && body.slice(first.end, found.index).trim() === "";
      return isDoubled ? { index: first.index, end: found.end } : found;
    }
  }
  return first;
}

const CHILD =
  /\s*<(?:[|｜‖]+DSML[|｜‖]+)?(\w+)>([^]*?)<\/(?:[|｜‖]+DSML[|｜‖]+)?(?:\1|parameter)>\s*/y;
const PARAMETER =
  /<[^\w<>]{0,4}(?:\w{1,12}\W{1,3})?param(?:eter)?(?:=|\s+name=)["']?(?<key>[\w.-]+)["']?[^<>]*>/;
const PARAMETER_END = /<\/[^<>]{0,20}param(?:eter)?>/;
const PAIR =
  /\s*(?:,\s*)?([\w-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)')|[=:][ \t]*([^\s"'<{([][^\n]*)(?=\n|$))/y;

/** Reads arguments as `key="value"` or, for the tool's own keys, as `key: value` on lines; otherwise undefined. */
export function pairArguments(text: string, name: string, context: CallContext): GivenArguments {
  const args: Record<string, unknown> = {};
  for (PAIR.lastIndex = 0; PAIR.lastIndex < text.trimEnd().length;) {
    const [, key, double, single, line] = PAIR.exec(text) ?? [];
    if (key === undefined || Object.hasOwn(args, key)) return undefined;
    const isKnown = Object.hasOwn(propertiesOf(name, context), key) || !context.tools?.has(name);
    if (line !== undefined && !isKnown) return undefined;
    args[key] = typedValue(double ?? single ?? line!, key, name, context);
  }
  return args;
}

/** Reads arguments in marks that are certain to be a call, in any of the models' fallback forms. */
export function anyArguments(body: string, name: string, context: CallContext): GivenArguments {
  if (/^\s*\{/.test(body)) return jsonArguments(body);
  if (!/^\s*</.test(body)) return pairArguments(body, name, context);
  return taggedArguments(body, PARAMETER, PARAMETER_END, name, context) ??
    elementArguments(body, name, context);
}

/** Reads arguments in tags of their names; otherwise undefined. */
function elementArguments(body: string, name: string, context: CallContext): GivenArguments {
  const args: Record<string, unknown> = {};
  for (CHILD.lastIndex = 0; CHILD.lastIndex < body.trimEnd().length;) {
    const [, key, value] = CHILD.exec(body) ?? [];
    if (key === undefined || Object.hasOwn(args, key)) return undefined;
    args[key] = typedValue(value!, key, name, context);
  }
  const [[key = "", value] = [], second] = Object.entries(args);
  const isFrame = FRAME_KEY.test(key) && !second &&
    !Object.hasOwn(propertiesOf(name, context), key);
  return isFrame && /^\s*<\w/.test(String(value))
    ? elementArguments(String(value), name, context)
    : args;
}

/** A tag around all arguments: `<args><file><path>V</path></file></args>`. */
const FRAME_KEY = /^(?:args|arguments|parameters|params|input|file)$/;

/** Arguments with text of a file. A line feed after a path or a number is never part of it. */
const TEXT_KEY = /content|text|body|code|string/i;

/** Converts a text value to the type in the tool's schema, or to the type that it looks like. */
export function typedValue(text: string, key: string, name: string, context: CallContext): unknown {
  // A line feed on only one side of a value with several lines is part of it. Otherwise both are layout.
  const data = /^\s*<!\[CDATA\[([^]*)\]\]>\s*$/.exec(text)?.[1];
  if (data !== undefined) text = data;
  const isPair = /^\r?\n/.test(text) || !TEXT_KEY.test(key) && !/\n[^]*\n/.test(text);
  const value = isPair ? text.replace(/^\r?\n/, "").replace(/\r?\n$/, "") : text;
  // If no tool of this name is offered, its types are read once its tool is known.
  if (context.tools && !context.tools.has(name)) return value;
  const { type } = propertiesOf(name, context)[key] ?? {};
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("string")) return value;
  const word = { True: true, False: false, None: null }[value.trim()];
  if (word !== undefined) return word;
  const parsed = jsonOrUndefined(value);
  return parsed === undefined ? parseLenientJson(value) ?? value : parsed;
}

/** Returns the schemas of the parameters of the tool `name`; empty if its schema is unknown. */
export function propertiesOf(
  name: string,
  { schemas }: CallContext,
): Record<string, { type?: unknown }> {
  const schema = schemas[name] as { properties?: Record<string, { type?: unknown }> } | undefined;
  return schema?.properties ?? {};
}
