/** The text of bytes from the web, whose encoding is said in several places or not at all. @module */

/** The bytes at the start of a page in which it may say its encoding. */
const PRESCAN_BYTES = 4096;
const MARKS: readonly [bytes: readonly number[], label: string][] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xfe, 0xff], "utf-16be"],
  [[0xff, 0xfe], "utf-16le"],
];

/**
 * The text, by the first that is known: a byte order mark, the `charset` of the header `content-type`, the one
 * that the page states itself; else UTF-8 where it is valid, and what old pages are mostly in.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const mark = MARKS.find(([signs]) => signs.every((sign, at) => bytes[at] === sign))?.[1];
  const stated = /;\s*charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(contentType)?.[1];
  for (const label of [mark, stated, statedIn(bytes)]) {
    const decoder = label === undefined ? undefined : decoderFor(label);
    if (decoder) return decoder.decode(bytes);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // A text that was cut may end within a character.
    const broken = new TextDecoder().decode(bytes);
    const isUtf8 = broken.indexOf("\ufffd") >= broken.length - 1;
    return isUtf8 ? broken : new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The encoding that a page names in a `meta` element, or XML in its first line. */
function statedIn(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, PRESCAN_BYTES))
    .replace(/<!--[^]*?-->/g, "");
  const label = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head)?.[1];
  // What can be read so is no UTF-16.
  return label && /^utf-?16/i.test(label) ? "utf-8" : label;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
