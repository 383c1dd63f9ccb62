/**
 * Arguments that also go as headers of the request: `x-mcp-header` in a tool's schema, of the
 * streamable HTTP of 2026-07-28. @module
 */

import { isObject } from "../text/json.ts";
import type { JsonSchema } from "../types/tool.ts";
import { headerValue } from "./http.ts";

/** An argument, by the names that lead to it, and its header. */
interface ParamHeader {
  path: readonly string[];
  header: string;
}

const HEADER_KEYWORD = "x-mcp-header";
/** The characters of a header's name: RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** The most levels of a schema that are looked through. */
const MAX_DEPTH = 50;

/** The headers that a schema asks for; a text is the reason why its tool cannot be used. */
export function paramHeadersOf(schema: JsonSchema): ParamHeader[] | string {
  const found: ParamHeader[] = [];
  let problem: string | undefined;
  const look = (value: unknown, path: readonly string[] | undefined, depth: number): void => {
    if (depth > MAX_DEPTH || problem !== undefined) return;
    if (Array.isArray(value)) return value.forEach((one) => look(one, undefined, depth + 1));
    if (!isObject(value)) return;
    if (HEADER_KEYWORD in value) {
      problem = problemOfHeader(value, path, found);
      if (problem === undefined) {
        found.push({ path: path!, header: value[HEADER_KEYWORD] as string });
      }
    }
    for (const [key, one] of Object.entries(value)) {
      if (key === HEADER_KEYWORD || key === "const" || key === "enum" || key === "default") {
        continue;
      }
      if (key !== "properties" || !isObject(one)) look(one, undefined, depth + 1);
      else {for (const [name, property] of Object.entries(one)) {
          look(property, path && [...path, name], depth + 1);
        }}
    }
  };
  look(schema, [], 0);
  return problem ?? found;
}

function problemOfHeader(
  schema: Record<string, unknown>,
  path: readonly string[] | undefined,
  others: readonly ParamHeader[],
): string | undefined {
  const header = schema[HEADER_KEYWORD];
  if (typeof header !== "string" || !TOKEN.test(header)) {
    return `its ${HEADER_KEYWORD} is no name of a header`;
  }
  if (!path || path.length === 0) return `its ${HEADER_KEYWORD} ${header} is not at an argument`;
  if (!["string", "integer", "boolean"].includes(String(schema.type))) {
    return `its ${HEADER_KEYWORD} ${header} is at an argument that is no string, integer or boolean`;
  }
  const isTaken = others.some((one) => one.header.toLowerCase() === header.toLowerCase());
  return isTaken ? `its ${HEADER_KEYWORD} ${header} is there twice` : undefined;
}

/** The headers of a call with `args`; an argument that is null or left out has none. */
export function paramHeaders(
  params: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(params.flatMap(({ path, header }) => {
    let value: unknown = args;
    for (const name of path) {
      value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    if (!["string", "number", "boolean"].includes(typeof value)) return [];
    return [[`mcp-param-${header}`, headerValue(String(value))]];
  }));
}
