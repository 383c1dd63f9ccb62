/**
 * The styles of text; no other module names a colour (ECMA-48: SGR; xterm's ctlseqs: OSC 11; no-color.org).
 * @module
 */

import type { Theme } from "../../config.ts";
import { showsUtf8 } from "./locale.ts";

/** The colours of the terminal; with `none`, no escape sequences are written. */
type Colors = "none" | "16" | "256" | "rgb";

export type Background = "dark" | "light";

export interface Appearance {
  colors: Colors;
  /** False for ASCII only. */
  unicode: boolean;
  /** While it is unknown, the terminal's own 16 colours are used. */
  background?: Background | undefined;
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
/** Added lines, and success. */
export const ADDED: Style = 1024;
/** Removed lines, and failure. */
export const REMOVED: Style = 2048;
/** Questions and refusals. */
export const ASKED: Style = 4096;
/** The user's own text, and selected rows. */
export const ACCENT: Style = 8192;
export const REVERSE: Style = 1 << 19;
/** Backgrounds: changed lines, the changed words in them, and the user's messages. */
export const ADDED_BAND: Style = 1 << 14;
export const REMOVED_BAND: Style = 1 << 15;
export const ADDED_WORD: Style = 1 << 16;
export const REMOVED_WORD: Style = 1 << 17;
export const USER_BAND: Style = 1 << 18;

const ATTRIBUTES: readonly [Style, sgr: string][] = [
  [BOLD, "1"],
  [ITALIC, "3"],
  [UNDERLINE, "4"],
  [REVERSE, "7"],
  [STRIKE, "9"],
];

/** A role's SGR parameter with 16 colours, and its colours on dark and on light backgrounds. */
type ColourRole = readonly [Style, basic: string, dark: string, light: string];

/** The 16 colours that usual palettes show legibly on black and on white. */
export const TEXT_ROLES: readonly ColourRole[] = [
  [DIM, "2", "#b0b0b0", "#585858"],
  [CODE, "36", "#7fd4d4", "#005f6b"],
  [KEYWORD, "35", "#d7afff", "#7a1fa2"],
  [STRING, "32", "#a8d99c", "#1f5f24"],
  [NUMBER, "36", "#8fcfef", "#0a4a84"],
  [COMMENT, "2", "#b0b0a0", "#575757"],
  [ADDED, "32", "#7fd88f", "#1a6429"],
  [REMOVED, "31", "#ff9e9e", "#a8121f"],
  [ASKED, "33", "#e5c07b", "#6b4200"],
  [ACCENT, "36", "#8ec5ff", "#164f99"],
];

/** The first role that applies is used, so that changed words differ from the band of their line. */
export const BAND_ROLES: readonly ColourRole[] = [
  [ADDED_WORD, "1;32", "#1b4527", "#c0ecca"],
  [REMOVED_WORD, "1;31", "#5a262b", "#fbd0d0"],
  [ADDED_BAND, "32", "#12321c", "#dcf5e0"],
  [REMOVED_BAND, "31", "#431c20", "#fde3e3"],
  [USER_BAND, "", "#2a3038", "#e8eef6"],
];

export interface Painter {
  (text: string, style: Style): string;
  /** True if backgrounds have colours of their own. */
  readonly hasBands?: boolean;
}

/** A painter for a terminal, which follows later changes of `look`. */
export function painter(look: Appearance): Painter {
  let known = new Map<Style, string>();
  let { background, colors } = look;
  const paint = (text: string, style: Style) => {
    if (style === 0 || text === "") return text;
    if (look.background !== background || look.colors !== colors) {
      known = new Map();
      ({ background, colors } = look);
    }
    let start = known.get(style);
    if (start === undefined) known.set(style, start = styleStart(look, style));
    return start === "" ? text : `${start}${text}\x1b[m`;
  };
  return Object.defineProperty(paint, "hasBands", { get: () => hasBands(look) });
}

/** Returns the SGR sequence that starts a style; empty without colours. */
export type Sgr = (style: Style) => string;

export const styleEnd = (style: string): string => style === "" ? "" : "\x1b[m";

function hasBands({ colors, background }: Appearance): boolean {
  return background !== undefined && (colors === "256" || colors === "rgb");
}

export function styleStart(look: Appearance, style: Style): string {
  if (look.colors === "none") return "";
  const sgr = ATTRIBUTES.filter(([bit]) => style & bit).map(([, sgr]) => sgr);
  for (const [roles, plane] of [[TEXT_ROLES, 38], [BAND_ROLES, 48]] as const) {
    // A colour has priority over dim text.
    const role = roles.find(([bit]) => style & bit & ~DIM) ?? roles.find(([bit]) => style & bit);
    if (role === undefined) continue;
    const [, basic, dark, light] = role;
    if (!hasBands(look)) sgr.push(...basic === "" ? [] : [basic]);
    else sgr.push(colourSgr(look.background === "dark" ? dark : light, plane, look.colors));
  }
  return sgr.length === 0 ? "" : `\x1b[${sgr.join(";")}m`;
}

/** The same with the terminal's own 16 colours. */
export const ownStyle: Sgr = (style) => styleStart({ colors: "16", unicode: true }, style);

function colourSgr(colour: string, plane: number, colors: Colors): string {
  const rgb = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return colors === "rgb" ? `${plane};2;${rgb.join(";")}` : `${plane};5;${nearest256(rgb)}`;
}

/** The nearest of xterm's 256 colours: of its cube, or of its greys. */
function nearest256(rgb: readonly number[]): number {
  const cube = rgb.map((value) => value < 48 ? 0 : Math.round((Math.max(value, 75) - 55) / 40));
  const average = rgb.reduce((sum, value) => sum + value) / 3;
  const grey = Math.min(23, Math.max(0, Math.round((average - 8) / 10)));
  const distance = (other: (at: number) => number) =>
    rgb.reduce((sum, value, at) => sum + (value - other(at)) ** 2, 0);
  const toCube = distance((at) => cube[at] === 0 ? 0 : 55 + 40 * cube[at]!);
  if (distance(() => 8 + 10 * grey) < toCube) return 232 + grey;
  return 16 + 36 * cube[0]! + 6 * cube[1]! + cube[2]!;
}

/** The abilities of the terminal, by its environment. */
export function appearance(
  env: { get(name: string): string | undefined } = Deno.env,
  os: string = Deno.build.os,
): Appearance {
  const windows = os === "windows";
  const term = env.get("TERM") ?? (windows ? "windows" : "dumb");
  const all = /direct|kitty|ghostty|alacritty|foot|wezterm/.test(term) ||
    /truecolor|24bit/.test(env.get("COLORTERM") ?? "") || windows;
  const colors = all ? "rgb" : term.includes("256") ? "256" : "16";
  return {
    colors: env.get("NO_COLOR") || term === "dumb" ? "none" : colors,
    unicode: showsUtf8(env, os),
  };
}

/** `look` with the theme that the user selected. */
export function themed(look: Appearance, theme: Theme): Appearance {
  if (theme === "auto") return look;
  return theme === "none" ? { ...look, colors: "none" } : { ...look, background: theme };
}

/** The brightness of a terminal's answer to OSC 11, such as `rgb:1e1e/1e1e/1e1e`. */
export function backgroundOf(answer: string): Background | undefined {
  const parts = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(answer)?.slice(1);
  if (parts === undefined) return undefined;
  const [r, g, b] = parts.map((part) => parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * r! + 0.587 * g! + 0.114 * b! > 0.5 ? "light" : "dark";
}
