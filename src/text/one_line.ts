import { sanitize } from "./sanitize.ts";

/** The first 4096 characters of `text`, white space folded, control characters made visible. */
export function oneLine(text: string): string {
  return sanitize(text.slice(0, 4096).replace(/\s+/g, " ").trim());
}

/** `text`, cut to at most `max` characters, the last one `…` then. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
}
