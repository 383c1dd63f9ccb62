/** Writes a session as one file to read: Markdown, or HTML without scripts. Credentials are hidden. @module */

import { ownResult } from "../agent/run_tools.ts";
import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { shortName, type StoredSession } from "../records/store.ts";
import { withoutPasswords } from "../safety/git_files.ts";
import { sessionTitle } from "../session/record.ts";
import { hideCredentials } from "../text/credentials.ts";
import { blocksOf } from "../text/fence.ts";
import { oneLine } from "../text/one_line.ts";
import { typedText } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import { foreignText } from "../text/sanitize.ts";
import { builtinTools, withJobs } from "../tools/mod.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { ChangeLine } from "../types/tool.ts";
import { redacted } from "../wire/excerpt.ts";
import { callText, changedLines } from "./call_text.ts";
import { pastExecution } from "./past_execution.ts";

/** How a format writes texts that are clean. `fold` shows the summary, and the lines of a change. */
interface ExportFormat {
  page(title: string, facts: readonly string[], body: readonly string[]): string;
  say(isUser: boolean, text: string): string;
  fold(summary: string, text: string, lines?: readonly ChangeLine[]): string;
}

/**
 * Writes a session to the file that `words` name, `[--html|--md] [FILE]`, or to one that its id names. Returns a line
 * about it. @throws {UsageError} for other words, or if there is such a file. @throws {Error} of the system.
 */
export function exportSession(
  session: StoredSession,
  words: readonly string[],
  resolve = (file: string) => file,
): string {
  const flags = words.filter((word) => /^--(md|html)$/.test(word));
  const [named, ...more] = words.filter((word) => !flags.includes(word));
  const isHtml = flags.length > 0 ? flags[0] === "--html" : /\.html?$/i.test(named ?? "");
  const other = [...flags.slice(1), ...named?.startsWith("-") ? [named] : [], ...more][0];
  if (other !== undefined) {
    throw new UsageError(
      `Unexpected ${oneLine(other)}: an export takes --html or --md, and a file`,
    );
  }
  const file = named ?? `copilot-${shortName(session.name)}.${isHtml ? "html" : "md"}`;
  writeNew(resolve(file), exportedText(session, isHtml ? html : markdown));
  return `Exported to ${
    oneLine(file)
  }, without what looks like a credential. Read it before you share it.`;
}

/** Writes a new file completely or not at all. */
function writeNew(path: string, text: string): void {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    Deno.writeTextFileSync(temporary, text, { createNew: true });
    // Unlike a rename, a link does not replace a file. Some file systems have no links.
    const isLinked = attempt(() => (Deno.linkSync(temporary, path), true));
    if (!isLinked && attempt(() => Deno.lstatSync(path))) throw new UsageError("the file exists");
    if (!isLinked) Deno.renameSync(temporary, path);
  } catch (error) {
    const Kind = error instanceof UsageError ? UsageError : Error;
    throw new Kind(`Cannot write ${oneLine(path)}: ${reasonOf(error)}`, { cause: error });
  } finally {
    attempt(() => Deno.removeSync(temporary));
  }
}

/** Returns text that is safe to show, and without credentials. */
const clean = (text: string) => foreignText(hideCredentials(withoutPasswords(redacted(text))));
const cleanLine = (text: string) => oneLine(clean(text));

export function exportedText(session: StoredSession, format: ExportFormat = markdown): string {
  const { head: { folder, started }, used, name, messages, executions } = session;
  const facts = [`copilot session ${shortName(name)}, ${started}`, folder, used?.model ?? ""];
  const tools = withJobs(builtinTools);
  const subjectOf = (name: string, args: Record<string, unknown>) =>
    attempt(() => tools.find((tool) => tool.name === name)?.subject?.(args));
  const calls = new Map<string, ToolCall>();
  const body = messages.flatMap((message) => {
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    return message.role === "tool"
      ? callEntry(message, calls, { executions, subjectOf }, format)
      : messageTexts(message, format);
  });
  return format.page(cleanLine(sessionTitle(session).title), facts.map(cleanLine), body);
}

function messageTexts(message: Message, format: ExportFormat): string[] {
  const { role, content, reasoning = "", standsFor, parts = [] } = message;
  const fold = (summary: string, text: string) => format.fold(cleanLine(summary), clean(text));
  if (standsFor === "interruption") return [fold("Interrupted", "")];
  if (standsFor === "summary" && role === "user") return [fold("Summary", content)];
  if (standsFor !== undefined) return [];
  const text = clean(typedText(message)).trim();
  return [
    ...reasoning.trim() === "" ? [] : [fold("Thought", reasoning.trim())],
    ...text === "" ? [] : [format.say(role === "user", text)],
    ...parts.flatMap((part) => {
      if (part.type === "image") return [fold(`With the image ${part.name ?? ""}`, "")];
      if (part.type === "text" || part.kind === "note") return [];
      return [fold(`With the ${part.kind} ${part.name}`, part.text)];
    }),
  ];
}

