/** Adapts requests to servers: a parameter that a server refuses by name is sent in its other form. @module */

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

export interface Adjustment {
  name: string;
  /** Matches the server's message when it refuses the parameter. */
  refusal: RegExp;
  /** True if it concerns the schema of the answer, so that only a request with one can be refused for it. */
  isOfSchema?: true;
  /** The change to the request, for the notice. */
  instead: string;
}

/** The names of the adjustments that a server needs. */
export type AdjustmentNames = ReadonlySet<string>;

/** The adjustments for each configuration's server, for the lifetime of that object. */
const knownAdjustments = new WeakMap<object, AdjustmentNames>();

/** The limits of one answer: its tokens, its JSON schema, and the slot that computes it. */
export type AnswerLimits = Pick<CallOptions, "room" | "answerSchema" | "slot" | "thinks">;

/** True if the configuration's server accepts no tools, so that they are in the prompt. */
export function getsToolsAsText(key: object): boolean {
  return knownAdjustments.get(key)?.has(TEXT_TOOLS.name) === true;
}

/** True if the configuration's server refused to enforce the schema of an answer. */
export function refusesSchemas(key: object): boolean {
  const adjusted = knownAdjustments.get(key);
  return adjusted?.has("format") === true || adjusted?.has("response_format") === true;
}

export interface Protocol {
  url: string;
  headers: Record<string, string>;
  adjustments: readonly Adjustment[];
  /** True if the arguments of a call are streamed. Other servers send nothing until the call is complete. */
  streamsCalls: boolean;
  body(
    messages: readonly Message[],
    tools: readonly Tool[],
    stream: boolean,
    adjusted: AdjustmentNames,
    limits: AnswerLimits,
  ): string;
  reader(contentType: string, stream: boolean, onDelta: OnDelta | undefined): StreamReader<Fields>;
}

/**
 * Sends a request with the known adjustments for the server. If the server refuses it with a message that matches
 * another row, sends it again with that row too. Remembers successful adjustments by `key`, a configuration, and
 * reports each with a line to `onNotice`.
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
    // A call to a tool in the prompt is text, which is streamed.
    const isSilent = !streamsCalls && offered.length > 0;
    const idle = isSilent ? Math.max(idleTimeoutMs, firstTokenTimeoutMs) : idleTimeoutMs;
    try {
      return await requestStream(
        { url, headers, body: body(sent, offered, stream, adjusted, options) },
        { ...config, ...others, idleTimeoutMs: idle, ...fetch && { fetch } },
        (contentType) => {
          // A sub-agent's request may have learned others meanwhile.
          knownAdjustments.set(key, adjusted.union(knownAdjustments.get(key) ?? adjusted));
          return reader(contentType, stream, onDelta);
        },
      );
    } catch (error) {
      const isRefusal = error instanceof BackendError &&
        (error.kind === "request" || error.kind === "model_not_found");
      if (!isRefusal) throw error;
      const { words } = error;
      const row = adjustments.find(({ name, refusal, isOfSchema }) =>
        !adjusted.has(name) && (!isOfSchema || options.answerSchema) && refusal.test(words)
      );
      if (!row) throw error;
      adjusted.add(row.name);
      options.onNotice?.(`The server rejects this request ("${excerpt(words)}"): ${row.instead}.`);
    }
  }
}

/** Returns a row for a parameter that servers refuse by its name, or by one of several separated by "|". */
export function unsupported(name: string, instead: string, row?: string): Adjustment {
  const words = "unsupported|n[o']t support|unrecogni[sz]ed|unknown|unexpected|not permitted|" +
    "not allowed|forbidden|deprecated|cannot pass|cannot both|must be verified|input should be|not configured|only \\d is allowed";
  // The name and the message in either order.
  return {
    name: row ?? name.split("|")[0]!,
    get refusal() {
      return new RegExp(`^(?=.*\\b(?:${name})\\b)(?=.*(?:${words}))`, "is");
    },
    instead,
  };
}

/** The row for servers that refuse `temperature`. */
export const OWN_TEMPERATURE: Adjustment = unsupported(
  "temperature",
  "from now on, the model's default temperature applies",
);

/** The common fields of the rows for servers that refuse the schema of an answer. */
export const SCHEMA_IN_WORDS = {
  isOfSchema: true,
  instead: "from now on, only the prompt describes the form of an answer",
} as const;

/** The row for chat templates without a place for a system message. */
export const NO_SYSTEM_ROLE: Adjustment = {
  name: "system",
  refusal:
    /system (?:role|message|prompt)s?\b.{0,20}\bnot supported|only user(?:,| and)? .{0,20}roles|roles must alternate|(?:unexpected|unsupported|invalid|unknown)(?: message)? role\W{0,4}system|system message must be/i,
  instead: "from now on, the first user message contains the system text",
};

/** The row for servers that refuse `tools`, or whose template refuses their results, with their messages. */
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
  instead:
    "trying again with the tools described in the prompt; calls are read from the answer's text",
};
