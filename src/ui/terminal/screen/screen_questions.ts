/** Questions on a live screen: drawn at once, they accept keys after a quiet moment. @module */

import { styledRow } from "../styled.ts";
import type { Terminal, TerminalSize } from "../tty.ts";
import type { CellRow } from "./frame.ts";
import { ListModal } from "./list_modal.ts";
import type { LiveOutput } from "./live_output.ts";
import { type MessageModal, QuestionModal, type SessionLineOptions } from "./message_modal.ts";
import type { Modal, ModalStack } from "./modal.ts";
import type { ChoiceList, QuestionTiming, Screen } from "./screen.ts";

interface QuestionParts {
  terminal: Terminal;
  modals: ModalStack;
  output: LiveOutput;
  message: MessageModal;
  signal: AbortSignal;
  lineOptions: (prompt: string) => SessionLineOptions;
}

/** No question is answered by accident: it accepts keys after so many milliseconds without one. */
const QUESTION_QUIET_MS = 300;
/** The same for a user who is in the middle of a line: the Enter that sends it must not answer. */
const DRAFT_QUIET_MS = 1000;
/** The rows below such a question: the rule, the input line, the status, and a spare one. */
const COMING_MARGIN = 4;
/** Shown in place of the row above the answers until then. */
const QUESTION_COMES = "Stop typing to answer:";

export class ScreenQuestions {
  keyTime = 0;
  /** True while a list is open that the user asked for. */
  isPicker = false;
  #coming: Modal | undefined;

  constructor(private readonly parts: QuestionParts) {}

  get isComing(): boolean {
    return this.#coming !== undefined;
  }

  comingRows({ columns, rows }: TerminalSize, dim: string): CellRow[] {
    if (this.#coming === undefined) return [];
    const room = Math.max(rows >> 1, rows - COMING_MARGIN);
    const { rows: coming, cursor } = this.#coming.layout({ columns, rows: room });
    const title = Math.max(0, cursor.row - 1);
    return coming.map((row, at) =>
      at === title
        ? styledRow(`${dim}${QUESTION_COMES}`, columns)
        : row.map((cell) => ({ ...cell, style: dim }))
    );
  }

  get modalParts() {
    const { sgr, ring, keymap } = this.parts.lineOptions("");
    return {
      sgr,
      ring,
      keymap,
      onCancel: () => this.parts.message.hold(),
    };
  }

  ask(...[prompt, objection, signal, text = "", how]: Parameters<Screen["ask"]>) {
    return this.open(this.#question(prompt, objection, text), signal, how);
  }

  askHidden(...[prompt, objection, signal]: Parameters<Screen["askHidden"]>) {
    return this.open(this.#question(prompt, objection, "", true), signal, { waits: false });
  }

  choose<T>(
    list: ChoiceList<T>,
    signal: AbortSignal,
    // A user who asked for a list expects that it accepts the next key.
    how: QuestionTiming = { waits: false },
  ): Promise<T | null> {
    const { sgr } = this.parts.lineOptions("");
    const modal = new ListModal<T>({ ...list, sgr });
    this.isPicker = how.waits === false;
    const open = this.open(modal, signal, how);
    return open.finally(() => this.isPicker = false);
  }

  /** Opens `modal`, by default after a quiet moment; null once `signal` is aborted, or with `yields` if a message waits. */
  async open<T>(
    modal: Modal<T>,
    signal: AbortSignal,
    { waits = true, yields = false }: QuestionTiming = {},
  ): Promise<T | null> {
    const { modals, output, message } = this.parts;
    if (waits) {
      // A modal on the whole screen hides the question.
      if (modals.isFullScreen) await this.#awaitQuiet(signal);
      if (!signal.aborted) modals.closeFullScreen();
      if (message.state.units.length > 0) modal.unselect?.();
      this.#coming = modal;
      output.draw();
      await this.#awaitQuiet(signal);
      if (message.state.units.length > 0) modal.unselect?.();
      // No frame is drawn without the question.
      this.#coming = undefined;
    }
    const isNeedless = yields && message.queued.length > 0;
    if (isNeedless || signal.aborted || this.parts.signal.aborted) {
      output.drawSoon();
      return null;
    }
    const onAbort = () => modals.close(modal);
    signal.addEventListener("abort", onAbort);
    try {
      const result = modals.open(modal);
      output.draw();
      return await result;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #question(
    prompt: string,
    objection: (line: string) => string | undefined,
    text: string,
    isHidden = false,
  ) {
    const options = this.parts.lineOptions(prompt);
    return new QuestionModal({
      ...options,
      // Text cut from a hidden line cannot be pasted into another one.
      ring: isHidden ? { kills: [] } : options.ring,
      text,
      objection,
      isHidden,
      onCancel: () => this.parts.message.hold(),
    });
  }

  async #awaitQuiet(signal: AbortSignal): Promise<void> {
    const { terminal, modals, message } = this.parts;
    const start = terminal.now();
    const quiet = () => message.state.units.length > 0 ? DRAFT_QUIET_MS : QUESTION_QUIET_MS;
    const left = () => quiet() - (terminal.now() - Math.max(start, this.keyTime));
    for (let isQuiet = false; !signal.aborted && !isQuiet;) {
      // Keys are not read while an outcome is pending: a full pause follows it.
      const wasWaiting = modals.isWaiting;
      await terminal.pause(wasWaiting ? quiet() : left(), signal);
      isQuiet = !wasWaiting && !modals.isWaiting && left() <= 0;
    }
  }
}
