/** Reads a table of a TOML file. @module */

import { isObject, objectOr } from "./json.ts";
import { looseJson } from "./loose_json.ts";

const TOML_HEADING = /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/;
const TOML_PAIR = /^\s*([\w.\s"'-]+?)\s*=\s*(.+)$/;
const TOML_KEY = /"([^"]*)"|'([^']*)'|([\w-]+)/g;
/** A string, a comment, or the sign between key and value of an inline table. */
const TOML_TOKEN = /"(?:\\.|[^"\\])*"|'([^'\n]*)'|#[^\n]*|=/g;
const MAX_VALUE_LINES = 200;

/** Returns the table `root` with its subtables. Dates, texts of several lines and lists of tables are omitted. */
export function tomlTable(text: string, root: string): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const lines = text.replace(/"""[^]*?"""|'''[^]*?'''/g, "").split(/\r?\n/);
  let table: readonly string[] = [];
  for (let i = 0; i < lines.length; i++) {
    if (/^\s*\[/.test(lines[i]!)) table = tomlKeys(TOML_HEADING.exec(lines[i]!)?.[1] ?? "");
    const [, name, first] = TOML_PAIR.exec(lines[i]!) ?? [];
    if (name === undefined || table[0] !== root) continue;
    let given = first!;
    let value = tomlValue(given);
    const last = Math.min(lines.length - 1, i + MAX_VALUE_LINES);
    while (value === undefined && /^[[{]/.test(given) && i < last) {
      value = tomlValue(given += `\n${lines[++i]}`);
    }
    const keys = [...table, ...tomlKeys(name)];
    const key = keys.pop()!;
    let at = all;
    for (const one of keys) {
      if (!Object.hasOwn(at, one) || !isObject(at[one])) at[one] = {};
      at = at[one] as Record<string, unknown>;
    }
    at[key] = value;
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
