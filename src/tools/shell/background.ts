/**
 * Commands that go on in the background, and what the model is told of them.
 *
 * @module
 */

import type { Job, Jobs, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { namesOf } from "./jobs.ts";
import { captureOutput } from "./output_capture.ts";
import { endNow } from "./process_group.ts";
import {
  DRAIN_MS,
  exitCodeText,
  FRAME_CHARS,
  GRACE_MS,
  leftBehind,
  startShell,
  tidyUp,
  within,
} from "./run_bash.ts";

/** What fails, fails soon: the port is taken, there is no such program. Then it is no job at all. */
const SETTLE_MS = 300;
/** A model that asks over and over is held back so long while there is nothing new. */
const NEWS_MS = 10_000;
/** So much of what is new is told at a time, in bytes, as a job is asked again; and at its start. */
const MAX_NEWS = 20_000;
const MAX_FIRST_NEWS = 2000;
/** How long a job may take to end after SIGTERM. */
const STOP_MS = 1000;

/**
 * Starts `command` as `run_bash` does, and returns while it runs. What it leaves running when its
 * shell ends is ended too.
 *
 * @throws {RangeError} when too many jobs run.
 * @throws {Error} when the shell cannot be started.
 */
export async function runInBackground(
  { command }: Record<string, unknown>,
  context: ToolContext,
  settleMs = SETTLE_MS,
): Promise<ToolOutcome> {
  const { jobs } = context;
  if (!jobs) throw new Error("Cannot run it in the background as nobody keeps jobs here");
  jobs.checkRoom();
  const shell = await startShell(String(command), context);
  const budget = Math.max(Math.min(context.maxOutputChars - FRAME_CHARS, MAX_NEWS), 200);
  const { job, ended, announce, news } = startJob(String(command), shell, jobs, budget);
  jobs.add(job);
  if (await within(settleMs, shell.child.status)) {
    await ended;
    jobs.remove(job);
    const { code } = await shell.child.status;
    return { content: news(), exitCode: code };
  }
  announce();
  const call = `job_output {"job": ${job.number}`;
  const content =
    `job ${job.number} runs in the background until the session ends. ${call}} shows what it prints, ${call}, "stop": true} ends it.\n${
      news("output", Math.min(budget, MAX_FIRST_NEWS))
    }`;
  return { content };
}

/** The tool `job_output`. */
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

function startJob(
  command: string,
  { child, limits, folder }: Awaited<ReturnType<typeof startShell>>,
  jobs: Jobs,
  budget: number,
) {
  const output = captureOutput([child.stdout, child.stderr], budget);
  const halt = Promise.withResolvers<void>();
  const started = performance.now();
  let elapsed: number | undefined;
  let outcome: string | undefined;
  let stoppedAs: string | undefined;
  let isAnnounced = false;
  /** How it ended, in lines for the model. */
  let end: string[] = [];

  async function untilOver(): Promise<void> {
    await Promise.race([child.status, halt.promise]);
    if (stoppedAs === undefined) await within(DRAIN_MS, output.done);
    const isStopped = stoppedAs !== undefined;
    const { left, status } = await tidyUp(
      child,
      [output],
      isStopped ? STOP_MS : GRACE_MS,
      folder,
    );
    end = [`exit code: ${exitCodeText(status)}`];
    if (limits !== undefined && !isStopped && status?.code !== 0) end.push(limits);
    if (left.length > 0 && !isStopped) end.push(leftBehind(left));
    elapsed = performance.now() - started;
    outcome = isStopped ? stoppedAs : status?.signal ?? `exit code ${status?.code ?? "unknown"}`;
    if (isAnnounced && !isStopped) jobs.onEnd?.(job);
  }
  function news(label = "output", maxBytes = budget): string {
    const text = output.take(maxBytes).replace(/\n$/, "");
    return [...end, ...(text === "" ? [`no ${label}`] : [`${label}:`, text])].join("\n");
  }

  const ended = untilOver();
  const job: Job = {
    number: 0,
    command,
    isTold: false,
    get outcome() {
      return outcome;
    },
    get elapsedMs() {
      return elapsed ?? performance.now() - started;
    },
    tail: (maxBytes) => output.tail(maxBytes),
    async report(signal) {
      if (outcome === undefined) {
        await within(NEWS_MS, Promise.race([ended, output.more(), whenAborted(signal)]));
      }
      signal.throwIfAborted();
      if (outcome !== undefined) job.isTold = true;
      const seconds = `${Math.round(job.elapsedMs / 1000)} s`;
      const state = outcome === undefined ? `is running, for ${seconds}` : `ended after ${seconds}`;
      const how = stoppedAs === undefined || outcome !== stoppedAs ? "" : `: ${stoppedAs}`;
      return `job ${job.number} ${state}${how}\n${news("new output")}`;
    },
    async stop(how) {
      stoppedAs ??= how;
      halt.resolve();
      await ended;
    },
    kill() {
      try {
        if (Deno.build.os === "windows") child.kill("SIGKILL");
        else endNow(child.pid, folder);
      } catch {
        // Gone already.
      }
    },
  };
  return { job, ended, news, announce: () => isAnnounced = true };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
