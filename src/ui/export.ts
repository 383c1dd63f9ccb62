/** Writes a session as one file to read: Markdown, or HTML without scripts. Credentials are hidden. @module */

import { ownResult, subjectOf } from "../agent/run_tools.ts";
import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { MAX_TITLE_CHARS, shortName, type StoredSession } from "../records/store.ts";
import { withoutPasswords } from "../safety/git_files.ts";
import { hideCredentials } from "../text/credentials.ts";
import { blocksOf } from "../text/fence.ts";
import { oneLine } from "../text/one_line.ts";
import { extensionNote, typedText } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import { foreignText } from "../text/sanitize.ts";
import { temporaryBeside } from "../tools/files/atomic_write.ts";
import { builtinTools, withJobs } from "../tools/mod.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { ChangeLine } from "../types/tool.ts";
import { redacted } from "../wire/excerpt.ts";
import { callText, noteBehind } from "./call_text.ts";
import { pastExecution } from "./past_execution.ts";

/**
 * Writes a session to a new file as `words` say: `[--html|--md] [-o] [FILE]`. Returns a line about it. @throws {Error}
 */
export function exportSession(
  session: StoredSession,
  words: readonly string[],
  resolve = (file: string) => file,
): string {
  const [named = "", ...more] = words.filter((word) => !/^(--md|--html|-o)$/.test(word));
  const strange = named.startsWith("-") ? named : more[0];
  if (strange !== undefined || words.at(-1) === "-o") {
    const takes = "an export takes --html or --md, and a file";
    throw new UsageError(`Unexpected ${oneLine(strange ?? "-o")}: ${takes}`);
  }
  const isHtml = words.includes("--html") || !words.includes("--md") && /\.html?$/i.test(named);
  const file = named || `copilot-${shortName(session.name)}.${isHtml ? "html" : "md"}`;
  const path = resolve(file);
  const markdown = exportedText(session);
  const temporary = temporaryBeside(path);
  try {
    // A link, which a command may have made, counts as an existing file.
    if (attempt(() => Deno.lstatSync(path))) throw new Error("it exists: name another file");
    const text = isHtml ? htmlPage(markdown) : markdown;
    Deno.writeTextFileSync(temporary, text, { createNew: true });
    Deno.renameSync(temporary, path);
  } catch (error) {
    attempt(() => Deno.removeSync(temporary));
    throw new UsageError(`Cannot write ${oneLine(file)}: ${reasonOf(error)}`);
  }
  return `Exported to ${
    oneLine(file)
  }, without what looks like a credential. Read it before you share it.`;
}

// Escape sequences go first, as one within a credential hides it.
const clean = (text: string) => hideCredentials(withoutPasswords(redacted(foreignText(text))));
const cleanLine = (text: string) => oneLine(clean(text));

/** Returns a session as Markdown, whose only HTML are the folds. */
export function exportedText(session: StoredSession): string {
  const { head: { folder, started, title }, first, used, name, messages, executions } = session;
  const facts = [`copilot session ${shortName(name)}, ${started}`, folder, used?.model ?? ""];
  const tools = withJobs(builtinTools);
  const past = {
    executions,
    subjectOf: (name: string, args: Record<string, unknown>) =>
      subjectOf(tools.find((tool) => tool.name === name), args),
  };
  const calls = new Map<string, ToolCall>();
  const body = messages.flatMap((message) => {
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    if (message.role !== "tool") return messageTexts(message);
    return callEntry(pastExecution(message, calls, past));
  });
  const heading = `# ${withoutHtml(cleanLine(title ?? first.slice(0, MAX_TITLE_CHARS)))}`;
  const about = facts.map((fact) => proseWithoutHtml(cleanLine(fact)));
  return `${[heading, ...about, ...body].join("\n\n")}\n`;
}

function folded(summary: string, body: string, isOpen = false): string {
  const start = isOpen ? "<details open>" : "<details>";
  return `${start}<summary>${asHtml(cleanLine(summary))}</summary>\n\n${body}\n\n</details>`;
}

