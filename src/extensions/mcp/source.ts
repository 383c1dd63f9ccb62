import { answerByDefaults, type Elicit } from "../../session/form.ts";
import { definitionsIn, type McpDefinition } from "./definition.ts";
import { MemoryStore } from "./memory.ts";
import type { ServerOptions } from "./server.ts";
import { McpServers } from "./servers.ts";
import { processVariable, readJsonFile, stateFolder } from "../../user_files.ts";
import { FolderTrust } from "../../safety/folder_trust.ts";
import type { DefinitionFile } from "../definition_files.ts";

interface McpOptions extends Partial<ServerOptions> {
  folder: string;
  files: readonly DefinitionFile[];
  /** Definitions from elsewhere, such as an editor's. The caller approves them. */
  given?: readonly McpDefinition[];
  /** Definitions of plug-ins, which come last. */
  plugins?: readonly McpDefinition[];
  forgets?: boolean;
  answersByDefaults?: boolean | undefined;
  onProblem?(why: string): void;
}

export async function openMcp(options: McpOptions): Promise<McpServers> {
  const { files, given = [], variables = processVariable, env = [] } = options;
  const read = files.flatMap(({ path, scope, folder }): McpDefinition[] => {
    try {
      const source = { scope, file: path, ...folder !== undefined && { folder } };
      return definitionsIn(readJsonFile(path) ?? {}, source);
    } catch (error) {
      options.onProblem?.((error as Error).message);
      return [];
    }
  });
  const definitions = [...given, ...read, ...options.plugins ?? []];
  const state = options.forgets ? undefined : stateFolder(variables);
  const byDefaults: Elicit = (question) => Promise.resolve(answerByDefaults(question));
  return await McpServers.open(definitions, {
    ...options,
    memory: new MemoryStore(state && `${state}/mcp`),
    folderTrust: new FolderTrust(state),
    env,
    variables,
    isTrusted: options.isTrusted === true,
    elicit: options.elicit ?? (options.answersByDefaults ? byDefaults : undefined),
    authFor: await authMaker(definitions, stateFolder(variables)),
  });
}

/** Returns the authorization of requests, if they need one. Its code is loaded if there is an address. */
async function authMaker(
  definitions: readonly McpDefinition[],
  state: string | undefined,
): Promise<ServerOptions["authFor"]> {
  if (definitions.every(({ url }) => url === undefined)) return () => undefined;
  const { TokenAuth, TokenStore } = await import("./oauth.ts");
  const store = new TokenStore(state && `${state}/mcp/tokens.json`);
  return (definition) => {
    const { oauth, headers } = definition;
    const isOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    return oauth === false || isOwn ? undefined : new TokenAuth(definition, store);
  };
}
