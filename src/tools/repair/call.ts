/** Repairs calls with a mistake in their name or arguments if there is only one reading. @module */

import { attempt } from "../../attempt.ts";
import { bareName } from "../../text/bare_name.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { parseLooseJson } from "../../text/loose_json.ts";
import { nearest } from "../../text/nearest.ts";
import { ALIASES, EDITOR_TOOLS, ELSEWHERE } from "../../text/tool_aliases.ts";
import type { ToolCall } from "../../types/message.ts";
import type { Tool } from "../../types/tool.ts";
import { checkArguments, requiredOf, type ToolArgs } from "../schema.ts";
import { fitArguments, type FittedArguments, schemasOf, unwrapped } from "./arguments.ts";
import { SlipError } from "./slip_error.ts";
import { slipsOf } from "../slips.ts";
import { ARGUMENT_WRAPPERS, CALL_NAME_KEYS } from "./tables.ts";

/** A repaired call, with a line for each repair; or, for the model, the reason why it has no single reading. */
type RepairedCall =
  | { name: string; arguments: ToolArgs; repairs: string[] }
  | { error: string };

type GivenCall = Pick<ToolCall, "name" | "arguments" | "invalid">;

/** The namespaces and format marks that models write around a tool's name. */
const AROUND_NAME =
  /^[\s"'`<]*(?:(?:functions?|default_api|tools?|filesystem|builtin|mcp__[a-z]+_)[.:/_]_?)?|(?<![\s"'`>,:])(?:\(\s*\)|:\d+|<[|｜/\w].*|[\s"'`>,:])*$/gis;
const ARGUMENT_IN_NAME =
  /<(?:arg_key|tool_call)>(\w+)<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>/g;
const MAX_ENCODED = 3;

/**
 * Repairs an invalid call. Each repair has only one reading; a call that has two, or no reading, is an error that shows
 * the correct forms.
 * @param folder the working directory
 */
export function repairCall(
  call: GivenCall,
  tools: readonly Tool[],
  folder: string,
): RepairedCall | undefined {
  // A truncated call may have continued in any way.
  if (call.invalid && !call.invalid.isMalformed) return undefined;
  const repairs: string[] = [];
  try {
    let args = call.invalid ? readText(call, tools, repairs) : call.arguments;
    const pairs = call.name.matchAll(ARGUMENT_IN_NAME).map(([, key, value]) => [key, value]);
    args = { ...Object.fromEntries(pairs), ...args };
    const inner = innerCall(call.name, args, tools);
    if (inner) {
      repairs.push(`the call within the arguments as the call`);
      args = inner.args;
    }
    const given = inner?.name ?? call.name;
    const caller = tools.find((tool) => tool.reaches?.(given));
    if (caller) {
      repairs.push(`${given} as ${caller.name}`);
      return { name: caller.name, arguments: { name: given, arguments: args }, repairs };
    }
    const candidates = toolsNamed(given, args, tools);
    if (candidates.length === 0) return { error: unknownTool(given, args, tools, folder) };
    return onlyReading(given, candidates, args, folder, repairs);
  } catch (error) {
    if (error instanceof SlipError) return { error: error.message };
    throw error;
  }
}

export function meantTool(name: string, tools: readonly Tool[]): Tool | undefined {
  const [tool, second] = toolsNamed(name, {}, tools);
  return second === undefined ? tool : undefined;
}

/** Parses arguments in a text that is not JSON. */
function readText(
  { name, invalid }: GivenCall,
  tools: readonly Tool[],
  repairs: string[],
): ToolArgs {
  let value: unknown = invalid!.text;
  for (let i = 0; i < MAX_ENCODED && typeof value === "string"; i++) {
    const text = value.trim();
    if (text === "" || /^(null|none|undefined)$/i.test(text)) value = {};
    else {
      const read = parseLooseJson(text);
      if ("problem" in read) {
        const meant = keywordArguments(text) ?? quotedArguments(text, tools) ??
          (i > 0 ? loneArgument(name, text, tools) : undefined);
        if (meant === undefined) throw unreadable(name, text, read.problem, tools);
        repairs.push(`${JSON.stringify(text)} as ${JSON.stringify(meant)}`);
        return meant;
      }
      if (read.slips.length > 0) {
        repairs.push(`the arguments as JSON despite ${read.slips.join(", ")}`);
      }
      value = read.value ?? {};
    }
  }
  if (Array.isArray(value) && value.length < 2) {
    repairs.push(value.length === 0 ? "[] as no arguments" : "a list of one object as the object");
    value = value[0] ?? {};
  }
  if (isObject(value)) return value;
  throw unreadable(name, invalid!.text, "it must be an object", tools);
}

const KEYWORD_ARGUMENT =
  /\s*(\w+)\s*=\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|(\d{1,9}|true|false))\s*(?:,|$|\n)/iy;

/** Parses `a="b", c=1`; returns undefined for anything else. */
function keywordArguments(text: string): ToolArgs | undefined {
  const args: ToolArgs = {};
  for (KEYWORD_ARGUMENT.lastIndex = 0; KEYWORD_ARGUMENT.lastIndex < text.length;) {
    const [, key, double, single, word] = KEYWORD_ARGUMENT.exec(text) ?? [];
    if (key === undefined || Object.hasOwn(args, key)) return undefined;
    args[key] = double ?? single ?? JSON.parse(word!.toLowerCase());
  }
  return args;
}

/** Parses an object of strings with unescaped quotes: a value ends before the next key of a tool, or the end. */
function quotedArguments(text: string, tools: readonly Tool[]): ToolArgs | undefined {
  const names = tools.flatMap(({ parameters: { properties } }) => Object.keys(properties ?? {}));
  const keys = [...new Set(["name", "arguments", ...names])].map(RegExp.escape).join("|");
  const begin = new RegExp(`"(${keys})"\\s*:\\s*"`, "g");
  const end = new RegExp(`"(?=\\s*(?:,\\s*"(?:${keys})"\\s*:|\\}\\s*(?:\\}\\s*)?$))`, "g");
  let json = "";
  let done = 0;
  const seen = new Set<string>();
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const from = begin.lastIndex;
    end.lastIndex = from;
    const to = end.exec(text)?.index;
    if (to === undefined || seen.has(match[1]!)) return undefined;
    seen.add(match[1]!);
    // With a bracket or a key within the value, there may be another reading.
    if (/"\s*[}\]:]|[{,]\s*"\w+"?\s*:/.test(text.slice(from, to))) return undefined;
    const value = text.slice(from, to).replace(
      /\\[^]|"|\n/g,
      (sign) => sign === '"' ? '\\"' : sign === "\n" ? "\\n" : sign,
    );
    json += text.slice(done, from) + value;
    done = begin.lastIndex = to;
  }
  const value = seen.size === 0 ? undefined : jsonOrUndefined(json + text.slice(done));
  return isObject(value) ? value : undefined;
}

