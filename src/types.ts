/**
 * The shapes that every layer shares: messages, tools, events. Plain JSON but for the functions of
 * {@linkcode Tool}; this module imports nothing.
 *
 * @module
 */

/** Who speaks in a {@linkcode Message}. */
export type Role = "system" | "user" | "assistant" | "tool";

/** A JSON Schema, as far as tools use one: the checker in `tools/schema.ts` documents its subset. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A model's request to run a tool (spec 2.3). */
export interface ToolCall {
  /** Unique within the conversation; made by us where the server sends none. */
  id: string;
  /** The tool's name. */
  name: string;
  /** The arguments; `{}` when {@linkcode ToolCall.invalid} is set. */
  arguments: Record<string, unknown>;
  /** Set when the arguments were no JSON object. Such a call is answered with an error and never run. */
  invalid?: {
    /** What the model wrote. */
    text: string;
    /** What is wrong with it. */
    reason: string;
  };
  /** True when the call was recovered from the text of the answer (spec 4.6). */
  recovered?: boolean;
}

/** One message of a conversation (spec 2.3). */
export interface Message {
  /** Who speaks. */
  role: Role;
  /** The text; for a tool message, the tool's result. */
  content: string;
  /** The calls that an assistant message asks for. */
  toolCalls?: ToolCall[];
  /** Which call a tool message answers. */
  toolCallId?: string;
  /** The name of the tool that a tool message comes from. */
  toolName?: string;
  /** True when a tool message reports a failure. */
  isError?: boolean;
  /** What an assistant message thought before it answered; never part of `content`. */
  reasoning?: string;
  /**
   * Content blocks of the hosted API, exactly as they came, where they must be sent back unchanged
   * (signed `thinking`, `redacted_thinking`). Other backends ignore them.
   */
  hostedBlocks?: readonly Record<string, unknown>[];
  /** Images that go with a user message. */
  images?: readonly {
    /** A media type, such as `image/png`. */
    mediaType: string;
    /** The bytes, in base64. */
    data: string;
  }[];
}

/** What running a tool may touch. Calls of `"read"` tools may run side by side. */
export type ToolAccess = "read" | "write" | "execute" | "network";

/** What a running tool is given beside its arguments. */
export interface ToolContext {
  /** The absolute folder that relative paths are resolved against. */
  workingDir: string;
  /** The most characters that a result may have. */
  maxOutputChars: number;
  /** Aborted when the turn is; a tool stops at once and throws its `reason`. */
  signal: AbortSignal;
  /**
   * How files were when the model last saw them, by real path; kept by the tools that read and write
   * them, which refuse to write over what the model has not seen. Left out, they write all the same.
   */
  seenFiles?: Map<string, string>;
  /** Told of each file that was written, such as to write it back later. */
  onWritten?: OnWritten;
  /**
   * What to start in place of a program, so that the system confines it; throws what the model is
   * told when it cannot. Left out, programs are started as they are.
   */
  confine?: Confine;
  /** Where commands that go on in the background are kept. */
  jobs?: Jobs;
  /** Given by a running tool what looks up its newest line of output, for a person who waits. */
  onOutput?: (newest: () => string) => void;
  /** Variables that programs get though they look like credentials: names, or `AWS_*`. Left out: none. */
  env?: readonly string[];
  /** What the policy granted the call. Left out, a path leads where its links do when it is opened. */
  grant?: Grant;
}

/** How far the permission for one call goes. */
export interface Grant {
  /**
   * Where the call's path leads, with every link followed: what was decided on. A tool opens this
   * and no other place, and throws when links lead elsewhere by now.
   */
  realPath: string;
  /** What a search in it leaves out, as reading it by name would be refused or asked about. */
  withheld: Withheld;
}

/** See {@linkcode Grant.withheld}. Patterns are tested against paths with `/`, in Unicode's form NFC. */
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
  /** What it is called by, from 1; given by {@linkcode Jobs.add}. */
  number: number;
  /** What runs, as it was asked for. */
  readonly command: string;
  /** How it ended, in a few words; undefined while it runs. */
  readonly outcome: string | undefined;
  /** How long it has run, or did, in milliseconds. */
  readonly elapsedMs: number;
  /** True once the model knows how it ended. */
  isTold: boolean;
  /** The end of what it printed, of at most `maxBytes` bytes. */
  tail(maxBytes: number): string;
  /** For the model: its state, and what it printed since it was last asked. Waits a little for news. */
  report(signal: AbortSignal): Promise<string>;
  /** Ends all its processes; `outcome` is then its outcome, if it has none yet. */
  stop(outcome: string): Promise<void>;
  /** Ends its processes at once and without a word, as the program does. */
  kill(): void;
}

/**
 * The commands that run in the background until they end, are stopped, or this is disposed of:
 * `jobStore` makes one.
 */
export interface Jobs extends AsyncDisposable {
  /** Those that run, and the newest of those that ended, oldest first. */
  readonly list: readonly Job[];
  /** Told of each job that ended by itself. */
  onEnd?: (job: Job) => void;
  /**
   * Whether one more may be started.
   *
   * @throws {RangeError} when too many run, or the session is over.
   */
  checkRoom(): void;
  /** Adds a job that was started; ends it where that is too late. */
  add(job: Job): void;
  /** Forgets a job, as if it had never been one. */
  remove(job: Job): void;
}

