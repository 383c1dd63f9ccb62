/** Tools, and the context of a running tool, as plain JSON apart from functions. @module */

import type { Confine, Right, SandboxLimit } from "./confine.ts";
import type { ImageLimits, ImagePart } from "./image.ts";

/** The supported part of JSON Schema, which `tools/schema.ts` documents. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The most that a tool may touch. Calls of `"read"` tools may run in parallel. */
export type ToolAccess = "read" | "write" | "execute" | "network";

/** The context of a running tool, in addition to its arguments. */
export interface ToolContext {
  /** The absolute folder against which relative paths are resolved. */
  workingDir: string;
  /** The user's message of this turn, as typed. */
  request?: string;
  /** The maximum length of a result, in characters. */
  maxOutputChars: number;
  /** Aborted with the turn. A tool then stops at once and throws the signal's `reason`. */
  signal: AbortSignal;
  /** The files by real path as the model last saw them. With it, tools replace no file that it has not seen. */
  seenFiles?: Map<string, string>;
  /** Called with each written file, so that it can be restored. */
  onWritten?: OnWritten;
  /** Sandboxes a program, or throws an error for the model. If it is missing, programs are not sandboxed. */
  confine?: Confine;
  /** The background commands. If it is missing, commands cannot run in the background. */
  jobs?: Jobs;
  /** Called with a function that returns the tool's newest output, for a waiting user. */
  onOutput?: (newest: NewestOutput) => void;
  /** Additional variables for programs: names, or patterns such as `AWS_*`. */
  env?: readonly string[];
  /** The id of the call; missing if the tool is called directly. */
  callId?: string;
  /** The name of the sub-agent that makes the call; missing for the main agent. */
  subAgent?: string;
  /** True for a call that changes nothing outside of `workingDir`, the copy of a folder. */
  isIsolated?: true;
  /** True if the user asked for the call, by naming a file in a message. */
  isFromUser?: true;
  /** The right that the call has beyond the sandbox. */
  right?: Right;
  /** The user's editor. Its unsaved text has priority over the disk. */
  editor?: EditorFiles;
  /** The limits of images in results; missing if the model may not see images. */
  imageLimits?: ImageLimits;
  /** True if a rule of the user names the host of the call, which may then be on a local network. */
  mayBePrivate?: true;
  /** The policy's limits. If they are missing, a path is opened wherever its links lead. */
  grant?: Grant;
}

/** Returns the newest lines of output, or so many characters of its end; for a sub-agent, its work. */
export type NewestOutput = (chars?: number) => string | SubProgress;

/** The work of a sub-agent so far. */
export interface SubProgress {
  /** Its newest finished calls, oldest first. */
  calls: readonly SubCall[];
  /** The running call; missing while the sub-agent waits for its model. */
  running?: Pick<SubCall, "toolName" | "subject">;
  /** The number of all its calls. */
  made: number;
  /** Tokens of its requests and answers. */
  tokens: number;
}

