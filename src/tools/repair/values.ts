/** Argument values of another type than the tool's, if they can mean only one value. @module */

import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { shellWord } from "../../text/shell_word.ts";
import type { JsonSchema } from "../../types/tool.ts";
import type { ToolArgs } from "../schema.ts";
import { SlipError } from "./slip_error.ts";

/** A converted value; undefined drops the argument. An empty `repair` reports nothing. */
interface FittedValue {
  value: unknown;
  repair: string;
}

const NO_VALUE = /^\s*(?:null|none|undefined|nil|n\/a)?\s*$/i;

/** Converts `value` for the argument `key`; undefined if it needs no conversion. */
export function valueAsMeant(
  tool: string,
  key: string,
  value: unknown,
  schema: JsonSchema,
  isRequired: boolean,
  args: ToolArgs,
): FittedValue | undefined {
  if (!isRequired && isNothing(value, schema, key)) return { value: undefined, repair: "" };
  if (schema.type === "boolean" && (value === 0 || value === 1)) {
    return { value: value === 1, repair: `${key} ${value} as ${value === 1}` };
  }
  if (schema.type === "string") return textFor(tool, key, value, args);
  // Elsewhere, 0 and -1 mean all, or from the start.
  const isBelow = Number(schema.minimum) > 0 && [0, -1, "0", "-1"].includes(value as number);
  if (!isRequired && isBelow) {
    return { value: undefined, repair: `${key} ${value} as none given` };
  }
  return undefined;
}

function isNothing(value: unknown, { type, enum: options }: JsonSchema, key: string): boolean {
  if (value === null) return true;
  const isChoice = Array.isArray(options) && !options.includes(value);
  if (isChoice && value === false) return true;
  if (typeof value !== "string" || !NO_VALUE.test(value)) return false;
  return type !== "string" || isChoice || key === "path" && value.trim() === "";
}

function textFor(
  tool: string,
  key: string,
  value: unknown,
  args: ToolArgs,
): FittedValue | undefined {
  if (key === "content" && typeof value === "object" && value !== null) {
    return contentFor(value, args);
  }
  if (/path$/.test(key) && isObject(value)) {
    const [one, ...others] = Object.values(value);
    if (others.length > 0 || typeof one !== "string") return undefined;
    return { value: one, repair: `the object of ${key} as the path in it` };
  }
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) return undefined;
  if (key === "command") {
    return { value: commandOf(value), repair: "the list of words as a command" };
  }
  if (/^(old|new)_string$/.test(key)) {
    return { value: joined(value), repair: `the lines of ${key} as a text` };
  }
  if (value.length === 1) return { value: value[0], repair: `the list of one ${key} as it` };
  const [first, second] = value.map((one) => JSON.stringify({ [key]: one }));
  throw new SlipError(
    `Cannot run ${tool} as ${key} must be one: call it once for each, ${tool} ${first}, ${tool} ${second} ...`,
  );
}

const joined = (lines: readonly string[]): string =>
  lines.join(lines.slice(0, -1).every((line) => line.endsWith("\n")) ? "" : "\n");

function contentFor(value: object, { file_path: path }: ToolArgs): FittedValue | undefined {
  const isJson = /\.(json|jsonc|json5|webmanifest|ipynb|geojson)$/i.test(String(path));
  const lines = Array.isArray(value) && value.length > 0 &&
    value.every((one) => typeof one === "string");
  if (lines && !(isJson && jsonOrUndefined(joined(value)) === undefined)) {
    const text = joined(value);
    return {
      value: text.endsWith("\n") ? text : `${text}\n`,
      repair: "the lines of content as a text",
    };
  }
  if (!isJson) return undefined;
  return {
    value: `${JSON.stringify(value, null, 2)}\n`,
    repair: "the value of content as its JSON",
  };
}

/** Returns the command of a list of words. A list of commands has more than one reading. */
function commandOf(list: readonly string[]): string {
  const [program = "", flag = "", line] = list;
  if (list.length === 1) return program;
  const isShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$/.test(program);
  if (isShell && /^-[a-z]*c$/.test(flag) && list.length === 3) return line!;
  const words = list.map(shellWord).join(" ");
  if (words === list.join(" ")) return words;
  // A command does not start with a flag.
  const asLines = list.some((word) => word.startsWith("-")) ? [] : [list.join("\n")];
  const readings = [words, ...asLines].map((command) => JSON.stringify({ command }));
  const lines = readings[1] === undefined ? "" : `. As lines: ${readings[1]}`;
  throw new SlipError(
    `Cannot run run_bash as command must be one string. As words: ${readings[0]}${lines}`,
  );
}
