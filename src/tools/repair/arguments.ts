/** Arguments of a call, by the names and in the types that the tool has. @module */

import { bareName } from "../../text/bare_name.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { bareNames } from "../../text/tool_aliases.ts";
import type { JsonSchema, Tool } from "../../types/tool.ts";
import { checkArguments, type ToolArgs } from "../schema.ts";
import { SlipError } from "./slip_error.ts";
import {
  ARGUMENT_SYNONYMS,
  ARGUMENT_WRAPPERS,
  IDLE,
  IDLE_OF_SEARCH,
  IDLE_VALUES,
} from "./tables.ts";
import { valueAsMeant } from "./values.ts";

/** What is known of a call: its name in bare form, and the working directory. */
interface Call {
  name: string;
  folder: string;
}

/** Arguments that were read, and a line for each repair. */
export interface FittedArguments {
  args: ToolArgs;
  repairs: string[];
  /** How many arguments were left out that may mean something elsewhere. */
  dropped: number;
}

type Conversion = (args: ToolArgs, rest: Rest, call: Call) => string | undefined;

/** The arguments that no parameter has the name of. */
class Rest {
  constructor(readonly given: ToolArgs) {}

  /** Takes the value of the first key that is one of `names` in bare form. */
  take(...names: string[]): unknown {
    const key = Object.keys(this.given).find((key) => names.includes(bareName(key)));
    if (key === undefined) return undefined;
    const value = this.given[key];
    delete this.given[key];
    return value ?? undefined;
  }
}

/**
 * The arguments of a call of `tool`, as far as they can be read in one way; those that still do not fit stay as they are.
 * @throws {SlipError} where there are two readings, or one would be left out that changes the call.
 */
