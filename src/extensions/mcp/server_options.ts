/** The environment of a server in a session, and its events. @module */

import type { Confine } from "../../types/confine.ts";
import type { VariableReader } from "../../user_files.ts";
import type { FolderTrust } from "../../safety/folder_trust.ts";
import type { McpDefinition } from "./definition.ts";
import type { Elicit } from "../../session/form.ts";
import type { HttpAuth } from "./http.ts";
import type { MemoryStore } from "./memory.ts";
import type { ToolDefinition } from "./protocol.ts";

export interface ServerOptions {
  folder: string;
  memory: MemoryStore;
  folderTrust: FolderTrust;
  env: readonly string[];
  variables: VariableReader;
  /** Sandboxes the server with that id, separately from all others. */
  confine?: ((id: string, scope: McpDefinition["scope"]) => Confine) | undefined;
  /** Returns the name of the view that programs would get now. A program with another view is restarted. */
  view?(): Promise<string>;
  /** How long a wrong name of a tool waits for servers whose tools are not known, in ms. */
  lookMs?: number;
  /** True if the user trusts the folder's definitions for this run without seeing them. */
  isTrusted: boolean;
  elicit?: Elicit | undefined;
  /** Returns the authorization for an address, if any. With `tell`, which shows a line, it signs in. */
  authFor(definition: McpDefinition, tell?: (text: string) => void): HttpAuth | undefined;
  onNews?(news: ServerNews): void;
}

export type ServerNews =
  | { type: "changed"; server: string; tools: readonly ToolChange[] }
  | { type: "left_out"; server: string; reasons: readonly string[] };

/** A tool that differs from the approved one. Without `before` it is new. */
export interface ToolChange {
  before?: ToolDefinition | undefined;
  now: ToolDefinition;
}

/** The state of a server: `pending` waits for the user, who may have `declined` it. */
export type Standing = "ready" | "pending" | "declined" | "disabled" | "broken";
