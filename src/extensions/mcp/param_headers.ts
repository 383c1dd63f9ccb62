/** Arguments that are also headers: `x-mcp-header` of an argument, in streamable HTTP of 2026-07-28. @module */

import type { RpcMessage } from "../../rpc/message.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { headerValue } from "./http.ts";
import type { ToolDefinition } from "./protocol.ts";

const HEADER_KEYWORD = "x-mcp-header";
/** The characters of a header name: RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

function namedIn({ inputSchema: { properties } }: ToolDefinition): [string, unknown, unknown][] {
  return Object.entries(objectOr(properties)).flatMap(([name, argument]) =>
    isObject(argument) && HEADER_KEYWORD in argument
      ? [[name, argument[HEADER_KEYWORD], argument.type]]
      : []
  );
}

/** Returns why a tool cannot be used: the revision requires dropping a tool with an invalid header. */
export function problemOfHeaders(tool: ToolDefinition): string | undefined {
  const named = namedIn(tool);
  const isGood = named.every(([, header, type]) =>
    TOKEN.test(String(header)) && ["string", "integer", "boolean"].includes(String(type))
  );
  const isTwice = new Set(named.map(([, one]) => String(one).toLowerCase())).size < named.length;
  return isGood && !isTwice ? undefined : `${tool.name}: its ${HEADER_KEYWORD} names no header`;
}

/** Returns the headers of a call. A null or missing argument gets no header. */
export function paramHeaders(
  tools: readonly ToolDefinition[],
  message: RpcMessage,
): Record<string, string> {
  if (!("method" in message) || message.method !== "tools/call") return {};
  const { name: called, arguments: args } = message.params ?? {};
  const tool = tools.find(({ name }) => name === called);
  if (!tool || !isObject(args)) return {};
  return Object.fromEntries(
    namedIn(tool).filter(([name]) => ["string", "number", "boolean"].includes(typeof args[name]))
      .map(([name, header]) => [`mcp-param-${header}`, headerValue(String(args[name]))]),
  );
}
