/**
 * `scripts/bench exam --help`: the tasks of `copilot exam` through other agents, against the same server and with the same time
 * limit. Agents come from PATH or, by npx, from npm. They run with the rights of the user, in temporary folders: tasks about the
 * limits of the sandbox are left out for all.
 */
import { parseArgs } from "@std/cli/parse-args";
import { modelAt } from "../src/cli/exam/exam.ts";
import { passedOf, type TaskResult } from "../src/cli/exam/report.ts";
import { earlierMessages, earlyEnd, runTasks, whyCheckFails } from "../src/cli/exam/run_task.ts";
import { builtinTasks, canRun, type ExamTask, OWN, ownTasks } from "../src/cli/exam/tasks.ts";
import { compatConfig, type CopilotConfig } from "../src/config.ts";
import { targetOf } from "../src/models/target.ts";
import { Output } from "../src/ui/terminal/stdio.ts";
import { reasonOf } from "../src/text/reason.ts";
import { modelText } from "../src/ui/terminal/session/footer.ts";

interface Model {
  url: string;
  model: string;
  window: number;
  seed: number;
  /** The time limit of a task. */
  seconds: number;
}

/** Another agent: how it starts with a model in `home`, a folder of its own. The prompt comes on stdin. */
interface Rival {
  name: string;
  program: string;
  /** The package of npm; missing for an agent that npm does not have. */
  npm?: string;
  start(home: string, model: Model): { args: string[]; env: Record<string, string> };
}

const write = (path: string, value: unknown) =>
  Deno.writeTextFileSync(path, typeof value === "string" ? value : JSON.stringify(value));

const RIVALS: readonly Rival[] = [
  {
    name: "pi",
    program: "pi",
    npm: "@earendil-works/pi-coding-agent",
    start(home, { url, model, window }) {
      const about = { id: model, contextWindow: window, maxTokens: Math.floor(window / 4) };
      const provider = { baseUrl: url, api: "openai-completions", apiKey: "none", models: [about] };
      write(`${home}/models.json`, { providers: { exam: provider } });
      return {
        args: ["--print", "--no-session", "--provider", "exam", "--model", model],
        env: { PI_CODING_AGENT_DIR: home, PI_OFFLINE: "1" },
      };
    },
  },
  {
    name: "opencode",
    program: "opencode",
    npm: "opencode-ai",
    start(home, { url, model, window }) {
      const limit = { context: window, output: Math.floor(window / 4) };
      const exam = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: url, apiKey: "none" },
        models: { [model]: { name: model, limit, tool_call: true } },
      };
      const config = { provider: { exam }, permission: "allow", autoupdate: false };
      write(`${home}/opencode.json`, config);
      return {
        args: ["run", "--auto", "--model", `exam/${model}`],
        env: { OPENCODE_CONFIG: `${home}/opencode.json` },
      };
    },
  },
  {
    name: "codex",
    program: "codex",
    npm: "@openai/codex",
    start(home, { url, model, window }) {
      const provider =
        `model_providers.exam={name="exam", base_url="${url}", wire_api="responses"}`;
      const set = ['model_provider="exam"', provider, `model_context_window=${window}`];
      return {
        args: [
          ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
          ...set.flatMap((one) => ["-c", one]),
          ...["--model", model, "-"],
        ],
        env: { CODEX_HOME: home },
      };
    },
  },
  {
    name: "goose",
    program: "goose",
    start: (home, { url, model, window }) => ({
      args: ["run", "--no-session", "--instructions", "-"],
      env: {
        ...{ GOOSE_PROVIDER: "openai", GOOSE_MODEL: model, GOOSE_MODE: "auto" },
        ...{ OPENAI_HOST: new URL(url).origin, OPENAI_API_KEY: "none", GOOSE_DISABLE_KEYRING: "1" },
        ...{ XDG_CONFIG_HOME: home, GOOSE_CONTEXT_LIMIT: `${window}` },
      },
    }),
  },
];

