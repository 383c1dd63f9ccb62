/** Finds folders of skills, commands and sub-agents. It has to be fast because each session does it. @module */

import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import { userFolder, type VariableReader } from "../../user_files.ts";
import { foldersDownTo } from "../../safety/repositories.ts";

/** A folder that may contain skills, commands or sub-agents. */
export interface PromptFolder {
  path: string;
  kind: "skill" | "command" | "agent";
  /** `user`: the user's own; `folder`: of the current repository; `plugin`: of an approved plug-in. */
  scope: "user" | "folder" | "plugin";
  /** For a repository and a plug-in: the folder that links must stay in. */
  root?: string;
  /** The only file that counts, below `path`. */
  only?: string;
  /** The plug-in, whose name precedes the names of its files. */
  plugin?: { name: string; root: string };
}

export const KIND_FOLDERS = [
  ["skill", "skills"],
  ["command", "commands"],
  ["agent", "agents"],
] as const;
/** The folders of agents in a repository and at home, in order of precedence. */
const AGENT_FOLDERS = [".agents", ".claude"];

export function promptFolders(folder: string, env: VariableReader): PromptFolder[] {
  const home = env("HOME") ?? env("USERPROFILE");
  const folders = foldersDownTo(folder);
  const root = folders[0]!;
  const isHome = (at: string) => home !== undefined && at === realHome(home);
  const inRepository = folders.toReversed().filter((at) => !isHome(at))
    .flatMap((at) => placesIn(at, AGENT_FOLDERS, { scope: "folder", root }));
  const settings = userFolder(env);
  return [
    ...inRepository,
    ...settings === undefined ? [] : placesIn(settings, ["."], { scope: "user" }),
    ...home === undefined ? [] : placesIn(home, AGENT_FOLDERS, { scope: "user" }),
  ];
}

const realHome = (path: string) => attempt(() => Deno.realPathSync(path)) ?? path;
const isFolder = (path: string) => attempt(() => Deno.statSync(path).isDirectory) === true;

function placesIn(
  at: string,
  names: readonly string[],
  about: Pick<PromptFolder, "scope" | "root">,
): PromptFolder[] {
  return names.map((name) => join(at, name)).filter(isFolder).flatMap((folder) =>
    KIND_FOLDERS.map(([kind, name]) => ({ path: join(folder, name), kind, ...about }))
  ).filter(({ path }) => isFolder(path));
}
