/**
 * Arguments as formats without types write them.
 *
 * @module
 */

import { isObject } from "../text/json.ts";
import type { CallContext } from "./format.ts";
import { parseJson } from "./json_scanner.ts";

/** Arguments written as one JSON object, or as a JSON string of one; nothing for none. */
export function jsonArguments(body: string): Record<string, unknown> | undefined {
  // Some put the object into a code block.
  const text = body.trim().replace(/^```\w*\s*/, "").replace(/\s*```$/, "");
  if (text === "") return {};
  let value = parseJson(text);
  if (value === undefined && text.startsWith('"')) {
    try {
      value = parseJson(String(JSON.parse(text)));
    } catch {
      return undefined;
    }
  }
  return isObject(value) ? value : undefined;
}

/**
 * Arguments written one by one: `open` matches what stands before a value, with its key in the group
 * `key`; `close` stands behind it. Undefined where there is anything else.
 */
export function taggedArguments(
  body: string,
  open: RegExp,
  close: string,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
  const args: Record<string, unknown> = {};
  const opening = new RegExp(open.source, "y");
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(body.slice(at, at + 256))![0].length;
    if (at >= body.length) return args;
    opening.lastIndex = at;
    const match = opening.exec(body);
    if (!match) return body.slice(at).trim() === "" ? args : undefined;
    const from = at + match[0].length;
    const to = body.indexOf(close, from);
    if (to < 0) return undefined;
    const key = match.groups!.key!.trim();
    args[key] = typedValue(body.slice(from, to), key, name, context);
    at = to + close.length;
  }
}

/** A value written as text, of the type that the tool's schema wants, or else that it looks like. */
export function typedValue(
  text: string,
  key: string,
  name: string,
  { schemas }: CallContext,
): unknown {
  const value = text.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
  const schema = (schemas[name] as { properties?: Record<string, { type?: unknown }> })?.properties;
  const { type } = schema?.[key] ?? {};
  const types = Array.isArray(type) ? type : [type];
  if (types.includes("string")) return value;
  const word = { True: true, False: false, None: null }[value.trim()];
  if (word !== undefined) return word;
  try {
    return JSON.parse(value);
  } catch {
    return parseJson(value) ?? value;
  }
}
