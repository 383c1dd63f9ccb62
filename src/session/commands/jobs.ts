/** `/jobs`: lists the commands that run in the background, shows the output of one, stops them. @module */

import type { Job, Jobs } from "../../types/tool.ts";
import { type Report, sentence } from "../report.ts";
import type { Command } from "../state.ts";

/** The end of a job's output that is shown. */
const TAIL_LINES = 20;
const TAIL_BYTES = 8000;

export const jobsCommand: Command = {
  name: "jobs",
  argument: "[N]",
  help: "list what runs in the background, or show the end of its output; /jobs stop N (or all)",
  run: ({ jobs }, argument) => runJobs(jobs, argument),
  values({ jobs: { list } }) {
    const stops = list.filter(isRunning).map(({ number }) => `stop ${number}`);
    const all = stops.length > 0 ? ["stop all"] : [];
    return [...list.map(({ number }) => `${number}`), ...stops, ...all];
  },
};

async function runJobs({ list }: Jobs, argument: string): Promise<Report> {
  if (argument === "") return { type: "jobs", jobs: [...list] };
  const [, stop, all, number] = /^(stop(?:\s+|$))?(?:(all)|(\d+))?$/.exec(argument) ?? [];
  if (stop && all) {
    const running = list.filter(isRunning);
    await Promise.all(running.map(stopJob));
    return running.length === 0 ? sentence("No job runs.") : { type: "jobs", jobs: running };
  }
  if (number === undefined) return sentence("Use /jobs, /jobs N, /jobs stop N or /jobs stop all");
  const job = list.find((one) => one.number === Number(number));
  if (!job) return sentence(`There is no job ${number}: see /jobs`);
  if (stop) {
    await stopJob(job);
    return { type: "jobs", jobs: [job] };
  }
  const output = job.tail(TAIL_BYTES).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  return { type: "jobs", jobs: [job], output };
}

const isRunning = ({ outcome }: Job): boolean => outcome === undefined;
const stopJob = (job: Job): Promise<void> => job.stop("stopped by the user");
