/**
 * Bytes to lines, incrementally.
 *
 * @module
 */

/** Takes a body's bytes in any pieces. What it decodes goes to the callback it was made with. */
export interface Decoder {
  /** Takes the next bytes, however they were cut. */
  push(chunk: Uint8Array): void;
  /** Takes the end of the body; call it once, and only when the body ended by itself. */
  end(): void;
}

/**
 * Decodes UTF-8 into lines ended by `\n` or `\r\n` (with `loneCr`, by `\r` too), without their ends.
 *
 * @throws {BackendError} of kind `protocol`, from `push`, when one line is longer than 64 Mi characters.
 */
export function lineDecoder(
  _onLine: (line: string) => void,
  _options: { loneCr?: boolean } = {},
): Decoder {
  throw new Error("not yet");
}
