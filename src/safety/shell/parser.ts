/**
 * Finds the commands that a bash command line would start, without running it. The result contains every command
 * that bash could start, or the line is rejected as not understood. Some commands may never run, because branches
 * are not evaluated and invalid syntax may be accepted: "is all of this allowed?" errs on the safe side.
 *
 * @module
 */

import { backquotes, continued, dollar, fail, MAX_NESTING, take, word, wordOf } from "./lexer.ts";
import type { ShellSource, SimpleCommand, Word } from "./lexer.ts";

type CommandLine =
  /** The commands in the order in which they end in the text, including nested ones. */
  | { ok: true; commands: SimpleCommand[] }
  | { ok: false; reason: string };

/** Longer lines, and lines of more commands, are not parsed: no user would read them before approving. */
const MAX_COMMAND_LINE = 20_000;
const MAX_COMMANDS = 200;
/** Keywords where a command starts; after each, a command starts again. */
const KEYWORDS = new Set("if then elif else fi while until do done { } !".split(" "));

/**
 * Parses a bash command line. Rejects, with a reason: arithmetic beyond plain sums, `[[ ]]` with brackets or
 * expressions, arrays, `coproc`, extended globs, quotes inside of `${ }`, here-documents with an unusual end, a
 * line continued inside of a word, control characters, and lines over 20 000 characters, 200 commands, or a
 * nesting of 20.
 */
export function parseCommandLine(text: string): CommandLine {
  try {
    if (text.length > MAX_COMMAND_LINE) fail(`it is longer than ${MAX_COMMAND_LINE} characters`);
    // deno-lint-ignore no-control-regex
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(text)) fail("it has control characters");
    const commands: SimpleCommand[] = [];
    list({ text, at: 0, commands, depth: 0, readList: list, pending: [] }, "");
    return { ok: true, commands };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false, reason: error.message };
  }
}

