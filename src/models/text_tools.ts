/** Tools for a model or server that does not support them, in the system prompt and messages. @module */

import { echo } from "../text/parts.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { argumentsOnWire, jsonText, nameOnWire, NO_OUTPUT } from "./wire_values.ts";

/** Describes `tools` in the system prompt, and writes calls as `<toolcall>` text (spec 4.6), the same in later requests. */
export function withTextTools(messages: readonly Message[], tools: readonly Tool[]): Message[] {
  const hasSystem = messages[0]?.role === "system";
  const system = hasSystem ? messages[0]!.content : "";
  const described = tools.length > 0 ? toolInstructions(tools) : "";
  const content = [system, described].filter((text) => text !== "").join("\n\n");
  const converted: Message[] = [{ role: "system", content }];
  let results: Message | undefined;
  for (const message of hasSystem ? messages.slice(1) : messages) {
    if (message.role !== "tool") {
      results = undefined;
      converted.push(withCallsAsText(message));
    } else if (results) {
      results.content += `\n${resultText(message)}`;
    } else {
      // The results of one answer form one message, because many templates require alternating roles.
      results = { role: "user", content: resultText(message) };
      converted.push(results);
    }
  }
  return converted;
}

function toolInstructions(tools: readonly Tool[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    jsonText({ name, description, parameters })
  );
  return `You can use tools. To use one, write a call in this form, and nothing after it:
<toolcall>{"name": "the tool's name", "arguments": {...}}</toolcall>
Write several calls one after the other if they do not depend on each other. Then stop: the results come in the next message. The tools, with JSON schemas of their arguments:
${lines.join("\n")}`;
}

function withCallsAsText({ toolCalls = [], content, ...rest }: Message): Message {
  const calls = toolCalls.map((call) => {
    const json = jsonText({ name: call.name, arguments: argumentsOnWire(call) });
    return `<toolcall>${json}</toolcall>`;
  });
  return { ...rest, content: [content, ...calls].filter((text) => text !== "").join("\n") };
}

/**
 * Moves the system text into the first user message, and joins neighbours: roles of such templates alternate. A user
 * message behind results becomes a part of the last one.
 */
export function withoutSystemRole(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const role = message.role === "system" ? "user" : message.role;
    const last = merged.at(-1);
    const isBehindResult = last?.role === "tool" && role === "user";
    if (!isBehindResult && last?.role !== role || role === "tool" || last.toolCalls) {
      merged.push({ ...message, role });
    } else {
      const content = `${last.content}\n\n${message.content}`;
      const parts = [...last.parts ?? [], ...message.parts ?? []];
      const joined = isBehindResult ? last : { ...message, role };
      merged[merged.length - 1] = { ...joined, content, ...(parts.length > 0 && { parts }) };
    }
  }
  return merged;
}

function resultText({ toolName = "", content }: Message): string {
  return echo("toolresult", content || NO_OUTPUT, "name", nameOnWire(toolName));
}
