/** Writes lines of Markdown with folded white space, after the marks of their lists and quotations. @module */

/** The maximum indented level. Otherwise, each line would grow with its depth. */
const MAX_LEVELS = 10;

/** A position in the current line. */
interface Mark {
  line: number;
  piece: number;
}

export class LineWriter {
  readonly #out: string[] = [];
  #pieces: string[] = [];
  #lineNumber = 0;
  #wantsSpace = false;
  /** The quotations around an empty line before the next line; undefined without an empty line. */
  #blankQuotes: number | undefined;
  /** The number of the next item of each open list; undefined in an unordered list. */
  #lists: (number | undefined)[] = [];
  #quotes = 0;
  /** The mark of an item, which starts the next line. */
  #item: string | undefined;
  /** The mark of a heading, which comes after that. */
  lead = "";
  /** The number of characters so far. */
  length = 0;

  /** Writes text with runs of white space as one space. */
  text(given: string): void {
    const text = given.replace(/\s+/g, " ");
    if (text === "") return;
    const begins = text.startsWith(" ");
    if (text !== " ") {
      if ((begins || this.#wantsSpace) && this.#pieces.length > 0) this.#pieces.push(" ");
      this.#pieces.push(text.trim());
      this.length += text.length;
    }
    this.#wantsSpace = text.endsWith(" ") || text === " ";
  }

  space(): void {
    this.#wantsSpace = true;
  }

  mark(): Mark {
    return { line: this.#lineNumber, piece: this.#pieces.length };
  }

  /** Removes and returns the text since a mark, with the space before it; undefined if its line has ended. */
  take({ line, piece }: Mark): { before: string; text: string } | undefined {
    if (line !== this.#lineNumber) return undefined;
    const text = this.#pieces.splice(piece).join("");
    this.length -= text.length;
    return { before: /^ /.test(text) ? " " : "", text: text.trim() };
  }

  /** Writes text unchanged, with only the requested space around it. */
  piece(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }

  endLine(): void {
    const text = this.#pieces.join("").trim();
    this.#pieces = [];
    this.#wantsSpace = false;
    this.#lineNumber++;
    if (text === "") return;
    this.#emit(this.lead + text);
    this.lead = "";
  }

  /** Puts an empty line before the next one, except in lists. */
  blank(): void {
    if (this.#lists.length > 0) return;
    this.#blankQuotes = Math.min(this.#blankQuotes ?? Infinity, this.#quotes);
  }

  /** Writes lines unchanged, such as code, after the marks of their lists and quotations. */
  lines(lines: readonly string[]): void {
    this.endLine();
    for (const line of lines) this.#emit(line);
  }

  openList(next: number | undefined): void {
    this.blank();
    this.#lists.push(next);
  }

  closeList(): void {
    this.#lists.pop();
    this.#item = undefined;
    this.blank();
  }

  item(): void {
    const next = this.#lists.at(-1);
    this.#item = next === undefined ? "- " : `${next}. `;
    if (next !== undefined) this.#lists[this.#lists.length - 1] = next + 1;
  }

  quote(step: 1 | -1): void {
    this.#quotes = Math.max(0, this.#quotes + step);
  }

  toString(): string {
    return this.#out.join("\n");
  }

  #emit(line: string): void {
    const quotes = "> ".repeat(Math.min(this.#quotes, MAX_LEVELS));
    const blank = this.#blankQuotes;
    this.#blankQuotes = undefined;
    if (blank !== undefined && this.#out.length > 0) {
      this.#out.push(quotes.slice(0, 2 * blank).trimEnd());
    }
    const outer = this.#lists.slice(0, MAX_LEVELS);
    const item = this.#item;
    if (item !== undefined) outer.pop();
    const indent = outer.map((next) => next === undefined ? "  " : "   ").join("");
    this.#item = undefined;
    this.#out.push(`${quotes}${indent}${item ?? ""}${line}`.trimEnd());
    this.length += quotes.length + indent.length + 1;
  }
}
