/** MCP servers of the user, the folder and the caller. @module */

import type { Extension, PendingQuestion, SessionState } from "../../session/extension.ts";
import type { McpDefinition } from "./definition.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { mcpFiles } from "../definition_files.ts";
import { mcpCommand, promptCommands } from "./mcp_command.ts";
import { serverQuestion } from "./mcp_text.ts";
import type { McpServers } from "./servers.ts";
import { oneLine } from "../../text/one_line.ts";

export class McpExtension implements Extension {
  #source: McpServers | undefined;
  readonly openQuestions: PendingQuestion[] = [];

  /** @param given servers in addition to those of files. The caller has approved them */
  constructor(private readonly given: readonly McpDefinition[]) {}

  /** Asks about the servers of the folder, and offers the tools of all. It does not start a server. */
  async open(session: SessionState, signal: AbortSignal): Promise<void> {
    const { agent, permissions, confirm, surface, tell } = session;
    const files = mcpFiles(agent.state.workingDir, permissions.variables)
      .filter(({ scope }) => session.options.readsFolder || scope === "user");
    const plugins = pluginsOf(session.extensions).flatMap(({ servers }) => servers);
    if (files.length + this.given.length + plugins.length === 0) return;
    const command = surface.kind === "flags" ? "copilot mcp" : "/mcp";
    const { openMcp } = await import("./source.ts");
    const source = this.#source = await openMcp({
      files,
      given: this.given,
      plugins,
      isTrusted: session.options.trust === true,
      answersByDefaults: permissions.approvesAll,
      folder: agent.state.workingDir,
      env: permissions.env,
      variables: permissions.variables,
      confine: (id, scope) => permissions.confineServers(() => agent.state.workingDir, id, scope),
      // In plan mode programs may only read.
      view: async () =>
        (await permissions.mode(agent.state.workingDir)).approve === "plan" ? "plan" : "",
      elicit: session.elicit,
      command,
      onNews: (...lines) => tell("mcp", ...lines),
      onProblem: (why) => tell("mcp_file", why),
    });
    for (const { name, problem } of this.given) {
      if (problem !== undefined) {
        tell("mcp", `The server ${oneLine(name)} cannot be used: ${problem}`);
      }
    }
    for (const server of source.pending) {
      const answer = await confirm?.(serverQuestion(server), signal);
      if (answer !== undefined) await server.decide(answer);
    }
    const { pending } = source;
    if (pending.length > 0) {
      const names = pending.map(({ name }) => name).join(", ");
      const how = `${command} approve ${pending.length === 1 ? names : "NAME"}`;
      tell("mcp_pending", `MCP servers not approved yet, so not started: ${names} (${how})`);
    }
    agent.plug(source.tools);
    this.openQuestions.push(...pending.map((server): PendingQuestion => ({
      question: serverQuestion(server),
      async decide(isYes) {
        await server.decide(isYes);
        agent.plug(source.tools);
      },
    })));
  }

  commands() {
    return [mcpCommand(this.#source), ...promptCommands(this.#source)];
  }

  names(): readonly string[] {
    return this.#source?.names() ?? [];
  }

  attach(name: string, signal: AbortSignal): Promise<string> | undefined {
    return this.#source?.attach(name, signal);
  }

  async close(): Promise<void> {
    await this.#source?.[Symbol.asyncDispose]();
  }
}
