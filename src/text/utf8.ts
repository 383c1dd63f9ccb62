/** Bytes as text, with its BOM. @module */

/** The text; what is no UTF-8 becomes U+FFFD. */
export const utf8Text = (bytes?: Uint8Array): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** The text; `stream`: a character that is cut at its end is left out. @throws {TypeError} for what is no UTF-8. */
export const strictUtf8Text = (bytes: Uint8Array, stream = false): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream });
