/** Arguments of a call, by the names and in the types of the tool. @module */

import { bareName } from "../../text/bare_name.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import type { JsonSchema, Tool } from "../../types/tool.ts";
import { checkArguments, requiredOf, type ToolArgs } from "../schema.ts";
import { valueText } from "../schema_check.ts";
import { SlipError } from "./slip_error.ts";
import { type GivenName, rename, RestArgs, slipsOf } from "../slips.ts";
import { ARGUMENT_WRAPPERS, IDLE, IDLE_VALUES } from "./tables.ts";
import { valueAsMeant } from "./values.ts";

export interface FittedArguments {
  args: ToolArgs;
  repairs: string[];
  /** The number of dropped arguments that may have a meaning elsewhere. */
  dropped: number;
}

/**
 * Returns the arguments of a call of `tool`, repaired if there is only one reading. Those that remain invalid are
 * unchanged.
 * @throws {SlipError} if there are two readings, or if dropping an argument would change the call.
 */
export function fitArguments(tool: Tool, given: ToolArgs, call: GivenName): FittedArguments {
  const repairs: string[] = [];
  const properties = schemasOf(tool);
  const slips = slipsOf(tool) ?? { synonyms: {} };
  const source = unwrap(tool, given, repairs);
  const args: ToolArgs = {};
  const rest = new RestArgs({});
  for (const [key, value] of Object.entries(source)) {
    (Object.hasOwn(properties, key) ? args : rest.given)[key] = value;
  }
  for (const reading of slips.readings ?? []) {
    const repair = reading(args, rest, call);
    if (repair) repairs.push(repair);
  }
  rename(Object.keys(properties), slips.synonyms, args, rest, repairs);
  for (const [key, value] of Object.entries(args)) {
    const fitted = valueAsMeant(
      tool.name,
      key,
      value,
      properties[key]!,
      requiredOf(tool.parameters).includes(key),
      args,
    );
    if (!fitted) continue;
    if (fitted.value === undefined) delete args[key];
    else args[key] = fitted.value;
    if (fitted.repair !== "") repairs.push(fitted.repair);
  }
  const dropped = dropOthers(tool, args, rest, repairs);
  return { args, repairs, dropped };
}

export function schemasOf({ parameters: { properties } }: Tool): Record<string, JsonSchema> {
  return isObject(properties) ? properties as Record<string, JsonSchema> : {};
}

/** Returns the value of a JSON object in a text. Other values stay, and invalid JSON is undefined. */
export const unwrapped = (value: unknown): unknown =>
  typeof value === "string" && value.trimStart().startsWith("{") ? jsonOrUndefined(value) : value;

/** Returns the object in a single well-known wrapper key, if no argument of the tool is beside it. */
function unwrap(tool: Tool, given: ToolArgs, repairs: string[]): ToolArgs {
  const properties = schemasOf(tool);
  let source = given;
  for (let depth = 0; depth < 3; depth++) {
    const keys = Object.keys(source);
    const others = keys.filter((key) => !IDLE.has(bareName(key)));
    const [key] = others;
    if (others.length !== 1 || Object.hasOwn(properties, key!)) return source;
    const isKnown = ARGUMENT_WRAPPERS.includes(bareName(key!)) ||
      bareName(key!) === bareName(tool.name);
    if (!isKnown) return source;
    const value = source[key!];
    const inner = unwrapped(value);
    if (!isObject(inner)) {
      // A text in a wrapper is the only required argument.
      const [only, second] = requiredOf(tool.parameters);
      const isPlain = typeof value === "string" && !/^\s*[{[]/.test(value);
      if (!isPlain || only === undefined || second !== undefined) return source;
      repairs.push(`${key} as ${only}`);
      return { [only]: value };
    }
    repairs.push(`what is in ${key} as the arguments`);
    source = inner;
  }
  return source;
}

/** Drops arguments without effect; for a read-only tool, all unknown ones. */
function dropOthers(tool: Tool, args: ToolArgs, rest: RestArgs, repairs: string[]): number {
  let dropped = 0;
  const synonyms = slipsOf(tool)?.synonyms;
  const { parameters: { additionalProperties: more = false } } = tool;
  for (const [key, value] of Object.entries(rest.given)) {
    const bare = bareName(key);
    const isIdle = value === null || value === "" || IDLE.has(bare) ||
      Object.hasOwn(IDLE_VALUES, bare) && IDLE_VALUES[bare]!.includes(value);
    const rival = Object.entries(synonyms ?? {}).find(([, known]) => known.includes(bare));
    if (!isIdle && rival && args[rival[0]] !== undefined) {
      throw new SlipError(
        `Cannot run ${tool.name} as ${rival[0]} (${valueText(args[rival[0]])}) and ${key} (${
          valueText(value)
        }) differ: give ${rival[0]} alone`,
      );
    }
    if (isIdle || tool.access === "read" && synonyms && !isObject(value)) {
      if (isIdle) continue;
      dropped++;
      repairs.push(`${key} as nothing: there is no such argument`);
    } else if (more === false) {
      const checked = checkArguments(tool, { ...args, ...rest.given });
      throw new SlipError(checked.ok ? `Cannot run ${tool.name}` : checked.error);
    } else args[key] = value;
  }
  return dropped;
}
