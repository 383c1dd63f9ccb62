/** Files that a message names with `@path` are attached to it. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { outcomeOf } from "../agent/run_tools.ts";
import { attempt } from "../attempt.ts";
import { isWithin, resolvePath } from "../text/paths.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { relative, resolve } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { folderTool } from "../tools/list_directory.ts";
import { fileTool } from "../tools/read_file.ts";
import type { Part, TextPart } from "../types/message.ts";
import type { Policy } from "../types/policy.ts";
import type { ToolContext } from "../types/tool.ts";
import type { AttachedFile, Notice } from "./data.ts";

const MAX_FILES = 20;

/** Returns the names after a typed `@` in `texts`: `@"a b"`, or up to the next white space. Others may have written pasted text. */
function namedPaths(texts: readonly TextPart[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { text, pasted = [] } of texts) {
    const pattern = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;
    for (let found; (found = pattern.exec(text)) !== null;) {
      const { index, 1: quoted, 2: plain } = found;
      // A pasted name may overlap a typed one.
      if (pasted.some(([from, to]) => from <= index && index < to)) pattern.lastIndex = index + 1;
      else names.add(quoted ?? plain!);
    }
  }
  return names;
}

/**
 * Returns the files and folders that `texts` name with a typed `@`, in the format of the tools (numbered lines,
 * bounded), and a notice for the user. `others` has the texts of names that are not files. Without a policy,
 * which may ask the user, all of them may be read.
 */
export async function attachFiles(
  agent: CopilotAgent,
  texts: readonly TextPart[],
  signal: AbortSignal,
  policy?: Policy,
  others?: (name: string) => Promise<string> | undefined,
): Promise<{ parts: Part[]; notice?: Notice }> {
  const parts: Part[] = [];
  const files: AttachedFile[] = [];
  let isFull = false;
  const context: ToolContext = { ...agent.toolContext(signal), isFromUser: true };
  const existing = (name: string) =>
    [name, name.replace(/[.,;:!?)]+$/, "")].find((path) => infoOf(context, path));
  for (const name of namedPaths(texts)) {
    isFull = parts.length >= MAX_FILES;
    if (isFull) break;
    const path = existing(name);
    const { file, part } = path === undefined
      ? await attachOther(name, others?.(name), agent, signal)
      : await attachFile(path, context, policy);
    files.push(file);
    if (part) parts.push(part);
  }
  if (files.length === 0) return { parts };
  return { parts, notice: { code: "attached", files, ...isFull && { limit: MAX_FILES } } };
}

async function attachOther(
  name: string,
  text: Promise<string> | undefined,
  { config }: CopilotAgent,
  signal: AbortSignal,
): Promise<{ file: AttachedFile; part?: Part }> {
  if (text === undefined) return { file: { name, result: "absent" } };
  try {
    const part = { type: "resource", kind: "file", name } as const;
    const whole = truncateMiddle(await text, config.maxOutputChars);
    return { file: { name, result: "attached" }, part: { ...part, text: whole } };
  } catch (error) {
    signal.throwIfAborted();
    return { file: { name, result: "unreadable", why: reasonOf(error) } };
  }
}

async function attachFile(
  path: string,
  context: ToolContext,
  policy: Policy | undefined,
): Promise<{ file: AttachedFile; part?: Part }> {
  const isFolder = infoOf(context, path)?.isDirectory;
  const tool = isFolder ? folderTool : fileTool;
  const args = isFolder ? { path } : { file_path: path, offset: 1, limit: 2000 };
  const decision = await policy?.decide(tool, args, context);
  const opened = decision?.allow ? decision.grant?.realPath : undefined;
  const place = linkedPlace(context, path, opened);
  const named = { name: path, ...place !== undefined && { place } };
  if (decision && !decision.allow) {
    const why = decision.explanation ?? decision.reason;
    return { file: { ...named, result: "refused", why } };
  }
  const grant = decision?.grant && { grant: decision.grant };
  const part = { type: "resource", kind: isFolder ? "folder" : "file", name: path } as const;
  try {
    const outcome = outcomeOf(await tool.run(args, { ...context, ...grant }));
    const { content, range, images, about } = outcome;
    if (images?.[0]) {
      return { file: { ...named, result: "attached", ...about && { about } }, part: images[0] };
    }
    const isCut = range && (range.last < range.total || !range.isExact);
    const file: AttachedFile = { ...named, result: "attached", ...isCut && { range } };
    return { file, part: { ...part, text: content } };
  } catch (error) {
    context.signal.throwIfAborted();
    const why = reasonOf(error);
    const text = `(cannot be read: ${why})`;
    return { file: { ...named, result: "unreadable", why }, part: { ...part, text } };
  }
}

function infoOf(context: ToolContext, path: string): Deno.FileInfo | undefined {
  return attempt(() => Deno.statSync(resolvePath(context, path)));
}

/**
 * Returns the target of the links in `path`, perhaps the allowed one (`opened`); undefined if it has no links.
 */
function linkedPlace(
  context: ToolContext,
  path: string,
  opened: string | undefined,
): string | undefined {
  const { workingDir } = context;
  const asked = resolve(resolvePath(context, path));
  const real = opened ?? attempt(() => Deno.realPathSync(asked));
  if (real === undefined || real === asked) return undefined;
  return isWithin(workingDir, real) ? relative(workingDir, real) || "." : real;
}
