/** The answers to a question about a call, as a list with a key for each. @module */

import type { ApprovalAnswer } from "../../../safety/approval.ts";
import { DEFAULT_KEYMAP } from "../line/actions.ts";
import type { Key } from "../line/keys.ts";
import { type LineModalOptions, TextLine } from "../line/line_modal.ts";
import { lineState, lineText } from "../line/state.ts";
import { barred, type CellRow, type Frame } from "../screen/frame.ts";
import { LIST_STEPS, listRows, type ListStyle, markedRow, stepped } from "../screen/list.ts";
import type { Modal, Outcome } from "../screen/modal.ts";
import { DIM } from "../style.ts";
import { styledRow, styledRows } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import { count } from "../../../text/count.ts";
import { graphemes } from "../../../text/width.ts";
import { type AnswerRow, refusalReason } from "../../answers.ts";
import { approvalKey } from "./question.ts";

interface ApprovalModalOptions extends Pick<ListStyle, "sgr"> {
  /** The call and its notes, as lines with SGR. A blank row precedes them if `hasGap`. */
  about: (columns: number) => string;
  hasGap: boolean;
  rows: (columns: number) => readonly AnswerRow[];
  /** True if the key of the next mode allows all edits in the session. */
  allowsEdits?: boolean | undefined;
  /** True if the last answer, the refusal, is selected first. */
  isLossy?: boolean | undefined;
  transcriptKey: string | undefined;
  /** Returns true once the user has seen the whole call. Cut calls cannot be allowed before that. */
  isSeen?: () => boolean;
  command?: string | undefined;
  ring: LineModalOptions["ring"];
  keymap?: LineModalOptions["keymap"];
  help: (columns: number) => string;
  onCancel(): void;
}

const MAX_LOW_ROWS = 8;

/** The answers in the order of their digits, which are the same in every question. */
const DIGIT_CHOICES: readonly AnswerRow["choice"][] = ["once", "session", "folder", "refuse"];

interface TypedAnswer {
  kind: "reason" | "command";
  /** The letter that opened the line, if it may be the first one of the text. */
  key: string;
  modal: TextLine;
}

/** Ends of words that start with the key `n`, without that letter. No reason starts with one of them. */
const BEHIND_N = /^(?:ah|ame|eeds?|ever|ew|ext|ode|ope|ot|othing|ow|pm|px)\P{L}/iu;
const NO_BEHIND_N = /^o?(?!\p{L})/iu;

export class ApprovalModal implements Modal<ApprovalAnswer> {
  #chosen = 0;
  /** The line that replaces the list, and its use; undefined while the list is active. */
  #line: TypedAnswer | undefined;
  #isHelp = false;
  #isCut = false;
  /** True after an answer was rejected because the user has not seen the whole call. */
  #isLookDue = false;
  #size: TerminalSize = { columns: Infinity, rows: Infinity };
  /** The newest answers. Their order is the same for any width. */
  #rows: readonly AnswerRow[];

  constructor(private readonly options: ApprovalModalOptions) {
    this.#rows = options.rows(Infinity);
    if (options.isLossy) this.#chosen = this.#rows.length - 1;
  }

