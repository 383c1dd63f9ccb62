/** The rows of a long text: a position in it, and a search. @module */

import { escapeRegex } from "../../../text/glob.ts";
import type { CellRow } from "./frame.ts";

/** A piece of a text; the same object while it does not change. */
export interface PagerBlock {
  rows(columns: number): readonly CellRow[];
  /** Called when its last row is shown after its first; the pager opens at such a block. */
  readonly onSeen?: () => void;
}

interface PagerLine {
  row: CellRow;
  block: PagerBlock;
  /** The number of its row in the block. */
  at: number;
}

export interface PagerPlace {
  row: number;
  cell: number;
}

interface MatchRange {
  row: number;
  from: number;
  to: number;
  isFirst: boolean;
}

/** What may separate two characters of a match at the end of a row: the margin of the next row. */
const BREAK = "(?:\\s*\\n[\\s▌|]*)?";

export class PagerText {
  #blocks: readonly PagerBlock[] = [];
  #columns = 80;
  #page = 1;
  #top = 0;
  #isAtEnd = true;
  #isOpen = false;
  #lines: readonly PagerLine[] = [];
  readonly #begun = new Set<PagerBlock>();
  #known = new WeakMap<PagerBlock, readonly PagerLine[]>();
  #query = "";
  #matches = new WeakMap<PagerBlock, readonly MatchRange[]>();

  constructor(private readonly blocks: () => readonly PagerBlock[]) {}

  page(columns: number, rows: number): { row: CellRow; at: number }[] {
    this.#blocks = this.blocks();
    this.#page = rows;
    if (columns !== this.#columns) this.#resize(columns);
    this.#lines = this.#blocks.flatMap((block) => this.#linesOf(block));
    const asked = this.#isOpen ? -1 : this.#lines.findIndex(({ block }) => block.onSeen);
    if (asked !== -1) [this.#isAtEnd, this.#top] = [false, asked];
    this.#isOpen = true;
    this.#settle();
    const shown = this.#lines.slice(this.#top, this.#top + rows);
    for (const { block, at } of shown) {
      if (block.onSeen && at === 0) this.#begun.add(block);
      if (this.#begun.has(block) && at === this.#linesOf(block).length - 1) block.onSeen?.();
    }
    return shown.map(({ row }, n) => ({ row, at: this.#top + n }));
  }

  go(count: number): void {
    this.#isAtEnd = count === Infinity;
    if (this.#isAtEnd) return;
    this.#top += count;
    this.#settle();
  }

  show({ row }: PagerPlace): void {
    if (row >= this.#top && row < this.#top + this.#page) return;
    this.#isAtEnd = false;
    this.#top = Math.max(0, row - Math.floor(this.#page / 3));
  }

  where(): string {
    if (this.#isAtEnd) return "end";
    const shown = this.#top + this.#page;
    return `${Math.min(99, Math.floor(100 * shown / Math.max(1, this.#lines.length)))} %`;
  }

  /** The first match in or below the visible rows, or the last one above them. */
  nearest(query: string): PagerPlace | undefined {
    const places = this.#places(query);
    return places.find(({ row }) => row >= this.#top) ?? places.at(-1);
  }

  /** The next match after (or before) `from`; wraps around the ends. */
  next(
    query: string,
    direction: 1 | -1,
    from: PagerPlace = { row: this.#top, cell: -1 },
  ): PagerPlace | undefined {
    const places = this.#places(query);
    const isAhead = ({ row, cell }: PagerPlace) =>
      direction * (row - from.row || cell - from.cell) > 0;
    return direction === 1
      ? places.find(isAhead) ?? places[0]
      : places.findLast(isAhead) ?? places.at(-1);
  }

  matchesOf(query: string, row: number): readonly MatchRange[] {
    const { block, at } = this.#lines[row]!;
    return this.#matchesIn(query, block).filter((range) => range.row === at);
  }

  #places(query: string): PagerPlace[] {
    let start = 0;
    return this.#blocks.flatMap((block) => {
      const first = start;
      start += this.#linesOf(block).length;
      return this.#matchesIn(query, block).filter(({ isFirst }) => isFirst)
        .map(({ row, from }) => ({ row: first + row, cell: from }));
    });
  }

  #matchesIn(query: string, block: PagerBlock): readonly MatchRange[] {
    if (this.#query !== query) this.#matches = new WeakMap();
    this.#query = query;
    let ranges = this.#matches.get(block);
    if (ranges === undefined) {
      ranges = rangesOf(patternOf(query), this.#linesOf(block).map(({ row }) => row));
      this.#matches.set(block, ranges);
    }
    return ranges;
  }

  #linesOf(block: PagerBlock): readonly PagerLine[] {
    let lines = this.#known.get(block);
    if (lines === undefined) {
      lines = block.rows(this.#columns).map((row, at) => ({ row, block, at }));
      this.#known.set(block, lines);
    }
    return lines;
  }

  #settle(): void {
    const lowest = Math.max(0, this.#lines.length - this.#page);
    this.#isAtEnd ||= this.#top >= lowest;
    this.#top = this.#isAtEnd ? lowest : Math.max(0, this.#top);
  }

  #resize(columns: number): void {
    const top = this.#lines[this.#top];
    const share = top && top.at / this.#linesOf(top.block).length;
    this.#columns = columns;
    this.#known = new WeakMap();
    this.#matches = new WeakMap();
    if (top === undefined || share === undefined) return;
    const before = this.#blocks.slice(0, this.#blocks.indexOf(top.block));
    const rows = before.reduce((sum, block) => sum + this.#linesOf(block).length, 0);
    this.#top = rows + Math.floor(share * this.#linesOf(top.block).length);
  }
}

function patternOf(query: string): RegExp {
  const signs = [...query.trim()].map((sign) =>
    sign === " " ? `(?:${BREAK.slice(3, -2)}|\\s+)` : escapeRegex(sign)
  );
  // A query without capitals matches both cases.
  return new RegExp(signs.join(BREAK), query === query.toLowerCase() ? "giu" : "gu");
}

function rangesOf(pattern: RegExp, rows: readonly CellRow[]): MatchRange[] {
  const texts = rows.map((row) => row.map(({ text }) => text).join(""));
  const ranges: MatchRange[] = [];
  let row = 0;
  let start = 0;
  for (const { index, 0: found } of texts.join("\n").matchAll(pattern)) {
    const end = index + found.length;
    while (index > start + texts[row]!.length) start += texts[row++]!.length + 1;
    for (let at = row, from = start; from < end; at++) {
      const cells = cellRange(rows[at]!, index - from, end - from);
      if (cells.from < cells.to) ranges.push({ row: at, ...cells, isFirst: at === row });
      from += texts[at]!.length + 1;
    }
  }
  return ranges;
}

function cellRange(row: CellRow, from: number, to: number): { from: number; to: number } {
  let at = 0;
  let [first, end] = [row.length, 0];
  row.forEach(({ text }, cell) => {
    if (at < to && at + text.length > from) [first, end] = [Math.min(first, cell), cell + 1];
    at += text.length;
  });
  return { from: first, to: end };
}
