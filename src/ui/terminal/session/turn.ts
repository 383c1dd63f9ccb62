import { failureText } from "../../../session/hint_text.ts";
import type { Session } from "../../../session/session.ts";
import type { Part } from "../../../types/message.ts";
import type { Display } from "./display.ts";
import { modelText } from "./footer.ts";

/** Runs one turn; true if the model ended it. Errors do not end the session, except a lost terminal. */
export async function runTurn(
  session: Session,
  { status, view }: Display,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<boolean> {
  const model = status?.model;
  view.begin(`waiting for ${model === undefined ? "the model" : modelText(model)}`);
  try {
    const { stopReason } = await session.prompt(parts, signal);
    view.end(stopReason === "aborted" ? "· interrupted" : undefined);
    return stopReason === "done";
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    view.end(`· ${failureText(error, session.agent.config, "terminal")}`);
    return false;
  }
}
