/** Checks files before and after edits, and finds the errors that an edit adds. @module */

import { attempt } from "../../attempt.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { basename, dirname, join, relative, resolve, slashed } from "../../text/std_path.ts";
import { isWithin } from "../../text/paths.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { shellWord } from "../../text/shell_word.ts";
import { runShell } from "../../tools/shell/shell_process.ts";
import type { ToolContext } from "../../types/tool.ts";
import { within } from "../../wire/wait.ts";
import { type Checker, LOCAL_PROGRAMS } from "./checkers.ts";

const CHECK_LIMITS = { file: 3000, project: 10_000, first: 60_000 };
const MAX_CHECK_OUTPUT = 64 * 1024;
const MAX_ERROR_CHARS = 200;
const MAX_OUTPUT_LINE = 500;

export interface CheckError {
  checker: string;
  file: string;
  line: number;
  text: string;
}

export interface CheckContext extends ToolContext {
  isSandboxed: boolean;
  /** True for a command that the policy allows, or would only ask about in the sandbox. */
  mayRun(command: string): Promise<boolean>;
}

/** One run of a checker: of a project, or of a file in the working directory. */
interface CheckRun {
  checker: Checker;
  folder: string;
  /** The command in it, which also identifies the run. */
  command: string;
}

export class EditChecks {
  /** The errors of each run when it last ran. */
  readonly #known = new Map<string, Map<string, number>>();
  readonly #running = new Set<string>();
  readonly #slow = new Set<string>();

  constructor(
    private readonly checkers: readonly Checker[],
    private readonly tell: (line: string) => void,
    private readonly limits: typeof CHECK_LIMITS = CHECK_LIMITS,
  ) {}

