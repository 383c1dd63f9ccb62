/** The texts of the exam: progress, tables, and the line to paste. @module */

import { attempt } from "../../attempt.ts";
import { type ExamScore, scoreText } from "../../records/exams.ts";
import type { CacheWatch } from "../../session/cache_watch.ts";
import { count, thousands, windowText } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { Usage } from "../../types/event.ts";
import { modelText } from "../../ui/terminal/session/footer.ts";
import { OWN } from "./tasks.ts";

export interface TaskResult {
  task: string;
  skill: string;
  passed: boolean;
  why?: string;
  seconds: number;
  calls: number;
  /** The calls that had to be repaired or were found in text. */
  repaired: number;
  /** The characters that the model wrote, with its thinking. */
  chars: number;
  /** The answers of the model, with their speeds in tokens per second if they are known. */
  answers: (Omit<Usage, "readSpeed"> & Pick<CacheWatch, "readSpeed" | "writeSpeed">)[];
  thinks?: true;
  isLate?: true;
  isGone?: true;
}

/** The results of one model, as `--json` prints them. */
export interface ExamResult {
  model: string;
  server: string;
  isLocal: boolean;
  about: string;
  window: number | undefined;
  seed: number;
  score: ExamScore;
  results: TaskResult[];
  ended?: string;
  /** True if the others did not run because the model passed no task for too long. */
  isHopeless?: boolean;
}

/** The depths for which speeds are shown separately, in tokens of the prompt. */
const DEPTHS = [8192, 32_768, Infinity];

function medianOf(numbers: readonly (number | undefined)[]): number | undefined {
  const sorted = numbers.filter((one) => one !== undefined).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

export const passedOf = (results: readonly { passed: boolean }[]): number =>
  results.filter(({ passed }) => passed).length;

const passedText = (results: readonly TaskResult[]) => `${passedOf(results)}/${results.length}`;
const writeSpeedOf = ({ results }: ExamResult) =>
  medianOf(results.flatMap(({ answers }) => answers).map((one) => one.writeSpeed)) ?? 0;

/** Returns the score in the program's tasks, of which the exam has `total`, and `flags` that may change it. */
export function scoreOf(results: readonly TaskResult[], total: number, flags: readonly string[]) {
  const counted = results.filter(({ skill }) => skill !== OWN);
  const [ran, late] = [counted.length, counted.filter(({ isLate }) => isLate).length];
  const notes = [ran < total && `of ${total}`, ...flags, late > 0 && `${late} timed out`];
  const isWhole = ran === total && flags.length === 0;
  return { passed: passedOf(counted), ran, notes: notes.filter((one) => one !== false), isWhole };
}

/** Returns the line to paste: `qwen3-coder:30b Q4_K_M · 22/24 · 41 tok/s · RTX 3090`. */
function lineToPaste(result: ExamResult): string {
  const { model, about, isLocal, score, results } = result;
  const own = results.filter(({ skill }) => skill === OWN);
  const speed = writeSpeedOf(result);
  const parts = [
    [shortened(modelText(model), 80), about].filter(Boolean).join(" "),
    (own.length === 0 || score.ran > 0) && scoreText(score),
    own.length > 0 && `own ${passedText(own)}`,
    speed > 0 && `${Math.round(speed)} tok/s`,
    isLocal && gpuName(),
  ];
  return oneLine(parts.filter(Boolean).join(" · "));
}

/** Returns the name of this machine's graphics card, if the driver of NVIDIA or AMD has a file for it. */
function gpuName(): string | undefined {
  const nvidia = "/proc/driver/nvidia/gpus";
  const [card] = attempt(() => [...Deno.readDirSync(nvidia)]) ?? [];
  const read = (path: string) => attempt(() => Deno.readTextFileSync(path)) ?? "";
  const [, model = read("/sys/class/drm/card0/device/product_name")] =
    /^Model:\s*(.*)/m.exec(read(`${nvidia}/${card?.name}/information`)) ?? [];
  return model.replace(/NVIDIA |GeForce /g, "").trim() || undefined;
}

export function examText(result: ExamResult): string {
  const { model, server, results, ended, window, seed } = result;
  const rows = [...Map.groupBy(results, ({ skill }) => skill)].map(([skill, some]) => {
    const head = `  ${skill.padEnd(8)} ${passedText(some)}  `;
    const faults = some.filter(({ passed }) => !passed).map(({ task, why }) => `${task}: ${why}`);
    return `${head}${faults.join(`\n${" ".repeat(head.length)}`)}`.trimEnd();
  });
  return [
    "",
    `${shortened(modelText(model), 80)} at ${server}`,
    ...rows,
    "",
    ...measuredLines(results, window),
    `  seed ${seed} (--seed ${seed} repeats these tasks)`,
    ...ended === undefined ? [] : [`  ${ended}`],
    "",
    lineToPaste(result),
  ].join("\n");
}

function measuredLines(results: readonly TaskResult[], window: number | undefined): string[] {
  const answers = results.flatMap((one) => one.answers);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  const speeds = DEPTHS.flatMap((depth, at) => {
    const some = answers.filter(({ inputTokens: n }) => n <= depth && n > (DEPTHS[at - 1] ?? 0));
    const [read, write] = (["readSpeed", "writeSpeed"] as const).map((key) =>
      medianOf(some.map((one) => one[key]))
    );
    const parts = [read && `reads ${Math.round(read)}`, write && `writes ${Math.round(write)}`];
    const where = depth === Infinity ? "beyond" : `up to ${windowText(depth)}`;
    return read ?? write ? [`${parts.filter(Boolean).join(", ")} (${where})`] : [];
  });
  const counted = answers.filter(({ cachedTokens }) => cachedTokens !== undefined);
  const read = sum(counted.map((one) => one.inputTokens));
  const cached = sum(counted.map((one) => one.cachedTokens!));
  const peak = Math.max(0, ...answers.map((one) => one.inputTokens + one.outputTokens));
  const of = window === undefined ? "" : ` of ${windowText(window)}`;
  const calls = sum(results.map((one) => one.calls));
  return [
    calls === 0
      ? "  The model called no tool: copilot doctor says why"
      : `  ${count(calls, "call")}, ${sum(results.map((one) => one.repaired))} repaired`,
    ...speeds.length > 0 ? [`  tokens per second: ${speeds.join("; ")}`] : [],
    ...peak > 0 ? [`  largest context: ${thousands(peak)}${of} tokens`] : [],
    ...read > 0 ? [`  from the cache: ${Math.round(100 * cached / read)} %`] : [],
  ];
}

export function rankingText(all: readonly ExamResult[]): string {
  const sorted = all.filter(({ results }) => results.length > 0).sort((a, b) =>
    b.score.passed - a.score.passed || writeSpeedOf(b) - writeSpeedOf(a)
  );
  return `\n${sorted.map((one) => `  ${lineToPaste(one)} · ${oneLine(one.server)}\n`).join("")}`;
}
