/** Bytes as text, with its BOM. @module */

/** Decodes bytes. Invalid UTF-8 becomes U+FFFD. */
export const utf8Text = (bytes?: Uint8Array): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Decodes bytes. `stream`: drops an incomplete last character. @throws {TypeError} for invalid UTF-8. */
export const strictUtf8Text = (bytes: Uint8Array, stream = false): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream });

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);
