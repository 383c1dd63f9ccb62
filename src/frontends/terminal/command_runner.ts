/** Lines that are no message: slash commands with their lists, and `!COMMAND`. @module */

import { type Theme, THEMES } from "../../config.ts";
import type { Report } from "../../session/report.ts";
import type { Session } from "../../session/session.ts";
import { count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { reasonOf } from "../../text/reason.ts";
import { InterruptedError } from "../../tools/call_errors.ts";
import { choiceList } from "./choice_list.ts";
import type { Display } from "./display.ts";
import { copiedText, outputText, reportText, shellText } from "../report_text.ts";
import type { SetupHome, SetupScreen } from "./setup.ts";
import type { ServerSettings } from "../server_settings.ts";

/** A slash command as it was typed. */
interface TypedCommand {
  name: string;
  argument: string;
  line: string;
}

/** What commands keep or find outside of the session. */
export interface CommandHome {
  /** The addresses and files of a setup; without it `/setup` lists nothing. */
  setup?: SetupHome | undefined;
  /** Examines the model server of a session; `write` gets rows. Without it `/doctor` names the command of a shell. */
  doctor?: ((session: Session, output: DoctorOutput) => Promise<void>) | undefined;
  /** Keeps a theme for later sessions. @throws {Error} when that fails. */
  keepTheme?: ((theme: Theme) => Promise<void>) | undefined;
}

/** The line on the screen while a model server is examined. */
interface DoctorOutput {
  columns: number;
  write(text: string): void;
  signal: AbortSignal;
}

/** Runs the commands of a session. */
export class CommandRunner {
  constructor(
    private readonly session: Session,
    private readonly display: Display,
    private readonly home: CommandHome,
  ) {}

  /** Runs a slash command and shows its report, unless that is given back: the frontend's own to do. */
  async run(
    { name, argument, line }: TypedCommand,
    signal: AbortSignal,
  ): Promise<Extract<Report, { type: "leave" | "resumed" | "turn" }> | undefined> {
    const { display } = this;
    const command = (await this.session.commands()).find((one) => one.name === name);
    if (command?.isSlow) display.wait(line);
    let text: string | null;
    try {
      const given = argument === "" ? await this.#pickArgument(name, signal) : argument;
      if (given === null) return;
      const report = await this.#report(name, given, signal);
      if (report === undefined) return;
      if (report.type === "resumed" || report.type === "turn") return report;
      const { columns, dim, keymap, look: { unicode } } = display;
      if (report.type === "copy") text = this.#copy(report);
      else if (report.type === "theme") text = await this.#setTheme(report.name, signal);
      else text = reportText(report, { columns, unicode, dim, keymap });
    } catch (error) {
      // A settings file that cannot be read, such as of a folder for `/cd`, ends no session.
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      text = signal.aborted ? "· interrupted" : `· ${oneLine(reasonOf(error))}`;
    } finally {
      display.wait(undefined);
    }
    if (text === null) return { type: "leave" };
    display.say(text);
    display.screen.update();
  }

  /** Runs a shell command of the person's own. */
  async runShell(command: string, signal: AbortSignal): Promise<void> {
    const { screen, view } = this.display;
    if (command.trim() === "") return screen.print("· !COMMAND runs a command");
    view.begin(`! ${command.trim()}`);
    try {
      const outcome = await this.session.shell(command, signal);
      screen.print(sanitizeProse(shellText(outcome)));
      view.end("· included in your next message (/clear drops it)");
    } catch (error) {
      if (!signal.aborted) return view.end(`· ${oneLine(reasonOf(error))}`);
      const output = error instanceof InterruptedError && outputText(error.output);
      if (output !== false) screen.print(sanitizeProse(output));
      view.end("· interrupted");
    }
  }

  /** The report of a command; undefined where the person left a setup without a choice, or all was said. */
  async #report(name: string, argument: string, signal: AbortSignal): Promise<Report | undefined> {
    const { session, display, home: { setup, doctor } } = this;
    const report = await session.command(name, argument, signal);
    if (report.type === "doctor" && doctor) {
      const write = (text: string) => display.screen.print(text.trimEnd());
      await doctor(session, { columns: display.columns, write, signal });
      return undefined;
    }
    if (report.type !== "setup" || !display.isLive || !setup) return report;
    const chosen = await chooseServer(display, setup, signal, false);
    if (chosen === undefined) return undefined;
    const flags = Object.entries(chosen)
      .map(([flag, value]) => value === true ? `--${flag}` : `--${flag} ${value}`);
    return await session.command("setup", flags.join(" "), signal);
  }

  #copy({ text, block }: Extract<Report, { type: "copy" }>): string {
    const what = block === undefined ? "the last answer" : `block ${block}`;
    const lines = count(text.trimEnd().split("\n").length, "line");
    return copiedText(this.display.screen.copy(text), `${what}, ${lines}`);
  }

  /** Takes the theme that was named or is picked from a list, and keeps it. */
  async #setTheme(name: string, signal: AbortSignal): Promise<string> {
    const { display } = this;
    const choices = THEMES.map((theme) => ({
      argument: theme,
      label: theme,
      isCurrent: theme === display.theme,
    }));
    const given = name !== "" || !display.isLive
      ? name
      : await display.screen.choose(choiceList("theme", choices), signal);
    const theme = given === null ? display.theme : THEMES.find((one) => one === given);
    if (theme === undefined) return `/theme takes one of ${THEMES.join(", ")}`;
    if (given === null) return `The theme stays ${theme}.`;
    display.theme = theme;
    try {
      await this.home.keepTheme?.(theme);
    } catch (error) {
      return `The theme is ${theme} now. It cannot be kept: ${oneLine(reasonOf(error))}`;
    }
    return `The theme is ${theme}, now and later.`;
  }

  /** The argument that a person picks from the command's list; empty where it has none, null for no pick. */
  async #pickArgument(name: string, signal: AbortSignal): Promise<string | null> {
    const { isLive, screen } = this.display;
    if (!isLive) return "";
    const choices = await this.session.choices(name, signal);
    if (signal.aborted) return null;
    return choices.length === 0 ? "" : await screen.choose(choiceList(name, choices), signal);
  }
}

/** Has the person choose a server; undefined where they chose none. `isFirst`: there is no session yet. */
export async function chooseServer(
  display: Display,
  setup: SetupHome,
  signal: AbortSignal,
  isFirst: boolean,
): Promise<ServerSettings | undefined> {
  try {
    const { screen, columns } = display;
    const shown: SetupScreen = {
      print: (text) => display.say(text),
      choose: (...list) => screen.choose(...list),
      ask: (...question) => screen.ask(...question),
      askHidden: (...question) => screen.askHidden(...question),
    };
    const { setUp } = await import("./setup.ts");
    return await setUp(shown, setup, {
      ...{ isFirst, signal, columns },
      onLook: (isLooking) => display.wait(isLooking ? "looking for model servers" : undefined),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
