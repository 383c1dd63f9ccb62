/** Reading JSON that a server sent, whose shape nobody vouches for. @module */

import { BackendError } from "../errors.ts";
import { isObject } from "../text/json.ts";

/** A JSON object of unknown content. */
export type Fields = Record<string, unknown>;

/**
 * `value`, which must be an object.
 *
 * @throws {BackendError} of kind `protocol`, naming `what`.
 */
export function fieldsOf(value: unknown, what: string): Fields {
  if (isObject(value)) return value;
  throw shapeError(what, "an object", value);
}

/**
 * `value`, which must be a string; empty where there is none.
 *
 * @throws {BackendError} of kind `protocol`, naming `what`.
 */
export function stringOf(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw shapeError(what, "a string", value);
}

/**
 * `value`, which must be an array; empty where there is none.
 *
 * @throws {BackendError} of kind `protocol`, naming `what`.
 */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw shapeError(what, "an array", value);
}

/** A number of tokens; 0 where the server counts none. */
export function countOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < Infinity ? value : 0;
}

/** The error for an answer that ends before its protocol says so. */
export function brokeOff(): BackendError {
  const message = "The model server's answer broke off before its end";
  return new BackendError(message, { kind: "incomplete", retryable: true });
}

/** The error for an answer in which `what` is not what the protocol says. */
export function shapeError(what: string, wanted: string, value: unknown): BackendError {
  const is = value === undefined
    ? "missing"
    : value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : `of type ${typeof value}`;
  return new BackendError(
    `Cannot read the model server's answer as its ${what} must be ${wanted}: it is ${is}`,
    { kind: "protocol" },
  );
}
