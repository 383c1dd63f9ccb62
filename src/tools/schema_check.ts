/** Checks a value against a JSON Schema (draft 2020-12) with the keywords in {@linkcode CHECKS}. @module */

import { attempt } from "../attempt.ts";
import { isObject, isSameJson, sortedJson } from "../text/json.ts";
import type { JsonSchema } from "../types/tool.ts";

/** Keywords without effect on a value. */
const SILENT =
  "$schema $id $anchor $comment $defs definitions title description default examples " +
  "deprecated readOnly writeOnly format contentEncoding contentMediaType";

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** The maximum depth of references and of values. Beyond it, the schema is considered endless. */
const MAX_SCHEMA_DEPTH = 200;

/** The state of a check: the whole schema, the place in the value, and the depth. */
interface SchemaPlace {
  root: JsonSchema;
  at: string;
  depth: number;
}

/** The error of a value, as the end of a sentence that starts with its place; undefined if it is valid. */
type KeywordCheck = (
  value: unknown,
  keyword: unknown,
  place: SchemaPlace,
  schema: JsonSchema,
) => Problem;
type Problem = string | undefined;

/** Returns the first error of `value` in one line; undefined if it is valid. Never throws. */
export function schemaObjection(schema: JsonSchema, value: unknown): string | undefined {
  return whyNot(value, schema, { root: schema, at: "", depth: 0 });
}

