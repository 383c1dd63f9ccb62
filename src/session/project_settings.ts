/**
 * The settings files that a project brings.
 *
 * @module
 */

import { join } from "../text/std_path.ts";
import { readJsonFile } from "../user_files.ts";
import { foldersDownTo } from "./repository.ts";

/** The settings file of a project, in the folder that it is for. */
export const PROJECT_FILE = ".copilot/permissions.json";

/** The settings that a project brings in one folder. */
export interface ProjectSettings {
  /** The folder. */
  at: string;
  settings: Record<string, unknown>;
}

/** The settings of the folders of a repository down to `folder`, the outermost first. */
export function projectSettings(folder: string): ProjectSettings[] {
  return foldersDownTo(folder).flatMap((at) => {
    const settings = readJsonFile(join(at, PROJECT_FILE), false);
    return settings === undefined ? [] : [{ at, settings }];
  });
}
