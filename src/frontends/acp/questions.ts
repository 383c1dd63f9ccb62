/** Questions to the person, by the editor's `session/request_permission`. @module */

import type {
  Approval,
  ApprovalAnswer,
  ApprovalChoice,
  HooksQuestion,
  ServerQuestion,
} from "../../session/frontend.ts";
import type { HeededInstructions } from "../../session/report.ts";
import { oneLine } from "../../text/one_line.ts";
import { join } from "../../text/std_path.ts";
import { answerRows, questionNotes } from "../answers.ts";
import { hookLines, serverLines, trustQuestion, trustStartRows } from "../session_lines.ts";
import { askedCall, type CallUpdate, printedText } from "./call_updates.ts";
import type { Editor } from "./editor.ts";

/** The session that asks. */
export interface Asking {
  editor: Editor;
  sessionId: string;
  /** Tells the editor of the call that the question is about. */
  begin(call: CallUpdate): void;
  /** Tells it that a call is over that was a question and nothing more. */
  end(toolCallId: string, isYes: boolean): void;
}

const PERMISSION_KINDS: Readonly<Record<Exclude<ApprovalChoice, "edit">, string>> = {
  once: "allow_once",
  session: "allow_always",
  folder: "allow_always",
  refuse: "reject_once",
};

/** Asks about a call. */
export async function askApproval(
  approval: Approval,
  folder: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { call, subAgent } = approval;
  // A file that the person attaches is no call of the model's, and that of a sub-agent stands within another.
  const isCall = call.id !== "" && subAgent === undefined;
  const id = isCall ? call.id : `attached-${crypto.randomUUID()}`;
  const asked = askedCall({ ...approval, call: { ...call, id } }, folder);
  const notes = [
    ...subAgent === undefined ? [] : [`Asked by the sub-agent ${oneLine(subAgent)}.`],
    ...questionNotes(approval).map(({ text }) => text),
  ];
  const content = [
    ...asked.content ?? [],
    ...notes.map((text) => ({ type: "content", content: { type: "text", text } } as const)),
  ];
  asking.begin({ ...asked, content });
  const options = answerRows(approval, Infinity).map(({ choice, label }) => ({
    optionId: choice,
    name: choice === "refuse" ? "No" : label,
    kind: PERMISSION_KINDS[choice],
  }));
  const choice = await picked({ ...asked, content }, options, asking, signal);
  const isYes = choice === "once" || choice === "session" || choice === "folder";
  if (!isCall) asking.end(id, isYes);
  return isYes ? { choice } : { choice: "refuse", reason: "" };
}

/** Asks whether the instructions of a folder count; undefined for no answer. */
export async function askForTrust(
  { files, doubt }: HeededInstructions,
  folder: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<"on" | "off" | undefined> {
  const { text, title } = trustQuestion({ type: "trust", files, ...doubt && { doubt } });
  const starts = trustStartRows({ files }, Infinity).join("\n");
  const call: CallUpdate = {
    toolCallId: `trust-${crypto.randomUUID()}`,
    title: `${text} ${title}`,
    kind: "other",
    status: "pending",
    ...starts !== "" && { content: [{ type: "content", content: { type: "text", text: starts } }] },
    locations: files.map(({ name }) => ({ path: join(folder, name) })),
  };
  const isYes = await askForGood(call, asking, signal);
  return isYes === undefined ? undefined : isYes ? "on" : "off";
}

/** Asks whether an MCP server of the folder may be used; undefined for no answer. */
export function askAboutServer(
  question: ServerQuestion,
  asking: Asking,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { name, file, definition } = question;
  const call: CallUpdate = {
    toolCallId: `server-${crypto.randomUUID()}`,
    title: oneLine(`May the MCP server ${name} of this folder be used?`),
    kind: "other",
    status: "pending",
    content: [printedText(serverLines(question).join("\n"))],
    locations: file === undefined ? [] : [{ path: file }],
    rawInput: definition,
  };
  return askForGood(call, asking, signal);
}

/** Asks whether the hooks of a file of the folder may run; undefined for no answer. */
export function askAboutHooks(
  question: HooksQuestion,
  asking: Asking,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const call: CallUpdate = {
    toolCallId: `hooks-${crypto.randomUUID()}`,
    title: "May the hooks of this folder run?",
    kind: "other",
    status: "pending",
    content: [printedText(hookLines(question).join("\n"))],
    locations: [{ path: question.file }],
    rawInput: question.hooks,
  };
  return askForGood(call, asking, signal);
}

/** Asks yes or no, for now and later; undefined for no answer. */
async function askForGood(
  call: CallUpdate,
  asking: Asking,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  asking.begin(call);
  const options = [
    { optionId: "on", name: "Yes, now and later", kind: "allow_always" },
    { optionId: "off", name: "No", kind: "reject_always" },
  ];
  const answer = await picked(call, options, asking, signal);
  asking.end(call.toolCallId, answer === "on");
  return answer === undefined ? undefined : answer === "on";
}

/** The id of the option that the person picked; undefined for none. */
async function picked(
  toolCall: CallUpdate,
  options: readonly { optionId: string; name: string; kind: string }[],
  { editor, sessionId }: Asking,
  signal: AbortSignal,
): Promise<string | undefined> {
  const params = { sessionId, toolCall, options };
  const answer = await editor.request("session/request_permission", params, signal) as {
    outcome?: { outcome?: unknown; optionId?: unknown };
  };
  const { outcome, optionId } = answer?.outcome ?? {};
  const isOffered = options.some((option) => option.optionId === optionId);
  return outcome === "selected" && isOffered ? String(optionId) : undefined;
}
