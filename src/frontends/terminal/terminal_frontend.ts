/** The session that a person types in. @module */

import { commandIn } from "../../session/commands/registry.ts";
import type {
  Approval,
  ApprovalAnswer,
  Frontend,
  SessionEvent,
  Status,
} from "../../session/frontend.ts";
import { withHint } from "../../session/hints.ts";
import type { Report } from "../../session/report.ts";
import type { Resumed } from "../../session/record.ts";
import type { Session } from "../../session/session.ts";
import type { ApproveMode } from "../../permissions/settings.ts";
import type { Completer } from "../../terminal/line/completion.ts";
import { canEdit } from "../../terminal/line/input.ts";
import { LiveScreen } from "../../terminal/screen/live_screen.ts";
import { PlainScreen, type Screen } from "../../terminal/screen/screen.ts";
import {
  ACCENT,
  type Appearance,
  appearance,
  DIM,
  type Painter,
  painter,
  PERSON_BAND,
  type Style,
  styleStart,
  type Theme,
  themed,
} from "../../terminal/style.ts";
import { makeSane, terminalSize } from "../../terminal/tty.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { wrapped } from "../../text/wrap.ts";
import { InterruptedError } from "../../tools/call_errors.ts";
import type { TextPart } from "../../types/message.ts";
import type { Job, Subject } from "../../types/tool.ts";
import { EXIT } from "../exit_codes.ts";
import { noticeLines } from "../notices.ts";
import { jobEnded } from "../progress.ts";
import {
  farewellLines,
  instructionLines,
  resumedLines,
  trustChangeRows,
  trustQuestion,
} from "../session_lines.ts";
import { ApprovalModal } from "./approval_modal.ts";
import { choiceList } from "./choice_list.ts";
import { completer } from "./complete.ts";
import { footerText, modelText } from "./footer.ts";
import {
  answerRows,
  answersHelp,
  askPerson,
  listedQuestion,
  questionTitle,
  ruleAdded,
} from "./question.ts";
import { inRow, outputText, reportText, shellText, waitingText } from "./report_text.ts";
import { replay } from "./replay.ts";
import { type ServerSettings, setUp, type SetupHome, type SetupScreen } from "./setup.ts";
import { TurnView } from "./turn_view.ts";
import { SessionHistory } from "./typed_history.ts";

interface TerminalOptions {
  /** Tells a person who looks elsewhere when a long turn is over. */
  notifies: boolean;
  theme: Theme;
  /** The message that begins the session. */
  message?: string | undefined;
  /** The addresses and files of a setup; without it `/setup` lists nothing. */
  setup?: SetupHome | undefined;
  /** The command line that goes on with the newest session of a folder. */
  comeBack?: ((folder: string) => string) | undefined;
  /** Calls its argument with the exit code for each signal, until what it returns is called. */
  onSignals(handler: (exitCode: number) => void): () => void;
}

/** Turns that took longer, in milliseconds, are worth a notification. */
const LONG_TURN_MS = 10_000;
/** The longest, in milliseconds, that a signal's end of the session waits. */
const SIGNAL_TIDY_UP_MS = 5000;

/** The modes that Shift-Tab goes through. */
const MODES: readonly ApproveMode[] = ["ask", "edits", "auto", "plan"];

/** Lines that people type to say a command. */
const PLAIN_COMMANDS = new Map([
  ["?", "/help"],
  ["help", "/help"],
  ["exit", "/exit"],
  ["quit", "/quit"],
]);

const SIGNAL_CODES: Partial<Record<Deno.Signal, number>> = {
  SIGHUP: EXIT.hangup,
  SIGTERM: EXIT.terminated,
};

