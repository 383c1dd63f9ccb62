import { oneLine } from "../../../text/one_line.ts";
import { ACCENT, DIM, type Painter } from "../style.ts";
import type { TaskItem } from "../../../types/tool.ts";

/** The default maximum of rows. Steps further from the current one are only counted. */
const MAX_TASK_ROWS = 8;

/** Returns at most `most` rows. The first open step is the current one. */
export function taskRows(
  tasks: readonly TaskItem[],
  { paint, margin = "  " }: { paint: Painter; margin?: string },
  most = MAX_TASK_ROWS,
): string[] {
  const open = tasks.findIndex(({ isDone }) => !isDone);
  const at = open === -1 ? tasks.length - 1 : open;
  const isLong = tasks.length > most;
  const first = isLong ? Math.max(0, Math.min(at - 2, tasks.length - most + 1)) : 0;
  const shown = tasks.slice(first, isLong ? first + most - 1 : undefined);
  const rows = shown.map(({ text, isDone }, n) => {
    const sign = isDone ? "✔" : first + n === open ? "▸" : "○";
    const row = `${margin}${sign} ${oneLine(text)}`;
    return paint(row, isDone ? DIM : first + n === open ? ACCENT : 0);
  });
  const more = tasks.length - shown.length;
  return more > 0 ? [...rows, paint(`${margin}  ${more} more`, DIM)] : rows;
}
