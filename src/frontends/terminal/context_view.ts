/**
 * `/context`: what fills the model's window, as a person sees it.
 *
 * @module
 */

import type { CopilotAgent } from "../../agent/agent.ts";
import { contextParts } from "../../agent/tokens.ts";
import { appearance } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";

/** What the parts of the context are called; `user` and the like are the wire's words. */
const PARTS = {
  system: "instructions",
  tools: "tools",
  user: "you",
  assistant: "the model",
  tool: "results",
  free: "free",
};
const MAX_BAR = 30;

/** A bar for each part, in estimated tokens. */
export function showContext(agent: CopilotAgent): string {
  const { parts, window } = contextParts(agent);
  const used = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const all = Math.max(used, window ?? 0);
  const block = appearance().unicode ? "█" : "#";
  const width = Math.min(MAX_BAR, Math.max(0, terminalSize().columns - 33));
  const rows = window === undefined
    ? parts
    : [...parts, { name: "free", tokens: all - used } as const];
  const shown = rows.map(({ name, tokens }) => {
    const share = tokens / all;
    const bar = block.repeat(Math.ceil(share * width));
    const percent = `${Math.round(share * 100)}%`;
    return `  ${PARTS[name].padEnd(14)}${`${tokens}`.padStart(8)}${percent.padStart(6)}  ${bar}`;
  });
  const room = window === undefined
    ? "tokens; how many the model has room for is not known"
    : `of ${window} tokens`;
  return [...shown, `About ${used} ${room}.`].join("\n");
}
