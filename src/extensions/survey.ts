/** Lists for the doctor what extends a session in a folder: skills, commands, sub-agents, hooks and MCP servers. @module */

import type { Check } from "../session/data.ts";
import type { Permissions } from "../safety/permissions.ts";
import { aboutTokens, count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import { readJsonFile, type VariableReader } from "../user_files.ts";
import { type DefinitionFile, hookFiles, mcpFiles } from "./definition_files.ts";
import { hooksIn } from "./hooks/definition.ts";
import { mcpRow } from "./mcp/mcp_text.ts";
import { openMcp } from "./mcp/source.ts";
import { promptCatalogue } from "./skills/catalogue.ts";
import { loadPromptFiles } from "./skills/load.ts";
import { promptFolders } from "./skills/places.ts";

/** Returns what is found, loaded or not, and the tokens of its list; undefined if there is nothing. */
export async function surveyExtensions(
  folder: string,
  permissions: Permissions,
): Promise<Check | undefined> {
  const env = permissions.variables;
  const places = promptFolders(folder, env);
  const { promptFiles, problems } = await loadPromptFiles(places, permissions.paths);
  const [skills, commands, agents] = (["skill", "command", "agent"] as const)
    .map((wanted) => promptFiles.filter(({ kind }) => kind === wanted));
  const read = hookFiles(folder, env).map(readHooks);
  const hooks = read.flatMap((one) => one.hooks);
  const ofFolder = [...promptFiles, ...hooks].filter(({ scope }) => scope === "folder").length;
  const listed = skills!.filter(({ isForModel }) => isForModel);
  const tokens = aboutTokens(promptCatalogue(listed, agents!, Infinity));
  const cost = tokens > 0
    ? ` (their list takes about ${count(tokens, "token")} of each prompt)`
    : "";
  const counted = (list: readonly unknown[] | undefined, name: string, more = "") =>
    list!.length > 0 ? [`${count(list!.length, name)}${more}`] : [];
  const parts = [
    ...counted(skills, "skill", cost),
    ...counted(commands, "command"),
    ...counted(agents, "sub-agent", skills!.length > 0 ? "" : cost),
    ...counted(hooks, "hook"),
    ...ofFolder > 0
      ? [`${ofFolder} of them are the folder's, used once you trust or approve them`]
      : [],
  ];
  const wrong = [...problems, ...read.flatMap((one) => one.problems), ...hooks.flatMap(brokenHook)]
    .map(({ path, why }) => `${oneLine(path)}: ${why}`);
  if (parts.length + wrong.length === 0) return undefined;
  return {
    name: "plugged",
    status: wrong.length > 0 ? "note" : "ok",
    text: parts.join("; ") || "nothing usable",
    ...wrong.length > 0 && { advice: `Left out:\n${wrong.join("\n")}` },
  };
}

function readHooks(file: DefinitionFile): Pick<ReturnType<typeof hooksIn>, "hooks" | "problems"> {
  try {
    return hooksIn(readJsonFile(file.path, file.scope === "user") ?? {}, file);
  } catch (error) {
    return { hooks: [], problems: [{ path: file.path, why: reasonOf(error) }] };
  }
}

const brokenHook = ({ path, problem }: { path: string; problem?: string }) =>
  problem === undefined ? [] : [{ path, why: `of a hook, ${problem}` }];

export async function* mcpChecks(folder: string, variables: VariableReader): AsyncGenerator<Check> {
  const name = "mcp";
  const files = mcpFiles(folder, variables);
  if (files.length === 0) return;
  const problems: string[] = [];
  const onProblem = (why: string) => problems.push(why);
  await using source = await openMcp({ folder, files, variables, onProblem });
  for (const why of problems) yield { name, status: "note", text: oneLine(why) };
  for (const server of source.servers) {
    const isWell = server.standing === "ready" && server.changes.length === 0;
    const status = isWell || server.standing === "disabled" ? "ok" : "note";
    yield { name, status, text: mcpRow(server, "copilot mcp") };
  }
}
