import { attempt } from "../attempt.ts";

export function jsonOrUndefined(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

/** True for a JSON object, which excludes `null` and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const objectOr = (value: unknown): Record<string, unknown> => isObject(value) ? value : {};

/** Returns a value as JSON with sorted keys, so that equal values have equal text. */
export function sortedJson(value: unknown, indent = 0): string {
  const sorted = (_: string, part: unknown) => {
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1));
  };
  return JSON.stringify(value, sorted, indent) ?? "";
}

/** True for equal JSON values, with keys in any order; false for values nested too deeply to compare. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return attempt(() => sortedJson(a) === sortedJson(b)) ?? false;
}

export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => deeperThan(part, levels - 1));
}

// deno-lint-ignore no-control-regex
const JSON_STRING = /\s*"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iy;
const JSON_SCALAR = /\s*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;

/** Returns the place in a text up to which it is JSON: `line 3, column 5`. */
export function jsonErrorPlace(text: string): string {
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const takeList = (takeItem: () => boolean, end: RegExp): boolean => {
    if (take(end)) return true;
    do if (!takeItem()) return false; while (take(/\s*,/y));
    return take(end);
  };
  const takeEntry = () => take(JSON_STRING) && take(/\s*:/y) && takeValue();
  const takeValue = (): boolean => {
    if (take(/\s*\{/y)) return takeList(takeEntry, /\s*\}/y);
    if (take(/\s*\[/y)) return takeList(takeValue, /\s*\]/y);
    return take(JSON_STRING) || take(JSON_SCALAR);
  };
  attempt(takeValue); // Nesting may be too deep.
  take(/\s*/y);
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}
