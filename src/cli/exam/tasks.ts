/** The tasks of the exam: those of the program, and the user's own. @module */

import { attempt } from "../../attempt.ts";
import { UsageError } from "../../errors.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { systemProgram } from "../../start_program.ts";
import { oneLine } from "../../text/one_line.ts";
import { dirname, join } from "../../text/std_path.ts";
import { readJsonFile, userFile } from "../../user_files.ts";
import packed from "./tasks.json" with { type: "json" };

/** The optional settings of a task in its `exam.json`: values of these types, and no larger numbers. */
const TASK_SETTINGS = {
  /** A program that the task needs. */
  needs: "",
  seconds: 1e6,
  calls: 1e6,
  tokens: 1e9,
  /** True if it is about the limits of the sandbox, which other agents lack. */
  sandbox: false,
  /** The percentage of the model's window that an earlier conversation fills, with `before` in it. */
  fill: 100,
  before: "",
};
type TaskSettings = Partial<typeof TASK_SETTINGS>;

export interface ExamTask extends TaskSettings {
  name: string;
  skill: string;
  prompt: string;
  check: string;
  /** Makes the files of the task in an empty folder. @throws {Error} */
  copyTo(folder: string): Promise<void>;
}

export const OWN = "own";
/** The skills, the easiest first. */
const SKILLS = ["call", "search", "edit", "stop", "write", "rules", "fix", "memory"];
const SEED_WORDS = "amber birch cobalt delta ember fjord garnet harbor indigo juniper".split(" ");

export const isTaskName = (name: string): boolean =>
  name in packed || [OWN, ...SKILLS].includes(name);

/** Returns a number for a text, the same on each machine. */
export const numberOf = (text: string): number =>
  new TextEncoder().encode(text).reduce((hash, byte) => {
    const product = Math.imul(hash ^ byte, 0x85ebca6b);
    return (product ^ product >>> 13) >>> 0;
  }, 0x811c9dc5);

/** Replaces `@WORD@`, `@NUMBER@` and the like by values of the seed, so that most answers cannot be learned by heart. */
export const seeded = (text: string, seed: string): string =>
  text.replace(/@(WORD|NUMBER)\d?@/g, (mark, kind) => {
    const value = numberOf(`${mark} ${seed}`);
    return kind === "WORD" ? SEED_WORDS[value % SEED_WORDS.length]! : `${1000 + value % 9000}`;
  });

export const canRun = ({ needs }: TaskSettings): boolean =>
  needs === undefined || findProgram(needs, programFolders(), undefined) !== undefined;

/** Returns the program's tasks, in the order of `seed`: with `isQuick`, one of each skill. */
export function builtinTasks(seed: number, isQuick = false): ExamTask[] {
  const all = Object.entries(packed).map(([name, made]): ExamTask => {
    const text = seeded(JSON.stringify(made), `${name} ${seed}`);
    const files: Record<string, string> = JSON.parse(text);
    return {
      ...JSON.parse(files["exam.json"]!),
      name,
      prompt: files["prompt.md"]!,
      check: files["check.sh"]!,
      async copyTo(folder) {
        for (const path of Object.keys(files).filter((path) => path.startsWith("files/"))) {
          const target = join(folder, path.slice("files/".length));
          await Deno.mkdir(dirname(target), { recursive: true });
          await Deno.writeTextFile(target, files[path]!);
        }
      },
    };
  });
  all.sort((a, b) => numberOf(a.name + seed) - numberOf(b.name + seed));
  const groups = SKILLS.map((skill) => all.filter((one) => one.skill === skill));
  // One task of each skill comes first, so that the first few show if the rest is worth the time.
  return (isQuick ? [0] : [0, 1, 2]).flatMap((round) => groups.map((some) => some[round]!));
}

/** Returns the tasks of `~/.config/copilot/exam`. @throws {UsageError} about a folder that is not a task. */
export function ownTasks(): ExamTask[] {
  const home = userFile("exam") ?? "";
  const entries = [...attempt(() => Deno.readDirSync(home)) ?? []];
  const folders = entries.flatMap(({ isDirectory, name }) => isDirectory ? [name] : []);
  return folders.sort().map((folder) => {
    const [at, name] = [join(home, folder), oneLine(folder)];
    if (isTaskName(name)) throw new UsageError(`Rename ${at}: the exam has this name already`);
    const read = (file: string) => {
      const path = join(at, file);
      // A device may have no end.
      const text = attempt(() => Deno.statSync(path).isFile && Deno.readTextFileSync(path));
      if (text && text.trim()) return text;
      throw new UsageError(`Cannot use the task ${at} as it needs the file ${file}, with text`);
    };
    const settings: TaskSettings = readJsonFile(join(at, "exam.json")) ?? {};
    for (const [key, value] of Object.entries(settings)) {
      const most = new Map<string, unknown>(Object.entries(TASK_SETTINGS)).get(key);
      const share = typeof most === "number" ? (value as number) / most : 1;
      if (typeof value === typeof most && share > 0 && share <= 1) continue;
      const known = Object.entries(TASK_SETTINGS)
        .map(([name, one]) => `${name}: ${one ? `1 to ${one}` : `a ${typeof one}`}`).join(", ");
      throw new UsageError(`Cannot use "${key}" in ${at}/exam.json; there are ${known}`);
    }
    return {
      ...settings,
      name,
      skill: OWN,
      prompt: read("prompt.md"),
      check: read("check.sh"),
      copyTo: (folder: string) => copyFolder(join(at, "files"), folder),
    };
  });
}

/** Copies a folder; links are copied as links. A missing one is empty. @throws {Error} */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  if (!attempt(() => Deno.statSync(from))) return;
  const { success, stderr } = await systemProgram("cp", { args: ["-R", `${from}/.`, to] }).output();
  if (!success) throw new Error(oneLine(new TextDecoder().decode(stderr)));
}
