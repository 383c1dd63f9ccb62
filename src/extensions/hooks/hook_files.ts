/** Searches for files that define hooks. It has to be fast because each session does it. @module */

import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import { userFile, type VariableReader } from "../../user_files.ts";
import { repositoryOf } from "../../session/repository.ts";

/** A file that may define hooks. */
export interface HookFile {
  path: string;
  /** `user`: the user's own, which need no approval; `folder`: need approval. */
  scope: "user" | "folder";
  /** The folder that a folder's file is for. */
  folder?: string;
}

/** Returns the existing files: the user's, then those of the folder and of its repository. */
export function hookFiles(folder: string, env: VariableReader): HookFile[] {
  const own = userFile("hooks.json", env);
  const home = env("HOME");
  const folders = [...new Set([folder, repositoryOf(folder)])].filter((at) => at !== home);
  const files: HookFile[] = [
    ...own === undefined ? [] : [{ path: own, scope: "user" } as const],
    ...folders.flatMap((at) =>
      [".agents/hooks.json", ".claude/settings.json"].map((name) =>
        ({ path: join(at, name), scope: "folder", folder: at }) as const
      )
    ),
  ];
  return files.filter(({ path }) => attempt(() => Deno.statSync(path).isFile) === true);
}
