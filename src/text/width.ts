/**
 * The columns of text on a terminal, by grapheme. Sources: UAX #29 (through `Intl.Segmenter`), UAX #11 and the
 * emoji properties of UTS #51 (through `\p{...}`, as new as the runtime), and {@linkcode EAST_ASIAN_WIDE} from
 * EastAsianWidth.txt of Unicode 17.0.
 * @module
 */

let segmenter: Intl.Segmenter | undefined;

/** Returns the graphemes of `text`: each looks like one character. */
export function graphemes(text: string): string[] {
  // Below U+0300, only CR LF joins.
  if (/^[\n\t\x20-\xff]*$/.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** East_Asian_Width W and F without Emoji_Presentation. Gaps of unassigned characters are closed. */
const EAST_ASIAN_WIDE =
  "\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u3029\u3030-\u303e" +
  "\u3041-\u3163\u3165-\u3247\u3250-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6b" +
  "\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{16fe3}\u{16ff2}-\u{1b2fb}\u{1d300}-\u{1d376}" +
  "\u{1f200}-\u{1f265}\u{1f6d8}\u{1fa8a}-\u{1faef}\u{20000}-\u{3fffd}";
/** Created on first use, like the other expressions of {@linkcode graphemeWidth}: V8 takes a millisecond for them. */
let doubleWidth: RegExp | undefined;

/** Returns the columns of a grapheme: 0, 1 or 2. Tabs and control characters count 0. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= " " && grapheme <= "~") return 1;
  // Characters that a selector makes emoji, such as keycaps.
  if (/^\p{Emoji}\ufe0f/u.test(grapheme)) return 2;
  doubleWidth ??= new RegExp(`[\\p{Emoji_Presentation}${EAST_ASIAN_WIDE}]`, "u");
  // Characters without a column: marks above and below, Hangul vowels and finals, controls.
  const zeroWidth =
    /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7fb]/u;
  let width = 0;
  for (const char of grapheme) width += zeroWidth.test(char) ? 0 : doubleWidth.test(char) ? 2 : 1;
  return Math.min(2, width);
}

export function displayWidth(text: string): number {
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** True for a grapheme, such as an emoji, to which terminals give different widths. */
export function isWidthDisputed(grapheme: string): boolean {
  return grapheme.length > 1 || grapheme > "\xff" && /\p{Extended_Pictographic}/u.test(grapheme);
}

/**
 * Splits `line` into rows of at most `width` columns, with tabs as spaces. `atWords` breaks after spaces if
 * possible. Code points are measured one by one: if they join, a row is narrower than measured, but never wider,
 * which would overflow into the next row.
 */
export function rowsOf(line: string, width: number, atWords = false): string[] {
  const rows: string[] = [];
  let row = "";
  let column = 0;
  for (const char of line.replaceAll("\t", "    ")) {
    const columns = graphemeWidth(char);
    while (column + columns > width && row !== "") {
      const isBroken = atWords && char !== " " && row.trimStart().includes(" ");
      const end = isBroken ? row.lastIndexOf(" ") + 1 : row.length;
      rows.push(row.slice(0, end));
      row = row.slice(end);
      column = Array.from(row, graphemeWidth).reduce((sum, one) => sum + one, 0);
    }
    row += char;
    column += columns;
  }
  return [...rows, row];
}

/** Cuts `text` to one row of `columns`, with an ellipsis at the cut. */
export function inRow(text: string, columns: number): string {
  const [row = "", more] = rowsOf(text, columns);
  return more === undefined ? row : `${rowsOf(text, Math.max(1, columns - 1))[0]}…`;
}
