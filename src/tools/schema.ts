/**
 * Checks a tool call's arguments against the tool's JSON Schema. Unlike in the standard, an unknown key at the top is
 * an error unless the schema allows it (`additionalProperties` other than `false`, or no `properties`): models misname
 * arguments, and a dropped argument is a wrong call. @module
 */

import { deeperThan, isObject, jsonOrUndefined } from "../text/json.ts";
import { nearest } from "../text/nearest.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";
import { isType, referredSchema, schemaObjection, valueText } from "./schema_check.ts";

/** Deeper arguments are refused: they would exhaust the stack. */
const MAX_CHECKED_DEPTH = 200;
/** A reference in a reference in ... may lead to itself. */
const MAX_REFERENCES = 4;

export type ToolArgs = Record<string, unknown>;

/** The result of {@linkcode checkArguments}: complete arguments, or one line for the model. */
type CheckedArguments = { ok: true; args: ToolArgs } | { ok: false; error: string };

/**
 * Checks `args` against `tool.parameters`, fills in defaults, and converts equivalent forms that small models write:
 * `"10"` for a number, `"true"` for a boolean, JSON text for an array or object, and `null` for a missing argument. A
 * number never becomes a string. Never throws.
 */
export function checkArguments(tool: Tool, args: unknown): CheckedArguments {
  const schema = tool.parameters;
  if (!isObject(args)) {
    const problem = `the arguments must be a JSON object: current value is ${valueText(args)}`;
    return argumentFailure(tool, problem, {});
  }
  const properties = objectOf(schema.properties);
  if (deeperThan(args, MAX_CHECKED_DEPTH)) {
    return argumentFailure(tool, "the arguments are nested too deep", {});
  }
  const other = Object.keys(args).find((key) => !isKnown(schema, key));
  if (other !== undefined) return unknownKey(tool, other, args);
  const missing = requiredOf(schema).find((key) =>
    isAbsent(args, key, schemaIn(properties[key], schema))
  );
  if (missing !== undefined) {
    const given = Object.hasOwn(args, missing)
      ? `: current value is ${valueText(args[missing])}`
      : "";
    return argumentFailure(tool, `${missing} is required${given}`, args);
  }
  const value = convertedObject(schema, args, schema);
  const problem = schemaObjection(schema, value) ?? illFormedIn(value, "");
  return problem === undefined ? { ok: true, args: value } : argumentFailure(tool, problem, args);
}

export function fitsAsItIs(tool: Tool, args: ToolArgs): boolean {
  return Object.keys(args).every((key) => isKnown(tool.parameters, key)) &&
    checkArguments(tool, args).ok;
}

const isKnown = (schema: JsonSchema, key: string): boolean =>
  Object.hasOwn(objectOf(schema.properties), key) || allowsOthers(schema);

function unknownKey(tool: Tool, key: string, args: ToolArgs): CheckedArguments {
  const missing = requiredOf(tool.parameters).filter((name) => !Object.hasOwn(args, name));
  const names = Object.keys(objectOf(tool.parameters.properties));
  // `path` for `file_path` is not a typo.
  const part = names.find((name) => key.length > 2 && (name.includes(key) || key.includes(name)));
  const near = part ?? nearest(key, names) ?? (missing.length === 1 ? missing[0] : undefined);
  const renamed = near !== undefined && !Object.hasOwn(args, near);
  const hint = renamed ? `: use ${near}` : `, only ${names.join(", ") || "none"}`;
  const problem = `it has no argument ${valueText(key)}${hint}`;
  return argumentFailure(tool, problem, renamed ? { ...args, [near]: args[key] } : args);
}

/** Returns one line: the error, and an example call with the valid arguments and the form of the others. */
function argumentFailure(tool: Tool, problem: string, args: ToolArgs): CheckedArguments {
  const required = requiredOf(tool.parameters);
  const shown: string[] = [];
  for (const [key, property] of Object.entries(objectOf(tool.parameters.properties))) {
    const schema = schemaIn(property, tool.parameters);
    const isMissing = isAbsent(args, key, schema);
    if (isMissing && !required.includes(key)) continue;
    const given = isMissing ? undefined : converted(schema, args[key], tool.parameters);
    const fits = !isMissing && schemaObjection(schema, given) === undefined;
    const value = fits ? given : schema.default;
    shown.push(`${JSON.stringify(key)}: ${isShort(value) ? JSON.stringify(value) : shape(schema)}`);
  }
  const error = `Cannot run ${tool.name} as ${problem}. A correct call: {${shown.join(", ")}}`;
  return { ok: false, error };
}

