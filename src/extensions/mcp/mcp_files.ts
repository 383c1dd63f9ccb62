import { userFile, type VariableReader } from "../../user_files.ts";
import { definitionFiles } from "../definition_files.ts";

export const ownMcpFile = (env?: VariableReader): string | undefined => userFile("mcp.json", env);

export const mcpFiles = (folder: string, env?: VariableReader) =>
  definitionFiles(folder, ownMcpFile(env), [".mcp.json", ".agents/mcp.json"]);
