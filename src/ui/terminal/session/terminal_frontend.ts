import { subjectOf } from "../../../agent/run_tools.ts";
import type { Theme } from "../../../config.ts";
import { commandIn } from "../../../session/commands/command_line.ts";
import { commandNamed } from "../../../session/commands/registry.ts";
import type { LoadedInstructions, Notice } from "../../../session/data.ts";
import type { Frontend, SessionEvent, Status, Surface } from "../../../session/frontend.ts";
import type { ResumedSession } from "../../../session/record.ts";
import type { Session } from "../../../session/session.ts";
import type { ApproveMode } from "../../../safety/settings.ts";
import { type Keymap, screenKey } from "../line/actions.ts";
import type { Completer } from "../line/completion.ts";
import { History } from "../line/history.ts";
import type { PagerModal } from "../screen/pager_modal.ts";
import { LiveScreen } from "../screen/live_screen.ts";
import { makeSane } from "../tty.ts";
import { entryText } from "../units.ts";
import { oneLine } from "../../../text/one_line.ts";
import { wrapped } from "../../../text/wrap.ts";
import { reasonOf } from "../../../text/reason.ts";
import type { Part, TextPart } from "../../../types/message.ts";
import type { Job, Subject } from "../../../types/tool.ts";
import { EXIT } from "../../../exit_codes.ts";
import { stateFolder } from "../../../user_files.ts";
import { noticeLines } from "../../../session/notices.ts";
import { jobEnded } from "../../progress.ts";
import { instructionLines } from "../../../extensions/instructions/instruction_lines.ts";
import { resumedLines } from "../../../session/resumed_lines.ts";
import { hasPlan } from "../../../session/plan_mode.ts";
import { chooseServer, type CommandHome, CommandRunner } from "./command_runner.ts";
import { completer } from "./complete.ts";
import { type Backgrounds, Display, REWIND } from "./display.ts";
import type { StatusPart } from "./footer.ts";
import { TerminalQuestions } from "./terminal_questions.ts";
import { ruleAdded } from "./question.ts";
import { replay } from "./replay.ts";
import type { ServerSettings } from "../../server_settings.ts";
import { runTurn } from "./turn.ts";
import { WholeConversation } from "./whole_conversation.ts";
import { transcriptModal } from "./transcript.ts";
import { acceptsPlan, CARRY_OUT } from "./plan_list.ts";

interface TerminalOptions extends CommandHome {
  notifies: boolean;
  theme: Theme;
  keymap: Keymap;
  backgrounds?: Backgrounds | undefined;
  statusParts?: readonly StatusPart[] | undefined;
  message?: string | undefined;
  picksSession?: boolean;
  lastLines?: ((session: Session) => readonly string[]) | undefined;
  /** Calls its argument with the exit code of each signal, until the returned function is called. */
  onSignals(handler: (exitCode: number) => void): () => void;
}

const LONG_TURN_MS = 10_000;
const SIGNAL_TIDY_UP_MS = 5000;

const MODES: readonly ApproveMode[] = ["ask", "auto", "plan"];

/** Parses a command. Some need no slash. */
const typedCommand = (line: string) =>
  commandIn(
    line.replace(/^\?$/, "/help").replace(/^\/?quit$/, "/exit").replace(/^(?:help|exit)$/, "/$&"),
  );

const SIGNAL_CODES: Partial<Record<Deno.Signal, number>> = {
  SIGHUP: EXIT.hangup,
  SIGTERM: EXIT.terminated,
};

/** Shows a session on the terminal. Call `run` after the session has been created. */
export class TerminalFrontend implements Frontend, Disposable {
  readonly #display: Display;
  readonly #questions: TerminalQuestions;
  readonly approve: NonNullable<Frontend["approve"]>;
  readonly confirm: NonNullable<Frontend["confirm"]>;
  readonly elicit: NonNullable<Frontend["elicit"]>;
  readonly #closed = new AbortController();
  #stop = new AbortController();
  #ended: number | undefined;
  #isInTurn = false;
  readonly #conversation = new WholeConversation();
  readonly #unshownJobs: Job[] = [];
  /** The pending switches of the mode, one after the other: each starts from the mode of the one before. */
  #modeKeys = Promise.resolve();
  /** Undefined on the screen of setup. */
  #session!: Session;
  #commands!: CommandRunner;
  /** True in the user's first session, until the mode has been explained. */
  #isNew = false;
  #motto: string | undefined;
  #history!: History;
  #completer!: Completer;

