/** The text of a hook. @module */

import { sanitize } from "../../text/sanitize.ts";
import type { HookDefinition } from "./definition.ts";

/** Returns when a hook runs, and its command. */
export function hookText(
  { event, matcher, command }: { event: string } & Pick<HookDefinition, "matcher" | "command">,
): string {
  const on = matcher === undefined ? event : `${event} ${sanitize(matcher)}`;
  return `${on}: ${sanitize(command)}`;
}