function messageTexts(message: Message): string[] {
  const { role, content, reasoning = "", standsFor, parts = [] } = message;
  const fold = (summary: string, text: string) => folded(summary, fenced(clean(text)));
  if (standsFor === "interruption") return [fold("Interrupted", "")];
  if (standsFor === "summary" && role === "user") return [fold("Summary", content)];
  const note = extensionNote(message);
  if (note !== undefined) return [fold(note.split("\n")[0]!, note)];
  if (standsFor !== undefined) return [];
  const blocks = blocksOf(clean(typedText(message)).trim()).filter(({ text }) => text !== "");
  return [
    ...reasoning.trim() === "" ? [] : [fold("Thought", reasoning.trim())],
    ...blocks.length === 0 ? [] : [role === "user" ? "## You" : "## copilot"],
    ...blocks.map((block) =>
      "language" in block
        ? fenced(block.text, block.language.replace(/[^\w+#.-]/g, ""))
        : proseWithoutHtml(block.text.trim())
    ),
    ...parts.flatMap((part) => {
      if (part.type === "image") return [fold(`With the image ${part.name ?? ""}`, "")];
      if (part.type === "text" || part.kind === "note") return [];
      return [fold(`With the ${part.kind} ${part.name}`, part.text)];
    }),
  ];
}

function callEntry(exec: ToolExecution): string {
  const { verb, object, counts, added, removed, ending, mood } = callText(exec);
  const lines = exec.isError ? undefined : exec.details?.change?.lines;
  const about = [counts, lines && `+${added} −${removed}`, ending].filter(Boolean).join(" · ");
  const summary = `${mood === "good" ? "✓" : "✗"} ${verb} ${object}${about && ` · ${about}`}`;
  if (!lines) return folded(summary, fenced(clean(ownResult(exec))));
  const rows = withCleanSide(withCleanSide(lines, "-"), "+").map(({ kind, text }) => kind + text);
  const note = clean(noteBehind(exec));
  const body = [fenced(rows.join("\n"), "diff"), ...note === "" ? [] : [fenced(note)]];
  return folded(summary, body.join("\n\n"), true);
}

/** Cleans the old or new text of a change as a whole, as a key has many lines. */
function withCleanSide(lines: readonly ChangeLine[], side: "-" | "+"): ChangeLine[] {
  const isIn = ({ kind }: ChangeLine) => kind === " " || kind === side;
  const texts = clean(lines.filter(isIn).map(({ text }) => text).join("\n")).split("\n").values();
  return lines.map((line) => isIn(line) ? { ...line, text: texts.next().value ?? "" } : line);
}

const asHtml = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** The page's policy forbids it to load or run anything. */
const HTML_HEAD = `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
pre, div { white-space: pre-wrap; min-height: .5em } pre, summary { font: 13px/1.5 ui-monospace, monospace }
pre { padding: .5rem; background: #8881 } h2 { font-size: 1rem; color: #48c }
ins { background: #2a43; text-decoration: none } del { background: #d333; text-decoration: none }
</style>`;

const FOLD = /^(?:<details(?: open)?><summary>[^<]*<\/summary>|<\/details>)$/;

/** Returns an export as a page. Its Markdown has no HTML but the folds, and stays as it is between headings and code. */
function htmlPage(markdown: string): string {
  const tags: Record<string, string> = { "+": "ins", "-": "del" };
  const body = blocksOf(markdown).map((block) => {
    const rows = block.text.split("\n").map((line) => {
      if ("language" in block) {
        const tag = block.language === "diff" && tags[line[0] ?? ""];
        return tag ? `<${tag}>${asHtml(line)}</${tag}>` : asHtml(line);
      }
      if (FOLD.test(line)) return line;
      const [, signs = "", heading] = /^(##?) (.*)$/.exec(line) ?? [];
      const text = asHtml((heading ?? line).replaceAll("&lt;", "<"));
      return heading === undefined
        ? `<div>${text}</div>`
        : `<h${signs.length}>${text}</h${signs.length}>`;
    });
    return "language" in block ? `<pre>${rows.join("\n")}</pre>` : rows.join("\n");
  });
  const [title = ""] = markdown.slice(2).replaceAll("&lt;", "<").split("\n", 1);
  return `${HTML_HEAD}<title>${asHtml(title)}</title></head><body>\n${
    body.join("\n")
  }\n</body></html>\n`;
}

function fenced(text: string, language = ""): string {
  let fence = "```";
  for (const [run] of text.matchAll(/`{3,}/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Returns Markdown without HTML. A paragraph's code stays as it is if all is closed, and without a table's `|`. */
function proseWithoutHtml(text: string): string {
  return text.split(/(\n[ \t]*\n)/).map((paragraph) => {
    const pieces = paragraph.split(/((?<!`)(?:`[^`\n]+`|``[^`\n]+``)(?!`))/);
    const isClear = pieces.every((piece, at) => !piece.includes(at % 2 === 1 ? "|" : "`")) &&
      !paragraph.includes("\\`");
    return pieces.map((piece, at) => isClear && at % 2 === 1 ? piece : withoutHtml(piece)).join("");
  }).join("");
}

/** Returns Markdown without HTML, images, definitions of links, and links to other than the web, mail or a heading. */
const withoutHtml = (text: string) =>
  text.replaceAll("<", "&lt;").replaceAll("![", "!\\[")
    .replace(/\]\((?!\s*(?:https?:|mailto:|#))\s*/gi, "](#").replaceAll("]:", "]\\:");
