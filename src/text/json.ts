import { attempt } from "../attempt.ts";

/** The value of JSON text; undefined for a text that is none. */
export function jsonOrUndefined(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

/** True for a JSON object: neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a value with more than `levels` objects or arrays within each other. */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => deeperThan(part, levels - 1));
}
