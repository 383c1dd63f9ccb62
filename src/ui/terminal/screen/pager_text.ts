/** The rows of a long text: a position in it, and a search. Only blocks in view are laid out. @module */

import { escapeRegex } from "../../../text/glob.ts";
import type { CellRow } from "./frame.ts";

/** A piece of a text; the same object while it does not change. */
export interface PagerBlock {
  rows(columns: number): readonly CellRow[];
  /** The text of its rows; the rows of a block whose source has no match are not searched. */
  readonly source: string;
  /** Called when its last row is shown after its first; the pager opens at such a block. */
  readonly onSeen?: () => void;
}

export interface PagerPlace {
  block: number;
  row: number;
  cell: number;
}

type RowPlace = Omit<PagerPlace, "cell">;

interface MatchRange {
  row: number;
  from: number;
  to: number;
  isFirst: boolean;
}

const MAX_LAID_OUT = 200_000;
const BLOCK_COST = 200;
/** What may separate two characters of a match at the end of a row: the margin of the next row. */
const BREAK = "(?:\\s*\\n[\\s▌|]*)?";

export class PagerText {
  #blocks: readonly PagerBlock[] = [];
  #columns = 80;
  #page = 1;
  #top: RowPlace = { block: 0, row: 0 };
  #isAtEnd = true;
  #isOpen = false;
  readonly #begun = new Set<PagerBlock>();
  /** The rows of the blocks that were laid out last, oldest first. */
  readonly #rows = new Map<PagerBlock, readonly CellRow[]>();
  #laidOut = 0;
  #query = "";
  #pattern = /(?:)/g;
  #matches = new WeakMap<PagerBlock, readonly MatchRange[]>();

  constructor(private readonly blocks: () => readonly PagerBlock[]) {}

