/** `copilot replay ID --as-exam NAME`: makes a task of the exam from a recorded session. @module */

import { attempt } from "../../attempt.ts";
import { compatConfig } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { typedText } from "../../text/parts.ts";
import { reasonOf } from "../../text/reason.ts";
import { join } from "../../text/std_path.ts";
import { userFile } from "../../user_files.ts";
import type { Message } from "../../types/message.ts";
import type { Args } from "../args.ts";
import type { Run } from "../process.ts";
import { checkFault } from "./run_task.ts";
import { copyFolder } from "./tasks.ts";

/** A session to make a task from. */
interface ExamSource {
  /** The working directory of the session. */
  folder: string;
  first: Message;
  /** Copies the folder as it was to a path, and returns the path of the working directory in it. */
  copyTo(path: string): Promise<string>;
}

/** Writes the task to the user's folder. Returns the exit code. @throws {UsageError} */
export async function keepAsExam(
  { folder, first, copyTo }: ExamSource,
  { "as-exam": name = "", until }: Args,
  { stdout, stderr, signal }: Run,
): Promise<number> {
  if (!/^\w[\w.-]*$/.test(name)) {
    throw new UsageError("--as-exam needs a name of letters, digits, dots and dashes");
  }
  if (!until?.trim()) throw new UsageError("--as-exam needs --until COMMAND, the task's check");
  const target = userFile(`exam/${name}`);
  if (target === undefined) throw new UsageError("--as-exam needs a home folder");
  if (attempt(() => Deno.lstatSync(target))) {
    throw new UsageError(`${target} exists: choose another name, or remove it`);
  }
  const prompt = typedText(first).replaceAll(`${folder}/`, "").trim();
  if (prompt === "") throw new UsageError("The first message of this session has no text");
  const home = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "copilot-exam-" }));
  try {
    const copy = await copyTo(join(home, "copy"));
    attempt(() => Deno.removeSync(join(copy, ".git"), { recursive: true }));
    // Before the check, which may leave files.
    Deno.mkdirSync(join(target, "files"), { recursive: true, mode: 0o700 });
    await copyFolder(copy, join(target, "files"));
    const config = { compat: compatConfig({ baseUrl: "http://127.0.0.1/v1" }) };
    const fault = await checkFault(until, copy, { config, signal });
    if (fault === undefined) {
      Deno.removeSync(target, { recursive: true });
      stderr.line(`copilot: The check passes before anything is done: name one that fails then`);
      return EXIT.check;
    }
    Deno.writeTextFileSync(join(target, "prompt.md"), `${prompt}\n`);
    Deno.writeTextFileSync(join(target, "check.sh"), `${until}\n`);
    stderr.line(`· the check fails as it should: ${fault}`);
    stdout.line(`${target} is a task of copilot exam now`);
    return EXIT.done;
  } catch (error) {
    attempt(() => Deno.removeSync(target, { recursive: true }));
    signal.throwIfAborted();
    stderr.line(`copilot: Cannot make the task: ${reasonOf(error)}`);
    return EXIT.error;
  } finally {
    attempt(() => Deno.removeSync(home, { recursive: true }));
  }
}
