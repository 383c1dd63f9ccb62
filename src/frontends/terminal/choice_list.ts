/** The list from which a person picks a command's argument: its title, and what the rows mean. @module */

import type { ArgumentChoice } from "../../session/report.ts";
import type { ChoiceList } from "../../terminal/screen/screen.ts";
import { APPROVE_MODES } from "../../permissions/settings.ts";
import { modeMeaning } from "../modes.ts";

const UNDO_TITLE = "Go back to before which message?";
const TITLES: Record<string, string> = {
  model: "Which model?",
  resume: "Continue which session?",
  undo: UNDO_TITLE,
  rewind: UNDO_TITLE,
  approve: "What runs without asking?",
  trust: "Use this folder's instructions?",
  jobs: "Which job?",
  permissions: "Show the permissions, or remove one?",
  theme: "Which colours?",
};

/** The meanings of arguments, by command. */
const MEANINGS: Record<string, Readonly<Record<string, string>>> = {
  approve: Object.fromEntries(APPROVE_MODES.map((mode) => [mode, modeMeaning(mode)])),
  theme: {
    auto: "by the terminal's background",
    dark: "for a dark background",
    light: "for a light background",
    none: "no colours",
  },
  permissions: {
    show: "what runs without asking, and what confines it",
  },
  trust: {
    on: "yes, now and later",
    off: "no",
  },
};

/** At most so many rows can be picked by a digit. */
const MAX_NUMBERED = 9;

/** The list of `choices` of the command `name`; its result is the argument. */
export function choiceList(name: string, choices: readonly ArgumentChoice[]): ChoiceList<string> {
  const items = choices.map(({ argument, label, detail, isCurrent }) => {
    const about = [detail, MEANINGS[name]?.[argument], isCurrent && "now"];
    return { label, detail: about.filter(Boolean).join(" · "), value: argument };
  });
  return {
    title: TITLES[name] ?? `/${name}`,
    items,
    chosen: Math.max(0, choices.findIndex(({ isCurrent }) => isCurrent)),
    // The oldest message, which undoes all, is not next to the newest one.
    ...TITLES[name] === UNDO_TITLE && { wraps: false },
    isNumbered: items.length <= MAX_NUMBERED,
    hint: "Enter picks · Esc leaves it as it is",
  };
}
