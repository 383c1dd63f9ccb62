/**
 * The messages of the Model Context Protocol, https://modelcontextprotocol.io/specification, revisions 2024-11-05
 * to 2026-07-28. `modern` is 2026-07-28, in which each request is self-contained. `legacy` are the revisions with
 * the `initialize` handshake. @module
 */

import { VERSION } from "../../config.ts";
import { isObject } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import type { JsonSchema } from "../../types/tool.ts";

export type Era = "modern" | "legacy";

export const MODERN_VERSION = "2026-07-28";
/** The revisions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];

export const MCP_CODES = {
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export const CLIENT_INFO = { name: "copilot", title: "Copilot", version: VERSION };

/** A tool as a server defines it. `inputSchema` is unchanged. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
}

export interface PromptDefinition {
  name: string;
  description?: string;
  arguments: { name: string; required: boolean }[];
}

export interface ResourceDefinition {
  uri: string;
  name: string;
}

const MAX_DEFINED_NAME = 128;
const MAX_URI = 2048;
/** The maximum length of a description, in characters. Longer ones are shortened. */
const MAX_DEFINED_WORDS = 4000;

const definedWords = (value: unknown, max = MAX_DEFINED_WORDS): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.slice(0, max).toWellFormed() : undefined;

export function toolDefinitionOf(value: unknown): ToolDefinition | string {
  if (!isObject(value)) return "a tool is not an object";
  const { name, inputSchema = { type: "object" } } = value;
  if (typeof name !== "string" || name === "" || name.length > MAX_DEFINED_NAME) {
    return `a tool's name must be text of 1 to ${MAX_DEFINED_NAME} characters`;
  }
  if (!isObject(inputSchema)) return `the schema of ${name} is not an object`;
  const title = definedWords(value.title, 200);
  const description = definedWords(value.description);
  return { name, ...title && { title }, ...description && { description }, inputSchema };
}

export function promptDefinitionOf(value: unknown): PromptDefinition | undefined {
  if (!isObject(value)) return undefined;
  const name = definedWords(value.name, MAX_DEFINED_NAME);
  if (name === undefined) return undefined;
  const description = definedWords(value.description);
  const given = Array.isArray(value.arguments) ? value.arguments.slice(0, 20) : [];
  return {
    name,
    ...description && { description },
    arguments: given.filter(isObject).flatMap((one) => {
      const argument = definedWords(one.name, MAX_DEFINED_NAME);
      return argument === undefined ? [] : [{ name: argument, required: one.required === true }];
    }),
  };
}

export function resourceDefinitionOf(value: unknown): ResourceDefinition | undefined {
  if (!isObject(value)) return undefined;
  const uri = definedWords(value.uri, MAX_URI);
  if (uri === undefined) return undefined;
  return { uri, name: definedWords(value.name, MAX_DEFINED_NAME) ?? uri };
}

/** Returns why a server without a common revision cannot be used. */
export function notSpoken(versions: readonly unknown[]): Error {
  const named = oneLine(versions.join(", ")).slice(0, 200) || "it names none";
  const ours = `copilot speaks ${MODERN_VERSION} and ${LEGACY_VERSIONS.join(", ")}`;
  return new Error(`it speaks none of our revisions: ${named}; ${ours}`);
}
