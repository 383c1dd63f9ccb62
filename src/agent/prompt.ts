/**
 * The system prompt. It and the tool schemas are in every request, so they are small, and nothing in them changes
 * within a folder (no time, no git status), as the server's prompt cache needs. The folder comes last, so that
 * sessions in several folders share the rest.
 *
 * @module
 */

import type { AgentSettings, CopilotConfig } from "../config.ts";
import { shellTool } from "../tools/run_bash.ts";
import { windowsShell } from "../tools/shell/windows_shell.ts";
import { targetOf } from "../models/target.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";

/** Models with less context, in tokens, or fewer parameters, in billions, get the lean prompt. */
const SMALL_CONTEXT = 16_384;
const SMALL_MODEL = 8;

/** True if the model gets the lean prompt and tools without descriptions of parameters. */
export function isLean(config: CopilotConfig & Required<AgentSettings>): boolean {
  const { promptTier } = config;
  if (promptTier !== "auto") return promptTier === "lean";
  const { kind, contextLength = Infinity, name } = targetOf(config);
  if (kind === "hosted") return false;
  // `8x7b` is 56 billion; `e4b` counts the active parameters.
  const found = /(?<![\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z\d])/i.exec(name);
  const [, experts = 1, size = Infinity] = found ?? [];
  return isSmall(Number(experts) * Number(size), contextLength);
}

/** True if the lean prompt fits a model with these parameters, in billions, and this context. */
export function isSmall(billions: number, contextLength = Infinity): boolean {
  return contextLength < SMALL_CONTEXT || billions < SMALL_MODEL;
}

/** Returns tools whose parameters have no descriptions. */
function leanTools(tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => withProperties(tool, ({ description: _, ...rest }) => rest));
}

function withProperties(tool: Tool, change: (property: JsonSchema) => JsonSchema): Tool {
  const given = (tool.parameters.properties ?? {}) as Record<string, JsonSchema>;
  const changed = Object.entries(given).map(([name, property]) => [name, change(property)]);
  return { ...tool, parameters: { ...tool.parameters, properties: Object.fromEntries(changed) } };
}

/** Returns tools whose parameters have no bounds and defaults. The argument check still knows them. */
function boundlessTools(tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => {
    const { parameters, ...others } = withProperties(
      tool,
      ({ minimum: _, maximum: __, default: ___, ...rest }) => rest,
    );
    const { required, ...all } = parameters;
    const isEmpty = Array.isArray(required) && required.length === 0;
    return {
      ...others,
      parameters: { ...all, ...!isEmpty && required !== undefined && { required } },
    };
  });
}

/**
 * Returns {@linkcode boundlessTools} with one sentence each, except for tools that write, and without
 * descriptions of the parameters of read tools: for the smallest windows, and for prompts with lists.
 */
function shortTools(tools: readonly Tool[]): Tool[] {
  return boundlessTools(tools).map((tool) => {
    if (tool.access === "write") return tool;
    const [named] = tool.access === "read" ? leanTools([tool]) : [tool];
    return { ...named!, description: tool.description.replace(/[.:] .*/s, ".") };
  });
}

/** The maximum size of the first request without instructions, in bytes: for lean and for other models. */
const MAX_REQUEST_BYTES = { lean: 3000, full: 5000 };
/** The bytes of a request in addition to the prompt and the tools, with a short message. */
const FRAME_BYTES = 420;

/** Returns the bytes of the first request that are free for a list in the prompt. */
export function roomInPrompt(prompt: string, tools: readonly Tool[], lean: boolean): number {
  const schemas = tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const used = JSON.stringify([prompt, folderLine("/"), schemas]).length + FRAME_BYTES;
  return (lean ? MAX_REQUEST_BYTES.lean : MAX_REQUEST_BYTES.full) - used;
}

/** The share of FRAME_BYTES for a longer message or folder. Further tools may use it. */
const FRAME_SLACK = 175;

interface AgentTools {
  builtIn: readonly Tool[];
  /** Further tools, which are left out if there is no room. The first ones have priority. */
  extended: readonly Tool[];
  external: readonly Tool[];
  /** The minimum bytes of the list in the prompt; undefined if there is no list. */
  listBytes?: number | undefined;
}

/** Returns the tools as a model sees them, in as many words as the first request has room for. */
export function toolsThatFit(
  { builtIn, extended, external, listBytes }: AgentTools,
  lean: boolean,
): readonly Tool[] {
  const prompt = lean ? leanPrompt() : systemPrompt();
  const described = lean ? leanTools(builtIn) : builtIn;
  const others = lean ? leanTools(external) : external;
  const isPlain = external.length === 0 && listBytes === undefined;
  const all = [described, boundlessTools(described), shortTools(described)];
  const forms = isPlain ? all : all.slice(lean ? 2 : 1);
  for (let n = extended.length; n > 0; n--) {
    const some = boundlessTools(extended.slice(0, n));
    const more = lean ? leanTools(some) : some;
    const fitting = forms.map((form) => [...form, ...more, ...others]).find((tools) =>
      roomInPrompt(prompt, tools, lean) >= (listBytes ?? -FRAME_SLACK)
    );
    if (fitting) return fitting;
  }
  return others.length === 0 ? forms[0]! : [...forms[0]!, ...others];
}

/** Returns the operating system; on Windows also the shell language of commands. */
function system(os: string): string {
  return os === "windows" ? `windows; ${shellTool.name} runs ${windowsShell().name}` : os;
}

/** Returns the last line of the system prompt: the folder that tools work in. */
export function folderLine(workingDir: string): string {
  return `Folder: ${workingDir}\n`;
}

export function leanPrompt(): string {
  return `You are a coding copilot in a terminal (${
    system(Deno.build.os)
  }) and work on a project by calling tools.
- Read files and search; never guess contents.
- Read a file before you edit it, and change only what was asked.
- When a tool reports an error, do not repeat the same call.
- When you know enough, stop and answer briefly. Name places as path:line.
`;
}

export function systemPrompt(os: string = Deno.build.os): string {
  return `You are a coding copilot in a terminal. You help with the project in a folder by calling tools.

Operating system: ${system(os)}

How to work:
- Find out before you answer: read files and search instead of guessing. Never invent file contents.
- Independent reads and searches may be called together in one go.
- Read a file before you edit it. Keep edits small and in the style of the file. Change nothing that was not asked for.
- After a change, check it when there is a quick way (tests, type check, running it).
- When a tool reports an error, read it and adapt; do not repeat the same call.
- Paths may be relative to the folder.
- If a call is refused, do not look for a way around it: say what you wanted to do.
- Answer briefly, in Markdown. Name places as path:line. Say what you did and what you could not do.
`;
}
