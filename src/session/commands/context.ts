/** `/context`: a bar for each part of the model's context, in estimated tokens. @module */

import { contextParts } from "../../agent/tokens.ts";
import type { CacheWatch } from "../cache_watch.ts";
import type { Surface } from "../frontend.ts";
import type { Command } from "../extension.ts";

const PARTS = {
  system: "instructions",
  tools: "tools",
  user: "you",
  assistant: "the model",
  tool: "results",
  free: "free",
};
const MAX_BAR = 30;
const FACTS_COLUMNS = 33;

export const contextCommand: Command = {
  name: "context",
  isView: true,
  group: "Model",
  help: "show context usage",
  run: ({ agent, usage, cache: { counted }, surface }) =>
    contextText({ ...contextParts(agent, usage), counted }, surface),
};

/** `counted`: the prompt tokens of the session, and those from the server's cache. */
export function contextText(
  { parts, window, counted }: ReturnType<typeof contextParts> & {
    counted?: CacheWatch["counted"];
  },
  { columns }: Pick<Surface, "columns">,
): string {
  const used = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const all = Math.max(used, window ?? 0);
  const width = Math.min(MAX_BAR, Math.max(0, columns - FACTS_COLUMNS));
  const free = window === undefined ? [] : [{ name: "free", tokens: all - used } as const];
  const rows = [...parts, ...free].map(({ name, tokens }) => {
    const share = tokens / all;
    const bar = "█".repeat(Math.ceil(share * width));
    const percent = `${Math.round(share * 100)}%`;
    return `  ${PARTS[name].padEnd(14)}${`${tokens}`.padStart(8)}${percent.padStart(6)}  ${bar}`;
  });
  const room = window === undefined
    ? "tokens; the model's limit is unknown"
    : `of ${window} tokens`;
  const { inputTokens = 0, cachedTokens = 0 } = counted ?? {};
  const percent = Math.round(100 * cachedTokens / inputTokens);
  const cache = `Of this session's prompt tokens, ${percent} % came from the server's cache.`;
  return [...rows, `About ${used} ${room}.`, ...inputTokens > 0 ? [cache] : []].join("\n");
}
