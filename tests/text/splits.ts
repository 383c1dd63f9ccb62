import { seeded } from "../helpers/split.ts";

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
