/** A session's questions to the user at the terminal. @module */

import type { Approval, ApprovalAnswer } from "../../../safety/approval.ts";
import type { Frontend } from "../../../session/frontend.ts";
import { screenKey } from "../line/actions.ts";
import { LiveScreen } from "../screen/live_screen.ts";
import { wrapped } from "../../../text/wrap.ts";
import { answerRows } from "../../answers.ts";
import { trustRows } from "../../session_lines.ts";
import { ApprovalModal } from "./approval_modal.ts";
import type { Display } from "./display.ts";
import { answersHelp, asciiApproval, askUser, questionText, questionTitle } from "./question.ts";
import { askForm, YES_OR_NO } from "./form.ts";

export interface OpenQuestion {
  text: (columns: number) => string;
  onSeen: () => void;
}

const BAR_COLUMNS = 2;

/** Asks on a display. `onCancel` stops the running work after a question without an answer. */
export class TerminalQuestions
  implements Required<Pick<Frontend, "approve" | "confirm" | "elicit">> {
  constructor(private readonly display: Display, private readonly onCancel: () => void) {}

  /** The open question, if it is longer than what is shown above its answers. */
  openQuestion: OpenQuestion | undefined;

  readonly approve: NonNullable<Frontend["approve"]> = async (request, signal) => {
    const { screen, view, paint, appearance } = this.display;
    using _ = view.onAsked(request.call.id);
    screen.notify(`copilot asks: ${questionTitle(request)}`);
    if (screen instanceof LiveScreen) return await this.#choose(screen, request, signal);
    const ask: Parameters<typeof askUser>[0] = async (text, ...question) => {
      if (text !== "") view.print(`\n${text}`);
      const answer = await screen.ask(...question);
      if (answer === null) this.onCancel();
      return answer;
    };
    return await askUser(ask, () => this.display.columns, paint, appearance.unicode)(
      request,
      signal,
    );
  };

  readonly confirm: NonNullable<Frontend["confirm"]> = async (question, signal) => {
    const { isLive, screen, paint } = this.display;
    if (!isLive) return undefined;
    const columns = this.display.columns - BAR_COLUMNS;
    const { kind, text, title, files } = question;
    // The first rows of the session stay open: the answer changes them.
    const about = [
      wrapped(text, columns),
      ...trustRows(question, columns, paint),
    ];
    const whole = (columns: number) => trustRows(question, columns, paint, true).join("\n");
    if (files.length > 0) this.openQuestion = { text: whole, onSeen: () => {} };
    const key = this.openQuestion && screenKey(this.display.keymap, "transcript");
    const more = key === undefined ? "" : ` · ${key} shows all`;
    const list = {
      title: [...about, title].filter(Boolean).join("\n"),
      items: YES_OR_NO,
      isNumbered: true,
      hint: `y or n · Esc ${kind === "check" ? "stops" : "decides later"}${more}`,
      isBarred: true,
    };
    const answer = await screen.choose(list, signal, { waits: true })
      .finally(() => this.openQuestion = undefined);
    // Nothing asks again about a check.
    if (answer === null && kind === "check") this.onCancel();
    return answer ?? undefined;
  };

  readonly elicit: NonNullable<Frontend["elicit"]> = (question, signal) =>
    askForm(question, this.display, signal);

  async #choose(
    screen: LiveScreen,
    request: Approval,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const { view, paint, appearance, keymap } = this.display;
    const shown = appearance.unicode ? request : asciiApproval(request);
    const about = (columns: number) => questionText(shown, columns, paint, true);
    const transcriptKey = screenKey(keymap, "transcript");
    const allKey = screenKey(keymap, "next-mode");
    // The transcript shows a change completely and /undo reverts it. Nothing reverts other calls.
    let isSeen = request.preview?.lines !== undefined;
    if (transcriptKey === undefined) {
      // Nothing shows it later.
      view.print(`${view.endsBlank ? "" : "\n"}${about(this.display.columns)}`);
      isSeen = true;
    }
    const modal = new ApprovalModal({
      ...screen.modalParts,
      about: transcriptKey === undefined ? () => "" : about,
      hasGap: transcriptKey !== undefined && !view.endsBlank,
      transcriptKey,
      rows: (columns) => answerRows(shown, columns, allKey),
      allowsEdits: request.allowsEdits,
      isLossy: request.isLossy,
      isSeen: () => isSeen,
      command: request.choices.includes("edit") ? request.subject.command : undefined,
      help: (columns) => answersHelp(shown, columns),
    });
    this.openQuestion = { text: about, onSeen: () => isSeen = true };
    const answer = await screen.open(modal, signal).finally(() => this.openQuestion = undefined);
    if (answer === null) this.onCancel();
    if (answer?.choice === "edit") view.onDecided(request.call.id, "edited by you");
    else if (answer?.choice === "once" && !request.isRoutine) {
      const lasts = request.networked !== undefined;
      view.onDecided(request.call.id, lasts ? "allowed in this session" : "allowed once");
    }
    return answer ?? { choice: "refuse", reason: "" };
  }
}
