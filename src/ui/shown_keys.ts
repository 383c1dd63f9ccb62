/** Names of keys as users write them. @module */

import { type Keymap, keysOf } from "./terminal/line/actions.ts";

/** Returns a key as users write it, such as `Ctrl-X Ctrl-E`. */
export const shownKey = (key: string) =>
  key.replace(/(^|[- ])([a-z])/g, (all) => all.toUpperCase());

/** Returns the key of a screen action as users write it, if it has one. Key sequences do not reach the screen. */
export function screenKey(keymap: Keymap, action: "next-mode" | "transcript"): string | undefined {
  const key = keysOf(keymap, action).find((one) => !one.includes(" "));
  return key && shownKey(key);
}
