/** The texts of the exam: progress, tables, and the line to paste. @module */

import { attempt } from "../../attempt.ts";
import { type ExamScore, scoreText } from "../../records/exams.ts";
import type { CacheWatch } from "../../session/cache_watch.ts";
import { clockTime, count, thousands, windowText } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import type { Usage } from "../../types/event.ts";
import { modelText } from "../../ui/terminal/session/footer.ts";
import { isLoopback } from "../../wire/connect.ts";
import { OWN } from "./tasks.ts";

/** An answer of the model, with its speeds in tokens per second if they are known. */
type MeasuredAnswer = Omit<Usage, "readSpeed"> & Pick<CacheWatch, "readSpeed" | "writeSpeed">;

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
  answers: MeasuredAnswer[];
  thinks?: true;
  /** The server did not answer: it went away (`gone`), or it failed or was silent (`silent`). */
  fault?: "gone" | "silent";
}

/** The results of one model, as `--json` prints them. */
export interface Sitting {
  model: string;
  server: string;
  url: string;
  /** The size and the quantization, if the server reports them. */
  about: string;
  window: number | undefined;
  seed: number;
  results: TaskResult[];
  /** The number of the program's tasks in the exam. */
  of: number;
  /** Why not all tasks ran. */
  ended?: string;
  /** True if they did not run because the model passed none of the first ones. */
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

/** Returns the results as they are stored. The user's own tasks do not count. */
export function scoreOf({ results, of }: Sitting): ExamScore {
  const counted = results.filter(({ skill }) => skill !== OWN);
  const skills = [...Map.groupBy(results, ({ skill }) => skill)].map(([skill, some]) =>
    [skill, `${passedOf(some)}/${some.length}`] as const
  );
  const speed = medianOf(results.flatMap(({ answers }) => answers).map((one) => one.writeSpeed));
  return {
    ...{ passed: passedOf(counted), ran: counted.length, of },
    skills: Object.fromEntries(skills),
    ...speed !== undefined && { writeSpeed: Math.round(speed * 10) / 10 },
  };
}

/** Returns the line to paste: `qwen3-coder:30b Q4_K_M · 22/24 · 41 tok/s · RTX 3090`. */
function lineToPaste(sitting: Sitting): string {
  const { model, about, url } = sitting;
  const score = scoreOf(sitting);
  const parts = [
    [modelText(model), about].filter(Boolean).join(" "),
    score.of > 0 && scoreText(score),
    score.skills[OWN] && `own ${score.skills[OWN]}`,
    score.writeSpeed && `${Math.round(score.writeSpeed)} tok/s`,
    isLoopback(url) && gpuName(),
  ];
  return oneLine(parts.filter(Boolean).join(" · "));
}

/** Returns the name of this machine's graphics card, if the driver of NVIDIA or AMD has a file for it. */
function gpuName(): string | undefined {
  const nvidia = "/proc/driver/nvidia/gpus";
  const [card] = attempt(() => [...Deno.readDirSync(nvidia)]) ?? [];
  const read = (path: string) => attempt(() => Deno.readTextFileSync(path)) ?? "";
  const [, model] = /^Model:\s*(.*)/m.exec(read(`${nvidia}/${card?.name}/information`)) ?? [];
  const found = model ?? read("/sys/class/drm/card0/device/product_name");
  return found.replace(/NVIDIA |GeForce /g, "").trim() || undefined;
}

export function sittingText(sitting: Sitting): string {
  const { model, server, results, ended, window, seed } = sitting;
  const { skills } = scoreOf(sitting);
  const rows = Object.entries(skills).map(([skill, score]) => {
    const head = `  ${skill.padEnd(8)} ${score}  `;
    const failed = results.filter((one) => one.skill === skill && !one.passed);
    const faults = failed.map(({ task, why }) => `${task}: ${why}`);
    return `${head}${faults.join(`\n${" ".repeat(head.length)}`)}`.trimEnd();
  });
  return [
    "",
    `${modelText(model)} at ${server}`,
    ...rows,
    "",
    ...measuredLines(results, window),
    `  seed ${seed} (--seed ${seed} repeats these tasks)`,
    ...ended === undefined ? [] : [`  ${ended}`],
    "",
    lineToPaste(sitting),
    "",
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
  const calls = count(sum(results.map((one) => one.calls)), "call");
  return [
    `  ${calls}, ${sum(results.map((one) => one.repaired))} repaired`,
    ...speeds.length > 0 ? [`  tokens per second: ${speeds.join("; ")}`] : [],
    ...peak > 0 ? [`  largest context: ${thousands(peak)}${of} tokens`] : [],
    ...read > 0 ? [`  from the cache: ${Math.round(100 * cached / read)} %`] : [],
  ];
}

/** Returns the ranking of several models, best first. */
export function rankingText(sittings: readonly Sitting[]): string {
  const speedOf = (one: Sitting) => scoreOf(one).writeSpeed ?? 0;
  const sorted = sittings.toSorted((a, b) =>
    scoreOf(b).passed - scoreOf(a).passed || speedOf(b) - speedOf(a)
  );
  return `\n${sorted.map((one) => `  ${lineToPaste(one)} · ${oneLine(one.server)}\n`).join("")}`;
}

export function taskLine({ task, passed, why, seconds, calls }: TaskResult): string {
  const about = `${task} (${seconds} s, ${count(calls, "call")})`;
  return `${passed ? "✓" : "✗"} ${about}${why ? `: ${why}` : ""}`;
}

/** Draws `text` with the time that it takes, on a terminal, until the returned function is called. */
export function drawClock(output: { write(text: string): void }, text: string): () => void {
  const start = performance.now();
  const draw = () => output.write(`\r\x1b[2K${text} ${clockTime(performance.now() - start)}`);
  draw();
  const timer = setInterval(draw, 1000);
  return () => {
    clearInterval(timer);
    output.write("\r\x1b[2K");
  };
}
