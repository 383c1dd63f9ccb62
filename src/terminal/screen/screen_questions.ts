/** Questions on a live screen: drawn at once, they take keys only after some quiet. @module */

import { styledRow } from "../styled.ts";
import type { Terminal } from "../terminal.ts";
import type { TerminalSize } from "../tty.ts";
import type { CellRow } from "./frame.ts";
import { ListModal } from "./list_modal.ts";
import type { LiveOutput } from "./live_output.ts";
import type { MessageModal } from "./message_modal.ts";
import type { Modal, ModalStack } from "./modal.ts";
import { QuestionModal, type SessionLineOptions } from "./question_modal.ts";
import type { AskingWay, ChoiceList, Screen } from "./screen.ts";

/** The parts of a screen that questions need. */
interface QuestionParts {
  terminal: Terminal;
  modals: ModalStack;
  output: LiveOutput;
  message: MessageModal;
  /** Aborted when the screen ends. */
  signal: AbortSignal;
  lineOptions: (prompt: string) => SessionLineOptions & { unicode: boolean };
}

/** A question that is drawn takes keys once none came for these milliseconds: none is answered by accident. */
const QUESTION_QUIET_MS = 300;
/** The rows below a question that comes: a rule, the line that is typed, the status, and one to spare. */
const COMING_MARGIN = 4;
/** The row in place of the one above the answers until then. */
const QUESTION_COMES = "Stop typing to answer:";

export class ScreenQuestions {
  /** When the last key was pressed. */
  keyTime = 0;
  /** The text printed last: what the next question is about. */
  context = "";
  /** The question that is drawn, and whose answer does not begin yet: keys are for the message. */
  #coming: Modal | undefined;

  /** True where the question that comes, or is open, keeps the steps above it. */
  hasPanel = false;

  constructor(private readonly parts: QuestionParts) {}

  get isComing(): boolean {
    return this.#coming !== undefined;
  }

  /** The rows of the question that comes, until it takes keys. */
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

  /** The parts of a modal that its caller makes. */
  get modalParts() {
    const { color, accent, unicode, ring, keymap } = this.parts.lineOptions("");
    return {
      ...{ hasStyles: color !== "", accent, unicode, ring, keymap, context: this.context },
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
    // A person who asked for a list expects the next key to be for it.
    how: AskingWay = { waits: false },
  ): Promise<T | null> {
    const { color, accent, unicode } = this.parts.lineOptions("");
    const look = { hasStyles: color !== "", accent, unicode, context: this.context };
    return this.open(new ListModal<T>({ ...list, ...look }), signal, how);
  }

  /**
   * Opens `modal`, by default once it was drawn and no key came for a while; its result, or null once
   * `signal` is aborted. With `yields` it is not asked where a message is queued by then.
   */
  async open<T>(
    modal: Modal<T>,
    signal: AbortSignal,
    { waits = true, yields = false, hasPanel = false }: AskingWay = {},
  ): Promise<T | null> {
    const { modals, output, message } = this.parts;
    this.hasPanel = hasPanel;
    if (waits) {
      // Below what takes the whole screen nothing is seen.
      if (modals.isFullScreen) await this.#awaitQuiet(signal);
      if (!signal.aborted) modals.closeFullScreen();
      this.#coming = modal;
      output.draw();
      await this.#awaitQuiet(signal);
      // It is drawn again only with what is in its place: it must not vanish for a frame.
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

  #question(prompt: string, objection: QuestionObjection, text: string, isHidden = false) {
    const options = this.parts.lineOptions(prompt);
    return new QuestionModal({
      ...options,
      // What is cut from a hidden line comes back in no other one.
      ring: isHidden ? { kills: [] } : options.ring,
      ...{ context: this.context, text, objection, isHidden },
      onCancel: () => this.parts.message.hold(),
    });
  }

  /** Resolves once no key came for a while, counted from now. */
  async #awaitQuiet(signal: AbortSignal): Promise<void> {
    const { terminal, modals } = this.parts;
    const began = terminal.now();
    const left = () => QUESTION_QUIET_MS - (terminal.now() - Math.max(began, this.keyTime));
    for (let isQuiet = false; !signal.aborted && !isQuiet;) {
      // Keys that were not read during an outcome's wait are read in the pause after it.
      const wasWaiting = modals.isWaiting;
      await terminal.pause(wasWaiting ? QUESTION_QUIET_MS : left(), signal);
      isQuiet = !wasWaiting && !modals.isWaiting && left() <= 0;
    }
  }
}

type QuestionObjection = (line: string) => string | undefined;
