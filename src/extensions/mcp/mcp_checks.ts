/** The doctor's checks of MCP servers. They start no server. @module */

import type { Check } from "../../session/data.ts";
import { oneLine } from "../../text/one_line.ts";
import type { VariableReader } from "../../user_files.ts";
import { mcpFiles } from "../definition_files.ts";
import { mcpRow } from "./mcp_text.ts";
import { openMcp } from "./source.ts";

export async function* mcpChecks(folder: string, variables: VariableReader): AsyncGenerator<Check> {
  const name = "mcp";
  const files = mcpFiles(folder, variables);
  if (files.length === 0) return;
  const problems: string[] = [];
  const onProblem = (why: string) => problems.push(why);
  await using source = await openMcp({ folder, files, variables, onProblem });
  for (const why of problems) yield { name, status: "note", text: oneLine(why) };
  for (const server of source.servers) {
    const isWell = server.standing === "ready" && server.changes.length === 0;
    const status = isWell || server.standing === "disabled" ? "ok" : "note";
    yield { name, status, text: mcpRow(server, "copilot mcp") };
  }
}
