/** A session, without the terminal, the command line and stdout. @module */

import { CopilotAgent } from "../agent/agent.ts";
import { outcomeOf } from "../agent/run_tools.ts";
import { usedTokens } from "../agent/tokens.ts";
import { inputParts, typedIn } from "../text/parts.ts";
import { reasonOf } from "../text/reason.ts";
import { type ExecutionFacts, factsOf } from "../records/execution.ts";
import { shellTool } from "../tools/run_bash.ts";
import { tasksIn } from "../tools/tasks.ts";
import { jobStore } from "../tools/shell/jobs.ts";
import { builtinTools } from "../tools/mod.ts";
import type { ModeStatus } from "../safety/permission_report.ts";
import type { Permissions } from "../safety/permissions.ts";
import { APPROVE_MODES, modeNamed } from "../safety/settings.ts";
import type { ToolExecution, TurnEvent, TurnResult, Usage } from "../types/event.ts";
import type { Message, Part } from "../types/message.ts";
import type { Confine } from "../types/confine.ts";
import type { Policy } from "../types/policy.ts";
import type { NewestOutput, ToolOutcome } from "../types/tool.ts";
import { aborted, endingWith } from "../wire/wait.ts";
import { ModelFit } from "./fit_model.ts";
import { processFittedTurn } from "./fitted_turn.ts";
import {
  type Frontend,
  PLAIN_SURFACE,
  type SessionEvent,
  type Status,
  type Surface,
} from "./frontend.ts";
import type {
  Extension,
  PendingQuestion,
  SessionOptions,
  SessionState,
  TurnEnd,
} from "./extension.ts";
import type { Approval, ApprovalAnswer } from "../safety/approval.ts";
import { FolderTrust } from "../safety/folder_trust.ts";
import { FolderPaths } from "./folder_paths.ts";
import { messageParts } from "./message.ts";
import { choosesModel, specName } from "../models/model_server.ts";
import { changeMode, isPlanning, planNotes } from "./plan_mode.ts";
import { CacheWatch, slotsOf } from "./cache_watch.ts";
import { modelUsedBy, newestSession, resumeSession, sessionsFolder } from "./record.ts";
import { type Recorded, Recorder } from "../records/recorder.ts";
import type { CommandAnswer, Notice } from "./data.ts";
import { runCommand } from "./commands/registry.ts";
import { branchOf } from "../safety/repositories.ts";
import { serverNotice } from "./server_checks.ts";
import { UndoLog } from "./undo.ts";

const MAX_SHELL_SECONDS = 86_400;

/**
 * Opens a session. Its first event is its status, if the frontend shows it, then notices about the folder follow.
 * `signal` cancels a question.
 *
 * @throws {TypeError} {RangeError} if a setting or the folder is invalid.
 * @throws {UsageError} if a settings file is invalid.
 */
