import { BackendError } from "../errors.ts";
import { isObject } from "../text/json.ts";
import { throwErrorObject } from "../wire/failure.ts";

/** A JSON object with unknown content. */
export type Fields = Record<string, unknown>;

/** Returns `value` as an object. @throws {BackendError} of kind `protocol`, naming `what`. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (isObject(value)) return value;
  throw shapeError(what, "an object", value);
}

/** Like {@linkcode fieldsOf}, for a whole answer. @throws {BackendError} of an error object's own kind. */
export function answerFields(value: unknown): Fields {
  throwErrorObject(value);
  return fieldsOf(value, "answer");
}

/** Returns `value` as a string, if it is present. Throws like {@linkcode fieldsOf}. */
export function stringOf(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw shapeError(what, "a string", value);
}

/** Returns `value` as an array, if it is present. Throws like {@linkcode fieldsOf}. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw shapeError(what, "an array", value);
}

/** Returns a number of tokens; 0 if the server does not count them, or not exactly. */
export function countOf(value: unknown): number {
  return Number.isFinite(value) && Number(value) < 2 ** 53 ? Math.max(0, Number(value)) : 0;
}

/** The minimum tokens of a context that a model can work with. */
export const MIN_CONTEXT = 256;

export function wholeNumber(value: unknown, least = 1): number | undefined {
  return Number.isInteger(value) && Number(value) >= least ? Number(value) : undefined;
}

/** Returns the error for an answer in which `what` violates the protocol. */
export function shapeError(what: string, wanted: string, value: unknown): BackendError {
  const type = Array.isArray(value) ? "an array" : `of type ${typeof value}`;
  const is = value === undefined ? "missing" : value === null ? "null" : type;
  const message =
    `Cannot read the model server's answer as its ${what} must be ${wanted}: it is ${is}`;
  return new BackendError(message, { kind: "protocol" });
}
