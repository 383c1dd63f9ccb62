/**
 * The shared parts of the strict servers: the neutral script of a model's answers, and the types that describe a
 * wire format.
 */

import type { Usage } from "../../src/types/event.ts";

/** One answer of the scripted model, in no format's own terms. All parts are optional. */
export interface Step {
  reasoning?: string;
  text?: string;
  /**
   * `id`: generated if it is missing; `null` omits it. `arguments`: an object, or the raw text of the model,
   * which may be broken.
   */
  toolCalls?: { id?: string | null; name: string; arguments?: Record<string, unknown> | string }[];
  /** Default: `tool_calls` when there are calls, else `stop`. */
  finish?: "stop" | "length" | "tool_calls" | "refused";
  /** Default: 10 and 5 tokens. `cachedTokens` are among the `inputTokens`; `null` sends no usage. */
  usage?: Usage | null;
  /**
   * Ends the answer early, cleanly as far as HTTP can tell: amid the text, after the name of the last
   * call, amid its arguments, or after all content but before the end mark. Not streamed: half a body.
   */
  cut?: "text" | "name" | "arguments" | "finish";
  /** A failure. Status 200 is an error object after the step's text, inside the stream. */
  error?: { status: number; message: string; type?: string };
  /** Sends the content but never the end, until the client goes. */
  hang?: boolean;
  /** What is sent in place of the streamed pieces; throwing resets the connection. */
  garble?: (pieces: string[]) => Iterable<Bytes> | AsyncIterable<Bytes>;
}

/** A part of a body, text as UTF-8. */
export type Bytes = string | Uint8Array<ArrayBuffer>;

/** A piece of a streamed answer; `kind` says where a cut may fall. */
export interface Piece {
  kind: "start" | "reasoning" | "text" | "name" | "arguments" | "finish";
  bytes: string;
}

/** The part of a request that a format needs for its answer. */
export interface RenderContext {
  model: string;
  body: Json;
  /** A new number at each call, for ids. */
  next: () => number;
}

/** One wire format: what it refuses, and how it answers. */
export interface WireFormat {
  name: "compat" | "local" | "hosted";
  /** Throws {@linkcode Refused} for what the real API answers with 400 or 401. */
  check(body: Json, headers: Headers): void;
  /** Whether the request asks for a stream. */
  streams(body: Json): boolean;
  streamType: string;
  stream(step: Step, context: RenderContext): Piece[];
  whole(step: Step, context: RenderContext): string;
  /** An error's body; inside a stream, framed by `streamError`. */
  error(type: string | undefined, status: number, message: string): string;
  streamError(body: string): string;
}

export type Json = Record<string, unknown>;

/** The reason why a request was refused. */
export class Refused extends Error {
  constructor(message: string, readonly status = 400) {
    super(message);
  }
}

export function refuse(message: string): never {
  throw new Refused(message);
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` as an object with all of `required`, and no keys but those and `optional`. */
export function object(
  value: unknown,
  path: string,
  required: string[],
  optional: string[] = [],
): Json {
  if (!isObject(value)) refuse(`${path}: Input should be an object`);
  for (const key of required) {
    if (value[key] === undefined) refuse(`${path}.${key}: Field required`);
  }
  for (const key of Object.keys(value)) {
    if (!required.includes(key) && !optional.includes(key)) {
      refuse(`${path}.${key}: Extra inputs are not permitted`);
    }
  }
  return value;
}

export function list(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) refuse(`${path}: Input should be an array`);
  return value;
}

/** An array that must not be empty. */
export function array(value: unknown, path: string): unknown[] {
  if (list(value, path).length === 0) refuse(`${path}: [] is too short`);
  return value as unknown[];
}

export function text(value: unknown, path: string): string {
  if (typeof value !== "string") refuse(`${path}: Input should be a string`);
  return value;
}

export function nonBlank(value: unknown, path: string): string {
  if (text(value, path).trim() === "") refuse(`${path}: text must be non-empty and not blank`);
  return value as string;
}

export function oneOf(value: unknown, path: string, allowed: unknown[]): void {
  if (!allowed.includes(value)) refuse(`${path}: ${JSON.stringify(value)} is not allowed here`);
}

export function number(value: unknown, path: string, min: number, max = Infinity): void {
  if (typeof value !== "number" || value < min || value > max) {
    refuse(`${path}: Input should be a number from ${min} to ${max}`);
  }
}

/** Refuses a string anywhere in `value` that is not well-formed Unicode. */
export function wellFormed(value: unknown, path = "body"): void {
  if (typeof value === "string" && !value.isWellFormed()) {
    refuse(`${path}: The request body is not valid JSON: no low surrogate in string`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    wellFormed(key, path);
    wellFormed(child, `${path}.${key}`);
  }
}

/** An OpenAI-style tool, as the compat and the native local format take it. */
export function functionTool(tool: unknown, path: string): string {
  const { type, function: fn } = object(tool, path, ["type", "function"]);
  oneOf(type, `${path}.type`, ["function"]);
  const optional = ["description", "parameters", "strict"];
  const { name, description, parameters } = object(fn, `${path}.function`, ["name"], optional);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(text(name, `${path}.function.name`))) {
    refuse(`${path}.function.name: does not match '^[a-zA-Z0-9_-]{1,64}$'`);
  }
  if (description !== undefined) text(description, `${path}.function.description`);
  if (parameters !== undefined && !isObject(parameters)) {
    refuse(`${path}.function.parameters: Input should be an object`);
  }
  return name as string;
}

export function unique(names: string[], what: string): void {
  if (new Set(names).size < names.length) refuse(`${what} must be unique`);
}

/** `text` in pieces of a few characters, code points whole: as many deltas as a real server sends. */
export function deltas(text: string): string[] {
  return text.match(/.{1,6}/gsu) ?? [];
}

/** The text that the model wrote as a call's arguments. */
export function argumentsText(call: NonNullable<Step["toolCalls"]>[number]): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
}

export function finishOf(step: Step): NonNullable<Step["finish"]> {
  return step.finish ?? (step.toolCalls?.length ? "tool_calls" : "stop");
}

export function usageOf(step: Step): Usage | null {
  return step.usage === undefined ? { inputTokens: 10, outputTokens: 5 } : step.usage;
}
