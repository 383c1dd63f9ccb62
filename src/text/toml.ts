/** Reads a table of a TOML file. @module */

import { isObject, objectOr } from "./json.ts";
import { looseJson } from "./loose_json.ts";

/** The line of a heading; or a key and its value, which is a list of several lines or ends with its line. */
const TOML_ITEM =
  /^(?:[ \t]*(\[.*)|([\w. \t"'-]+)=[ \t]*(\[(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*\n|[^\]"'#])*\]|.+))/gm;
const TOML_KEY = /"([^"]*)"|'([^']*)'|([\w-]+)/g;
/** A string, a comment, or the sign between key and value of an inline table. */
const TOML_TOKEN = /"(?:\\.|[^"\\])*"|'([^'\n]*)'|#[^\n]*|=/g;
/** Returns the table `root` with its subtables. Dates, texts of several lines and lists of tables are omitted. */
export function tomlTable(text: string, root: string): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  let table: readonly string[] = [];
  const items = text.replace(/"""[^]*?"""|'''[^]*?'''/g, "").matchAll(TOML_ITEM);
  for (const [, heading, name, given] of items) {
    if (heading) table = tomlKeys(/^\[\s*([^[\]]+)\]/.exec(heading)?.[1] ?? "");
    if (name === undefined || table[0] !== root) continue;
    const keys = [...table, ...tomlKeys(name)];
    const key = keys.pop()!;
    let at = all;
    for (const one of keys) {
      if (!Object.hasOwn(at, one) || !isObject(at[one])) at[one] = {};
      at = at[one] as Record<string, unknown>;
    }
    at[key] = tomlValue(given!);
  }
  return objectOr(all[root]);
}

const tomlKeys = (name: string): string[] =>
  Array.from(name.matchAll(TOML_KEY), ([, double, single, bare]) => double ?? single ?? bare!);

const tomlValue = (text: string): unknown =>
  looseJson(text.replace(TOML_TOKEN, (token, literal: string | undefined) => {
    if (literal !== undefined) return JSON.stringify(literal);
    return token === "=" ? ":" : token.startsWith("#") ? "" : token;
  }));
