/** The names by which models and rules know the tools of servers. @module */

/** The most characters of a tool's name that servers of models take. */
const MAX_MODEL_NAME = 64;

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "_");

/** A few characters that stand for `text`: the same ones each time. */
function mark(text: string): string {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0").slice(0, 6);
}

/**
 * The names of a server's tools for models, `server__tool`, by their own names: only `[A-Za-z0-9_-]`, at
 * most 64, and each its own. Names that had to be changed so that two became one, or were cut, end in a
 * mark made from the whole name.
 */
export function modelNamesOf(server: string, tools: readonly string[]): Map<string, string> {
  const plain = (tool: string) => `${safeName(server)}__${safeName(tool)}`;
  const uses = Map.groupBy(tools, plain);
  const names = new Map<string, string>();
  const isPlain = (tool: string) =>
    plain(tool).length <= MAX_MODEL_NAME &&
    (safeName(tool) === tool || uses.get(plain(tool))!.length === 1);
  for (const tool of tools.filter(isPlain)) names.set(tool, plain(tool));
  const taken = new Set(names.values());
  for (const tool of tools.filter((one) => !names.has(one))) {
    const start = plain(tool).slice(0, MAX_MODEL_NAME - 7);
    let name = `${start}_${mark(tool)}`;
    // Names can be made up that have the mark of others.
    for (let i = 1; taken.has(name); i++) name = `${start}_${mark(`${tool} ${i}`)}`;
    names.set(tool, name);
    taken.add(name);
  }
  return names;
}

/** The name by which a rule speaks of a tool. */
export const ruleNameOf = (modelName: string): string => `mcp__${modelName}`;
