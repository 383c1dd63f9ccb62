/** Tries other settings for the tasks that a model failed, and saves the better ones. @module */

import type { CopilotConfig, LocalConfig } from "../../config.ts";
import { targetOf, withModel } from "../../models/target.ts";
import { aboutSeconds, count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { keepModelSettings } from "../defaults.ts";
import type { Run } from "../process.ts";
import { optionsFromArgs } from "../settings.ts";
import type { Sitting } from "./report.ts";
import type { ExamOptions, TaskResult } from "./run_task.ts";
import { type FoundModel, runTasks } from "./sitting.ts";
import type { ExamTask } from "./tasks.ts";

type ModelSettings = Record<string, string | number | true>;

/** Tries other settings, if the user asked for it or says yes. */
export async function tuneModel(
  found: FoundModel,
  { results, ended, model }: Sitting,
  tasks: readonly ExamTask[],
  exam: Pick<ExamOptions, "args" | "seed" | "seconds"> & { tunes: boolean },
  run: Run,
): Promise<void> {
  const failed = results.filter(({ passed }) => !passed);
  if (ended !== undefined || failed.length === 0 || exam.args.json) return;
  const canAsk = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  const variants = variantsFor(found, results.some(({ thinks }) => thinks));
  const time = failed.reduce((sum, { seconds }) => sum + seconds, 0) * variants.length;
  const what = `other settings for ${count(failed.length, "failed task")}`;
  if (!exam.tunes) {
    if (!canAsk) return run.stderr.line(`· copilot exam --tune tries ${what}`);
    await run.stdout.drained();
    if (!confirm(`Try ${what} (at most about ${aboutSeconds(time)})?`)) return;
  }
  const passedWith = async (settings: ModelSettings, again: readonly TaskResult[]) => {
    const config = withTried(found.config, settings);
    const some = tasks.filter(({ name }) => again.some(({ task }) => task === name));
    const { results } = await runTasks({ ...found, config }, some, exam, run);
    return results.filter(({ passed }) => passed).length;
  };
  let best: ModelSettings | undefined;
  let gained = 0;
  for (const settings of variants) {
    run.stderr.line(`· with ${triedText(settings)}:`);
    const passed = await passedWith(settings, failed);
    if (run.signal.aborted) return;
    if (passed > gained) [best, gained] = [settings, passed];
  }
  if (best === undefined) return run.stderr.line("· no other setting does better");
  // A setting that helps in one place may harm in another.
  const others = results.filter(({ passed }) => passed);
  run.stderr.line(`· ${triedText(best)} passes ${gained} more; the others again:`);
  const now = gained + await passedWith(best, others);
  if (run.signal.aborted) return;
  const all = results.length;
  run.stdout.line(`${triedText(best)}: ${now}/${all} instead of ${others.length}/${all}`);
  if (now <= others.length) return;
  await offerSettings(model, best, canAsk, run);
}

/** Saves the settings for the model if the user says yes; without a terminal, shows how. */
async function offerSettings(model: string, settings: ModelSettings, canAsk: boolean, run: Run) {
  const { stdout, stderr } = run;
  if (!canAsk) {
    const lines = JSON.stringify({ models: { [model]: settings } });
    return stdout.line(`To keep it, add to config.json: ${lines}`);
  }
  await stdout.drained();
  if (!confirm(`Save this for ${oneLine(model)} in config.json?`)) return;
  await keepModelSettings(model, settings).then(
    () => stdout.line("Saved."),
    (error) => stderr.line(`copilot: ${reasonOf(error)}`),
  );
}

const triedText = (settings: ModelSettings): string =>
  Object.entries(settings).map(([name, value]) => value === true ? name : `${name} ${value}`)
    .join(", ");

/** Returns the settings to try, each alone: names and values as in config.json. */
function variantsFor({ config, isLean, isText }: FoundModel, thinks: boolean): ModelSettings[] {
  const { kind } = targetOf(config);
  const { think, sampling, temperature } = (config[kind] ?? {}) as Partial<LocalConfig>;
  return [
    ...thinks || think === undefined ? [{ think: thinks ? "off" : "on" }] : [],
    ...isText || kind === "hosted" ? [] : [{ "text-tools": true as const }],
    { "prompt-tier": isLean ? "full" : "lean" },
    ...temperature === 0.1 ? [] : [{ temperature: 0.1 }],
    ...sampling === "server" ? [] : [{ sampling: "server" }],
  ];
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
