/** Runs a task of the exam in a folder of its own, with a session, and judges what is left there. @module */

import { attempt } from "../../attempt.ts";
import { CopilotAgent } from "../../agent/agent.ts";
import { outcomeOf } from "../../agent/run_tools.ts";
import type { CopilotConfig } from "../../config.ts";
import { BackendError } from "../../errors.ts";
import { AgentsExtension } from "../../extensions/agents/agents_extension.ts";
import { ChecksExtension } from "../../extensions/checks/checks_extension.ts";
import { InstructionsExtension } from "../../extensions/instructions/instructions_extension.ts";
import { SkillsExtension } from "../../extensions/skills/skills_extension.ts";
import { WebExtension } from "../../extensions/web/web_extension.ts";
import { openPermissions } from "../../safety/permissions.ts";
import { CacheWatch } from "../../session/cache_watch.ts";
import { PLAIN_SURFACE, type SessionEvent } from "../../session/frontend.ts";
import { openSession } from "../../session/session.ts";
import { CHARS_PER_TOKEN, count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { newMessageId, userMessage } from "../../text/parts.ts";
import { reasonOf } from "../../text/reason.ts";
import { shellTool } from "../../tools/run_bash.ts";
import type { TurnEvent } from "../../types/event.ts";
import { within } from "../../wire/wait.ts";
import type { Args } from "../args.ts";
import { type ExamTask, seeded } from "./tasks.ts";

/** An answer of the model, with its speeds in tokens per second if they are known. */
interface MeasuredAnswer {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number | undefined;
  readSpeed: number | undefined;
  writeSpeed: number | undefined;
}

export interface TaskResult {
  task: string;
  skill: string;
  passed: boolean;
  /** Why it did not pass, in one line. */
  why?: string;
  seconds: number;
  calls: number;
  /** The calls that had to be repaired or were found in text. */
  repaired: number;
  answers: MeasuredAnswer[];
  /** True if the model thought. */
  thinks?: true;
  /** The server did not answer: it went away (`gone`), or it failed or was silent (`silent`). */
  fault?: "gone" | "silent";
}

export interface ExamOptions {
  config: CopilotConfig;
  args: Args;
  seed: number;
  /** The window of the model in tokens. */
  window: number;
  /** The time limit of a task, unless it has its own. */
  seconds: number;
  signal: AbortSignal;
}

const CHECK_SECONDS = 60;
/** The time for a session to end after its limit, in milliseconds. */
const ENDING_MS = 10_000;
/** The largest window that an earlier conversation fills, in tokens: reading more takes too long. */
const MAX_FILLED = 65_536;
/** The tokens of the prompt and the tools, about. */
const PROMPT_TOKENS = 2500;
const CHUNK_CHARS = 4000;
const MAX_WHY = 100;

/** Permissions of the exam: sandboxed commands without network, and no questions. */
export const examPermissions = () =>
  openPermissions({ approve: "auto", sandbox: "workspace-write", network: false });

/** Runs `task` in the new folder `folder`. @throws the signal's reason if it is aborted. */
export async function runTask(
  task: ExamTask,
  folder: string,
  options: ExamOptions,
): Promise<TaskResult> {
  const { name, skill, calls = Infinity, tokens = Infinity } = task;
  const start = performance.now();
  const result: TaskResult = {
    ...{ task: name, skill, passed: false, seconds: 0, calls: 0, repaired: 0, answers: [] },
  };
  await Deno.mkdir(folder, { recursive: true });
  await task.copyTo(folder);
  let why = await sendTask(task, folder, options, result);
  options.signal.throwIfAborted();
  const written = result.answers.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  if (result.calls > calls) why ??= `${count(result.calls, "call")}, at most ${calls} allowed`;
  if (written > tokens) why ??= `${written} tokens written, at most ${tokens} allowed`;
  why ??= await checkFault(task.check, folder, options);
  result.seconds = Math.round((performance.now() - start) / 100) / 10;
  return { ...result, passed: why === undefined, ...why !== undefined && { why } };
}

/** Sends the prompt in a session. Returns why the turn cannot count. */
async function sendTask(
  task: ExamTask,
  folder: string,
  { config, args, seed, window, seconds: usual, signal }: ExamOptions,
  result: TaskResult,
): Promise<string | undefined> {
  const seconds = Math.min(task.seconds ?? usual, usual);
  const limit = AbortSignal.timeout(seconds * 1000);
  const both = AbortSignal.any([signal, limit]);
  const skills = new SkillsExtension();
  const ask = async () => {
    const opened: { agent?: CopilotAgent } = {};
    const onEvent = meter(result, () => opened.agent!);
    await using session = await openSession({
      ...{ config, folder, readsFolder: true, trust: true, isChosen: true },
      ...{ isRecorded: false, canUndo: false, asksServer: "local-before-turns" },
      systemPrompt: args["system-prompt"],
      appendedPrompt: args["append-system-prompt"],
      permissions: examPermissions(),
      extensions: [
        ...[new InstructionsExtension(skills), skills, new AgentsExtension(skills)],
        ...[new WebExtension(args.search), new ChecksExtension(args.checks, args.formats)],
      ],
    }, {
      onEvent: (event) => opened.agent && onEvent(event),
      ...{ showsStatus: false, surface: { ...PLAIN_SURFACE, way: "flags" } },
    }, both);
    opened.agent = session.agent;
    for (const [asked, answer] of earlierMessages(task, seed, window)) {
      session.agent.state.messages.push(
        { ...userMessage(asked), id: newMessageId() },
        { role: "assistant", content: answer, id: newMessageId() },
      );
    }
    const { stopReason, isUnanswered, response } = await session.prompt(task.prompt, both);
    if (isUnanswered) return `no answer: ${shortened(oneLine(response), MAX_WHY)}`;
    return stopReason === "done" ? undefined : `the turn was ended: ${stopReason}`;
  };
  try {
    // A session that does not end is left behind. The exam continues.
    const why = await within(seconds * 1000 + ENDING_MS, ask());
    if (!limit.aborted) return why;
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted) {
      const kind = error instanceof BackendError ? error.kind : "";
      const isGone = /^(connection|incomplete|auth|model_not_found)$/.test(kind);
      if (kind !== "") result.fault = isGone ? "gone" : "silent";
      return shortened(oneLine(reasonOf(error)), MAX_WHY);
    }
  }
  if (result.answers.length === 0) result.fault = "silent";
  return `not done within ${seconds} s`;
}

