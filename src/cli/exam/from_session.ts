/** `copilot replay ID --as-exam NAME`: makes a task of the exam from a recorded session. @module */

import { attempt } from "../../attempt.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { typedText } from "../../text/parts.ts";
import { join } from "../../text/std_path.ts";
import { userFile } from "../../user_files.ts";
import type { Message } from "../../types/message.ts";
import type { Args } from "../args.ts";
import type { Run } from "../process.ts";
import { whyCheckFails } from "./run_task.ts";
import { copyFolder, isTaskName } from "./tasks.ts";

/** Makes a task of the first message of a session and of its folder, which `copy` copies to `at`. @throws {UsageError} */
export async function keepAsExam(
  session: { folder: string; first: Message; at: string; copy(): Promise<string> },
  { "as-exam": name = "", until }: Args,
  { stdout, stderr, signal }: Run,
): Promise<number> {
  const { folder, first, at, copy } = session;
  if (!/^\w[\w.-]*$/.test(name) || !until?.trim()) {
    throw new UsageError("--as-exam needs a name of letters and digits, and --until COMMAND");
  }
  const target = userFile(`exam/${name}`);
  if (target === undefined) throw new UsageError("--as-exam needs a home folder");
  if (isTaskName(name) || attempt(() => Deno.lstatSync(target))) {
    throw new UsageError(`There is a task ${name}: choose another name`);
  }
  const prompt = typedText(first).replaceAll(`${folder}/`, "").trim();
  if (prompt === "") throw new UsageError("The first message of this session has no text");
  stderr.line(await copy());
  attempt(() => Deno.removeSync(join(at, ".git"), { recursive: true }));
  let isTask = false;
  try {
    Deno.mkdirSync(join(target, "files"), { recursive: true, mode: 0o700 });
    // Before the check, which may leave files.
    await copyFolder(at, join(target, "files"));
    Deno.writeTextFileSync(join(target, "prompt.md"), `${prompt}\n`);
    Deno.writeTextFileSync(join(target, "check.sh"), `${until}\n`);
    const why = await whyCheckFails(until, at, signal);
    isTask = why !== undefined && !/: command not found$/.test(why);
    const passes = "The check passes in the folder before the work (without git: as it is now)";
    const fault = why === undefined ? passes : `The check cannot run: ${why}`;
    stderr.line(isTask ? `· the check fails as it should: ${why}` : `copilot: ${fault}`);
  } finally {
    if (!isTask) attempt(() => Deno.removeSync(target, { recursive: true }));
  }
  if (isTask) stdout.line(`${target} is a task of copilot exam now`);
  return isTask ? EXIT.done : EXIT.check;
}
