import { walkSync } from "@std/fs/walk";
import { assert, assertEquals } from "@std/assert";
import {
  ADDED,
  ADDED_BAND,
  ADDED_WORD,
  appearance,
  type Background,
  backgroundOf,
  BAND_ROLES,
  BOLD,
  DIM,
  KEYWORD,
  painter,
  styleStart,
  TEXT_ROLES,
} from "../../../src/ui/terminal/style.ts";

Deno.test("TTY-09 style: what the environment says of the terminal", () => {
  const rows: [Record<string, string>, string, string, boolean][] = [
    [{ TERM: "xterm", LANG: "en_US.UTF-8" }, "linux", "16", true],
    [{ TERM: "xterm-256color", LANG: "de_DE.utf8" }, "linux", "256", true],
    [{ TERM: "xterm", COLORTERM: "truecolor", LC_CTYPE: "C.UTF-8" }, "darwin", "rgb", true],
    [{ TERM: "xterm-kitty" }, "linux", "rgb", false],
    [{ TERM: "xterm-256color", NO_COLOR: "1", LANG: "C" }, "linux", "none", false],
    [{ TERM: "xterm-256color", NO_COLOR: "" }, "linux", "256", false],
    [{ TERM: "dumb", COLORTERM: "truecolor" }, "linux", "none", false],
    [{}, "linux", "none", false],
    [{ TERM: "linux", LC_ALL: "C", LANG: "en_US.UTF-8" }, "linux", "16", false],
    [{ TERM: "linux", LC_ALL: "", LANG: "en_US.UTF-8" }, "linux", "16", true],
    [{}, "windows", "rgb", true],
    [{ NO_COLOR: "1" }, "windows", "none", true],
  ];
  for (const [env, os, colors, unicode] of rows) {
    const look = appearance({ get: (name) => env[name] }, os);
    assertEquals(look, { colors, unicode } as unknown, JSON.stringify(env));
  }
});

Deno.test("a terminal's answer says whether its background is dark", () => {
  const rows: [string, Background | undefined][] = [
    ["rgb:0000/0000/0000", "dark"],
    ["rgb:1e1e/1e1e/2e2e", "dark"],
    ["rgb:ff/ff/ff", "light"],
    ["rgba:fdfd/f6f6/e3e3/ffff", "light"],
    ["rgb:f/f/f", "light"],
    ["#ffffff", undefined],
    ["", undefined],
  ];
  for (const [answer, background] of rows) assertEquals(backgroundOf(answer), background, answer);
});

const PAPERS: Record<Background, string[]> = {
  dark: ["#000000", "#1e1e1e", "#282c34"],
  light: ["#ffffff", "#fdf6e3", "#eeeeee"],
};

Deno.test("every role has a contrast of 4.5 to its background and to every band on it", () => {
  for (const background of ["dark", "light"] as const) {
    const column = background === "dark" ? 2 : 3;
    for (const colors of ["256", "rgb"] as const) {
      const look = { colors, unicode: true, background };
      const shown = (style: number) => rgbOf(styleStart(look, style));
      const papers = PAPERS[background].map((hex) => rgbOf(`48;2;${decimal(hex)}m`));
      const bands = BAND_ROLES.map(([style]) => shown(style));
      for (const [style, , ...hexes] of TEXT_ROLES) {
        const text = shown(style);
        if (colors === "rgb") assertEquals(text.join(";"), decimal(hexes[column - 2]!));
        for (const paper of [...papers, ...bands]) {
          const ratio = contrast(text, paper);
          assert(ratio >= 4.5, `${background} ${colors}: ${text} on ${paper} is ${ratio}`);
        }
      }
    }
  }
});

Deno.test("without a known background, the terminal's own 16 colours are used", () => {
  const look = { colors: "rgb", unicode: true } as const;
  const paint = painter(look);
  assertEquals(paint("a", ADDED), "\x1b[32ma\x1b[m");
  assertEquals(paint("a", KEYWORD | ADDED_BAND), "\x1b[35;32ma\x1b[m");
  assertEquals(paint("a", ADDED_BAND | ADDED_WORD), "\x1b[1;32ma\x1b[m");
  assertEquals(paint.hasBands, false);
  for (const [style] of [...TEXT_ROLES, ...BAND_ROLES]) {
    const sgr = styleStart(look, style).slice(2);
    assert(/^(?:(?:[12]|3[1-6])(?:;3[1-6])?m)?$/.test(sgr), sgr);
  }
});

Deno.test("what is painted once the background is known has its colours", () => {
  const look: Parameters<typeof painter>[0] = { colors: "rgb", unicode: true };
  const paint = painter(look);
  const before = paint("a", BOLD | DIM);
  look.background = "light";
  assertEquals([before, paint("a", BOLD | DIM)], [
    "\x1b[1;2ma\x1b[m",
    "\x1b[1;38;2;88;88;88ma\x1b[m",
  ]);
  assertEquals(paint.hasBands, true);
  assertEquals(painter({ ...look, colors: "none" })("a", BOLD), "a");
  assertEquals(painter({ ...look, colors: "16" })("a", DIM), "\x1b[2ma\x1b[m");
  assertEquals(paint("a", DIM | KEYWORD), paint("a", KEYWORD));
});

Deno.test("no other module holds a colour", () => {
  const src = new URL("../../../src/", import.meta.url);
  for (const { path } of walkSync(src, { includeDirs: false, exts: [".ts"] })) {
    if (/[\\/]terminal[\\/]style\.ts$/.test(path)) continue;
    const code = Deno.readTextFileSync(path).replace(/^ *(\*|\/\/).*$/gm, "");
    assertEquals(code.match(/x1b\[(?:[39][0-7]|10[0-7]|[34]8;|4[0-7])[;\dm].*/g), null, path);
  }
});

const decimal = (hex: string) =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(";");

function rgbOf(sgr: string): number[] {
  const [, space, ...values] = /(\d+(?:;\d+)+)m$/.exec(sgr)![1]!.split(";").map(Number);
  if (space === 2) return values;
  const color = values[0]!;
  const grey = 8 + (color - 232) * 10;
  if (color >= 232) return [grey, grey, grey];
  const level = (step: number) => step === 0 ? 0 : 55 + 40 * step;
  const cube = color - 16;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
}

/** The contrast of two colours (WCAG 2.2). */
function contrast(one: number[], other: number[]): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
