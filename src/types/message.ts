/** Messages of a conversation and their calls, as plain JSON apart from functions. @module */

import type { ImagePart } from "./image.ts";
import type { ToolAccess } from "./tool.ts";

/** The author of a {@linkcode Message}. */
export type Role = "system" | "user" | "assistant" | "tool";

/** A model's request to run a tool (spec 2.3). */
export interface ToolCall {
  /** Unique within the conversation. Generated if the server sends no id. */
  id: string;
  /** The tool's name. */
  name: string;
  /** The arguments; `{}` when {@linkcode ToolCall.invalid} is set. */
  arguments: Record<string, unknown>;
  /**
   * Set if the model's `text` was not a JSON object: the call is answered with `reason` instead of running. With
   * `isMalformed`, the text is complete, so that it may be repaired. With `isUnclosed`, only the mark behind the
   * call is missing, and `arguments` is complete.
   */
  invalid?: { text: string; reason: string; isMalformed?: true; isUnclosed?: true };
  /** The repairs of the call, one line each. */
  repairs?: readonly string[];
  /** True if the call may be an example in the surrounding text: it runs only if it reads, or once it is repeated. */
  mayBeShown?: boolean;
  /** True if the call was recovered from the text of the answer (spec 4.6). */
  recovered?: boolean;
}

/** A range of a text in UTF-16 code units: start, and end (exclusive). */
export type TextRange = readonly [from: number, to: number];

/** Text of the user. */
export interface TextPart {
  /** Distinguishes it from other parts. */
  type: "text";
  /** The whole text, including pasted ranges. */
  text: string;
  /** The pasted ranges, in order: an `@` in them attaches no file. Missing if all was typed. */
  pasted?: readonly TextRange[];
}

/** A piece of a {@linkcode Message}. */
export type Part =
  | TextPart
  /**
   * Attached text. `name` is a path, a command or a skill; it is empty for `stdin` and for a `note`. The text of
   * a skill stays when a conversation is shortened. `files` is set for a note that lists files.
   */
  | {
    type: "resource";
    kind: "file" | "folder" | "shell" | "stdin" | "note" | "skill";
    name: string;
    text: string;
    files?: readonly string[];
  }
  | ImagePart;

/** One message of a conversation (spec 2.3). */
export interface Message {
  /** Unique within the conversation. The agent generates a missing one. */
  id?: string;
  /** The author. */
  role: Role;
  /** The text, as servers get it; for a tool message, the tool's result. */
  content: string;
  /** The parts that form `content`, and images, if the message is more than one text. */
  parts?: readonly Part[];
  /** The calls of an assistant message. */
  toolCalls?: ToolCall[];
  /** The id of the call that a tool message answers. */
  toolCallId?: string;
  /** The name of the tool of a tool message. */
  toolName?: string;
  /** The access of that tool, if it ran. */
  toolAccess?: ToolAccess;
  /** True if a tool message reports a failure. */
  isError?: boolean;
  /** Set if the program wrote the whole message in place of someone else. */
  standsFor?: SyntheticKind;
  /** The reasoning before an answer. It is never part of `content`. */
  reasoning?: string;
  /** Signed content blocks of the hosted API, which must be sent back unchanged. */
  hostedBlocks?: readonly Record<string, unknown>[];
}

/**
 * The kinds of messages that the program writes in place of someone else: a `summary` of the messages before it,
 * a `reminder` of a missing answer or a failed check, an answer without text and calls, an answer that the user stopped, an
 * answer at the end of a turn that was stopped or failed, and a result or an answer that was lost when the
 * program ended.
 */
export type SyntheticKind =
  | "summary"
  | "reminder"
  | "empty_answer"
  | "interruption"
  | "end_of_turn"
  | "lost_result"
  | "lost_answer";
