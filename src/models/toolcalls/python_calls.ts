/** Calls in Python syntax: `[f(a=1, b="x"), g()]`. @module */

import { pythonValueAt } from "../../text/loose_json.ts";
import { NAMESPACE } from "./format.ts";

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
      const value = this.#value();
      if (keyword === undefined) call.positional.push(value);
      else call.named[keyword] = value;
      this.#expectCommaOr(")");
    }
    return call;
  }

  #value(): unknown {
    this.#skipSpace();
    const raw = this.#match(/[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"]*"|'[^']*')/y);
    if (raw !== undefined) return /^.("""|'''|.)([^]*)\1$/.exec(raw)![2];
    const { value, end } = pythonValueAt(this.text, this.#at);
    this.#at = end;
    return value;
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
