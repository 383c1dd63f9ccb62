/** The whole session as a text to scroll and search, unfolded. Rows are created when they are viewed. @module */

import { MarkdownRenderer } from "../markdown/renderer.ts";
import { PagerModal } from "../screen/pager_modal.ts";
import type { PagerBlock } from "../screen/pager_text.ts";
import { bandText } from "../screen/message_modal.ts";
import { type Appearance, BOLD, DIM, type Painter, type Sgr, type Style } from "../style.ts";
import { styledRows } from "../styled.ts";
import { entryUnits } from "../units.ts";
import { oneLine } from "../../../text/one_line.ts";
import { extensionNote, typedText } from "../../../text/parts.ts";
import { sanitizeProse } from "../../../text/sanitize.ts";
import type { Message, Part, ToolCall } from "../../../types/message.ts";
import type { SubCall } from "../../../types/tool.ts";
import { ownResult } from "../../../agent/run_tools.ts";
import { callText, noteBehind, runningText } from "../../call_text.ts";
import { asExecution } from "../../progress.ts";
import { changeLines, changeNotes, changeRows, writeNotes } from "../../change.ts";
import { type PastCalls, pastExecution } from "../../past_execution.ts";
import { hangingRows, titleRows } from "./call_rows.ts";
import type { OpenQuestion } from "./terminal_questions.ts";
import { taskRows } from "./task_rows.ts";
import type { WholeConversation } from "./whole_conversation.ts";

interface TranscriptOptions extends PastCalls {
  conversation: WholeConversation;
  messages: () => readonly Message[];
  openQuestion?: () => OpenQuestion | undefined;
  display: { appearance: Appearance; paint: Painter; sgr: Sgr };
}

/** A block of plain text ends at the first newline after the first limit, and at most at the second one. */
const PIECE_CHARS = 4000;
const MAX_PIECE_CHARS = 16_000;
const MARGIN = "    ";
const SOURCE_COLUMNS = 1000;

export function transcriptModal(options: TranscriptOptions): PagerModal {
  const transcript = new Transcript(options);
  const { sgr } = options.display;
  return new PagerModal({ title: "Transcript", sgr, blocks: () => transcript.blocks() });
}

class Transcript {
  readonly #known = new WeakMap<Message, readonly PagerBlock[]>();
  readonly #calls = new Map<string, ToolCall>();
  readonly #questions = new WeakMap<OpenQuestion, PagerBlock>();

  constructor(private readonly options: TranscriptOptions) {}