const OPERATOR = /&(?!>)&?|\|\||\|&|;;&|;;|;&|[;|]/y;
const REDIRECTION = /<<<|<<-|<<|<>|<&|>>|>\||>&|&>>|&>|<(?!\()|>(?!\()/y;

/** Reads commands up to `)`, the end of a branch of `case`, or the end of the text. */
function list(s: ShellSource, end: "" | ")" | "esac"): string {
  if (s.depth > MAX_NESTING) fail(`it is nested more than ${MAX_NESTING} deep`);
  let command = newCommand();
  const finish = () => {
    add(s, command);
    command = newCommand();
  };
  for (;;) {
    skipBlanks(s);
    const char = s.text[s.at];
    if (char === undefined) {
      if (end !== "") fail("a bracket or case is not closed");
      if (s.pending.length > 0) fail("a here-document has no text");
      finish();
      return "";
    }
    if (char === "\n") {
      finish();
      s.at++;
      hereDocuments(s);
    } else if (char === ")") {
      if (end !== ")") fail("a bracket is closed that is not open");
      finish();
      s.at++;
      return ")";
    } else if (char === "(") {
      subshell(s, command);
      command = newCommand();
    } else {
      const operator = take(s, OPERATOR);
      if (operator !== undefined) {
        finish();
        if (/^\|&?$/.test(operator)) s.isPiped = true;
        if (!/^;[;&]/.test(operator)) continue;
        if (end !== "esac") fail(`${operator} is not in a case`);
        return operator;
      }
      if (takeRedirection(s, command)) continue;
      if (takeWord(s, command, end) === "esac") return "esac";
    }
  }
}

function newCommand(...words: Word[]): SimpleCommand {
  return { words, assignments: [], redirections: [] };
}

const isEmpty = ({ words, assignments, redirections }: SimpleCommand): boolean =>
  words.length + assignments.length + redirections.length === 0;

function add(s: ShellSource, command: SimpleCommand): void {
  if (isEmpty(command)) return;
  if (s.isPiped) command.isPiped = true;
  // Such as that of `{ sh; } <a`.
  const isOfGroup = command.words.length + command.assignments.length === 0 &&
    command.redirections.some(({ operator }) => operator.startsWith("<"));
  if (isOfGroup) { for (const one of s.commands) one.isPiped = true; }
  if (s.commands.push(command) > MAX_COMMANDS) fail(`it has more than ${MAX_COMMANDS} commands`);
}

/** Adds a command named `function` for a definition, which no rule allows: it may redefine a name or call itself. */
function define(s: ShellSource, name: Word): void {
  add(s, newCommand(wordOf("function"), name));
  // The call of a function decides what its commands read.
  s.isPiped = true;
}

function subshell(s: ShellSource, command: SimpleCommand): void {
  if (!isEmpty(command)) {
    const isFunction = command.words.length === 1 && command.words[0]!.kind === "literal" &&
      command.assignments.length + command.redirections.length === 0;
    if (isFunction && take(s, /\([ \t]*\)/y) !== undefined) return define(s, command.words[0]!);
    fail("a bracket is in a word or after one");
  }
  if (s.text[s.at + 1] === "(") fail("it has arithmetic");
  s.at++;
  s.depth++;
  list(s, ")");
  s.depth--;
}

/** Reads a word of a command, and the rest of the syntax that it starts. Returns `esac` if that ends the list. */
function takeWord(s: ShellSource, command: SimpleCommand, end: string): string | undefined {
  const start = s.at;
  const read = word(s);
  const raw = s.text.slice(start, s.at);
  if (isEmpty(command)) {
    if (KEYWORDS.has(raw)) return;
    if (raw === "time") {
      // The words before it decide if bash reads a keyword or a program: a program needs approval.
      add(s, newCommand(read, { text: "", kind: "dynamic" }));
      skipBlanks(s);
      if (take(s, /-p(?=[ \t])/y) !== undefined) skipBlanks(s);
      return void take(s, /--(?=[ \t])/y);
    }
    if (raw === "for" || raw === "select") return loop(s);
    if (raw === "case") return cases(s);
    if (raw === "[[") return condition(s);
    if (raw === "function") {
      skipBlanks(s);
      const name = word(s);
      skipBlanks(s);
      take(s, /\([ \t]*\)/y);
      return void define(s, name);
    }
    if (raw === "esac" && end === "esac") return "esac";
    if (raw === "coproc") fail("coproc is not supported");
  }
  // The redirections decide if bash reads these as keywords or as words.
  const isGrammar = KEYWORDS.has(raw) || /^(time|for|select|case|\[\[|function|coproc)$/.test(raw);
  if (isGrammar && command.words.length === 0) fail("a keyword follows a redirection");
  if (/[<>]/.test(s.text[s.at] ?? "") && /^(\d+$|\{)/.test(raw)) {
    if (!/^\d{1,4}$/.test(raw) || !takeRedirection(s, command)) {
      fail(`a redirection follows ${raw}`);
    }
    return;
  }
  if (command.words.length === 0) {
    const name = /^[A-Za-z_]\w*(?=\+?=)/.exec(raw)?.[0];
    if (name !== undefined) {
      const text = read.text.slice(raw.indexOf("=") + 1);
      command.assignments.push({ name, value: { ...read, text } });
      return;
    }
    if (/^[A-Za-z_]\w*\[/.test(raw)) fail("it sets an element of an array");
  }
  command.words.push(read);
}

function loop(s: ShellSource): undefined {
  skipBlanks(s);
  const name = take(s, /[A-Za-z_]\w*(?=[ \t\n;])/y) ?? fail("a loop has no plain variable");
  const command = newCommand();
  command.assignments.push({ name, value: { text: "", kind: "dynamic" } });
  skipNewlines(s);
  if (take(s, /in(?=[ \t\n;])/y) !== undefined) {
    for (skipBlanks(s); !/^[\n;&|)]?$/.test(s.text[s.at] ?? ""); skipBlanks(s)) {
      command.assignments.push({ name, value: neededWord(s) });
    }
  }
  add(s, command);
}

function cases(s: ShellSource): undefined {
  const command = newCommand(wordOf("case"), neededWord(s));
  skipNewlines(s);
  if (take(s, /in(?=[ \t\n])/y) === undefined) fail("case has no word in");
  for (let ended = ""; ended !== "esac";) {
    skipNewlines(s);
    if (take(s, /esac(?=[ \t\n;&|)]|$)/y) !== undefined) break;
    take(s, /\(/y);
    do {
      command.words.push(neededWord(s));
      skipBlanks(s);
    } while (take(s, /\|/y) !== undefined);
    if (take(s, /\)/y) === undefined) fail("a pattern of case has no end");
    s.depth++;
    ended = list(s, "esac");
    s.depth--;
  }
  add(s, command);
}

function condition(s: ShellSource): undefined {
  const command = newCommand(wordOf("[["));
  for (;;) {
    skipNewlines(s);
    take(s, /&&|\|\|/y);
    skipNewlines(s);
    const start = s.at;
    const read = neededWord(s);
    const raw = s.text.slice(start, s.at);
    if (raw === "]]") break;
    if (raw === "=~") fail("[[ ]] contains a regular expression");
    command.words.push(read);
  }
  add(s, command);
}

function skipBlanks(s: ShellSource): void {
  while (take(s, /[ \t]+/y) !== undefined || s.text.startsWith("\\\n", s.at)) {
    if (s.text.startsWith("\\\n", s.at)) continued(s);
  }
  take(s, /#[^\n]*/y);
}

function skipNewlines(s: ShellSource): void {
  for (skipBlanks(s); s.text[s.at] === "\n"; skipBlanks(s)) {
    s.at++;
    hereDocuments(s);
  }
}

function takeRedirection(s: ShellSource, command: SimpleCommand): boolean {
  const operator = take(s, REDIRECTION);
  if (operator === undefined) return false;
  skipBlanks(s);
  const redirection = { operator, target: wordOf("") };
  command.redirections.push(redirection);
  if (operator !== "<<" && operator !== "<<-") {
    const start = s.at;
    redirection.target = neededWord(s);
    // bash ends such an operand after a `-`, and expands it twice.
    const isPlain = /^(\d+|-|[A-Za-z_./][\w./]*)$/.test(s.text.slice(start, s.at));
    if (/^[<>]&$/.test(operator) && !isPlain) fail(`the word after ${operator} is not plain`);
    return true;
  }
  // bash rewrites such a substitution before it runs it, and loses the ends of commands.
  if (s.isNested) fail("a here-document is in a substitution");
  const end = take(s, /(?:'[\w.+-]+'|"[\w.+-]+"|\\?[\w.+-]+)(?=[ \t\n;&|()<>]|$)/y) ??
    fail("a here-document has an unusual delimiter");
  s.pending.push({
    delimiter: end.replace(/^['"\\]|['"]$/g, ""),
    isQuoted: /^['"\\]/.test(end),
    stripsTabs: operator === "<<-",
    redirection,
  });
  return true;
}

/** Reads the texts of the here-documents that the previous line announced. */
function hereDocuments(s: ShellSource): void {
  for (const { delimiter, isQuoted, stripsTabs, redirection } of s.pending.splice(0)) {
    const lines: string[] = [];
    for (;;) {
      if (s.at >= s.text.length) fail(`the here-document ${delimiter} has no end`);
      const written = take(s, /[^\n]*/y)!;
      s.at++;
      const line = stripsTabs ? written.replace(/^\t+/, "") : written;
      if (line === delimiter) break;
      if (!isQuoted && line.endsWith("\\")) fail("a here-document continues a line");
      lines.push(`${line}\n`);
    }
    s.at = Math.min(s.at, s.text.length);
    const text = lines.join("");
    redirection.target = isQuoted ? wordOf(text) : unquotedText(s, text);
  }
}

/** Reads the text of a here-document in which `$` and backquotes are expanded. */
function unquotedText(s: ShellSource, text: string): Word {
  const inner: ShellSource = { ...s, text, at: 0, pending: [] };
  let kind: Word["kind"] = "literal";
  while (inner.at < text.length) {
    const char = text[inner.at];
    if (char === "\\") inner.at += 2;
    else if (char === "`") kind = (backquotes(inner, true), "dynamic");
    else if (char !== "$") inner.at++;
    else if (dollar(inner, true).kind !== "literal") kind = "dynamic";
  }
  return { text, kind };
}

function neededWord(s: ShellSource): Word {
  skipBlanks(s);
  const start = s.at;
  const read = word(s);
  if (s.at === start) fail("a word is missing");
  return read;
}
