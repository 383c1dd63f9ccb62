/** The texts of the exam: progress, tables, and the line to paste. @module */

import { attempt } from "../../attempt.ts";
import { type ExamScore, scoreText } from "../../records/exams.ts";
import { clockTime, count, thousands, windowText } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { isLoopback } from "../../wire/connect.ts";
import { OWN } from "./tasks.ts";
import type { TaskResult } from "./run_task.ts";

/** The results of one model, as `--json` prints them. */
export interface Sitting {
  model: string;
  server: string;
  /** The address of the server. */
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
  isHopeless?: true;
}

/** The depths for which speeds are shown separately, in tokens of the prompt. */
const DEPTHS = [8192, 32_768, Infinity];

/** Returns the median; undefined for no numbers. */
function medianOf(numbers: readonly (number | undefined)[]): number | undefined {
  const sorted = numbers.filter((one) => one !== undefined).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Returns the results as they are stored. The user's own tasks do not count. */
export function scoreOf({ results, of, seed }: Sitting): ExamScore {
  const counted = results.filter(({ skill }) => skill !== OWN);
  const skills = [...Map.groupBy(results, ({ skill }) => skill)].map(([skill, some]) =>
    [skill, `${some.filter(({ passed }) => passed).length}/${some.length}`] as const
  );
  const speed = medianOf(results.flatMap(({ answers }) => answers).map((one) => one.writeSpeed));
  return {
    passed: counted.filter(({ passed }) => passed).length,
    ...{ ran: counted.length, of, seed, at: new Date().toISOString() },
    skills: Object.fromEntries(skills),
    ...speed !== undefined && { writeSpeed: Math.round(speed * 10) / 10 },
  };
}

/** Returns the line to paste: `qwen3-coder:30b Q4_K_M · 22/24 · 41 tok/s · RTX 3090`. */
function lineToPaste(sitting: Sitting): string {
  const { model, about, url } = sitting;
  const score = scoreOf(sitting);
  const parts = [
    [model, about].filter(Boolean).join(" "),
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

/** Returns the table of one model. */
export function sittingText(sitting: Sitting): string {
  const { model, server, results, ended, window, seed } = sitting;
  const { skills } = scoreOf(sitting);
  const rows = Object.entries(skills).flatMap(([skill, score]) => {
    const failed = results.filter((one) => one.skill === skill && !one.passed);
    const faults = failed.map(({ task, why }) => `${task}: ${why}`);
    const head = `  ${skill.padEnd(8)} ${score}  `;
    return faults.length === 0
      ? [head.trimEnd()]
      : faults.map((fault, at) => `${at === 0 ? head : " ".repeat(head.length)}${fault}`);
  });
  return [
    "",
    oneLine(`${model} at ${server}`),
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
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((all, one) => all + (one ?? 0), 0);
  const [calls, repaired] = (["calls", "repaired"] as const).map((key) =>
    sum(results.map((one) => one[key]))
  ) as [number, number];
  const speeds = DEPTHS.flatMap((depth, at) => {
    const some = answers.filter(({ inputTokens: n }) => n <= depth && n > (DEPTHS[at - 1] ?? 0));
    const [read, write] = (["readSpeed", "writeSpeed"] as const).map((key) =>
      medianOf(some.map((one) => one[key]))
    );
    const parts = [read && `reads ${Math.round(read)}`, write && `writes ${Math.round(write)}`];
    const where = depth === Infinity ? "beyond" : `up to ${windowText(depth)}`;
    const text = parts.filter(Boolean).join(", ");
    return text === "" ? [] : [`${text} (${where})`];
  });
  const counted = answers.filter(({ cachedTokens }) => cachedTokens !== undefined);
  const read = sum(counted.map((one) => one.inputTokens));
  const cached = sum(counted.map((one) => one.cachedTokens));
  const peak = Math.max(0, ...answers.map((one) => one.inputTokens + one.outputTokens));
  const of = window === undefined ? "" : ` of ${windowText(window)}`;
  return [
    `  ${count(calls, "call")}, ${repaired} repaired`,
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

/** Shows the progress: a line per task, which is redrawn on a terminal. */
export class ExamProgress {
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly output: { write(text: string): void; line(text: string): void },
    private readonly isTerminal: boolean,
  ) {}

  begin(at: number, of: number, name: string): void {
    if (!this.isTerminal) return;
    const start = performance.now();
    const draw = () =>
      this.output.write(
        `\r\x1b[2K${taskNumber(at, of)} … ${name} ${clockTime(performance.now() - start)}`,
      );
    draw();
    this.#timer = setInterval(draw, 1000);
  }

  end(at: number, of: number, { task, passed, why, seconds, calls }: TaskResult): void {
    this.clear();
    const about = `${task} (${seconds} s, ${count(calls, "call")})`;
    const mark = passed ? "✓" : "✗";
    this.output.line(`${taskNumber(at, of)} ${mark} ${about}${why ? `: ${why}` : ""}`);
  }

  clear(): void {
    clearInterval(this.#timer);
    if (this.isTerminal) this.output.write("\r\x1b[2K");
  }
}

const taskNumber = (at: number, of: number) => `${`${at}`.padStart(`${of}`.length)}/${of}`;