  page(columns: number, rows: number): { row: CellRow; at: PagerPlace }[] {
    this.#blocks = this.blocks();
    this.#page = rows;
    if (columns !== this.#columns) this.#resize(columns);
    const asked = this.#isOpen ? -1 : this.#blocks.findIndex(({ onSeen }) => onSeen !== undefined);
    if (asked !== -1) [this.#isAtEnd, this.#top] = [false, { block: asked, row: 0 }];
    this.#isOpen = true;
    this.#settle();
    const shown: { row: CellRow; at: PagerPlace }[] = [];
    for (let { block, row } = this.#top; shown.length < rows; row++) {
      while (row >= this.#rowsOf(block).length) {
        if (this.#blocks[block] === undefined) return shown;
        [block, row] = [block + 1, 0];
      }
      const all = this.#rowsOf(block);
      shown.push({ row: all[row]!, at: { block, row, cell: 0 } });
      const one = this.#blocks[block]!;
      if (one.onSeen && row === 0) this.#begun.add(one);
      if (this.#begun.has(one) && row === all.length - 1) one.onSeen?.();
    }
    return shown;
  }

  go(count: number): void {
    this.#isAtEnd = count === Infinity;
    if (this.#isAtEnd) return;
    this.#top = count === -Infinity ? { block: 0, row: 0 } : this.#from(this.#top, count);
    this.#settle();
  }

  show(place: PagerPlace): void {
    const last = this.#from(this.#top, this.#page - 1);
    if (rowsBetween(place, this.#top) <= 0 && rowsBetween(last, place) <= 0) return;
    this.#isAtEnd = false;
    this.#top = this.#from(place, -Math.floor(this.#page / 3));
  }

  where(): string {
    if (this.#isAtEnd) return "end";
    const { block, row } = this.#from(this.#top, this.#page - 1);
    const size = (blocks: readonly PagerBlock[]) =>
      blocks.reduce((sum, { source }) => sum + source.length, 0);
    const { source } = this.#blocks[block] ?? { source: "" };
    const part = source.length * (row + 1) / Math.max(1, this.#rowsOf(block).length);
    const above = size(this.#blocks.slice(0, block)) + part;
    return `${Math.min(99, Math.floor(100 * above / Math.max(1, size(this.#blocks))))} %`;
  }

  /** The first match in or below the visible rows, or the last one above them. */
  nearest(query: string): PagerPlace | undefined {
    const from = { ...this.#top, cell: -1 };
    return this.#find(query, 1, from, false) ?? this.#find(query, -1, from, false);
  }

  /** The next match after (or before) `from`; wraps around the ends. */
  next(query: string, direction: 1 | -1, from: PagerPlace | undefined): PagerPlace | undefined {
    return this.#find(query, direction, from ?? { ...this.#top, cell: -1 }, true);
  }

  matchesOf(query: string, { block, row }: PagerPlace): readonly MatchRange[] {
    return this.#matchesIn(query, block).filter((range) => range.row === row);
  }

  #find(
    query: string,
    direction: 1 | -1,
    from: PagerPlace,
    wraps: boolean,
  ): PagerPlace | undefined {
    const { length } = this.#blocks;
    const steps = wraps ? length : direction === 1 ? length - 1 - from.block : from.block;
    for (let step = 0; step <= steps; step++) {
      const block = (from.block + direction * step + length * 2) % length;
      const places = this.#matchesIn(query, block).filter(({ isFirst }) => isFirst)
        .map(({ row, from }) => ({ block, row, cell: from }));
      // The first block is searched twice: from the place on, and at last up to it.
      const ahead = step > 0
        ? places
        : places.filter((place) =>
          direction * (rowsBetween(from, place) || place.cell - from.cell) > 0
        );
      const found = direction === 1 ? ahead[0] : ahead.at(-1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #matchesIn(query: string, block: number): readonly MatchRange[] {
    if (this.#query !== query) {
      this.#query = query;
      this.#pattern = patternOf(query);
      this.#matches = new WeakMap();
    }
    const one = this.#blocks[block];
    if (one === undefined) return [];
    let ranges = this.#matches.get(one);
    if (ranges === undefined) {
      ranges = mayMatch(one, query) ? rangesOf(this.#pattern, this.#rowsOf(block)) : [];
      this.#matches.set(one, ranges);
    }
    return ranges;
  }

  #rowsOf(block: number): readonly CellRow[] {
    const one = this.#blocks[block];
    if (one === undefined) return [];
    const known = this.#rows.get(one);
    if (known !== undefined) return known;
    const rows = one.rows(this.#columns);
    this.#rows.set(one, rows);
    this.#laidOut += one.source.length + BLOCK_COST;
    for (const old of this.#rows.keys()) {
      if (this.#laidOut <= MAX_LAID_OUT || old === one) break;
      this.#rows.delete(old);
      this.#laidOut -= old.source.length + BLOCK_COST;
    }
    return rows;
  }

  /** The row `count` rows away, or the last one in that direction. */
  #from(place: RowPlace, count: number): RowPlace {
    let { block } = place;
    let row = place.row + count;
    while (row < 0 && block > 0) row += this.#rowsOf(--block).length;
    while (block < this.#blocks.length - 1 && row >= this.#rowsOf(block).length) {
      row -= this.#rowsOf(block++).length;
    }
    return { block, row: Math.max(0, Math.min(row, this.#rowsOf(block).length - 1)) };
  }

  #settle(): void {
    const block = Math.max(0, this.#blocks.length - 1);
    const last = { block, row: Math.max(0, this.#rowsOf(block).length - 1) };
    const lowest = this.#from(last, 1 - this.#page);
    this.#isAtEnd ||= rowsBetween(lowest, this.#top) >= 0;
    if (this.#isAtEnd) this.#top = lowest;
  }

  #resize(columns: number): void {
    const { block, row } = this.#top;
    const share = row / Math.max(1, this.#rowsOf(block).length);
    this.#columns = columns;
    this.#rows.clear();
    this.#laidOut = 0;
    this.#matches = new WeakMap();
    this.#top = { block, row: Math.floor(share * this.#rowsOf(block).length) };
  }
}

/** Positive if `b` is below `a`, 0 for the same row. */
const rowsBetween = (a: RowPlace, b: RowPlace) => b.block - a.block || b.row - a.row;

const isExact = (query: string) => query !== query.toLowerCase();

/** False if no row of a block can match, without laying it out. */
function mayMatch({ source }: PagerBlock, query: string): boolean {
  const text = isExact(query) ? source : source.toLowerCase();
  return (query.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => text.includes(word));
}

function patternOf(query: string): RegExp {
  const signs = [...query.trim()].map((sign) =>
    sign === " " ? `(?:${BREAK.slice(3, -2)}|\\s+)` : escapeRegex(sign)
  );
  return new RegExp(signs.join(BREAK), isExact(query) ? "gu" : "giu");
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
      ranges.push({ row: at, ...cells, isFirst: at === row });
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
