/** Forms of programs, shown by the editor (`elicitation/create`). @module */

import type { Elicitation, ElicitationAnswer } from "../../session/form.ts";
import type { RpcParams } from "../../rpc/message.ts";
import { isObject } from "../../text/json.ts";

export function elicitParams(question: Elicitation, sessionId: string): RpcParams {
  const message = `${question.server}: ${question.message}`;
  if (question.mode === "url") {
    const elicitationId = crypto.randomUUID();
    return { sessionId, mode: "url", message, url: question.url, elicitationId };
  }
  const warning = question.isForSecret
    ? "\n\nIt seems to ask for a secret. A form is no place for one."
    : "";
  const requestedSchema = { ...question.schema, type: "object" };
  return { sessionId, mode: "form", message: message + warning, requestedSchema };
}

/** Reads the editor's answer. An invalid one counts as cancelled. */
export function elicitAnswer(answer: unknown): ElicitationAnswer {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "accept") return { action, ...isObject(content) && { content } };
  return { action: action === "decline" ? "decline" : "cancel" };
}
