/**
 * Checks a tool call's arguments against the tool's JSON Schema. Supports `type` (one or several), `enum`, `const`,
 * `minimum`, `maximum`, `minLength`, `maxLength`, `items`, `prefixItems`, `minItems`, `maxItems`, `properties`,
 * `required`, `default` and `additionalProperties`. Unlike in the standard, an unknown key at the top is an error
 * unless the schema allows it (`additionalProperties` other than `false`, or no `properties`): models misname
 * arguments, and a dropped argument is a wrong call. @module
 */

import { isObject, isSameJson, jsonOrUndefined } from "../text/json.ts";
import { nearest } from "../text/nearest.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";

/** The arguments of a call by name. */
export type ToolArgs = Record<string, unknown>;

/** The result of {@linkcode checkArguments}: complete arguments, or one line for the model. */
type CheckedArguments = { ok: true; args: ToolArgs } | { ok: false; error: string };

/** A valid value, or the required one in words. `at` is the place within the value. */
type Fit = { value: unknown } | { must: string; given: unknown; at: string };

/**
 * Checks `args` against `tool.parameters`, fills in defaults, and converts equivalent forms that small models write:
 * `"10"` for a number, `"true"` for a boolean, JSON text for an array or object, `null` for a missing argument, and
 * `path` for the only missing argument, `file_path`. A number never becomes a string. Never throws.
 */
export function checkArguments(tool: Tool, args: unknown): CheckedArguments {
  const schema = tool.parameters;
  if (!isObject(args)) {
    const problem = `the arguments must be a JSON object: current value is ${valueText(args)}`;
    return argumentFailure(tool, problem, {});
  }
  const properties = objectOf(schema.properties);
  const others = Object.keys(args).filter((key) =>
    isBarred(schema, key) || !Object.hasOwn(properties, key) && !allowsOthers(schema)
  );
  if (others.length > 0) return unknownKey(tool, others, args);
  const missing = requiredOf(schema).find((key) => isAbsent(args, key, properties[key]));
  if (missing !== undefined) {
    const given = Object.hasOwn(args, missing)
      ? `: current value is ${valueText(args[missing])}`
      : "";
    return argumentFailure(tool, `${missing} is required${given}`, args);
  }
  const fit = fitObject(schema, args, "");
  if ("value" in fit) return { ok: true, args: fit.value as ToolArgs };
  const problem = `${fit.at} must be ${fit.must}: current value is ${valueText(fit.given)}`;
  return argumentFailure(tool, problem, args);
}

/** True if every argument has a known name and a valid value. */
export function fitsAsItIs(tool: Tool, args: ToolArgs): boolean {
  const properties = objectOf(tool.parameters.properties);
  const isKnown = (key: string) =>
    !isBarred(tool.parameters, key) &&
    (Object.hasOwn(properties, key) || allowsOthers(tool.parameters));
  return Object.keys(args).every(isKnown) && checkArguments(tool, args).ok;
}

function unknownKey(tool: Tool, unknown: string[], args: ToolArgs): CheckedArguments {
  const key = unknown[0]!;
  const missing = requiredOf(tool.parameters).filter((name) => !Object.hasOwn(args, name));
  const only = missing.length === 1 ? missing[0] : undefined;
  const names = Object.keys(objectOf(tool.parameters.properties))
    .filter((name) => !isBarred(tool.parameters, name));
  // `path` for `file_path` is not a typo, so it is handled separately.
  const part = names.find((name) => key.length > 2 && (name.includes(key) || key.includes(name)));
  if (unknown.length === 1 && part !== undefined && only === part) {
    // There is only this reading.
    const { [key]: value, ...rest } = args;
    return checkArguments(tool, { ...rest, [part]: value });
  }
  const near = part ?? nearest(key, names) ?? only;
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
    if (property === false) continue;
    const schema = objectOf(property);
    const fit = isAbsent(args, key, schema) ? undefined : fitValue(schema, args[key], key);
    if (fit === undefined && !required.includes(key)) continue;
    const value = fit && "value" in fit ? fit.value : schema.default;
    shown.push(`${JSON.stringify(key)}: ${isShort(value) ? JSON.stringify(value) : shape(schema)}`);
  }
  const error = `Cannot run ${tool.name} as ${problem}. A correct call: {${shown.join(", ")}}`;
  return { ok: false, error };
}

function fitObject(schema: JsonSchema, given: ToolArgs, at: string): Fit {
  const properties = objectOf(schema.properties);
  const required = requiredOf(schema);
  const inside = (key: string): string => at === "" ? key : `${at}.${key}`;
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(given)) {
    const known = Object.hasOwn(properties, key);
    if (isBarred(schema, key) || !known && schema.additionalProperties === false) {
      return { must: `without the key ${valueText(key)}`, given, at };
    }
    const property = known ? properties[key] : schema.additionalProperties;
    if (known && !required.includes(key) && isAbsent(given, key, property)) continue;
    const fit = fitValue(objectOf(property), value, inside(key));
    if (!("value" in fit)) return fit;
    entries.push([key, fit.value]);
  }
  const missing = required.find((key) => !Object.hasOwn(given, key));
  if (missing !== undefined) return { must: `with the key ${valueText(missing)}`, given, at };
  for (const [key, property] of Object.entries(properties)) {
    if (!isAbsent(given, key, property)) continue;
    const value = objectOf(property).default;
    if (value !== undefined) entries.push([key, structuredClone(value)]);
  }
  // Not by assignment: a key named __proto__ would set the prototype.
  return { value: Object.fromEntries(entries) };
}

