import type { AgentOptions } from "../agent/agent.ts";
import type { TurnOptions } from "../agent/turn.ts";
import type { CopilotConfig, ModelRoles } from "../config.ts";
import type { StoredSession } from "../records/store.ts";
import type { EditorFiles } from "../types/tool.ts";
import type { Permissions } from "../safety/permissions.ts";
import type { Notice } from "./data.ts";
import type { Extension, ModelFlags } from "./extension.ts";

export interface SessionOptions
  extends Pick<TurnOptions, "answerSchema">, Pick<AgentOptions, "systemPrompt" | "appendedPrompt"> {
  config: CopilotConfig;
  /** True if the user named the model. */
  isChosen: boolean;
  /** The working directory; by default that of the process. */
  folder?: string | undefined;
  permissions: Permissions;
  extensions?: readonly Extension[] | undefined;
  /** True uses what the folder brings in this run, without asking. By default, the user decides. */
  trust?: boolean | undefined;
  /** False ignores what the folder brings. */
  readsFolder: boolean;
  isRecorded?: boolean | undefined;
  /** True for `-p`, whose sessions are listed apart. */
  isPrint?: boolean | undefined;
  /** True continues the newest session of the folder, if there is one. */
  resumesNewest?: boolean | undefined;
  /** The editor, whose files are used instead of those on disk. */
  editor?: EditorFiles | undefined;
  resumes?: StoredSession | undefined;
  /** True restores the permission mode of a resumed session. */
  keepsMode?: boolean | undefined;
  /** True makes messages undoable. The files that they change are stored in memory. */
  canUndo?: boolean | undefined;
  /** True asks the server about its models when the session opens. By default, a local one is asked before each turn. */
  asksAtStart?: boolean | undefined;
  /** The address of the running demo server. It ends with the program. */
  demoUrl?: string | undefined;
  roles?: ModelRoles | undefined;
  /** Reads the flags of `/model`. Without it, `/model` only accepts a name. */
  modelFlags?: ModelFlags | undefined;
  notice?: Notice | undefined;
}
