/** Records of version 1, which had neither ids nor parts: the parts are read from the text. @module */

import { jsonOrUndefined } from "../text/json.ts";
import { newMessageId, textOfParts } from "../text/parts.ts";
import type { Message, Part, StandIn } from "../types/message.ts";
import type { ExecutionFacts } from "./execution.ts";
import { messageFromRecord } from "./message_shape.ts";

/** Follows the entries of a record of version 1: a message that was added, or all of them anew. */
export class LegacyConversation {
  /** The conversation as of the newest entry. */
  messages: Message[] = [];
  /** It has nothing but messages. */
  readonly executions: ReadonlyMap<string, ExecutionFacts> = new Map();

  /** It has no ids either: what goes on from it is a record of its own. */
  readonly ids: ReadonlySet<string> = new Set();

  /** Takes an entry; false when it is none. */
  take(entry: Record<string, unknown>): boolean {
    const message = messageFromRecord(entry.message);
    if (message) {
      this.messages.push(upgraded(message));
      return true;
    }
    const all = Array.isArray(entry.messages) ? entry.messages.map(messageFromRecord) : [undefined];
    if (!all.every((one) => one !== undefined)) return false;
    this.messages = all.map(upgraded);
    return true;
  }
}

function upgraded(message: Message): Message {
  const standsFor = STAND_INS.find(([role, text]) =>
    role === message.role &&
    (typeof text === "string" ? text === message.content : text.test(message.content))
  )?.[2];
  const parts = message.role === "user" && !standsFor ? partsOf(message.content) : undefined;
  const read = { ...parts && { parts }, ...standsFor && { standsFor } };
  return { id: newMessageId(), ...message, ...read };
}

const STAND_INS: readonly [role: Message["role"], text: string | RegExp, StandIn][] = [
  ["user", /^\[Summary of the conversation until here\]/, "summary"],
  ["assistant", "[I go on from this summary.]", "summary"],
  [
    "user",
    "[You gave no answer. Say what you found out, or call the next tool, without thinking it over again.]",
    "reminder",
  ],
  ["assistant", "[The model gave no answer]", "empty_answer"],
  ["assistant", "[Interrupted by the user]", "interruption"],
  ["assistant", "[Interrupted]", "lost_answer"],
  [
    "assistant",
    /^\[(?:Stopped(?: after \d+ rounds|: the same call)|The answer broke off: )[^]*\]$/,
    "end_of_turn",
  ],
  [
    "tool",
    "Interrupted: the program ended before this call did. What it did is not known.",
    "lost_result",
  ],
];

/** A part before the typed text. */
const PART_BEFORE =
  /^(?:<shell command=(".*")>\n([^]*?)\n<\/shell>|(\[(?:Plan mode|The plan is)[^\]]*\]))\n\n/;
/** A part behind it, up to the next one or the end. */
const PART_BEHIND =
  /^\n\n(?:<file path=(".*")>\n([^]*?)\n<\/file>|<stdin>\n([^]*)\n<\/stdin>|(\[Job \d+ is over [^\n]*\]))(?=\n\n<file path="|\n\n<stdin>\n|\n\n\[Job \d|$)/;
const BEHIND_BEGINS = /\n\n(?:<file path="|<stdin>\n|\[Job \d+ is over )/;

/** The parts of a text that was more than typed; undefined where they cannot be told. */
function partsOf(content: string): Part[] | undefined {
  const parts: Part[] = [];
  let rest = content;
  for (let match; (match = PART_BEFORE.exec(rest)); rest = rest.slice(match[0].length)) {
    const [, command, output = "", note = ""] = match;
    const isNote = command === undefined;
    parts.push(isNote ? resource("note", "", note) : resource("shell", command, output));
  }
  const end = rest.search(BEHIND_BEGINS);
  const typed = end === -1 ? rest : rest.slice(0, end);
  if (typed !== "") parts.push({ type: "text", text: typed });
  rest = rest.slice(typed.length);
  for (let match; (match = PART_BEHIND.exec(rest)); rest = rest.slice(match[0].length)) {
    const [, path, file = "", piped, note = ""] = match;
    if (path !== undefined) parts.push(resource("file", path, file));
    else if (piped !== undefined) parts.push(resource("stdin", "", piped));
    else parts.push(resource("note", "", note));
  }
  return parts.length > 1 && textOfParts(parts) === content ? parts : undefined;
}

/** `name` as it was written: JSON, where there is one. */
function resource(kind: "shell" | "file" | "stdin" | "note", name: string, text: string): Part {
  // Where it is no JSON, the parts do not make up the content.
  const plain = jsonOrUndefined(name) ?? name;
  return { type: "resource", kind, name: plain as string, text };
}
