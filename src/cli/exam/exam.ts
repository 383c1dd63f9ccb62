/** `copilot exam`: small tasks for a model in the real session, judged by files and exit codes. @module */

import { compatConfig, type CopilotConfig, mayBeOwnServer } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { modelNames, serverOf } from "../../models/model_server.ts";
import { isChatName, targetOf } from "../../models/target.ts";
import { keepScore } from "../../records/exams.ts";
import { didYouMean } from "../../text/nearest.ts";
import { reasonOf } from "../../text/reason.ts";
import { asUsage, parseArgs, wrongValue } from "../args.ts";
import { withDefaults } from "../defaults.ts";
import { searchServers } from "../doctor_search.ts";
import type { Run } from "../process.ts";
import { isServerOpen, modelFlags, optionsFromArgs, toConfig } from "../settings.ts";
import { setupHome } from "../setup.ts";
import { rankingText, scoreOf, type Sitting, sittingText } from "./report.ts";
import { type ExamOptions, examPermissions } from "./run_task.ts";
import { examineModel, modelAt } from "./sitting.ts";
import { builtinTasks, type ExamTask, ownTasks } from "./tasks.ts";
import { tuneModel } from "./tune.ts";
import usage from "./usage.txt" with { type: "text" };

const EXAM_FIND_MS = 3000;

interface ExamArgs extends Pick<ExamOptions, "args" | "seed" | "seconds"> {
  isQuick: boolean;
  isAll: boolean;
  tunes: boolean;
  only: string[] | undefined;
}

export async function runExam(words: readonly string[], run: Run): Promise<number> {
  if (words.some((word) => /^(--help|-h|help)$/.test(word))) {
    run.stdout.write(usage);
    return EXIT.done;
  }
  const exam = examArgs(words);
  const tasks = tasksOf(exam);
  const { by, why, advice } = await examPermissions().sandboxStatus(Deno.cwd());
  if (by === undefined) {
    const more = [why, advice].filter(Boolean).join(". ");
    run.stderr.line(`copilot: The exam runs commands of models only in a sandbox. ${more}`);
    return EXIT.error;
  }
  const configs = await configsOf(exam, run);
  if (typeof configs === "number") return configs;
  const sittings: Sitting[] = [];
  for (const config of configs) {
    if (run.signal.aborted) break;
    const isChosen = exam.isAll || exam.args.model !== undefined;
    const found = await modelAt(config, isChosen, run.signal);
    const sitting = await examineModel(found, tasks, exam, run);
    sittings.push(sitting);
    if (!exam.args.json) run.stdout.write(sittingText(sitting));
    const score = scoreOf(sitting);
    if (score.ran > 0 && exam.only === undefined) {
      await keepScore(sitting.server, sitting.model, score)
        .catch((error) => run.stderr.line(`copilot: ${reasonOf(error)}`));
    }
    if (exam.tunes || !exam.isAll) await tuneModel(found, sitting, tasks, exam, run);
  }
  if (exam.args.json) {
    const models = sittings.map((one) => ({ ...one, score: scoreOf(one) }));
    run.stdout.write(`${JSON.stringify({ seed: exam.seed, models })}\n`);
  } else if (exam.isAll && sittings.length > 0) run.stdout.write(rankingText(sittings));
  return sittings.some(({ ended, isHopeless }) => ended && !isHopeless) ? EXIT.error : EXIT.done;
}

/** Returns the tasks to run. @throws {UsageError} for a name that is neither a task nor a skill. */
function tasksOf({ seed, isQuick, only }: ExamArgs): ExamTask[] {
  const all = [...builtinTasks(seed, isQuick && !only), ...ownTasks()];
  if (only === undefined) return all;
  const isNamed = (name: string) => (task: ExamTask) => task.name === name || task.skill === name;
  const other = only.find((name) => !all.some(isNamed(name)));
  if (other === undefined) return all.filter((task) => only.some((name) => isNamed(name)(task)));
  const names = [...new Set(all.flatMap(({ name, skill }) => [skill, name]))];
  const hint = didYouMean(other, names, `there are ${names.join(", ")}`);
  throw new UsageError(`There is no task ${JSON.stringify(other.slice(0, 60))}: ${hint}`);
}

const VALUE_OR_SWITCH = /^--(quick|all|tune|seed|seconds|only)(?:=(.*))?$/;

function examArgs(words: readonly string[]): ExamArgs {
  const own: Record<string, string | true> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [, name = "", inWord] = VALUE_OR_SWITCH.exec(words[at]!) ?? [];
    if (name === "") rest.push(words[at]!);
    else own[name] = /^[so]/.test(name) ? inWord ?? words[++at] ?? "" : true;
  }
  const number = (name: string, usual: number, min: number) => {
    const value = own[name] === undefined ? usual : own[name] === "" ? NaN : Number(own[name]);
    if (Number.isInteger(value) && value >= min && value < 2 ** 31) return value;
    throw wrongValue(name, `a whole number from ${min}`, `${own[name]}`);
  };
  const given = parseArgs(rest);
  const { message, print, output, demo, command } = given;
  if (command ?? message ?? print ?? output ?? demo) {
    throw new UsageError("exam takes only flags of its own and of models: copilot exam --help");
  }
  return {
    args: { ...withDefaults(given), given },
    isQuick: own.quick === true,
    isAll: own.all === true,
    tunes: own.tune === true,
    only: own.only === undefined ? undefined : `${own.only}`.split(","),
    seed: number("seed", crypto.getRandomValues(new Uint16Array(1))[0]!, 0),
    seconds: number("seconds", 300, 1),
  };
}

/** Returns the settings of each model to examine, or the exit code if no model was found. */
async function configsOf({ args, isAll }: ExamArgs, run: Run): Promise<CopilotConfig[] | number> {
  const isOpen = isServerOpen(args);
  if (!isAll && isOpen) {
    const output = { json: args.json === true, columns: 80, signal: run.signal };
    const write = (text: string) => run.stdout.write(text);
    const found = await searchServers(setupHome(), { ...output, write });
    if (typeof found === "number") return found;
    args = { ...args, ...found };
  }
  const own = isOpen && isAll ? undefined : asUsage(() => toConfig(optionsFromArgs(args)), args);
  if (!isAll) return [own!];
  const specs = new Map<string, string>();
  for (const { url, isNative, models } of await setupHome().find(EXAM_FIND_MS, run.signal)) {
    const server = isNative ? url : `${url}/v1`;
    for (const { name } of models) specs.set(`${new URL(url).host} ${name}`, `${server}#${name}`);
  }
  // All models of a hosted API would be expensive.
  if (own && mayBeOwnServer(targetOf(own).url)) {
    for (const name of await modelNames(own).catch(() => [])) {
      specs.set(`${serverOf(own)} ${name}`, name);
    }
  }
  const base = own ?? { compat: compatConfig({ baseUrl: "http://127.0.0.1/v1" }) };
  const chosen = [...specs.values()].filter((spec) => isChatName(spec.split("#").at(-1)!));
  if (chosen.length > 0) return chosen.map((spec) => asUsage(() => modelFlags.at(spec, base)));
  run.stderr.line("copilot: No server with a model was found: copilot doctor looks for one");
  return EXIT.error;
}
