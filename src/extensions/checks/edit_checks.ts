/** Checks and formats edited files, and finds the errors that an edit adds. @module */

import { attempt } from "../../attempt.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { basename, dirname, join, relative, resolve, slashed } from "../../text/std_path.ts";
import { entriesBelow } from "../../session/snapshot.ts";
import { isWithin } from "../../text/paths.ts";
import { digestOf } from "../../text/digest.ts";
import { diffLines } from "../../text/diff.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { stampOf, stampOfInfo } from "../../tools/files/seen_files.ts";
import { turnOfOthers } from "../../tools/search/run_search.ts";
import { shellWord } from "../../text/shell_word.ts";
import { runShell } from "../../tools/shell/shell_process.ts";
import type { ToolContext } from "../../types/tool.ts";
import { within } from "../../wire/wait.ts";
import { readBoundedText } from "../bounded_text.ts";
import type { Checker } from "./checkers.ts";

const CHECK_LIMITS = { file: 3000, project: 10_000, first: 60_000 };
const MAX_CHECK_OUTPUT = 64 * 1024;
const MAX_ERROR_CHARS = 200;
const MAX_OUTPUT_LINE = 500;
const MAX_FORMATTED_BYTES = 1024 * 1024;
const MAX_FORMATTED_LINES = 20;
/** The longest time without a pause, in ms. */
const WALK_SLICE_MS = 30;
const LOCAL_PROGRAMS = "node_modules/.bin/";

interface CheckError {
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

/** One run of a checker: of a project, or of a file in the working directory. Its command identifies it. */
interface CheckRun {
  checker: Checker;
  file: string;
  folder: string;
  /** The command, which starts in any folder. */
  command: string;
}

interface KnownErrors {
  state: string;
  errors: Promise<CheckError[] | undefined>;
}

export class EditChecks {
  /** The errors of each run when it last ran, and the state of its files then. */
  readonly #known = new Map<string, KnownErrors>();
  /** The runs whose errors are known for the files before the edits of this answer. */
  readonly #begun = new Set<string>();
  readonly #slow = new Set<string>();

  constructor(
    private readonly checkers: readonly Checker[],
    private readonly tell: (line: string) => void,
    private readonly limits: typeof CHECK_LIMITS = CHECK_LIMITS,
  ) {}

  /** @param isFirst true for the first edit of an answer */
  async before(file: string, context: CheckContext, isFirst = true): Promise<void> {
    if (isFirst) this.#begun.clear();
    const isNew = attempt(() => Deno.statSync(file).isFile) !== true;
    await Promise.all(
      this.#runs(file, context).map(async (run) => {
        const { command, checker } = run;
        const { project, first } = this.limits;
        const last = this.#known.get(command);
        const isBegun = this.#begun.has(command);
        this.#begun.add(command);
        // Without a cache, a compiler takes long. The edit does not wait for all of it, but the cache gets filled.
        const found = last && await within(project, last.errors);
        if (last && (isBegun || !found)) return;
        const state = await checkedState(run);
        if (last?.state === state) return;
        const isClean = isNew && isOfFile(checker);
        const limit = !checker.project ? this.limits.file : last ? project : first;
        const errors = isClean ? Promise.resolve([]) : this.#errors(run, context, limit);
        this.#known.set(command, { state, errors });
        errors.then((found) => found ?? this.#known.delete(command), () => {});
        await within(project, errors);
      }),
    );
  }

