/** Adds skills, commands and sub-agents to a session. @module */

import type { SessionState } from "../../session/extension.ts";
import { count } from "../../text/count.ts";
import type { LoadedPromptFiles } from "./load.ts";
import { PromptFiles } from "./prompt_files.ts";

/** The maximum number of files that a notice names. */
const MAX_NAMED = 3;

/**
 * Returns the skills, commands and sub-agents of a session, and lists them in its prompt. Commands named in `taken`
 * take precedence.
 */
export function loadInto(
  session: SessionState,
  { promptFiles, problems }: LoadedPromptFiles,
  taken: readonly string[],
): PromptFiles | undefined {
  const { agent, permissions, emit } = session;
  const all = promptFiles.map((one) =>
    taken.includes(one.name) ? { ...one, isForPerson: false } : one
  );
  const loaded = all.length === 0 ? undefined : new PromptFiles(session, all, permissions.paths);
  const list = loaded && ((...room: [number, number]) => loaded.catalogue(...room));
  // A list with only sub-agents is short, and useless without their tool.
  agent.plugCatalogue(list, ...all.some(({ kind }) => kind === "skill") ? [] : [0]);
  const hidden = all.filter(({ kind, isForPerson, isForModel }) =>
    kind === "command" && !isForPerson && !isForModel
  ).map(({ path }) => ({ path, why: "a built-in command has this name" }));
  const lines = problemLines([...problems, ...hidden]);
  if (lines.length > 0) {
    const notice = { code: "extension", kind: "prompt_files", lines } as const;
    emit({ type: "session_notice", notice });
  }
  return loaded;
}

export function problemLines(problems: LoadedPromptFiles["problems"]): string[] {
  const more = problems.length - MAX_NAMED;
  return [
    ...problems.slice(0, MAX_NAMED).map(({ path, why }) => `${path} is ignored: ${why}`),
    ...more > 0 ? [`${count(more, "more file")} ignored: copilot doctor lists them`] : [],
  ];
}
