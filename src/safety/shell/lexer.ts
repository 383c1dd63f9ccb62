/** Words of bash: quotes, escapes and expansions. @module */

export interface Word {
  /** The text without quotes and escapes; expansions are as written. */
  text: string;
  /** `literal`: exactly `text`; `pattern`: words that start like it; `dynamic`: any number of words. */
  kind: "literal" | "pattern" | "dynamic";
  /** True for a dynamic word that is exactly one, as `"$x"` is. */
  isOne?: true;
}

export const wordOf = (text: string): Word => ({ text, kind: "literal" });

export interface Redirection {
  /** One of `>`, `>>`, `<`, `&>`, `>&`, `<<`, `<<<` and the like. */
  operator: string;
  target: Word;
}

/** A command without its operators. It has no words if it only assigns or redirects. */
export interface SimpleCommand {
  words: Word[];
  assignments: { name: string; value: Word }[];
  redirections: Redirection[];
  /** True if the command may read what a pipe, or the redirection of a group, gives it. */
  isPiped?: true;
}

export interface ShellSource {
  text: string;
  at: number;
  commands: SimpleCommand[];
  depth: number;
  isPiped?: true;
  isNested?: boolean;
  /** Reads commands up to `)` or the end of the text. */
  readList: (s: ShellSource, end: "" | ")") => unknown;
  /** Here-documents whose text starts after the next line end. */
  pending: {
    delimiter: string;
    isQuoted: boolean;
    stripsTabs: boolean;
    redirection: Redirection;
  }[];
}

export const MAX_NESTING = 20;

export function fail(reason: string): never {
  throw new SyntaxError(reason);
}

export function take(s: ShellSource, pattern: RegExp): string | undefined {
  pattern.lastIndex = s.at;
  const found = pattern.exec(s.text)?.[0];
  if (found !== undefined) s.at += found.length;
  return found;
}

/** Skips a backslash at the end of a line: after a blank, it joins no characters around it. */
export function continued(s: ShellSource): void {
  if (!/[ \t\n]/.test(s.text[s.at - 1] ?? " ")) fail("a line is continued inside of a word");
  s.at += 2;
}

const WIDER = { literal: 0, pattern: 1, dynamic: 2 };