  constructor(private readonly options: TerminalOptions) {
    const { theme, keymap, statusParts, backgrounds } = options;
    this.#display = new Display({
      theme,
      keymap,
      statusParts,
      backgrounds,
      closed: this.#closed.signal,
      history: () => this.#history?.entries ?? [],
      completer: (before, after) => this.#completer?.(before, after),
      subjectOf: this.subjectOf,
      overtakes: (line) => this.#commandIn(line) !== undefined,
      runsNow: (line) => this.#runsNow(line),
      steers: (line) =>
        this.#isInTurn && this.#commandIn(line) === undefined && !line.startsWith("!"),
      onStop: () => this.#stop.abort(),
      onUnsent: ({ text, pasted }) => this.#history?.add(text, pasted),
      onShiftTab: () => this.#modeKeys = this.#modeKeys.then(() => this.#nextMode()),
      moveToBackground: () => {
        const moved = this.#session?.jobs.moveRunning();
        if (moved === 0) this.#display.view.note("· too many jobs run: /jobs stops one");
        return moved !== undefined;
      },
      transcript: () => this.#transcript(),
      onEnd: (signal) => {
        this.#end(SIGNAL_CODES[signal] ?? EXIT.interrupted);
        setTimeout(() => Deno.exit(this.#ended), SIGNAL_TIDY_UP_MS);
      },
    });
    const person = this.#questions = new TerminalQuestions(this.#display, () => this.#stop.abort());
    ({ approve: this.approve, confirm: this.confirm, elicit: this.elicit } = person);
  }

  get surface(): Surface {
    const { columns, theme } = this.#display;
    return { kind: "terminal", columns, theme };
  }

  onEvent(event: SessionEvent): void {
    switch (event.type) {
      case "status":
        return this.#showStatus(event);
      case "output":
        return this.#display.view.activity.toolPrints(event.newest);
      case "job_ended":
        this.#unshownJobs.push(event.job);
        if (this.#display.isLive && !this.#isInTurn) this.#showEndedJobs();
        return;
      case "rule_added":
        return this.#display.view.print(wrapped(ruleAdded(event), this.#display.columns));
      case "command_progress":
        return this.#display.view.activity.countTokens(event.tokens);
      case "instructions":
        return this.#showInstructions(event.instructions);
      case "resumed":
        return this.#showResumed(event.resumed);
      case "session_notice":
        return this.#showNotice(event.notice);
    }
    this.#conversation.onEvent(event, this.#session.agent.state.messages);
    this.#display.view.onEvent(event);
    if (event.type === "thinking") this.#showEndedJobs();
  }

  /** Names the instructions in the first rows while they change; others get a line. */
  #showInstructions(instructions: LoadedInstructions): void {
    const { openWelcome: welcome } = this.#display;
    const { files, isLoaded } = instructions;
    const isIn = (file: LoadedInstructions["files"][number]) =>
      welcome !== undefined && isLoaded !== false && file.isLoaded;
    if (welcome) welcome.files = files.filter(isIn).map(({ name }) => oneLine(name));
    const others = { ...instructions, files: files.filter((file) => !isIn(file)) };
    for (const line of instructionLines(others, "terminal")) this.#display.say(line);
    this.#display.screen.update();
  }

  #showNotice(notice: Notice): void {
    const { openWelcome: welcome, view, screen } = this.#display;
    if (notice.code === "server" && welcome !== undefined) {
      const checks = welcome.learn(notice.checks);
      screen.update();
      if (checks.length === 0) return;
      notice = { code: "server", checks };
    } else if (notice.code === "server" && notice.instead === undefined && this.#hasBegun) {
      // Good news does not interrupt what is below the first rows.
      if (notice.checks.every(({ status }) => status === "ok")) return;
    }
    for (const line of noticeLines(notice, "terminal")) {
      if (this.#isInTurn) view.note(`· ${line}`);
      else this.#display.say(`· ${line}`);
    }
  }

