/**
 * `/jobs`: what runs in the background, for the person.
 *
 * @module
 */

import { sanitizeProse } from "../../text/sanitize.ts";
import { rowsText, styledRow } from "../../terminal/styled.ts";
import { terminalSize } from "../../terminal/tty.ts";
import { shortCommand } from "../../tools/shell/jobs.ts";
import type { Job, Jobs } from "../../types/tool.ts";
import { oneLine } from "../../text/one_line.ts";

/** So much of a job's output is shown. */
const TAIL_LINES = 20;
const TAIL_BYTES = 8000;

/** Lists the jobs, shows the end of the output of one, or stops one or all. */
export async function runJobs({ list }: Jobs, argument: string): Promise<string> {
  if (argument === "") return listJobs(list);
  const [, stop, all, number] = /^(stop(?:\s+|$))?(?:(all)|(\d+))?$/.exec(argument) ?? [];
  if (stop && all) {
    const running = list.filter(({ outcome }) => outcome === undefined);
    await Promise.all(running.map(stopped));
    return running.length === 0 ? "No job runs." : listJobs(running);
  }
  if (number === undefined) return "Use /jobs, /jobs N, /jobs stop N or /jobs stop all";
  const job = list.find((one) => one.number === Number(number));
  if (!job) return `There is no job ${number}: see /jobs`;
  if (stop) await stopped(job);
  const tail = job.tail(TAIL_BYTES).trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  return stop || tail === ""
    ? `${row(job)}${stop ? "" : "\n  no output"}`
    : `${sanitizeProse(tail)}\n${row(job)}`;
}

/** What `/jobs` may be followed by. */
export function jobArguments({ list }: Jobs): string[] {
  const running = list.filter(({ outcome }) => outcome === undefined);
  const numbers = running.map(({ number }) => `stop ${number}`);
  return [
    ...list.map(({ number }) => `${number}`),
    ...numbers,
    ...(numbers[0] ? ["stop all"] : []),
  ];
}

/** Says that a job ended. */
export function jobEnded(job: Job): string {
  return `job ${job.number} is over: ${job.outcome} (${oneLine(shortCommand(job))})`;
}

const stopped = (job: Job): Promise<void> => job.stop("stopped by the user");

function listJobs(list: readonly Job[]): string {
  return list.map(row).join("\n") || "Nothing runs in the background.";
}

/** `  1  running  0:12  npm run dev`, in one row of the terminal. */
function row(job: Job): string {
  const seconds = Math.floor(job.elapsedMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
  const text = `${`${job.number}`.padStart(3)}  ${job.outcome ?? "running"}  ${time}  ${
    oneLine(job.command)
  }`;
  return inRow(text);
}

/** `text` cut to a row of the terminal. */
export function inRow(text: string): string {
  return rowsText([styledRow(text, terminalSize().columns)]).trimEnd();
}
