/** The list of skills in the prompt: small, sorted, and stable while the skills are. @module */

import { shortened } from "../../text/one_line.ts";
import type { PromptFile } from "./load.ts";

/** The path that the model passes to its file tool to read a skill. */
export const SKILL_SCHEME = "skill:";
const SKILLS_HEAD = `Skills: before work that one fits, read_file ${SKILL_SCHEME}NAME\n`;
const AGENTS_HEAD = "Agents for explore:\n";
/** The minimum room for a list of sub-agents, in bytes, which a request always has to spare. */
const MIN_AGENT_BYTES = 60;

type Listed = Pick<PromptFile, "name" | "description">;

/** Returns lists of entries, the longest first: with descriptions, then with names alone. */
const formsOf = (head: string, listed: readonly Listed[]): string[] => [
  ...[80, 40, 24].map((most) =>
    head + listed.map((one) => `- ${one.name}: ${shortened(one.description, most)}\n`).join("")
  ),
  `${head}${listedNames(listed)}\n`,
];

const listedNames = (listed: readonly Listed[]) => listed.map(({ name }) => name).join(", ");

const firstFit = (forms: readonly string[], maxBytes: number) =>
  forms.find((text) => bytesOf(text) <= maxBytes);

/** Lists skills and sub-agents in at most `maxBytes` of JSON text. Sub-agents get the remaining room. */
export function promptCatalogue(
  skills: readonly Listed[],
  agents: readonly Listed[],
  maxBytes: number,
): string {
  const sorted = skills.toSorted((a, b) => a.name < b.name ? -1 : 1);
  const room = agents.length === 0 ? maxBytes : maxBytes - MIN_AGENT_BYTES;
  const how = `Skills: read_file ${SKILL_SCHEME} lists ${skills.length}\n`;
  const listed = skills.length > 0 ? firstFit(formsOf(SKILLS_HEAD, sorted), room) ?? how : "";
  if (agents.length === 0) return listed;
  const some = agents.map((_, i) => `${AGENTS_HEAD}${listedNames(agents.slice(0, i))}, ...\n`)
    .slice(1);
  const forms = [...formsOf(AGENTS_HEAD, agents), ...some.reverse()];
  return listed + (firstFit(forms, Math.max(MIN_AGENT_BYTES, maxBytes - bytesOf(listed))) ?? "");
}

export function skillList(skills: readonly Listed[], maxChars: number): string {
  const rows = (most: number) =>
    skills.map(({ name, description }) => `${name}: ${shortened(description, most)}`).join("\n");
  const fit = [300, 80].map(rows).find(({ length }) => length <= maxChars);
  return fit ?? skills.map(({ name }) => name).join("\n");
}

const bytesOf = (text: string) => new TextEncoder().encode(JSON.stringify(text)).length - 2;
