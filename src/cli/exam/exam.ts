/** `copilot exam`: small tasks for a model in the real session, judged by files and exit codes. @module */

import { CopilotAgent } from "../../agent/agent.ts";
import { compatConfig, type CopilotConfig, mayBeOwnServer } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { addressOf, modelNames, serverOf } from "../../models/model_server.ts";
import { isSameModel } from "../../models/ollama/connection.ts";
import { listModels } from "../../models/ollama/model_list.ts";
import { isChatName, targetOf } from "../../models/target.ts";
import { keepScore } from "../../records/exams.ts";
import type { Check } from "../../session/data.ts";
import { ModelFit } from "../../session/fit_model.ts";
import { checkServerAndModel } from "../../session/server_look.ts";
import { count } from "../../text/count.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { modelText } from "../../ui/terminal/session/footer.ts";
import { isLoopback } from "../../wire/connect.ts";
import { asUsage, parseArgs, wholeFlag } from "../args.ts";
import { FLAGS_OF_SERVER, withDefaults } from "../defaults.ts";
import { searchServers } from "../doctor_search.ts";
import type { Run } from "../process.ts";
import { isServerOpen, modelFlags, optionsFromArgs, toConfig } from "../settings.ts";
import { setupHome } from "../setup.ts";
import { type ExamResult, examText, rankingText, scoreOf } from "./report.ts";
import { type ExamOptions, examPermissions, runTasks } from "./run_task.ts";
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
  const left = tasks.filter((task) => !canRun(task)).map(({ name, needs }) => `${name}: ${needs}`);
  if (left.length > 0) run.stderr.line(`· tasks without a program they need: ${left.join(", ")}`);
  if (left.length === tasks.length) return EXIT.error;
  const permissions = examPermissions();
  const { by, why, advice } = await permissions.sandboxStatus(Deno.cwd());
  if (by === undefined) {
    const more = [why, advice].filter(Boolean).join(". ");
    run.stderr.line(`copilot: The exam runs commands of models only in a sandbox. ${more}`);
    return EXIT.error;
  }
  const configs = await configsOf(exam, run);
  if (typeof configs === "number") return configs;
  const models: ExamResult[] = [];
  for (const config of configs) {
    if (run.signal.aborted) break;
    models.push(await examineModel(config, tasks, { ...exam, looks: permissions.looks }, run));
  }
  if (exam.args.json) run.stdout.write(`${JSON.stringify({ seed: exam.seed, models })}\n`);
  else if (exam.isAll && models.length > 0) run.stdout.write(rankingText(models));
  return models.some(({ ended, isHopeless }) => ended && !isHopeless) ? EXIT.error : EXIT.done;
}

/** Runs the tasks with a model, shows and stores its score, and tries other settings. */
async function examineModel(
  given: CopilotConfig,
  all: readonly ExamTask[],
  exam: ExamArgs & Pick<ExamOptions, "looks">,
  run: Run,
): Promise<ExamResult> {
  const { args, seed, isAll, only, how, tunesUnasked } = exam;
  const tasks = all.filter(canRun);
  const isChosen = isAll || args.model !== undefined;
  const { config, fitted, about, fault, notes } = await modelAt(given, isChosen, run.signal);
  const { name: model, url, contextLength: window } = targetOf(fitted);
  const server = serverOf(config);
  const options = { ...exam, config, window };
  notes.unshift(`${modelText(model)} at ${server}, ${count(tasks.length, "task")}`);
  if (fault === undefined) run.stderr.line(notes.join("\n· "));
  const none = { results: [], ended: fault! };
  const ran = fault === undefined ? await runTasks(tasks, options, run) : none;
  const score = scoreOf(ran.results, all.filter(({ skill }) => skill !== OWN).length, how);
  const result = { model, server, isLocal: isLoopback(url), about, window, seed, score, ...ran };
  if (ran.results.length === 0) run.stderr.line(`copilot: ${ran.ended}`);
  else if (!args.json) run.stdout.line(examText(result));
  if (score.ran > 0 && only === undefined) {
    await keepScore(server, model, score)
      .catch((error) => run.stderr.line(`copilot: ${reasonOf(error)}`));
  }
  const end = (tunesUnasked || !isAll) && await tuneModel(result, fitted, tasks, options, run);
  return end ? { ...result, ended: end, isHopeless: false } : result;
}

