/** Tries other settings for the tasks that a model failed, and saves the better ones. @module */

import type { CopilotAgent } from "../../agent/agent.ts";
import { isLean } from "../../agent/prompt.ts";
import type { CopilotConfig, LocalConfig } from "../../config.ts";
import { answersYes } from "../../extensions/mcp/ask_terminal.ts";
import { targetOf } from "../../models/target.ts";
import { aboutSeconds, count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { parseArgs } from "../args.ts";
import { keepModelSettings } from "../defaults.ts";
import type { Run } from "../process.ts";
import { modelFlags } from "../settings.ts";
import { type ExamResult, passedOf, type TaskResult } from "./report.ts";
import { type ExamOptions, runTasks } from "./run_task.ts";
import type { ExamTask } from "./tasks.ts";

/** Tries other settings if the user wants it. `fitted` has what the server says. Returns why that ended early. */
export async function tuneModel(
  { results, ended, isHopeless, model, seed }: ExamResult,
  fitted: CopilotAgent["config"],
  tasks: readonly ExamTask[],
  exam: ExamOptions & { tune: boolean | undefined },
  run: Run,
): Promise<string | undefined> {
  const { stdout, stderr, signal } = run;
  const failed = results.filter(({ passed }) => !passed);
  if (ended && !isHopeless || failed.length === 0 || exam.args.json) return;
  const canAsk = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  // First the same settings: what failed may pass by chance.
  const variants = ["", ...variantsFor(exam.config, fitted, results.some(({ thinks }) => thinks))];
  const rounds = (passed: boolean) => passed ? 1 : variants.length;
  const time = results.reduce((sum, one) => sum + one.seconds * rounds(one.passed), 0);
  const what = `other settings for ${count(failed.length, "failed task")}`;
  if (!exam.tune) {
    if (!canAsk) return void stderr.line(`· add --tune --seed ${seed} to try ${what}`);
    await stdout.drained();
    if (!await answersYes(`Try ${what} (about ${aboutSeconds(time)})?`, stderr, signal)) return;
  }
  const runWith = async (flags: string, again: readonly TaskResult[]) => {
    const some = tasks.filter(({ name }) => again.some(({ task }) => task === name));
    const { config } = modelFlags.parse(flags.split(" ").filter(Boolean), exam.config);
    const { results, ended } = await runTasks(some, { ...exam, config, runsAll: true }, run);
    if (ended) stderr.line(`· the settings were not compared: ${ended}`);
    return { passed: passedOf(results), ended };
  };
  let [best, most, usual] = ["", -1, 0];
  for (const flags of variants) {
    stderr.line(`· with ${flags || "the same settings"}:`);
    const { passed, ended } = await runWith(flags, failed);
    if (ended) return ended;
    if (most < 0) usual = passed;
    if (passed > most) [best, most] = [flags, passed];
    if (usual === failed.length) break;
  }
  if (most === usual) return void stderr.line("· no other setting does better");
  // A setting that helps in one place may harm in another.
  const others = results.filter(({ passed }) => passed);
  stderr.line(`· ${best} passes ${most - usual} more; tasks that passed before: ${others.length}`);
  const again = await runWith(best, others);
  if (again.ended) return again.ended;
  const [before, now, all] = [usual + others.length, most + again.passed, results.length];
  stdout.line(`${best}: ${now}/${all} instead of ${before}/${all}`);
  if (now > before) await offerSettings(model, best, canAsk, run);
}

/** Saves flags for the model if the user says yes; without a terminal, shows how. */
async function offerSettings(model: string, flags: string, canAsk: boolean, run: Run) {
  const use = `copilot -m ${oneLine(model)}`;
  const settings = parseArgs(flags.split(" "));
  if (!canAsk) {
    const lines = JSON.stringify({ models: { [model]: settings } });
    return run.stdout.line(`To keep it for ${use}, add to config.json: ${lines}`);
  }
  await run.stdout.drained();
  const question = `Save ${flags} for ${oneLine(model)} in config.json?`;
  if (!await answersYes(question, run.stderr, run.signal)) return;
  await keepModelSettings(model, settings);
  run.stdout.line(`Saved for ${use}`);
}

/** Returns the flags to try, each alone. */
function variantsFor(config: CopilotConfig, fitted: CopilotAgent["config"], thinks: boolean) {
  const { kind, textTools } = targetOf(fitted);
  const { think, sampling, temperature } = (config[kind] ?? {}) as Partial<LocalConfig>;
  return [
    (thinks || think === undefined) && `--think ${thinks ? "off" : "on"}`,
    !textTools && kind !== "hosted" && "--text-tools",
    `--prompt-tier ${isLean(fitted) ? "full" : "lean"}`,
    temperature !== 0.1 && "--temperature 0.1",
    sampling !== "server" && "--sampling server",
  ].filter((flags) => flags !== false);
}
