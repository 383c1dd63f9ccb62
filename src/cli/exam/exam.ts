/** `copilot exam`: small tasks for a model in the real session, judged by files and exit codes. @module */

import { CopilotAgent } from "../../agent/agent.ts";
import { type CopilotConfig, mayBeOwnServer } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { addressOf, modelNames, serverOf } from "../../models/model_server.ts";
import { askFields, LOAD_TIMEOUT_MS } from "../../models/ollama/connection.ts";
import { isChatName, targetOf } from "../../models/target.ts";
import { keepScore } from "../../records/exams.ts";
import type { Check } from "../../session/data.ts";
import { ModelFit } from "../../session/fit_model.ts";
import { checkServerAndModel } from "../../session/server_checks.ts";
import { count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { settingsOf } from "../../ui/server_settings.ts";
import { modelText } from "../../ui/terminal/session/footer.ts";
import { isLoopback } from "../../wire/connect.ts";
import { asUsage, parseArgs, wholeFlag } from "../args.ts";
import { FLAGS_OF_SERVER, withDefaults } from "../defaults.ts";
import { noServerText } from "../doctor_search.ts";
import type { Run } from "../process.ts";
import { isServerOpen, modelFlags, optionsFromArgs, toConfig } from "../settings.ts";
import { type ExamResult, examText, rankingText, scoreOf } from "./report.ts";
import { examPermissions, runTasks } from "./run_task.ts";
import { builtinTasks, canRun, type ExamTask, OWN, ownTasks } from "./tasks.ts";
import { tuneModel } from "./tune.ts";
import usage from "./usage.txt" with { type: "text" };

type ExamArgs = ReturnType<typeof examArgs>;

export async function runExam(words: readonly string[], run: Run): Promise<number> {
  if (words[0] === "help" || words.includes("--help") || words.includes("-h")) {
    run.stdout.write(usage);
    return EXIT.done;
  }
  const exam = examArgs(words);
  const tasks = tasksOf(exam);
  const left = tasks.filter((task) => !canRun(task)).map(({ name, needs }) => `${name} (${needs})`);
  if (left.length > 0) run.stderr.line(`· left out without their program: ${left.join(", ")}`);
  if (left.length === tasks.length) return EXIT.error;
  const { by, why, advice } = await examPermissions().sandboxStatus(Deno.cwd());
  if (by === undefined) {
    const rule = "The exam runs commands of models only in a sandbox";
    throw new Error([rule, why, advice].filter(Boolean).join(". "));
  }
  const models: ExamResult[] = [];
  for (const config of await configsOf(exam, run)) {
    if (run.signal.aborted) break;
    models.push(await examineModel(config, tasks, exam, run));
  }
  if (exam.args.json) run.stdout.write(`${JSON.stringify({ seed: exam.seed, models })}\n`);
  else if (exam.all && models.length > 0) run.stdout.write(rankingText(models));
  return models.some(({ ended, isHopeless }) => ended && !isHopeless) ? EXIT.error : EXIT.done;
}

/** Runs the tasks with a model, shows and stores its score, and tries other settings. */
async function examineModel(
  given: CopilotConfig,
  all: readonly ExamTask[],
  exam: ExamArgs,
  run: Run,
): Promise<ExamResult> {
  const { args, seed, only, flagNotes } = exam;
  const tasks = all.filter(canRun);
  const isChosen = exam.all || args.model !== undefined;
  const { config, fitted, about, fault, notes } = await modelAt(given, isChosen, run.signal);
  const { name: model, url, contextLength: window, isNative } = targetOf(fitted);
  const server = serverOf(config);
  const options = { ...exam, config, window };
  notes.unshift(`${modelText(model)} at ${server}, ${count(tasks.length, "task")}`);
  if (isNative) notes.push("first, Ollama loads the model");
  if (fault === undefined) run.stderr.line(notes.join("\n· "));
  // Loading is not part of the first task. With other values, a session's request loads the model again.
  const at = { ...addressOf(targetOf(fitted)), signal: run.signal };
  const body = { model, shift: false, options: { num_ctx: window } };
  const load = { body, timeoutMs: LOAD_TIMEOUT_MS };
  if (!fault && isNative) await askFields("/api/generate", at, load).catch(() => {});
  const ran = fault ? { results: [], ended: fault } : await runTasks(tasks, options, run);
  const score = scoreOf(ran.results, all.filter(({ skill }) => skill !== OWN).length, flagNotes);
  const result = { model, server, isLocal: isLoopback(url), about, window, seed, score, ...ran };
  if (ran.results.length === 0) run.stderr.line(`copilot: ${ran.ended}`);
  else if (!args.json) run.stdout.line(examText(result));
  const warn = (error: unknown) => run.stderr.line(`copilot: ${reasonOf(error)}`);
  if (score.ran > 0 && only === undefined) await keepScore(server, model, score).catch(warn);
  const end = (exam.tune || !exam.all) && await tuneModel(result, fitted, tasks, options, run);
  return end ? { ...result, ended: end, isHopeless: false } : result;
}

/** Asks the server about its model, as the start of a session does. */
export async function modelAt(config: CopilotConfig, isChosen: boolean, signal: AbortSignal) {
  const agent = new CopilotAgent(config, ".");
  const fit = new ModelFit({ isChosen, asksRemote: true });
  const checks = await Array.fromAsync(checkServerAndModel({ agent, fit, signal, ui: "flags" }))
    .catch((error): Check[] => [{ name: "", status: "fail", text: oneLine(reasonOf(error)) }]);
  const failed = checks.find(({ status }) => status === "fail");
  const fault = failed && [failed.text, failed.advice].filter(Boolean).join(". ");
  const facts = checks.flatMap(({ facts = [] }) => facts);
  const about = facts.filter((one) => !targetOf(agent.config).name.includes(one)).join(" ");
  const notes = checks.filter(({ status, name }) => status === "note" && name !== "server")
    .map(({ text }) => text);
  const names = isChosen ? [] : await modelNames(config).catch(() => []);
  if (names.length > 1) notes.push(`its server has ${names.length} models: --all examines each`);
  // `config`: the user's settings and the model's name. `fitted`: also what the server reports.
  return { config: fit.unfitted(agent), fitted: agent.config, about, fault, notes };
}

/** Returns the tasks to choose from. @throws {UsageError} for a name that is neither a task nor a skill. */
function tasksOf({ seed, quick, only }: ExamArgs): ExamTask[] {
  const all = [...builtinTasks(seed, quick), ...ownTasks()];
  if (only === undefined) return all;
  const namesOf = ({ skill, name }: ExamTask) => [skill, name];
  const names = [...new Set(all.flatMap(namesOf))].sort();
  const other = only.find((name) => !names.includes(name));
  if (other === undefined) return all.filter((task) => namesOf(task).some((n) => only.includes(n)));
  throw new UsageError(`There is no task "${shortened(other, 60)}": there are ${names.join(", ")}`);
}

const EXAM_FLAG = /^--(?:(quick|all|tune)|(seed|seconds|only)(?:=(.*))?)$/;

function examArgs(words: readonly string[]) {
  const own: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [, switched, name, value] = EXAM_FLAG.exec(words[at]!) ?? [];
    if (switched !== undefined) own[switched] = "";
    else if (name !== undefined) own[name] = value ?? words[++at] ?? "";
    else rest.push(words[at]!);
  }
  const given = parseArgs(rest);
  const ofServer: string[] = [...FLAGS_OF_SERVER, "json"];
  const flags = Object.entries(given).filter(([name]) => !ofServer.includes(name));
  const known = [...modelFlags.names, "--system-prompt", "--append-system-prompt"];
  if (flags.some(([name]) => !known.includes(`--${name}`))) {
    throw new UsageError("exam takes only flags of its own and of models: copilot exam --help");
  }
  const { only, seed, seconds = "300" } = own;
  if (only !== undefined) delete own.quick;
  const [quick, all, tune] = ["quick", "all", "tune"].map((name) => name in own);
  if (tune && given.json) throw new UsageError("--tune and --json exclude each other");
  const changing = Object.entries(own).filter(([name]) => !/^(all|tune|seed)$/.test(name));
  return {
    quick,
    all,
    tune,
    args: withDefaults(given),
    flags: Object.fromEntries(flags),
    only: only?.split(",").map((name) => name.trim()),
    /** The flags that may change the score. */
    flagNotes: [...flags, ...changing].map(([name, value]) =>
      shortened(oneLine(`--${name} ${value}`), 40).replace(/ true$/, "")
    ),
    seed: wholeFlag("seed", seed ?? `${crypto.getRandomValues(new Uint16Array(1))}`, 0),
    seconds: wholeFlag("seconds", seconds, 1, 1e6),
  };
}

/** Returns the settings of each model to examine. @throws {UsageError} if it is not clear which. */
async function configsOf({ args, all, flags }: ExamArgs, run: Run): Promise<CopilotConfig[]> {
  const own = isServerOpen(args) ? undefined : asUsage(() => toConfig(optionsFromArgs(args)), args);
  if (own && !all) return [own];
  // All models of a hosted API would be expensive.
  const isOwn = own !== undefined && mayBeOwnServer(targetOf(own).url);
  const names = isOwn ? await modelNames(own).catch(() => []) : [];
  const configs = names.filter(isChatName).map((name) => modelFlags.at(name, own!));
  for (const server of await modelFlags.find(run.signal, [])) {
    const { host } = new URL(server.url);
    if (own && host === serverOf(own).replace("localhost", "127.0.0.1")) continue;
    for (const model of server.models) {
      const args = withDefaults({ ...flags, ...settingsOf(server, model), model: model.name });
      configs.push(asUsage(() => toConfig(optionsFromArgs(args)), args));
    }
  }
  if (configs.length === 1 || all && configs.length > 0) return configs;
  const more = configs.length > 0 ? ". Or add --all for an exam of each model" : "";
  throw new UsageError(await noServerText() + more);
}
