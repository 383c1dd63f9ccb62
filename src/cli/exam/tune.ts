/** Tries other settings for the tasks that a model failed, and saves the better ones. @module */

import type { CopilotAgent } from "../../agent/agent.ts";
import { isLean } from "../../agent/prompt.ts";
import type { CopilotConfig, LocalConfig } from "../../config.ts";
import { answersYes } from "../../extensions/mcp/ask_terminal.ts";
import { targetOf, withModel } from "../../models/target.ts";
import { aboutSeconds, count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { keepModelSettings } from "../defaults.ts";
import type { Run } from "../process.ts";
import { optionsFromArgs } from "../settings.ts";
import { type ExamResult, passedOf, type TaskResult } from "./report.ts";
import { type ExamOptions, runTasks } from "./run_task.ts";
import type { ExamTask } from "./tasks.ts";

type ModelSettings = Record<string, string | number | true>;

/**
 * Tries other settings, if the user asked for it or says yes. `fitted` has what the server says about its model.
 * Returns why that ended early.
 */
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
  const variants = [{}, ...variantsFor(exam.config, fitted, results.some(({ thinks }) => thinks))];
  const rounds = (passed: boolean) => passed ? 1 : variants.length;
  const time = results.reduce((sum, one) => sum + one.seconds * rounds(one.passed), 0);
  const what = `other settings for ${count(failed.length, "failed task")}`;
  if (!exam.tune) {
    if (!canAsk) return void stderr.line(`· add --tune --seed ${seed} to try ${what}`);
    await stdout.drained();
    if (!await answersYes(`Try ${what} (about ${aboutSeconds(time)})?`, stderr, signal)) return;
  }
  const runWith = async (settings: ModelSettings, again: readonly TaskResult[]) => {
    const some = tasks.filter(({ name }) => again.some(({ task }) => task === name));
    const config = withTried(exam.config, settings);
    const { results, ended } = await runTasks(some, { ...exam, config, runsAll: true }, run);
    if (ended) stderr.line(`· the settings were not compared: ${ended}`);
    return { passed: passedOf(results), ended };
  };
  let [best, most, usual]: [ModelSettings, number, number] = [{}, -1, 0];
  for (const settings of variants) {
    stderr.line(`· with ${triedText(settings)}:`);
    const { passed, ended } = await runWith(settings, failed);
    if (ended) return ended;
    if (most < 0) usual = passed;
    if (passed > most) [best, most] = [settings, passed];
    if (usual === failed.length) break;
  }
  if (most === usual) return void stderr.line("· no other setting does better");
  // A setting that helps in one place may harm in another.
  const others = results.filter(({ passed }) => passed);
  const also = others.length > 0 ? "; now the tasks that passed before:" : "";
  stderr.line(`· ${triedText(best)} passes ${most - usual} more${also}`);
  const again = await runWith(best, others);
  if (again.ended) return again.ended;
  const [before, now, all] = [usual + others.length, most + again.passed, results.length];
  stdout.line(`${triedText(best)}: ${now}/${all} instead of ${before}/${all}`);
  if (now > before) await offerSettings(model, best, canAsk, run);
}

/** Saves the settings for the model if the user says yes; without a terminal, shows how. */
async function offerSettings(model: string, settings: ModelSettings, canAsk: boolean, run: Run) {
  const use = `copilot -m ${oneLine(model)}`;
  if (!canAsk) {
    const lines = JSON.stringify({ models: { [model]: settings } });
    return run.stdout.line(`To keep it for ${use}, add to config.json: ${lines}`);
  }
  await run.stdout.drained();
  const question = `Save ${triedText(settings)} for ${oneLine(model)} in config.json?`;
  if (!await answersYes(question, run.stderr, run.signal)) return;
  await keepModelSettings(model, settings);
  run.stdout.line(`Saved for ${use}`);
}

const triedText = (settings: ModelSettings): string =>
  Object.entries(settings).map(([name, value]) => value === true ? name : `${name} ${value}`)
    .join(", ") || "the same settings";

/** Returns the settings to try, each alone: names and values as in config.json. */
function variantsFor(config: CopilotConfig, fitted: CopilotAgent["config"], thinks: boolean) {
  const { kind, textTools } = targetOf(fitted);
  const { think, sampling, temperature } = (config[kind] ?? {}) as Partial<LocalConfig>;
  const variants: (ModelSettings | false)[] = [
    (thinks || think === undefined) && { think: thinks ? "off" : "on" },
    !textTools && kind !== "hosted" && { "text-tools": true },
    { "prompt-tier": isLean(fitted) ? "full" : "lean" },
    temperature !== 0.1 && { temperature: 0.1 },
    sampling !== "server" && { sampling: "server" },
  ];
  return variants.filter((one) => one !== false);
}

/** Returns `config` with further settings of config.json. */
function withTried(config: CopilotConfig, settings: ModelSettings): CopilotConfig {
  const args = Object.entries(settings).map(([name, value]) =>
    [name, value === true || `${value}`] as const
  );
  const { promptTier = config.promptTier, ...options } = optionsFromArgs(Object.fromEntries(args));
  const change = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...withModel(config, Object.fromEntries(change)), ...promptTier && { promptTier } };
}
