/** Decodes bytes from the web, which declare their encoding in several places or not at all. @module */

/** The number of bytes at the start of a page that may declare its encoding. */
const PRESCAN_BYTES = 4096;
const MARKS: readonly [bytes: readonly number[], label: string][] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xfe, 0xff], "utf-16be"],
  [[0xff, 0xfe], "utf-16le"],
];

/**
 * Decodes by the first known encoding: of a byte order mark, of the `charset` in the `content-type` header, of
 * the page itself; otherwise as UTF-8 if valid, or as windows-1252.
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
    // A cut text may end within a character.
    const broken = new TextDecoder().decode(bytes);
    const isUtf8 = broken.indexOf("\ufffd") >= broken.length - 1;
    return isUtf8 ? broken : new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Returns the encoding in a `meta` element, or in the first line of XML. */
function statedIn(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, PRESCAN_BYTES))
    .replace(/<!--[^]*?-->/g, "");
  const label = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head)?.[1];
  // A page that could be read this far is not UTF-16.
  return label && /^utf-?16/i.test(label) ? "utf-8" : label;
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
