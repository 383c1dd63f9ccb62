/** Adds servers to the user's file, and removes them. @module */

import { UsageError } from "../../errors.ts";
import { objectOr } from "../../text/json.ts";
import { readJsonFile, replaceUserFile } from "../../user_files.ts";
import { ownMcpFile } from "../definition_files.ts";
import { definitionsIn } from "./definition.ts";

type Json = Readonly<Record<string, unknown>>;

function ownFile(): { path: string; file: Json; servers: Json } {
  const path = ownMcpFile();
  if (path === undefined) throw new UsageError("There is no home folder to save servers in");
  const file = readJsonFile(path, false) ?? {};
  return { path, file, servers: objectOr(file.mcpServers) };
}

export const isOwnServer = (name: string): boolean => Object.hasOwn(ownFile().servers, name);

async function saveServers(mcpServers: Json): Promise<string> {
  const { path, file } = ownFile();
  await replaceUserFile(path, `${JSON.stringify({ ...file, mcpServers }, null, 2)}\n`);
  return path;
}

/** Adds a server, and returns a line about it. @throws {UsageError} if it is invalid or exists. */
export async function addToFile(name: string, server: Json): Promise<string> {
  const [read] = definitionsIn({ mcpServers: { [name]: server } }, { scope: "user" });
  if (read?.problem !== undefined) throw new UsageError(`Cannot add ${name} as ${read.problem}`);
  if (isOwnServer(name)) {
    const how = `copilot mcp remove ${name}`;
    throw new UsageError(`There is a server ${name} already: ${how} removes it`);
  }
  const path = await saveServers({ ...ownFile().servers, [name]: server });
  return `Added ${name} to ${path}. copilot mcp test ${name} tries it.\n`;
}

export async function removeFromFile(name: string): Promise<string> {
  const { [name]: _, ...others } = ownFile().servers;
  return `Removed ${name} from ${await saveServers(others)}.\n`;
}
