/** Instructions in subfolders of the working directory, loaded when a file there is first read. @module */

import { attempt } from "../../attempt.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin, resolvePath } from "../../text/paths.ts";
import { dirname } from "../../text/std_path.ts";
import type { ToolExecution } from "../../types/event.ts";
import { decideOn, instructionFileIn, trustInstructions } from "./instructions.ts";
import type { LoadedInstructions } from "../../session/data.ts";
import type { SessionState } from "../../session/extension.ts";
import { repositoryOf } from "../../safety/repositories.ts";

/** Returns the instructions for a file that was read, without those of folders that are `seen`. */
export async function instructionsBelow(
  { agent, permissions, folderTrust, trust, confirm }: SessionState,
  { subject }: ToolExecution,
  seen: Set<string>,
  onLoaded: (loaded: LoadedInstructions) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { workingDir } = agent.state;
  if (subject?.action !== "read" || subject.path === undefined) return undefined;
  const real = attempt(() => Deno.realPathSync(resolvePath(agent.state, subject.path!)));
  if (real === undefined || !isWithin(workingDir, real)) return undefined;
  const folders: string[] = [];
  for (let at = dirname(real); at !== workingDir && isWithin(workingDir, at); at = dirname(at)) {
    if (!seen.has(at)) folders.unshift(at);
  }
  const root = repositoryOf(workingDir);
  let notes = "";
  for (const at of folders) {
    seen.add(at);
    const file = await instructionFileIn(at, workingDir, permissions);
    if (!file || !("text" in file)) continue;
    const asking = { trust, confirm, signal };
    const { said, ...decided } = await decideOn(folderTrust, root, [file], asking);
    if (said) await trustInstructions(folderTrust, root, [file]).catch(() => {});
    onLoaded({ ...decided, refused: [] });
    if (decided.isLoaded !== true) continue;
    notes += `\n\n[Instructions of the project, from ${oneLine(file.name)}:]\n${file.text.trim()}`;
  }
  return notes || undefined;
}