  layout(size: TerminalSize): Frame {
    this.#size = size;
    const { hasGap } = this.options;
    const { rows, cursor } = barred((inner) => this.#inner(inner), size, this.options.sgr);
    const isApart = hasGap && this.#line?.kind !== "command" && !this.#isCut;
    const gap: CellRow[] = isApart && rows.length < size.rows ? [[]] : [];
    return { rows: [...gap, ...rows], cursor: { ...cursor, row: gap.length + cursor.row } };
  }

  /** The rows at the right of the bar. */
  #inner(size: TerminalSize): Frame {
    const { columns } = size;
    const { command } = this.options;
    const rows = this.#rows = this.options.rows(columns);
    const isHigh = size.rows > MAX_LOW_ROWS;
    const hasBelow = isHigh || this.#isLookDue && this.#isUnseen();
    const below = hasBelow && size.rows > 2 ? this.#below(size) : [];
    if (this.#line?.kind === "command" && command !== undefined) {
      const line = this.#line.modal.layout({ ...size, rows: size.rows - below.length });
      return { ...line, rows: [...line.rows, ...below] };
    }
    // The reason is typed in the last row.
    const listed = (this.#line === undefined ? rows : rows.slice(0, -1))
      .map((row) => ({ ...row, key: approvalKey(row.choice) }));
    const room = Math.max(1, size.rows - below.length - (this.#line ? 1 : 0));
    const style = { ...this.options, isNumbered: true };
    const list = listRows(listed, this.#chosen, { columns, rows: room }, style);
    const blank: CellRow[] = isHigh ? [[]] : [];
    const left = size.rows - below.length - list.length - blank.length;
    const line = this.#line?.modal.layout({ columns, rows: left });
    const about = this.#about(columns, left - (line?.rows.length ?? 0));
    const above = about.length + blank.length;
    // Laid out again, because it says whether the call is cut.
    const foot = below.length === 0 ? [] : this.#below(size);
    return {
      rows: [...about, ...blank, ...list, ...line?.rows ?? [], ...foot],
      cursor: {
        row: above + (line ? list.length + line.cursor.row : markedRow(list)),
        column: line?.cursor.column ?? 0,
      },
    };
  }

  /** Fits the call and its notes into `room` rows. A row with a count replaces the middle. */
  #about(columns: number, room: number): CellRow[] {
    const { about, transcriptKey: key } = this.options;
    const rows = about(columns).split("\n").flatMap((line) => styledRows(line, columns));
    this.#isCut = rows.length > room;
    if (rows.length <= room) return rows;
    if (room < 1) return [];
    const kept = room - 1;
    const left = `${rows.length - kept} of ${count(rows.length, "row")}`;
    const cut = `  … ${left} hidden${key ? ` · ${key}` : ""}`;
    const end = kept >> 1;
    const last = end === 0 ? [] : rows.slice(-end);
    return [...rows.slice(0, kept - end), styledRow(cut, columns), ...last];
  }

  #below(size: TerminalSize): CellRow[] {
    const dim = this.options.sgr(DIM);
    const help = this.#isHelp ? this.#help(size) : [];
    return [...help, `  ${this.#hint()}`].map((row) => styledRow(dim + row, size.columns));
  }

  /** Returns the meanings of the answers; empty if they do not fit. */
  #help({ columns, rows }: TerminalSize): string[] {
    const help = this.options.help(columns).split("\n");
    return rows > MAX_LOW_ROWS && help.length < rows - this.#rows.length ? help : [];
  }

  unselect(): void {
    this.#chosen = -1;
  }

  press(key: Key): Outcome<ApprovalAnswer> {
    if (this.#line !== undefined) return this.#pressLine(this.#line, key);
    // A paste is never an answer: the Enter after it must not mean yes.
    if (key.type === "paste") return this.#open("reason", key.text.split(/[\r\n]/, 1)[0]!);
    if (key.type !== "key") return this.#type(key.text);
    const { allowsEdits, keymap = DEFAULT_KEYMAP } = this.options;
    if (allowsEdits && keymap.bindings.get(key.name) === "next-mode") {
      return this.#unlessUnseen({ choice: "session" });
    }
    const step = LIST_STEPS[key.name];
    if (step !== undefined) {
      this.#chosen = stepped(this.#chosen, step, this.#rows.length);
      return "none";
    }
    switch (key.name) {
      case "enter":
        return this.#pick(this.#rows[this.#chosen]);
      case "escape":
      case "ctrl-c":
      case "ctrl-d":
        if (this.#isHelp && key.name === "escape") {
          this.#isHelp = false;
          return "none";
        }
        this.options.onCancel();
        return { done: null };
      case "ctrl-l":
        return "clear";
      case "ctrl-z":
        return "suspend";
    }
    return "bell";
  }

  #hint(): string {
    if (this.#isUnseen() && this.#isLookDue && this.#line?.kind !== "reason") {
      const escape = this.#line ? "goes back" : "stops the turn";
      return `see all of it first: ${this.options.transcriptKey ?? ""} · Esc ${escape}`;
    }
    if (this.#line?.kind === "command") return "Enter runs it, once · Esc goes back";
    if (this.#line) return "Enter sends it · Esc goes back";
    const edit = this.options.command === undefined ? "" : "e edit · ";
    return `${edit}? help · Esc stops the turn`;
  }

  #type(text: string): Outcome<ApprovalAnswer> {
    const { command } = this.options;
    const rows = this.#rows;
    const first = text[0]!.toLowerCase();
    if (first === "?") {
      const hasRoom = this.#help(this.#size).length > 0;
      this.#isHelp = hasRoom && !this.#isHelp;
      return hasRoom ? "none" : "bell";
    }
    // A longer word is a reason, even if it starts with a key of an answer. After a "no", the rest is the reason.
    if (/^(?!no(?!\p{L}))\p{L}{2}/iu.test(text)) return this.#open("reason", text);
    if (first === "e" && command !== undefined) {
      return this.#open("command", command + text.slice(1));
    }
    const row = rows.find(({ choice }) =>
      first === approvalKey(choice) || choice === DIGIT_CHOICES[Number(first) - 1]
    );
    if (row !== undefined && (text.length === 1 || row.choice === "refuse")) {
      return this.#pick(row, text.slice(1), first === "n" ? text[0] : "");
    }
    // Other text starts a reason: an Enter after it must not mean yes.
    return this.#open("reason", text);
  }

  #pick(row: AnswerRow | undefined, more = "", key = ""): Outcome<ApprovalAnswer> {
    if (row === undefined) return "bell";
    if (row.choice === "refuse") return this.#open("reason", more, key);
    return this.#unlessUnseen({ choice: row.choice });
  }

  #unlessUnseen(answer: ApprovalAnswer): Outcome<ApprovalAnswer> {
    this.#isLookDue = this.#isUnseen();
    return this.#isLookDue ? "bell" : { done: answer };
  }

