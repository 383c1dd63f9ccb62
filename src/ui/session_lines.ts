/** Questions about what a folder brings, and the end of a session, as lines of text. @module */

import type { Confirmation } from "../session/frontend.ts";
import type { RecordFile } from "../records/recorder.ts";
import type { Painter } from "./terminal/style.ts";
import { shortName } from "../records/store.ts";
import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { rowsOf } from "../text/width.ts";
import { changeRows } from "./change.ts";

type Asked = Pick<Confirmation, "files">;

export function trustStartRows({ files }: Asked, columns: number): string[] {
  const shown = files.filter(({ text }) => text !== undefined);
  return shown.slice(0, MAX_STARTS).flatMap(({ name, text = "", lines }) => {
    const start = text.trim().split("\n", START_LINES);
    const rows = start.map((line) => {
      const [row = "", more] = rowsOf(sanitize(line), Math.max(10, columns - 6));
      return `  │ ${row}${more === undefined ? "" : "…"}`;
    });
    const rest = lines - start.length;
    return [`  ${oneLine(name)}:`, ...rows, ...rest > 0 ? [`  … ${count(rest, "more line")}`] : []];
  });
}

export function trustWholeRows(question: Asked, columns: number, paint: Painter): string[] {
  return [
    ...trustChangeRows(question, columns, paint, true),
    ...question.files.flatMap(({ name, text }) => {
      if (text === undefined) return [];
      const rows = text.trimEnd().split("\n")
        .flatMap((line) => rowsOf(sanitize(line), Math.max(10, columns - 4), true));
      return [`  ${oneLine(name)}:`, ...rows.map((row) => `  │ ${row}`)];
    }),
  ];
}

const MAX_STARTS = 3;
const START_LINES = 8;

export function trustChangeRows(
  { files }: Asked,
  columns: number,
  paint: Painter,
  isWhole = false,
): string[] {
  return files.flatMap(({ name, change }) => {
    // If only the final newline changed, no line did.
    if (!change?.lines?.length) return [];
    const { type, lines } = change;
    const drawn = { path: name, isNew: type === "added", lines, morePlaces: 0 };
    return [`  ${oneLine(name)}`, ...changeRows(drawn, columns, paint, isWhole)];
  });
}

export function farewellLines({ path, isBehind }: Pick<RecordFile, "path" | "isBehind">): string[] {
  return [
    ...isBehind ? ["The newest messages could not be saved."] : [],
    `To continue: copilot --resume ${oneLine(shortName(path))}`,
  ];
}
