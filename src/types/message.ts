/** Messages of a conversation and the calls in them. Plain JSON but for functions. @module */

import type { ImagePart } from "./image.ts";
import type { ToolAccess } from "./tool.ts";

/** Who speaks in a {@linkcode Message}. */
export type Role = "system" | "user" | "assistant" | "tool";

/** A model's request to run a tool (spec 2.3). */
export interface ToolCall {
  /** Unique within the conversation; made by us where the server sends none. */
  id: string;
  /** The tool's name. */
  name: string;
  /** The arguments; `{}` when {@linkcode ToolCall.invalid} is set. */
  arguments: Record<string, unknown>;
  /**
   * Set when the model's `text` was no JSON object: the call is answered with `reason`, not run. With
   * `isMalformed`, the text came whole, so that it may be read in spite of its slips.
   */
  invalid?: { text: string; reason: string; isMalformed?: true };
  /** What was read as what in it, a line each. */
  repairs?: readonly string[];
  /** True where the text around it may only show it: such a call does not change anything at once. */
  mayBeShown?: boolean;
  /** True when the call was recovered from the text of the answer (spec 4.6). */
  recovered?: boolean;
}

/** A range of a text, in UTF-16 code units: from the first to behind the last. */
export type TextRange = readonly [from: number, to: number];

/** Text of a person. */
export interface TextPart {
  /** Tells it from the other parts. */
  type: "text";
  /** The whole text, with what was pasted. */
  text: string;
  /** The ranges that were pasted, in order: an `@` in them attaches no file. Left out where all was typed. */
  pasted?: readonly TextRange[];
}

/** A piece of a {@linkcode Message}. */
export type Part =
  | TextPart
  /**
   * Text that goes along; `name` is a path, a command or a skill, empty for `stdin` and a bare `note`. That of
   * a skill stays when a conversation is made shorter.
   */
  | {
    type: "resource";
    kind: "file" | "folder" | "shell" | "stdin" | "note" | "skill";
    name: string;
    text: string;
  }
  | ImagePart;

/** One message of a conversation (spec 2.3). */
export interface Message {
  /** Unique within the conversation; given by the agent where it is left out. */
  id?: string;
  /** Who speaks. */
  role: Role;
  /** The text, as servers get it; for a tool message, the tool's result. */
  content: string;
  /** The parts that make up `content`, and images: where the message is more than one text. */
  parts?: readonly Part[];
  /** The calls that an assistant message asks for. */
  toolCalls?: ToolCall[];
  /** The call that a tool message answers. */
  toolCallId?: string;
  /** The name of the tool that a tool message comes from. */
  toolName?: string;
  /** The access of that tool, where it was run. */
  toolAccess?: ToolAccess;
  /** True when a tool message reports a failure. */
  isError?: boolean;
  /** Set where the program wrote the whole message in another's place. */
  standsFor?: StandIn;
  /** The reasoning before an answer; never part of `content`. */
  reasoning?: string;
  /** Signed content blocks of the hosted API, which must be sent back to it unchanged. */
  hostedBlocks?: readonly Record<string, unknown>[];
}

/**
 * The kinds of messages that the program wrote in another's place: a `summary` of the messages before it, the `reminder` of
 * an answer that did not come, an answer without text and calls, an answer that the person stopped,
 * one at the end of a turn that was stopped or failed, the result or the answer that the program's
 * end has cost.
 */
export type StandIn =
  | "summary"
  | "reminder"
  | "empty_answer"
  | "interruption"
  | "end_of_turn"
  | "lost_result"
  | "lost_answer";
