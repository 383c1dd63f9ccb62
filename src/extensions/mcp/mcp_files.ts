/** Searches for definitions of MCP servers. It has to be fast because each session does it. @module */

import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import { userFile, type VariableReader } from "../../user_files.ts";
import { repositoryOf } from "../../session/repository.ts";

/** A file that may define servers. */
export interface McpFile {
  path: string;
  scope: "user" | "folder";
  /** The folder that a folder's file is for. */
  folder?: string;
}

/** The user's own file of servers, which `copilot mcp add` writes. */
export const ownMcpFile = (env?: VariableReader): string | undefined => userFile("mcp.json", env);

/** Returns the existing files: the user's, then those of the folder and of its repository. */
export function mcpFiles(folder: string, env?: VariableReader): McpFile[] {
  const isThere = ({ path }: McpFile) => attempt(() => Deno.statSync(path).isFile) === true;
  const own = ownMcpFile(env);
  const folders = [...new Set([folder, repositoryOf(folder)])];
  const files: McpFile[] = [
    ...own === undefined ? [] : [{ path: own, scope: "user" } as const],
    ...folders.flatMap((at) =>
      [".mcp.json", ".agents/mcp.json"].map((name) =>
        ({ path: join(at, name), scope: "folder", folder: at }) as const
      )
    ),
  ];
  return files.filter(isThere);
}
