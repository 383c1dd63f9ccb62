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
  return new Map(tools.map((tool) => {
    const name = plain(tool);
    const isExact = safeName(tool) === tool;
    if (name.length <= MAX_MODEL_NAME && (isExact || uses.get(name)!.length === 1)) {
      return [tool, name];
    }
    return [tool, `${name.slice(0, MAX_MODEL_NAME - 7)}_${mark(tool)}`];
  }));
}

/** The name by which a rule speaks of a tool. */
export const ruleNameOf = (modelName: string): string => `mcp__${modelName}`;
