/** Questions of MCP servers, asked by the editor (`elicitation/create`). @module */

import type { Elicitation, ElicitationAnswer } from "../../mcp/elicitation.ts";
import type { RpcParams } from "../../rpc/message.ts";
import { isObject } from "../../text/json.ts";

/** The parameters of the request that asks `question`. */
export function elicitParams(question: Elicitation, sessionId: string): RpcParams {
  const message = `${question.server}: ${question.message}`;
  if (question.mode === "url") {
    const elicitationId = crypto.randomUUID();
    return { sessionId, mode: "url", message, url: question.url, elicitationId };
  }
  const warning = question.isForSecret
    ? "\n\nIt seems to ask for a secret. A form is no place for one."
    : "";
  const properties = Object.fromEntries(
    question.fields.map((field) => [field.name, propertyOf(field)]),
  );
  const required = question.fields.filter((field) => field.isRequired).map(({ name }) => name);
  const requestedSchema = { type: "object", properties, required };
  return { sessionId, mode: "form", message: message + warning, requestedSchema };
}

type Field = Extract<Elicitation, { mode: "form" }>["fields"][number];

function propertyOf(
  { title, description, type, options, default: given, format, min, max }: Field,
): Record<string, unknown> {
  const about = {
    title,
    ...description !== undefined && { description },
    ...given !== undefined && { default: given },
  };
  const choices = options.map(({ value, title }) => ({ const: value, title }));
  const limits = (least: string, most: string) => ({
    ...min !== undefined && { [least]: min },
    ...max !== undefined && { [most]: max },
  });
  switch (type) {
    case "choice":
      return { type: "string", ...about, oneOf: choices };
    case "choices":
      return {
        type: "array",
        ...about,
        items: { anyOf: choices },
        ...limits("minItems", "maxItems"),
      };
    case "string":
      return {
        type,
        ...about,
        ...format !== undefined && { format },
        ...limits("minLength", "maxLength"),
      };
    case "boolean":
      return { type, ...about };
    default:
      return { type, ...about, ...limits("minimum", "maximum") };
  }
}

/** The editor's answer; what is none of the protocol's is a cancellation. */
export function elicitAnswer(answer: unknown): ElicitationAnswer {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "accept") return { action, ...isObject(content) && { content } };
  return { action: action === "decline" ? "decline" : "cancel" };
}
