/** Lines that are not messages: slash commands with their lists, and `!COMMAND`. @module */

import { isDefaultServer, type Theme } from "../../../config.ts";
import { targetOf } from "../../../models/target.ts";
import { listedAddress } from "../../../server_address.ts";
import type { ArgumentChoice, CommandInfo, Effect, ListKey } from "../../../session/data.ts";
import { commandNamed } from "../../../session/commands/registry.ts";
import type { Command } from "../../../session/extension.ts";
import type { Session } from "../../../session/session.ts";
import { type Copied, MAX_COPY_BYTES } from "../clipboard.ts";
import type { ChoiceList } from "../screen/screen.ts";
import { wrapped } from "../../../text/wrap.ts";
import { thousands } from "../../../text/count.ts";
import { oneLine } from "../../../text/one_line.ts";
import { expandHome, resolvePath } from "../../../text/paths.ts";
import { sanitizeProse } from "../../../text/sanitize.ts";
import { reasonOf } from "../../../text/reason.ts";
import { InterruptedError } from "../../../tools/call_errors.ts";
import type { Change, CommandOutput, ToolOutcome } from "../../../types/tool.ts";
import { changedLines } from "../../call_text.ts";
import { changeLines, changeRows } from "../../change.ts";
import { lineCounts } from "./call_rows.ts";
import { LiveScreen } from "../screen/live_screen.ts";
import { PagerModal } from "../screen/pager_modal.ts";
import type { PagerBlock } from "../screen/pager_text.ts";
import { ASKED, BOLD } from "../style.ts";
import { styledRows } from "../styled.ts";
import type { Display } from "./display.ts";
import { helpText, keysText } from "./help_tables.ts";
import { YES_OR_NO } from "./form.ts";
import { Setup, type SetupHome } from "./setup.ts";
import { modelArgument, type ServerSettings } from "../../server_settings.ts";

interface TypedCommand {
  name: string;
  argument: string;
  line: string;
}

export interface CommandHome {
  setup: SetupHome;
  /** Checks the model server of a session. */
  doctor(session: Session, output: DoctorOutput): Promise<void>;
  /** Saves a theme for later sessions. @throws {Error} if that fails. */
  keepTheme(theme: Theme): Promise<void>;
  /** Remembers the user's keys, so that an export hides them. */
  keepUserSecrets(): void;
}

export interface DoctorOutput {
  columns: number;
  write(text: string): void;
  signal: AbortSignal;
}

export class CommandRunner {
  constructor(
    private readonly session: Session,
    private readonly display: Display,
    private readonly home: CommandHome,
    /** Clears the screen and shows the conversation. */
    private readonly redraw: () => void,
  ) {}

  /** Runs a slash command and prints its answer, or returns an answer that the frontend has to act on. */
  async run(
    { name, argument, line }: TypedCommand,
    signal: AbortSignal,
  ): Promise<Extract<Effect, { type: "leave" | "resumed" | "turn" }> | undefined> {
    const { display } = this;
    const command = commandNamed(this.session, name);
    if (command?.isSlow) display.wait(line);
    const echo = () => display.isLive && display.screen.echo({ type: "text", text: line });
    let text: string | undefined;
    try {
      const given = command && argument === ""
        ? await this.#pickArgument(command, signal)
        : argument;
      if (given === null) return;
      const answer = await this.session.command(name, given, signal);
      if (typeof answer === "string") text = answer;
      else if (answer.type === "leave" || answer.type === "resumed" || answer.type === "turn") {
        if (answer.type === "turn") echo();
        return answer;
      } else {
        if (answer.type === "doctor") echo();
        text = await this.#do(answer, signal);
      }
    } catch (error) {
      // An unreadable settings file, such as that of a folder for `/cd`, must not end the session.
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      text = signal.aborted ? "· interrupted" : `· ${oneLine(reasonOf(error))}`;
    } finally {
      display.wait(undefined);
    }
    if (text === undefined) return;
    echo();
    display.say(text);
    display.screen.update();
  }

  /** Opens the list of a command while the model works. Returns the line that runs with the selected argument. */
  async pick({ name }: TypedCommand, signal: AbortSignal): Promise<string | undefined> {
    const command = commandNamed(this.session, name)!;
    const argument = await this.#pickArgument(command, signal).catch(() => "");
    return argument === null ? undefined : `/${name} ${argument}`.trim();
  }

