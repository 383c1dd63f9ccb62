import type { RpcParams } from "../../rpc/message.ts";

export interface Editor {
  /** `choices`: all answers to a question, also several of the same kind. */
  readonly accepts: { notices: boolean; choices: boolean };
  /** True for the file operations that it handles itself. */
  readonly fs: { readTextFile: boolean; writeTextFile: boolean };
  update(sessionId: string, update: Record<string, unknown>): void;
  /** @throws {RpcError} the editor's error, or the reason of `signal`. */
  request(method: string, params: RpcParams, signal: AbortSignal): Promise<unknown>;
}
