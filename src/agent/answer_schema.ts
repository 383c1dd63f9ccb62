/** Answers that must match a JSON schema: the instructions for the model, and reading its answer. @module */

import { codeBlocks } from "../text/fence.ts";
import { deeperThan, isObject, jsonOrUndefined } from "../text/json.ts";
import { reasonOf } from "../text/reason.ts";
import { schemaObjection, uncheckable } from "../tools/schema_check.ts";
import type { JsonSchema } from "../types/tool.ts";

/** Deeper answers are refused: they would exhaust the stack. */
const MAX_ANSWER_DEPTH = 100;

export function schemaNote(schema: JsonSchema): string {
  return "Use tools as you need them. Your final answer must be JSON alone, without any text around " +
    `it, that matches this JSON Schema: ${JSON.stringify(schema)}`;
}

export function schemaReminder(schema: JsonSchema, objection: string): string {
  return `[Your answer does not match: ${objection}. Give your final answer now, as JSON alone, ` +
    `that matches this JSON Schema: ${JSON.stringify(schema)}]`;
}

/** Returns the JSON of an answer as the model wrote it, or an objection in one line. */
export function readJsonAnswer(
  schema: JsonSchema,
  answer: string,
): { json: string } | { objection: string } {
  const whole = answer.trim();
  if (whole === "") return { objection: "it is empty" };
  let json = whole;
  if (jsonOrUndefined(json) === undefined) {
    const blocks = codeBlocks(answer);
    json = blocks.length === 1 ? blocks[0]!.text.trim() : "";
  }
  const value = jsonOrUndefined(json);
  if (value === undefined) return { objection: "it is not JSON" };
  if (deeperThan(value, MAX_ANSWER_DEPTH)) return { objection: "it is nested too deep" };
  const objection = schemaObjection(schema, value);
  return objection === undefined ? { json } : { objection };
}

/** The maximum size of a schema in bytes: it is part of the prompt. */
const MAX_SCHEMA_BYTES = 256 * 1024;

/** Returns the schema in a file, or in `given` itself if that starts with `{`, or what is wrong with it. */
export async function readSchema(
  given: string,
): Promise<{ schema: JsonSchema } | { problem: string }> {
  const isFile = !given.trimStart().startsWith("{");
  const read = isFile ? await schemaFile(given) : { text: given };
  if ("problem" in read) return read;
  const value = jsonOrUndefined(read.text.replace(/^\ufeff/, ""));
  if (value === undefined) return { problem: "it is not JSON" };
  if (!isObject(value)) return { problem: "a schema must be a JSON object" };
  const problem = uncheckable(value);
  return problem === undefined ? { schema: value } : { problem };
}

async function schemaFile(path: string): Promise<{ text: string } | { problem: string }> {
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) return { problem: "it is not a file" };
    if (size > MAX_SCHEMA_BYTES) return { problem: "it has more than 256 KB" };
    return { text: await Deno.readTextFile(path) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return { problem: reasonOf(error) };
    return { problem: "there is no such file (a schema as text starts with {)" };
  }
}
