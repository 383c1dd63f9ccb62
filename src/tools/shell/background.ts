/** Commands in the background, and their reports to the model. @module */

import type { SandboxLimit } from "../../types/confine.ts";
import type { Job, Jobs, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { aborted, within } from "../../wire/wait.ts";
import { namesOf } from "./jobs.ts";
import { OutputCapture } from "./output_capture.ts";
import { endNow } from "./process_group.ts";
import { DRAIN_MS, exitCodeText, FRAME_CHARS, GRACE_MS, leftText } from "./shell_process.ts";
import {
  endShell,
  limitLines,
  type StartedShell,
  startShell,
  type Streams,
} from "./shell_process.ts";

/** A command that ends within this time, in ms, does not become a job: its port is in use, for example. */
const SETTLE_MS = 300;
/** The maximum wait for new output, in ms, for a model that asks repeatedly. */
const NEWS_MS = 10_000;
/** The maximum new output in a report of a job, and in its first report, in bytes. */
const MAX_NEWS_BYTES = 20_000;
const MAX_FIRST_NEWS_BYTES = 2000;
/** The time for a job to end after SIGTERM, in milliseconds. */
const JOB_STOP_MS = 1000;

/**
 * Starts `command` as `run_bash` does, and returns while it runs. Processes left by its shell are ended too.
 * @throws {RangeError} if too many jobs run. @throws {Error} if the shell cannot be started.
 */
export async function runInBackground(
  { command }: Record<string, unknown>,
  context: ToolContext,
  settleMs = SETTLE_MS,
): Promise<ToolOutcome> {
  const { jobs } = context;
  if (!jobs) throw new Error("Cannot run it in the background as there are no jobs here");
  jobs.checkRoom();
  const shell = await startShell(String(command), context, { isJob: true });
  const budget = Math.max(Math.min(context.maxOutputChars - FRAME_CHARS, MAX_NEWS_BYTES), 200);
  const output = new OutputCapture([shell.child.stdout, shell.child.stderr], budget);
  const job = new ShellJob(String(command), shell, jobs, budget, [output]);
  jobs.add(job);
  const status = await within(settleMs, shell.child.status);
  if (status) {
    await job.ended;
    jobs.remove(job);
    const { limit } = job;
    return { content: job.news(), exitCode: status.code, ...limit && { limit } };
  }
  return announced(job, "", budget);
}

/** Reports a new job to the model, whose end is reported later. */
function announced(job: ShellJob, why: string, budget: number): ToolOutcome {
  job.isAnnounced = true;
  const call = `job_output {"job": ${job.number}`;
  const state = `${why}job ${job.number} runs in the background until the session ends`;
  const hints = `${call}} shows what it prints, ${call}, "stop": true} ends it`;
  const news = job.news("output", Math.min(budget, MAX_FIRST_NEWS_BYTES));
  return { content: `${state}. ${hints}.\n${news}`, job: job.number };
}

/** Makes a job of a command that has run so far, because the user wants that. */
export function movedToBackground(
  command: string,
  shell: StartedShell,
  streams: Streams,
  { jobs, budget, startedAt }: { jobs: Jobs; budget: number; startedAt: number },
): ToolOutcome {
  const job = new ShellJob(command, shell, jobs, budget, Object.values(streams), startedAt);
  jobs.add(job);
  return announced(job, "The user moved it to the background: ", budget);
}

export async function jobOutput(
  { job: number, stop }: Record<string, unknown>,
  context: ToolContext,
): Promise<string> {
  const list = context.jobs?.list ?? [];
  const job = list.find((one) => one.number === number);
  if (!job) {
    throw new RangeError(
      `There is no job ${number} in this session. Those there are: ${namesOf(list)}`,
    );
  }
  if (stop) await job.stop("stopped by you");
  return await job.report(context.signal);
}

/** A command that runs in its own shell. */
class ShellJob implements Job {
  /** Resolves when all its processes have ended. */
  readonly ended: Promise<void>;
  /** True after it became a job for the model: then its end is reported. */
  isAnnounced = false;
  number = 0;
  isReported = false;
  outcome: string | undefined;
  exitCode: number | undefined;
  limit: SandboxLimit | undefined;
  readonly #halt = Promise.withResolvers<void>();
  #elapsedMs: number | undefined;

  #stoppedAs: string | undefined;
  /** The reason for its end, in lines for the model. */
  #end: string[] = [];

  /** @param budget the maximum output in one report, in bytes */
  constructor(
    readonly command: string,
    private readonly shell: StartedShell,
    private readonly jobs: Jobs,
    private readonly budget: number,
    private readonly outputs: readonly OutputCapture[],
    private readonly startedAt = performance.now(),
  ) {
    this.ended = this.#untilOver();
  }

  get elapsedMs(): number {
    return this.#elapsedMs ?? performance.now() - this.startedAt;
  }

  tail(maxBytes: number): string {
    return this.#joined(maxBytes, (one, most) => one.tail(most));
  }

  /** Returns why it ended, if it has, and its output since the last report. */
  news(label = "output", maxBytes = this.budget): string {
    const text = this.#joined(maxBytes, (one, most) => one.take(most)).replace(/\n$/, "");
    return [...this.#end, ...(text === "" ? [`no ${label}`] : [`${label}:`, text])].join("\n");
  }

  async report(signal: AbortSignal): Promise<string> {
    if (this.outcome === undefined) {
      const more = [this.ended, ...this.outputs.map((one) => one.more()), aborted(signal)];
      await within(NEWS_MS, Promise.race(more));
    }
    signal.throwIfAborted();
    const { outcome } = this;
    if (outcome !== undefined) this.isReported = true;
    const seconds = `${Math.round(this.elapsedMs / 1000)} s`;
    const state = outcome === undefined ? `is running, for ${seconds}` : `ended after ${seconds}`;
    const how = outcome === undefined || outcome !== this.#stoppedAs ? "" : `: ${outcome}`;
    return `job ${this.number} ${state}${how}\n${this.news("new output")}`;
  }

  async stop(outcome: string): Promise<void> {
    this.#stoppedAs ??= outcome;
    this.#halt.resolve();
    await this.ended;
  }

  kill(): void {
    endNow(this.shell.child);
  }

  #joined(maxBytes: number, text: (one: OutputCapture, most: number) => string): string {
    const most = Math.floor(maxBytes / this.outputs.length);
    return this.outputs.map((one) => text(one, most)).join("");
  }

  async #untilOver(): Promise<void> {
    const { child } = this.shell;
    await Promise.race([child.status, this.#halt.promise]);
    if (this.#stoppedAs === undefined) {
      await within(DRAIN_MS, Promise.all(this.outputs.map(({ done }) => done)));
    }
    const stoppedAs = this.#stoppedAs;
    const isStopped = stoppedAs !== undefined;
    const graceMs = isStopped ? JOB_STOP_MS : GRACE_MS;
    const { left, status, notes } = await endShell(this.shell, this.outputs, graceMs);
    this.#end = [`exit code: ${exitCodeText(status)}`];
    if (!isStopped) {
      const said = { stderr: this.tail(MAX_FIRST_NEWS_BYTES) };
      const { lines, limit } = limitLines(this.shell, this.command, status?.code, said);
      this.#end.push(...lines);
      this.limit = limit;
    }
    this.#end.push(...notes);
    if (left.length > 0 && !isStopped) this.#end.push(leftText(left));
    this.#elapsedMs = performance.now() - this.startedAt;
    if (!isStopped && !status?.signal) this.exitCode = status?.code;
    this.outcome = stoppedAs ?? status?.signal ?? `exit code ${status?.code ?? "unknown"}`;
    if (this.isAnnounced && !isStopped) this.jobs.onEnd?.(this);
  }
}
