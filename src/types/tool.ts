/** Tools, and what a running tool is given. Plain JSON but for functions. @module */

import type { Confine, Leave } from "./confine.ts";
import type { ImageLimits, ImagePart } from "./image.ts";

/** A JSON Schema, as far as tools use one: the checker in `tools/schema.ts` documents its subset. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The most that a tool may touch. Calls of `"read"` tools may run side by side. */
export type ToolAccess = "read" | "write" | "execute" | "network";

/** The context of a running tool, beside its arguments. */
export interface ToolContext {
  /** The absolute folder that relative paths are resolved against. */
  workingDir: string;
  /** The most characters that a result may have. */
  maxOutputChars: number;
  /** Aborted with the turn; a tool then stops at once and throws the signal's `reason`. */
  signal: AbortSignal;
  /** The files by real path as the model last saw them: with it, none is written over unseen. */
  seenFiles?: Map<string, string>;
  /** Called with each file that was written, so that it can be written back later. */
  onWritten?: OnWritten;
  /** Confines a program; throws what the model is told when it cannot. Left out, none is confined. */
  confine?: Confine;
  /** The commands that run in the background; left out, none can. */
  jobs?: Jobs;
  /** Called with what looks up the tool's output, for a person who waits. */
  onOutput?: (newest: NewestOutput) => void;
  /** Variables that programs get beside the usual ones: names, or `AWS_*`. */
  env?: readonly string[];
  /** The id of the call that is decided or run; left out where a tool is called by hand. */
  callId?: string;
  /** The name of the sub-agent that makes the call; left out for the agent that a person talks to. */
  subAgent?: string;
  /** True where a person asks for the call, and no model: for a file that their message names. */
  isOfPerson?: true;
  /** The part of the sandbox that this call leaves; left out, it leaves none. */
  leave?: Leave;
  /** The editor that a person works in: what it has comes before what is on the disk. */
  editor?: EditorFiles;
  /** The limits of images in results; left out where the model is not known to see. */
  imageLimits?: ImageLimits;
  /** True where a rule of the person names the host of the call, which may then be of a local network. */
  mayBePrivate?: true;
  /** The policy's limits. Left out, a path leads where its links do when it is opened. */
  grant?: Grant;
}

/**
 * Looks up the newest lines of output or, given a number of characters, as much of its end; of a sub-agent,
 * what it has done so far.
 */
export type NewestOutput = (chars?: number) => string | SubProgress;

/** The work of a sub-agent so far. */
export interface SubProgress {
  /** Its newest calls that ended, oldest first. */
  calls: readonly SubCall[];
  /** The call that runs; left out while it waits for its model. */
  running?: Pick<SubCall, "toolName" | "subject">;
  /** The number of all its calls. */
  made: number;
  /** Tokens of its requests and answers. */
  tokens: number;
}

