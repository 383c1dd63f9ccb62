/** Finds files of definitions. It has to be fast because each session does it. @module */

import { attempt } from "../attempt.ts";
import { repositoryOf } from "../safety/repositories.ts";
import { join } from "../text/std_path.ts";
import { userFile, type VariableReader } from "../user_files.ts";

export interface DefinitionFile {
  path: string;
  /** `user`: the user's own, which needs no approval. */
  scope: "user" | "folder" | "plugin";
  /** The folder that a folder's file is for. */
  folder?: string;
  plugin?: { name: string; root: string };
}

/** Returns the existing files: `own`, then those called `names` in the folder and its repository, not in `home`. */
function definitionFiles(
  folder: string,
  ownFile: string | undefined,
  names: readonly string[],
  home?: string,
): DefinitionFile[] {
  const folders = [...new Set([folder, repositoryOf(folder)])].filter((at) => at !== home);
  const files: DefinitionFile[] = folders.flatMap((at) =>
    names.map((name) => ({ path: join(at, name), scope: "folder", folder: at }) as const)
  );
  if (ownFile !== undefined) files.unshift({ path: ownFile, scope: "user" });
  return files.filter(({ path }) => attempt(() => Deno.statSync(path).isFile) === true);
}

export const ownMcpFile = (env?: VariableReader): string | undefined => userFile("mcp.json", env);

export const mcpFiles = (folder: string, env?: VariableReader) =>
  definitionFiles(folder, ownMcpFile(env), [".mcp.json", ".agents/mcp.json"]);

export const hookFiles = (folder: string, env: VariableReader) =>
  definitionFiles(
    folder,
    userFile("hooks.json", env),
    [".agents/hooks.json", ".claude/settings.json"],
    env("HOME"),
  );
