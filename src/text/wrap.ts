/**
 * Line breaking at spaces.
 *
 * @module
 */

/** `text` with its long lines broken at spaces, for a terminal of `columns`. */
export function wrapped(text: string, columns: number): string {
  return text.split("\n").flatMap((line) => wrapLine(line, columns)).join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  // Not all of any indentation: each row repeats it.
  const indent = Math.min(/^ *(?:· )?/.exec(line)![0].length, columns >> 1);
  const rows = [""];
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const row = rows.at(-1)!;
    if (row.trim() !== "" && row.length + word.length > columns) {
      rows.push(" ".repeat(indent) + word.trimStart());
    } else rows[rows.length - 1] = row + word;
  }
  return rows;
}
