/** Keys as people write them, and those that are named in other texts. @module */

import { type Keymap, keysOf } from "../terminal/line/actions.ts";

/** A key as people write it, such as `Ctrl-X Ctrl-E`. */
export const shownKey = (key: string) =>
  key.replace(/(^|[- ])([a-z])/g, (all) => all.toUpperCase());

/**
 * The key of an action of the screen, as people write it; undefined where none has it. A sequence of keys
 * does not reach the screen.
 */
export function screenKey(keymap: Keymap, action: "next-mode" | "transcript"): string | undefined {
  const key = keysOf(keymap, action).find((one) => !one.includes(" "));
  return key && shownKey(key);
}
