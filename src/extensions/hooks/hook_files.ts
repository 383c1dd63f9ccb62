import { userFile, type VariableReader } from "../../user_files.ts";
import { definitionFiles } from "../definition_files.ts";

export const hookFiles = (folder: string, env: VariableReader) =>
  definitionFiles(
    folder,
    userFile("hooks.json", env),
    [".agents/hooks.json", ".claude/settings.json"],
    env("HOME"),
  );
