import type { Job, Jobs } from "../../types/tool.ts";
import { clockTime } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { inRow } from "../../text/width.ts";
import type { ArgumentChoice } from "../data.ts";
import type { Command } from "../extension.ts";
import { takesText, unknownText } from "./texts.ts";

const TAIL_LINES = 20;
const TAIL_BYTES = 8000;

export const jobsCommand: Command = {
  name: "jobs",
  group: "Work",
  argument: "[N]",
  help: "list background commands, or the output of one; /jobs stop N stops it",
  question: "Which job?",
  isView: true,
  run: ({ jobs, surface: { columns } }, argument) => runJobs(jobs, argument, columns),
  choices: ({ jobs: { list } }) => jobChoices(list),
};

function jobChoices(list: readonly Job[]): ArgumentChoice[] {
  const running = list.filter(isRunning);
  const row = (verb: string, argument: string, job: Job): ArgumentChoice => ({
    argument,
    label: `${verb} job ${job.number}`,
    detail: oneLine([job.outcome ?? "running", job.command, clockTime(job.elapsedMs)].join(" · ")),
  });
  return [
    ...list.map((job) => row("show", `${job.number}`, job)),
    ...running.map((job) => row("stop", `stop ${job.number}`, job)),
    ...running.length > 0 ? [{ argument: "stop all", label: "stop all jobs" }] : [],
  ];
}

async function runJobs({ list }: Jobs, argument: string, columns: number): Promise<string> {
  if (argument === "") return jobRows(list, columns);
  const [, stop, all, number] = /^(stop(?:\s+|$))?(?:(all)|(\d+))?$/.exec(argument) ?? [];
  if (stop && all) {
    const running = list.filter(isRunning);
    await Promise.all(running.map(stopJob));
    return jobRows(running, columns);
  }
  if (number === undefined) return takesText("jobs", ["N", "stop N", "stop all"]);
  const job = list.find((one) => one.number === Number(number));
  if (!job) return unknownText(`job ${number}`, "/jobs");
  if (stop) {
    await stopJob(job);
    return jobRows([job], columns);
  }
  const output = job.tail(TAIL_BYTES).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const rows = jobRows([job], columns);
  return output === "" ? `${rows}\n  no output` : `${sanitizeProse(output)}\n${rows}`;
}

export function jobRows(
  jobs: readonly Pick<Job, "number" | "command" | "outcome" | "elapsedMs">[],
  columns: number,
): string {
  if (jobs.length === 0) return "Nothing runs in the background.";
  const rows = jobs.map(({ number, command, outcome = "running", elapsedMs }) => (
    { number, command, state: outcome, time: clockTime(elapsedMs) }
  ));
  const states = Math.max(...rows.map(({ state }) => state.length));
  const times = Math.max(...rows.map(({ time }) => time.length));
  return rows.map(({ number, command, state, time }) => {
    const facts = `${`${number}`.padStart(3)}  ${state.padEnd(states)}  ${time.padStart(times)}`;
    return inRow(`${facts}  ${oneLine(command)}`, columns);
  }).join("\n");
}

const isRunning = ({ outcome }: Job): boolean => outcome === undefined;
const stopJob = (job: Job): Promise<void> => job.stop("stopped by the user");
