/** Adds skills, commands and sub-agents to a session. @module */

import { commands } from "../../session/commands/registry.ts";
import type { SessionState } from "../../session/state.ts";
import type { LoadedPromptFiles } from "./load.ts";
import { PromptFiles } from "./prompt_files.ts";

/** Replaces the skills, commands and sub-agents. Built-in commands take precedence. */
export function plugInto(
  state: SessionState,
  { promptFiles, problems }: LoadedPromptFiles,
): void {
  const { agent, permissions, emit } = state;
  const taken = new Set(commands.map(({ name }) => name));
  const heeded = promptFiles.map((one) =>
    taken.has(one.name) ? { ...one, isForPerson: false } : one
  );
  const plugged = heeded.length === 0
    ? undefined
    : new PromptFiles(agent, heeded, permissions.paths);
  state.plugged = plugged;
  const list = plugged && ((...room: [number, number]) => plugged.catalogue(...room));
  // A list with only sub-agents is short, and useless without their tool.
  agent.plugCatalogue(list, ...heeded.some(({ kind }) => kind === "skill") ? [] : [0]);
  const unheard = heeded.filter(({ kind, isForPerson, isForModel }) =>
    kind === "command" && !isForPerson && !isForModel
  ).map(({ path }) => ({ path, why: "a built-in command has this name" }));
  const all = [...problems, ...unheard];
  if (all.length > 0) {
    emit({ type: "session_notice", notice: { code: "prompt_files", problems: all } });
  }
}