/** See {@linkcode ToolContext.onWritten}. */
export type OnWritten = (file: {
  /** The real path. */
  path: string;
  /** Differs once somebody writes it again. */
  stamp: string;
  /** How the file was, where there was one; without `bytes` when it had more than 16 MiB, or cannot be read. */
  before?: { stamp: string; bytes?: Uint8Array };
}) => void;

/** See {@linkcode ToolContext.confine}. */
export type Confine = (
  program: string,
  args: readonly string[],
) => Promise<{
  program: string;
  args: string[];
  /** What a program that fails may have run into, in one line for the model. */
  limits?: string;
}>;

/** A tool that the model can call (spec 2.3). */
export interface Tool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique among the tools of an agent. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** A JSON Schema of type `object`; arguments are checked against it before `run`. */
  parameters: JsonSchema;
  /** What it touches. */
  access: ToolAccess;
  /**
   * Looks whether the call can succeed: for a policy to call before it asks somebody, once it knows
   * that the model may see what the path leads to, which the error may quote.
   */
  check?(args: Record<string, unknown>, context: ToolContext): Promise<void> | void;
  /**
   * Runs the tool. The result is what the model reads. Whatever it throws becomes an error result
   * with the error's message; nothing it throws ends the turn.
   */
  run(args: Record<string, unknown>, context: ToolContext): Promise<string> | string;
}

/** What a {@linkcode Policy} says of one call. */
export type Decision =
  /** `args`: what to run instead of what was asked for; the model is told. `grant`: how far it goes. */
  | { allow: true; args?: Record<string, unknown>; grant?: Grant }
  /**
   * `reason` goes to the model as the call's result: why, and what would help. `summary`: why in a
   * few words, for a person.
   */
  | { allow: false; reason: string; summary?: string };

/** Decides whether a call may run. Every tool call of an agent passes its policy. */
export interface Policy {
  /**
   * Decides one call, whose arguments are already checked. May ask a person; ends by throwing the
   * signal's `reason` when that is aborted.
   */
  decide(
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Decision | Promise<Decision>;
}

/** The record of a finished tool run (spec 2.3, 6). */
export interface ToolExecution {
  /** The id of the call it answers. */
  toolCallId: string;
  /** The tool's name. */
  toolName: string;
  /** The arguments it was called with; those it ran with, where the policy changed them. */
  arguments: Record<string, unknown>;
  /** What the model was given as the result. */
  result: string;
  /** Wall time in milliseconds. */
  durationMs: number;
  /** True when the result reports a failure. */
  isError: boolean;
  /** Why the policy refused it, in a few words, where the policy says. */
  refusal?: string;
}

/** Tokens that a server counted. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  inputTokens: number;
  /** Tokens of the answer, reasoning included. */
  outputTokens: number;
  /** Those of `inputTokens` that came from the server's prompt cache, where it says. */
  cachedTokens?: number;
  /** Those of `inputTokens` that the server put into its cache, where that has a price of its own. */
  cacheWriteTokens?: number;
  /** What the server charges, in US dollars, where it says. */
  cost?: number;
}

/** Why a turn ended; `budget`: at the token limit, so that the answer is cut. */
export type StopReason = "done" | "max_rounds" | "aborted" | "loop" | "budget";

/** What {@linkcode processTurn} returns (spec 2.3). */
export interface TurnResult {
  /** The final answer, without reasoning. */
  response: string;
  /** Every tool run of the turn, in the order asked. */
  toolExecutions: ToolExecution[];
  /** Prompt tokens, summed over the requests of the turn; 0 where the server counts none. */
  inputTokens: number;
  /** Answer tokens, summed over the requests of the turn; 0 where the server counts none. */
  outputTokens: number;
  /** Why it ended. */
  stopReason: StopReason;
}

/** A failed attempt that will be repeated. */
export interface RetryNotice {
  /** Which attempt failed, from 1. */
  attempt: number;
  /** How many attempts there may be in all. */
  maxAttempts: number;
  /** How long until the next one, in milliseconds. */
  delayMs: number;
  /** What went wrong, in one line. */
  reason: string;
  /** True where the server is loading the model, and is asked until it has. */
  isLoading?: boolean;
}

/** What was done to make a conversation shorter. */
export interface Compaction {
  /** The estimated tokens of the next request, had nothing been done. */
  tokensBefore: number;
  /** The estimated tokens of the next request. */
  tokensAfter: number;
  /** Results that were cut, as there was no room for all of them. */
  cutResults: number;
  /** Old results in whose place there is one line now. */
  droppedResults: number;
  /** Messages in whose place there is a summary now. */
  summarized: number;
}

/**
 * What {@linkcode processTurn} reports while it works (spec 6): `thinking` before each request, then
 * a `tool_start` and a `tool_done` for each call; the other kinds are for those who want more.
 */
export type TurnEvent =
  | { type: "thinking" }
  | { type: "tool_start"; name: string; args: Record<string, unknown>; id: string }
  | { type: "tool_done"; exec: ToolExecution }
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text: string }
  /** All `text_delta` of this answer so far turned out to be reasoning; the answer begins now. */
  | { type: "text_retracted" }
  | { type: "usage"; usage: Usage }
  | { type: "tool_call_recovered"; name: string; id: string }
  | ({ type: "retry" } & RetryNotice)
  /** The server loads the model first; `nextLookMs`: for so long it is known to, where it says so. */
  | { type: "loading"; model: string; nextLookMs?: number }
  /** The messages before the newest ones were replaced; a `notice` says so in words. */
  | ({ type: "compaction" } & Compaction)
  | { type: "notice"; level: "info" | "warning"; message: string };
