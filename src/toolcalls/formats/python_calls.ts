/**
 * Calls written as Python: `[f(a=1, b="x"), g()]`.
 *
 * @module
 */

/** A call, as written. */
export interface PythonCall {
  name: string;
  /** The values without a keyword. */
  positional: unknown[];
  named: Record<string, unknown>;
}

/** Deeper values are refused. */
const MAX_DEPTH = 100;

/** The calls that `text` is: one, or several in brackets or on lines; undefined for anything else. */
export function parsePythonCalls(text: string): PythonCall[] | undefined {
  return attempt(() => parser(text).calls());
}

/** The literal that `text` is; undefined for anything else. */
export function parsePythonLiteral(text: string): unknown {
  return attempt(() => parser(text).literal());
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const WORDS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "\n": "",
};

function parser(text: string): { calls(): PythonCall[]; literal(): unknown } {
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError("no calls");
  };
  const space = () => match(/[\s;]*/y);
  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }
  function eat(sign: string): boolean {
    space();
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  }
  function call(): PythonCall {
    space();
    let name = match(/[A-Za-z_][\w.-]*/y) ?? fail();
    if (!eat("(")) fail();
    if (name === "print") {
      const inner = call();
      if (!eat(")")) fail();
      return inner;
    }
    name = name.replace(/^(?:default_api|functions|tools)\./, "");
    const result: PythonCall = { name, positional: [], named: {} };
    while (!eat(")")) {
      space();
      const keyword = match(/[A-Za-z_]\w*\s*=(?!=)/y)?.replace(/\s*=$/, "");
      const read = value(0);
      if (keyword === undefined) result.positional.push(read);
      else result.named[keyword] = read;
      if (!eat(",") && text[at] !== ")") fail();
    }
    return result;
  }
  function value(depth: number): unknown {
    if (depth > MAX_DEPTH) fail();
    space();
    const quote = match(/[rRuU]?(?:"""|'''|"|')/y);
    if (quote !== undefined) return string(quote);
    if (eat("[") || eat("(")) return list(text[at - 1] === "[" ? "]" : ")", depth);
    if (eat("{")) return dict(depth);
    const number = match(/[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return Number(number.replaceAll("_", ""));
    const word = match(/[A-Za-z]+/y) ?? fail();
    return Object.hasOwn(WORDS, word) ? WORDS[word] : fail();
  }
  function string(opening: string): string {
    const isRaw = /^r/i.test(opening);
    const quote = opening.replace(/^[a-z]/i, "");
    let out = "";
    for (;;) {
      if (at >= text.length) fail();
      if (text.startsWith(quote, at)) {
        at += quote.length;
        return out;
      }
      if (text[at] !== "\\" || isRaw) {
        out += text[at++];
        continue;
      }
      const hex = match(/\\(?:x[\da-f]{2}|u[\da-f]{4})/iy);
      if (hex !== undefined) out += String.fromCharCode(parseInt(hex.slice(2), 16));
      else {
        const sign = text[at + 1] ?? "";
        out += ESCAPES[sign] ?? (/["'\\]/.test(sign) ? sign : `\\${sign}`);
        at += 2;
      }
    }
  }
  function list(close: string, depth: number): unknown[] {
    const items: unknown[] = [];
    while (!eat(close)) {
      items.push(value(depth + 1));
      if (!eat(",") && text[at] !== close) fail();
    }
    return items;
  }
  function dict(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    while (!eat("}")) {
      const key = value(depth + 1);
      if (!eat(":")) fail();
      entries.push([String(key), value(depth + 1)]);
      if (!eat(",") && text[at] !== "}") fail();
    }
    return Object.fromEntries(entries);
  }
  return {
    calls() {
      const found: PythonCall[] = [];
      const inBrackets = eat("[");
      do {
        space();
        if (inBrackets && text[at] === "]") break;
        found.push(call());
      } while (inBrackets ? eat(",") : (space(), at < text.length));
      if (inBrackets && !eat("]")) fail();
      space();
      return at === text.length && found.length > 0 ? found : fail();
    },
    literal() {
      const found = value(0);
      space();
      return at === text.length ? found : fail();
    },
  };
}