function callEntry(
  message: Message,
  calls: ReadonlyMap<string, ToolCall>,
  past: Parameters<typeof pastExecution>[2],
  format: ExportFormat,
): string {
  const exec = pastExecution(message, calls, past);
  const { verb, object, counts, ending, mood } = callText(exec);
  const change = exec.isError ? undefined : exec.details?.change;
  const changed = change?.lines && `+${changedLines(change, "+")} −${changedLines(change, "-")}`;
  const about = [counts, changed, ending].filter(Boolean).map((one) => ` · ${one}`).join("");
  const summary = cleanLine(`${mood === "good" ? "✓" : "✗"} ${verb} ${object}${about}`);
  const lines = change?.lines?.map((line) => ({ ...line, text: clean(line.text) }));
  return format.fold(summary, clean(ownResult(exec)), lines);
}

const SPECIAL: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" },
};
const asHtml = (text: string) => text.replace(/[&<>"']/g, (char) => SPECIAL[char]!);
const detailsStart = (summary: string, isOpen: boolean) =>
  `<details${isOpen ? " open" : ""}><summary>${asHtml(summary)}</summary>`;

/** The policy forbids to load and to run anything. */
const HTML_HEAD = `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
pre, div { white-space: pre-wrap } pre, summary { font: 13px/1.5 ui-monospace, monospace }
pre { padding: .5rem; background: #8881 } .user { border-left: 4px solid #48c; padding-left: 1rem }
ins { background: #2a43; text-decoration: none } del { background: #d333; text-decoration: none }
</style>`;

const html: ExportFormat = {
  page(title, facts, body) {
    const about = facts.map((fact) => `<p>${asHtml(fact)}</p>`);
    const name = asHtml(title);
    const start = `<title>${name}</title></head><body>\n<h1>${name}</h1>`;
    return [HTML_HEAD, start, ...about, ...body, "</body></html>\n"].join("\n");
  },
  say(isUser, text) {
    const texts = (isUser ? [{ text }] : blocksOf(text)).map((block) =>
      "language" in block ? `<pre>${asHtml(block.text)}</pre>` : asHtml(block.text.trim())
    );
    return `<div class="${isUser ? "user" : "answer"}">${texts.join("\n")}</div>`;
  },
  fold(summary, text, lines) {
    const rows = lines?.map(({ kind, text }) => {
      const tag = { "+": "ins", "-": "del", " ": "span" }[kind];
      return `<${tag}>${kind} ${asHtml(text)}</${tag}>`;
    });
    const body = rows?.join("\n") ?? asHtml(text);
    return `${detailsStart(summary, rows !== undefined)}<pre>${body}</pre></details>`;
  },
};

const markdown: ExportFormat = {
  page(title, facts, body) {
    const about = facts.map((fact) => `- ${withoutHtml(fact)}`).join("\n");
    return `${[`# ${withoutHtml(title)}`, about, ...body].join("\n\n")}\n`;
  },
  say(isUser, text) {
    const texts = blocksOf(text).map((block) =>
      "language" in block
        ? fenced(block.text, block.language.replace(/[^\w+#.-]/g, ""))
        : proseWithoutHtml(block.text.trim())
    );
    return [`## ${isUser ? "You" : "copilot"}`, ...texts].join("\n\n");
  },
  fold(summary, text, lines) {
    const rows = lines?.map(({ kind, text }) => kind + text).join("\n");
    const body = rows === undefined ? fenced(text) : fenced(rows, "diff");
    return `${detailsStart(summary, rows !== undefined)}\n\n${body}\n\n</details>`;
  },
};

function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Returns Markdown without HTML. Code in a paragraph stays as it is, if each backtick there has its partner. */
function proseWithoutHtml(text: string): string {
  return text.split(/(\n[ \t]*\n)/).map((paragraph) => {
    const pieces = paragraph.split(/((?<!`)(?:`[^`\n]+`|``[^`\n]+``)(?!`))/);
    const isClear = pieces.every((piece, at) => at % 2 === 1 || !piece.includes("`")) &&
      !paragraph.includes("\\`");
    return pieces.map((piece, at) => isClear && at % 2 === 1 ? piece : withoutHtml(piece)).join("");
  }).join("");
}

/** Returns Markdown without HTML, images, and links that run or load anything. */
const withoutHtml = (text: string) =>
  text.replaceAll("<", "&lt;").replaceAll("![", "!\\[")
    .replace(/\]\(\s*(?!https?:|mailto:|#)[a-z][\w+.-]*:/gi, "](#")
    .replace(/^([ >]*)\[([^\]\n]{0,200})\]:/gm, "$1\\[$2]:");