  get #hasBegun(): boolean {
    return this.#isInTurn || this.#session.agent.state.messages.length > 0;
  }

  steering(): TextPart[][] {
    const { screen, view } = this.#display;
    const messages = screen.takeSteering();
    for (const message of messages) {
      view.onMessage(message);
      this.#history.add(message.text, message.pasted);
    }
    return messages.map((message) => [message]);
  }

  /** Lets the user choose a server before the session; undefined if they cancel, an exit code after a signal. */
  async setUp(line?: string): Promise<ServerSettings | number | undefined> {
    using cleanUp = new DisposableStack();
    const { setup, onSignals } = this.options;
    cleanUp.defer(onSignals((code) => this.#end(code)));
    await makeSane();
    if (line !== undefined) this.#display.say(line);
    const chosen = await chooseServer(this.#display, setup, this.#stop.signal);
    return chosen ?? this.#ended;
  }

  [Symbol.dispose](): void {
    this.#display[Symbol.dispose]();
  }

  /** Runs the session and returns the exit code. The empty line offers the messages of `tour`, one after the other. */
  async run(session: Session, motto?: string, tour: readonly string[] = []): Promise<number> {
    const offers = tour.values();
    this.#session = session;
    this.#motto = motto;
    this.#commands = new CommandRunner(session, this.#display, this.options, () => {
      if (this.#display.screen instanceof LiveScreen) this.#display.screen.clear();
      this.#replay();
    });
    this.#completer = completer(session);
    using cleanUp = new DisposableStack();
    const onSignal = (code: number) =>
      code === EXIT.interrupted ? this.#stop.abort() : this.#end(code);
    cleanUp.defer(this.options.onSignals(onSignal));
    const { state } = session.agent;
    const stored = stateFolder();
    // Warnings wait for the screen, which is created after the history.
    const warn = (message: string) => queueMicrotask(() => this.#display.say(message));
    this.#history = new History(stored && `${stored}/history.jsonl`, () => state.workingDir, warn);
    state.history = this.#history.entries.map(entryText);
    this.#isNew = state.history.length === 0;
    cleanUp.defer(() => this[Symbol.dispose]());
    const screen = this.#display.screen;
    await session.open(this.#stop.signal);
    const { message = "", picksSession } = this.options;
    if (picksSession && this.#ended === undefined) {
      await this.#runCommand({ name: "resume", argument: "" }, "/resume");
    }
    if (message.trim() !== "" && this.#ended === undefined) {
      const first = { type: "text", text: message } as const;
      screen.echo(first);
      await this.#take(first, true);
    }
    while (this.#ended === undefined) {
      this.#showEndedJobs();
      screen.put({ type: "text", text: offers.next().value ?? "" });
      const line = await screen.read();
      if (line === null || this.#ended !== undefined) break;
      if (line.text.trim() !== "") await this.#take(line);
    }
    this.#sayFarewell();
    return this.#ended ?? EXIT.done;
  }

  #sayFarewell(): void {
    if ((this.#ended ?? EXIT.done) !== EXIT.done) return;
    const { screen, columns, dim } = this.#display;
    const lines = this.options.lastLines?.(this.#session) ?? [];
    if (lines.length > 0) screen.print(lines.map((line) => dim(wrapped(line, columns))).join("\n"));
  }

  /** The whole transcript, for Ctrl-O; undefined before there is a session. */
  #transcript(): PagerModal | undefined {
    const session = this.#session;
    if (session === undefined) return undefined;
    return transcriptModal({
      conversation: this.#conversation,
      messages: () => session.agent.state.messages,
      executions: session.executions,
      subjectOf: this.subjectOf,
      display: this.#display,
      openQuestion: () => this.#questions.openQuestion,
    });
  }

  async #nextMode(): Promise<void> {
    const now = MODES.indexOf(this.#display.status?.mode?.approve ?? "ask");
    const next = MODES[(now + 1) % MODES.length]!;
    try {
      const answer = await this.#session?.command("approve", next, this.#closed.signal);
      const isKept = answer && this.#display.status?.mode?.approve !== next;
      if (isKept) this.#display.say(`· ${answer}`);
    } catch (error) {
      this.#display.say(`· ${oneLine(reasonOf(error))}`);
    }
  }

  #end(exitCode: number): void {
    this.#ended ??= exitCode;
    this.#stop.abort();
    this.#closed.abort();
  }

  #showStatus(status: Status): void {
    const isFirst = this.#display.status === undefined;
    this.#display.status = status;
    if (this.#isNew && status.mode !== undefined) {
      this.#isNew = false;
      if (status.mode.approve === "auto" && !status.approvesAll) {
        const key = this.#display.isLive && screenKey(this.options.keymap, "next-mode");
        const how = `· ${key || "/approve"} switches modes`;
        const whole = `· Edits and sandboxed commands run without asking ${how}`;
        this.#display.say(whole.length <= this.#display.columns ? whole : `· Auto mode ${how}`);
      }
    }
    if (!isFirst) return this.#display.screen.update();
    this.#display.welcome();
    if (this.#motto !== undefined) this.#display.say(this.#motto);
  }

  private readonly subjectOf = (name: string, args: Record<string, unknown>): Subject | undefined =>
    subjectOf(this.#session.agent.tools.find((tool) => tool.name === name), args);

  /** Replays the earlier turns; only their end if the screen cannot be repainted. */
  #showResumed(resumed: ResumedSession | undefined): void {
    const { isLive, dim } = this.#display;
    if (resumed !== undefined) this.#display.endHint();
    if (isLive && resumed !== undefined) {
      this.#replay();
      const { lastTyped: _, lastAnswer: __, ...rest } = resumed;
      resumed = rest;
    }
    this.#display.say(resumedLines(resumed, "terminal", dim).join("\n"));
  }

  #replay(): void {
    const { agent: { state }, executions } = this.#session;
    const { screen, view, columns, dim } = this.#display;
    replay(state.messages, { screen, view, executions, columns, dim, subjectOf: this.subjectOf });
  }

  #showEndedJobs(): void {
    for (const job of this.#unshownJobs.splice(0)) {
      this.#display.view.note(`· ${jobEnded(job)} · /jobs ${job.number} shows its output`);
    }
  }

  /** Parses the command of a line; undefined for a message, including one that an extension expands. */
  #commandIn(line: string) {
    return this.#session?.expands(line) ? undefined : typedCommand(line);
  }

  /** Runs a command that only shows something, or opens its list, while the model works; false for other lines. */
  #runsNow(line: string): boolean {
    const command = this.#isInTurn ? this.#commandIn(line) : undefined;
    const info = command && commandNamed(this.#session, command.name);
    if (command === undefined || info === undefined) return false;
    const { signal } = this.#closed;
    const isList = info.isListView === true && command.argument === "";
    if (isList) {
      void this.#commands.pick({ ...command, line }, signal).then((text) => {
        if (text !== undefined) this.#display.screen.queue({ type: "text", text });
      });
    } else if (info.isView) void this.#commands.show({ ...command, line }, signal);
    else return false;
    this.#history.add(line);
    return true;
  }

  /** Runs a turn, and the next ones that follow from the user's decisions on a plan. */
  async #runTurns(parts: readonly Part[]): Promise<void> {
    this.#isInTurn = true;
    const { signal } = this.#stop;
    let hasEnded = await runTurn(this.#session, this.#display, parts, signal);
    while (hasEnded && hasPlan(this.#session)) {
      this.#conversation.end(this.#session.agent.state.messages);
      if (!await acceptsPlan(this.#session, this.#display, signal)) return;
      this.#display.screen.echo(CARRY_OUT);
      hasEnded = await runTurn(this.#session, this.#display, [CARRY_OUT], signal);
    }
  }

  /** Adds a line to the history and runs it: a slash command, a shell command, or a message. */
  async #take(message: TextPart, isMessage = false): Promise<void> {
    const { text } = message;
    const command = isMessage ? undefined : this.#commandIn(text);
    const isTurn = command === undefined;
    if (message !== REWIND) this.#history.add(text, message.pasted);
    if (isTurn) this.#display.endHint();
    this.#session.agent.state.history = this.#history.entries.map(entryText);
    this.#stop = new AbortController();
    const start = performance.now();
    this.#isInTurn = isTurn;
    if (command) await this.#runCommand(command, text);
    else if (!isMessage && text.startsWith("!")) {
      await this.#commands.runShell(text.slice(1), this.#stop.signal);
    } else await this.#runTurns([message]);
    this.#isInTurn = false;
    this.#conversation.end(this.#session.agent.state.messages);
    if (!isTurn) return;
    if (this.options.notifies && performance.now() - start > LONG_TURN_MS) {
      this.#display.screen.notify("copilot is done");
    }
  }

  async #runCommand(command: { name: string; argument: string }, line: string): Promise<void> {
    const effect = await this.#commands.run({ ...command, line }, this.#stop.signal);
    if (effect?.type === "leave") this.#end(EXIT.done);
    else if (effect?.type === "resumed") {
      if (effect.before !== undefined) this.#display.say(effect.before);
      this.#showResumed(effect.resumed);
    } else if (effect?.type === "turn") await this.#runTurns(effect.parts);
  }
}