function fitValue(schema: JsonSchema, given: unknown, at: string): Fit {
  const types = typesOf(schema);
  const value = types.length === 0 || types.some((type) => isType(given, type))
    ? given
    : types.map((type) => converted(given, type)).find((value) => value !== undefined);
  const wrong = (must: string): Fit => ({ must, given, at });
  if (value === undefined) return wrong(phrase(schema));
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => isSameJson(option, value))) {
    return wrong(`one of ${schema.enum.map(optionText).join(", ")}`);
  }
  if (schema.const !== undefined && !isSameJson(schema.const, value)) {
    return wrong(optionText(schema.const));
  }
  if (typeof value === "number" && !inRange(value, schema.minimum, schema.maximum)) {
    return wrong(phrase(schema));
  }
  if (typeof value === "string") {
    // Half a character has no UTF-8 form: writing it would silently write a different one.
    if (!value.isWellFormed()) return wrong("well-formed Unicode");
    if (!isOfLength(value, schema.minLength, schema.maxLength)) {
      return wrong(`a string of ${range(schema.minLength, schema.maxLength)} characters`);
    }
  }
  if (Array.isArray(value)) return fitArray(schema, value, at);
  // Only as deep as the schema: JSON may be nested more deeply than the stack allows.
  const inner = schema.properties ?? schema.required ?? schema.additionalProperties;
  return isObject(value) && inner !== undefined ? fitObject(schema, value, at) : { value };
}

function fitArray(schema: JsonSchema, given: readonly unknown[], at: string): Fit {
  if (!inRange(given.length, schema.minItems, schema.maxItems)) {
    return { must: `an array of ${range(schema.minItems, schema.maxItems)} items`, given, at };
  }
  const first: readonly unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const { length } = first;
  if (schema.items === false && given.length > length) {
    const must = length === 0 ? "an empty array" : `an array of at most ${length} items`;
    return { must, given, at };
  }
  const values: unknown[] = [];
  for (const [index, item] of given.entries()) {
    const own = index < length ? first[index] : schema.items;
    const fit: Fit = isObject(own) ? fitValue(own, item, `${at}[${index}]`) : { value: item };
    if (!("value" in fit)) return fit;
    values.push(fit.value);
  }
  return { value: values };
}

/** Returns the value of another type that a text represents; undefined if there is none. */
function converted(given: unknown, type: string): unknown {
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

export function isType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "number") return Number.isFinite(value);
  return (typeof value as string) === type;
}

/** True for a missing value, or a `null` that the schema does not allow. */
function isAbsent(args: ToolArgs, key: string, schema: unknown): boolean {
  if (!Object.hasOwn(args, key) || args[key] === undefined) return true;
  if (args[key] !== null) return false;
  const types = typesOf(objectOf(schema));
  return types.length > 0 && !types.includes("null");
}

/** True if keys other than `properties` are allowed at the top. */
function allowsOthers(schema: JsonSchema): boolean {
  if (schema.additionalProperties !== undefined) return schema.additionalProperties !== false;
  const elsewhere = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"];
  return !isObject(schema.properties) || elsewhere.some((keyword) => keyword in schema);
}

const objectOf = (value: unknown): JsonSchema => isObject(value) ? value : {};
const stringsOf = (value: unknown): string[] =>
  [value].flat().filter((one) => typeof one === "string");
const typesOf = (schema: JsonSchema): string[] => stringsOf(schema.type);
const requiredOf = ({ required }: JsonSchema): string[] =>
  Array.isArray(required) ? stringsOf(required) : [];

function inRange(value: number, min: unknown, max: unknown): boolean {
  return !(typeof min === "number" && value < min) && !(typeof max === "number" && value > max);
}

function range(min: unknown, max: unknown): string {
  if (typeof max !== "number") return `at least ${min}`;
  return typeof min === "number" ? `${min} to ${max}` : `at most ${max}`;
}

/** True for a text of this length in code points, as in JSON Schema. */
function isOfLength(text: string, min: unknown, max: unknown): boolean {
  return (min ?? max) === undefined || inRange([...text].length, min, max);
}

/** True if `properties` has `false` for the key, which forbids it. */
const isBarred = (schema: JsonSchema, key: string): boolean => {
  const properties = objectOf(schema.properties);
  return Object.hasOwn(properties, key) && properties[key] === false;
};

/** Returns a value of a schema as JSON; for a long one, its size. */
function optionText(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 200 ? valueText(value) : json;
}

/** Returns the required value in words: `an integer of at least 1`. */
function phrase(schema: JsonSchema): string {
  const names = typesOf(schema).map((type) =>
    type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`
  );
  const { minimum, maximum } = schema;
  if (minimum === undefined && maximum === undefined) return names.join(" or ");
  const word = minimum !== undefined && maximum !== undefined ? "from" : "of";
  return `${names.join(" or ")} ${word} ${range(minimum, maximum)}`;
}

const SHAPES: Readonly<Record<string, string>> = {
  array: "[...]",
  object: "{...}",
  boolean: "true",
  null: "null",
};

/** Returns the placeholder for a missing value in an example call. */
function shape(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return valueText(schema.enum[0]);
  const [type = ""] = typesOf(schema);
  if (type === "number" || type === "integer") {
    return String(typeof schema.minimum === "number" ? schema.minimum : 1);
  }
  return SHAPES[type] ?? '"..."';
}

/** True for a value that is short enough to repeat in an example call. */
function isShort(value: unknown): boolean {
  return typeof value === "string"
    ? value.length <= 80
    : typeof value === "number" || typeof value === "boolean";
}

/** Returns a value as text for an error line: short texts and numbers in full, others by size. */
export function valueText(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  }
  if (Array.isArray(value)) return `an array of ${value.length} items`;
  return isObject(value) ? "an object" : String(value);
}
