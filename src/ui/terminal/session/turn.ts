import { failureParts } from "../../../session/hint_text.ts";
import type { Session } from "../../../session/session.ts";
import { oneLine } from "../../../text/one_line.ts";
import type { Part } from "../../../types/message.ts";
import type { Display } from "./display.ts";
import { modelText } from "./footer.ts";

/** Runs one turn; true if the model ended it. Errors do not end the session, except a lost terminal. */
export async function runTurn(
  session: Session,
  { status, view, screen, isLive }: Display,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<boolean> {
  const model = status?.model;
  const { state } = session.agent;
  const before = state.messages.length;
  const [first] = parts;
  const typed = first?.type === "text" ? first : undefined;
  view.begin(
    `waiting for ${model === undefined ? "the model" : modelText(model)}`,
    typed && oneLine(typed.text),
  );
  try {
    const { stopReason } = await session.prompt(parts, signal);
    if (stopReason === "aborted") view.stop();
    else view.end();
    return stopReason === "done";
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    const { why, advice } = failureParts(error, session.agent.config, "terminal");
    // Without an answer, the conversation does not have the message.
    const isUnsent = state.messages.length <= before;
    const again = typed === undefined || !isUnsent || !isLive
      ? []
      : [screen.put(typed) ? "Enter sends it again" : "Up and Enter send it again"];
    const ways = [...again, "/doctor"];
    view.fail(why, (advice ? [advice, ...ways] : [...ways, "/model"]).join(" · "));
    return false;
  }
}