  /** Shows the answer of a command in the pager, so that the running turn is not interrupted. */
  async show({ name, argument, line }: TypedCommand, signal: AbortSignal): Promise<void> {
    let text: string | undefined;
    try {
      const answer = await this.session.command(name, argument, signal);
      if (typeof answer === "string") text = answer;
      else if (answer.type === "help" || answer.type === "keys" || answer.type === "changes") {
        text = await this.#do(answer, signal);
      }
    } catch (error) {
      text = oneLine(reasonOf(error));
    }
    if (text === undefined) return;
    await this.#page(line, [blockOf(text)], signal);
  }

  async #page(title: string, blocks: readonly PagerBlock[], signal: AbortSignal): Promise<void> {
    const { screen, sgr } = this.display;
    if (!(screen instanceof LiveScreen)) return;
    const modal = new PagerModal({ title, sgr, blocks: () => blocks });
    await screen.open(modal, signal, { waits: false });
  }

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

  async #do(
    effect: Exclude<Effect, { type: "leave" | "resumed" | "turn" }>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { session, display, home: { setup, doctor } } = this;
    const { keymap, columns } = display;
    switch (effect.type) {
      case "help":
        return `${effect.text}\n\n${helpText(keymap, columns)}`;
      case "keys":
        return keysText(keymap, columns);
      case "undone": {
        display.screen.put({ type: "text", text: effect.line });
        if (!display.isLive) return effect.text;
        this.redraw();
        const bar = display.paint("▎ ", ASKED);
        const rows = wrapped(effect.text, columns - 2).split("\n").map((row) => bar + row);
        return void display.screen.print(`${rows.join("\n")}\n`);
      }
      case "export": {
        const { exportSession } = await import("../../export.ts");
        this.home.keepUserSecrets();
        const words = effect.argument.split(/\s+/).filter(Boolean);
        const { state } = session.agent;
        const at = (file: string) => resolvePath(state, expandHome(file));
        return exportSession(effect.session, words, at);
      }
      case "copy":
        return copiedText(display.screen.copy(effect.copied), effect.what);
      case "theme":
        return await this.#setTheme(effect);
      case "changes":
        return await this.#showChanges(effect.changes, effect.others, signal);
      case "doctor": {
        const write = (text: string) => display.screen.print(text.trimEnd());
        return void await doctor(session, { columns, write, signal });
      }
      case "setup": {
        if (!display.isLive) return effect.text;
        const chosen = await chooseServer(display, setup, signal, session);
        if (chosen === undefined) return undefined;
        return String(await session.command("model", modelArgument(chosen), signal));
      }
    }
  }

  async #showChanges(changes: readonly Change[], others: readonly string[], signal: AbortSignal) {
    const { screen, columns, paint } = this.display;
    const countsOf = (change: Change) =>
      lineCounts(changedLines(change, "+"), changedLines(change, "-"), paint);
    const rowsOf = (change: Change, columns: number) => [
      `${paint(oneLine(change.path), BOLD)}  ${countsOf(change)}`,
      ...change.lines ? changeRows(change, columns, paint, true) : ["    (too large, or not text)"],
      "",
    ];
    if (!(screen instanceof LiveScreen)) {
      return [...changes.flatMap((change) => rowsOf(change, columns)), ...others].join("\n");
    }
    const blocks = changes.map((change) =>
      blockOf(
        [change.path, ...changeLines(change)].join("\n"),
        (columns) => rowsOf(change, columns),
      )
    );
    await this.#page("Changes", [...blocks, ...others.map((text) => blockOf(text))], signal);
  }

  async #setTheme({ theme, text }: Extract<Effect, { type: "theme" }>): Promise<string> {
    this.display.theme = theme;
    try {
      await this.home.keepTheme(theme);
    } catch (error) {
      return `Theme: ${theme}. It cannot be saved: ${oneLine(reasonOf(error))}`;
    }
    return text;
  }

  /** Returns the argument selected from the command's list; empty if it has no list, null if the user cancels. */
  async #pickArgument(command: Command, signal: AbortSignal): Promise<string | null> {
    const { isLive, screen } = this.display;
    if (!isLive) return "";
    const { name, listKeys = [] } = command;
    for (let isWide = false;;) {
      const choices = await command.choices?.(this.session, signal, isWide) ?? [];
      if (signal.aborted) return null;
      if (choices.length === 0 && (isWide || listKeys.length === 0)) return "";
      if (choices.length === 0) isWide = true;
      else {
        const picked = await screen.choose(pickList(command, choices), signal);
        if (picked === null || picked.key === undefined) return picked && picked.argument;
        if (picked.key.does === "widen") isWide = !isWide;
        else await this.#changeChoice(name, picked.key.does, choices, picked.argument, signal);
      }
    }
  }

  /** Renames or deletes what a row of a list names, after a question. */
  async #changeChoice(
    name: string,
    verb: "rename" | "delete",
    choices: readonly ArgumentChoice[],
    argument: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { display, session } = this;
    const label = choices.find((one) => one.argument === argument)!.label.trim();
    let line: string | null = `${verb} ${argument}`;
    if (verb === "rename") {
      const objection = (text: string) => text.trim() === "" ? "A title is not empty." : undefined;
      const how = { text: label, waits: false };
      const title = await display.screen.ask("Title: ", objection, signal, how);
      line = title && `${line} ${title.trim()}`;
    } else {
      const items = YES_OR_NO.toReversed();
      const list = { title: `Delete "${label}"?`, items, hint: "y or n · Esc to cancel" };
      if (!await display.screen.choose(list, signal)) line = null;
    }
    if (line === null) return;
    const answer = await session.command(name, line, signal);
    if (typeof answer === "string" && answer !== "") display.say(answer);
  }
}

