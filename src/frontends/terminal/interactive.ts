/**
 * The session in a terminal: a loop over what is typed.
 *
 * @module
 */

import { CopilotAgent } from "../../agent/agent.ts";
import { requestTokens } from "../../agent/tokens.ts";
import type { CopilotConfig } from "../../config.ts";
import { canEdit } from "../../terminal/line/input.ts";
import { liveScreen } from "../../terminal/screen/live_screen.ts";
import { plainScreen, type Screen } from "../../terminal/screen/screen.ts";
import { appearance, DIM, painter } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";
import { count } from "../../text/count.ts";
import { jobStore } from "../../tools/shell/jobs.ts";
import type { Policy } from "../../types/policy.ts";
import type { Job } from "../../types/tool.ts";
import { askPerson } from "./question.ts";
import { asUsage } from "../../cli/args.ts";
import { attachFiles } from "../../session/attach.ts";
import {
  isCommand,
  PLANNING,
  runCommand,
  type Session,
  waitsFor,
} from "../../session/commands/commands.ts";
import { completer } from "./complete.ts";
import { EXIT } from "../exit_codes.ts";
import { processTurnHelpfully } from "../../session/fit_model.ts";
import { withHint } from "../../session/hints.ts";
import { instructionLines, permissionNoticeLines, trustQuestion } from "../permission_lines.ts";
import { heedInstructions } from "../../session/instructions.ts";
import { inRow, jobEnded } from "../../session/commands/jobs.ts";
import { choosesModel } from "../../session/model_server.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";
import type { Permissions } from "../../session/permissions.ts";
import { costOf, dollars } from "../../session/prices.ts";
import { sessionHistory } from "./typed_history.ts";
import { runShell } from "../../session/shell.ts";
import { onSignals } from "../../cli/signals.ts";
import { type TurnView, turnView } from "./turn_view.ts";
import { undoLog } from "../../session/undo.ts";

/** How a session is started. */
export interface InteractiveOptions {
  /** The folder to work in: the current one. */
  workingDir?: string | undefined;
  /** Whether the person named the model. */
  modelNamed: boolean;
  /** Runs edits and commands without asking. */
  yes?: boolean | undefined;
  /** What the run may do. */
  permissions: Permissions;
  /** Tells a person who looks elsewhere when a long turn is over. */
  notify?: boolean | undefined;
  /** Heeds the instructions that the folder brings, this time. */
  trust?: boolean | undefined;
  /** Keeps no record. */
  noSession?: boolean | undefined;
  /** Goes on with the folder's newest session. */
  continues?: boolean | undefined;
  /** What the demo says of itself: it has no server to look at, and heeds no instructions. */
  demo?: string | undefined;
}

/** Turns that took longer, in milliseconds, are worth a notification. */
const LONG_TURN_MS = 10_000;
/** What a signal's end of the session waits for at most, in milliseconds. */
const TIDY_UP_MS = 5000;

const SIGNAL_CODES: Partial<Record<Deno.Signal, number>> = {
  SIGHUP: EXIT.hangup,
  SIGTERM: EXIT.terminated,
};

