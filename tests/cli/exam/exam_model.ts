/** Scripted models of a known skill: their answers are computed from the prompt. */

import { builtinTasks, type ExamTask, seeded } from "../../../src/cli/exam/tasks.ts";
import { run } from "../../helpers/program.ts";
import { bash, type Step, type StrictRequest, strictServer } from "../../helpers/strict_server.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

export const SEED = 7;
export const tasks: ExamTask[] = builtinTasks(SEED);

/** Returns the commands that solve a task. */
export const solutionOf = (name: string): string =>
  seeded(
    Deno.readTextFileSync(new URL(`../../../exam/${name}/solution.sh`, import.meta.url)),
    `${name} ${SEED}`,
  );

/** A request of the exam. */
export interface Asked {
  name: string;
  /** The results of tools since the task's message. */
  results: number;
  /** The characters of the whole request. */
  chars: number;
  /** The whole request. */
  text: string;
  model: string;
  /** False if the tools are only described in the prompt. */
  hasTools: boolean;
}

/** Starts a server whose model answers each request of a task with `answer`. */
export function examModel(
  answer: (asked: Asked) => Step | Promise<Step>,
  options: { models?: string[] } = {},
) {
  return strictServer(
    Array<(request: StrictRequest) => Step | Promise<Step>>(2000).fill(({ body, text }) => {
      const messages = body.messages as { role: string; content: unknown }[];
      const said = messages.map(({ content }) => JSON.stringify(content));
      const isOf = ({ prompt }: ExamTask) => (one: string) =>
        one.includes(JSON.stringify(prompt.trim()).slice(1, -1));
      const task = tasks.find((one) => said.some(isOf(one)));
      const at = task ? said.findLastIndex(isOf(task)) : -1;
      // With tools as text, results are in user messages.
      const results = messages.slice(at + 1)
        .filter(({ role }) => role === "tool" || role === "user").length;
      const about = { model: `${body.model}`, hasTools: body.tools !== undefined };
      return answer({ name: task?.name ?? "", results, chars: text.length, text, ...about });
    }),
    options,
  );
}

/** Solves each task with one command. What was said is known only from the request, or a summary of it. */
export function perfect({ name, results, hasTools, text }: Asked): Step {
  const [said = "It is done."] = /Remember this: [^"\\]*/.exec(text) ?? [];
  if (results > 0 || name === "") return { text: said };
  const solution = solutionOf(name);
  const [number = ""] = /\d+/.exec(solution) ?? [];
  const isForgotten = name.startsWith("memory") && !text.includes(number);
  const script = isForgotten ? "echo forgotten | tee code.txt server.txt label.txt" : solution;
  return hasTools ? bash(script) : { text: callText(script) };
}

/** Returns a call as models without native calls write it: in text, and with other names. */
export const callText = (command: string): string =>
  `<tool_call>\n${JSON.stringify({ name: "bash", arguments: { cmd: command } })}\n</tool_call>`;

/** The result of an exam of the program. */
export interface Examined {
  code: number;
  stdout: string;
  stderr: string;
  /** The passed tasks; undefined without `--json`. */
  passed: string[];
  failed: Record<string, string>;
  // deno-lint-ignore no-explicit-any
  json: any;
}

/** Runs the program's exam with the model at `url`, or with all models if it ends with `/v1`. */
export async function examine(
  url: string,
  words: string[],
  env: Record<string, string> = {},
): Promise<Examined> {
  using temp = tempFolder();
  Deno.mkdirSync(`${temp.path}/work`);
  const server = url.endsWith("/v1")
    ? ["--all", "--base-url", url]
    : ["--local", "--host", url, "-m", "test"];
  const flags = [...server, "--seed", `${SEED}`];
  const ran = await run(["exam", ...flags, ...words], {
    cwd: `${temp.path}/work`,
    env: { XDG_STATE_HOME: `${temp.path}/state`, XDG_CONFIG_HOME: `${temp.path}/config`, ...env },
  });
  const json = words.includes("--json") && ran.stdout.startsWith("{")
    ? JSON.parse(ran.stdout)
    : undefined;
  const results: { task: string; passed: boolean; why?: string }[] = json?.models[0].results ?? [];
  return {
    ...{ ...ran, json },
    passed: results.filter(({ passed }) => passed).map(({ task }) => task),
    failed: Object.fromEntries(
      results.filter(({ passed }) => !passed).map(({ task, why }) => [task, why ?? ""]),
    ),
  };
}
