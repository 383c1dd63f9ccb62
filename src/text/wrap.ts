/** Breaks lines of `text` over `columns` characters at spaces, and longer paths after a slash. */
export function wrapped(text: string, columns: number): string {
  return text.split("\n").flatMap((line) => wrapLine(line, columns)).join("\n");
}

/** Breaks lines over `columns` between their parts, as in `one fact · another fact`, in place of the dot. */
export const wrappedParts = (text: string, columns: number): string =>
  wrapped(text.replace(/(?<!·) (?!·)/g, "\u00a0"), columns).replace(/ ·$|^· /gm, "")
    .replaceAll("\u00a0", " ");

function wrapLine(line: string, columns: number): string[] {
  // Each row repeats the indentation, so it is limited to half a row.
  const indent = Math.min(/^ *(?:· )?/.exec(line)![0].length, columns >> 1);
  const rows = [""];
  const words = line.split(/(?<=\S)(?= )/)
    .flatMap((word) => word.length > columns ? word.split(/(?<=[^/][/])(?=[^/])/) : [word]);
  for (const word of words) {
    const row = rows.at(-1)!;
    if (row.trim() !== "" && row.length + word.length > columns) {
      rows.push(" ".repeat(indent) + word.trimStart());
    } else rows[rows.length - 1] = row + word;
  }
  return rows;
}