export async function openSession(
  options: SessionOptions,
  frontend: Frontend,
  signal: AbortSignal,
): Promise<Session> {
  const session = new Session(options, frontend);
  try {
    await session.open(signal);
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/** A session for frontends. {@linkcode SessionState} has the members that extensions and commands use. */
export class Session implements SessionState, AsyncDisposable {
  readonly agent: CopilotAgent;
  readonly permissions: Permissions;
  readonly folderTrust: FolderTrust;
  readonly jobs = jobStore();
  readonly fit: ModelFit;
  readonly roles: SessionState["roles"];
  undo?: UndoLog;
  readonly executions = new Map<string, ExecutionFacts>();
  record?: Recorder;
  isModelKnown: boolean;
  pendingParts: Part[] = [];
  usage?: Usage | undefined;
  readonly cache: CacheWatch;
  cost?: number;
  mode?: ModeStatus;
  check?: Status["check"];
  probed = Promise.resolve();
  readonly extensions: Extension[];
  readonly policy: Policy;
  readonly approve: Frontend["approve"];
  readonly confirm: Frontend["confirm"];
  readonly elicit: Frontend["elicit"];
  refusals = 0;
  /** The conversation, as long as the model has what extensions added: another one after a compaction or /clear. */
  #conversation: { messages?: Message[] } = {};
  /** Aborted when an extension ends the turn. */
  #stop = new AbortController();
  readonly #closed = new AbortController();
  #probeStop: AbortController | undefined;
  /** Resolves when the server starts to load a model; undefined while the server is not probed. */
  #loads: Promise<void> | undefined;
  /** Resolves when the last question to the user is answered. */
  #asked: Promise<unknown> = Promise.resolve();
  #paths: FolderPaths | undefined;
  readonly #steering: (readonly Part[])[] = [];

  constructor(readonly options: SessionOptions, private readonly frontend: Frontend) {
    const { config, permissions, isChosen, asksAtStart = false } = options;
    const extensions = this.extensions = [...options.extensions ?? []];
    this.permissions = permissions;
    this.folderTrust = new FolderTrust(permissions.stateFolder);
    this.roles = { models: { ...options.roles }, lent: new Map(), away: new Map() };
    this.fit = new ModelFit({
      isChosen,
      asksRemote: asksAtStart,
      reportsOthers: !asksAtStart || !choosesModel(config), // or the checks at the start do
    });
    this.isModelKnown = !choosesModel(config);
    this.cache = new CacheWatch(
      (loss) => this.notify({ code: "cache_lost", ...loss }),
      frontend.showsStatus === false ? undefined : (agent) => slotsOf(agent, this.#closed.signal),
    );
    this.approve = frontend.approve && this.#ask.bind(this);
    this.confirm = frontend.confirm &&
      ((question, signal) => this.#oneByOne(() => frontend.confirm!(question, signal), signal));
    this.elicit = frontend.elicit?.bind(frontend);
    permissions.frontend = { ...this.approve && { approve: this.approve }, onEvent: this.emit };
    this.policy = this.policyWith(this.approve, true);
    this.agent = new CopilotAgent(config, options.folder ?? ".", {
      policy: this.policy,
      afterCall: (one, signal) => {
        const { messages } = this.agent.state;
        if (this.#conversation.messages !== messages) this.#conversation = { messages };
        return this.afterCall(one, this.#conversation, signal);
      },
      beforeCompact: async (...about) => {
        for (const one of extensions) await one.beforeCompact?.(...about);
      },
      tools: extensions.reduce((tools, one) => one.tools?.(tools) ?? tools, builtinTools),
      confine: (...given) => this.#confine(...given),
      onWritten: (file) => this.undo?.onWritten(file),
      jobs: this.jobs,
      keepsTasks: frontend.approve !== undefined,
      env: permissions.env,
      ...options.editor && { editor: options.editor },
      ...{ systemPrompt: options.systemPrompt, appendedPrompt: options.appendedPrompt },
    });
    this.jobs.onEnd = (job) => {
      this.emit({ type: "job_ended", job });
      this.emitStatus();
    };
  }

  get surface(): Surface {
    return this.frontend.surface ?? PLAIN_SURFACE;
  }

  get status(): Status {
    const { agent, permissions, fit, isModelKnown, usage, cost, jobs, mode, cache, check, roles } =
      this;
    const isAway = (roles.away.get("plan")?.until ?? 0) > Date.now();
    const planner = mode?.approve === "plan" && !isAway && roles.models.plan;
    const { name, isChosen, contextLength: window } = fit.targetOf(agent);
    return {
      model: planner ? specName(planner) : isChosen || isModelKnown ? name : undefined,
      folder: agent.state.workingDir,
      branch: branchOf(agent.state.workingDir),
      approvesAll: permissions.approvesAll,
      ...mode && { mode },
      tokens: { ...usedTokens(agent, usage), window },
      cost,
      speed: cache.writeSpeed,
      tasks: tasksIn(agent.state.messages),
      runningJobs: jobs.list.filter(({ outcome }) => outcome === undefined).length,
      ...check && { check },
    };
  }

  expands(line: string): boolean {
    return this.extensions.some((one) => one.expands?.(line) !== undefined);
  }

  /** Returns the files below the folder, and names of extensions, that currently match `word` best. */
  async findPaths(word: string): ReturnType<FolderPaths["find"]> {
    this.#paths ??= new FolderPaths(
      this.agent,
      () => this.extensions.flatMap((one) => one.names?.() ?? []),
    );
    return await this.#paths.find(word);
  }

  async open(signal: AbortSignal): Promise<void> {
    const { agent, frontend, permissions, options: { notice: first } } = this;
    if (this.options.canUndo) this.undo = new UndoLog();
    this.emitStatus();
    const mayRun = frontend.approve !== undefined || permissions.approvesAll;
    const prepared = await permissions.prepare(agent.state.workingDir, mayRun);
    for (const notice of first === undefined ? prepared : [first, ...prepared]) this.notify(notice);
    if (frontend.approve !== undefined || permissions.startsInPlan) {
      this.mode = await permissions.mode(agent.state.workingDir);
      this.emitStatus();
    }
    for (const one of this.extensions) await one.open?.(this, signal);
    const source = await this.#openRecord() ? "resume" : "startup";
    for (const one of this.extensions) await one.start?.(this, source, signal);
    if (this.options.asksAtStart) this.probed = this.#probeServer();
    this.emitStatus();
  }

  openQuestions(): readonly PendingQuestion[] {
    return this.extensions.flatMap((one) => one.openQuestions?.splice(0) ?? []);
  }

  async #openRecord(): Promise<boolean> {
    const { isRecorded, resumesNewest, resumes } = this.options;
    if (!isRecorded && !resumesNewest && !resumes) return false;
    const root = isRecorded && sessionsFolder();
    if (root) {
      const tell = (why?: string) =>
        this.notify({ code: "record", ...why !== undefined && { why } });
      this.record = new Recorder(root, () => this.#recorded(), tell, this.options.isPrint);
    }
    if (!resumesNewest && !resumes) return false;
    let newest = resumes;
    try {
      newest ??= newestSession(this.agent.state.workingDir, this.options.isPrint);
    } catch (error) {
      this.notify({ code: "unread_session", why: reasonOf(error) });
      return false;
    }
    const resumed = newest && resumeSession(this, newest);
    const mode = this.options.keepsMode && modeNamed(APPROVE_MODES, newest?.mode);
    if (mode) await changeMode(this, mode);
    this.emit({ type: "resumed", resumed });
    return newest !== undefined;
  }

  #recorded(): Recorded {
    const { agent, executions, permissions, usage, cache } = this;
    const { messages, workingDir: folder } = agent.state;
    const tokens = usage && usage.inputTokens + usage.outputTokens;
    const [readSpeed, writeSpeed] = [cache.readSpeed, cache.writeSpeed]
      .map((speed) => speed && Math.round(speed));
    const used = { ...modelUsedBy(agent), tokens, readSpeed, writeSpeed };
    return {
      ...{ folder, messages, executions, used, mode: permissions.chosenMode },
      // For a single answer, looking for the branch would take too long.
      ...!this.options.isPrint && { branch: () => branchOf(folder) },
    };
  }

  /**
   * Runs one user message, with the files that its typed text names. It can be undone. @throws {BackendError} as
   * a turn does.
   */
  async prompt(input: string | readonly Part[], signal: AbortSignal): Promise<TurnResult> {
    const given = inputParts(input);
    this.undo?.begin(this.agent, typedIn(given));
    try {
      await this.#waitForProbe(signal);
      const message = await this.#message(given, signal);
      const parts = [...this.pendingParts, ...planNotes(this), ...message];
      // Done while the model reads the prompt, so that its first command does not wait.
      this.permissions.lookAhead(this.agent.state.workingDir).catch(() => {});
      return await this.#turns(parts, signal);
    } finally {
      this.record?.sync();
      this.emitStatus();
    }
  }

  async #message(given: readonly Part[], signal: AbortSignal): Promise<Part[]> {
    const parts = [...await messageParts(this, given, signal)];
    const text = typedIn(given);
    for (const one of this.extensions) parts.push(...await one.message?.(text, signal) ?? []);
    return parts;
  }

  /** Returns a reader of the user's messages during the turn. Sub-agents have their own: all read the same messages. */
  steering(signal: AbortSignal): () => Promise<readonly (readonly Part[])[]> {
    let read = this.#steering.length;
    return async () => {
      for (const given of this.frontend.steering?.() ?? []) {
        try {
          this.#steering.push(await this.#message(given, signal));
        } catch (error) {
          if (signal.aborted) break;
          this.emit({
            type: "notice",
            level: "warning",
            code: "steering",
            message: reasonOf(error),
          });
        }
      }
      const news = this.#steering.slice(read);
      read = this.#steering.length;
      return news;
    };
  }

  async #turns(parts: readonly Part[], signal: AbortSignal): Promise<TurnResult> {
    this.#steering.length = 0;
    using stop = this.#stop = endingWith(signal);
    if (signal.aborted) stop.abort(signal.reason);
    const turnSignal = stop.signal;
    const turn = async (sent: readonly Part[]) => {
      const { models } = this.roles;
      const roles = Object.keys(models).length > 0 ? await import("./roles.ts") : undefined;
      const options = {
        onEvent: (event: TurnEvent) => this.#onTurnEvent(event),
        onNotice: this.notify,
        onOutput: (newest: NewestOutput) => this.emit({ type: "output", newest }),
        ready: () => this.frontend.ready?.(),
        answerSchema: this.options.answerSchema,
        isReadOnly: () => isPlanning(this),
        steering: this.steering(turnSignal),
        summarizer: roles?.summarizerOf(this),
        signal: turnSignal,
      };
      return roles && models.plan !== undefined && await isPlanning(this)
        ? await roles.planTurn(this, sent, options)
        : await processFittedTurn(this.agent, this.fit, sent, options);
    };
    let whole = await turn(parts);
    this.pendingParts = [];
    for (let round = 0; whole.stopReason === "done"; round++) {
      const ends = await this.#endsOf(whole, round, turnSignal);
      if (ends === undefined) return { ...whole, stopReason: "aborted" };
      const checks = ends.flatMap(({ check }) => check ?? []);
      const check = checks.find(({ passed }) => !passed) ?? checks[0];
      if (check) whole = { ...whole, check };
      const added = ends.flatMap(({ parts = [] }) => parts);
      if (added.length === 0) break;
      const more = await turn(added);
      whole = {
        ...more,
        toolExecutions: [...whole.toolExecutions, ...more.toolExecutions],
        inputTokens: whole.inputTokens + more.inputTokens,
        outputTokens: whole.outputTokens + more.outputTokens,
        ...check && { check },
      };
    }
    return whole;
  }

  /** Returns how extensions end a turn, or continue it; undefined if the user stopped one of them, such as a check. */
  async #endsOf(
    turn: TurnResult,
    round: number,
    signal: AbortSignal,
  ): Promise<TurnEnd[] | undefined> {
    const ends: TurnEnd[] = [];
    try {
      for (const one of this.extensions) {
        const end = await one.endOfTurn?.(turn, round, signal);
        if (end) ends.push(end);
      }
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
    return ends;
  }

  /**
   * Runs the user's own command, without a sandbox. The next message has its output. @throws {InterruptedError}
   * {Error}
   */
  async shell(command: string, signal: AbortSignal): Promise<ToolOutcome> {
    const { confine: _, ...context } = this.agent.toolContext(signal);
    const args = { command, timeout_seconds: MAX_SHELL_SECONDS };
    const onOutput = (newest: NewestOutput) => this.emit({ type: "output", newest });
    const outcome = outcomeOf(await shellTool.run(args, { ...context, onOutput }));
    const text = outcome.content;
    this.pendingParts.push({ type: "resource", kind: "shell", name: command, text });
    return outcome;
  }

  async command(name: string, argument: string, signal: AbortSignal): Promise<CommandAnswer> {
    try {
      return await runCommand(this, name, argument, signal);
    } finally {
      this.record?.sync();
      this.emitStatus();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.extensions.map((one) => one.close?.()));
    this.#closed.abort();
    await this.undo?.settled;
    this.#probeStop?.abort();
    this.#paths?.[Symbol.dispose]();
    this.record?.[Symbol.dispose]();
    await this.jobs[Symbol.asyncDispose]();
  }

  async #ask(question: Approval, signal: AbortSignal): Promise<ApprovalAnswer> {
    return await this.#oneByOne(async () => {
      for (const one of this.extensions) {
        const answer = await one.beforeQuestion?.(question, signal);
        if (answer) return answer;
      }
      return await this.frontend.approve!(question, signal);
    }, signal);
  }

  /** Sandboxes a program, whose changes `/undo` follows. */
  #confine(...given: Parameters<Confine>): ReturnType<Confine> {
    const folder = () => this.agent.state.workingDir;
    const confine = this.permissions.confine(folder);
    return (this.undo?.following(confine, folder) ?? confine)(...given);
  }

  readonly policyWith: SessionState["policyWith"] = (approve, withExtensions) => {
    const ofSettings = this.permissions.policy(approve, () => this.refusals++);
    if (!withExtensions) return ofSettings;
    const all = () =>
      this.extensions.reduceRight<Policy>(
        (next, one) => one.beforeCall ? { decide: (...call) => one.beforeCall!(call, next) } : next,
        ofSettings,
      );
    return { decide: (...call) => all().decide(...call) };
  };

  async afterCall(
    execution: ToolExecution,
    conversation: object,
    signal: AbortSignal,
  ): Promise<string> {
    const texts: (string | undefined)[] = [];
    for (const one of this.extensions) {
      texts.push(await one.afterCall?.(execution, conversation, signal));
    }
    return texts.join("");
  }

  /** Calls of one answer are decided in parallel, but the user is asked one question at a time. */
  #oneByOne<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const answer = this.#asked.then(() => {
      signal.throwIfAborted();
      return ask();
    });
    // An open question of a stopped turn must not block the next ones.
    this.#asked = Promise.race([answer.catch(() => {}), aborted(signal)]);
    return answer;
  }

  #onTurnEvent(event: TurnEvent): void {
    // Records before it displays: after a crash, the file lacks at most the newest pieces of an answer.
    this.record?.onEvent(event);
    if (event.type === "tool_done") {
      this.executions.set(event.exec.toolCallId, factsOf(event.exec));
    }
    if (event.type === "thinking") this.undo?.lookAhead(this.agent.state.workingDir);
    if (event.type === "compaction") this.#conversation = {};
    this.cache.onEvent(event, this.agent);
    if (event.type === "usage") {
      this.usage = event.usage;
      this.isModelKnown = true;
      const { cost } = event.usage;
      if (cost !== undefined) this.cost = (this.cost ?? 0) + cost;
    }
    this.emit(event);
    if (event.type === "usage" || event.type === "tool_done") this.emitStatus();
  }

  /** Waits until the server has been probed, because that may change the model. Reports if it loads one. */
  async #waitForProbe(signal: AbortSignal): Promise<void> {
    const { probed, agent, fit } = this;
    let isWaiting = true;
    const model = fit.loadingName(agent);
    this.#loads?.then(() => isWaiting && this.emit({ type: "loading", model }));
    await Promise.race([probed, aborted(signal)]).finally(() => isWaiting = false);
  }

  async #probeServer(): Promise<void> {
    const { agent, fit } = this;
    const { signal } = this.#probeStop = new AbortController();
    const { promise, resolve: onLoading } = Promise.withResolvers<void>();
    this.#loads = promise;
    try {
      const found = await serverNotice({ agent, fit, signal, ui: this.surface.kind, onLoading });
      if (found === undefined) return;
      this.isModelKnown ||= found.checks.every(({ status }) => status !== "fail");
      this.notify(found);
      this.emitStatus();
    } catch {
      // The first turn reports the failure.
    } finally {
      this.#loads = undefined;
    }
  }

  endTurn(reason: string): void {
    this.#stop.abort(new DOMException(reason, "AbortError"));
  }

  emitStatus(): void {
    if (this.frontend.showsStatus !== false) this.emit({ type: "status", ...this.status });
  }

  readonly notify = (notice: Notice): void => this.emit({ type: "session_notice", notice });

  readonly tell = (kind: string, ...lines: string[]): void =>
    this.notify({ code: "extension", kind, lines });

  readonly emit = (event: SessionEvent): void => {
    if (!this.#closed.signal.aborted) this.frontend.onEvent(event);
  };
}
