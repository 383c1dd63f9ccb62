/**
 * Runs a decoder's test over every way in which the same bytes, or the same text, may be cut.
 *
 * @module
 */

/**
 * Calls `run` with `bytes` whole, cut in two at every byte, byte by byte, with empty pieces, and in
 * 50 random ways (the same ones each time). `run` decodes the pieces and checks the result.
 */
export function forEverySplit(bytes: Uint8Array, run: (pieces: Uint8Array[]) => void): void {
  run([bytes]);
  run(cut(bytes, [...bytes.keys()].slice(1)));
  run([bytes.subarray(0, 0), bytes, bytes.subarray(0, 0)]);
  for (let at = 1; at < bytes.length; at++) run(cut(bytes, [at]));
  const random = seeded(1);
  for (let round = 0; round < 50; round++) run(randomPieces(bytes, random));
}

/** `bytes` in up to 13 pieces; some may be empty. */
function randomPieces(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const cuts = Math.ceil(random() * Math.min(12, bytes.length));
  return cut(bytes, Array.from({ length: cuts }, () => Math.floor(random() * bytes.length)));
}

/**
 * Calls `run` with `text` whole, cut in two at every UTF-16 unit, unit by unit, with empty pieces,
 * and in 20 random ways (the same ones each time).
 */
export function forEveryTextSplit(text: string, run: (pieces: string[]) => void): void {
  run([text]);
  run(["", text, ""]);
  run(text.split(""));
  for (let at = 1; at < text.length; at++) run([text.slice(0, at), text.slice(at)]);
  const random = seeded(1);
  for (let round = 0; round < 20; round++) {
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const end = at + Math.ceil(random() * 12);
      pieces.push(text.slice(at, end));
      at = end;
    }
    run(pieces);
  }
}

/** Texts made of `parts` at random, the same ones each time. */
export function* randomTexts(parts: readonly string[], count: number): Generator<string> {
  const random = seeded(2);
  for (let i = 0; i < count; i++) {
    let text = "";
    for (let n = Math.floor(random() * 14); n > 0; n--) {
      text += parts[Math.floor(random() * parts.length)];
    }
    yield text;
  }
}

/** Random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function cut(bytes: Uint8Array, positions: number[]): Uint8Array[] {
  const at = [0, ...positions.sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.slice(at[i], end));
}

/** Returns random whole numbers below the one that is given: the same ones for the same seed. */
export function randomBelow(seed: number): (limit: number) => number {
  return (limit) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(seed / 2 ** 32 * limit);
  };
}