interface Picked {
  argument: string;
  key?: ListKey;
}

const MAX_NUMBERED = 9;

export function pickList(
  { name, question = `/${name}`, listKeys = [] }: Pick<
    CommandInfo,
    "name" | "question" | "listKeys"
  >,
  choices: readonly ArgumentChoice[],
): ChoiceList<Picked> {
  const keys = listKeys.map((key) =>
    [key.key, ({ argument }: Picked): Picked => ({ argument, key })] as const
  );
  const hints = ["Enter to select", "Esc to cancel", ...listKeys.map(({ help }) => help)];
  const items = choices.map(({ argument, label, detail, group, isCurrent, preview }) => ({
    label,
    ...group !== undefined && { group },
    ...preview !== undefined && { preview },
    detail: [detail, isCurrent && "current"].filter(Boolean).join(" · "),
    value: { argument },
  }));
  return {
    title: question,
    items,
    chosen: Math.max(0, choices.findIndex(({ isCurrent }) => isCurrent)),
    // Digits and letters filter a list whose rows have long titles.
    isNumbered: items.length <= MAX_NUMBERED && listKeys.length === 0,
    hint: hints.join(" · "),
    keys: Object.fromEntries(keys),
  };
}

/** Lets the user choose a server; undefined if they cancel. At the first start there is no session. */
export async function chooseServer(
  display: Display,
  setup: SetupHome,
  signal: AbortSignal,
  session?: Session,
): Promise<ServerSettings | undefined> {
  try {
    const { columns, screen: { choose, ask } } = display;
    const print = (text: string) => display.say(text);
    return await new Setup({ print, choose, ask }, setup, {
      isFirst: session === undefined,
      current: session && currentServer(session),
      signal,
      columns,
      onLook: (isLooking) => display.wait(isLooking ? "looking for model servers" : undefined),
    }).run();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns the server of a session; undefined for the demo, and for a gateway that setup does not know. */
function currentServer({ agent: { config }, options }: Session) {
  const { kind, url, name } = targetOf(config);
  const isKnown = kind !== "hosted" || isDefaultServer("hosted", url);
  if (url === options.demoUrl || !isKnown) return undefined;
  return { url: listedAddress(url), model: name };
}

const copiedText = (copied: Copied, what: string): string => ({
  sent: `Copied: ${what}. A terminal that forbids OSC 52 ignores it.`,
  sent_to_tmux: `Copied: ${what}. tmux passes it on after: tmux set -g set-clipboard on`,
  too_large: `Not copied: terminals take at most ${thousands(MAX_COPY_BYTES)} bytes.`,
  unsupported: "Not copied: this terminal does not let programs use the clipboard.",
}[copied]);

/** Returns the result of a finished command: only its output if it succeeded. */
export function shellText({ content, exitCode, output, endedProcesses, job }: ToolOutcome): string {
  if (job !== undefined) return `Job ${job} runs in the background (/jobs ${job})`;
  return output && exitCode === 0 && !endedProcesses ? outputText(output) : content;
}

export function outputText({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : [stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}

const blockOf = (
  source: string,
  rowsOf = (columns: number) => wrapped(source, columns).split("\n"),
): PagerBlock => ({
  source,
  rows: (columns) => rowsOf(columns).flatMap((row) => styledRows(row, columns)),
  onSeen() {}, // The pager opens at the first such block.
});
