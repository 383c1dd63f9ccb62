/**
 * Readers of tool results for the demo, and the wording of its lines. On the wire nothing marks a failure,
 * so a result that has not the form of a success is taken for a failure, and quoted.
 * @module
 */

import { shortened } from "../../text/one_line.ts";

/** A tool's result; "" where it comes with the next request only, which makes the answer void. */
export type Use = (name: string, args: Record<string, unknown>) => string;
/** The sentence about the demo in every answer. */
export const DISCLAIMER = "This is the built-in demo: fixed rules, no language model.";

/** Names of the files that say most about a project, best first, and the command that runs its tests. */
export const PROJECT_FILES: readonly (readonly [RegExp, string?])[] = [
  [/^readme(?:\.(?:md|markdown|txt|rst|adoc|org))?$/i],
  [/^deno\.jsonc?$/, "deno test"],
  [/^package\.json$/, "npm test"],
  [/^Cargo\.toml$/, "cargo test"],
  [/^pyproject\.toml$/, "python3 -m pytest"],
  [/^go\.mod$/, "go test ./..."],
  [/^(?:GNU)?[Mm]akefile$/, "make test"],
  [/^main\.\w+$/],
  [/^(?:test_\w+|\w+_test)\.py$/, "python3 -m pytest"],
];

/** The text of a file from numbered lines, or null when the result is none. */
export function fileText(result: string): string | null {
  if (result.startsWith("[the file is empty")) return "";
  if (!/^\d+\t/.test(result)) return null;
  return result.split("\n").flatMap((line) => /^\d+\t(.*)$/.exec(line)?.[1] ?? []).join("\n");
}

/** The names in a listing, those of folders and of links to them with `/`; null when it is none. */
export function entries(listing: string): string[] | null {
  if (!/(?:^|\n)\[(?:\d+ entr|the folder is empty)[^\n]*\]$/.test(listing)) return null;
  return listing.split("\n").slice(0, -1).map((line) => {
    const name = line.split(/ {2}| -> /, 1)[0] ?? "";
    return line.endsWith("/") && !name.endsWith("/") ? `${name}/` : name;
  });
}

/** A failure in lines for the person; after a refusal, how to allow the call. */
export function failureLines(result: string): string[] {
  if (!result.startsWith("Refused")) return [firstLine(result)];
  return [
    `${/^[^.\n]*/.exec(result)?.[0]}.`,
    "To allow it, answer y when asked, or start copilot with `--yes`.",
  ];
}

export function firstLine(result: string): string {
  return shortened(/^.*/.exec(result.trimStart())?.[0] ?? "", 200);
}

/** `text` as inline code on one line, in at most `max` characters. */
export function inlineCode(text: string, max = 90): string {
  const line = text.slice(0, 500).replaceAll("`", "'").replace(/\s+/g, " ").trim();
  return `\`${shortened(line, max)}\``;
}
