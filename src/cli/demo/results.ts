/**
 * How the demo reads tool results, and words its own lines. On the wire nothing marks a failure, so
 * whatever is not in the form of a success is taken for one, and told as it is.
 *
 * @module
 */

import { wholeUpTo } from "../../text/truncate.ts";

/** What a rule asks a tool for; undefined means that the result comes with the next request. */
export type Use = (name: string, args: Record<string, unknown>) => string | undefined;
/** A rule's answer in lines, or null while results are outstanding. */
export type Answer = string[] | null;

/** What the demo says of itself in every answer. */
export const NAME = "This is the built-in demo: fixed rules, no language model.";

/** The file that tells most about a project, best first; and how its tests are run. */
export const TELLING: readonly (readonly [RegExp, string?])[] = [
  [/^readme(?:\.(?:md|markdown|txt|rst|adoc|org))?$/i],
  [/^deno\.jsonc?$/, "deno test"],
  [/^package\.json$/, "npm test"],
  [/^Cargo\.toml$/, "cargo test"],
  [/^pyproject\.toml$/, "python3 -m pytest"],
  [/^go\.mod$/, "go test ./..."],
  [/^(?:GNU)?[Mm]akefile$/, "make test"],
  [/^main\.\w+$/],
];

/** The text of a file from numbered lines, or null when the result is none. */
export function fileText(result: string): string | null {
  if (/^\[the file is empty/.test(result)) return "";
  if (!/^\d+\t/.test(result)) return null;
  return result.split("\n").flatMap((line) => /^\d+\t(.*)$/.exec(line)?.[1] ?? []).join("\n");
}

/** Whether numbered lines are the whole file: the line below them says how many there are. */
export function isWhole(result: string): boolean {
  return /(?:^|\n)\[(?:\d+ lines|the file is empty)(?!.*\bcut\b)[^\n]*\]$/.test(result);
}

/** The names in a listing, those of folders and of links to them with `/`; null when it is none. */
export function entries(listing: string): string[] | null {
  if (!/(?:^|\n)\[(?:\d+ entr|the folder is empty)[^\n]*\]$/.test(listing)) return null;
  return listing.split("\n").slice(0, -1).map((line) => {
    const name = line.split(/ {2}| -> /, 1)[0] ?? "";
    return line.endsWith("/") && !name.endsWith("/") ? `${name}/` : name;
  });
}

/** The matches in a search result; null when it is none. */
export function hits(found: string): { file: string; line: string; text: string }[] | null {
  const all = found.split("\n").flatMap((row) => {
    const [, file, line, text] = /^(.+?):(\d+):(.*)$/.exec(row) ?? [];
    return file && line && text !== undefined ? [{ file, line, text }] : [];
  });
  return all.length > 0 || /^No (?:matches|files)\b/.test(found) ? all : null;
}

/** Whether a tool that writes says that it did. */
export function isWritten(result: string): boolean {
  return /^(?:Created|Replaced|Filled) /.test(result);
}

/** A failure in lines for the person; for a refusal, what allows the call. */
export function failure(result: string): string[] {
  if (!result.startsWith("Refused")) return [told(result)];
  return [
    `${/^[^.\n]*/.exec(result)?.[0]}.`,
    "To allow it, answer y when asked, or start copilot with `--yes`.",
  ];
}

/** The first line of a result. */
export function told(result: string): string {
  return cut(/^.*/.exec(result.trimStart())?.[0] ?? "", 200);
}

/** `text` in at most `max` characters. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, wholeUpTo(text, max - 1))}…`;
}

/** `text` as inline code on one line, in at most `max` characters. */
export function code(text: string, max = 90): string {
  return `\`${cut(text.slice(0, 500).replaceAll("`", "'").replace(/\s+/g, " ").trim(), max)}\``;
}