/** Returns an object with its values converted, without absent ones, and with defaults. */
function convertedObject(schema: JsonSchema, given: ToolArgs, root: JsonSchema): ToolArgs {
  const properties = objectOf(schema.properties);
  const required = requiredOf(schema);
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(given)) {
    const known = Object.hasOwn(properties, key);
    const property = schemaIn(known ? properties[key] : schema.additionalProperties, root);
    if (known && !required.includes(key) && isAbsent(given, key, property)) continue;
    entries.push([key, converted(property, value, root)]);
  }
  for (const [key, part] of Object.entries(properties)) {
    const property = schemaIn(part, root);
    const value = property.default;
    // FastMCP writes null for a missing argument of any type.
    if (value !== undefined && value !== null && isAbsent(given, key, property)) {
      entries.push([key, structuredClone(value)]);
    }
  }
  // Not by assignment: a key named __proto__ would set the prototype.
  return Object.fromEntries(entries);
}

/** Returns a value converted to the type of its schema if it has an equivalent there; otherwise unchanged. */
function converted(schema: JsonSchema, given: unknown, root: JsonSchema): unknown {
  const types = typesOf(schema);
  const value = types.some((type) => isType(given, type))
    ? given
    : types.map((type) => asType(given, type)).find((one) => one !== undefined) ?? given;
  if (isObject(value)) return convertedObject(schema, value, root);
  if (!Array.isArray(value)) return value;
  const first: unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const itemSchema = (i: number) => schemaIn(i in first ? first[i] : schema.items, root);
  return value.map((item, i) => converted(itemSchema(i), item, root));
}

/** Returns the objection to a text with half of a character: writing it would silently write a different one. */
function illFormedIn(value: unknown, at: string): string | undefined {
  if (typeof value === "string") {
    return value.isWellFormed() ? undefined : `${at} must be well-formed Unicode`;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const problem = illFormedIn(part, at === "" ? key : `${at}.${key}`);
    if (problem !== undefined) return problem;
  }
}

function asType(given: unknown, type: string): unknown {
  if (typeof given !== "string") return undefined;
  const text = given.trim();
  let value: unknown;
  if (type === "boolean" && /^(true|false)$/i.test(text)) value = text.toLowerCase() === "true";
  else if (type === "number" || type === "integer") {
    value = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
  } else if (type === "array" ? text.startsWith("[") : type === "object" && text.startsWith("{")) {
    value = jsonOrUndefined(text);
  }
  return isType(value, type) ? value : undefined;
}

function isAbsent(args: ToolArgs, key: string, schema: JsonSchema): boolean {
  if (!Object.hasOwn(args, key) || args[key] === undefined) return true;
  if (args[key] !== null) return false;
  const types = typesOf(schema);
  return types.length > 0 && !types.includes("null");
}

/** True if keys other than `properties` are allowed at the top. */
function allowsOthers(schema: JsonSchema): boolean {
  if (schema.additionalProperties !== undefined) return schema.additionalProperties !== false;
  const elsewhere = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"];
  return !isObject(schema.properties) || elsewhere.some((keyword) => keyword in schema);
}

const objectOf = (value: unknown): JsonSchema => isObject(value) ? value : {};
/**
 * Returns a schema of `root` with what `$ref`, a single `allOf` and alternatives name at its top. An alternative beside
 * null, as in `Optional[...]`, is that schema, or null.
 */
export function schemaIn(part: unknown, root: JsonSchema, depth = 0): JsonSchema {
  const schema = objectOf(part);
  if (depth > MAX_REFERENCES) return schema;
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const named = (value: unknown) => schemaIn(value, root, depth + 1);
  if ($ref !== undefined) return { ...named(referredSchema($ref, root)), ...own };
  if (Array.isArray(allOf) && allOf.length === 1) return { ...named(allOf[0]), ...own };
  const alternatives = anyOf ?? oneOf;
  if (!Array.isArray(alternatives)) return schema;
  const all = alternatives.map(named);
  const [only, second] = all.filter(({ type }) => type !== "null");
  if (only?.type === undefined || second || all.length === 1) return { ...schema, anyOf: all };
  return { ...only, ...own, type: [...stringsOf(only.type), "null"] };
}
const stringsOf = (value: unknown): string[] =>
  [value].flat().filter((one) => typeof one === "string");
/** Returns the types that a schema allows, also those of its alternatives; empty for any. */
const typesOf = ({ type, anyOf, oneOf }: JsonSchema): string[] =>
  type === undefined
    ? [anyOf ?? oneOf ?? []].flat().flatMap((one) => stringsOf(objectOf(one).type))
    : stringsOf(type);
export const requiredOf = ({ required }: JsonSchema): string[] =>
  Array.isArray(required) ? stringsOf(required) : [];

const SHAPES: Readonly<Record<string, string>> = {
  array: "[...]",
  object: "{...}",
  boolean: "true",
  null: "null",
};

function shape(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return valueText(schema.enum[0]);
  const [type = ""] = typesOf(schema);
  if (type === "number" || type === "integer") {
    return String(typeof schema.minimum === "number" ? schema.minimum : 1);
  }
  return SHAPES[type] ?? '"..."';
}

function isShort(value: unknown): boolean {
  return typeof value === "string"
    ? value.length <= 80
    : typeof value === "number" || typeof value === "boolean";
}