/** Asks the server about its model, as the start of a session does. */
export async function modelAt(config: CopilotConfig, isChosen: boolean, signal: AbortSignal) {
  const agent = new CopilotAgent(config, ".");
  const fit = new ModelFit({ isChosen, asksRemote: true });
  const checks = await Array.fromAsync(checkServerAndModel({ agent, fit, signal }))
    .catch((error): Check[] => [{ name: "", status: "fail", text: oneLine(reasonOf(error)) }]);
  const failed = checks.find(({ status }) => status === "fail");
  const advice = failed?.advice ?? failed?.hint?.("flags");
  const fault = failed && [failed.text, advice].filter(Boolean).join(". ");
  const target = targetOf(agent.config);
  const { kind, isNative, name } = target;
  const listed = fault || kind === "hosted"
    ? []
    : await listModels(isNative, { ...addressOf(target), signal }, true).catch(() => []);
  const { size, quantization } = listed.find((one) => isSameModel(one.name, name)) ?? {};
  const about = [size, quantization].filter((one) => one && !name.includes(one)).join(" ");
  const notes = checks.filter(({ status, name }) => status === "note" && name !== "server")
    .map(({ text }) => text);
  // `config`: the user's settings and the model's name. `fitted`: also what the server reports.
  return { config: fit.unfitted(agent), fitted: agent.config, about, fault, notes };
}

/** Returns the tasks to choose from. @throws {UsageError} for a name that is neither a task nor a skill. */
function tasksOf({ seed, isQuick, only }: ExamArgs): ExamTask[] {
  const all = [...builtinTasks(seed, isQuick && !only), ...ownTasks()];
  if (only === undefined) return all;
  const namesOf = ({ skill, name }: ExamTask) => [skill, name];
  const names = [...new Set(all.flatMap(namesOf))].sort();
  const other = only.find((name) => !names.includes(name));
  if (other === undefined) return all.filter((task) => namesOf(task).some((n) => only.includes(n)));
  const hint = didYouMean(other, names, `there are ${names.join(", ")}`);
  throw new UsageError(`There is no task ${JSON.stringify(other.slice(0, 60))}: ${hint}`);
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
  const how = Object.keys(given).filter((name) => ![...FLAGS_OF_SERVER, "json"].includes(name));
  const known = [...modelFlags.names, "--system-prompt", "--append-system-prompt"];
  if (how.some((name) => !known.includes(`--${name}`))) {
    throw new UsageError("exam takes only flags of its own and of models: copilot exam --help");
  }
  if (own.tune !== undefined && given.json) {
    throw new UsageError("--tune and --json exclude each other");
  }
  how.push(...[own.only === undefined ? "quick" : "only", "seconds"].filter((one) => one in own));
  const values: Record<string, unknown> = { ...given, ...own, only: "" };
  return {
    args: { ...withDefaults(given), given },
    isQuick: own.quick !== undefined,
    isAll: own.all !== undefined,
    tunesUnasked: own.tune !== undefined,
    only: own.only?.split(",").map((name) => name.trim()),
    /** The flags that may change the score. */
    how: how.map((name) =>
      shortened(oneLine(`--${name} ${values[name]}`), 40).replace(/ true$/, "")
    ),
    seed: wholeFlag("seed", own.seed ?? `${crypto.getRandomValues(new Uint16Array(1))}`, 0),
    seconds: wholeFlag("seconds", own.seconds ?? "300", 1, 1e6),
  };
}

/** Returns the settings of each model to examine, or the exit code if no model was found. */
async function configsOf({ args, isAll }: ExamArgs, run: Run): Promise<CopilotConfig[] | number> {
  const isOpen = isServerOpen(args);
  if (!isAll && isOpen) {
    const write = (text: string) => run.stdout.write(text);
    const output = { json: args.json === true, columns: 80, signal: run.signal, write };
    const found = await searchServers(setupHome(), output);
    if (typeof found === "number") return found;
    args = { ...args, ...found };
  }
  const own = isOpen && isAll ? undefined : asUsage(() => toConfig(optionsFromArgs(args)), args);
  if (!isAll) return [own!];
  // All models of a hosted API would be expensive.
  const isOwn = own !== undefined && mayBeOwnServer(targetOf(own).url);
  const specs = isOwn ? await modelNames(own).catch(() => []) : [];
  for (const { url, isNative, models } of await modelFlags.find(run.signal)) {
    if (own && new URL(url).host === serverOf(own).replace("localhost", "127.0.0.1")) continue;
    specs.push(...models.map(({ name }) => `${isNative ? url : `${url}/v1`}#${name}`));
  }
  const base = own ?? { compat: compatConfig({ baseUrl: "http://127.0.0.1/v1" }) };
  const chosen = specs.filter((spec) => isChatName(spec.split("#").at(-1)!));
  if (chosen.length > 0) return chosen.map((spec) => asUsage(() => modelFlags.at(spec, base)));
  run.stderr.line("copilot: No server with a model was found: copilot doctor looks for one");
  return EXIT.error;
}
