/**
 * The styles of printed text, as far as the terminal can show them.
 * Sources: ECMA-48 (SGR), no-color.org, POSIX (LC_ALL, LC_CTYPE, LANG). @module
 */

/** The colours to use; with `none` no escape sequence at all is written. */
type Colors = "none" | "16" | "256";

export interface Appearance {
  colors: Colors;
  /** True when bullets, rules and bars may be other than ASCII. */
  unicode: boolean;
}

/** One style, or several joined by `|`; 0 is plain text. */
export type Style = number;
export const BOLD: Style = 1;
export const DIM: Style = 2;
export const ITALIC: Style = 4;
export const UNDERLINE: Style = 8;
export const STRIKE: Style = 16;
export const CODE: Style = 32;
export const KEYWORD: Style = 64;
export const STRING: Style = 128;
export const NUMBER: Style = 256;
export const COMMENT: Style = 512;
export const ADDED: Style = 1024;
export const REMOVED: Style = 2048;

/**
 * SGR parameters, of 16 and of 256 colours. Of the 16, those that every usual palette keeps legible
 * on black and on white; of the 256, ones with a contrast above 4 to both.
 */
const PARAMETERS: readonly [Style, string, string][] = [
  [BOLD, "1", "1"],
  [DIM, "2", "2"],
  [ITALIC, "3", "3"],
  [UNDERLINE, "4", "4"],
  [STRIKE, "9", "9"],
  [CODE, "36", "38;5;30"],
  [KEYWORD, "35", "38;5;133"],
  [STRING, "32", "38;5;28"],
  [NUMBER, "36", "38;5;30"],
  [COMMENT, "2", "38;5;243"],
  [ADDED, "32", "38;5;28"],
  [REMOVED, "31", "38;5;161"],
];

/** Gives text a style, and takes it off again behind it. */
export type Painter = (text: string, style: Style) => string;

export function painter(colors: Colors): Painter {
  if (colors === "none") return (text) => text;
  const known = new Map<Style, string>();
  return (text, style) => {
    if (style === 0 || text === "") return text;
    let start = known.get(style);
    if (start === undefined) {
      const used = PARAMETERS.filter(([bit]) => style & bit);
      start = `\x1b[${used.map(([, few, many]) => colors === "16" ? few : many).join(";")}m`;
      known.set(style, start);
    }
    return `${start}${text}\x1b[m`;
  };
}

/** The abilities of the terminal, as its environment says. */
export function appearance(
  env: { get(name: string): string | undefined } = Deno.env,
  os: string = Deno.build.os,
): Appearance {
  const windows = os === "windows";
  const term = env.get("TERM") ?? (windows ? "windows" : "dumb");
  const locale = env.get("LC_ALL") || env.get("LC_CTYPE") || env.get("LANG") || "";
  const many = /256|direct|kitty|ghostty|alacritty|foot|wezterm/.test(term) ||
    /truecolor|24bit/.test(env.get("COLORTERM") ?? "") || windows;
  return {
    colors: env.get("NO_COLOR") || term === "dumb" ? "none" : many ? "256" : "16",
    unicode: windows || /utf-?8/i.test(locale),
  };
}
