/** Calls in Python syntax: `[f(a=1, b="x"), g()]`. @module */

import { LOOSE_ESCAPES, LOOSE_WORDS } from "../../text/loose_json.ts";
import { NAMESPACE } from "./format.ts";
import { MAX_VALUE_DEPTH } from "./json_scanner.ts";

export interface PythonCall {
  name: string;
  positional: unknown[];
  named: Record<string, unknown>;
}

/** Returns the calls in `text`: one, or several in brackets or on lines; undefined for other text. */
export function parsePythonCalls(text: string): PythonCall[] | undefined {
  try {
    return new PythonParser(text).calls();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A recursive descent parser. Its methods throw a `SyntaxError` for other text. */
class PythonParser {
  #at = 0;

  constructor(private readonly text: string) {}

  calls(): PythonCall[] {
    const found: PythonCall[] = [];
    const inBrackets = this.#eat("[");
    do {
      this.#skipSpace();
      if (inBrackets && this.text[this.#at] === "]") break;
      found.push(this.#call());
    } while (inBrackets ? this.#eat(",") : !this.#isOver());
    if (inBrackets) this.#expect("]");
    return this.#isOver() && found.length > 0 ? found : this.#fail();
  }

  #call(): PythonCall {
    this.#skipSpace();
    const name = this.#match(/[A-Za-z_][\w.-]*/y) ?? this.#fail();
    this.#expect("(");
    if (name === "print") {
      const inner = this.#call();
      this.#expect(")");
      return inner;
    }
    const call: PythonCall = {
      name: name.replace(NAMESPACE, "").replace(/\.call$/, ""),
      positional: [],
      named: {},
    };
    while (!this.#eat(")")) {
      this.#skipSpace();
      const keyword = this.#match(/[A-Za-z_]\w*\s*=(?!=)/y)?.replace(/\s*=$/, "");
      const value = this.#value(0);
      if (keyword === undefined) call.positional.push(value);
      else call.named[keyword] = value;
      this.#expectCommaOr(")");
    }
    return call;
  }

  #value(depth: number): unknown {
    if (depth > MAX_VALUE_DEPTH) this.#fail();
    this.#skipSpace();
    const quote = this.#match(/[rRuU]?(?:"""|'''|"|')/y);
    if (quote !== undefined) return this.#string(quote);
    if (this.#eat("[")) return this.#list("]", depth);
    if (this.#eat("(")) return this.#list(")", depth);
    if (this.#eat("{")) return this.#dict(depth);
    const number = this.#match(/[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y);
    if (number !== undefined) return Number(number.replaceAll("_", ""));
    const word = this.#match(/[A-Za-z]+/y) ?? this.#fail();
    return Object.hasOwn(LOOSE_WORDS, word) ? LOOSE_WORDS[word] : this.#fail();
  }

  #string(opening: string): string {
    const isRaw = /^r/i.test(opening);
    const quote = opening.replace(/^[a-z]/i, "");
    let out = "";
    while (!this.text.startsWith(quote, this.#at)) {
      const char = this.text[this.#at] ?? this.#fail();
      if (char === "\\" && !isRaw) out += this.#escaped();
      else out += this.text[this.#at++];
    }
    this.#at += quote.length;
    return out;
  }

  #escaped(): string {
    const hex = this.#match(/\\(?:x[\da-f]{2}|u[\da-f]{4})/iy);
    if (hex !== undefined) return String.fromCharCode(parseInt(hex.slice(2), 16));
    const sign = this.text[this.#at + 1] ?? "";
    this.#at += 2;
    if (sign === "\n") return "";
    return LOOSE_ESCAPES[sign] ?? (/["'\\]/.test(sign) ? sign : `\\${sign}`);
  }

  #list(close: string, depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.#eat(close)) {
      items.push(this.#value(depth + 1));
      this.#expectCommaOr(close);
    }
    return items;
  }

  #dict(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    while (!this.#eat("}")) {
      const key = this.#value(depth + 1);
      this.#expect(":");
      entries.push([String(key), this.#value(depth + 1)]);
      this.#expectCommaOr("}");
    }
    return Object.fromEntries(entries);
  }

  #fail(): never {
    throw new SyntaxError("no calls");
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    this.#match(/[\s;]*/y);
  }

  #isOver(): boolean {
    this.#skipSpace();
    return this.#at === this.text.length;
  }

  #eat(sign: string): boolean {
    this.#skipSpace();
    if (!this.text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#eat(sign)) this.#fail();
  }

  #expectCommaOr(close: string): void {
    if (!this.#eat(",") && this.text[this.#at] !== close) this.#fail();
  }
}
