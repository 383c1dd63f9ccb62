/** Tables of pages: of data, as Markdown has them, or of the page's layout, which are no tables. Pure. @module */

/** A table with a longer cell, in characters, is one of layout. */
const MAX_CELL = 500;
/** The most columns that one cell takes. */
const MAX_COLUMN_SPAN = 50;

export class PageTable {
  #rows: string[][] = [];
  /** True once it is clear that it only lays the page out: its cells are then parts of the page. */
  isLayout = false;
  /** The columns of the cell that is read; undefined between cells. */
  #span: number | undefined;

  get inCell(): boolean {
    return this.#span !== undefined;
  }

  openRow(): void {
    if (this.#rows.at(-1)?.length !== 0) this.#rows.push([]);
  }

  /** Begins a cell; the number of columns that it takes. */
  openCell(span: string | undefined): number {
    if (this.#rows.length === 0) this.openRow();
    return this.#span = Math.min(Math.max(Math.floor(Number(span)) || 1, 1), MAX_COLUMN_SPAN);
  }

  closeCell(text: string): void {
    const more = new Array((this.#span ?? 1) - 1).fill("");
    this.#span = undefined;
    this.#rows.at(-1)!.push(text, ...more);
  }

  /** Ends the table, or what of it was read so far where it turns out to be none. */
  takeLines(): string[] {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""));
    this.#rows = [];
    const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
    const isPlain = columns < 2 || rows.some((row) => row.some((cell) => cell.length > MAX_CELL));
    if (this.isLayout || isPlain) {
      return rows.map((row) => row.filter((cell) => cell !== "").join(" · "));
    }
    const lines = rows.map((row) =>
      `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
    );
    lines.splice(1, 0, `|${" --- |".repeat(rows[0]!.length)}`);
    return lines;
  }
}