/** Files as an editor has them, with what is not saved yet. */
export interface EditorFiles {
  /** The text of an absolute path; undefined where the editor has none. Left out, the disk has all of it. */
  read?(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes a file; left out, the disk is written. @throws {Error} when the editor cannot. */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
  /** The paths that it had text for lately: a search looks at that text. */
  readonly known: ReadonlySet<string>;
  /** Runs a program in a terminal of the editor; left out, it has none. @throws {Error} when it cannot. */
  terminal?(program: TerminalProgram, signal: AbortSignal): Promise<TerminalEnd>;
}

/** A program for a terminal of the editor. */
export interface TerminalProgram {
  /** The call that it is run for. */
  callId: string | undefined;
  /** The program, by its path. */
  program: string;
  /** Its arguments. */
  args: readonly string[];
  /** Variables that it gets beside the editor's own. */
  env: Readonly<Record<string, string>>;
  /** The absolute folder that it runs in. */
  folder: string;
  /** The longest that it may run, in milliseconds. */
  timeoutMs: number;
  /** The most bytes of output that are kept, the newest. */
  maxBytes: number;
}

/** How a program in a terminal of the editor ended, and what it printed. */
export interface TerminalEnd {
  /** Why it ended. */
  ended: "exit" | "timeout" | "abort";
  /** What it printed, the newest of it. */
  output: string;
  /** True where earlier output is missing. */
  isCut: boolean;
  /** Its exit code; left out where a signal ended it. */
  exitCode?: number;
  /** The signal that ended it. */
  signal?: string;
}

/** The limits of the permission for one call. */
export interface Grant {
  /** The target of the call's path, links followed: a tool opens this place or throws. */
  realPath: string;
  /** Files and folders that a search leaves out: reading them by name would be refused or asked about. */
  withheld: Withheld;
  /** True where the file had other names (hard links) when the call was decided: only then is it written in place. */
  isShared?: true;
  /** True where the path is likely to hold secrets: a {@linkcode Change} then shows none of its lines. */
  isSecret?: boolean;
}

/** Files and folders that a search leaves out: patterns for paths with `/`, in Unicode's form NFC. */
export interface Withheld {
  /** The real working directory. */
  folder: string;
  /** Files and folders: relative where they are in `folder`, else absolute. */
  paths: readonly RegExp[];
  /** Files and folders, absolute. */
  absolute?: readonly RegExp[];
  /** Files, absolute. */
  files?: RegExp;
}

/** A command that runs in the background. */
export interface Job {
  /** Its number, from 1; {@linkcode Jobs.add} gives it. */
  number: number;
  /** The command, as the model gave it. */
  readonly command: string;
  /** The way in which it ended, in a few words; undefined while it runs. */
  readonly outcome: string | undefined;
  /** The time that it has run so far, or ran in all, in milliseconds. */
  readonly elapsedMs: number;
  /** True once the model was told how it ended. */
  isTold: boolean;
  /** The end of its output, at most `maxBytes` bytes. */
  tail(maxBytes: number): string;
  /** Its state and its output since the last report, for the model. Waits a little for new output. */
  report(signal: AbortSignal): Promise<string>;
  /** Ends all its processes; `outcome` is then its outcome, if it has none yet. */
  stop(outcome: string): Promise<void>;
  /** Ends its processes at once and without a word, as the program does. */
  kill(): void;
}

/** The commands in the background; disposing of it ends them all. `jobStore` makes one. */
export interface Jobs extends AsyncDisposable {
  /** The jobs that run, and the newest that ended, oldest first. */
  readonly list: readonly Job[];
  /** Called with each job that ended by itself. */
  onEnd?: (job: Job) => void;
  /** Throws a `RangeError` when too many run for one more, or the session is over. */
  checkRoom(): void;
  /** Adds a job that was started; ends it where that is too late. */
  add(job: Job): void;
  /** Forgets a job, as if it had never been one. */
  remove(job: Job): void;
}

/** Receives each file that was written. */
export type OnWritten = (file: {
  /** The real path. */
  path: string;
  /** Changes whenever somebody writes the file again. */
  stamp: string;
  /** The file before, if any; without `bytes` when it had over 16 MiB or cannot be read. */
  before?: { stamp: string; bytes?: Uint8Array };
}) => void;

/**
 * What a call does to its object. `find` looks for names and `search` for text in files; `start` runs a
 * command in the background, `check` looks at one; `edit` changes parts of a file, `write` all of it;
 * `plan` lists the steps of the work, `explore` has a sub-agent do a task; `fetch` reads a page of the web.
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

/** The object of a call, for policies and for people: at most one of `path`, `command` and `url`. */
export interface Subject {
  /** A file or folder, as the call names it. */
  path?: string;
  /** True where `path` is a file that the call opens, and no folder. */
  isFile?: true;
  /** True where the call shows names of files at `path`, and nothing of what they hold. */
  showsNames?: true;
  /** A shell command. */
  command?: string;
  /** The part of the sandbox that the call asks to leave. */
  leave?: Leave;
  /** Why it does, in the model's words. */
  reason?: string;
  /** An address. */
  url?: string;
  /** The pattern that the call looks for. */
  query?: string;
  /** The number of a job. */
  job?: number;
  /** The task of a sub-agent. */
  task?: string;
  /** The name of a sub-agent that a file defines. */
  agent?: string;
  /** What the call does, for the verb that a person reads; left out, they read the tool's name. */
  action?: CallAction;
}

/** One line of a {@linkcode Change}. */
export interface ChangeLine {
  /** An unchanged, an added, a removed line. */
  kind: " " | "+" | "-";
  /** The line without its ending; a CR belongs to it where the file's other lines end otherwise. */
  text: string;
  /** Its number, from 1, in the old file for removed lines; left out where it may be a part of one. */
  line?: number;
}

/** The change that a call makes to a file; the tool makes it from the very bytes that it writes. */
export interface Change {
  /** The file, as the call names it. */
  path: string;
  /** True where there is no file yet. */
  isNew: boolean;
  /** Changed lines and up to two around them; left out where the file is no text, large or secret. */
  lines?: readonly ChangeLine[];
  /** The size in bytes of the file that is replaced, where `lines` is left out. */
  replacedBytes?: number;
  /** The number of further places where the same text is replaced: `lines` leaves them out. */
  morePlaces: number;
  /** Set where the line ending at the end of the file is added or removed. */
  lineEnd?: "adds" | "removes";
}

/** The result of {@linkcode Tool.prepare}, which `run` takes back. Tools extend it by what they need. */
export interface Prepared {
  /** The change that `run` will make. */
  change?: Change;
}

/** The output of a command; a stream on which nothing came is left out. */
export interface CommandOutput {
  /** The text on stdout, as the program wrote it. */
  stdout?: string;
  /** The text on stderr. */
  stderr?: string;
}

/** The result of a call as data; the text for the model is `content`. */
export interface ToolOutcome {
  /** The text that the model reads. */
  content: string;
  /** Images that go along with `content`, for a model that sees. */
  images?: readonly ImagePart[];
  /** What the image is that a file holds, such as `PNG, 1280x720, 45 KB`. */
  about?: string;
  /** The exit code of a command that ended. */
  exitCode?: number;
  /** True where a command was ended at its time limit. */
  isTimedOut?: boolean;
  /** The number of the job that a command became. */
  job?: number;
  /** The output of a command, as far as `content` shows it. */
  output?: CommandOutput;
  /** The names of processes that a command left running, and that were ended. */
  endedProcesses?: readonly string[];
  /** The lines of a file that `content` shows, from 1; `total` is a minimum unless `isExact`. */
  range?: { first: number; last: number; total: number; isExact: boolean };
  /** The name of the skill that `content` is, which stays when the conversation is made shorter. */
  skill?: string;
  /** Numbers by their noun, minima where a search stopped: `files`, `matches`, `entries`, `characters`, `bytes`. */
  counts?: Readonly<Record<string, number>>;
  /** The steps that the model lists for long work. */
  tasks?: readonly TaskItem[];
  /** The calls of a sub-agent, oldest first. */
  calls?: readonly SubCall[];
  /** Tokens of requests that the call made to a model. */
  usage?: { inputTokens: number; outputTokens: number };
  /** The change that was made. */
  change?: Change;
  /** How a file was written, where that is more than its change; left out where it is not. */
  written?: WriteFacts;
  /** What was read as what in a call with a slip in it; the agent adds it to `content`. */
  repairs?: readonly string[];
}

/** A call that a sub-agent made: how it is shown, without its result. */
export interface SubCall {
  /** The tool's name. */
  toolName: string;
  /** The object of the call; left out where its tool names none. */
  subject?: Subject;
  /** How it ended: see `ToolExecution`. */
  outcome: "done" | "failed" | "refused" | "stopped" | "not_run";
  /** Wall time in milliseconds. */
  durationMs: number;
  /** The data of its result that is shown in a row. */
  details?: Pick<ToolOutcome, "counts" | "range" | "exitCode">;
}

/** Facts of a write beside its {@linkcode Change}. */
export interface WriteFacts {
  /** The parts of the old file that the new content lacked, and got: its line endings, its BOM. */
  keeps?: readonly ("CRLF" | "CR" | "BOM")[];
  /** True where the text to replace differed in indentation, and the new text was indented as the file is. */
  isReindented?: true;
  /** The real path of the file, where the call named a link. */
  linkedTo?: string;
  /** The reason why the file was written in place, and not replaced by a new one. */
  inPlace?: string;
}

/** A tool that the model can call (spec 2.3). */
export interface Tool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among the tools of an agent. */
  name: string;
  /** The model's description of it. */
  description: string;
  /** A JSON Schema of type `object`; arguments are checked against it before `run`. */
  parameters: JsonSchema;
  /** The name that rules have for a tool of another program, such as `mcp__server__tool`. */
  ruleName?: string;
  /** The most that it may touch. */
  access: ToolAccess;
  /** The object of a call; left out, policies know only the tool's `access`. */
  subject?(args: Record<string, unknown>): Subject;
  /**
   * The tool that a call of this one means, with its arguments: that is what is checked, asked about and run.
   *
   * @throws {Error} for the model, when there is none.
   */
  forward?(
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<{ tool: Tool; args: Record<string, unknown> }>;
  /**
   * Does all of a call but its effect, before a policy asks somebody; its {@linkcode Decision} takes
   * the result to {@linkcode Tool.run}.
   *
   * @throws {Error} for the model, when the call would fail. It may quote the file of the call.
   */
  prepare?(args: Record<string, unknown>, context: ToolContext): Promise<Prepared> | Prepared;
  /**
   * Runs the tool: the text for the model, alone or with data. The message of an error that it throws
   * becomes an error result; none ends the turn. With `prepared`, which `prepare` returned for the
   * same arguments, it does exactly that, or fails.
   */
  run(
    args: Record<string, unknown>,
    context: ToolContext,
    prepared?: Prepared,
  ): Promise<ToolOutcome | string> | ToolOutcome | string;
}
