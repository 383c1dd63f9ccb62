/** Runs the tasks of the exam with one model. @module */

import { attempt } from "../../attempt.ts";
import { CopilotAgent } from "../../agent/agent.ts";
import { isLean } from "../../agent/prompt.ts";
import type { CopilotConfig } from "../../config.ts";
import { addressOf, serverOf } from "../../models/model_server.ts";
import { connectionFailure } from "../../models/ollama/connection.ts";
import { listModels } from "../../models/ollama/model_list.ts";
import { targetOf } from "../../models/target.ts";
import { ModelFit } from "../../session/fit_model.ts";
import { checkServerAndModel } from "../../session/server_look.ts";
import { oneLine } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { wait } from "../../wire/wait.ts";
import type { Run } from "../process.ts";
import { ExamProgress, type Sitting } from "./report.ts";
import { type ExamOptions, runTask, type TaskResult } from "./run_task.ts";
import { type ExamTask, OWN } from "./tasks.ts";

/** The window of a model that does not report one, in tokens. */
const USUAL_WINDOW = 32_768;
/** The wait for a server that went away, and between two looks, in milliseconds. */
const MAX_AWAY_MS = 60_000;
const AWAY_LOOK_MS = 500;
/** If the server answers none of so many first tasks, or the model passes none, the others do not run. */
const MAX_UNANSWERED = 3;
export const MAX_HOPELESS = 5;

/** A model that its server has. */
export interface FoundModel {
  /** The user's settings, with the model's name. */
  config: CopilotConfig;
  /** The size and the quantization, if the server reports them. */
  about: string;
  window: number | undefined;
  /** True for the lean prompt, and for calls as text. */
  isLean: boolean;
  isText: boolean;
  /** Why it cannot be examined. */
  fault?: string;
}

/** Asks the server about its model, as the start of a session does. */
export async function modelAt(
  config: CopilotConfig,
  isChosen: boolean,
  signal: AbortSignal,
): Promise<FoundModel> {
  const agent = new CopilotAgent(config, ".");
  const fit = new ModelFit({ isChosen, asksRemote: true });
  let fault: string | undefined;
  try {
    for await (const check of checkServerAndModel({ agent, fit, signal })) {
      if (check.status === "fail") fault ??= check.text;
    }
  } catch (error) {
    fault = signal.aborted ? "stopped" : oneLine(reasonOf(error));
  }
  const target = targetOf(agent.config);
  const at = { ...addressOf(target), signal };
  const listed = fault || target.kind === "hosted"
    ? []
    : await listModels(target.isNative, at, true).catch(() => []);
  const { size, quantization } = listed.find(({ name }) => name === target.name) ?? {};
  return {
    config: fit.unfitted(agent),
    about: [size, quantization].filter((one) => one && !target.name.includes(one)).join(" "),
    window: target.contextLength,
    ...{ isLean: isLean(agent.config), isText: target.textTools === true },
    ...fault !== undefined && { fault },
  };
}

/** Runs all tasks with a model, until the end, a signal, or the server's end. */
export async function examineModel(
  found: FoundModel,
  tasks: readonly ExamTask[],
  exam: Pick<ExamOptions, "args" | "seed" | "seconds">,
  run: Run,
): Promise<Sitting> {
  const { config, about, window, fault } = found;
  const { name: model, url } = targetOf(config);
  const named = { model, server: serverOf(config), url, about, window, seed: exam.seed };
  const of = tasks.filter(({ skill }) => skill !== OWN).length;
  if (fault !== undefined) return { ...named, of, results: [], ended: fault };
  run.stderr.line(oneLine(`${model} at ${named.server}, ${tasks.length} tasks`));
  return { ...named, of, ...await runTasks(found, tasks, exam, run) };
}

/** Returns the results of all tasks, and why they are not complete. */
export async function runTasks(
  { config, window = USUAL_WINDOW }: Pick<FoundModel, "config" | "window">,
  tasks: readonly ExamTask[],
  { args, seed, seconds }: Pick<ExamOptions, "args" | "seed" | "seconds">,
  { stderr, signal }: Run,
): Promise<Pick<Sitting, "results" | "ended" | "isHopeless">> {
  const progress = new ExamProgress(stderr, !args.json && Deno.stderr.isTerminal());
  const options = { config, args, seed, seconds, window, signal };
  const home = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "copilot-exam-" }));
  const results: TaskResult[] = [];
  const of = tasks.length;
  let mayWait = true;
  try {
    for (const [at, task] of tasks.entries()) {
      progress.begin(at + 1, of, `${task.skill} · ${task.name}`);
      let result = await runTask(task, `${home}/${at}`, options);
      if (result.fault === "gone" && mayWait) {
        mayWait = false;
        if (await isBack(options)) result = await runTask(task, `${home}/${at}-again`, options);
      }
      progress.end(at + 1, of, result);
      if (result.fault === "gone") {
        return { results, ended: `the server failed after ${at} of ${of} tasks: ${result.why}` };
      }
      results.push(result);
      if (results.length === MAX_UNANSWERED && results.every(({ fault }) => fault)) {
        return {
          results,
          ended: `none of the first ${MAX_UNANSWERED} tasks got an answer: ${result.why}`,
        };
      }
      if (results.length === MAX_HOPELESS && of > MAX_HOPELESS && !results.some(hasPassed)) {
        const text = `none of the first ${MAX_HOPELESS} tasks passed: the others did not run`;
        return { results, ended: text, isHopeless: true };
      }
    }
    return { results };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { results, ended: `stopped after ${results.length} of ${of} tasks` };
  } finally {
    progress.clear();
    attempt(() => Deno.removeSync(home, { recursive: true }));
  }
}

const hasPassed = ({ passed }: TaskResult) => passed;

/** Waits for a server that went away. True once it answers. */
async function isBack({ config, seconds, signal }: ExamOptions): Promise<boolean> {
  const target = targetOf(config);
  if (target.kind === "hosted") return false;
  const end = performance.now() + Math.min(MAX_AWAY_MS, seconds * 1000);
  while (performance.now() < end) {
    if (!await connectionFailure({ ...addressOf(target), signal })) return true;
    await wait(AWAY_LOOK_MS, signal);
  }
  return false;
}