  blocks(): readonly PagerBlock[] {
    const { conversation, messages } = this.options;
    const blocks: PagerBlock[] = [];
    for (const message of conversation.of(messages())) {
      for (const call of message.toolCalls ?? []) this.#calls.set(call.id, call);
      blocks.push(...this.#blocksOf(message));
    }
    blocks.push(...this.#blocksOfWritten(), ...this.#blocksOfAsked());
    return blocks.length > 0 ? blocks : [this.#note("there is no message yet")];
  }

  #blocksOf(message: Message): readonly PagerBlock[] {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const blocks = this.#make(message);
    this.#known.set(message, blocks);
    return blocks;
  }

  #make(message: Message): PagerBlock[] {
    const { role, content, reasoning = "", standsFor } = message;
    if (standsFor === "interruption") return [this.#note("interrupted")];
    if (standsFor === "summary") {
      return role === "user"
        ? [this.#note("a summary of the earlier messages"), ...this.#result(content)]
        : [];
    }
    const note = extensionNote(message);
    if (note !== undefined) return [this.#note("sent to the model"), ...this.#result(note)];
    if (standsFor !== undefined) return [];
    if (role === "user") return this.#ofUser(message);
    if (role === "tool") return this.#ofCall(message);
    return [
      ...this.#reasoning(reasoning),
      ...this.#answer(typedText(message)),
      ...message.parts ? [this.#note("interrupted")] : [],
    ];
  }

  #ofUser(message: Message): PagerBlock[] {
    const { parts = [] } = message;
    const typed = plainPieces(typedText(message)).map((source, at) =>
      this.#block(
        source,
        (columns) => [...at === 0 ? [""] : [], ...this.#userLines(source, columns)],
      )
    );
    return [...typed, ...parts.flatMap((part) => this.#attached(part))];
  }

  #userLines(source: string, columns: number): string[] {
    const band = bandText(entryUnits(source), columns, this.options.display.sgr);
    if (band !== undefined) return band.split("\n").slice(0, -1);
    return brokenLines(source, columns - 2).map((line, at) => `${at === 0 ? ">" : " "} ${line}`);
  }

  #attached(part: Part): PagerBlock[] {
    if (part.type === "text") return [];
    const { type, name = "" } = part;
    if (type === "image") return [this.#title(`with the image ${oneLine(name)}`.trimEnd())];
    const title = {
      file: "with",
      folder: "with",
      shell: "with the output of",
      stdin: "with stdin",
      skill: "with the skill",
    };
    if (part.kind === "note") return [];
    return [
      this.#title(`${title[part.kind]} ${oneLine(name)}`.trimEnd()),
      ...this.#result(part.text),
    ];
  }

  #reasoning(text: string): PagerBlock[] {
    return text.trim() === "" ? [] : [this.#note("thought"), ...this.#result(text.trim(), DIM)];
  }

  #answer(text: string): PagerBlock[] {
    const { appearance, paint } = this.options.display;
    if (text.trim() === "") return [];
    return [this.#block(text, (columns) => {
      const renderer = new MarkdownRenderer(appearance, columns, paint);
      const shown = renderer.push(text) + renderer.end();
      return ["", ...shown.replace(/\n$/, "").split("\n")];
    })];
  }

  #ofCall(message: Message): PagerBlock[] {
    const exec = pastExecution(message, this.#calls, this.options);
    const { paint } = this.options.display;
    const call = callText(exec);
    const { details: { change, written, tasks = [], calls = [] } = {}, repairs = [] } = exec;
    const title = this.#block(
      [call.verb, call.object, call.counts, call.ending].join(" "),
      (columns) => ["", ...titleRows(call.verb, [call], { columns, paint })],
    );
    const head = [title, ...this.#result(repairs.map((one) => `read ${one}`).join("\n"), DIM)];
    if (tasks.length > 0) {
      const rows = taskRows(tasks, { paint: (text) => text, margin: "" }, Infinity);
      return [...head, ...this.#result(rows.join("\n"))];
    }
    if (change?.lines === undefined || exec.isError) {
      const subCalls = calls.map(subCallText).join("\n");
      return [...head, ...this.#result(subCalls), ...this.#result(ownResult(exec))];
    }
    const notes = writeNotes(written);
    const source = [...changeLines(change), ...changeNotes(change), ...notes].join("\n");
    return [
      ...head,
      this.#block(source, (columns) => [
        ...changeRows(change, columns, paint, true),
        ...notes.map((note) => `${MARGIN}${paint(note, DIM)}`),
      ]),
      ...this.#result(noteBehind(exec), DIM),
    ];
  }

  #blocksOfWritten(): readonly PagerBlock[] {
    const { reasoning, text, running } = this.options.conversation.written;
    const calls = running.map((call) => runningText(call));
    const titles = calls.map((call) => this.#title(call));
    return [...this.#reasoning(reasoning), ...this.#answer(text), ...titles];
  }

  #blocksOfAsked(): readonly PagerBlock[] {
    const asked = this.options.openQuestion?.();
    if (asked === undefined) return [];
    const known = this.#questions.get(asked);
    if (known !== undefined) return [known];
    const { text, onSeen } = asked;
    const lines = (columns: number) => ["", ...text(columns).split("\n")];
    const block = { ...this.#block(text(SOURCE_COLUMNS), lines), onSeen };
    this.#questions.set(asked, block);
    return [block];
  }

  #result(text: string, style: Style = 0): PagerBlock[] {
    const { paint } = this.options.display;
    const room = (columns: number) => columns - MARGIN.length;
    return plainPieces(text.replaceAll("\r\n", "\n").replace(/\n$/, "")).map((source) =>
      this.#block(
        source,
        (columns) =>
          brokenLines(source, room(columns)).map((line) => `${MARGIN}${paint(line, style)}`),
      )
    );
  }

  #title(text: string): PagerBlock {
    const { paint } = this.options.display;
    const shown = paint(oneLine(text), BOLD);
    return this.#block(text, (columns) => hangingRows("● ", shown, columns));
  }

  #note(text: string): PagerBlock {
    const { paint } = this.options.display;
    const shown = `· ${text}`;
    return this.#block(shown, (columns) => [
      "",
      ...brokenLines(shown, columns).map((line) => paint(line, DIM)),
    ]);
  }

  #block(source: string, lines: (columns: number) => string[]): PagerBlock {
    const rows = (columns: number) => lines(columns).flatMap((line) => styledRows(line, columns));
    return { source, rows };
  }
}

function subCallText(one: SubCall): string {
  const { verb, object, counts, ending, reason } = callText(asExecution(one));
  return [verb, object, counts, ending, reason].filter(Boolean).join(" ");
}

const brokenLines = (text: string, columns: number): string[] =>
  sanitizeProse(text).split("\n").flatMap((line) => hangingRows("", line, columns));

function plainPieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    const line = text.indexOf("\n", at + PIECE_CHARS);
    const end = line === -1 ? text.length : line;
    const most = at + MAX_PIECE_CHARS;
    const cut = end <= most ? end : most - (/[\ud800-\udbff]/.test(text[most - 1]!) ? 1 : 0);
    found.push(text.slice(at, cut));
    at = cut === line ? cut + 1 : cut;
  }
  return found;
}
