/**
 * A turn with the help that a first one needs: a model that is installed, a server to start.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { processTurn, type TurnOptions } from "../agent/turn.ts";
import { BackendError } from "../errors.ts";
import type { TurnResult } from "../types.ts";

/**
 * Processes a turn. Where the local server has not got the default model, and the person named
 * none, it goes on with an installed one and says so.
 *
 * @throws {BackendError} like `processTurn`; where no local server answers, it says how to start one.
 */
export async function processTurnHelpfully(
  agent: CopilotAgent,
  text: string,
  options: TurnOptions & { modelNamed: boolean },
): Promise<TurnResult> {
  const { local } = agent.config;
  try {
    return await processTurn(agent, text, options);
  } catch (error) {
    if (!local || !(error instanceof BackendError)) throw error;
    if (error.kind === "connection") throw withServerHint(error);
    if (error.kind !== "model_not_found" || options.modelNamed) throw error;
    const { chooseLocalModel, listLocalModelAbilities } = await import(
      "../backends/local/connection.ts"
    );
    const { host, apiKey, fetch } = local;
    const model = chooseLocalModel(
      await listLocalModelAbilities({ host, apiKey, fetch, signal: options.signal }),
    );
    if (model === null || model === local.model) throw error;
    agent.setModel(model);
    const message =
      `${local.model} is not installed, ${model} is: going on with that (--model names another)`;
    options.onEvent?.({ type: "notice", level: "info", message });
    return await processTurn(agent, text, options);
  }
}

/** The backend names `ollama serve`, which is of no use where there is no ollama. */
function withServerHint(error: BackendError): BackendError {
  if (isOnPath("ollama")) return error;
  const hint = "ollama is not installed here; `llama-server` of llama.cpp is such a server too";
  return new BackendError(`${error.message} (${hint})`, { ...error, cause: error });
}

function isOnPath(name: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(Deno.build.os === "windows" ? ";" : ":");
  const names = Deno.build.os === "windows" ? [`${name}.exe`] : [name];
  return folders.some((folder) =>
    names.some((file) => {
      try {
        return folder !== "" && Deno.statSync(`${folder}/${file}`).isFile;
      } catch {
        return false; // not there, or not ours to see
      }
    })
  );
}