export function fitArguments(tool: Tool, given: ToolArgs, call: Call): FittedArguments {
  const repairs: string[] = [];
  const properties = schemasOf(tool);
  const source = unwrap(tool, given, repairs);
  const args: ToolArgs = {};
  const rest = new Rest({});
  for (const [key, value] of Object.entries(source)) {
    (Object.hasOwn(properties, key) ? args : rest.given)[key] = value;
  }
  for (const convert of CONVERSIONS[tool.name] ?? []) {
    const repair = convert(args, rest, call);
    if (repair) repairs.push(repair);
  }
  rename(tool, args, rest, repairs);
  for (const [key, value] of Object.entries(args)) {
    const fitted = valueAsMeant(
      tool.name,
      key,
      value,
      properties[key]!,
      isRequired(tool, key),
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

function schemasOf({ parameters: { properties } }: Tool): Record<string, JsonSchema> {
  return isObject(properties) ? properties as Record<string, JsonSchema> : {};
}

const isRequired = ({ parameters: { required } }: Tool, key: string): boolean =>
  Array.isArray(required) && required.includes(key);

/** The object in the one key that is a well-known wrapper, beside which nothing of the tool's stands. */
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
    const value = source[key!];
    const inner = typeof value === "string" && value.trimStart().startsWith("{")
      ? jsonOrUndefined(value)
      : value;
    if (!isKnown || !isObject(inner)) {
      return isKnown ? alone(tool, key!, value, source, repairs) : source;
    }
    repairs.push(`what is in ${key} as the arguments`);
    source = inner;
  }
  return source;
}

/** A text in a wrapper, for the one argument that is required. */
function alone(
  tool: Tool,
  key: string,
  value: unknown,
  source: ToolArgs,
  repairs: string[],
): ToolArgs {
  const required = Object.keys(schemasOf(tool)).filter((name) => isRequired(tool, name));
  const isPlain = typeof value === "string" && required.length === 1 && !/^\s*[{[]/.test(value);
  if (!isPlain) return source;
  repairs.push(`${key} as ${required[0]}`);
  return { [required[0]!]: value };
}

/** Gives arguments the names that the tool has: their own in other spelling, then well-known synonyms. */
function rename(tool: Tool, args: ToolArgs, rest: Rest, repairs: string[]): void {
  const names = Object.keys(schemasOf(tool));
  const synonyms = ARGUMENT_SYNONYMS[tool.name] ?? {};
  const rows = [
    ...names.map((name) => [name, [bareName(name)]] as const),
    ...names.map((name) => [name, synonyms[name] ?? []] as const),
  ];
  for (const [name, known] of rows) {
    for (const key of Object.keys(rest.given)) {
      if (!known.includes(bareName(key))) continue;
      const value = rest.given[key];
      const isSame = JSON.stringify(args[name]) === JSON.stringify(value);
      // What stands under a synonym of an argument that is there may be another argument's.
      if (args[name] !== undefined && args[name] !== null && !isSame) continue;
      delete rest.given[key];
      if (isSame) continue;
      args[name] = value;
      repairs.push(`${key} as ${name}`);
    }
  }
}

/** Leaves out what changes nothing; of a tool that only reads, all that it does not know. */
function dropOthers(tool: Tool, args: ToolArgs, rest: Rest, repairs: string[]): number {
  let dropped = 0;
  const { parameters: { additionalProperties: more = false } } = tool;
  for (const [key, value] of Object.entries(rest.given)) {
    const bare = bareName(key);
    const isIdle = value === null || value === "" || IDLE.has(bare) ||
      Object.hasOwn(IDLE_VALUES, bare) && IDLE_VALUES[bare]!.includes(value);
    const rival = Object.entries(ARGUMENT_SYNONYMS[tool.name] ?? {}).find(([, known]) =>
      known.includes(bare)
    );
    if (!isIdle && rival && args[rival[0]] !== undefined) {
      throw new SlipError(
        `Cannot run ${tool.name} as ${rival[0]} (${shown(args[rival[0]])}) and ${key} (${
          shown(value)
        }) differ: give ${rival[0]} alone`,
      );
    }
    if (isIdle || tool.access === "read" && ARGUMENT_SYNONYMS[tool.name] && !isObject(value)) {
      if (isIdle) continue;
      dropped++;
      repairs.push(`${key} as nothing: there is no such argument`);
    } else if (more === false) refuse(tool, args, rest);
    else args[key] = value;
  }
  return dropped;
}

/** Throws the error of the arguments that are left over. */
function refuse(tool: Tool, args: ToolArgs, rest: Rest): never {
  const checked = checkArguments(tool, { ...args, ...rest.given });
  throw new SlipError(checked.ok ? `Cannot run ${tool.name}` : checked.error);
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

const isWhole = (value: unknown): value is number | string =>
  typeof value === "number" || typeof value === "string" && /^-?\d+$/.test(value.trim());

/** `[2, 5]` or "2-5" as a first and a last line. */
function lineRange(value: unknown): [number, number] | undefined {
  const pair = typeof value === "string"
    ? /^\s*\[?\s*(\d+)\s*(?:-|,|:|\.\.)\s*(-?\d+)\s*\]?\s*$/.exec(value)?.slice(1)
    : value;
  if (!Array.isArray(pair) || pair.length !== 2 || !pair.every(isWhole)) return undefined;
  return [Number(pair[0]), Number(pair[1])];
}

function takeLines(args: ToolArgs, rest: Rest): string | undefined {
  const range = lineRange(rest.take("viewrange", "linerange", "range", "lines", "linenumbers"));
  const end = rest.take(
    ...bareNames(
      "endline end to toline lineend lastline stopline endlineoneindexed endlineoneindexedinclusive",
    ),
  );
  rest.take("shouldreadentirefile", "readentirefile");
  if (range) {
    args.offset = Math.max(1, range[0]);
    if (range[1] >= range[0]) args.limit = range[1] - range[0] + 1;
    return "a range of lines as offset and limit";
  }
  if (!isWhole(end)) return undefined;
  const first = rest.take(
    ...bareNames(
      "start startline linestart fromline from firstline begin beginline startlineoneindexed startlineoneindexedinclusive",
    ),
  ) ?? args.offset ?? 1;
  if (!isWhole(first) || args.limit !== undefined) return undefined;
  args.offset = Math.max(1, Number(first));
  if (Number(end) >= Number(first)) args.limit = Number(end) - Number(first) + 1;
  return "the last line as a limit";
}

/** The one edit of a list, or the one block of a difference in the form of SEARCH and REPLACE. */
function takeEdit(args: ToolArgs, rest: Rest): string | undefined {
  const diff = rest.given.diff ?? rest.given.patch;
  const block = typeof diff === "string" &&
    /^\s*[<-]{5,} ?SEARCH\n([^]*?)\n?={5,}\n([^]*?)\n?[>+]{5,} ?REPLACE\s*$/.exec(diff);
  if (block && !/^[<-]{5,} ?SEARCH$/m.test(`${block[1]}\n${block[2]}`)) {
    rest.take("diff", "patch");
    Object.assign(args, { old_string: block[1], new_string: block[2] });
    return "SEARCH and REPLACE as old_string and new_string";
  }
  const edits = rest.given.edits ?? rest.given.replacements ?? rest.given.changes;
  if (!Array.isArray(edits)) return undefined;
  if (edits.length !== 1 || !isObject(edits[0])) {
    throw new SlipError(
      "Cannot run edit_file as it makes one change: call it once for each, with file_path, old_string and new_string",
    );
  }
  rest.take("edits", "replacements", "changes");
  for (const [key, value] of Object.entries(edits[0])) {
    if (/^(old_string|new_string|replace_all)$/.test(key)) args[key] = value;
    else rest.given[key] ??= value;
  }
  return "the one edit of a list as the edit";
}

function takeContent(args: ToolArgs, rest: Rest): undefined {
  if (args.old_string !== undefined || args.new_string !== undefined) return;
  const key = ["content", "contents", "file_content", "file_text"].find((key) => key in rest.given);
  if (
    key === undefined || Object.keys(rest.given).some((other) => /^(old|search|find)/i.test(other))
  ) return;
  throw new SlipError(
    `Cannot run edit_file as it has no argument "${key}". To replace the whole file: write_file {"file_path": ${
      shown(args.file_path ?? rest.given.path ?? "...")
    }, "content": "..."}. To change a part of it: edit_file with old_string and new_string`,
  );
}

/** The most seconds that can be meant by a time without a unit, and the least milliseconds. */
const MAX_SECONDS = 999;
const SURE_MILLISECONDS = 86_400;

function takeTimeout(args: ToolArgs, rest: Rest, { name }: Call): string | undefined {
  const ms = rest.take(
    ...bareNames("timeoutms timeoutmillis timeoutmilliseconds milliseconds yieldtimems"),
  );
  if (isWhole(ms)) {
    args.timeout_seconds ??= Number(ms) / 1000;
    return "milliseconds as timeout_seconds";
  }
  const time = rest.given.timeout;
  if (!isWhole(time) || args.timeout_seconds !== undefined) return undefined;
  const given = Number(time);
  rest.take("timeout");
  if (given <= 0) return "timeout as none given";
  const isLong = given > MAX_SECONDS;
  if (isLong && given <= SURE_MILLISECONDS && name !== "bash") {
    const right = (seconds: number) =>
      `{"command": ${shown(args.command ?? "...")}, "timeout_seconds": ${seconds}}`;
    throw new SlipError(
      `Cannot run run_bash as timeout may be in seconds or milliseconds. A correct call: ${
        right(given / 1000)
      } or ${right(given)}`,
    );
  }
  args.timeout_seconds = isLong ? given / 1000 : given;
  return `timeout as ${args.timeout_seconds} seconds`;
}

function takeFolder(args: ToolArgs, rest: Rest, { folder }: Call): string | undefined {
  const at = rest.take(
    ...bareNames("cwd workdir workingdirectory workingdir directory dir dirpath path"),
  );
  if (typeof at !== "string" || at.trim() === "") return undefined;
  if ([folder, ".", "$PWD"].includes(at.trim().replace(/(.)\/$/, "$1"))) return undefined;
  const command = String(args.command ?? rest.given.cmd ?? "...");
  const inside = `cd ${
    /^[\w./-]+$/.test(at) ? at : `'${at.replaceAll("'", "'\\''")}'`
  } && ${command}`;
  throw new SlipError(
    `Cannot run run_bash as it runs in the working directory: begin the command with cd. A correct call: ${
      JSON.stringify({ command: inside })
    }`,
  );
}

function takeCase(args: ToolArgs, rest: Rest): string | undefined {
  const ignores = rest.take("i", "ignorecase", "caseinsensitive", "insensitive") === true;
  const heeds = rest.take("casesensitive", "matchcase");
  const isLiteral = takeLiteral(args, rest);
  for (const name of IDLE_OF_SEARCH) rest.take(name);
  const around = ["c", "a", "b"].map((key) => rest.given[`-${key.toUpperCase()}`]).filter(isWhole);
  if (around.length > 0 && args.context_lines === undefined) {
    args.context_lines = Math.max(...around.map(Number));
    for (const key of ["-A", "-B", "-C"]) delete rest.given[key];
  }
  const isCaseless = ignores || heeds === false;
  if (!isCaseless && !isLiteral) return undefined;
  rename(GREP, args, rest, []);
  let { pattern } = args;
  if (typeof pattern !== "string") return undefined;
  if (isLiteral) pattern = pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (isCaseless && !String(pattern).startsWith("(?i")) pattern = `(?i)${pattern}`;
  args.pattern = pattern;
  return `the search as the pattern ${pattern}`;
}

/** True where the pattern is to be a text: `is_regex: false`, `fixed_strings: true`. */
function takeLiteral(_args: ToolArgs, rest: Rest): boolean {
  const isPattern = typeof rest.given.regex === "boolean"
    ? rest.take("regex")
    : rest.take("isregex", "useregex", "isregexp");
  return isPattern === false || rest.take("fixedstrings", "fixedstring", "literal", "f") === true;
}

/** The argument of a search that takes synonyms before others are read. */
const GREP: Tool = {
  name: "grep_code",
  description: "",
  parameters: { properties: { pattern: {} } },
  access: "read",
  run: () => "",
};

function takeView(_args: ToolArgs, rest: Rest, { name }: Call): undefined {
  if (/editor|edittool/.test(name)) rest.take("command");
}

/** Tools that find files by a part of their name, in all folders. */
function takeName(args: ToolArgs, rest: Rest, { name }: Call): string | undefined {
  if (!/^(?:find|findfiles?|filesearch|findbyname|searchfilenames)$/.test(name)) return undefined;
  const given = args.pattern ?? rest.given.query ?? rest.given.name;
  if (typeof given !== "string" || !/^(?!\*\*)[\w.*?-]+$/.test(given)) return undefined;
  rest.take("query", "name");
  args.pattern = `**/${/[*?]/.test(given) ? given : `*${given}*`}`;
  return `${given} as the pattern ${args.pattern}`;
}

const CONVERSIONS: Readonly<Record<string, readonly Conversion[]>> = {
  read_file: [takeView, takeLines],
  write_file: [takeView],
  edit_file: [takeView, takeEdit, takeContent],
  run_bash: [takeTimeout, takeFolder],
  grep_code: [takeCase],
  glob_files: [takeName],
};
