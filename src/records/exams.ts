/** The results of `copilot exam`, by server and model. @module */

import { attempt } from "../attempt.ts";
import { isObject } from "../text/json.ts";
import { readJsonFile, replaceUserFile, stateFolder } from "../user_files.ts";

export interface ExamScore {
  passed: number;
  ran: number;
  /** The number of tasks in the exam if some did not run, the flags that change the score, and the number of timeouts. */
  notes: string[];
  /** True if all tasks ran, without flags that change the result. */
  isWhole: boolean;
}

const fileOfExams = () => `${stateFolder() ?? ""}/exam.json`;
const storedExams = () =>
  (attempt(() => readJsonFile(fileOfExams())) ?? {}) as Record<string, ExamScore>;
const examKey = (server: string, model: string) =>
  `${server.replace(/^localhost(?=:|$)/, "127.0.0.1")}#${model.replace(/:latest$/, "")}`;

/** Returns a function that formats the stored score of a model, such as `exam 22/24`; empty without one. */
export function examScores(): (server: string, model: string) => string {
  const all = storedExams();
  return (server, model) => {
    const found = all[examKey(server, model)];
    return isObject(found) ? `exam ${scoreText(found)}` : "";
  };
}

export const scoreText = ({ passed, ran, notes = [] }: ExamScore): string =>
  `${passed}/${ran}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;

/** Stores a score. A partial one replaces neither a whole one nor one of more tasks. @throws {Error} */
export async function keepScore(server: string, model: string, score: ExamScore): Promise<void> {
  const [all, key] = [storedExams(), examKey(server, model)];
  const { isWhole = false, ran = 0 } = all[key] ?? {};
  if (stateFolder() === undefined || !score.isWhole && (isWhole || ran > score.ran)) return;
  await replaceUserFile(fileOfExams(), `${JSON.stringify({ ...all, [key]: score }, null, 2)}\n`);
}
