/**
 * Texts of `tests/fixtures/toolcalls` with and without tool calls, and how many are read right. Run by
 * itself it prints the figures of each family: `deno run -A tests/models/toolcalls/corpus.ts`.
 *
 * @module
 */

import { extractToolCallsFromText, ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import { isUnknown } from "../../../src/models/toolcalls/format.ts";
import type { ToolCall } from "../../../src/types/message.ts";

/** A text as a model may write it, and what is to become of it. */
export interface Sample {
  family: string;
  text: string;
  /** What is to be called: name and arguments. */
  calls: [name: string, args: unknown][];
  /** What is left of the text; where calls part it, runs of white space stand for one space. */
  rest: string;
  isParted: boolean;
}

const string = { type: "string" };
const strings = { type: "array", items: string };
const [integer, boolean] = [{ type: "integer" }, { type: "boolean" }];
const parameters: Record<string, Record<string, unknown>> = {
  read_file: { file_path: string, offset: integer, limit: integer },
  write_file: { file_path: string, content: string },
  edit_file: { file_path: string, old_string: string, new_string: string, replace_all: boolean },
  run_bash: { command: string, timeout_seconds: integer },
  glob_files: { pattern: string, path: string },
  grep_code: { pattern: string, path: string, glob: string, context_lines: integer },
  list_directory: { path: string },
  get_weather: { city: string, unit: string, days: integer },
  search: { query: string, limit: integer, tags: strings, filters: { type: "object" } },
  set_flags: { verbose: boolean, ratio: { type: "number" }, note: { type: ["string", "null"] } },
  now: {},
};

/** The tools offered with every text. */
export const OPTIONS = {
  tools: Object.keys(parameters),
  schemas: Object.fromEntries(
    Object.entries(parameters).map(([name, properties]) => [name, { type: "object", properties }]),
  ),
};

/**
 * Reads a file of samples: parted by lines that begin with `%%`, which may name the family; in them
 * `=> name {json}` is a call, `=| line` a line that is left, `=~ text` all that is left around calls.
 */
export async function readSamples(name: string): Promise<Sample[]> {
  const url = new URL(`../../fixtures/toolcalls/${name}.txt`, import.meta.url);
  const samples: Sample[] = [];
  let family = "";
  for (const block of `\n${(await Deno.readTextFile(url)).trimEnd()}`.split("\n%%").slice(1)) {
    const [head = "", ...lines] = block.split("\n");
    family = head.replace(" family: ", "") || family;
    const isText = (line: string): boolean => !/^=[>|~] /.test(line);
    const marked = (mark: string): string[] =>
      lines.filter((line) => line.startsWith(`=${mark} `)).map((line) => line.slice(3));
    samples.push({
      family,
      text: lines.filter(isText).join("\n"),
      calls: marked(">").map((line) => {
        const [name = ""] = line.split(" ");
        return [name, JSON.parse(line.slice(name.length))];
      }),
      rest: [...marked("|"), ...marked("~")].join("\n"),
      isParted: marked("~").length > 0,
    });
  }
  return samples;
}

/** What became of a text: what is left, and the calls that would run. */
export type Outcome = [rest: string, calls: [name: string, args: unknown][], isReported: boolean];

function outcome(rest: string, calls: ToolCall[]): Outcome {
  // A call of a tool that is not offered is answered with the list of those that are.
  const context = { ...OPTIONS, tools: new Set(OPTIONS.tools), isMarked: true, newId: () => "" };
  const valid = calls.filter((call) =>
    call.invalid === undefined && !isUnknown(call.name, context)
  );
  return [rest, valid.map((call) => [call.name, call.arguments]), valid.length < calls.length];
}

/** Parses a text that is complete. */
export function whole(text: string): Outcome {
  const [rest, calls] = extractToolCallsFromText(text, OPTIONS);
  return outcome(rest, calls ?? []);
}

/** Parses a text that comes in pieces. */
export function streamed(pieces: Iterable<string>): Outcome {
  const filter = new ToolCallFilter(OPTIONS);
  let shown = "";
  for (const piece of pieces) shown += filter.push(piece);
  const { text, calls } = filter.end();
  return outcome(shown + text, calls);
}

/** The texts of `samples` that come out otherwise when cut in two, at each `step`th place, or unit by unit. */
export function cutDifferently(samples: Sample[], step: number): string[] {
  return samples.filter(({ text }, i) => {
    const expected = JSON.stringify(whole(text));
    const differs = (pieces: string[]) => JSON.stringify(streamed(pieces)) !== expected;
    for (let at = 1 + i % step; at < text.length; at += step) {
      if (differs([text.slice(0, at), text.slice(at)])) return true;
    }
    return differs(text.split(""));
  }).map(({ text }) => text);
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => [k, sorted(v)]);
}

/** Whether name, arguments and remaining text are exactly those expected. */
export function isExact(sample: Sample): boolean {
  const [rest, calls] = whole(sample.text);
  const left = sample.isParted ? rest.replaceAll(/\s+/g, " ").trim() : rest;
  return left === sample.rest &&
    JSON.stringify(sorted(calls)) === JSON.stringify(sorted(sample.calls));
}

/** Whether nothing would run, and the text is as it was, unless the model is told what is wrong. */
export function isLeft({ text }: Sample): boolean {
  const [rest, calls, isReported] = whole(text);
  return calls.length === 0 && (isReported || rest === text);
}

if (import.meta.main) {
  for (const [name, isRight] of [["calls", isExact], ["no_calls", isLeft]] as const) {
    const samples = await readSamples(name);
    for (const [family, members] of Map.groupBy(samples, (sample) => sample.family)) {
      console.log(`${family}: ${members.filter(isRight).length} of ${members.length}`);
    }
    const right = samples.filter(isRight).length;
    const percent = (100 * right / samples.length).toFixed(1);
    const cuts = cutDifferently(samples, 1).length;
    console.log(
      `${name}: ${right} of ${samples.length}, ${percent} %; cut anywhere: ${cuts} differ\n`,
    );
  }
}