/** Reads a whole JSON string as the only required argument of a read-only tool. */
function loneArgument(name: string, text: string, tools: readonly Tool[]): ToolArgs | undefined {
  const [tool] = toolsNamed(name, {}, tools);
  const [key, second] = tool?.access === "read" ? requiredOf(tool.parameters) : [];
  const isPlain = text.length < 500 && !/[\n{}[\]"']/.test(text);
  return key !== undefined && second === undefined && isPlain ? { [key]: text } : undefined;
}

function unreadable(
  name: string,
  text: string,
  problem: string,
  tools: readonly Tool[],
): SlipError {
  const [tool] = toolsNamed(name, {}, tools);
  const required = tool ? requiredOf(tool.parameters) : [];
  const isBare = required.length === 1 && text.length < 500 && !/^[\s{["'“`<]/.test(text);
  const right = isBare ? `. A correct call: ${JSON.stringify({ [required[0]!]: text })}` : "";
  const shown = text.length > 500 ? `${text.slice(0, 300)} ... ${text.slice(-150)}` : text;
  return new SlipError(
    `The call was not run: its arguments are not valid JSON: ${problem}${right}. You gave: ${shown}`,
  );
}

/** Returns the call in the arguments of a call: `{"name": "N", "arguments": {...}}`, or `{"N": {...}}`. */
function innerCall(
  name: string,
  args: ToolArgs,
  tools: readonly Tool[],
): { name: string; args: ToolArgs } | undefined {
  const keys = Object.keys(args);
  const wrapper = keys.find((key) =>
    ARGUMENT_WRAPPERS.includes(bareName(key)) && isWrapped(args[key])
  );
  const outer = toolsNamed(name, {}, tools);
  if (wrapper !== undefined) {
    const value = unwrapped(args[wrapper]);
    const nested = isObject(value) && "name" in value && keys.length === 1 ? value : undefined;
    if (nested && !outer.some((tool) => hasParameter(tool, "name"))) {
      const inside = innerCall(name, nested, tools);
      if (inside) return inside;
    }
    const key = keys.find((key) =>
      CALL_NAME_KEYS.includes(bareName(key)) && key !== wrapper &&
      typeof args[key] === "string" && args[key] !== "function"
    );
    if (key === undefined || outer.some((tool) => hasParameter(tool, key))) return undefined;
    const said = args[key] as string;
    const meant = toolsNamed(said, {}, tools);
    if (meant.length === 0) return undefined;
    if (outer.length > 0 && meant.every((tool) => !outer.includes(tool))) {
      throw new SlipError(
        `The call was not run: it is one of ${name}, and its arguments name ${said}. Call the one that you mean`,
      );
    }
    return { name: said, args: isObject(value) ? value : {} };
  }
  const [only] = keys;
  if (
    keys.length !== 1 || !isWrapped(args[only!]) || outer.some((tool) => hasParameter(tool, only!))
  ) {
    return undefined;
  }
  const same = tools.filter((tool) => bareName(tool.name) === bareName(only!));
  const isSame = same.length > 0 &&
    (outer.length === 0 || outer.some((tool) => same.includes(tool)));
  return isSame ? { name: only!, args: unwrapped(args[only!]) as ToolArgs } : undefined;
}

const hasParameter = (tool: Tool, key: string): boolean => Object.hasOwn(schemasOf(tool), key);

const isWrapped = (value: unknown): boolean => isObject(unwrapped(value));

/** Returns the offered tools of the name `name`, otherwise those of which it is another agent's name. */
function toolsNamed(name: string, args: ToolArgs, tools: readonly Tool[]): Tool[] {
  const exact = tools.filter((tool) => tool.name === name || tool.ruleName === name);
  if (exact.length > 0) return exact;
  const bare = bareName(name.replace(AROUND_NAME, ""));
  const same = tools.filter((tool) => bareName(tool.name) === bare);
  if (same.length > 0) return same;
  // An unknown namespace before a name of ours.
  const last = name.trim().split(/[.:/]/).at(-1)!;
  const spaced = tools.filter((tool) => tool.name === last);
  if (spaced.length > 0) return spaced;
  if (EDITOR_TOOLS.has(bare)) {
    return tools.filter((tool) => {
      const command = slipsOf(tool)?.editorCommand;
      return command !== undefined && command === args.command;
    });
  }
  return tools.filter((tool) => ALIASES[tool.name]?.includes(bare));
}

function onlyReading(
  name: string,
  candidates: readonly Tool[],
  args: ToolArgs,
  folder: string,
  repairs: readonly string[],
): RepairedCall {
  const fits: ({ tool: Tool } & FittedArguments)[] = [];
  const errors: string[] = [];
  for (const tool of candidates) {
    try {
      const fitted = fitArguments(tool, args, { name: bareName(name), folder });
      const checked = checkArguments(tool, fitted.args);
      if (checked.ok) fits.push({ tool, ...fitted });
      else errors.push(checked.error);
    } catch (error) {
      if (!(error instanceof SlipError)) throw error;
      errors.push(error.message);
    }
  }
  const fewest = Math.min(...fits.map(({ dropped }) => dropped));
  const best = fits.filter(({ tool, args, dropped }) =>
    dropped === fewest && slipsOf(tool)?.isLikely?.(args) !== false
  );
  const meant = best.length > 0 ? best : fits;
  const [first, second] = meant;
  const calls = meant.map(({ tool, args }) => `${tool.name} ${shownCall(args)}`);
  if (first && second) {
    return { error: `There is no tool "${name}". Call what you mean: ${calls.join(" or ")}` };
  }
  if (!first) {
    const [error] = errors;
    const isOther = candidates[0]!.name !== name;
    return {
      error: isOther ? `There is no tool "${name}", but ${candidates[0]!.name}. ${error}` : error!,
    };
  }
  const renamed = first.tool.name === name ? [] : [`${name || "no name"} as ${first.tool.name}`];
  return {
    name: first.tool.name,
    arguments: first.args,
    repairs: [...renamed, ...repairs, ...first.repairs],
  };
}

const shownCall = (args: ToolArgs): string => {
  const text = JSON.stringify(args);
  return text.length > 300 ? "{...}" : text;
};

function unknownTool(name: string, args: ToolArgs, tools: readonly Tool[], folder: string): string {
  const list = tools.map((tool) => tool.name);
  const bare = bareName(name.replace(AROUND_NAME, ""));
  const all = `The tools are: ${list.join(", ")}.`;
  const [other, how] = ELSEWHERE.get(bare) ?? [];
  if (other && list.includes(other)) return `There is no tool "${name}": ${other} ${how}. ${all}`;
  const nearName = nearest(name.replace(AROUND_NAME, ""), list);
  const near = tools.find((tool) => tool.name === nearName);
  if (!near) return `There is no tool "${name}". ${all}`;
  const fitted = attempt(() => fitArguments(near, args, { name: bare, folder }).args);
  const right = fitted ? ` A correct call: ${near.name} ${shownCall(fitted)}.` : "";
  return `There is no tool "${name}": do you mean ${near.name}?${right} ${all}`;
}
