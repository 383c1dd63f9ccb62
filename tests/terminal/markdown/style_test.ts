import { assert, assertEquals } from "@std/assert";
import { appearance, painter } from "../../../src/terminal/style.ts";

Deno.test("TTY-09 style: what the environment says of the terminal", () => {
  const rows: [Record<string, string>, string, string, boolean][] = [
    [{ TERM: "xterm", LANG: "en_US.UTF-8" }, "linux", "16", true],
    [{ TERM: "xterm-256color", LANG: "de_DE.utf8" }, "linux", "256", true],
    [{ TERM: "xterm", COLORTERM: "truecolor", LC_CTYPE: "C.UTF-8" }, "darwin", "256", true],
    [{ TERM: "xterm-256color", NO_COLOR: "1", LANG: "C" }, "linux", "none", false],
    [{ TERM: "xterm-256color", NO_COLOR: "" }, "linux", "256", false],
    [{ TERM: "dumb", COLORTERM: "truecolor" }, "linux", "none", false],
    [{}, "linux", "none", false],
    [{ TERM: "linux", LC_ALL: "C", LANG: "en_US.UTF-8" }, "linux", "16", false],
    [{ TERM: "linux", LC_ALL: "", LANG: "en_US.UTF-8" }, "linux", "16", true],
    [{}, "windows", "256", true],
    [{ NO_COLOR: "1" }, "windows", "none", true],
  ];
  for (const [env, os, colors, unicode] of rows) {
    assertEquals(
      appearance({ get: (name) => env[name] }, os),
      { colors, unicode } as unknown,
      `${os}`,
    );
  }
});

Deno.test("style: colours are legible on black and on white", () => {
  for (let bit = 0; bit < 12; bit++) {
    assertEquals(painter("none")("a", 1 << bit), "a");
    const [, few, end] = painter("16")("a", 1 << bit).split("\x1b[");
    assert(/^(?:[1-49]|3[1256])ma$/.test(few!) && end === "m", few);
    const color = /38;5;(\d+)ma/.exec(painter("256")("a", 1 << bit))?.[1];
    if (color === undefined) continue;
    const light = luminance(Number(color));
    assert((light + 0.05) / 0.05 > 4 && 1.05 / (light + 0.05) > 4, color);
  }
});

/** The relative luminance (WCAG 2.2) of one of xterm's 256 colours. */
function luminance(color: number): number {
  const grey = 8 + (color - 232) * 10;
  const level = (step: number) => step === 0 ? 0 : 55 + 40 * step;
  const cube = color - 16;
  const rgb = color >= 232
    ? [grey, grey, grey]
    : [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