/** Shows a session on the terminal: `run` it once the session that it is for was made. */
export class TerminalFrontend implements Frontend, Disposable {
  readonly #look: Appearance;
  readonly #paint: Painter;
  readonly #dim = (text: string) => this.#paint(text, DIM);
  readonly #isLive = canEdit();
  readonly #over = new AbortController();
  /** Aborted to stop what goes on: a turn, a command, a question. */
  #stop = new AbortController();
  /** The exit code, once the session is to end. */
  #ended: number | undefined;
  #status: Status | undefined;
  #isInTurn = false;
  /** True while a line is awaited: what comes then may be printed at once. */
  #isFree = false;
  readonly #unshownJobs: Job[] = [];
  /** The command that waits for the model, since when, and the tokens it wrote. */
  #waiting: { name: string; startedAt: number; tokens: number } | undefined;
  /** Made when it is first needed: a setup comes before there is a session. */
  #openScreen: Screen | undefined;
  // `run` sets these.
  #session!: Session;
  /** A line below the first one. */
  #motto: string | undefined;
  #view!: TurnView;
  #history!: SessionHistory;
  #completer!: Completer;

  constructor(private readonly options: TerminalOptions) {
    this.#look = themed(appearance(), options.theme);
    this.#paint = painter(this.#look);
  }

