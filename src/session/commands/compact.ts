import { failureText } from "../hint_text.ts";
import type { Command, SessionState } from "../extension.ts";
import { compact } from "../../agent/compact.ts";

export const compactCommand: Command = {
  name: "compact",
  group: "Session",
  argument: "[TEXT]",
  help: "summarize the conversation to make room; TEXT: what to preserve",
  isSlow: true,
  run: compactConversation,
};

async function compactConversation(
  session: SessionState,
  focus: string,
  signal: AbortSignal,
): Promise<string> {
  let message = "Nothing to compact yet.";
  let tokens = 0;
  try {
    await compact(session.agent, {
      focus,
      signal,
      summarizer: (await import("../roles.ts")).summarizerOf(session),
      onPiece: () => session.emit({ type: "command_progress", tokens: ++tokens }),
      onEvent: (event) => event.type === "notice" && (message = event.message),
    });
    session.usage = undefined;
    return message;
  } catch (error) {
    const stays = "The conversation was not compacted";
    if (signal.aborted) return `${stays}.`;
    return `${stays}: ${failureText(error, session.agent.config, session.surface.kind)}`;
  }
}