  async after(files: ReadonlySet<string>, context: CheckContext): Promise<CheckError[]> {
    const runs = [...files].flatMap((file) => this.#runs(file, context));
    const each = new Map(runs.map((run) => [run.command, run]));
    const found = await Promise.all([...each].map(async ([command, run]) => {
      const { file, project } = this.limits;
      const known = this.#known.get(command);
      const before = known && await within(0, known.errors);
      const state = before && await checkedState(run);
      const errors = before &&
        await this.#errors(run, context, run.checker.project ? project : file);
      if (!errors) return [];
      this.#known.set(command, { state: state!, errors: Promise.resolve(errors) });
      const left = before.map(errorKey);
      return errors.filter((error) => {
        const at = left.indexOf(errorKey(error));
        return at === -1 || !left.splice(at, 1);
      });
    }));
    return found.flat();
  }

  /** Runs the formatters of the settings. Returns for each change a line for the user, and its rows for the model. */
  async format(files: ReadonlySet<string>, context: CheckContext): Promise<[string, string][]> {
    const changes: [string, string][] = [];
    for (const file of files) {
      const path = attempt(() => Deno.realPathSync(file)) ?? file;
      // A job may replace the file by a link: what is read here, the model reads.
      const read = async () =>
        isWithin(context.workingDir, path)
          ? await readBoundedText(path, MAX_FORMATTED_BYTES, context.workingDir)
          : undefined;
      for (const run of this.#runs(file, context, true)) {
        const before = await read();
        if (before === undefined) continue;
        await this.#errors(run, context, this.limits.file);
        const after = await read();
        if (after === undefined || after === before) continue;
        const stamp = await stampOf(path);
        context.onWritten?.({ path, stamp });
        const rows = diffLines(before, after, 0).map(({ kind, text, line }) =>
          `${kind}${line}: ${text}`
        );
        const isWhole = rows.splice(MAX_FORMATTED_LINES).length === 0;
        // The model has to read the file if it does not see all of the changes.
        if (isWhole) context.seenFiles?.set(path, stamp);
        else context.seenFiles?.delete(path);
        const more = isWhole ? "" : "\nand more: read it before you edit it again";
        const name = relative(context.workingDir, file);
        changes.push([`${run.checker.name} formatted ${name}`, rows.join("\n") + more]);
      }
    }
    return changes;
  }

  #runs(file: string, context: CheckContext, format = false): CheckRun[] {
    const runs: CheckRun[] = [];
    for (const checker of this.checkers.filter((one) => (one.format ?? false) === format)) {
      // A project is checked by one program, and its files by no other of the same language.
      const isChecked = runs.some((run) => run.checker.project !== undefined);
      if (isChecked && !checker.project && isOfFile(checker)) continue;
      const run = this.#slow.has(checker.name) ? undefined : runOf(checker, file, context);
      if (run) runs.push(run);
    }
    return runs;
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
          `${checker.name} takes over ${seconds} s: it is not used again in this session`,
        );
      }
      if (ended !== "exit") return undefined;
      const text = Object.values(streams).map((one) => one.text(MAX_CHECK_OUTPUT)).join("\n");
      // Patterns take long for long lines, which a checked file may have.
      const lines = text.split("\n").map((line) => line.slice(0, MAX_OUTPUT_LINE));
      const matches = [...lines.join("\n").matchAll(checker.error)];
      if (status?.code !== 0 && matches.length === 0) {
        const why = lines.find((line) => line.trim() !== "") ?? "it printed nothing";
        const does = checker.format ? "format" : "check";
        this.tell(`${checker.name} cannot ${does} (exit code ${status?.code}): ${oneLine(why)}`);
      }
      return matches.filter(({ groups }) => !checker.ignores?.test(groups!.text!))
        .map(({ groups }) => ({
          checker: checker.name,
          file: relative(context.workingDir, resolve(folder, groups!.file ?? "")),
          line: Number(groups!.line ?? 1),
          text: shortened(oneLine(groups!.text!), MAX_ERROR_CHARS),
        }));
    } catch {
      context.signal.throwIfAborted();
      return undefined;
    }
  }
}

/** Returns how a program runs for a file; undefined if the file is of another kind or project, or without the program. */
function runOf(
  checker: Checker,
  file: string,
  { workingDir: top, isSandboxed }: CheckContext,
): CheckRun | undefined {
  const { command, project, program, isLocal } = checker;
  if (!isCheckedBy(file, checker, top)) return;
  const folder = project ? nearestFolder(file, project, top) : top;
  if (folder === undefined) return undefined;
  let words = command.replaceAll("{}", () => shellWord(file));
  if (program) {
    // The project's own program runs in the sandbox only.
    const at = isLocal && isSandboxed && nearestFolder(file, [LOCAL_PROGRAMS + program], top);
    if (at) words = shellWord(join(at, LOCAL_PROGRAMS, program)) + words.slice(program.length);
    else if (!findProgram(program, programFolders(top), top)) return undefined;
  }
  return { checker, file, folder, command: `cd ${shellWord(folder)} && ${words}` };
}

/** Returns a text that changes with the file of a run, or with the files of its project. */
async function checkedState({ checker, file, folder }: CheckRun): Promise<string> {
  if (isOfFile(checker)) return attempt(() => stampOfInfo(Deno.statSync(file))) ?? "";
  let stamps = "";
  let end = performance.now() + WALK_SLICE_MS;
  for (const { path, info } of entriesBelow(folder)) {
    if (performance.now() > end) {
      await turnOfOthers();
      end = performance.now() + WALK_SLICE_MS;
    }
    const isRead = isCheckedBy(path, checker, folder) || checker.project?.includes(basename(path));
    if (isRead) stamps += `${path} ${stampOfInfo(info)}\n`;
  }
  return await digestOf(stamps);
}

/** Returns the nearest folder around `file`, up to `top`, that has one of the files `names`. */
function nearestFolder(file: string, names: readonly string[], top: string): string | undefined {
  for (let at = dirname(file); isWithin(top, at); at = dirname(at)) {
    if (names.some((name) => attempt(() => Deno.statSync(join(at, name)).isFile))) return at;
    if (at === dirname(at)) break;
  }
  return undefined;
}

const isCheckedBy = (path: string, { files }: Checker, top: string): boolean =>
  [basename(path), slashed(relative(top, path))].some((one) => files.test(one));

const isOfFile = ({ command }: Checker): boolean => command.includes("{}");

/** An error without its line, which edits above it move. */
const errorKey = ({ file, text }: CheckError): string => `${file} ${text}`;