/** Reads up to a blank, a line end or an operator. */
export function word(s: ShellSource): Word {
  const start = s.at;
  let text = "";
  let kind: Word["kind"] = "literal";
  const put = (part: Word) => {
    text += part.text;
    if (WIDER[part.kind] > WIDER[kind]) kind = part.kind;
  };
  for (let char; (char = s.text[s.at]) !== undefined && !/[ \t\n;&|()]/.test(char);) {
    if (char === "<" || char === ">") {
      if (s.text[s.at + 1] !== "(") break;
      put(substitution(s));
    } else if (char === "'") put(singleQuotes(s));
    else if (char === '"') put(doubleQuotes(s));
    else if (char === "`") put(backquotes(s, false));
    else if (char === "$") put(dollar(s, false));
    else if (char === "\\") {
      if (s.text[s.at + 1] === "\n") continued(s);
      else {
        text += s.text[s.at + 1] ?? fail("it ends in a backslash");
        s.at += 2;
      }
    } else {
      const expands = /[*?[{]/.test(char) ||
        char === "~" && (s.at === start || /[=:]/.test(s.text[s.at - 1]!));
      // bash splits the bytes of other characters by the locale: some may count as blanks.
      put({ text: char, kind: char > "\x7f" ? "dynamic" : expands ? "pattern" : "literal" });
      s.at++;
    }
  }
  const raw = s.text.slice(start, s.at);
  if (/^(?:\[\[?|\{\}?)$/.test(raw)) kind = "literal";
  if (s.pending.length > 0 && raw.includes("\n")) fail("a here-document starts inside of a word");
  const isOne = WIDER[kind] > 0 && /^"[^"@]*"$/.test(raw);
  return { text, kind, ...isOne && { isOne } };
}

function singleQuotes(s: ShellSource): Word {
  const end = s.text.indexOf("'", s.at + 1);
  if (end < 0) fail("a quote is not closed");
  const text = s.text.slice(s.at + 1, end);
  s.at = end + 1;
  return wordOf(text);
}

function doubleQuotes(s: ShellSource): Word {
  s.at++;
  let text = "";
  let kind: Word["kind"] = "literal";
  for (let char; (char = s.text[s.at] ?? fail("a quote is not closed")) !== '"';) {
    if (char === "$" || char === "`") {
      const part = char === "$" ? dollar(s, true) : backquotes(s, true);
      text += part.text;
      if (part.kind !== "literal") kind = "dynamic";
    } else if (char === "\\" && /[$`"\\\n]/.test(s.text[s.at + 1] ?? "")) {
      const next = s.text[s.at + 1]!;
      if (next === "\n") {
        if (s.text[s.at - 1] === "$") fail("a line is continued inside of a word");
      } else text += next;
      s.at += 2;
    } else {
      text += char;
      s.at++;
    }
  }
  s.at++;
  return { text, kind };
}

/** Returns a word that the shell expands: the text from `start` to the current position. */
function dynamic(s: ShellSource, start: number): Word {
  return { text: s.text.slice(start, s.at), kind: "dynamic" };
}

export function dollar(s: ShellSource, isQuoted: boolean): Word {
  const start = s.at;
  const next = s.text[start + 1] ?? "";
  if (s.text.startsWith("((", start + 1)) {
    // Any other text after `$((` may be a subshell in a substitution.
    if (take(s, /\$\(\([\w \t+\-*/%<>=!&|^~?:,]*\)\)/y) === undefined) fail("it has arithmetic");
    return dynamic(s, start);
  }
  if (next === "(") {
    s.at++;
    substitution(s);
    return dynamic(s, start);
  }
  if (next === "{") return parameter(s);
  if (next === "[") fail("it has arithmetic");
  if (!isQuoted && next === "'") return ansiQuotes(s);
  if (!isQuoted && next === '"') {
    s.at++;
    return { ...doubleQuotes(s), kind: "dynamic" }; // bash translates it
  }
  if (take(s, /\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y) !== undefined) return dynamic(s, start);
  s.at++;
  return wordOf("$");
}

/** Reads the commands in `$(...)`, `<(...)` and `>(...)`, from the first character on. */
function substitution(s: ShellSource): Word {
  const start = s.at;
  const skipped = s.text[start] === "(" ? 1 : 2;
  const inner = { ...s, at: start + skipped, depth: s.depth + 1, isNested: true, pending: [] };
  if (s.text[start] === ">") inner.isPiped = true;
  s.readList(inner, ")");
  s.at = inner.at;
  return dynamic(s, start);
}

function parameter(s: ShellSource): Word {
  const start = s.at;
  s.at += 2;
  if (++s.depth > MAX_NESTING) fail(`it is nested more than ${MAX_NESTING} deep`);
  // After a blank or a bar it runs commands.
  if (!/[\w@*#?$!-]/.test(s.text[s.at] ?? "")) fail("${ } has no name");
  if (s.text[s.at] === "$") s.at++;
  while (s.text[s.at] !== "}") {
    if (s.text[s.at] === "$") dollar(s, true);
    else if (s.text[s.at] === "`") backquotes(s, true);
    else if (take(s, /[^\\'"{}()<>\n`$]+/y) === undefined) fail("${ } has quotes or brackets");
  }
  if (s.text.endsWith("@P", s.at)) fail("${ } expands a prompt");
  s.depth--;
  s.at++;
  return dynamic(s, start);
}

export function backquotes(s: ShellSource, isQuoted: boolean): Word {
  const start = s.at++;
  let text = "";
  for (let char; (char = s.text[s.at] ?? fail("a backquote is not closed")) !== "`"; s.at++) {
    if (char === "\\") {
      const next = s.text[++s.at] ?? "";
      if (next === "\n") fail("a line is continued in backquotes");
      if (isQuoted && next === '"') fail("backquotes in quotes contain quotes");
      char = /[\\`$]/.test(next) ? next : `\\${next}`;
    }
    text += char;
  }
  s.at++;
  if (/(?:^|\s)#/.test(text)) fail("backquotes have a comment");
  s.readList({ ...s, text, at: 0, depth: s.depth + 1, isNested: true, pending: [] }, "");
  return dynamic(s, start);
}

const ANSI_ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "?": "?" },
};

function ansiQuotes(s: ShellSource): Word {
  const start = s.at;
  const body = take(s, /\$'(?:[^'\\]|\\[^])*'/y)?.slice(2, -1) ?? fail("a quote is not closed");
  let isKnown = true;
  const text = body.replace(/\\(x[\da-f]{1,2}|[0-7]{1,3}|[^])/gi, (_, code: string) => {
    const known = ANSI_ESCAPES[code];
    if (known !== undefined) return known;
    const number = parseInt(code.replace("x", ""), code[0] === "x" ? 16 : 8);
    // Other codes depend on the locale or on the version of bash.
    if (!(number > 0 && number < 0x80)) isKnown = false;
    return String.fromCharCode(number);
  });
  return isKnown ? wordOf(text) : dynamic(s, start);
}