/** The variables that an agent gets: no keys, no settings. */
const KEPT = /^(PATH|LANG|LC_.*|TERM|TMPDIR|npm_config_.*|(https?|no)_proxy)$/i;
const userHome = Deno.env.get("HOME") ?? "/";
const kept = Object.fromEntries([
  ["npm_config_cache", `${userHome}/.npm`],
  ...Object.entries(Deno.env.toObject()).filter(([name]) => KEPT.test(name)),
]);

/** Runs a program to its end or its limit, and ends all its processes. Returns its output. */
async function runToEnd(
  [program, ...args]: readonly string[],
  options: { cwd: string; env: Record<string, string>; stdin: string; seconds: number },
  signal?: AbortSignal,
): Promise<{ isLate: boolean; code: number; text: string }> {
  const { cwd, env, stdin, seconds } = options;
  const child = new Deno.Command(program!, {
    ...{ args, cwd, env: { ...kept, ...env }, clearEnv: true, detached: true },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const writer = child.stdin.getWriter();
  writer.write(new TextEncoder().encode(stdin)).then(() => writer.close()).catch(() => {});
  let isLate = false;
  const end = () => {
    try {
      Deno.kill(-child.pid, "SIGKILL");
    } catch { /* it has ended */ }
  };
  signal?.addEventListener("abort", end);
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, seconds * 1000);
  const { code, stdout, stderr } = await child.output();
  clearTimeout(timer);
  signal?.removeEventListener("abort", end);
  end();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  return { isLate, code, text };
}

/** Returns the words that start an agent, and its version; undefined if it is not installed. */
async function found({ program, npm }: Rival): Promise<[string[], string] | undefined> {
  const ways = [[program], ...npm === undefined ? [] : [["npx", "--yes", npm]]];
  for (const way of ways) {
    const options = { cwd: "/tmp", env: { HOME: userHome }, stdin: "", seconds: 600 };
    const ran = await runToEnd([...way, "--version"], options).catch(() => undefined);
    const [version] = /\d+\.\d+\.\d+\S*/.exec(ran?.text ?? "") ?? [];
    if (ran?.code === 0 && version) return [way, version];
  }
}

async function runRival(
  rival: Rival,
  way: readonly string[],
  tasks: readonly ExamTask[],
  at: Model,
  signal: AbortSignal,
): Promise<TaskResult[]> {
  const results: TaskResult[] = [];
  for (const task of tasks) {
    if (signal.aborted) break;
    const base = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "bench-exam-" }));
    const [home, folder] = [`${base}/home`, `${base}/work`];
    [home, folder].forEach((one) => Deno.mkdirSync(one));
    await task.copyTo(folder);
    const { args, env } = rival.start(home, at);
    const stdin = [...earlierMessages(task, at.seed, at.window), task.prompt].join("\n");
    const limit = task.seconds ?? at.seconds;
    const options = { cwd: folder, stdin, seconds: limit, env: { HOME: home, ...env } };
    const start = performance.now();
    const { isLate, text } = await runToEnd([...way, ...args], options, signal);
    const why = isLate
      ? `not done within ${limit} s`
      : await whyCheckFails(task.check, folder, signal).catch(reasonOf);
    Deno.removeSync(base, { recursive: true });
    if (signal.aborted) break;
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    results.push({
      ...{ task: task.name, skill: task.skill, passed: why === undefined, ...why && { why } },
      ...{ seconds, calls: 0, repaired: 0, chars: text.length, answers: [] },
    });
    const mark = why === undefined ? "✓" : "✗";
    console.error(`${rival.name} ${mark} ${task.name} (${seconds} s)${why ? `: ${why}` : ""}`);
    // As in our own exam.
    const end = earlyEnd(results, tasks.length, at.seconds);
    if (end) {
      console.error(`${rival.name}: ${end.ended}`);
      break;
    }
  }
  return results;
}

/** Runs the tasks as our exam does. */
async function runOwn(
  tasks: readonly ExamTask[],
  config: CopilotConfig,
  at: Model,
  signal: AbortSignal,
) {
  const output = new Output(Deno.stderr, () => {});
  const options = { ...at, config, args: {} };
  const run = { stdout: output, stderr: output, stop() {}, signal };
  const { results, ended } = await runTasks(tasks, options, run);
  await output.drained();
  if (ended !== undefined) console.error(`copilot: ${ended}`);
  return results;
}

