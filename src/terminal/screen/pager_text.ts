/** A text of any length in rows: a place in it, ways through it, a search. @module */

import { escapeRegex } from "../../text/glob.ts";
import type { CellRow } from "./frame.ts";

/** A piece of a text; the same object as long as it stays the same. */
export interface PagerBlock {
  /** Its rows of at most `columns`. */
  rows(columns: number): readonly CellRow[];
  /** The text that its rows are made from: what is not found in it is not looked for in them. */
  readonly source: string;
  /** True where its rows are `source` itself, and no more than broken. */
  readonly isVerbatim?: boolean;
  /** Called once its last row is shown after its first one; the pager opens at the first such block. */
  readonly onSeen?: () => void;
}

/** A row of a text, and a cell of it. */
export interface PagerPlace {
  block: number;
  row: number;
  cell: number;
}

/** The part of a match that stands in one row, in cells: from the first to behind the last. */
interface MatchRange {
  row: number;
  from: number;
  to: number;
  /** True where the match begins here. */
  isFirst: boolean;
}

/** Rows are kept of blocks of so many characters in all, of which each counts for some more. */
const MAX_LAID_OUT = 200_000;
const BLOCK_COST = 200;
/** What may stand between two characters of a match where a row is broken: margins of the next one. */
const BREAK = "(?:\\s*\\n[\\s▌|]*)?";

export class PagerText {
  #blocks: readonly PagerBlock[] = [];
  #columns = 80;
  #page = 1;
  /** The first row that is shown. */
  #top = { block: 0, row: 0 };
  /** True while the end is shown, also of a text that grows. */
  #isAtEnd = true;
  /** True once the first rows were shown. */
  #isOpen = false;
  /** The blocks whose first row was shown, of those that tell when they are seen. */
  readonly #begun = new Set<PagerBlock>();
  /** The rows of the blocks that were laid out last, oldest first, and the characters of these. */
  readonly #rows = new Map<PagerBlock, readonly CellRow[]>();
  #laidOut = 0;
  #pattern = { query: "", pattern: /(?:)/g };
  readonly #matches = new WeakMap<PagerBlock, { query: string; ranges: readonly MatchRange[] }>();

  constructor(private readonly blocks: () => readonly PagerBlock[]) {}

