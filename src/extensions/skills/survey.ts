/** Counts skills, commands, sub-agents and hooks of a folder, and their tokens, for the doctor. @module */

import { aboutTokens } from "../../text/count.ts";
import { reasonOf } from "../../text/reason.ts";
import { readJsonFile } from "../../user_files.ts";
import { hooksIn } from "../hooks/definition.ts";
import { hookFiles } from "../hooks/hook_files.ts";
import type { DefinitionFile } from "../definition_files.ts";
import type { Permissions } from "../../session/permissions.ts";
import { promptCatalogue } from "./catalogue.ts";
import { type LoadedPromptFiles, loadPromptFiles } from "./load.ts";
import { promptFolders } from "./places.ts";

/** The number of all found files, loaded or not. */
export interface ExtensionSurvey {
  skills: number;
  commands: number;
  /** Sub-agents defined in files. */
  agents: number;
  hooks: number;
  /** The number of the files and hooks above that the folder defines. They need the user's approval. */
  ofFolder: number;
  /** The approximate tokens of the full list of skills and sub-agents in each prompt. */
  tokens: number;
  problems: LoadedPromptFiles["problems"];
}

export function surveyExtensions(folder: string, permissions: Permissions): ExtensionSurvey {
  const env = permissions.variables;
  const { promptFiles, problems } = loadPromptFiles(
    promptFolders(folder, env),
    permissions.paths,
  );
  const skills = promptFiles.filter(({ kind }) => kind === "skill");
  const agents = promptFiles.filter(({ kind }) => kind === "agent");
  const read = hookFiles(folder, env).map(readHooks);
  const hooks = read.flatMap((one) => one.hooks);
  const listed = skills.filter(({ isForModel }) => isForModel);
  return {
    skills: skills.length,
    commands: promptFiles.length - skills.length - agents.length,
    agents: agents.length,
    hooks: hooks.length,
    ofFolder: [...promptFiles, ...hooks].filter(({ scope }) => scope === "folder").length,
    tokens: aboutTokens(promptCatalogue(listed, agents, Infinity)),
    problems: [
      ...problems,
      ...read.flatMap((one) => one.problems),
      ...hooks.flatMap(problemOfHook),
    ],
  };
}

function readHooks(file: DefinitionFile): Pick<ReturnType<typeof hooksIn>, "hooks" | "problems"> {
  try {
    return hooksIn(readJsonFile(file.path, file.scope === "user") ?? {}, file);
  } catch (error) {
    return { hooks: [], problems: [{ path: file.path, why: reasonOf(error) }] };
  }
}

const problemOfHook = ({ path, problem }: { path: string; problem?: string }) =>
  problem === undefined ? [] : [{ path, why: `of a hook, ${problem}` }];
