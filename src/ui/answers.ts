/** The wording of answers to a question about a call, shared by all frontends. @module */

import type { Approval, ApprovalChoice } from "../safety/approval.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { displayWidth } from "../text/width.ts";

/** Matches a reason that starts with "n", except a separate word "no". */
export const refusalReason = (line: string): string =>
  line.trim().replace(/^no?(?!\p{L})[\s,:]*/iu, "");

export interface AnswerRow {
  choice: Exclude<ApprovalChoice, "edit">;
  label: string;
}

/** @param allKey the key that allows all edits, if there is one */
export function answerRows(approval: Approval, columns: number, allKey = ""): AnswerRow[] {
  const more = approval.isFromUser ? "" : ": say what to do instead";
  const [now, later] = [allowedInSession(approval), allowedBy(approval)];
  const key = approval.allowsEdits && allKey ? ` (${allKey})` : "";
  const labels: Readonly<Record<AnswerRow["choice"], string>> = {
    once: approval.networked ? "Yes, for this session" : "Yes",
    session: fitsInRow(now, columns)
      ? `Yes, and ${now} in this session${fitsInRow(now + key, columns) ? key : ""}`
      : "Yes, always in this session",
    folder: hasRoom(later, columns - FOLDER_COLUMNS)
      ? `Yes, and ${later} from now on in this folder`
      : "Yes, always in this folder",
    refuse: `No${more}`,
  };
  return (Object.keys(labels) as AnswerRow["choice"][])
    .filter((choice) => approval.choices.includes(choice))
    .map((choice) => ({ choice, label: labels[choice] }));
}

/** Columns of an answer's row besides what it allows: mark, key and fixed words. */
const ANSWER_COLUMNS = 30;
/** The same for the row that allows it in this folder, which has more words. */
const FOLDER_COLUMNS = 41;

const hasRoom = (text: string, columns: number): boolean => displayWidth(text) <= columns;
const fitsInRow = (text: string, columns: number) => hasRoom(text, columns - ANSWER_COLUMNS);

/** True if the row of an answer has room for the calls that it allows in the session. */
export const isInRow = (approval: Approval, columns: number): boolean =>
  fitsInRow(allowedInSession(approval), columns);

export const allowedInSession = (approval: Approval): string =>
  approval.allowsEdits ? "all edits" : allowedBy(approval);

const MAX_PROGRAMS = 3;

/** A line about a call that needs approval. `isCalm`: it gives no reason for doubt; `isDanger`: it warns. */
interface QuestionNote {
  text: string;
  isCalm?: true;
  isDanger?: true;
}

/** Returns why a call needs approval, what a yes allows beyond it, and how it is sandboxed. */
export function questionNotes(approval: Approval): QuestionNote[] {
  const { reason, isRoutine, isDanger, confinedTo, subject: { command = "", path = "" } } =
    approval;
  const meaning = meaningOfYes(approval);
  return [
    ...isRoutine ? [] : [{ text: `It ${oneLine(reason)}.`, ...isDanger && { isDanger } }],
    ...lookAlikes(`${command} ${path}`),
    ...meaning === undefined ? [] : [{ text: meaning, isCalm: true } as const],
    ...confinedTo ? [{ text: confinedTo, isCalm: true } as const] : [],
  ];
}

/** The notes on a call, and the model's reason in quotes, for frontends that do not show all of its arguments. */
export function noteTexts(approval: Approval): string[] {
  const { reason } = approval.subject;
  const said = reason && `The model says ${JSON.stringify(shortened(oneLine(reason), 300))}.`;
  return [...questionNotes(approval).map(({ text }) => text), ...said ? [said] : []];
}

/** Letters of Cyrillic and Greek that look like Latin ones. */
const LATIN_LOOKS = /^[асеорхуіјѕһԁԛԝӏАВЕКМНОРСТХУІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]+$/;

/** Returns a warning if a word mixes Latin letters with similar ones, or if all words of another alphabet look Latin. */
function lookAlikes(text: string): QuestionNote[] {
  const [latin, other] = ["\\p{sc=Latin}", "[\\p{sc=Cyrillic}\\p{sc=Greek}\\p{sc=Armenian}]"];
  const what = new RegExp(`${latin}${other}|${other}${latin}`, "u").test(text)
    ? "has letters of two alphabets, which may look alike"
    : text.match(new RegExp(`${other}+`, "gu"))?.every((word) => LATIN_LOOKS.test(word))
    ? "looks like Latin letters, but has others"
    : undefined;
  return what === undefined ? [] : [{ text: `Careful: a word of it ${what}.`, isDanger: true }];
}

/** Returns what else a yes allows, such as the network; undefined if it allows only the call. */
function meaningOfYes({ networked, right, programs = [] }: Approval): string | undefined {
  if (right === undefined && !networked) return undefined;
  const more = programs.length > MAX_PROGRAMS ? [`${programs.length - MAX_PROGRAMS} more`] : [];
  const what = [...programs.slice(0, MAX_PROGRAMS).map(oneLine), ...more].join(" and ") || "it";
  const are = programs.length > 1 ? "run" : "runs";
  if (right?.folder) {
    return `If you say yes, it runs in the sandbox, and can also write ${
      oneLine(right.folder)
    }, this once.`;
  }
  if (right?.kind === "credentials") {
    return `If you say yes, ${what} ${are} once with the network and your credentials. It writes only git's folders.`;
  }
  if (!networked && right?.kind !== "network") {
    return `If you say yes, ${what} ${are} outside of the sandbox this once, with all of your files and the network.`;
  }
  const inSession = networked
    ? ` For the rest of this session, ${networkedBy(networked)} may use the network without asking.`
    : "";
  return `If you say yes, ${what} ${are} with network access; files stay sandboxed.${inSession}`;
}

/** Returns the programs that get the network. Exact commands are shown above; prefixes cover more than that. */
function networkedBy(grants: NonNullable<Approval["networked"]>): string {
  const open = grants.filter(({ isExact }) => !isExact).map(({ text }) => `any \`${text} …\``);
  const exact = open.length < grants.length ? ["exactly this command"] : [];
  // Scripts of an installation may be new since this answer.
  const scripts = open.length > 0 ? " and all scripts of this folder that it runs" : "";
  return [...open, ...exact].join(" and ") + scripts;
}

export function allowedBy(approval: Approval): string {
  const { call, subject: { action }, rules = [], rulePath } = approval;
  if (rulePath !== undefined) {
    const calls = action === undefined
      ? call.name
      : action === "search"
      ? "searches"
      : `${action}s`;
    return `${calls} of ${oneLine(rulePath)}`;
  }
  const words = rules.map(({ words }) => `\`${oneLine(words)}\``);
  const isExact = rules.length === 1 && rules[0]!.words === approval.subject.command;
  return isExact ? "exactly this" : `any ${words.join(" and ")}`;
}
