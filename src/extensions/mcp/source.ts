/** The MCP servers of a session: their definitions, who may start them, their tools. @module */

import { answerByDefaults, type Elicit } from "./elicitation.ts";
import { approvedPart, definitionsIn, type McpDefinition, variablesOf } from "./definition.ts";
import type { HttpAuth } from "./http.ts";
import { MemoryStore } from "./memory.ts";
import type { McpServer } from "./server.ts";
import type { ServerNews, ServerOptions, ToolChange } from "./server_options.ts";
import { McpServers } from "./servers.ts";
import { aboutTokens, count } from "../../text/count.ts";
import { diffLines } from "../../text/diff.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import type { Tool } from "../../types/tool.ts";
import { processVariable, readJsonFile, stateFolder } from "../../user_files.ts";
import type { CopilotAgent } from "../../agent/agent.ts";
import { FolderTrust } from "../../safety/folder_trust.ts";
import type { Confirmation, Frontend } from "../../session/frontend.ts";
import type { Permissions } from "../../session/permissions.ts";
import type { Notice } from "../../session/data.ts";
import type { McpFile } from "./mcp_files.ts";
import type { ToolSource } from "../../session/tool_source.ts";

type Surroundings = Pick<ServerOptions, "env" | "confine" | "view" | "variables" | "elicit">;

interface McpOptions extends Partial<Surroundings> {
  /** The folder of the session. */
  folder: string;
  files: readonly McpFile[];
  /** Definitions from elsewhere, such as an editor's. The caller has approved them. */
  given?: readonly McpDefinition[];
  /** True saves nothing about the servers for later sessions. */
  forgets?: boolean;
  /** True uses the folder's definitions for this run without approval. */
  trust?: boolean | undefined;
  /** True answers questions of servers with their defaults. */
  answersByDefaults?: boolean | undefined;
  onNews?(news: ServerNews): void;
  /** Called for a file that cannot be read. */
  onProblem?(why: string): void;
}

/** The parts of a session that its servers need. */
interface McpHost {
  agent: CopilotAgent;
  permissions: Permissions;
  frontend: Pick<Frontend, "confirm" | "elicit">;
  tell(notice: Notice): void;
  /** Aborts a question. */
  signal: AbortSignal;
}

/**
 * Opens the servers of a session without starting them, asks about those of its folder, and offers their tools.
 */
export async function plugMcp(
  { agent, permissions, frontend, tell, signal }: McpHost,
  options: Pick<McpOptions, "files" | "given" | "trust" | "answersByDefaults">,
): Promise<McpSource> {
  const mcp = await openMcp({
    ...options,
    folder: agent.state.workingDir,
    env: permissions.env,
    variables: permissions.variables,
    confine: (id) => permissions.confineServers(() => agent.state.workingDir, id),
    // In plan mode, programs may only read.
    view: async () =>
      (await permissions.mode(agent.state.workingDir)).approve === "plan" ? "plan" : "",
    elicit: frontend.elicit?.bind(frontend),
    onNews: (news) => tell({ code: "mcp", ...news }),
    onProblem: (why) => tell({ code: "mcp_file", why }),
  });
  mcp.confirm = frontend.confirm?.bind(frontend);
  await mcp.ask(signal);
  const open = mcp.pending.map(({ name }) => name);
  if (open.length > 0) tell({ code: "mcp_pending", servers: open });
  agent.plug(mcp.tools);
  return mcp;
}

/** Reads the definitions without starting a server. */
export async function openMcp(options: McpOptions): Promise<McpSource> {
  const { files, given = [], variables = processVariable, env = [] } = options;
  const read = files.flatMap(({ path, scope, folder }): McpDefinition[] => {
    try {
      const source = { scope, file: path, ...folder !== undefined && { folder } };
      return definitionsIn(readJsonFile(path, false) ?? {}, source);
    } catch (error) {
      options.onProblem?.((error as Error).message);
      return [];
    }
  });
  const definitions = [...given, ...read];
  const state = options.forgets ? undefined : stateFolder(variables);
  const byDefaults: Elicit = (question) => Promise.resolve(answerByDefaults(question));
  const servers = await McpServers.open(definitions, {
    ...options,
    memory: new MemoryStore(state && `${state}/mcp`),
    folderTrust: new FolderTrust(state),
    env,
    variables,
    isTrusted: options.trust === true,
    elicit: options.elicit ?? (options.answersByDefaults ? byDefaults : undefined),
    authFor: await authMaker(definitions, stateFolder(variables)),
  });
  return new McpSource(servers);
}

/** For addresses without a token. */
const NO_AUTH: HttpAuth = {
  header: () => Promise.resolve(undefined),
  refused: () => Promise.resolve(false),
};

