/** Files that a message names with `@path`: they go along with it. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { resolvePath } from "../text/paths.ts";
import { fileTool, folderTool } from "../tools/mod.ts";
import type { Part } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { ToolOutcome } from "../types/tool.ts";
import { attempt } from "./attempt.ts";

/** The most files of a message that are attached; the model may read the others. */
const MAX_FILES = 20;

/** The names behind `@` in `text`, in order, each once: `@"a b"`, or up to the next white space. */
export function namedPaths(text: string): string[] {
  const found = text.matchAll(/(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g);
  return [...new Set([...found].map(([, quoted, plain]) => quoted ?? plain!))];
}

/**
 * The files and folders that `text` names, as the tools show them: numbered lines, bounded; and notices
 * of them for the person. Without a policy, which may ask the person, all of them may be read.
 */
export async function attachFiles(
  agent: CopilotAgent,
  text: string,
  signal: AbortSignal,
  policy?: Policy,
): Promise<{ parts: Part[]; notices: string[] }> {
  const parts: Part[] = [];
  const notices: string[] = [];
  let count = 0;
  const context = { ...agent.toolContext(signal), isOfPerson: true } as const;
  for (const name of namedPaths(text)) {
    if (parts.length >= MAX_FILES) {
      notices.push(`only ${MAX_FILES} files go along: the rest is left to the model to read`);
      break;
    }
    const infoOf = (one: string) => attempt(() => Deno.statSync(resolvePath(agent.state, one)));
    const path = [name, name.replace(/[.,;:!?)]+$/, "")].find(infoOf);
    if (path === undefined) {
      notices.push(`@${name} is no file here: the model gets the name alone`);
      continue;
    }
    const isFolder = infoOf(path)?.isDirectory;
    const tool = isFolder ? folderTool : fileTool;
    const args = isFolder ? { path } : { file_path: path, offset: 1, limit: 2000 };
    const decision = await policy?.decide(tool, args, context);
    if (decision && !decision.allow) {
      notices.push(`@${path} does not go along: ${decision.explanation ?? decision.reason}`);
      continue;
    }
    const grant = decision?.grant && { grant: decision.grant };
    let outcome: ToolOutcome;
    try {
      const result = await tool.run(args, { ...context, ...grant });
      outcome = typeof result === "string" ? { content: result } : result;
      count++;
    } catch (error) {
      signal.throwIfAborted();
      const why = `cannot be read: ${(error as Error).message}`;
      outcome = { content: `(${why})` };
      notices.push(`@${path} ${why}`);
    }
    const { content, range } = outcome;
    if (range && (range.last < range.total || !range.isExact)) {
      const total = `${range.isExact ? "" : "at least "}${range.total}`;
      notices.push(`@${path}: only its first ${range.last} of ${total} lines go along`);
    }
    const kind = isFolder ? "folder" : "file";
    parts.push({ type: "resource", kind, name: path, text: content });
  }
  if (count > 0) notices.unshift(count === 1 ? "one file goes along" : `${count} files go along`);
  return { parts, notices };
}
