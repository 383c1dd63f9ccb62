/** Arguments in formats that write values without their types. @module */

import { isObject, jsonOrUndefined } from "../text/json.ts";
import { looseJson } from "../text/loose_json.ts";
import type { CallContext } from "./format.ts";
import { parseLenientJson } from "./json_scanner.ts";

/** Arguments written as one JSON object, or as a JSON string of one; nothing for none. */
export function jsonArguments(body: string): Record<string, unknown> | undefined {
  // Some put the object into a code block.
  const text = body.trim().replace(/^(?:```\w*|json\b)\s*/, "").replace(/\s*```$/, "");
  if (text === "") return {};
  let value = parseLenientJson(text);
  if (value === undefined && text.startsWith('"')) {
    value = parseLenientJson(String(jsonOrUndefined(text)));
  }
  value ??= looseJson(text, 1);
  return isObject(value) ? value : undefined;
}

/**
 * Arguments written one by one: `open` matches the mark before a value, with its key in the group
 * `key`; `close` matches the mark behind it. `hasLayout` is false for a format whose template puts no
 * line feed around values. Undefined where there is anything else.
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
    // Another parameter that begins a line before `close` shows that this value lacks its own mark.
    const isUnended = next !== null && next.index < to &&
      isParameter(next.groups!.key!.trim(), key);
    const end = isUnended ? next!.index : to;
    args[key] = typedValue(body.slice(from, end), key, name, context);
    at = isUnended ? end : closed.end;
  }
}

/**
 * The place of the mark that ends a value: the first one behind which another value begins, or nothing follows;
 * one that the value holds is followed by more of its text, and one that is doubled by another.
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
  /\s*,?\s*([\w-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)')|[=:][ \t]*([^\s"'<{([][^\n]*)(?=\n|$))/y;

/** Arguments as `key="value"`, or, of the tool's own keys, as `key: value` on lines; undefined for anything else. */
export function pairArguments(
  text: string,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
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

/** Arguments within marks that leave no doubt of a call, in any of the ways that models fall back to. */
export function anyArguments(
  body: string,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
  if (/^\s*\{/.test(body)) return jsonArguments(body);
  if (!/^\s*</.test(body)) return pairArguments(body, name, context);
  return taggedArguments(body, PARAMETER, PARAMETER_END, name, context) ??
    elementArguments(body, name, context);
}

/** Arguments in tags of their names; undefined for anything else. */
export function elementArguments(
  body: string,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
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

/** Arguments that are text of a file; a line feed after a path or a number is never part of it. */
const TEXT_KEY = /content|text|body|code|string/i;

/** A value written as text, read as the type in the tool's schema, or else as the type it looks like. */
export function typedValue(
  text: string,
  key: string,
  name: string,
  context: CallContext,
): unknown {
  // A line feed on one side only of a value of several lines is part of it; else both are layout.
  const data = /^\s*<!\[CDATA\[([^]*)\]\]>\s*$/.exec(text)?.[1];
  if (data !== undefined) text = data;
  const isPair = /^\r?\n/.test(text) || !TEXT_KEY.test(key) && !/\n[^]*\n/.test(text);
  const value = isPair ? text.replace(/^\r?\n/, "").replace(/\r?\n$/, "") : text;
  // Of a tool that is not offered by this name, the types are read where its name is.
  if (context.tools && !context.tools.has(name)) return value;
  const { type } = propertiesOf(name, context)[key] ?? {};
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("string")) return value;
  const word = { True: true, False: false, None: null }[value.trim()];
  if (word !== undefined) return word;
  const parsed = jsonOrUndefined(value);
  return parsed === undefined ? parseLenientJson(value) ?? value : parsed;
}

/** The schemas of the parameters of the tool `name`; none where its schema is not known. */
export function propertiesOf(
  name: string,
  { schemas }: CallContext,
): Record<string, { type?: unknown }> {
  const schema = schemas[name] as { properties?: Record<string, { type?: unknown }> } | undefined;
  return schema?.properties ?? {};
}