/** Returns an observer that counts calls and measures answers. */
function meter(result: TaskResult, agent: () => CopilotAgent) {
  const watch = new CacheWatch(() => {});
  return (event: SessionEvent) => {
    if (event.type === "reasoning_delta") result.thinks = true;
    if (event.type === "tool_call_recovered") result.repaired++;
    if (event.type === "tool_done") {
      result.calls++;
      if (event.exec.repairs?.length) result.repaired++;
    }
    if (event.type === "thinking") watch.readSpeed = watch.writeSpeed = undefined;
    if (/^(thinking|.*_delta|retry|loading|usage)$/.test(event.type)) {
      watch.onEvent(event as TurnEvent, agent());
    }
    if (event.type !== "usage") return;
    const { inputTokens, outputTokens, cachedTokens } = event.usage;
    const { readSpeed, writeSpeed } = watch;
    result.answers.push({ inputTokens, outputTokens, cachedTokens, readSpeed, writeSpeed });
  };
}

/** Returns an earlier conversation that fills the share of the window that the task demands. */
export function earlierMessages(
  { fill = 0, before }: Pick<ExamTask, "fill" | "before">,
  seed: number,
  window: number,
): [asked: string, answer: string][] {
  if (before === undefined) return [];
  const tokens = Math.min(window, MAX_FILLED) * fill / 100 - PROMPT_TOKENS;
  const messages: [string, string][] = [[before, "Noted."]];
  let line = 0;
  for (let left = tokens * CHARS_PER_TOKEN; left > 0; left -= CHUNK_CHARS) {
    let text = "Keep this part of the chronicle; nothing is to be done with it.\n";
    while (text.length < Math.min(left, CHUNK_CHARS)) {
      const words = "the @WORD1@ clerk moved the @WORD2@ box from the @WORD3@ shop to the station";
      text += `Day ${++line}: ${seeded(words, seed + line)}.\n`;
    }
    messages.push([text, "Noted."]);
  }
  return messages;
}

/** Runs a check in the sandbox, without a file in the folder. Returns why it did not pass. */
export async function checkFault(
  check: string,
  folder: string,
  { config, signal }: Pick<ExamOptions, "config" | "signal">,
): Promise<string | undefined> {
  const confine = examPermissions().confine(() => folder);
  // The model may have removed the folder.
  const agent = attempt(() => new CopilotAgent(config, folder, { confine }));
  if (!agent) return "the folder is gone";
  const args = { command: check, timeout_seconds: CHECK_SECONDS };
  try {
    const outcome = outcomeOf(await shellTool.run(args, agent.toolContext(signal)));
    const { exitCode, isTimedOut, output, content } = outcome;
    if (exitCode === 0 && !isTimedOut) return undefined;
    const { stdout = "", stderr = "" } = output ?? { stderr: content };
    const text = (stdout.trim() || stderr).trim();
    const [last = ""] = text.split("\n").slice(-1);
    return shortened(oneLine(isTimedOut ? "the check did not end" : last), MAX_WHY) ||
      "the check failed";
  } catch (error) {
    signal.throwIfAborted();
    return shortened(oneLine(`the check cannot run: ${reasonOf(error)}`), MAX_WHY);
  }
}
