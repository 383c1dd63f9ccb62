/** The names of keys. Sources: xterm's ctlseqs, the kitty protocol, terminfo's screen and tmux. @module */

const keyTable = (rows: string): Readonly<Record<string | number, string>> =>
  Object.fromEntries(rows.split(" ").map((row) => row.split("=")));

/** Final characters of CSI and SS3 sequences. */
const FINALS = keyTable("A=up B=down C=right D=left F=end H=home P=f1 Q=f2 R=f3 S=f4");
/** Final characters of CSI sequences without modifiers. */
const SINGLE_FINALS = keyTable("Z=shift-tab I=focus-in O=focus-out");
/** Numbers of `CSI n ~`; the gaps are the VT220's. */
const NUMBERS = keyTable(
  "1=home 2=insert 3=delete 4=end 5=pageup 6=pagedown 7=home 8=end 11=f1 12=f2 13=f3 14=f4 15=f5 " +
    "17=f6 18=f7 19=f8 20=f9 21=f10 23=f11 24=f12",
);
/** Code points in kitty's protocol and xterm's modifyOtherKeys of keys that are not text. */
const CODES = keyTable(
  "8=backspace 9=tab 13=enter 27=escape 127=backspace 57414=enter 57417=left 57418=right 57419=up " +
    "57420=down 57421=pageup 57422=pagedown 57423=home 57424=end 57425=insert 57426=delete",
);
/** C0 control characters that are not Ctrl and a letter. */
const CONTROL_KEYS = keyTable(
  "\r=enter \t=tab \x7f=backspace \x00=ctrl-space \x1c=ctrl-\\ \x1d=ctrl-] \x1e=ctrl-^ \x1f=ctrl-_",
);
/** The keypad's characters in kitty's protocol, from 57399 on. */
const KITTY_KEYPAD = "0123456789./*-+";

export function controlKey(char: string): string {
  return CONTROL_KEYS[char] ?? `ctrl-${String.fromCharCode(char.charCodeAt(0) + 0x60)}`;
}

/** `name` with xterm's modifier number: 1 + the bits shift 1, alt 2, ctrl 4, and more. */
function withModifiers(name: string, modifier: number): string {
  const bits = Math.max(0, modifier - 1);
  // Meta and Super count as Alt; the lock keys are ignored.
  const alt = bits & (2 | 8 | 32) ? "alt-" : "";
  return `${bits & 4 ? "ctrl-" : ""}${alt}${bits & 1 ? "shift-" : ""}${name}`;
}

/** A key's name, its text, or undefined if a sequence is not a key. */
export type KeyMeaning = { name: string } | { text: string } | undefined;

/** The meaning of `SS3 params letter`; `alt`: an Escape came before it. */
export function ss3Meaning(params: string, letter: string, alt: boolean): KeyMeaning {
  return keyNamed(FINALS[letter], Number(params.split(";").at(-1) || 1), alt);
}

/** The meaning of `CSI params letter`; `alt`: an Escape came before it. */
export function csiMeaning(params: string, letter: string, alt: boolean): KeyMeaning {
  if (!/^[\d;:]*$/.test(params)) return undefined; // an answer of the terminal, or a mouse
  const groups = params.split(";").map((group) => group.split(":").map(Number));
  const [first, shifted] = groups[0] as [number, number?];
  const [modifier = 1, event] = groups[1] ?? [];
  if (event === 3) return undefined; // kitty: the key was released
  if (letter === "u") return codeMeaning(first, modifier, shifted);
  if (letter === "~" && first === 27) return codeMeaning(groups[2]?.[0] ?? 0, modifier, undefined);
  if (letter === "~") return keyNamed(NUMBERS[first], modifier, alt);
  if (letter in SINGLE_FINALS) return { name: SINGLE_FINALS[letter]! };
  if (first > 1) return undefined; // the position of the cursor
  return keyNamed(FINALS[letter], modifier, alt);
}

function keyNamed(name: string | undefined, modifier: number, alt: boolean): KeyMeaning {
  if (name === undefined) return undefined;
  return { name: withModifiers(name, alt ? ((modifier - 1) | 2) + 1 : modifier) };
}

/** A code point with modifiers; `shifted` is the character with Shift. */
function codeMeaning(code: number, modifier: number, shifted: number | undefined): KeyMeaning {
  const name = CODES[code];
  if (name !== undefined) return { name: withModifiers(name, modifier) };
  const bits = modifier - 1;
  const keypad = KITTY_KEYPAD[code - 57399];
  const shown = bits & 1 ? shifted || code : code;
  // Controls, surrogates and the private area, where kitty numbers its keys, are not text.
  const isText = shown >= 32 && shown <= 0x10ffff && (shown < 0xd800 || shown >= 0xf900);
  if (keypad === undefined && !isText) return undefined;
  const char = keypad ?? String.fromCodePoint(shown);
  if (char === " " && bits & 4) return { name: withModifiers("space", modifier) };
  const modifiers = bits & ~(1 | 64 | 128);
  if (modifiers !== 0) return { name: withModifiers(char.toLowerCase(), modifiers + 1) };
  return { text: bits & 1 ? char.toUpperCase() : char };
}