  onEvent(event: SessionEvent): void {
    switch (event.type) {
      case "status":
        return this.#showStatus(event);
      case "output":
        return this.#view.activity.toolPrints(event.newest);
      case "job_ended":
        this.#unshownJobs.push(event.job);
        if (this.#isFree) this.#showEndedJobs((text) => this.#screen.print(text));
        return;
      case "rule_added":
        return this.#view.print(wrapped(ruleAdded(event), terminalSize().columns));
      case "command_progress":
        if (this.#waiting) this.#waiting.tokens = event.tokens;
        return;
      case "instructions":
        return instructionLines(event.instructions).forEach((line) => this.#say(line));
      case "resumed":
        return this.#showResumed(event.resumed);
      case "session_notice":
        for (const line of noticeLines(event.notice, "/model")) {
          if (this.#isInTurn) this.#view.note(`· ${line}`);
          else this.#say(`· ${line}`);
        }
        return;
    }
    this.#view.onEvent(event);
    if (event.type === "thinking") this.#showEndedJobs((text) => this.#view.print(text));
  }

  readonly approve: NonNullable<Frontend["approve"]> = async (request, signal) => {
    this.#view.onAsked(request.call.id);
    using _ = this.#view.tally.pause();
    this.#screen.notify(`copilot asks: ${questionTitle(request)}`);
    if (this.#screen instanceof LiveScreen) {
      return await this.#choose(this.#screen, request, signal);
    }
    const ask: Parameters<typeof askPerson>[0] = async (text, ...question) => {
      if (text !== "") this.#view.print(`\n${text}`);
      const answer = await this.#screen.ask(...question);
      if (answer === null) this.#stop.abort();
      return answer;
    };
    return await askPerson(ask, () => terminalSize().columns, this.#paint)(request, signal);
  };

  /** Asks with a list, of which one key picks the answer. */
  async #choose(
    screen: LiveScreen,
    request: Approval,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const { columns } = terminalSize();
    this.#view.print(`\n${listedQuestion(request, columns, this.#paint)}`);
    const { modalParts } = screen;
    const modal = new ApprovalModal({
      ...modalParts,
      title: questionTitle(request),
      rows: answerRows(request, columns),
      command: request.choices.includes("edit") ? request.subject.command : undefined,
      onHelp: () => screen.print(answersHelp(request, terminalSize().columns)),
    });
    const answer = await screen.push(modal, signal);
    if (answer === null) this.#stop.abort();
    return answer ?? { choice: "refuse", reason: "" };
  }

  readonly confirm: NonNullable<Frontend["confirm"]> = async (question, signal) => {
    if (!this.#isLive) return undefined;
    const { text, title } = trustQuestion(question);
    const { columns } = terminalSize();
    const changes = trustChangeRows(question, columns, this.#paint);
    this.#screen.print([wrapped(text, columns), ...changes].join("\n"));
    if (this.#screen instanceof LiveScreen) {
      const items = [{ label: "Yes", value: true, key: "y" }, {
        label: "No",
        value: false,
        key: "n",
      }];
      const hint = "y or n · Esc leaves it open";
      const list = { title, items, isNumbered: true, hint };
      return await this.#screen.choose(list, signal, { waits: true }) ?? undefined;
    }
    const objection = (line: string) =>
      /^\s*(y(es)?|no?)\s*$/i.test(line) ? undefined : "  y or n; Esc leaves it open";
    const answer = await this.#screen.ask(`${title} [y/n] `, objection, signal);
    return answer === null ? undefined : /^\s*y/i.test(answer);
  };

  /**
   * Has the person choose a server before there is a session; undefined where they chose none, an exit
   * code after a signal. What they type meanwhile is in the session's line afterwards.
   */
  async setUp(): Promise<ServerSettings | number | undefined> {
    using cleanUp = new DisposableStack();
    cleanUp.defer(this.options.onSignals((code) => this.#end(code)));
    await makeSane();
    return await this.#chooseServer(true) ?? this.#ended;
  }

  async #chooseServer(isFirst: boolean): Promise<ServerSettings | undefined> {
    const { setup } = this.options;
    if (setup === undefined) return undefined;
    const { signal } = this.#stop;
    try {
      const screen = this.#screen;
      const shown: SetupScreen = {
        print: (text) => this.#say(text),
        choose: (...list) => screen.choose(...list),
        askHidden: (...question) => screen.askHidden(...question),
      };
      return await setUp(shown, setup, {
        ...{ isFirst, signal, columns: terminalSize().columns },
        onLook: (isLooking) => this.#wait(isLooking ? "looking for model servers" : undefined),
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#openScreen?.[Symbol.dispose]();
    this.#openScreen = undefined;
  }

  /** Runs the session until it is left; the exit code. The session's owner disposes of it afterwards. */
  async run(session: Session, motto?: string): Promise<number> {
    this.#session = session;
    this.#motto = motto;
    this.#completer = completer(session);
    using cleanUp = new DisposableStack();
    const onSignal = (code: number) =>
      code === EXIT.interrupted ? this.#stop.abort() : this.#end(code);
    cleanUp.defer(this.options.onSignals(onSignal));
    const { state } = session.agent;
    // Warnings wait for the screen, which is made after the history.
    const warn = (message: string) => queueMicrotask(() => this.#say(message));
    this.#history = new SessionHistory(() => state.workingDir, warn);
    state.history = this.#history.entries();
    cleanUp.defer(() => this[Symbol.dispose]());
    const screen = this.#screen;
    this.#view = new TurnView(screen, this.#look, this.subjectOf);
    await session.open(this.#stop.signal);
    const { message = "" } = this.options;
    if (message.trim() !== "" && this.#ended === undefined) await this.#begin(message);
    while (this.#ended === undefined) {
      this.#showEndedJobs((text) => screen.print(text));
      this.#isFree = this.#isLive;
      const line = await screen.read();
      this.#isFree = false;
      if (line === null || this.#ended !== undefined) break;
      if (line.text.trim() !== "") await this.#handle(line);
    }
    this.#sayFarewell();
    return this.#ended ?? EXIT.done;
  }

  /** Sends the message that begins the session: neither a command nor a `!` of whoever chose its words. */
  async #begin(text: string): Promise<void> {
    const message = { type: "text", text } as const;
    this.#screen.echo(message);
    await this.#takeMessage(message, () => this.#runTurn(message));
  }

  /** How to come back, where there is something to come back to, and a person to read it. */
  #sayFarewell(): void {
    const { record } = this.#session;
    const { comeBack } = this.options;
    if (!record || !comeBack || (this.#ended ?? EXIT.done) !== EXIT.done) return;
    const lines = farewellLines(comeBack(record.folder), record.path);
    this.#screen.print(
      lines.map((line) => this.#dim(wrapped(line, terminalSize().columns))).join("\n"),
    );
  }

  get #screen(): Screen {
    return this.#openScreen ??= this.#makeScreen();
  }

  #makeScreen(): Screen {
    // A screen that is made for a setup has no session yet.
    const history = () => this.#session?.agent.state.history ?? [];
    if (!this.#isLive) return new PlainScreen(history, this.#over.signal);
    return new LiveScreen({
      color: this.#look.colors === "none" ? "" : "\x1b[1m",
      unicode: this.#look.unicode,
      history,
      pasted: () => this.#history?.pasted() ?? new Map(),
      completer: (before, after) => this.#completer?.(before, after),
      activity: () => this.#activity(),
      band: () =>
        this.#paint.hasBands && this.#look.unicode
          ? { band: this.#sgr(PERSON_BAND), mark: this.#sgr(ACCENT) }
          : undefined,
      rule: () => this.#sgr(DIM),
      footer: () => this.#status ? footerText(this.#status, terminalSize().columns) : "",
      onBackground: asksBackground(this.#look, this.options.theme)
        ? (background) => this.#look.background = background
        : undefined,
      onStop: () => this.#stop.abort(),
      onShiftTab: () => void this.#nextMode(),
      rewindLine: "/undo",
      onUnfold: () => this.#view.unfold(),
      onEnd: (signal) => {
        this.#end(SIGNAL_CODES[signal] ?? EXIT.interrupted);
        setTimeout(() => Deno.exit(this.#ended), SIGNAL_TIDY_UP_MS);
      },
    });
  }

  /** Goes on with the next mode of asking. */
  async #nextMode(): Promise<void> {
    const now = MODES.indexOf(this.#status?.mode?.approve ?? "ask");
    const next = MODES[(now + 1) % MODES.length]!;
    try {
      await this.#session.command("approve", next, this.#over.signal);
    } catch (error) {
      this.#say(`· ${oneLine((error as Error).message)}`);
    }
  }

  #sgr(style: Style): string {
    return styleStart(this.#look, style);
  }

  #activity(): readonly string[] | undefined {
    if (this.#waiting === undefined) return this.#view?.liveRows();
    const { name, startedAt, tokens } = this.#waiting;
    return ["", waitingText(name, startedAt, tokens)];
  }

  #end(exitCode: number): void {
    this.#ended ??= exitCode;
    this.#stop.abort();
    this.#over.abort();
  }

  #showStatus(status: Status): void {
    const isFirst = this.#status === undefined;
    this.#status = status;
    if (!isFirst) return this.#screen.update();
    const model = status.model === undefined ? [] : [modelText(status.model)];
    this.#say(["copilot", ...model, "/help lists what there is"].join(" · "));
    if (this.#motto !== undefined) this.#say(this.#motto);
  }

  #say(text: string): void {
    this.#screen.print(wrapped(text, terminalSize().columns));
  }

  private readonly subjectOf = (name: string, args: Record<string, unknown>): Subject | undefined =>
    this.#session.agent.tools.find((tool) => tool.name === name)?.subject?.(args);

  /** The earlier turns as they looked; where the screen cannot be repainted, their end alone. */
  #showResumed(resumed: Resumed | undefined): void {
    const { agent: { state }, executions } = this.#session;
    const { columns } = terminalSize();
    if (this.#isLive && resumed !== undefined) {
      const view = this.#view;
      const { subjectOf } = this;
      const shown = { screen: this.#screen, view, executions, columns, subjectOf, dim: this.#dim };
      replay(state.messages, shown);
      const { lastTyped: _, lastAnswer: __, ...rest } = resumed;
      resumed = rest;
    }
    this.#say(resumedLines(resumed, this.#dim).join("\n"));
  }

  #showEndedJobs(print: (text: string) => void): void {
    for (const job of this.#unshownJobs.splice(0)) {
      const text = `· ${jobEnded(job)} · /jobs ${job.number} shows its output`;
      print(this.#dim(inRow(text, terminalSize().columns)));
    }
  }

  async #handle(line: TextPart): Promise<void> {
    const { text } = line;
    const command = commandIn(PLAIN_COMMANDS.get(text) ?? text);
    await this.#takeMessage(line, async () => {
      if (command) await this.#runCommand(command.name, command.argument, text);
      else if (text.startsWith("!")) await this.#runShell(text.slice(1));
      else await this.#runTurn(line);
    }, command === undefined);
  }

  /** Does what `line` asks for; `isTurn`: what comes meanwhile belongs to a turn, and its end may be told. */
  async #takeMessage(
    { text, pasted }: TextPart,
    run: () => Promise<void>,
    isTurn = true,
  ): Promise<void> {
    this.#history.add(text, pasted);
    this.#session.agent.state.history = this.#history.entries();
    this.#stop = new AbortController();
    const start = performance.now();
    this.#isInTurn = isTurn;
    await run();
    this.#isInTurn = false;
    if (!isTurn) return;
    if (this.options.notifies && performance.now() - start > LONG_TURN_MS) {
      this.#screen.notify("copilot is done");
    }
  }

  /** Shows what goes on until it is over (undefined). */
  #wait(name: string | undefined): void {
    this.#waiting = name === undefined
      ? undefined
      : { name, startedAt: performance.now(), tokens: 0 };
    this.#screen.update();
  }

  async #runCommand(name: string, argument: string, line: string): Promise<void> {
    const command = (await this.#session.commands()).find((one) => one.name === name);
    if (command?.isSlow) this.#wait(line);
    let text: string | null;
    try {
      const given = argument === "" ? await this.#pickArgument(name) : argument;
      if (given === null) return;
      const report = await this.#report(name, given);
      if (report === undefined) return;
      if (report.type === "resumed") return this.#showResumed(report.resumed);
      const { unicode } = this.#look;
      text = reportText(report, { columns: terminalSize().columns, unicode, dim: this.#dim });
    } catch (error) {
      // A settings file that cannot be read, such as of a folder for `/cd`, ends no session.
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      text = `· ${oneLine((error as Error).message)}`;
    } finally {
      this.#wait(undefined);
    }
    if (text === null) return this.#end(EXIT.done);
    this.#say(text);
    this.#screen.update();
  }

  /** The report of a command; undefined where the person left a setup without a choice. */
  async #report(name: string, argument: string): Promise<Report | undefined> {
    const { signal } = this.#stop;
    const report = await this.#session.command(name, argument, signal);
    if (report.type !== "setup" || !this.#isLive || !this.options.setup) return report;
    const chosen = await this.#chooseServer(false);
    if (chosen === undefined) return undefined;
    const flags = Object.entries(chosen)
      .map(([flag, value]) => value === true ? `--${flag}` : `--${flag} ${value}`);
    return await this.#session.command("model", flags.join(" "), signal);
  }

  /** The argument that a person picks from the command's list; empty where it has none, null for no pick. */
  async #pickArgument(name: string): Promise<string | null> {
    if (!this.#isLive) return "";
    const { signal } = this.#stop;
    const choices = await this.#session.choices(name, signal);
    if (signal.aborted) return null;
    return choices.length === 0 ? "" : await this.#screen.choose(choiceList(name, choices), signal);
  }

  /** Runs one turn; whatever it fails with, the session goes on, but not without a terminal. */
  async #runTurn(line: TextPart): Promise<void> {
    const model = this.#status?.model;
    this.#view.begin(`waiting for ${model === undefined ? "the model" : modelText(model)}`);
    try {
      const { stopReason } = await this.#session.prompt([line], this.#stop.signal);
      this.#view.end(stopReason === "aborted" ? "· interrupted" : undefined);
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw error;
      this.#view.end(`· ${withHint(error, this.#session.agent.config)}`);
    }
  }

  async #runShell(command: string): Promise<void> {
    if (command.trim() === "") return this.#screen.print("· !COMMAND runs a command");
    this.#view.begin(`! ${command.trim()}`);
    const { signal } = this.#stop;
    try {
      const outcome = await this.#session.shell(command, signal);
      this.#screen.print(sanitizeProse(shellText(outcome)));
      this.#view.end("· goes along with your next message (/clear forgets it)");
    } catch (error) {
      if (!signal.aborted) return this.#view.end(`· ${oneLine((error as Error).message)}`);
      const output = error instanceof InterruptedError && outputText(error.output);
      if (output !== false) this.#screen.print(sanitizeProse(output));
      this.#view.end("· interrupted");
    }
  }
}

/** True where the palette depends on the terminal's background. */
function asksBackground({ colors }: Appearance, theme: Theme): boolean {
  return theme === "auto" && (colors === "256" || colors === "rgb");
}
