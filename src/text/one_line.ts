/**
 * Text for one line of a terminal.
 *
 * @module
 */

import { sanitize } from "./sanitize.ts";

/** White space folded, control characters made visible. */
export function oneLine(text: string): string {
  return sanitize(text.slice(0, 4096).replace(/\s+/g, " ").trim());
}

/** `text` of at most `max` characters. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
}
