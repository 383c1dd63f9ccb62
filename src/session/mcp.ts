/** The MCP servers of a session: their definitions, who may start them, their tools. @module */

import { answerByDefaults, type Elicit } from "../mcp/elicitation.ts";
import { approvedPart, definitionsIn, type McpDefinition, variablesOf } from "../mcp/definition.ts";
import type { HttpAuth } from "../mcp/http.ts";
import { MemoryStore } from "../mcp/memory.ts";
import type { McpServer, ServerNews } from "../mcp/server.ts";
import { McpServers } from "../mcp/servers.ts";
import type { Confine, Tool } from "../types/tool.ts";
import { readJsonFile, stateFolder, type VariableReader } from "../user_files.ts";
import type { ServerQuestion } from "./frontend.ts";
import type { McpFile } from "./mcp_files.ts";
import type { ToolSource } from "./tool_source.ts";

interface McpOptions {
  /** The folder of the session. */
  folder: string;
  files: readonly McpFile[];
  /** Definitions from elsewhere, such as an editor's: whoever hands them over approves them. */
  given?: readonly McpDefinition[];
  /** Names of variables that programs get beside the usual ones. */
  env?: readonly string[];
  confine?: Confine | undefined;
  /** True uses the folder's definitions this time, unseen. */
  trust?: boolean | undefined;
  variables?: VariableReader;
  /** Asks the person for what a server wants to know. */
  elicit?: Elicit | undefined;
  /** True answers such questions by their defaults. */
  answersByDefaults?: boolean | undefined;
  onNews?(news: ServerNews): void;
  /** Takes a file that cannot be read. */
  onProblem?(why: string): void;
}

const variableOfProcess: VariableReader = (name) => Deno.env.get(name);

/** Reads the definitions; nothing is started. */
export async function openMcp(options: McpOptions): Promise<McpSource> {
  const { files, given = [], variables = variableOfProcess } = options;
  const read = files.flatMap(({ path, scope, folder }): McpDefinition[] => {
    try {
      const source = { scope, file: path, ...folder !== undefined && { folder } };
      return definitionsIn(readJsonFile(path, false) ?? {}, source);
    } catch (error) {
      options.onProblem?.((error as Error).message);
      return [];
    }
  });
  const state = stateFolder(variables);
  const memory = new MemoryStore(state && `${state}/mcp`);
  const { elicit, answersByDefaults } = options;
  const { authOf, noAuth } = await authMaker([...given, ...read], variables);
  const servers = await McpServers.open([...given, ...read], {
    folder: options.folder,
    memory,
    env: options.env ?? [],
    variables,
    confine: options.confine,
    isTrusted: options.trust === true,
    elicit: elicit ??
      (answersByDefaults ? (question) => Promise.resolve(answerByDefaults(question)) : undefined),
    authFor: (definition) => authOf?.(definition) ?? noAuth,
    onNews: (news) => options.onNews?.(news),
  });
  return new McpSource(servers);
}

/** Makes the authorization of addresses; its code is loaded where some server may need it. */
function authMaker(definitions: readonly McpDefinition[], _variables: VariableReader) {
  const noAuth: HttpAuth = {
    header: () => Promise.resolve(undefined),
    refused: () => Promise.resolve(false),
  };
  const isNeeded = definitions.some(({ url, oauth }) => url !== undefined && oauth !== false);
  const authOf: ((definition: McpDefinition) => HttpAuth) | undefined = isNeeded
    ? () => noAuth
    : undefined;
  return Promise.resolve({ authOf, noAuth });
}

export class McpSource implements ToolSource {
  constructor(readonly all: McpServers) {}

  get tools(): readonly Tool[] {
    return this.all.offered();
  }

  /** The folder's servers that wait for the person's word. */
  get pending(): readonly McpServer[] {
    return this.all.servers.filter(({ standing }) => standing === "pending");
  }

  /** Asks about each definition that waits; no answer leaves it open. */
  async ask(confirm: (question: ServerQuestion) => Promise<boolean | undefined>): Promise<void> {
    for (const server of this.pending) {
      const answer = await confirm(serverQuestion(server));
      if (answer !== undefined) await server.decide(answer);
    }
  }

  /** The resources that are known of servers that may be used, as `server:uri`. */
  names(): string[] {
    return this.all.usable.flatMap(({ name, memory }) =>
      (memory.resources ?? []).map(({ uri }) => `${name}:${uri}`)
    );
  }

  attach(name: string, signal: AbortSignal): Promise<string> | undefined {
    const [, server, uri] = /^([^:]+):(.+)$/s.exec(name) ?? [];
    const found = server === undefined ? undefined : this.all.named(server);
    return found?.standing === "ready" ? found.read(uri!, signal) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.all[Symbol.asyncDispose]();
  }
}

/** What a person decides on: the whole of a definition, and the variables that it gets. */
function serverQuestion({ definition }: McpServer): ServerQuestion {
  const { name, file, network, program } = definition;
  return {
    type: "server",
    name,
    ...file !== undefined && { file },
    definition: approvedPart(definition),
    variables: variablesOf(definition),
    ...program && { network },
  };
}
