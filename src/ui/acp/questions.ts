/** Asks the user through the editor's `session/request_permission`. @module */

import type { Approval, ApprovalAnswer, ApprovalChoice } from "../../safety/approval.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { oneLine } from "../../text/one_line.ts";
import { resolve } from "../../text/std_path.ts";
import { answerRows, noteTexts } from "../answers.ts";
import { trustRows } from "../session_lines.ts";
import { askedCall, type CallUpdate, printedText } from "./call_updates.ts";
import type { Editor } from "./editor.ts";
import type { ShownCalls } from "./shown_calls.ts";
import { objectOr } from "../../text/json.ts";

export interface EditorSession {
  editor: Editor;
  sessionId: string;
  calls: Pick<ShownCalls, "begin" | "answer">;
}

/** Avante takes an option whose id is not its kind for a no. */
const OPTIONS: Readonly<
  Record<Exclude<ApprovalChoice, "edit">, { optionId: string; kind: string }>
> = {
  once: { optionId: "allow_once", kind: "allow_once" },
  session: { optionId: "allow_always", kind: "allow_always" },
  folder: { optionId: "folder", kind: "allow_always" },
  refuse: { optionId: "reject_once", kind: "reject_once" },
};

export async function askApproval(
  approval: Approval,
  folder: string,
  asking: EditorSession,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { call, subAgent } = approval;
  // A file that the user attaches is not a call of the model, and a sub-agent's call belongs to another call.
  const isCall = call.id !== "" && subAgent === undefined;
  const id = isCall ? call.id : `attached-${crypto.randomUUID()}`;
  const asked = askedCall({ ...approval, call: { ...call, id } }, folder);
  const notes = [
    ...subAgent === undefined ? [] : [`Asked by the sub-agent ${oneLine(subAgent)}.`],
    ...noteTexts(approval),
  ];
  const content = [
    ...asked.content ?? [],
    ...notes.map((text) => ({ type: "content", content: { type: "text", text } } as const)),
  ];
  asking.calls.begin({ ...asked, content });
  const rows = answerRows(approval, Infinity);
  // Some editors show one button per kind and press the last option of it, which would be a rule for good.
  const isDropped = (choice: ApprovalChoice) =>
    choice === "folder" && !asking.editor.accepts.choices &&
    rows.some((row) => row.choice === "session");
  const options = rows.filter(({ choice }) => !isDropped(choice)).map(({ choice, label }) => ({
    ...OPTIONS[choice],
    name: choice === "refuse" ? "No" : label,
  }));
  const optionId = await picked({ ...asked, content }, options, asking, signal);
  const choice = rows.find((row) => OPTIONS[row.choice].optionId === optionId)?.choice ?? "refuse";
  if (!isCall) asking.calls.answer(id, choice !== "refuse");
  return choice === "refuse" ? { choice, reason: "" } : { choice };
}

/** Asks whether to use what a folder brings, with a call made for the question; undefined without an answer. */
export async function askAbout(
  { kind, text, title, files, path }: Confirmation,
  folder: string,
  asking: EditorSession,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const toolCallId = `${kind}-${crypto.randomUUID()}`;
  const whole = trustRows({ files }, Infinity, (text) => text, true);
  const [about = "", ...more] = text.split("\n");
  const shown = [...more.length === 0 ? [] : [text], ...whole].join("\n");
  const paths = path === undefined ? files.map(({ name }) => resolve(folder, name)) : [path];
  const call: CallUpdate = {
    toolCallId,
    kind: "other",
    status: "pending",
    title: `${about} ${title}`.trim(),
    ...shown !== "" && { content: [printedText(shown)] },
    locations: paths.map((path) => ({ path })),
  };
  asking.calls.begin(call);
  // After an answer of the kind allow_always, Avante allows all later calls of the message itself.
  const options = [{ ...OPTIONS.once, name: "Yes, always" }, { ...OPTIONS.refuse, name: "No" }];
  const answer = await picked(call, options, asking, signal);
  const isYes = answer === OPTIONS.once.optionId;
  asking.calls.answer(toolCallId, isYes);
  return answer === undefined ? undefined : isYes;
}

async function picked(
  toolCall: CallUpdate,
  options: readonly { optionId: string; name: string; kind: string }[],
  { editor, sessionId }: EditorSession,
  signal: AbortSignal,
): Promise<string | undefined> {
  const params = { sessionId, toolCall, options };
  const answer = await editor.request("session/request_permission", params, signal);
  const { outcome, optionId } = objectOr(objectOr(answer).outcome);
  const isOffered = options.some((option) => option.optionId === optionId);
  return outcome === "selected" && isOffered ? String(optionId) : undefined;
}
