import type { Delta } from "../backends/backend.ts";
import { HIDDEN_CYCLE, RepetitionWatcher } from "../text/repetition.ts";

/**
 * Watches the pieces of an answer as the model wrote them, for what is not shown may go on without
 * end too: white space, tags, text within a call, a call's arguments. `onRunaway` is called once.
 */
export function runawayGuard(onRunaway: () => void): (delta: Delta) => void {
  const watchers = {
    text: new RepetitionWatcher(HIDDEN_CYCLE),
    reasoning: new RepetitionWatcher(HIDDEN_CYCLE),
    tool_arguments: new RepetitionWatcher(HIDDEN_CYCLE),
  };
  let ranAway = false;
  return (delta) => {
    if (ranAway || delta.type === "tool_call") return;
    ranAway = watchers[delta.type].push(delta.text) !== undefined;
    if (ranAway) onRunaway();
  };
}