/** The files of an editor, including unsaved text. */
export interface EditorFiles {
  /** Returns the text of an absolute path; undefined if the editor has no such file. If missing, the disk has it all. */
  read?(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes a file. If it is missing, the disk is written. @throws {Error} if the editor cannot write it. */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
  /** The paths whose text the editor had recently. Searches use that text. */
  readonly known: ReadonlySet<string>;
}

/** The limits of the permission for one call. */
export interface Grant {
  /** The target of the call's path, with links resolved. A tool opens exactly this place or throws. */
  realPath: string;
  /** Files and folders that a search omits: reading them by name would be refused or asked about. */
  withheld: HiddenPaths;
  /** True if the file had other hard links when the call was decided. Only then is it written in place. */
  isShared?: true;
  /** True if commands that run may not write the file, but could write a new one at its path. It is written in place. */
  isHeld?: true;
  /** True if the path may contain secrets: a {@linkcode Change} then shows no lines of it. */
  isSecret?: boolean;
}

/** Files and folders that a search omits: patterns for paths with `/`, in Unicode form NFC. */
export interface HiddenPaths {
  /** The real working directory. */
  folder: string;
  /** Files and folders: relative where they are in `folder`, else absolute. */
  paths: readonly RegExp[];
  /** Files and folders, absolute. */
  absolute?: readonly RegExp[];
  /** Files, absolute. */
  files?: RegExp;
}

/** A background command. */
export interface Job {
  /** Its number, from 1. {@linkcode Jobs.add} assigns it. */
  number: number;
  /** The command, as the model gave it. */
  readonly command: string;
  /** How it ended, in a few words; undefined while it runs. */
  readonly outcome: string | undefined;
  /** Its exit code; undefined while it runs, and if it was stopped or ended by a signal. */
  readonly exitCode?: number | undefined;
  /** The limit of the sandbox that made it fail. */
  readonly limit?: SandboxLimit | undefined;
  /** Its running time, in milliseconds. */
  readonly elapsedMs: number;
  /** True once the model knows how it ended. */
  isReported: boolean;
  /** Returns the end of its output, at most `maxBytes` bytes. */
  tail(maxBytes: number): string;
  /** Returns its state and its output since the last report, for the model. Waits briefly for new output. */
  report(signal: AbortSignal): Promise<string>;
  /** Ends all its processes. `outcome` becomes its outcome if it has no outcome yet. */
  stop(outcome: string): Promise<void>;
  /** Kills its processes at once, as the end of the program does. */
  kill(): void;
}

/** The background commands. Disposing of it ends them all. `jobStore` creates one. */
export interface Jobs extends AsyncDisposable {
  /** The running jobs and the newest finished ones, oldest first. */
  readonly list: readonly Job[];
  /** Called with each job that ended by itself. */
  onEnd?: (job: Job) => void;
  /** Throws a `RangeError` if too many jobs are running, or if the session is over. */
  checkRoom(): void;
  /** Adds a started job. Ends it if it comes too late. */
  add(job: Job): void;
  /** Removes a job without a trace. */
  remove(job: Job): void;
  /** Runs `move` if the user wants the running command in the background, until the result is disposed of. */
  onMove(move: () => void): Disposable;
  /** Moves running commands to the background, as many as may be jobs. Returns their number; undefined if no command runs. */
  moveRunning(): number | undefined;
}

/** Called with each written file. */
export type OnWritten = (file: {
  /** The real path. */
  path: string;
  /** Changes whenever the file is written again. */
  stamp: string;
  /** The previous file, if any. `bytes` is missing if it had over 16 MiB or cannot be read. */
  before?: { bytes?: Uint8Array };
  /** How many of the folders that contain the file were created for it. */
  newFolders?: number;
}) => void;

/**
 * What a call does. `find` looks for file names and `search` for text in files. `start` runs a command in the
 * background, `check` reads its output. `edit` changes parts of a file, `write` replaces all of it. `plan` lists
 * the steps of the work, `explore` runs a sub-agent, `fetch` reads a web page.
 */
export type CallAction =
  | "read"
  | "list"
  | "find"
  | "search"
  | "run"
  | "start"
  | "check"
  | "edit"
  | "write"
  | "plan"
  | "explore"
  | "fetch";

/** A step of long work, as the model lists it. */
export interface TaskItem {
  /** The step, in the model's words. */
  text: string;
  /** True once it is done. */
  isDone: boolean;
}

/** The subject of a call, for policies and for users: at most one of `path`, `command` and `url`. */
export interface Subject {
  /** A file or folder, as the call names it. */
  path?: string;
  /** True if `path` is a file that the call opens, not a folder. */
  isFile?: true;
  /** True if the call shows names of files at `path`, but no contents. */
  showsNames?: true;
  /** A shell command. */
  command?: string;
  /** The part of the sandbox that the call asks to leave. */
  leave?: "network" | "sandbox";
  /** The reason, in the model's words. */
  reason?: string;
  /** An address. */
  url?: string;
  /** The pattern to search for. */
  query?: string;
  /** The number of a job. */
  job?: number;
  /** The task of a sub-agent. */
  task?: string;
  /** The name of a sub-agent that a file defines. */
  agent?: string;
  /** What the call does, for the verb that the user reads. If it is missing, the user reads the tool's name. */
  action?: CallAction;
}

/** One line of a {@linkcode Change}. */
export interface ChangeLine {
  /** Whether the line is unchanged, added or removed. */
  kind: " " | "+" | "-";
  /** The line without its line ending. A CR belongs to the line if the file's other lines end differently. */
  text: string;
  /** Its number, from 1; for removed lines, in the old file. Missing if it may be a part of a line. */
  line?: number;
}

/** The change of a file by a call. The tool derives it from the bytes that it writes. */
export interface Change {
  /** The file, as the call names it. */
  path: string;
  /** True if the file does not exist yet. */
  isNew: boolean;
  /** Changed lines with up to two lines of context; missing for binary, large or secret files. */
  lines?: readonly ChangeLine[];
  /** The size of the replaced file in bytes, if `lines` is missing. */
  replacedBytes?: number;
  /** The number of further replacements of the same text, which `lines` omits. */
  morePlaces: number;
  /** Set if the line ending at the end of the file is added or removed. */
  lineEnd?: "adds" | "removes";
}

/** The result of {@linkcode Tool.prepare}, which is passed to `run`. Tools extend it. */
export interface Prepared {
  /** The change that `run` will make. */
  change?: Change;
}

/** The output of a command. An empty stream is missing. */
export interface CommandOutput {
  /** The text on stdout, as the program wrote it. */
  stdout?: string;
  /** The text on stderr. */
  stderr?: string;
}

/** The result of a call as data. `content` is the text for the model. */
export interface ToolOutcome {
  /** The text that the model reads. */
  content: string;
  /** Images in addition to `content`, for a model that can see. */
  images?: readonly ImagePart[];
  /** A description of the image in a file, such as `PNG, 1280x720, 45 KB`. */
  about?: string;
  /** The exit code of a finished command. */
  exitCode?: number;
  /** True if a command was ended at its time limit. */
  isTimedOut?: boolean;
  /** The number of the job that a command became. */
  job?: number;
  /** The output of a command, as far as `content` shows it. */
  output?: CommandOutput;
  /** The limit of the sandbox that made a command fail. */
  limit?: SandboxLimit;
  /** The names of processes that a command left running, and that were ended. */
  endedProcesses?: readonly string[];
  /** The range of a file's lines in `content`, from 1. `total` is a minimum unless `isExact`. */
  range?: { first: number; last: number; total: number; isExact: boolean };
  /** The name of the skill in `content`, which stays when the conversation is shortened. */
  skill?: string;
  /** Counts by noun, minima if a search stopped: `files`, `matches`, `entries`, `characters`, `bytes`. */
  counts?: Readonly<Record<string, number>>;
  /** The steps of long work, as the model lists them. */
  tasks?: readonly TaskItem[];
  /** The calls of a sub-agent, oldest first. */
  calls?: readonly SubCall[];
  /** Tokens of requests to a model during the call. */
  usage?: { inputTokens: number; outputTokens: number };
  /** The change that was made. */
  change?: Change;
  /** How a file was written, if there is more to it than its change. */
  written?: WriteFacts;
  /** The repairs of the call, which the agent adds to `content`. */
  repairs?: readonly string[];
}

/** A call of a sub-agent, as it is shown, without its result. */
export interface SubCall {
  /** The tool's name. */
  toolName: string;
  /** The subject of the call; missing if its tool is unknown or has no subject. */
  subject?: Subject;
  /** How it ended. An abort leaves `stopped` for a running call, or `not_run`. */
  outcome: "done" | "failed" | "refused" | "stopped" | "not_run";
  /** The reason why the policy refused it, in a few words, if it gives one. */
  refusal?: string;
  /** Wall time in milliseconds. */
  durationMs: number;
  /** The data of its result that a row shows. */
  details?: Pick<ToolOutcome, "counts" | "range" | "exitCode">;
}

/** Facts of a write in addition to its {@linkcode Change}. */
export interface WriteFacts {
  /** The properties of the old file that the new content lacked and got: its line endings, its BOM. */
  keeps?: readonly ("CRLF" | "CR" | "BOM")[];
  /** True if the text to replace had a different indentation, and the new text was indented to match the file. */
  isReindented?: true;
  /** The real path of the file, if the call named a link. */
  linkedTo?: string;
  /** The reason why the file was written in place instead of being replaced. */
  inPlace?: string;
}

/** A tool that the model can call (spec 2.3). */
export interface Tool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among the tools of an agent. */
  name: string;
  /** The description for the model. */
  description: string;
  /** A JSON Schema of type `object`. Arguments are checked against it before `run`. */
  parameters: JsonSchema;
  /** The name in rules of a tool of another program. */
  ruleName?: string;
  /** The most that it may touch. */
  access: ToolAccess;
  /** Returns the subject of a call. If it is missing, policies know only the tool's `access`. */
  subject?(args: Record<string, unknown>): Subject;
  /**
   * Returns the tool that a call of this one stands for, with its arguments: these are checked, asked about and
   * run.
   *
   * @throws {Error} for the model, if there is no such tool.
   */
  forward?(
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<{ tool: Tool; args: Record<string, unknown> }>;
  /** True if a call of this tool can stand for one of the tool `name`, which is not offered itself. */
  reaches?(name: string): boolean;
  /**
   * Does everything of a call but its effect, before a policy asks the user. Its {@linkcode Decision} passes the
   * result to {@linkcode Tool.run}.
   *
   * @throws {Error} for the model, if the call would fail. It may quote the file of the call.
   */
  prepare?(args: Record<string, unknown>, context: ToolContext): Promise<Prepared> | Prepared;
  /**
   * Runs the tool and returns the text for the model, alone or with data. A thrown error becomes an error result
   * and does not end the turn. With `prepared`, which `prepare` returned for the same arguments, it does exactly
   * that, or fails.
   */
  run(
    args: Record<string, unknown>,
    context: ToolContext,
    prepared?: Prepared,
  ): Promise<ToolOutcome | string> | ToolOutcome | string;
}
