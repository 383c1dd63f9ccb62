/** The surroundings of a server in a session, and what the session is told of it. @module */

import type { Confine } from "../types/confine.ts";
import type { VariableReader } from "../user_files.ts";
import type { McpDefinition } from "./definition.ts";
import type { Elicit } from "./elicitation.ts";
import type { HttpAuth } from "./http.ts";
import type { MemoryStore } from "./memory.ts";
import type { ToolDefinition } from "./protocol.ts";

/** The surroundings of all servers of a session. */
export interface ServerOptions {
  /** The folder of the session, which programs work in. */
  folder: string;
  memory: MemoryStore;
  /** Names of variables that programs get beside the usual ones. */
  env: readonly string[];
  /** Reads the variables that definitions use. */
  variables: VariableReader;
  confine?: Confine | undefined;
  /** Names the view that programs would get now; one that runs with another is started anew. */
  view?(): Promise<string>;
  /** True where the person trusts the folder's definitions for this run, unseen. */
  isTrusted: boolean;
  elicit?: Elicit | undefined;
  /** Makes what requests to an address are authorized with; with `tell`, which shows a line, it signs in. */
  authFor(definition: McpDefinition, tell?: (text: string) => void): ServerAuth;
  /** Takes news of a server, for the person. */
  onNews?(news: ServerNews): void;
}

/** What requests to an address are authorized with. */
export interface ServerAuth extends HttpAuth {
  hasSignedIn?: boolean;
  /** The challenge with which the server asked for more after the last sign-in. */
  wanted?: string | undefined;
  /** Signs in unasked. */
  signIn?(challenge: string, signal?: AbortSignal): Promise<void>;
  /** Forgets the token. */
  signOut?(): Promise<void>;
}

/** News of a server. */
export type ServerNews =
  /** Tools are other than those that were approved; they are not offered. */
  | { type: "changed"; server: string; tools: readonly ToolChange[] }
  /** Tools that are left out, with the reasons. */
  | { type: "left_out"; server: string; reasons: readonly string[] };

/** A tool that is not as it was approved; without `before` it is new. */
export interface ToolChange {
  before?: ToolDefinition | undefined;
  now: ToolDefinition;
}

/** Whether a server may be used: `pending` waits for the person, who may have said no (`declined`). */
export type Standing = "ready" | "pending" | "declined" | "disabled" | "broken";
