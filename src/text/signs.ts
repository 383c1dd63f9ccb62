/** Replacements of signs and text for terminals without UTF-8. @module */

import { graphemes, graphemeWidth } from "./width.ts";

const ASCII_STAND_INS: readonly (readonly [signs: string, standIn: string])[] = [
  ...[["●◐", "*"], ["•·−–—‒‐‑─━▯⠹⠦", "-"], ["…", "~"], ["❯→▶▸", ">"], ["←", "<"]] as const,
  ...[["└│▌▎├┃║⠋⠼⠏", "|"], ["┆", ":"], ["↵⠸⠧⠇", "\\"], ["┌┐┘┤┬┴┼╭╮╯╰╪", "+"], ["═", "="]] as const,
  ...[["↑", "^"], ["↓", "v"], ["▮█", "#"], ["⠙⠴", "/"], ["○", "o"]] as const,
  ...[["‘’‚", "'"], ["“”„«»", '"'], ["✓✔✅", "v"], ["×✗✘❌", "x"], ["⚠", "!"]] as const,
];
const ASCII_SIGNS = new Map(
  ASCII_STAND_INS.flatMap(([signs, standIn]) => [...signs].map((sign) => [sign, standIn])),
);
const BEYOND_ASCII = /\P{ASCII}+/gu;
/** The pictures that `sanitize` shows for control characters. */
const PICTURES = /[\u2400-\u241f\u2421]/g;

/** Returns `text` for a terminal that shows only ASCII, unless `unicode` is true. */
export function withSigns(text: string, unicode: boolean): string {
  if (unicode) return text;
  return text.replaceAll("…", "...").replaceAll("␠", "\\u{20}")
    .replace(PICTURES, (sign) => `^${String.fromCharCode((sign.charCodeAt(0) ^ 0x40) & 0x7f)}`)
    .replace(BEYOND_ASCII, (signs) => graphemes(signs).map(asciiSign).join(""));
}

/** Replaces a grapheme beyond ASCII in its own width: a letter without its marks, otherwise `?`. */
export function asciiSign(sign: string): string {
  const width = graphemeWidth(sign);
  const base = ASCII_SIGNS.get(sign) ?? sign.normalize("NFKD").replace(/\p{M}/gu, "");
  const isShown = /^[\x20-\x7e]+$/.test(base) && base.length <= width;
  return isShown ? base.padEnd(width) : "?".repeat(width);
}