  async before(file: string, context: CheckContext): Promise<void> {
    const runs = this.#runs(file, context);
    const missing = runs.filter(({ command }) => !this.#known.has(command));
    const exists = attempt(() => Deno.statSync(file).isFile) === true;
    await Promise.all(missing.map((run) => this.#first(run, exists, context)));
  }

  async #first(run: CheckRun, exists: boolean, context: CheckContext): Promise<void> {
    const { command, checker } = run;
    const { file, project, first } = this.limits;
    if (!exists && isOfFile(checker)) return void this.#known.set(command, new Map());
    this.#running.add(command);
    const running = this.#errors(run, context, checker.project ? first : file).then((errors) => {
      if (errors) this.#known.set(command, counted(errors));
    }).finally(() => this.#running.delete(command));
    // Without a cache, a compiler takes long. The edit does not wait for all of it, but the cache gets filled.
    await (checker.project ? within(project, running) : running);
    running.catch(() => {});
  }

  async after(files: ReadonlySet<string>, context: CheckContext): Promise<CheckError[]> {
    const runs = [...files].flatMap((file) => this.#runs(file, context));
    const each = new Map(runs.map((run) => [run.command, run]));
    for (const command of this.#running) each.delete(command);
    const found = await Promise.all([...each].map(async ([command, run]) => {
      const { file, project } = this.limits;
      const errors = await this.#errors(run, context, run.checker.project ? project : file);
      if (!errors) return [];
      const before = this.#known.get(command);
      this.#known.set(command, counted(errors));
      if (!before) return [];
      const left = new Map(before);
      return errors.filter((error) => {
        const same = left.get(errorKey(error)) ?? 0;
        left.set(errorKey(error), same - 1);
        return same <= 0;
      });
    }));
    return found.flat();
  }

  #runs(file: string, context: CheckContext): CheckRun[] {
    const { workingDir } = context;
    const folders = programFolders(workingDir);
    const names = [basename(file), slashed(relative(workingDir, file))];
    let isProject = false;
    return this.checkers.flatMap((checker) => {
      const { name, files, project, program, isLocal } = checker;
      if (this.#slow.has(name) || !names.some((one) => files.test(one))) return [];
      // A project is checked by one program, and its files by no other of the same language.
      if (isProject && !project && isOfFile(checker)) return [];
      const folder = project
        ? project.map((one) => nearestFolder(file, one, workingDir)).find((one) => one)
        : workingDir;
      if (folder === undefined) return [];
      const local = isLocal ? localProgram(program!, folder, context) : undefined;
      if (program && !local && !findProgram(program, folders, workingDir)) return [];
      isProject ||= project !== undefined;
      const words = checker.command.replaceAll("{}", shellWord(file));
      const whole = local ? shellWord(local) + words.slice(program!.length) : words;
      return [{ checker, folder, command: `cd ${shellWord(folder)} && ${whole}` }];
    });
  }

  /** Returns the errors of a run; undefined if it does not end in time or cannot run. */
  async #errors(
    { checker, folder, command }: CheckRun,
    context: CheckContext,
    timeoutMs: number,
  ): Promise<CheckError[] | undefined> {
    const variables = { NO_COLOR: "1" };
    const options = { timeoutMs, maxBytes: MAX_CHECK_OUTPUT, variables };
    try {
      if (!await context.mayRun(command)) return undefined;
      const { ended, status, streams } = await runShell(command, context, options);
      if (ended === "timeout") {
        this.#slow.add(checker.name);
        const seconds = timeoutMs / 1000;
        this.tell(
          `${checker.name} takes over ${seconds} s: it checks no more edits in this session`,
        );
      }
      if (ended !== "exit") return undefined;
      const text = Object.values(streams).map((one) => one.text(MAX_CHECK_OUTPUT)).join("\n");
      // Patterns take long for long lines, which a checked file may have.
      const lines = text.split("\n").map((line) => line.slice(0, MAX_OUTPUT_LINE));
      const matches = [...lines.join("\n").matchAll(checker.error)];
      if (status?.code !== 0 && matches.length === 0) {
        const why = lines.find((line) => line.trim() !== "") ?? "it printed nothing";
        this.tell(`${checker.name} cannot check (exit code ${status?.code}): ${oneLine(why)}`);
      }
      return errorsIn(matches, checker, folder, context.workingDir);
    } catch {
      context.signal.throwIfAborted();
      return undefined;
    }
  }
}

function errorsIn(
  matches: readonly RegExpExecArray[],
  checker: Checker,
  folder: string,
  workingDir: string,
): CheckError[] {
  return matches.filter(({ groups }) => !checker.ignores?.test(groups!.text!))
    .map(({ groups }) => ({
      checker: checker.name,
      file: relative(workingDir, resolve(folder, groups!.file ?? "")),
      line: Number(groups!.line ?? 1),
      text: shortened(oneLine(groups!.text!), MAX_ERROR_CHARS),
    }));
}

/** Returns the nearest folder around `file` that has a file `name`, from its own up to `top`. */
export function nearestFolder(file: string, name: string, top: string): string | undefined {
  for (let at = dirname(file); isWithin(top, at); at = dirname(at)) {
    if (attempt(() => Deno.statSync(join(at, name)).isFile)) return at;
    if (at === dirname(at)) break;
  }
  return undefined;
}

/** Returns the project's own program, which runs in the sandbox only. */
export function localProgram(
  name: string,
  folder: string,
  { isSandboxed, workingDir: top }: Pick<CheckContext, "isSandboxed" | "workingDir">,
): string | undefined {
  if (!isSandboxed) return undefined;
  const at = nearestFolder(join(folder, "_"), LOCAL_PROGRAMS + name, top);
  return at === undefined ? undefined : join(at, LOCAL_PROGRAMS, name);
}

const isOfFile = ({ command }: Checker): boolean => command.includes("{}");

/** An error without its line, which edits above it move. */
const errorKey = ({ file, text }: CheckError): string => `${file} ${text}`;

function counted(errors: readonly CheckError[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const error of errors) counts.set(errorKey(error), (counts.get(errorKey(error)) ?? 0) + 1);
  return counts;
}