/** Creates the authorization of requests to addresses. Its code is loaded only if there is an address. */
async function authMaker(
  definitions: readonly McpDefinition[],
  state: string | undefined,
): Promise<ServerOptions["authFor"]> {
  if (definitions.every(({ url }) => url === undefined)) return () => NO_AUTH;
  const { TokenAuth, TokenStore } = await import("./oauth.ts");
  const store = new TokenStore(state && `${state}/mcp/tokens.json`);
  return (definition, tell) => {
    const { oauth, headers } = definition;
    const isOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    if (oauth === false || isOwn) return NO_AUTH;
    return new TokenAuth(definition, store, tell);
  };
}

export class McpSource implements ToolSource {
  /** Asks the user about a server or its tools; undefined without a user. */
  confirm:
    | ((question: Confirmation, signal: AbortSignal) => Promise<boolean | undefined>)
    | undefined;

  constructor(readonly all: McpServers) {}

  get tools(): readonly Tool[] {
    return this.all.offered();
  }

  /** The folder's servers that wait for approval. */
  get pending(): readonly McpServer[] {
    return this.all.servers.filter(({ standing }) => standing === "pending");
  }

  /** Asks about each definition that waits for approval. Without an answer, it keeps waiting. */
  async ask(signal: AbortSignal): Promise<void> {
    if (!this.confirm) return;
    for (const server of this.pending) {
      const answer = await this.confirm(serverQuestion(server), signal);
      if (answer !== undefined) await server.decide(answer);
    }
  }

  /** Returns the known resources of usable servers, as `server:uri`. */
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

/** Returns the question about a whole definition and the variables that it gets, or about changed tools. */
export function serverQuestion(
  { definition, trust: { change } }: Pick<McpServer, "definition" | "trust">,
  changes: readonly ToolChange[] = [],
): Confirmation {
  const { name, file: path, network, program } = definition;
  const asked = {
    kind: "server",
    heading: oneLine(`May the MCP server ${name} of this folder be used?`),
    ...path !== undefined && { path },
  } as const;
  if (changes.length > 0) {
    const lines = [`Tools of the MCP server ${sanitize(name)}:`, ...changes.flatMap(toolLines)];
    return {
      ...asked,
      text: lines.join("\n"),
      title: "Offer these tools to the model?",
      files: [],
    };
  }
  const data = approvedPart(definition);
  const parts = Object.entries(data)
    .map(([key, value]) => `  ${key}: ${sanitize(JSON.stringify(value))}`);
  const variables = variablesOf(definition).map(sanitize).join(", ");
  const lines = [
    `The MCP server ${sanitize(name)}${path === undefined ? "" : ` of ${sanitize(path)}`}:`,
    ...parts,
    ...variables === "" ? [] : [`  It gets the values of ${variables}.`],
    ...program ? [`  It runs ${network ? "with the network" : "without a network"}.`] : [],
  ];
  const changed = change?.type === "changed" ? [{ name, lines: parts.length, change }] : [];
  return { ...asked, text: lines.join("\n"), title: "Use this server?", files: changed, data };
}

/** Returns the changed lines of a tool that differs from the approved one. */
function toolLines({ before, now }: ToolChange): string[] {
  const text = (tool: unknown) => tool === undefined ? "" : `${JSON.stringify(tool, null, 2)}\n`;
  const lines = diffLines(text(before), text(now));
  return [
    `${before ? "Changed" : "New"}: ${sanitize(now.name)}`,
    ...lines.map(({ kind, text }) => `  ${kind} ${sanitize(text)}`),
  ];
}

/**
 * Describes an MCP server in one line: `github: 12 tools, about 3400 tokens if all were shown · running`.
 * `command` is the one that approves.
 */
export function mcpRow(
  { name, standing, definition, isRunning, failure, tools, changes }: Pick<
    McpServer,
    "name" | "standing" | "definition" | "isRunning" | "failure" | "tools" | "changes"
  >,
  command: "/mcp" | "copilot mcp",
): string {
  const approve = `${command} approve ${oneLine(name)}`;
  const states: Readonly<Record<typeof standing, string>> = {
    ready: tools === undefined
      ? "its tools are not known yet"
      : `${count(tools.length, "tool")}, about ${
        aboutTokens(JSON.stringify(tools))
      } tokens if all were shown`,
    pending: `not approved: ${approve}`,
    declined: `not approved: ${approve}`,
    disabled: "turned off",
    broken: "cannot be used",
  };
  const names = changes.slice(0, 10).map(({ now }) => oneLine(now.name)).join(", ");
  const waits = names && ` · changed, and not offered: ${names} (${approve})`;
  const problem = failure ?? definition.problem;
  const why = problem === undefined ? "" : ` · ${oneLine(problem)}`;
  return `${oneLine(name)}: ${states[standing]}${isRunning ? " · running" : ""}${why}${waits}`;
}