/** Returns the table: agents in rows, skills in columns. */
function tableText(rows: readonly (readonly [string, TaskResult[] | string])[], skills: string[]) {
  const score = (some: TaskResult[]) => `${passedOf(some)}/${some.length}`;
  const cells = rows.map(([name, results]) =>
    typeof results === "string" ? [name, results] : [
      ...[name, score(results.filter(({ skill }) => skill !== OWN))],
      ...skills.map((one) => score(results.filter(({ skill }) => skill === one))),
    ]
  );
  return [["", "all", ...skills], ...cells].map((row) =>
    row.map((text, at) => text.padEnd(at === 0 ? 20 : 8)).join("").trimEnd()
  ).join("\n");
}

const USAGE = `scripts/bench exam --base-url URL [--model NAME] [flags] [AGENT...]

The tasks of copilot exam through other agents, with the same server: docs/exam.md

  --quick, --seed N (1), --seconds N (300)   as for copilot exam
  AGENT   ${RIVALS.map(({ name }) => name).join(", ")}; without one, all of them`;

export async function benchExam(words: string[]): Promise<number> {
  if (words.includes("--help") || words.includes("-h")) {
    console.log(USAGE);
    return 0;
  }
  const names = RIVALS.map(({ name }) => name);
  const unknown: string[] = [];
  const flags = parseArgs(words, {
    string: ["base-url", "model", "seed", "seconds"],
    boolean: ["quick"],
    default: { seed: "1", seconds: "300" },
    unknown: (word, key) => {
      if (key !== undefined || !names.includes(word)) unknown.push(word);
    },
  });
  const { "base-url": url, model = "", seed, seconds, quick, _: chosen } = flags;
  const wrong = unknown.length > 0
    ? `${unknown.join(", ")} is unknown; the agents are ${names.join(", ")}`
    : ![seed, seconds].every((one) => /^\d{1,9}$/.test(one)) || Number(seconds) === 0
    ? "--seed and --seconds need whole numbers"
    : url === undefined
    ? "give --base-url URL of an OpenAI-style server, and --model NAME"
    : "";
  if (wrong !== "" || url === undefined) {
    console.error(`bench exam: ${wrong}`);
    return 2;
  }
  const controller = new AbortController();
  const { signal } = controller;
  // The table of what is done follows.
  Deno.addSignalListener("SIGINT", () => controller.abort());
  const config = { compat: compatConfig({ baseUrl: url, ...model && { model } }) };
  const { config: own, fitted, fault } = await modelAt(config, model !== "", signal);
  if (fault !== undefined) {
    console.error(`bench exam: ${fault}`);
    return 1;
  }
  const { name, contextLength: window = 32_768 } = targetOf(fitted);
  const at = { url, model: name, window, seed: Number(seed), seconds: Number(seconds) };
  const tasks = [...builtinTasks(at.seed, quick), ...ownTasks()]
    .filter((task) => !task.sandbox && canRun(task));
  // No settings and instructions of the user. The checks of the other agents' work use this folder, too.
  const folder = Deno.makeTempDirSync({ prefix: "bench-exam-" });
  for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) Deno.env.set(name, folder);
  const rows: [string, TaskResult[] | string][] = [[
    "copilot",
    await runOwn(tasks, own, at, signal),
  ]];
  for (const rival of RIVALS.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
    if (signal.aborted) break;
    const [way, version] = await found(rival) ?? [];
    if (way === undefined) rows.push([rival.name, "not installed"]);
    else rows.push([`${rival.name} ${version}`, await runRival(rival, way, tasks, at, signal)]);
  }
  Deno.removeSync(folder, { recursive: true });
  const skills = [...new Set(tasks.map(({ skill }) => skill))];
  console.log(
    `\n${modelText(at.model)}, seed ${seed}, ${seconds} s for a task${quick ? ", --quick" : ""}\n${
      tableText(rows, skills)
    }`,
  );
  return signal.aborted ? 130 : 0;
}
