/** Gives a session its skills, commands and sub-agents. @module */

import { commands } from "../commands/registry.ts";
import type { SessionState } from "../state.ts";
import type { LoadedPromptFiles } from "./load.ts";
import { PromptFiles } from "./prompt_files.ts";

/** Takes the skills, commands and sub-agents in the place of those before; the program's own commands keep their names. */
export async function plugInto(
  state: SessionState,
  { promptFiles, problems }: LoadedPromptFiles,
): Promise<void> {
  const { agent, permissions, emit } = state;
  const taken = new Set(commands.map(({ name }) => name));
  const heeded = promptFiles.map((one) =>
    taken.has(one.name) ? { ...one, isForPerson: false } : one
  );
  const plugged = heeded.length === 0
    ? undefined
    : new PromptFiles(agent, heeded, await permissions.paths());
  state.plugged = plugged;
  const list = plugged && ((...room: [number, number]) => plugged.catalogue(...room));
  // A list of sub-agents alone is short, and of no use without the tool that they are for.
  agent.plugCatalogue(list, ...heeded.some(({ kind }) => kind === "skill") ? [] : [0]);
  const unheard = heeded.filter(({ kind, isForPerson, isForModel }) =>
    kind === "command" && !isForPerson && !isForModel
  ).map(({ path }) => ({ path, why: "a command of the program has its name" }));
  const all = [...problems, ...unheard];
  if (all.length > 0) {
    emit({ type: "session_notice", notice: { code: "prompt_files", problems: all } });
  }
}
