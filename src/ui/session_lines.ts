/** Questions about what a folder brings, and the end of a session, as lines of text. @module */

import type { Confirmation } from "../session/frontend.ts";
import type { RecordFile } from "../records/recorder.ts";
import type { Painter } from "./terminal/style.ts";
import { shortName } from "../records/store.ts";
import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { inRow, rowsOf } from "../text/width.ts";
import { changeRows } from "./change.ts";

type Asked = Pick<Confirmation, "files">;

const MAX_STARTS = 3;
const START_LINES = 8;

/** Returns what changed in each file, or its text; unless `isWhole`, only the start of the first texts. */
export function trustRows(
  { files }: Asked,
  columns: number,
  paint: Painter,
  isWhole = false,
): string[] {
  let texts = 0;
  return files.flatMap(({ name, text, lines, change }) => {
    const title = `  ${oneLine(name)}`;
    // If only the final newline changed, no line did.
    if (change?.lines?.length) {
      const { type, lines } = change;
      const drawn = { path: name, isNew: type === "added", lines, morePlaces: 0 };
      return [title, ...changeRows(drawn, columns, paint, isWhole)];
    }
    if (text === undefined || !isWhole && ++texts > MAX_STARTS) return [];
    const room = Math.max(10, columns - 4);
    const shown = isWhole ? text.trimEnd().split("\n") : text.trim().split("\n", START_LINES);
    const rows = shown.flatMap((line) =>
      isWhole ? rowsOf(sanitize(line), room, true) : inRow(sanitize(line), room)
    );
    const rest = isWhole ? 0 : lines - shown.length;
    const more = rest > 0 ? [`  … ${count(rest, "more line")}`] : [];
    return [`${title}:`, ...rows.map((row) => `  │ ${row}`), ...more];
  });
}

export function farewellLines({ path, isBehind }: Pick<RecordFile, "path" | "isBehind">): string[] {
  return [
    ...isBehind ? ["The newest messages could not be saved."] : [],
    `To continue: copilot --resume ${oneLine(shortName(path))}`,
  ];
}
