/** The names of servers' tools in requests and rules. @module */

/** The maximum length of a tool's name that model servers accept, in characters. */
const MAX_MODEL_NAME = 64;

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "_");

function mark(text: string): string {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0").slice(0, 6);
}

/**
 * Returns the names of a server's tools for models, as `server__tool`, by the tool's own name. A name has at most
 * 64 of the characters `[A-Za-z0-9_-]` and is unique. A name that was shortened, or that would collide, ends with
 * a hash of the original name.
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
    // A server can choose names that contain the hash of other names.
    for (let i = 1; taken.has(name); i++) name = `${start}_${mark(`${tool} ${i}`)}`;
    names.set(tool, name);
    taken.add(name);
  }
  return names;
}

export const ruleNameOf = (modelName: string): string => `mcp__${modelName}`;
