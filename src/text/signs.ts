/** The signs of what the program says, for terminals without UTF-8. @module */

/** Signs beyond ASCII, each with its stand-in of one column. */
const ASCII_SIGNS: Readonly<Record<string, string>> = {
  ...{ "●": "*", "•": "*", "·": "-", "−": "-", "–": "-", "─": "-", "…": "~", "❯": ">" },
  ...{ "└": "|", "│": "|", "┆": ":", "▌": "|" },
};
const SIGNS = new RegExp(`[${Object.keys(ASCII_SIGNS).join("")}]`, "g");
/** Pictures of control characters, as `sanitize` shows them. */
const PICTURES = /[\u2400-\u241f\u2421]/g;

/** `text` of ours, for a terminal that shows ASCII alone unless it has `unicode`. */
export function withSigns(text: string, unicode: boolean): string {
  if (unicode) return text;
  return text.replaceAll("…", "...").replaceAll("␠", "\\u{20}").replace(
    SIGNS,
    (sign) => ASCII_SIGNS[sign]!,
  )
    .replace(PICTURES, (sign) => `^${String.fromCharCode((sign.charCodeAt(0) ^ 0x40) & 0x7f)}`);
}

/** A sign in as many columns as it has itself. */
export function asciiSign(sign: string): string {
  return ASCII_SIGNS[sign] ?? (sign.search(PICTURES) < 0 ? sign : "?");
}
