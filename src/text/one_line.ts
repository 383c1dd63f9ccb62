import { sanitize } from "./sanitize.ts";

/** Returns the first 4096 characters of `text` on one line, with control characters made visible. */
export function oneLine(text: string): string {
  return sanitize(text.slice(0, 4096).replace(/\s+/g, " ").trim());
}

/** Cuts `text` to at most `max` characters. The last one is then `…`. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
}
