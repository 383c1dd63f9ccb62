/**
 * Makes external text (models, files, commands, servers) safe to show on a terminal. {@linkcode sanitize} and
 * {@linkcode sanitizeProse} process one code point at a time, so they work on a stream if no piece ends within a
 * surrogate pair. To count marks, put the marks at the end of a piece ({@linkcode marksAtEnd}) before the next
 * one.
 * @module
 */

/** Text that every terminal shows unchanged, like most text. The test is fast. */
const PRINTABLE_ASCII = /^[\n\t\x20-\x7e]*$/;
/** Characters that move the cursor, hide or reorder text: controls, formats, invisible ones, half pairs. */
const UNSAFE_CHARS = "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]";

/** Marks that join the character before them. Terminals draw them over the rows above and below. */
const JOINING = "[\\p{M}\\u1161-\\u11ff\\ud7b0-\\ud7fb\\u200c\\u200d\\ufe0f]";
/** The maximum marks on one character, more than any script uses. U+FFFD replaces the rest. */
const MAX_MARKS = 8;

// Created on first use: the engine takes 5 ms to compile the sets of characters.
let strict: RegExp | undefined;
let prose: RegExp | undefined;
let surplus: RegExp | undefined;
let atEnd: RegExp | undefined;

/**
 * Makes characters visible that a terminal would act on or hide: ESC as `␛`, other controls as their picture, any
 * other invisible or reordering character as `\u{202e}`, half a surrogate pair as U+FFFD. Line feeds and tabs
 * stay. Use it for texts that the user decides on, such as commands: the result differs from `text` exactly if
 * `text` hid something.
 */
export function sanitize(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  // Spaces other than U+0020 become visible too, and the empty braille cell, which looks like one.
  strict ??= new RegExp(`(?![\\n\\t ])(?:${UNSAFE_CHARS}|[\\p{Zs}\\u2800])`, "gu");
  return withFewMarks(text.replace(strict, visibleForm));
}

/** {@linkcode sanitize} for prose, which needs other spaces and the joiners of emoji and scripts. */
export function sanitizeProse(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  // The joiners and U+FE0F stay: emoji and Persian need them.
  prose ??= new RegExp(`(?![\\n\\t\\u200c\\u200d\\ufe0f])${UNSAFE_CHARS}`, "gu");
  return withFewMarks(text.replace(prose, visibleForm));
}

/** Replaces characters beyond ASCII, such as `\u{2014}`, except those that {@linkcode sanitize} replaces. */
export function escapedBeyondAscii(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[^\x00-\x7f]/gu, (char) => sanitize(char) === char ? numbered(char) : char);
}

const numbered = (char: string) => `\\u{${char.codePointAt(0)!.toString(16)}}`;

function withFewMarks(text: string): string {
  surplus ??= new RegExp(`(?<=${JOINING}{${MAX_MARKS}})${JOINING}+`, "gu");
  return text.replace(surplus, "\ufffd");
}

export function marksAtEnd(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return "";
  atEnd ??= new RegExp(`${JOINING}{1,${MAX_MARKS}}$`, "u");
  return atEnd.exec(text)?.[0] ?? "";
}

function visibleForm(char: string): string {
  const code = char.codePointAt(0)!;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return code >= 0xd800 && code <= 0xdfff ? "\ufffd" : numbered(char);
}

/**
 * ECMA-48: control sequences; strings (OSC, DCS, SOS, PM, APC) with their end; two-character ones. Each in its
 * 7-bit and 8-bit form. For a string that does not end on its line, only the introducer matches.
 */
const ESCAPE_SEQUENCES = new RegExp(
  [
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
    "(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\n\\x07\\x1b\\x80-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)",
    "\\x1b[ -/]*[0-~]?",
    "[\\x80-\\x9f]",
  ].join("|"),
  "g",
);

/** Removes terminal escape sequences from a command's complete output, for a reader other than a terminal. */
export function stripEscapes(text: string): string {
  return text.replace(ESCAPE_SEQUENCES, "");
}

/** Converts text of a server or a page for a model: drops escape sequences, and shows hidden characters. */
export function foreignText(text: string): string {
  return sanitizeProse(stripEscapes(text).replaceAll("\r\n", "\n").toWellFormed());
}
