import { type Theme, THEMES } from "../../config.ts";
import type { CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import { takesText } from "./texts.ts";

const MEANINGS: Readonly<Record<Theme, string>> = {
  auto: "match the terminal",
  dark: "for a dark background",
  light: "for a light background",
  none: "no colours",
};

export const themeCommand: Command = {
  name: "theme",
  group: "Setup",
  argument: "[NAME]",
  help: "set colours: dark, light, none or auto; the choice is saved",
  question: "Which colours?",
  isOfTerminal: true,
  run: setTheme,
  choices: ({ surface }) =>
    THEMES.map((theme) => ({
      argument: theme,
      label: theme,
      detail: MEANINGS[theme],
      isCurrent: theme === surface.theme,
    })),
};

function setTheme({ surface }: SessionState, name: string): CommandAnswer {
  if (surface.theme === undefined) return "Colours are off here.";
  const theme = THEMES.find((one) => one === name);
  if (theme === undefined) return takesText("theme", THEMES);
  return { type: "theme", theme, text: `Theme: ${theme}. Saved for later sessions.` };
}