/** Runs the session until it is left; the exit code. */
export async function runInteractive(
  config: CopilotConfig,
  options: InteractiveOptions,
): Promise<number> {
  const look = appearance();
  let stop = new AbortController();
  let ended: number | undefined;
  const over = new AbortController();
  const end = (code: number) => {
    ended ??= code;
    stop.abort();
    over.abort();
  };
  using cleanUp = new DisposableStack();
  cleanUp.defer(onSignals((code) => code === EXIT.interrupted ? stop.abort() : end(code)));
  // They end after the terminal was given back, on every way out.
  await using jobs = jobStore();
  const isLive = canEdit();
  const paint = painter(look.colors);
  const { permissions } = options;
  const asking = permissions.policy(askPerson(
    async (text, prompt, objection, signal, begun) => {
      view.onAsked();
      if (text !== "") view.print(`\n${text}`);
      const answer = await screen.ask(prompt, objection, signal, begun);
      if (answer === null) stop.abort(); // Ctrl-C, Ctrl-D, or nobody there any more
      return answer;
    },
    permissions,
    (text) => view.print(text),
    () => terminalSize().columns,
    paint,
  ));
  const policy: Policy = {
    decide: (tool, args, context) =>
      session.isPlanning && tool.access !== "read"
        ? { allow: false, reason: PLANNING, summary: "plan mode" }
        : asking.decide(tool, args, context),
  };
  const undo = undoLog();
  const agent: CopilotAgent = asUsage(() =>
    new CopilotAgent(config, options.workingDir ?? ".", {
      policy,
      confine: permissions.confine(() => agent.state.workingDir),
      onWritten(file) {
        undo.onWritten(file);
        view.onWritten(file);
      },
      jobs,
      env: permissions.env,
    })
  );
  const { state } = agent;
  const session: Session = {
    agent,
    modelNamed: options.modelNamed,
    isModelKnown: options.demo !== undefined || !choosesModel(config),
    pending: "",
    permissions,
    undo,
    jobs,
  };
  // Not at once: the screen, which begins with the history, is still to come.
  const warn = (message: string) => queueMicrotask(() => say(message));
  const history = sessionHistory(() => state.workingDir, warn);
  state.history = history.entries();
  /** What a command of the session waits for. */
  let waiting: (() => string) | undefined;
  using screen: Screen = isLive
    ? liveScreen({
      color: look.colors === "none" ? "" : "\x1b[1m",
      history: () => state.history,
      completer: completer(session),
      activity: () => view.activity() ?? waiting?.(),
      footer: () => [footer(session), ...(options.yes ? ["--yes"] : [])].join(" · "),
      onStop: () => stop.abort(),
      onUnfold: () => view.unfold(),
      onEnd(signal) {
        end(SIGNAL_CODES[signal] ?? EXIT.interrupted);
        setTimeout(() => Deno.exit(ended), TIDY_UP_MS);
      },
    })
    : plainScreen(() => state.history, over.signal);
  const view: TurnView = turnView(screen, look);
  /** Jobs that ended and were not shown yet. */
  const unshown: Job[] = [];
  let isFree = false;
  const showEnded = (print: (text: string) => void) => {
    for (const job of unshown.splice(0)) {
      print(paint(inRow(`· ${jobEnded(job)} · /jobs ${job.number} shows its output`), DIM));
    }
  };
  jobs.onEnd = (job) => {
    unshown.push(job);
    if (isFree) showEnded((text) => screen.print(text));
  };
  const say = (text: string) => screen.print(wrapped(text, terminalSize().columns));
  say(["copilot", ...shownModel(session), "/help lists what there is"].join(" · "));
  if (options.demo !== undefined) say(options.demo);
  permissionNoticeLines(await permissions.prepare(state.workingDir, true)).forEach(say);
  if (options.demo === undefined) {
    const heeded = await heedInstructions(agent, permissions, {
      trust: options.trust,
      confirm: isLive
        ? (question) => askYesNo(screen, trustQuestion(question), stop.signal)
        : undefined,
    });
    instructionLines(heeded).forEach(say);
  }
  if (ended !== undefined) return ended;
  if (!options.noSession) {
    session.record = (await import("../../session/record.ts")).recordSession(agent, say);
  }
  if (options.continues) {
    say((await import("../../session/record.ts")).goOnWithNewest(session, paint));
  }
  const leaving = new AbortController();
  cleanUp.defer(() => leaving.abort());
  if (options.demo === undefined) session.looked = lookAtServer(session, say, leaving.signal);
  for (;;) {
    showEnded((text) => screen.print(text));
    isFree = isLive;
    const text = await screen.read();
    isFree = false;
    if (ended !== undefined || text === null) return ended ?? EXIT.done;
    if (text.trim() === "") continue;
    history.add(text);
    state.history = history.entries();
    stop = new AbortController();
    if (isCommand(text)) {
      session.signal = stop.signal;
      waiting = waitsFor(session, text);
      screen.update();
      const output = await outputOf(session, text);
      waiting = undefined;
      if (output === null) return EXIT.done;
      say(output);
      screen.update();
      continue;
    }
    const start = performance.now();
    if (text.startsWith("!")) await runShell(session, text.slice(1), screen, view, stop.signal);
    else await showTurn(session, text, view, () => showEnded(view.print), stop.signal);
    if (options.notify !== false && performance.now() - start > LONG_TURN_MS) {
      screen.notify("copilot is done");
    }
    if (ended !== undefined) return ended;
  }
}

/** Says what the server has, as soon as it is known. What is wrong, the first turn will tell. */
function lookAtServer(
  session: Session,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return import("../../session/server_look.ts")
    .then(({ greeting }) => greeting(session.agent, { modelNamed: session.modelNamed, signal }))
    .then(({ lines, isFound }) => {
      session.isModelKnown ||= isFound;
      lines.forEach(say);
    }, () => {});
}

