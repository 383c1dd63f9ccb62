/**
 * A streamed answer of `/api/chat`, folded into the response that a call without streaming returns.
 * Pure.
 *
 * @module
 */

import { failureFromErrorObject } from "../../wire/failure.ts";
import type { StreamReader } from "../../wire/http.ts";
import { ndjsonDecoder } from "../../wire/ndjson.ts";
import { brokeOff, type Fields, fieldsOf, listOf, textOf } from "../fields.ts";
import type { Delta } from "../backend.ts";
import { argumentsText } from "../wire_values.ts";
import { rawCall } from "../compat/response.ts";
import type { OnDelta } from "../compat/stream.ts";

/** A reader for an answer of `/api/chat`, streamed or in one line. */
export function localReader(onDelta: OnDelta = () => {}): StreamReader<Fields> {
  let progress = 0;
  let started = false;
  let last: Fields | undefined;
  let content = "";
  let thinking = "";

  const emit = (delta: Delta) => {
    progress++;
    started = true;
    onDelta(delta);
  };
  const calls = callList((name) => emit({ type: "tool_call", name }));

  const takeMessage = (message: Fields, isLast: boolean) => {
    const thought = textOf(message.thinking, "thinking");
    if (thought !== "") {
      thinking += thought;
      emit({ type: "reasoning", text: thought });
    }
    const text = textOf(message.content, "content");
    if (text !== "") {
      content += text;
      emit({ type: "text", text });
    }
    if (message.tool_calls) calls.add(listOf(message.tool_calls, "tool_calls"), isLast);
  };

  const decoder = ndjsonDecoder((value) => {
    if (last) return;
    const line = fieldsOf(value, "line");
    if (line.message === undefined || line.error) {
      const failure = failureFromErrorObject(line);
      if (failure) throw failure;
    }
    const isLast = line.done === true;
    // Old servers end with a line of counts alone.
    const isBare = isLast && (line.message ?? null) === null;
    if (!isBare) takeMessage(fieldsOf(line.message, "message"), isLast);
    if (!isLast) return;
    progress++;
    last = line;
  });

  return {
    push: (chunk) => decoder.push(chunk),
    get progress() {
      return progress;
    },
    get started() {
      return started;
    },
    get done() {
      return last !== undefined;
    },
    end() {
      if (!last) decoder.end();
      if (!last) throw brokeOff();
      const message = {
        role: "assistant",
        content,
        ...(thinking !== "" && { thinking }),
        ...(calls.all.length > 0 && { tool_calls: calls.all }),
      };
      return { ...last, message };
    },
  };
}

/** Collects calls, which come whole, of some servers once more in the last line. */
function callList(onName: (name: string) => void) {
  const all: unknown[] = [];
  /** What tells the calls of earlier lines apart. */
  const known = new Set<string>();
  return {
    all,
    add(calls: readonly unknown[], isLast: boolean): void {
      const keys: string[] = [];
      for (const call of calls) {
        const { id, name, args } = rawCall(call);
        const { index } = (call as { function: Fields }).function;
        const key = `${id || JSON.stringify(index)} ${name} ${argumentsText(args)}`;
        if ((id !== "" || isLast) && known.has(key)) continue;
        keys.push(key);
        all.push(call);
        onName(name);
      }
      for (const key of keys) known.add(key);
    },
  };
}
