/** A list to select a command's argument from. @module */

import type { ArgumentChoice, CommandInfo } from "../../../session/data.ts";
import type { ChoiceList } from "../screen/screen.ts";

const MAX_NUMBERED = 9;

/** Shows `choices` for a command. The result is the argument. */
export function choiceList(
  { name, question = `/${name}`, wraps }: Pick<CommandInfo, "name" | "question" | "wraps">,
  choices: readonly ArgumentChoice[],
): ChoiceList<string> {
  const items = choices.map(({ argument, label, detail, isCurrent }) => ({
    label,
    detail: [detail, isCurrent && "now"].filter(Boolean).join(" · "),
    value: argument,
  }));
  return {
    title: question,
    items,
    chosen: Math.max(0, choices.findIndex(({ isCurrent }) => isCurrent)),
    ...wraps !== undefined && { wraps },
    isNumbered: items.length <= MAX_NUMBERED,
    hint: "Enter to select · Esc to cancel",
  };
}
