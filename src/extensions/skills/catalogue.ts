/** The list of skills in the prompt: small, sorted, and stable while the skills are. @module */

import { shortened } from "../../text/one_line.ts";
import type { PromptFile } from "./load.ts";

/** The path that the model passes to its file tool to read a skill. */
export const SKILL_SCHEME = "skill:";
const MAX_LISTED_DESCRIPTION = 80;
const MIN_LISTED_DESCRIPTION = 24;

type Listed = Pick<PromptFile, "name" | "description">;

/** Lists skills in `maxBytes` of JSON text: with descriptions, names alone, or how to list them. */
function skillCatalogue(skills: readonly Listed[], maxBytes: number): string {
  if (skills.length === 0) return "";
  const sorted = skills.toSorted((a, b) => a.name < b.name ? -1 : 1);
  const head = `Skills: before work that one fits, read_file ${SKILL_SCHEME}NAME\n`;
  const described = describedList(head, sorted, maxBytes);
  if (described !== undefined) return described;
  const names = sorted.map(({ name }) => name);
  const all = `${head}${names.join(", ")}\n`;
  if (bytesOf(all) <= maxBytes) return all;
  return `Skills: read_file ${SKILL_SCHEME} lists ${names.length}\n`;
}

/** Returns `listed` below `head` with descriptions; undefined if that does not fit. */
function describedList(head: string, listed: readonly Listed[], maxBytes: number) {
  return [MAX_LISTED_DESCRIPTION, 40, MIN_LISTED_DESCRIPTION].map((most) =>
    head + listed.map((one) => `- ${one.name}: ${shortened(one.description, most)}\n`).join("")
  ).find((text) => bytesOf(text) <= maxBytes);
}

/** The minimum room for a list of sub-agents, in bytes, which a request always has to spare. */
const MIN_AGENT_BYTES = 60;

/** Lists skills and sub-agents in at most `maxBytes` of JSON text. Sub-agents get the remaining room. */
export function promptCatalogue(
  skills: readonly Listed[],
  agents: readonly Listed[],
  maxBytes: number,
): string {
  if (agents.length === 0) return skillCatalogue(skills, maxBytes);
  const listed = skillCatalogue(skills, maxBytes - MIN_AGENT_BYTES);
  return listed + agentCatalogue(agents, Math.max(MIN_AGENT_BYTES, maxBytes - bytesOf(listed)));
}

/** Lists the sub-agents with descriptions, or only by name, as far as they fit. */
function agentCatalogue(agents: readonly Listed[], maxBytes: number): string {
  const head = "Agents for explore:";
  const described = describedList(`${head}\n`, agents, maxBytes);
  if (described !== undefined) return described;
  const names = agents.map(({ name }) => name);
  let shown = names.length;
  const text = () =>
    `${head} ${names.slice(0, shown).join(", ")}${shown < names.length ? ", ..." : ""}\n`;
  while (shown > 0 && bytesOf(text()) > maxBytes) shown--;
  return shown === 0 ? "" : text();
}

export function skillList(skills: readonly Listed[], maxChars: number): string {
  const rows = (most: number) =>
    skills.map(({ name, description }) => `${name}: ${shortened(description, most)}`).join("\n");
  const fitting = [300, MAX_LISTED_DESCRIPTION].map(rows).find(({ length }) => length <= maxChars);
  return fitting ?? skills.map(({ name }) => name).join("\n");
}

const bytesOf = (text: string) => new TextEncoder().encode(JSON.stringify(text)).length - 2;