  #isUnseen(): boolean {
    return this.#isCut && this.options.isSeen?.() === false;
  }

  #open(kind: TypedAnswer["kind"], text: string, key = ""): Outcome<ApprovalAnswer> {
    const { ring, keymap, sgr } = this.options;
    if (kind === "reason") this.#chosen = this.#rows.length - 1;
    const prompt = kind === "command" ? "❯ " : `❯ ${approvalKey("refuse")}  No: `;
    const state = lineState({ multiline: false, text: graphemes(text) });
    this.#line = { kind, key, modal: new TextLine(state, { prompt, sgr, ring, keymap }) };
    return "none";
  }

  #pressLine({ kind, key: opener, modal }: TypedAnswer, key: Key): Outcome<ApprovalAnswer> {
    const isBack = key.name === "escape" || key.name === "ctrl-g" ||
      key.name === "backspace" && modal.state.units.length === 0;
    const outcome: Outcome<string> = isBack ? { done: null } : modal.press(key);
    const typed = lineText(modal.state);
    if (outcome === "none" && opener !== "" && BEHIND_N.test(typed)) {
      return this.#open("reason", opener + typed);
    }
    if (typeof outcome === "string") return outcome;
    if (!("done" in outcome)) return "bell";
    if (outcome.done === null) {
      this.#line = undefined;
      return "none";
    }
    const { command } = this.options;
    if (kind === "reason") {
      const isWord = NO_BEHIND_N.test(outcome.done) || BEHIND_N.test(`${outcome.done} `);
      const reason = opener !== "" && isWord
        ? refusalReason(opener + outcome.done)
        : outcome.done.replace(/^[\s,:]+/, "").trimEnd();
      return { done: { choice: "refuse", reason } };
    }
    // An erased command must not run.
    if (outcome.done.trim() === "") {
      this.#line = undefined;
      return "none";
    }
    const isSame = outcome.done === command;
    return this.#unlessUnseen(
      isSame ? { choice: "once" } : { choice: "edit", command: outcome.done },
    );
  }
}
