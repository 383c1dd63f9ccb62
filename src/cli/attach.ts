/**
 * Files that a message names with `@path`: they go along with it.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { resolvePath } from "../text/paths.ts";

/** So many files of a message are attached; more are left to the model to read. */
const MAX_FILES = 20;

/** What is named by `@` in `text`, in order, each once: `@"a b"` or up to the next white space. */
export function namedPaths(text: string): string[] {
  const found = text.matchAll(/(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g);
  return [...new Set([...found].map(([, quoted, plain]) => quoted ?? plain!))];
}

/**
 * `text` with the files and folders it names, as the tools show them: numbered lines, bounded. A
 * name that is no file stays what it is: part of the text.
 */
export async function attachFiles(
  agent: CopilotAgent,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const parts = [text];
  const context = {
    workingDir: agent.state.workingDir,
    maxOutputChars: agent.config.maxOutputChars,
    signal,
  };
  for (const name of namedPaths(text)) {
    if (parts.length > MAX_FILES) break;
    const found = existing(agent, name) ?? existing(agent, name.replace(/[.,;:!?)]+$/, ""));
    if (found === undefined) continue;
    const tool = agent.tools.find((t) =>
      t.name === (found.folder ? "list_directory" : "read_file")
    );
    if (tool === undefined) continue;
    const args = found.folder
      ? { path: found.path }
      : { file_path: found.path, offset: 1, limit: 2000 };
    let content: string;
    try {
      content = await tool.run(args, context);
    } catch (error) {
      signal.throwIfAborted();
      content = `(cannot be read: ${(error as Error).message})`;
    }
    parts.push(`<file path=${JSON.stringify(found.path)}>\n${content}\n</file>`);
  }
  return parts.join("\n\n");
}

function existing(
  agent: CopilotAgent,
  path: string,
): { path: string; folder: boolean } | undefined {
  try {
    return { path, folder: Deno.statSync(resolvePath(agent.state, path)).isDirectory };
  } catch {
    return undefined;
  }
}
