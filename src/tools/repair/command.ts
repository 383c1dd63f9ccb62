/** Extracts commands from surrounding text. @module */

import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { withoutEntities } from "./content.ts";
import { SlipError } from "./slip_error.ts";

const OTHER_TOOL =
  /^\s*(read_file|write_file|edit_file|glob_files|grep_code|list_directory|update_tasks)(?=[\s({]|$)/;

/** Returns the only reading of a command. @throws {SlipError} if it would not do what it seems to. */
export function readCommand(given: string): { command: string; repairs: string[] } {
  const repairs: string[] = [];
  let command = given;
  const fenced = /^\s*(`{3,})[\w-]*[ \t]*\r?\n([^]*?)\n?\1\s*$/.exec(command) ??
    /^\s*(`)([^`\n]+)`\s*$/.exec(command);
  if (fenced && !fenced[2]!.includes(fenced[1]!)) {
    command = fenced[2]!;
    repairs.push(
      fenced[1] === "`"
        ? "a command in backticks as the command"
        : "a command in a code fence as the command",
    );
  }
  const inner = /^\s*\{\s*"/.test(command) ? jsonOrUndefined(command) : undefined;
  const [key, ...keys] = isObject(inner) ? Object.keys(inner) : [];
  if (isObject(inner) && key !== undefined && keys.length === 0 && /^(?:command|cmd)$/.test(key)) {
    command = String(inner[key]);
    repairs.push(`the ${key} in the JSON as the command`);
  }
  // Encoded as XML, a redirection would end the command: no shell has such words.
  if (/(?:[12]|&amp;|\s)&gt;|&amp;&amp;|&lt;&lt;/.test(command)) {
    command = withoutEntities(command);
    repairs.push("&gt; and the like as the characters that they stand for");
  }
  const lines = command.trim().split("\n");
  const isPrompt = (line: string) => /^\s*\$ /.test(line);
  if (isPrompt(lines[0]!)) {
    const typed = lines.filter((line) => isPrompt(line)).map((line) => line.replace(/^\s*\$ /, ""));
    if (typed.length < lines.length && !goesOn(lines)) {
      throw new SlipError(
        `Cannot run the command as it has lines with and without "$ ": give the commands alone, such as ${
          JSON.stringify({ command: typed.join("\n") })
        }`,
      );
    }
    command = lines.map((line) => line.replace(/^\s*\$ /, "")).join("\n");
    repairs.push('"$ " in front as no part of the command');
  }
  const called = /^\s*run_bash\s+(\S[^]*)$/.exec(command)?.[1];
  if (called !== undefined) {
    command = called;
    repairs.push("run_bash in front as no part of the command");
  }
  checkBeginning(command);
  checkCommand(command);
  return { command, repairs };
}

/** True if only the first line has a prompt and the others belong to its command. */
function goesOn(lines: readonly string[]): boolean {
  return lines.slice(0, -1).every((line) => /(?:\\|\||&&|\|\||[{(])\s*$/.test(line)) ||
    lines.slice(1).every((line) => !/^\s*\$ /.test(line)) && /<<-?\s*["']?\w/.test(lines[0]!);
}

/** Throws for a call of a tool that is not a program, and for a prompt sign that would write a file. */
function checkBeginning(command: string): void {
  const [, tool] = OTHER_TOOL.exec(command) ?? [];
  if (tool !== undefined) {
    throw new SlipError(
      `Cannot run the command as ${tool} is a tool, and no program: call ${tool} itself`,
    );
  }
  const [, typed] = /^\s*> +([\w./-]+(?: +[^\s<>|&;].*)+)$/.exec(command) ?? [];
  if (typed !== undefined) {
    throw new SlipError(
      `Cannot run the command as the > in front may be a prompt, or write to a file. A correct call: ${
        JSON.stringify({ command: typed })
      }. To write to a file, put > behind the command`,
    );
  }
}

/** Throws for a here-document without an end, and for `\n` between commands: the shell misreads both. */
function checkCommand(command: string): void {
  const wanted: { word: string; isIndented: boolean }[] = [];
  for (const line of shellLinesOf(command)) {
    const [next] = wanted;
    if (next === undefined) wanted.push(...documentsIn(line));
    else if ((next.isIndented ? line.replace(/^\t+/, "") : line) === next.word) wanted.shift();
  }
  const [missing] = wanted;
  if (missing) {
    throw new SlipError(
      `Cannot run the command as its here-document has no end: a line that is ${missing.word} and nothing else must close it. Give the whole command, or use write_file`,
    );
  }
  if (
    !command.includes("\n") && /\S\\n\s*[a-z]/.test(withoutQuoted(command).replaceAll("\\\\", ""))
  ) {
    throw new SlipError(
      "Cannot run the command as it has \\n outside of quotes, which is no line feed for the shell: send real line feeds, or put && between the commands",
    );
  }
}

/** Returns the lines of a command. Lines within quotes count as one, unless a here-document starts before. */
function shellLinesOf(command: string): string[] {
  const lines = command.split("\n");
  const joined: string[] = [];
  let open = "";
  let isDocument = false;
  for (const line of lines) {
    if (open !== "") joined[joined.length - 1] += ` ${line}`;
    else joined.push(line);
    if (isDocument) continue;
    open = openQuoteIn(joined.at(-1)!);
    isDocument = open === "" && documentsIn(joined.at(-1)!).length > 0;
  }
  return joined;
}

function openQuoteIn(line: string): string {
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const sign = line[i]!;
    if (sign === "\\" && quote !== "'") i++;
    else if (quote === "" && sign === "#" && /^$|[\s;]/.test(line[i - 1] ?? "")) break;
    else if (quote === "" && /["']/.test(sign)) quote = sign;
    else if (sign === quote) quote = "";
  }
  return quote;
}

/** Returns a line with its quoted parts as spaces, except marks of here-documents. */
function withoutQuoted(line: string): string {
  return line.replace(
    /(<<-?[ \t]*)(["'])([\w.-]+)\2|\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"/g,
    (whole, sign?: string, _quote?: string, word?: string) =>
      sign ? `${sign}${word}` : whole.startsWith("\\") ? whole : " ",
  );
}

function documentsIn(line: string): { word: string; isIndented: boolean }[] {
  const plain = withoutQuoted(line).replace(/(?<!\()\(\([^]*?\)\)|(?:^|\s)#.*$/g, " ");
  return [...plain.matchAll(/(?<!<)<<(-?)[ \t]*\\?([A-Za-z_][\w.-]*)/g)]
    .map(([, dash, word]) => ({ word: word!, isIndented: dash === "-" }));
}