  /** The rows that a screen of `columns` by `rows` shows. */
  page(columns: number, rows: number): { row: CellRow; at: PagerPlace }[] {
    this.#blocks = this.blocks();
    this.#page = rows;
    if (columns !== this.#columns) this.#resize(columns);
    if (!this.#isOpen) this.#open();
    this.#settle();
    const shown: { row: CellRow; at: PagerPlace }[] = [];
    for (let { block, row } = this.#top; shown.length < rows; row++) {
      while (row >= this.#rowsOf(block).length) {
        if (this.#blocks[block] === undefined) return shown;
        [block, row] = [block + 1, 0];
      }
      shown.push({ row: this.#rowsOf(block)[row]!, at: { block, row, cell: 0 } });
      this.#tell(block, row);
    }
    return shown;
  }

  #open(): void {
    this.#isOpen = true;
    const block = this.#blocks.findIndex(({ onSeen }) => onSeen !== undefined);
    if (block === -1) return;
    this.#isAtEnd = false;
    this.#top = { block, row: 0 };
  }

  /** A row is shown: tells a block that wants to know that it was seen. */
  #tell(block: number, row: number): void {
    const one = this.#blocks[block]!;
    if (one.onSeen === undefined) return;
    if (row === 0) this.#begun.add(one);
    if (row === this.#rowsOf(block).length - 1 && this.#begun.has(one)) one.onSeen();
  }

  /** Goes `count` rows down, or (negative) up. */
  go(count: number): void {
    this.#isAtEnd = count === Infinity;
    if (this.#isAtEnd) return;
    this.#top = count === -Infinity ? { block: 0, row: 0 } : this.#from(this.#top, count);
    this.#settle();
  }

  /** Has `place` among the rows that are shown. */
  show({ block, row }: PagerPlace): void {
    const last = this.#from(this.#top, this.#page - 1);
    if (isBefore({ block, row }, this.#top) || isBefore(last, { block, row })) {
      this.#isAtEnd = false;
      this.#top = this.#from({ block, row }, -Math.floor(this.#page / 3));
    }
  }

  /** The part of the text that is above the last row shown, in words. */
  where(): string {
    if (this.#isAtEnd) return "end";
    const { block, row } = this.#from(this.#top, this.#page - 1);
    const before = this.#blocks.slice(0, block).reduce((sum, { source }) => sum + source.length, 0);
    const all = this.#blocks.slice(block)
      .reduce((sum, { source }) => sum + source.length, before);
    const { source } = this.#blocks[block] ?? { source: "" };
    const part = source.length * (row + 1) / Math.max(1, this.#rowsOf(block).length);
    return `${Math.min(99, Math.floor(100 * (before + part) / Math.max(1, all)))} %`;
  }

  /** The match that is nearest to the rows that are shown: in them or below, else above. */
  nearest(query: string): PagerPlace | undefined {
    const from = { ...this.#top, cell: -1 };
    return this.#find(query, 1, from, false) ?? this.#find(query, -1, from, false);
  }

  /** The next match behind `from`, or before it; from the other end where there is none. */
  next(query: string, direction: 1 | -1, from: PagerPlace | undefined): PagerPlace | undefined {
    return this.#find(query, direction, from ?? { ...this.#top, cell: -1 }, true);
  }

  /** The parts of matches in the row at a place. */
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
      const isAhead = (place: PagerPlace) =>
        direction === 1 ? isBefore(from, place) : isBefore(place, from);
      // The block of the beginning is looked at twice: ahead of it, and at last behind it.
      const fitting = step === 0 ? places.filter(isAhead) : places;
      const found = direction === 1 ? fitting[0] : fitting.at(-1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #matchesIn(query: string, block: number): readonly MatchRange[] {
    const one = this.#blocks[block];
    if (one === undefined) return [];
    const known = this.#matches.get(one);
    if (known?.query === query) return known.ranges;
    const pattern = this.#patternOf(query);
    const ranges = mayHold(one, query, pattern) ? rangesOf(pattern, this.#rowsOf(block)) : [];
    this.#matches.set(one, { query, ranges });
    return ranges;
  }

  #patternOf(query: string): RegExp {
    if (this.#pattern.query !== query) this.#pattern = { query, pattern: patternOf(query) };
    return this.#pattern.pattern;
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

  /** The row `count` rows away, as far as there is one. */
  #from(place: { block: number; row: number }, count: number): { block: number; row: number } {
    let { block } = place;
    let row = place.row + count;
    while (row < 0 && block > 0) row += this.#rowsOf(--block).length;
    while (block < this.#blocks.length - 1 && row >= this.#rowsOf(block).length) {
      row -= this.#rowsOf(block++).length;
    }
    return { block, row: Math.max(0, Math.min(row, this.#rowsOf(block).length - 1)) };
  }

  /** Ends at the end of the text: no rows are left empty that it could fill. */
  #settle(): void {
    const block = Math.max(0, this.#blocks.length - 1);
    const last = { block, row: Math.max(0, this.#rowsOf(block).length - 1) };
    const lowest = this.#from(last, 1 - this.#page);
    this.#isAtEnd ||= !isBefore(this.#top, lowest);
    if (this.#isAtEnd) this.#top = lowest;
  }

  /** Keeps about the same text in the first row. */
  #resize(columns: number): void {
    const { block, row } = this.#top;
    const share = row / Math.max(1, this.#rowsOf(block).length);
    this.#columns = columns;
    this.#rows.clear();
    this.#laidOut = 0;
    for (const one of this.#blocks) this.#matches.delete(one);
    this.#top = { block, row: Math.floor(share * this.#rowsOf(block).length) };
  }
}

type RowPlace = { block: number; row: number; cell?: number };

function isBefore(a: RowPlace, b: RowPlace): boolean {
  return (a.block - b.block || a.row - b.row || (a.cell ?? 0) - (b.cell ?? 0)) < 0;
}

/** A query in capitals looks for them; any other finds both. */
const isExact = (query: string) => query !== query.toLowerCase();

/** False where no row of a block can hold a match: this takes no layout. */
function mayHold({ source, isVerbatim }: PagerBlock, query: string, pattern: RegExp): boolean {
  if (isVerbatim) return source.search(pattern) !== -1;
  const text = isExact(query) ? source : source.toLowerCase();
  return (query.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => text.includes(word));
}

/** Finds `query` also across the ends of rows. */
function patternOf(query: string): RegExp {
  const signs = [...query.trim()].map((sign) =>
    sign === " " ? `(?:${BREAK.slice(3, -2)}|\\s+)` : escapeRegex(sign)
  );
  return new RegExp(signs.join(BREAK), isExact(query) ? "gu" : "giu");
}

/** The matches of `pattern` in `rows`. */
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

/** The cells of `row` that hold the characters from `from` to `to` of its text. */
function cellRange(row: CellRow, from: number, to: number): { from: number; to: number } {
  let at = 0;
  let [first, end] = [row.length, 0];
  row.forEach(({ text }, cell) => {
    if (at < to && at + text.length > from) [first, end] = [Math.min(first, cell), cell + 1];
    at += text.length;
  });
  return { from: first, to: end };
}
