/**
 * Messages of a conversation and the calls in them. Plain JSON but for functions.
 *
 * @module
 */

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

/** A piece of a {@linkcode Message}. */
export type Part =
  /** What was typed, or written by the model. */
  | { type: "text"; text: string }
  /** Text that goes along under a name: a file, a listing, the output of a command, piped text. */
  | {
    type: "resource";
    kind: "file" | "folder" | "shell" | "stdin" | "note";
    /** A path, a command; empty for `stdin` and `note`. */
    name: string;
    text: string;
  }
  /** An image; `data` is base64. */
  | { type: "image"; mediaType: string; data: string; name?: string };

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
