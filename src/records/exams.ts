/** The results of `copilot exam`, by server and model. @module */

import { attempt } from "../attempt.ts";
import { isObject } from "../text/json.ts";
import { readJsonFile, replaceUserFile, stateFolder } from "../user_files.ts";

export interface ExamScore {
  passed: number;
  /** The tasks that ran, and those of the whole exam. Fewer ran if it was stopped. */
  ran: number;
  of: number;
  /** Passed and all tasks by skill, such as `2/3`. */
  skills: Record<string, string>;
  /** Tokens per second. */
  writeSpeed?: number;
}

const fileOfExams = () => `${stateFolder() ?? ""}/exam.json`;
const storedExams = () =>
  (attempt(() => readJsonFile(fileOfExams())) ?? {}) as Record<string, ExamScore>;
const examKey = (server: string, model: string) =>
  `${server.replace(/^localhost(?=:|$)/, "127.0.0.1")}#${model}`;

/** Returns a function that formats the stored score of a model, such as `exam 22/24`; empty without one. */
export function examScores(): (server: string, model: string) => string {
  const all = storedExams();
  return (server, model) => {
    const found = all[examKey(server, model)];
    return isObject(found) ? `exam ${scoreText(found)}` : "";
  };
}

export const scoreText = ({ passed, ran, of }: ExamScore): string =>
  `${passed}/${ran}${ran < of ? ` (of ${of})` : ""}`;

/** Stores a score. One that was stopped does not replace a complete one. @throws {Error} */
export async function keepScore(server: string, model: string, score: ExamScore): Promise<void> {
  const [all, key] = [storedExams(), examKey(server, model)];
  const before = all[key] ?? score;
  if (stateFolder() === undefined || score.ran < score.of && before.ran >= before.of) return;
  await replaceUserFile(fileOfExams(), `${JSON.stringify({ ...all, [key]: score }, null, 2)}\n`);
}
