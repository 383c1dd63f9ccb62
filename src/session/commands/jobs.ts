/** `/jobs`: lists the commands that run in the background, shows the output of one, stops them. @module */

import type { Job, Jobs } from "../../types/tool.ts";
import { clockTime } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import type { ArgumentChoice, Report } from "../report.ts";
import type { Command } from "../state.ts";

/** The end of a job's output that is shown. */
const TAIL_LINES = 20;
const TAIL_BYTES = 8000;

export const jobsCommand: Command = {
  name: "jobs",
  argument: "[N]",
  help:
    "list the commands in the background, or show the output of one; /jobs stop N (or all) ends it",
  run: ({ jobs }, argument) => runJobs(jobs, argument),
  choices: ({ jobs: { list } }) => jobChoices(list),
};

function jobChoices(list: readonly Job[]): ArgumentChoice[] {
  const running = list.filter(isRunning);
  const row = (verb: string, argument: string, job: Job): ArgumentChoice => ({
    argument,
    label: `${verb} ${job.number}`,
    detail: oneLine([job.outcome ?? "running", job.command, clockTime(job.elapsedMs)].join(" · ")),
  });
  return [
    ...list.map((job) => row("show", `${job.number}`, job)),
    ...running.map((job) => row("stop", `stop ${job.number}`, job)),
    ...running.length > 0 ? [{ argument: "stop all", label: "stop all" }] : [],
  ];
}

async function runJobs({ list }: Jobs, argument: string): Promise<Report> {
  if (argument === "") return { type: "jobs", jobs: [...list] };
  const [, stop, all, number] = /^(stop(?:\s+|$))?(?:(all)|(\d+))?$/.exec(argument) ?? [];
  if (stop && all) {
    const running = list.filter(isRunning);
    await Promise.all(running.map(stopJob));
    return { type: "jobs", jobs: running };
  }
  if (number === undefined) {
    return { type: "bad_argument", command: "jobs", takes: ["N", "stop N", "stop all"] };
  }
  const job = list.find((one) => one.number === Number(number));
  if (!job) return { type: "unknown", what: "job", name: number };
  if (stop) {
    await stopJob(job);
    return { type: "jobs", jobs: [job] };
  }
  const output = job.tail(TAIL_BYTES).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  return { type: "jobs", jobs: [job], output };
}

const isRunning = ({ outcome }: Job): boolean => outcome === undefined;
const stopJob = (job: Job): Promise<void> => job.stop("stopped by the user");
