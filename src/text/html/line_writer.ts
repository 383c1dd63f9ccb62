/** Lines of Markdown: white space folded, behind the marks of the lists and quotations they stand in. @module */

/** Deeper levels are not indented further: each line would grow with its depth. */
const MAX_LEVELS = 10;

interface ListLevel {
  /** The number of the next item; undefined where items have none. */
  next: number | undefined;
}

/** A place in the line that is written. */
interface Mark {
  line: number;
  piece: number;
}

export class LineWriter {
  readonly #out: string[] = [];
  /** The pieces of the line that is written. */
  #pieces: string[] = [];
  #lineNumber = 0;
  #wantsSpace = false;
  /** The quotations around the empty line that comes before the next one; undefined where none does. */
  #blankQuotes: number | undefined;
  #lists: ListLevel[] = [];
  #quotes = 0;
  /** What the next line begins with: the mark of an item. */
  #item: string | undefined;
  /** What the next line begins with, behind that: the mark of a heading. */
  lead = "";
  /** The characters written so far. */
  length = 0;

  /** Text in which runs of white space are one space. */
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

  /** Takes the text since a mark back, with the space before it; undefined where its line has ended. */
  take({ line, piece }: Mark): { before: string; text: string } | undefined {
    if (line !== this.#lineNumber) return undefined;
    const text = this.#pieces.splice(piece).join("");
    this.length -= text.length;
    return { before: /^ /.test(text) ? " " : "", text: text.trim() };
  }

  /** Text as it is, with no more space around than is asked for. */
  piece(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }

  /** Ends the line; one without text is none. */
  endLine(): void {
    const text = this.#pieces.join("").trim();
    this.#pieces = [];
    this.#wantsSpace = false;
    this.#lineNumber++;
    if (text === "") return;
    this.#emit(this.lead + text);
    this.lead = "";
  }

  /** Leaves a line empty before the next one, outside of lists. */
  blank(): void {
    if (this.#lists.length > 0) return;
    this.#blankQuotes = Math.min(this.#blankQuotes ?? Infinity, this.#quotes);
  }

  /** Lines as they are, such as code, behind the marks of where they stand. */
  lines(lines: readonly string[]): void {
    this.endLine();
    for (const line of lines) this.#emit(line);
  }

  openList(level: ListLevel): void {
    this.blank();
    this.#lists.push(level);
  }

  closeList(): void {
    this.#lists.pop();
    this.#item = undefined;
    this.blank();
  }

  item(): void {
    const level = this.#lists.at(-1);
    this.#item = level?.next === undefined ? "- " : `${level.next++}. `;
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
    const indent = outer.map(({ next }) => next === undefined ? "  " : "   ").join("");
    this.#item = undefined;
    this.#out.push(`${quotes}${indent}${item ?? ""}${line}`.trimEnd());
    this.length += quotes.length + indent.length + 1;
  }
}
