/** What is plugged in in a folder, and what it costs: for the doctor. @module */

import { aboutTokens } from "../../text/count.ts";
import { reasonOf } from "../../text/reason.ts";
import { readJsonFile } from "../../user_files.ts";
import { hooksIn } from "../hooks/definition.ts";
import { type HookFile, hookFiles } from "../hooks/hook_files.ts";
import type { Permissions } from "../permissions.ts";
import { plugInCatalogue } from "./catalogue.ts";
import { type LoadedPlugIns, loadPlugIns } from "./load.ts";
import { pluginPlaces } from "./places.ts";

/** Numbers of all that is there, heeded or not. */
export interface PlugInSurvey {
  skills: number;
  commands: number;
  /** Sub-agents that files define. */
  agents: number;
  hooks: number;
  /** Those of them that a folder brings: they wait for the person's word. */
  ofFolder: number;
  /** About the tokens of the list of skills and sub-agents in each prompt, where there is room for all of it. */
  tokens: number;
  problems: LoadedPlugIns["problems"];
}

export async function surveyPlugIns(
  folder: string,
  permissions: Permissions,
): Promise<PlugInSurvey> {
  const env = permissions.variables;
  const { plugIns, problems } = loadPlugIns(pluginPlaces(folder, env), await permissions.paths());
  const skills = plugIns.filter(({ kind }) => kind === "skill");
  const agents = plugIns.filter(({ kind }) => kind === "agent");
  const read = hookFiles(folder, env).map(readHooks);
  const hooks = read.flatMap((one) => one.hooks);
  const listed = skills.filter(({ isForModel }) => isForModel);
  return {
    skills: skills.length,
    commands: plugIns.length - skills.length - agents.length,
    agents: agents.length,
    hooks: hooks.length,
    ofFolder: [...plugIns, ...hooks].filter(({ scope }) => scope === "folder").length,
    tokens: aboutTokens(plugInCatalogue(listed, agents, Infinity)),
    problems: [
      ...problems,
      ...read.flatMap((one) => one.problems),
      ...hooks.flatMap(problemOfHook),
    ],
  };
}

function readHooks(file: HookFile): Pick<ReturnType<typeof hooksIn>, "hooks" | "problems"> {
  try {
    return hooksIn(readJsonFile(file.path, file.scope === "user") ?? {}, file);
  } catch (error) {
    return { hooks: [], problems: [{ path: file.path, why: reasonOf(error) }] };
  }
}

const problemOfHook = ({ path, problem }: { path: string; problem?: string }) =>
  problem === undefined ? [] : [{ path, why: `of a hook, ${problem}` }];