/** What a command of the session says; null when it ends the session. */
async function outputOf(session: Session, text: string): Promise<string | null> {
  try {
    return await runCommand(session, text);
  } catch (error) {
    // Such as a file of the folder that cannot be read.
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    return `· ${oneLine((error as Error).message)}`;
  } finally {
    session.record?.sync();
  }
}

async function askYesNo(
  screen: Screen,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const [, about = "", prompt = ""] = /^([^]*\n)?(.*)$/.exec(question)!;
  screen.print(wrapped(about.trimEnd(), terminalSize().columns));
  const answered = (line: string) => /^\s*(y(?:es)?|no?)\s*$/i.exec(line)?.[1];
  const answer = await screen.ask(
    prompt,
    (line) => answered(line) === undefined ? "  y or n; Esc leaves it open" : undefined,
    signal,
  );
  return answer === null ? undefined : /^\s*y/i.test(answer);
}

/** Runs one turn; whatever it fails with, the session goes on. */
async function showTurn(
  session: Session,
  text: string,
  view: TurnView,
  showEnded: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { agent } = session;
  session.undo?.begin(agent, text);
  view.begin(`waiting for ${shownModel(session)[0] ?? "the model"}`);
  try {
    await Promise.race([
      session.looked,
      new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
    ]);
    const { text: attached, notices } = await attachFiles(agent, text, signal);
    for (const notice of notices) view.print(`· ${oneLine(notice)}`);
    const { stopReason } = await processTurnHelpfully(agent, session.pending + attached, {
      onEvent(event) {
        if (event.type === "usage") {
          session.context = event.usage;
          session.isModelKnown = true;
          const cost = costOf(event.usage, agent.config);
          if (cost !== undefined) session.cost = (session.cost ?? 0) + cost;
        }
        if (event.type === "thinking" || event.type === "tool_start") session.record?.sync();
        view.onEvent(event);
        if (event.type === "thinking") showEnded();
      },
      onOutput: view.onOutput,
      signal,
      modelNamed: session.modelNamed,
      anywhere: true,
    });
    session.pending = "";
    view.end(stopReason === "aborted" ? "· interrupted" : undefined);
  } catch (error) {
    // Whatever a turn fails with, the session goes on; but not without a terminal.
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    view.end(`· ${withHint(error, agent.config)}`);
  } finally {
    session.record?.sync();
  }
}

/** What the model is called, once it is known. */
function shownModel({ agent: { config }, modelNamed, isModelKnown }: Session): string[] {
  if (!modelNamed && !isModelKnown) return [];
  const { model } = (config.local ?? config.hosted ?? config.compat)!;
  // llama.cpp names a model by its file.
  return [oneLine(model.replace(/^.*[/\\](?=[^/\\]+\.gguf$)/i, ""))];
}

/** `qwen3:8b · 3.1k tokens · ~/project` */
export function footer(session: Session): string {
  const { agent, context, cost, isPlanning, jobs } = session;
  const { workingDir } = agent.state;
  const { compat, local, hosted } = agent.config;
  const { contextLength: room } = (local ?? hosted ?? compat)!;
  const home = Deno.env.get("HOME");
  const folder = home && (workingDir + "/").startsWith(`${home}/`)
    ? `~${workingDir.slice(home.length)}`
    : workingDir;
  const width = Math.max(12, terminalSize().columns >> 1);
  const shown = folder.length > width ? `…${folder.slice(1 - width).toWellFormed()}` : folder;
  // What the server did not count is estimated.
  const isCounted = context !== undefined && context.inputTokens > 0;
  const used = isCounted
    ? context.inputTokens + context.outputTokens
    : agent.state.messages.length > 0
    ? requestTokens(agent)
    : 0;
  const share = room && used ? ` (${Math.round(100 * used / room)}% of ${thousands(room)})` : "";
  const tokens = used ? [`${isCounted ? "" : "~"}${thousands(used)} tokens${share}`] : [];
  const money = cost === undefined ? [] : [dollars(cost)];
  const mode = isPlanning ? ["plan mode"] : [];
  const running = jobs?.list.filter(({ outcome }) => outcome === undefined).length ?? 0;
  if (running > 0) mode.push(count(running, "job"));
  return [...shownModel(session), ...mode, ...tokens, ...money, oneLine(shown)].join(" · ");
}

const thousands = (n: number): string => n < 1000 ? `${n}` : `${(n / 1000).toFixed(1)}k`;
