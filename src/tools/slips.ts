/** Models' known mistakes in calls, and their corrections, by tool. Names are in bare form. @module */

import { bareName } from "../text/bare_name.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import type { PathUse } from "./repair/paths.ts";
import type { ToolArgs } from "./schema.ts";

export interface Slips {
  synonyms: Readonly<Record<string, readonly string[]>>;
  /** Conversions of unknown arguments, applied before the synonyms. */
  readings?: readonly SlipReading[];
  editorCommand?: string;
  path?: readonly [key: string, use: PathUse | ((args: ToolArgs) => PathUse)];
  /** Corrects texts, and adds a line for each repair. @throws {SlipError} */
  readTexts?(args: ToolArgs, repairs: string[]): void;
  /** False if the arguments are valid but more likely those of another tool. */
  isLikely?(args: ToolArgs): boolean;
}

/** Returns the mistakes that `tool` corrects; empty for a tool that is not built in. */
export const slipsOf = ({ slips }: Tool & { slips?: Slips }): Slips | undefined => slips;

export interface GivenName {
  name: string;
  folder: string;
}

/** Converts some of `rest` to `args`. Returns a line if it did. @throws {SlipError} */
type SlipReading = (args: ToolArgs, rest: RestArgs, call: GivenName) => string | undefined;

export class RestArgs {
  constructor(readonly given: ToolArgs) {}

  /** Removes and returns the value of the first key that is one of `names` in bare form. */
  take(...names: string[]): unknown {
    const key = Object.keys(this.given).find((key) => names.includes(bareName(key)));
    if (key === undefined) return undefined;
    const value = this.given[key];
    delete this.given[key];
    return value ?? undefined;
  }
}

/** Renames arguments to a tool's names: first other spellings of its own, then well-known synonyms. */
export function rename(
  names: readonly string[],
  synonyms: Slips["synonyms"],
  args: ToolArgs,
  rest: RestArgs,
  repairs: string[],
): void {
  const rows = [
    ...names.map((name) => [name, [bareName(name)]] as const),
    ...names.map((name) => [name, synonyms[name] ?? []] as const),
  ];
  for (const [name, known] of rows) {
    for (const key of Object.keys(rest.given)) {
      if (!known.includes(bareName(key))) continue;
      const value = rest.given[key];
      const isSame = JSON.stringify(args[name]) === JSON.stringify(value);
      // A synonym of an argument that is present may belong to another argument.
      if (args[name] !== undefined && args[name] !== null && !isSame) continue;
      delete rest.given[key];
      if (isSame) continue;
      args[name] = value;
      repairs.push(`${key} as ${name}`);
    }
  }
}

export const isWhole = (value: unknown): value is number | string =>
  typeof value === "number" || typeof value === "string" && /^-?\d+$/.test(value.trim());

/** The command of an editor tool selects the tool. It is not an argument of the tool. */
export const takeView: SlipReading = (_, rest, { name }) => {
  if (/editor|edittool/.test(name)) rest.take("command");
  return undefined;
};

export const FILE_SYNONYMS: readonly string[] = bareNames(
  "path file filename filepath targetfile absolutepath relativepath relativeworkspacepath target uri fullpath document source src absolutefilepath paths files filepaths filenames",
);
export const FOLDER_SYNONYMS: readonly string[] = bareNames(
  "directory dir folder dirpath directorypath folderpath root searchpath targetdirectory location basepath relativeworkspacepath filepath file absolutepath cwd basedir where in paths searchdirectory",
);
