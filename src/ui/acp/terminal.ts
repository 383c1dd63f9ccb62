/** Runs programs in a terminal of the editor (`terminal/*`). @module */

import type { RpcParams } from "../../rpc/message.ts";
import { isObject } from "../../text/json.ts";
import type { TerminalEnd, TerminalProgram } from "../../types/tool.ts";
import { aborted } from "../../wire/wait.ts";
import type { Editor } from "./editor.ts";

/** The timeouts for creating a terminal and for quick requests, in ms. */
const CREATE_MS = 30_000;
const ANSWER_MS = 2000;

/** Runs a program to its end. `onMade` gets the terminal's id. @throws {RpcError} the editor's error. */
export async function runTerminalProgram(
  editor: Editor,
  sessionId: string,
  { program, args, env, folder, timeoutMs, maxBytes }: TerminalProgram,
  onMade: (terminalId: string) => void,
  signal: AbortSignal,
): Promise<TerminalEnd> {
  signal.throwIfAborted();
  const ask = async (method: string, params: RpcParams, until = AbortSignal.timeout(ANSWER_MS)) => {
    const answer = await editor.request(`terminal/${method}`, { sessionId, ...params }, until);
    return isObject(answer) ? answer : {};
  };
  const made = ask("create", {
    command: program,
    args,
    cwd: folder,
    outputByteLimit: maxBytes,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }, AbortSignal.timeout(CREATE_MS));
  const idOf = ({ terminalId }: Record<string, unknown>) => {
    if (typeof terminalId === "string") return terminalId;
    throw new Error("Cannot run the command because the editor created no terminal for it");
  };
  const first = await Promise.race([made, aborted(signal)]);
  if (first === undefined) {
    // The terminal may be created later. Releasing it ends its program.
    made.then((late) => ask("release", { terminalId: idOf(late) })).catch(() => {});
    throw signal.reason;
  }
  const terminal = { terminalId: idOf(first) };
  onMade(terminal.terminalId);
  try {
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let ended: TerminalEnd["ended"] = "exit";
    try {
      await ask("wait_for_exit", terminal, until);
    } catch (error) {
      if (!until.aborted) throw error;
      ended = signal.aborted ? "abort" : "timeout";
      await ask("kill", terminal);
    }
    const { output, truncated, exitStatus } = await ask("output", terminal);
    const { exitCode, signal: killer } = isObject(exitStatus) ? exitStatus : {};
    return {
      ended,
      // Enforces the limit for an editor that does not.
      output: typeof output === "string" ? output.slice(-maxBytes) : "",
      isCut: truncated === true || typeof output === "string" && output.length > maxBytes,
      ...typeof exitCode === "number" && { exitCode },
      ...typeof killer === "string" && { signal: killer },
    };
  } finally {
    ask("release", terminal).catch(() => {});
  }
}
