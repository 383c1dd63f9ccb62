/**
 * The lists and quotations that a line of Markdown text is in. Not CommonMark: a line belongs to an
 * item if it begins two columns right of its marker, as models, too, indent what is below `1.` by
 * two. @module
 */

import type { Prefix } from "./fill.ts";
import { DIM, type Painter } from "../style.ts";

/** A quotation, or an item of a list. */
export interface Container {
  quote: boolean;
  /** The column of an item's marker, from the last quotation's sign on. */
  column: number;
  marker: string;
  /** True when the marker has been written. */
  shown: boolean;
}

/**
 * The text before that of a line: bars, and either the markers that are not shown yet or the space
 * below them. In deep lists the outer levels give way.
 */
export function prefix(
  containers: Container[],
  marks: boolean,
  columns: number,
  paint: Painter,
): Prefix {
  let text = "";
  let width = 0;
  for (let i = containers.length - 1; i >= 0; i--) {
    const container = containers[i]!;
    const { quote, marker, shown } = container;
    const more = marker.length + 1;
    if (width === 0 || width + more <= columns / 2) {
      const sign = quote ? paint(marker, DIM) : marks && !shown ? marker : " ".repeat(more - 1);
      text = `${sign} ${text}`;
      width += more;
    }
    if (marks) container.shown = true;
  }
  return { text, width };
}

/** The number of containers that a line belongs to by its indentation: their markers are further left. */
export function fitting(containers: Container[], from: number, indent: number): number {
  let depth = from;
  for (; depth < containers.length; depth++) {
    const { quote, column } = containers[depth]!;
    if (quote || column + 2 > indent) break;
  }
  return depth;
}
