/** A form of a program, asked field by field. @module */

import {
  type Elicitation,
  type ElicitationAnswer,
  fieldValue,
  type FormField,
} from "../../../session/form.ts";
import { oneLine } from "../../../text/one_line.ts";
import { sanitizeProse } from "../../../text/sanitize.ts";
import { wrapped } from "../../../text/wrap.ts";
import { reasonOf } from "../../../text/reason.ts";
import type { Display } from "./display.ts";

export const YES_OR_NO = [
  { label: "Yes", value: true, key: "y" },
  { label: "No", value: false, key: "n" },
];

/** A server's text, whose further lines are indented: none looks like a question of this program. */
const indented = (text: string): string => sanitizeProse(text).replaceAll("\n", "\n  ");

type FormDisplay = Pick<Display, "isLive" | "columns"> & {
  screen: Pick<Display["screen"], "ask" | "choose" | "print" | "notify">;
};

/** Asks the user for a server's input. Esc cancels; the last question confirms that it is sent. */
export async function askForm(
  question: Elicitation,
  { isLive, columns, screen }: FormDisplay,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  if (!isLive) return { action: "cancel" };
  const { server } = question;
  screen.notify(`copilot: the MCP server ${oneLine(server)} asks`);
  const say = (text: string) => screen.print(wrapped(text, columns));
  say(`The MCP server ${oneLine(server)} asks: ${indented(question.message)}`);
  if (question.mode === "url") {
    const { host } = new URL(question.url);
    say(`It wants you to open an address of ${host} in your browser:`);
    screen.print(`  ${oneLine(question.url)}`);
    return await consent("Did you open it, and may the server continue?", screen, signal);
  }
  const content: Record<string, unknown> = {};
  for (const field of question.fields) {
    // The next field follows without a notification.
    const how = { waits: field === question.fields[0] };
    const answer = await askField(field, screen, { columns, signal, how });
    if (answer === null) return { action: "cancel" };
    const value = fieldValue(field, answer);
    if (value !== undefined) content[field.name] = value;
  }
  const rows = Object.entries(content).map(([name, value]) =>
    `  ${oneLine(name)}: ${oneLine(JSON.stringify(value))}`
  );
  if (rows.length > 0) screen.print(rows.join("\n"));
  const answer = await consent(`Send this to ${oneLine(server)}?`, screen, signal);
  return answer.action === "accept" ? { action: "accept", content } : answer;
}

async function askField(
  field: FormField,
  screen: FormDisplay["screen"],
  { columns, signal, how }: { columns: number; signal: AbortSignal; how: { waits: boolean } },
): Promise<string | null> {
  const { title, description, type, options, isRequired } = field;
  if (description) screen.print(wrapped(`  ${indented(description)}`, columns));
  options.forEach((option, i) => screen.print(`  ${i + 1} ${oneLine(option.title)}`));
  const usual = field.default === undefined
    ? ""
    : `, Enter: ${oneLine(JSON.stringify(field.default))}`;
  const kind = { boolean: "y/n", choice: "one", choices: "several, with commas", string: "text" }[
    type as string
  ] ?? type;
  const left = isRequired || field.default !== undefined ? "" : ", Enter skips it";
  const objection = (line: string) => {
    try {
      fieldValue(field, line);
    } catch (error) {
      return `  ${oneLine(reasonOf(error))}`;
    }
  };
  return await screen.ask(`${oneLine(title)} (${kind}${usual}${left}): `, objection, signal, how);
}

async function consent(
  title: string,
  screen: FormDisplay["screen"],
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const list = { title, items: YES_OR_NO, isNumbered: true, hint: "y or n · Esc to cancel" };
  const isYes = await screen.choose(list, signal, { waits: true });
  if (isYes === null) return { action: "cancel" };
  return { action: isYes ? "accept" : "decline" };
}
