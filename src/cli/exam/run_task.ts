/** Runs the tasks of the exam, each with a session in a folder of its own, and judges what is left there. @module */

import type { CopilotAgent } from "../../agent/agent.ts";
import type { CopilotConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { AgentsExtension } from "../../extensions/agents/agents_extension.ts";
import { ChecksExtension } from "../../extensions/checks/checks_extension.ts";
import { InstructionsExtension } from "../../extensions/instructions/instructions_extension.ts";
import { SkillsExtension } from "../../extensions/skills/skills_extension.ts";
import { WebExtension } from "../../extensions/web/web_extension.ts";
import { addressOf } from "../../models/model_server.ts";
import { checkLocalConnection } from "../../models/ollama/connection.ts";
import { targetOf } from "../../models/target.ts";
import type { FolderLooks } from "../../safety/folder_looks.ts";
import { openPermissions, type Permissions } from "../../safety/permissions.ts";
import { makeOwnFolder } from "../../safety/sandbox/own_folder.ts";
import { CacheWatch } from "../../session/cache_watch.ts";
import type { Frontend, SessionEvent } from "../../session/frontend.ts";
import { openSession } from "../../session/session.ts";
import { CHARS_PER_TOKEN, clockTime, count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { newMessageId, userMessage } from "../../text/parts.ts";
import { reasonOf } from "../../text/reason.ts";
import { runShell } from "../../tools/shell/shell_process.ts";
import type { TurnEvent } from "../../types/event.ts";
import { wait, within } from "../../wire/wait.ts";
import type { Args } from "../args.ts";
import type { Run } from "../process.ts";
import type { ExamResult, TaskResult } from "./report.ts";
import { type ExamTask, seeded } from "./tasks.ts";

export interface ExamOptions {
  config: CopilotConfig;
  args: Args;
  seed: number;
  window: number | undefined;
  /** The time limit of a task without its own. */
  seconds: number;
  runsAll?: true;
}

/** How long to wait for a server that went away, in milliseconds. */
const MAX_AWAY_MS = 60_000;
/** The exam ends early after so many tasks in a row without an answer, or so many first ones without a pass. */
const MAX_UNANSWERED = 3;
const MAX_HOPELESS = 5;
/** It also ends after the time of so many limits without a pass at its start, or twice that after a pass. */
const MAX_LIMITS = 1.5;
const MAX_CHECK_SECONDS = 60;
const MAX_CHECK_BYTES = 20_000;
/** Runs the script on stdin, as the code under test could read a command line. */
const RUN_STDIN = 'check=$(cat); exec </dev/null; eval "$check"';
/** The largest window that an earlier conversation fills, in tokens: reading more takes too long. */
const MAX_FILLED = 65_536;
/** The tokens of the prompt and the tools, about. */
const PROMPT_TOKENS = 2500;
/** The lines of an earlier message, and its tokens, about. */
const LINES = 32;
const PART_TOKENS = 600;
const DAY = "The @WORD1@ clerk moved the @WORD2@ box from the @WORD3@ shop to the station.";
const MAX_WHY = 100;

/** The contents of the home folder and the system; shared, because the search is slow. */
let looks: FolderLooks | undefined;

/** Sandboxed commands without network, and no questions. */
const RIGHTS = { approve: "auto", sandbox: "workspace-write", network: false } as const;
export function examPermissions(): Permissions {
  const made = openPermissions(RIGHTS, undefined, looks, "");
  looks = made.looks;
  return made;
}

/** Runs all tasks with a model, until the end, a signal, or the server's end. Also returns why some did not run. */
export async function runTasks(
  tasks: readonly ExamTask[],
  options: ExamOptions,
  { stderr, signal }: Run,
): Promise<Pick<ExamResult, "results" | "ended" | "isHopeless">> {
  const clear = !options.args.json && Deno.stderr.isTerminal() ? "\r\x1b[2K" : "";
  using stack = new DisposableStack();
  const home = makeOwnFolder((remove) => stack.defer(remove));
  let [now, start] = ["", 0];
  const draw = () => stderr.write(`${clear}${now} ${clockTime(performance.now() - start)}`);
  const timer = clear ? setInterval(draw, 1000) : undefined;
  stack.defer(() => (clearInterval(timer), stderr.write(clear)));
  const results: TaskResult[] = [];
  const of = tasks.length;
  let mayWait = true;
  try {
    for (const [at, task] of tasks.entries()) {
      const number = `${`${at + 1}`.padStart(`${of}`.length)}/${of}`;
      [now, start] = [`${number} … ${task.skill} · ${task.name}`, performance.now()];
      let result = await runTask(task, `${home}/${at}`, options, signal);
      if (result.isGone && mayWait) {
        mayWait = false;
        stderr.line(`${clear}· the server failed; waiting for it, at most a minute`);
        await untilBack(options, signal);
        result = await runTask(task, `${home}/${at}-again`, options, signal);
      }
      const { passed, seconds, calls, why } = result;
      const about = `${passed ? "✓" : "✗"} ${task.name} (${seconds} s, ${count(calls, "call")})`;
      stderr.line(`${clear}${number} ${about}${why ? `: ${why}` : ""}`);
      if (result.isGone) {
        return { results, ended: `the server failed after ${at} of ${of} tasks: ${why}` };
      }
      results.push(result);
      const end = earlyEnd(results, of, options.seconds);
      if (end && !(options.runsAll && end.isHopeless)) return { results, ...end };
    }
    return { results };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { results, ended: `stopped after ${results.length} of ${of} tasks` };
  }
}

/** Returns why the other tasks do not run; undefined if they do. */
export function earlyEnd(results: readonly TaskResult[], of: number, seconds: number) {
  const failed = results.slice(results.findLastIndex(({ passed }) => passed) + 1);
  const isStart = failed.length === results.length;
  const time = failed.reduce((sum, one) => sum + one.seconds, 0);
  const isSilent = failed.every(({ chars, answers }) => chars + answers.length === 0);
  const isLate = time >= (isStart ? MAX_LIMITS : 2 * MAX_LIMITS) * seconds;
  const none = `none of the ${isStart ? "first" : "last"} ${failed.length} tasks`;
  if (isSilent && (isLate || failed.length === MAX_UNANSWERED)) {
    return { ended: `${none} got an answer: ${failed.at(-1)!.why}`, isHopeless: false };
  }
  const isHopeless = isLate || isStart && failed.length >= MAX_HOPELESS;
  if (!isHopeless || results.length === of) return undefined;
  const more = isLate ? ` in ${Math.round(time)} s (--seconds N allows more)` : "";
  return { ended: `${none} passed${more}: the others did not run`, isHopeless };
}

/** Waits for a server that went away, for a limited time. */
async function untilBack({ config, seconds }: ExamOptions, signal: AbortSignal): Promise<void> {
  const [start, at] = [performance.now(), addressOf(targetOf(config))];
  const isOver = () => performance.now() - start > Math.min(MAX_AWAY_MS, seconds * 1000);
  while (!isOver() && !await checkLocalConnection({ ...at, signal })) await wait(500, signal);
}

/** Runs `task` in the new folder `folder`. @throws the signal's reason if it is aborted. */
async function runTask(
  task: ExamTask,
  folder: string,
  options: ExamOptions,
  signal: AbortSignal,
): Promise<TaskResult> {
  const { name, skill, calls = Infinity, tokens = Infinity } = task;
  const start = performance.now();
  const result: TaskResult = {
    task: name,
    skill,
    passed: false,
    seconds: 0,
    calls: 0,
    repaired: 0,
    chars: 0,
    answers: [],
  };
  await Deno.mkdir(folder, { recursive: true });
  const send = () => sendTask(task, folder, options, signal, result);
  let why = await task.copyTo(folder).then(send, reasonOf);
  // If the server does not count them, the number is an estimate.
  const written = result.answers.reduce((sum, { outputTokens }) => sum + outputTokens, 0) ||
    Math.round(result.chars / CHARS_PER_TOKEN);
  if (result.calls > calls) why ??= `${count(result.calls, "call")}, at most ${calls} allowed`;
  if (written > tokens) why ??= `${written} tokens written, at most ${tokens} allowed`;
  why ??= await whyCheckFails(task.check, folder, signal);
  signal.throwIfAborted();
  result.seconds = Math.round((performance.now() - start) / 100) / 10;
  return { ...result, passed: why === undefined, ...why !== undefined && { why } };
}

/** Sends the prompt in a session. Returns why the task failed; undefined if the turn ended normally. */
async function sendTask(
  task: ExamTask,
  folder: string,
  { config, args, seed, window, seconds: usual }: ExamOptions,
  signal: AbortSignal,
  result: TaskResult,
): Promise<string | undefined> {
  const { seconds = usual } = task;
  const limit = AbortSignal.timeout(seconds * 1000);
  const both = AbortSignal.any([signal, limit]);
  const skills = new SkillsExtension();
  const frontend: Frontend = { onEvent() {}, showsStatus: false };
  const ask = async () => {
    await using session = await openSession(
      {
        config,
        folder,
        readsFolder: true,
        trust: true,
        isChosen: true,
        systemPrompt: args["system-prompt"],
        appendedPrompt: args["append-system-prompt"],
        permissions: examPermissions(),
        extensions: [
          ...[new InstructionsExtension(skills), skills, new AgentsExtension(skills)],
          ...[new WebExtension(args.search), new ChecksExtension(args.checks)],
        ],
      },
      frontend,
      both,
    );
    frontend.onEvent = meter(result, session.agent);
    for (const text of earlierMessages(task, seed, window)) {
      session.agent.state.messages.push(
        { ...userMessage(text), id: newMessageId() },
        { role: "assistant", content: "Noted.", id: newMessageId() },
      );
    }
    const { stopReason, isUnanswered, response } = await session.prompt(task.prompt, both);
    if (stopReason !== "done") return `the turn was ended: ${stopReason}`;
    return isUnanswered && `no answer: ${shortened(oneLine(response), MAX_WHY)}`;
  };
  // A session that does not end ten seconds after its limit is left behind.
  const why = await within((seconds + 10) * 1000, ask()).catch((error) => {
    const isGone = error instanceof BackendError &&
      /^(connection|incomplete|auth|model_not_found)$/.test(error.kind);
    if (isGone && !limit.aborted) result.isGone = true;
    return shortened(oneLine(reasonOf(error)), MAX_WHY);
  });
  if (limit.aborted) result.isLate = true;
  return limit.aborted ? `not done within ${seconds} s` : why;
}

function meter(result: TaskResult, agent: CopilotAgent) {
  const watch = new CacheWatch(() => {});
  const repaired = new Set<string>();
  return (event: SessionEvent) => {
    if ("text" in event) result.chars += event.text.length;
    if (event.type === "reasoning_delta") result.thinks = true;
    if (event.type === "tool_call_recovered") repaired.add(event.id);
    if (event.type === "tool_done") {
      result.calls++;
      if (event.exec.repairs?.length) repaired.add(event.exec.toolCallId);
    }
    result.repaired = repaired.size;
    if (event.type === "thinking") watch.readSpeed = watch.writeSpeed = undefined;
    watch.onEvent(event as TurnEvent, agent);
    if (event.type !== "usage") return;
    const { readSpeed, writeSpeed } = watch;
    result.answers.push({ ...event.usage, readSpeed, writeSpeed });
  };
}

/** Returns the messages of an earlier conversation, with `before` at a place that only a summary of it keeps. */
export function earlierMessages({ fill = 0, before }: ExamTask, seed: number, window = 32_768) {
  if (before === undefined) return [];
  const tokens = Math.min(window, MAX_FILLED) * fill / 100 - PROMPT_TOKENS;
  const parts = Array.from({ length: Math.max(1, tokens / PART_TOKENS) }, (_, part) => [
    "Keep this part of the chronicle; nothing is to be done with it.",
    ...Array.from({ length: LINES }, (_, at) => seeded(DAY, `${seed} ${part} ${at}`)),
  ]);
  parts[parts.length >> 2]!.splice(LINES / 2, 0, before);
  return parts.map((lines) => lines.join("\n"));
}

/** Runs a check in the sandbox, without a file in the folder. Returns why it did not pass. */
export async function whyCheckFails(
  check: string,
  folder: string,
  signal: AbortSignal,
  permissions = examPermissions(),
  seconds = MAX_CHECK_SECONDS,
) {
  const confine = permissions.confine(() => folder);
  const context = { workingDir: folder, confine, signal, maxOutputChars: MAX_CHECK_BYTES };
  try {
    // Fails if the model removed the folder.
    const { ended, status, streams } = await runShell(RUN_STDIN, context, {
      hasInput: true,
      timeoutMs: seconds * 1000,
      maxBytes: MAX_CHECK_BYTES,
      onStart: (_, { stdin }) => void new Blob([check]).stream().pipeTo(stdin).catch(() => {}),
    });
    if (ended === "timeout") return "the check did not end";
    if (status?.code === 0) return undefined;
    const [out, err] = Object.values(streams).map((one) => one.tail(MAX_CHECK_BYTES).trim());
    return shortened(oneLine((out || err || "the check failed").split("\n").at(-1)!), MAX_WHY);
  } catch (error) {
    return shortened(oneLine(`the check cannot run: ${reasonOf(error)}`), MAX_WHY);
  }
}
