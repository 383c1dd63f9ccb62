/** Names of the characters from U+00A0 on, in order. */
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 " +
  "acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml " +
  "Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc " +
  "Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml " +
  "aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc " +
  "otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
/** Other names that pages use, each followed by its character. A model reads those of letters and signs as they are. */
const OTHER_NAMES =
  "amp& lt< gt> quot\" apos' hellip… mdash— ndash– lsquo‘ rsquo’ ldquo“ rdquo” sbquo‚ bdquo„ bull• dagger† " +
  "Dagger‡ permil‰ prime′ Prime″ lsaquo‹ rsaquo› euro€ trade™ larr← uarr↑ rarr→ darr↓ harr↔ minus− infin∞ " +
  "asymp≈ ne≠ equiv≡ le≤ ge≥ OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ check✓ cross✗ num# dollar$ percnt% " +
  "lpar( rpar) ast* plus+ comma, period. sol/ colon: semi; equals= quest? commat@ lsqb[ bsol\\ rsqb] " +
  "lowbar_ grave` lcub{ verbar| rcub} excl!";
/** Names of white space and invisible characters. */
const SPACES: Readonly<Record<string, string>> = {
  ensp: "\u2002",
  emsp: "\u2003",
  thinsp: "\u2009",
  zwnj: "\u200c",
  zwj: "\u200d",
  lrm: "",
  rlm: "",
  Tab: "\t",
  NewLine: "\n",
  ZeroWidthSpace: "",
  NoBreak: "",
};

let namesOnce: ReadonlyMap<string, string> | undefined;

/** Created on first use. */
function names(): ReadonlyMap<string, string> {
  if (namesOnce) return namesOnce;
  const map = new Map(Object.entries(SPACES));
  for (const [at, name] of LATIN.split(" ").entries()) {
    map.set(name, String.fromCharCode(0xa0 + at));
  }
  for (const [, name, char] of OTHER_NAMES.matchAll(/([A-Za-z]+) ?([^A-Za-z\s]|(?<= )\S)/gu)) {
    map.set(name!, char!);
  }
  return namesOnce = map;
}

/** Resolves the character references in `text`. Unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(?:x([\da-f]{1,8})|(\d{1,8}))|([a-z][a-z\d]{1,23}));?/gi,
    (whole, hex, digits, name) => {
      if (name === undefined) return characterOfCode(hex ? parseInt(hex, 16) : Number(digits));
      // Addresses contain `&copy=1`, so only common names count without a semicolon.
      const isName = whole.endsWith(";") || /^(amp|nbsp|quot)$/.test(name);
      return (isName ? names().get(name) : undefined) ?? whole;
    },
  );
}

function characterOfCode(code: number): string {
  // Pages use U+0080 to U+009F for the characters of Windows' code page.
  if (code >= 0x80 && code <= 0x9f) {
    return new TextDecoder("windows-1252").decode(Uint8Array.of(code));
  }
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
