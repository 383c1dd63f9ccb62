/** Requests as a server takes them: what it refuses by name is asked for in its other form. @module */

import type { ConnectionSettings } from "../config.ts";
import { BackendError } from "../errors.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { excerpt } from "../wire/excerpt.ts";
import { requestStream, type StreamReader } from "../wire/http.ts";
import type { CallOptions } from "./backend.ts";
import type { OnDelta } from "./delta_reader.ts";
import type { Fields } from "./fields.ts";
import { withoutSystemRole, withTextTools } from "./text_tools.ts";

/** One thing that servers differ in. */
export interface Adjustment {
  /** The parameter's name on the wire. */
  name: string;
  /** Matches the server's words when it refuses the parameter. */
  refusal: RegExp;
  /** True where it is about a form of the answer, and only a request for one can be refused for it. */
  isOfForm?: true;
  /** The change to the request, for the notice. */
  instead: string;
}

/** Names of the adjustments that a server needs. */
export type Adjusted = ReadonlySet<string>;

/** The adjustments that the server behind a configuration needs, for as long as that object lives. */
const knownAdjustments = new WeakMap<object, Adjusted>();

/** The limits of one answer: its tokens, the JSON schema it must match, and the slot that computes it. */
export type AnswerLimits = Pick<CallOptions, "room" | "form" | "slot" | "thinks">;

/** True where the server behind a configuration gets the tools in the prompt, as it takes no others. */
export function getsToolsAsText(key: object): boolean {
  return knownAdjustments.get(key)?.has(TEXT_TOOLS.name) === true;
}

/** True where the server behind a configuration refused to hold an answer to a form. */
export function refusesForms(key: object): boolean {
  const adjusted = knownAdjustments.get(key);
  return adjusted?.has("format") === true || adjusted?.has("response_format") === true;
}

/** A protocol at the address of one server. */
export interface Protocol {
  url: string;
  headers: Record<string, string>;
  adjustments: readonly Adjustment[];
  /** True where a call comes in pieces as it is written: others are silent until it is whole. */
  streamsCalls: boolean;
  body(
    messages: readonly Message[],
    tools: readonly Tool[],
    stream: boolean,
    adjusted: Adjusted,
    limits: AnswerLimits,
  ): string;
  reader(contentType: string, stream: boolean, onDelta: OnDelta | undefined): StreamReader<Fields>;
}

/**
 * Sends a request with the adjustments that the server is known to need; when the server refuses it
 * in words that match another row of the adjustments, sends it again with that one too. Those that
 * helped are remembered by `key`, a configuration, and `onNotice` gets a line for each.
 */
export async function exchange(
  key: object,
  config: ConnectionSettings & { textTools?: boolean },
  { url, headers, adjustments, streamsCalls, body, reader }: Protocol,
  messages: readonly Message[],
  tools: readonly Tool[],
  options: CallOptions,
): Promise<Fields> {
  const { fetch = config.fetch, stream = true, onDelta, ...others } = options;
  const adjusted = new Set(knownAdjustments.get(key));
  for (;;) {
    const [texts, offered] = config.textTools || adjusted.has("tools")
      ? [withTextTools(messages, tools), []]
      : [messages, tools];
    const sent = adjusted.has("system") ? withoutSystemRole(texts) : texts;
    const { firstTokenTimeoutMs, idleTimeoutMs } = config;
    // A call to a tool that the prompt describes is written as text, which arrives in pieces.
    const isSilent = !streamsCalls && offered.length > 0;
    const idle = isSilent ? Math.max(idleTimeoutMs, firstTokenTimeoutMs) : idleTimeoutMs;
    try {
      return await requestStream(
        { url, headers, body: body(sent, offered, stream, adjusted, options) },
        { ...config, ...others, idleTimeoutMs: idle, ...fetch && { fetch } },
        (contentType) => {
          knownAdjustments.set(key, adjusted);
          return reader(contentType, stream, onDelta);
        },
      );
    } catch (error) {
      const isRefusal = error instanceof BackendError &&
        (error.kind === "request" || error.kind === "model_not_found");
      if (!isRefusal) throw error;
      const { words } = error;
      const row = adjustments.find(({ name, refusal, isOfForm }) =>
        !adjusted.has(name) && (!isOfForm || options.form) && refusal.test(words)
      );
      if (!row) throw error;
      adjusted.add(row.name);
      options.onNotice?.(
        `The server does not take this request ("${excerpt(words)}"): ${row.instead}.`,
      );
    }
  }
}

/** A row for a parameter that servers refuse by its name, or by one of several with "|" between them. */
export function unsupported(name: string, instead: string, row?: string): Adjustment {
  const words = "unsupported|n[o']t support|unrecogni[sz]ed|unknown|unexpected|not permitted|" +
    "not allowed|forbidden|deprecated|cannot pass|must be verified|input should be|not configured|only \\d is allowed";
  // The name and the words in either order.
  const refusal = new RegExp(`^(?=.*\\b(?:${name})\\b)(?=.*(?:${words}))`, "is");
  return { name: row ?? name.split("|")[0]!, refusal, instead };
}

/** The row for servers that refuse `temperature`. */
export const OWN_TEMPERATURE: Adjustment = unsupported(
  "temperature",
  "the temperature is left to the model from now on",
);

/** The fields of each row of adjustments for a server that refuses the form of an answer. */
export const FORM_IN_WORDS = {
  isOfForm: true,
  instead: "the form of an answer is asked for in words alone from now on",
} as const;

/** The row for chat templates that have no place for a system message. */
export const NO_SYSTEM_ROLE: Adjustment = {
  name: "system",
  refusal:
    /system (?:role|message|prompt)s?\b.{0,20}\bnot supported|only user(?:,| and)? .{0,20}roles|roles must alternate|(?:unexpected|unsupported|invalid|unknown)(?: message)? role\W{0,4}system|system message must be/i,
  instead: "the system text goes into the first message of the user from now on",
};

/** The row for servers that refuse `tools`, or a template that refuses their results, each in its own words. */
export const TEXT_TOOLS: Adjustment = {
  name: "tools",
  refusal: new RegExp(
    [
      // Ollama: "MODEL does not support tools"; OpenAI: "'tools' is not supported with this model".
      "(does|do) not support tools?\\b",
      "\\btools\\b.{0,20}\\bnot (supported|permitted|allowed)",
      "(unsupported|unrecognized|unknown) .{0,30}\\b(?:tools\\b|tool_call_parser)",
      "\\btools\\b.{0,30}: extra (inputs|fields)",
      // vLLM, llama.cpp and OpenRouter, in this order.
      "tool choice requires --enable-auto-tool-choice",
      "tools param requires --jinja",
      // Chat templates.
      "only user(?:,| and)? .{0,20}roles",
      "roles must alternate|after role\\W{0,3}tool",
      "\\btool (?:role|message)s?\\b.{0,20}\\bnot supported",
      "(?:unexpected|unsupported|invalid|unknown)(?: message)? role\\W{0,4}tool",
      "no endpoints found that support tool use",
    ].join("|"),
    "i",
  ),
  instead: "asking again with the tools described in the text; calls are read from the answer",
};