/** Returns the first part of a schema that cannot be checked, in words; undefined if all can. */
export function uncheckable(
  schema: unknown,
  root: unknown = schema,
  depth = 0,
): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return "a schema must be an object, true or false";
  if (depth > MAX_SCHEMA_DEPTH) return "it is nested too deep";
  for (const [keyword, given] of Object.entries(schema)) {
    if (!Object.hasOwn(CHECKS, keyword) && !SILENT.split(" ").includes(keyword)) {
      return `the keyword ${valueText(keyword)} cannot be checked`;
    }
    if (keyword === "$ref" && referredSchema(given, root) === undefined) {
      return `its reference ${valueText(given)} leads to nothing in the file`;
    }
    const type = keyword === "type" && [given].flat().find((one) => !TYPES.includes(`${one}`));
    if (type) return `its type ${valueText(type)} must be one of ${TYPES.join(", ")}`;
    if (keyword === "pattern" && regexOf(given) === undefined) {
      return `its pattern ${valueText(given)} is no regular expression`;
    }
    for (const inner of schemasIn(keyword, given)) {
      const problem = uncheckable(inner, root, depth + 1);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

const SCHEMAS_BY_NAME = ["properties", "$defs", "definitions"];
const SINGLE = ["items", "additionalProperties", "propertyNames"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];

function schemasIn(keyword: string, given: unknown): unknown[] {
  if (SCHEMAS_BY_NAME.includes(keyword)) return Object.values(isObject(given) ? given : {});
  if (SINGLE.includes(keyword)) return [given];
  return LISTS.includes(keyword) && Array.isArray(given) ? given : [];
}

function whyNot(value: unknown, schema: unknown, place: SchemaPlace): Problem {
  if (schema === false) return `${place.at || "the value"} must be left out`;
  if (!isObject(schema)) return undefined;
  if (place.depth > MAX_SCHEMA_DEPTH) return `${place.at || "the value"} is nested too deep`;
  for (const [keyword, given] of Object.entries(schema)) {
    const check = Object.hasOwn(CHECKS, keyword) ? CHECKS[keyword] : undefined;
    const problem = check?.(value, given, place, schema);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the error of a value by each of several schemas. */
const problemsOf = (value: unknown, schemas: readonly unknown[], place: SchemaPlace): Problem[] =>
  schemas.map((one) => whyNot(value, one, deeper(place)));

const deeper = (place: SchemaPlace, at = place.at): SchemaPlace => ({
  ...place,
  at,
  depth: place.depth + 1,
});
const inside = ({ at }: SchemaPlace, key: string): string => at === "" ? key : `${at}.${key}`;

const mismatch = (at: string, must: string, value: unknown): string =>
  `${at || "the value"} must ${must}: current value is ${valueText(value)}`;

function must<T>(
  isKind: (value: unknown) => value is T,
  isRight: (value: T, limit: number) => boolean,
  words: (limit: number) => string,
): KeywordCheck {
  return (value, limit, { at }) =>
    !isKind(value) || typeof limit !== "number" || isRight(value, limit)
      ? undefined
      : mismatch(at, words(limit), value);
}

const isNumeric = (value: unknown): value is number => typeof value === "number";
const isTextual = (value: unknown): value is string => typeof value === "string";
const isArray = (value: unknown): value is unknown[] => Array.isArray(value);
const chars = (text: string): number => [...text].length;

/** Checks the items of a list or the values of an object one by one. */
function each(entries: Iterable<readonly [unknown, unknown, string]>, place: SchemaPlace): Problem {
  for (const [value, schema, at] of entries) {
    const problem = whyNot(value, schema, deeper(place, at));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const CHECKS: Readonly<Record<string, KeywordCheck>> = {
  $ref: (value, given, place) => whyNot(value, referredSchema(given, place.root), deeper(place)),
  type(value, given, { at }) {
    const types = [given].flat().map(String);
    if (types.some((type) => isType(value, type))) return;
    const names = types.map((type) =>
      type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`
    );
    return mismatch(at, `be ${names.join(" or ")}`, value);
  },
  enum(value, given, { at }) {
    if (!isArray(given) || given.some((one) => isSameJson(one, value))) return undefined;
    return mismatch(at, `be one of ${given.map(jsonOf).join(", ")}`, value);
  },
  const(value, given, { at }) {
    return isSameJson(given, value) ? undefined : mismatch(at, `be ${jsonOf(given)}`, value);
  },
  minimum: must(isNumeric, (value, limit) => value >= limit, (limit) => `be at least ${limit}`),
  maximum: must(isNumeric, (value, limit) => value <= limit, (limit) => `be at most ${limit}`),
  exclusiveMinimum: must(isNumeric, (value, limit) => value > limit, (n) => `be more than ${n}`),
  exclusiveMaximum: must(isNumeric, (value, limit) => value < limit, (n) => `be less than ${n}`),
  multipleOf: must(isNumeric, isMultiple, (limit) => `be a multiple of ${limit}`),
  minLength: must(isTextual, (text, n) => chars(text) >= n, (n) => `have at least ${n} characters`),
  maxLength: must(isTextual, (text, n) => chars(text) <= n, (n) => `have at most ${n} characters`),
  minItems: must(isArray, (list, n) => list.length >= n, (n) => `have at least ${n} items`),
  maxItems: must(isArray, (list, n) => list.length <= n, (n) => `have at most ${n} items`),
  pattern(value, given, { at }) {
    if (!isTextual(value) || regexOf(given)?.test(value) !== false) return undefined;
    return mismatch(at, `match the pattern ${given}`, value);
  },
  uniqueItems(value, given, { at }) {
    if (given !== true || !isArray(value)) return undefined;
    const all = new Set(value.map((one) => sortedJson(one)));
    return all.size === value.length ? undefined : `${at || "the value"} must not repeat an item`;
  },
  prefixItems(value, given, place) {
    if (!isArray(value) || !isArray(given)) return undefined;
    const first = value.slice(0, given.length);
    return each(first.map((one, i) => [one, given[i], `${place.at}[${i}]`] as const), place);
  },
  items(value, given, place, { prefixItems }) {
    if (!isArray(value)) return undefined;
    const from = isArray(prefixItems) ? prefixItems.length : 0;
    const rest = value.slice(from);
    return each(rest.map((one, i) => [one, given, `${place.at}[${i + from}]`] as const), place);
  },
  required(value, given, place) {
    if (!isObject(value) || !isArray(given)) return undefined;
    const missing = given.map(String).find((key) => !Object.hasOwn(value, key));
    return missing === undefined ? undefined : `${inside(place, missing)} is missing`;
  },
  properties(value, given, place) {
    if (!isObject(value) || !isObject(given)) return undefined;
    const known = Object.keys(given).filter((key) => Object.hasOwn(value, key));
    return each(known.map((key) => [value[key], given[key], inside(place, key)]), place);
  },
  additionalProperties(value, given, place, { properties }) {
    if (!isObject(value)) return undefined;
    const others = Object.keys(value).filter((key) =>
      !(isObject(properties) && Object.hasOwn(properties, key))
    );
    return each(others.map((key) => [value[key], given, inside(place, key)] as const), place);
  },
  propertyNames(value, given, place) {
    if (!isObject(value)) return undefined;
    return each(
      Object.keys(value).map((key) => [key, given, `the key ${valueText(key)}`] as const),
      place,
    );
  },
  allOf: (value, given, place) =>
    isArray(given) ? each(given.map((one) => [value, one, place.at] as const), place) : undefined,
  anyOf(value, given, place) {
    if (!isArray(given) || given.length === 0) return undefined;
    const problems = problemsOf(value, given, place);
    if (problems.includes(undefined)) return undefined;
    return [...new Set(problems)].slice(0, 4).join(", or ");
  },
  oneOf(value, given, place, schema) {
    if (!isArray(given)) return undefined;
    const found = problemsOf(value, given, place).filter((one) => one === undefined).length;
    if (found === 0) return CHECKS.anyOf!(value, given, place, schema);
    return found === 1
      ? undefined
      : `${place.at || "the value"} must fit one form: it fits ${found}`;
  },
};

/** Returns the schema at `#/$defs/name` in `root`; undefined for any other reference. */
export function referredSchema(ref: unknown, root: unknown): unknown {
  if (!isTextual(ref) || !/^#(\/|$)/.test(ref)) return undefined;
  let at: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const key = attempt(() => decodeURIComponent(step))?.replaceAll("~1", "/").replaceAll(
      "~0",
      "~",
    );
    if (key === undefined) return undefined;
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function regexOf(pattern: unknown): RegExp | undefined {
  return attempt(() => new RegExp(String(pattern), "u"));
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 200 ? valueText(value) : json;
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

export function isType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return Number.isFinite(value);
  return (typeof value as string) === type;
}

/** Returns a value as text for an error line: short texts and numbers in full, others by size. */
export function valueText(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  }
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  return isObject(value) ? "an object" : String(value);
}
