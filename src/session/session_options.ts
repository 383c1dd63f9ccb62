/** The options that a session is opened with. @module */

import type { TurnOptions } from "../agent/turn.ts";
import type { CopilotConfig } from "../config.ts";
import type { McpDefinition } from "../mcp/definition.ts";
import type { StoredSession } from "../records/store.ts";
import type { EditorFiles } from "../types/tool.ts";
import type { Permissions } from "./permissions.ts";
import type { Notice } from "./report.ts";
import type { ModelFlags } from "./state.ts";

export interface SessionOptions extends Pick<TurnOptions, "answerSchema"> {
  /** The model, its server, and limits. */
  config: CopilotConfig;
  isChosen: boolean;
  /** The folder to work in; by default the current one. */
  folder?: string | undefined;
  permissions: Permissions;
  /** True where calls that would be asked about run unasked; by default false. */
  approvesAll?: boolean | undefined;
  /** MCP servers beside those of files, which whoever names them approves. */
  servers?: readonly McpDefinition[] | undefined;
  /** True heeds the folder's instructions this time; by default the person's file decides, or they are asked. */
  trust?: boolean | undefined;
  readsInstructions: boolean;
  isRecorded: boolean;
  /** True goes on with the folder's newest recorded conversation; by default false. */
  resumesNewest?: boolean | undefined;
  /** The editor whose files come before those of the disk. */
  editor?: EditorFiles | undefined;
  /** The recorded conversation to go on with. */
  resumes?: StoredSession | undefined;
  /** True keeps the mode of asking of a conversation that goes on, where a person can be asked. */
  keepsMode?: boolean | undefined;
  /** True lets messages be taken back; the files that they changed are then kept in memory. */
  canUndo: boolean;
  /**
   * The time at which a server is asked about its models: as the session opens (`at-start`), or before a
   * turn: only one on this machine (`before-turns`), or any (`never`, which is never at the start).
   */
  asksServer: "at-start" | "before-turns" | "never";
  /** The address of the demo's server, where it runs; it ends with the program. */
  demoUrl?: string | undefined;
  /** Reads the flags of `/model`; without it `/model` takes a name alone. */
  modelFlags?: ModelFlags | undefined;
  /** A notice that the person gets as the session opens. */
  notice?: Notice | undefined;
}
