/** A message of the person, as it stands in the scrollback: a band from margin to margin. @module */

import { brokenRow, cellsOf, rowsText } from "../styled.ts";
import type { Unit } from "../units.ts";
import { type Cell, widthOf } from "./frame.ts";

/** The SGR sequences of a band, and of the mark at its left. */
export interface BandLook {
  band: string;
  mark: string;
}

/** The rows of `units` as text, each `columns` wide. */
export function bandText(units: readonly Unit[], columns: number, look: BandLook): string {
  const { band } = look;
  const [mark] = cellsOf("▌", band + look.mark);
  const [space] = cellsOf(" ", band);
  const room = Math.max(1, columns - 2);
  const lines: Cell[][] = [[]];
  for (const unit of units) {
    if (unit === "\n") lines.push([]);
    else lines.at(-1)!.push(...cellsOf(typeof unit === "string" ? unit : unit.label, band));
  }
  const rows = lines.flatMap((line) => brokenRow(line, room)).map((row) => {
    const rest = Math.max(0, room - widthOf(row));
    return [mark!, space!, ...row, ...Array.from({ length: rest }, () => space!)];
  });
  return rowsText(rows);
}
