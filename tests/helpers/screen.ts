/**
 * A terminal that is only a grid: it supports just what the program's own output needs. Other sequences throw, so
 * tests also prove that the program sends no others.
 */

import { graphemes, graphemeWidth } from "../../src/text/width.ts";

/** A screen of `columns` by `rows`, whose rows scroll away at the top. */
export class Screen {
  /** Rows that have scrolled away. */
  readonly scrollback: string[] = [];
  row = 0;
  /** May be one past the last column: a terminal wraps only when the next character comes. */
  column = 0;
  #cells: string[][];
  #styles: string[][];
  #style = "";
  #wraps = true;
  /** The screen that is covered by the alternate one. */
  #covered: { cells: string[][]; styles: string[][]; row: number; column: number } | undefined;

  constructor(readonly columns: number, readonly rows: number) {
    this.#cells = Array.from({ length: rows }, () => []);
    this.#styles = Array.from({ length: rows }, () => []);
  }

  /** The rows from the top, without blanks at their ends; the empty ones below are left out. */
  get lines(): string[] {
    const lines = this.#cells.map((row) => this.#text(row));
    while (lines.length > 0 && lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** The styles of what is shown, cell by cell. */
  get styles(): string {
    return JSON.stringify(
      this.#styles.map((row, r) =>
        row.map((style, c) => (this.#cells[r]![c] ?? " ") === " " ? "" : style)
      ),
    );
  }

  #text(row: string[]): string {
    return Array.from(row, (cell) => cell ?? " ").join("").trimEnd();
  }

  /** Does what a terminal does with `output`. */
  write(output: string): void {
    const pattern = new RegExp(
      "\x1b\\[(\\??[\\d;]*)([A-Za-z@])|([\r\n\b\x07])|([^\0-\x1f]+)|[^]",
      "g",
    );
    for (const [all, param = "", letter, control, text] of output.matchAll(pattern)) {
      if (text !== undefined) { for (const grapheme of graphemes(text)) this.#put(grapheme); }
      else if (control !== undefined) this.#control(control);
      else if (letter !== undefined) this.#sequence(param, letter);
      else throw new Error(`Unexpected in ${JSON.stringify(output)}: ${JSON.stringify(all)}`);
    }
  }

  #put(grapheme: string): void {
    if (/\p{Cc}|\p{Cf}(?<!\u200d|\u200c)/u.test(grapheme)) {
      throw new Error(`Not printable: ${JSON.stringify(grapheme)}`);
    }
    const width = graphemeWidth(grapheme);
    if (this.column + width > this.columns) {
      if (this.#wraps) throw new Error(`Wraps at ${JSON.stringify(grapheme)}`);
      this.column = this.columns - width;
    }
    const row = this.#cells[this.row]!;
    // Half of an overwritten wide character disappears.
    if (row[this.column] === "") row[this.column - 1] = " ";
    row[this.column] = grapheme;
    if (width === 2) row[this.column + 1] = "";
    for (let i = 0; i < width; i++) this.#styles[this.row]![this.column + i] = this.#style;
    this.column += width;
    if (row[this.column] === "") row[this.column] = " ";
  }

  #control(char: string): void {
    if (char === "\r") this.column = 0;
    if (char === "\b") this.column = Math.min(this.column, this.columns - 1) - 1;
    if (char !== "\n") return;
    if (this.row < this.rows - 1) this.row++;
    else {
      this.scrollback.push(this.#text(this.#cells.shift()!));
      this.#styles.shift();
      this.#cells.push([]);
      this.#styles.push([]);
    }
  }

  #sequence(param: string, letter: string): void {
    const count = Number(param || 1);
    switch (letter) {
      case "A":
        this.row = Math.max(0, this.row - count);
        return;
      case "B":
        this.row = Math.min(this.rows - 1, this.row + count);
        return;
      case "G":
        this.column = Math.min(this.columns, count) - 1;
        return;
      case "H":
        this.row = this.column = 0;
        return;
      case "J":
        for (let r = param === "2" ? 0 : this.row + 1; r < this.rows; r++) this.#cutRow(r, 0);
        this.#cutRow(this.row, this.column);
        return;
      case "K":
        this.#cutRow(this.row, Math.min(this.column, this.columns - 1));
        return;
      case "@":
        this.#cells[this.row]!.splice(this.column, 0, ...Array<string>(count).fill(" "));
        this.#styles[this.row]!.splice(this.column, 0, ...Array<string>(count).fill(""));
        this.#cutRow(this.row, this.columns);
        return;
      case "P":
        this.#cells[this.row]!.splice(this.column, count);
        this.#styles[this.row]!.splice(this.column, count);
        return;
      case "m":
        this.#style = param === "" || param === "0" ? "" : this.#style + param + ";";
        return;
      case "h":
      case "l":
        if (param === "?7") this.#wraps = letter === "h";
        else if (param === "?1049") this.#alternate(letter === "h");
        else if (!["?2004", "?25", "?1004"].includes(param)) break;
        return;
    }
    throw new Error(`Unexpected sequence: CSI ${param} ${letter}`);
  }

  /** True while the alternate screen is shown. */
  get isAlternate(): boolean {
    return this.#covered !== undefined;
  }

  #alternate(isOn: boolean): void {
    if (isOn === this.isAlternate) throw new Error("The alternate screen is entered or left twice");
    if (this.#covered !== undefined) {
      const { cells, styles, row, column } = this.#covered;
      [this.#cells, this.#styles, this.row, this.column] = [cells, styles, row, column];
      this.#covered = undefined;
      return;
    }
    const { row, column } = this;
    this.#covered = { cells: this.#cells, styles: this.#styles, row, column };
    this.#cells = Array.from({ length: this.rows }, () => []);
    this.#styles = Array.from({ length: this.rows }, () => []);
  }

  #cutRow(row: number, column: number): void {
    this.#cells[row]!.length = Math.min(this.#cells[row]!.length, column);
    this.#styles[row]!.length = this.#cells[row]!.length;
  }
}
