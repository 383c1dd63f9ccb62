/** Tables of pages: data, as in Markdown, or layout, which is not a table. Pure. @module */

/** The maximum characters of a cell in a data table. */
const MAX_CELL = 500;
const MAX_COLUMN_SPAN = 50;

export class PageTable {
  #rows: string[][] = [];
  /** True if it is layout: its cells are parts of the page. */
  isLayout = false;
  /** The columns of the current cell; undefined between cells. */
  span: number | undefined;

  openRow(): void {
    if (this.#rows.at(-1)?.length !== 0) this.#rows.push([]);
  }

  openCell(span: string | undefined): number {
    if (this.#rows.length === 0) this.openRow();
    return this.span = Math.min(Math.max(Math.floor(Number(span)) || 1, 1), MAX_COLUMN_SPAN);
  }

  closeCell(text: string): void {
    const more = new Array((this.span ?? 1) - 1).fill("");
    this.span = undefined;
    this.#rows.at(-1)!.push(text, ...more);
  }

  /** Ends the table and returns its lines: Markdown, or plain text for layout. */
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
