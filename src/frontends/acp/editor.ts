/** The editor, as sessions see it. @module */

import type { RpcParams } from "../../rpc/message.ts";

/** The editor, as a session sees it. */
export interface Editor {
  /** The optional updates that it takes. */
  readonly takes: { notices: boolean; compaction: boolean };
  /** The files that it reads and writes itself. */
  readonly fs: { readTextFile: boolean; writeTextFile: boolean };
  /** True where it runs programs in terminals of its own. */
  readonly hasTerminals: boolean;
  /** The ways in which it asks for what an MCP server wants to know. */
  readonly elicits: { form: boolean; url: boolean };
  update(sessionId: string, update: Record<string, unknown>): void;
  /** @throws {RpcError} the editor's error; the reason of `signal`. */
  request(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown>;
}
