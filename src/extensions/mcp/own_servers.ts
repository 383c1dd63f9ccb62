/** Adds servers to a file, and removes them. @module */

import { UsageError } from "../../errors.ts";
import { attempt } from "../../attempt.ts";
import { FolderTrust } from "../../safety/folder_trust.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { isObject } from "../../text/json.ts";
import { join } from "../../text/std_path.ts";
import { readJsonFile, replaceUserFile, stateFolder } from "../../user_files.ts";
import { broughtBy, definitionsIn, type DefinitionSource } from "./definition.ts";
import { ownMcpFile } from "./mcp_files.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Of the user, everywhere or in this repository, or of everyone who has the repository. */
export const SCOPES = ["user", "local", "project"] as const;
export type ServerScope = (typeof SCOPES)[number];

interface ServerMap {
  path: string;
  source: DefinitionSource;
  /** The keys that lead to the map of servers. */
  keys: readonly string[];
}

function mapOf(scope: ServerScope): ServerMap {
  const folder = repositoryOf(Deno.realPathSync("."));
  const path = scope === "project" ? join(folder, ".mcp.json") : ownMcpFile();
  if (path === undefined) throw new UsageError("There is no home folder to save servers in");
  const keys = scope === "local" ? ["projects", folder, "mcpServers"] : ["mcpServers"];
  if (scope !== "project") return { path, source: { scope: "user" }, keys };
  if ((attempt(() => Deno.realPathSync(path)) ?? path) !== path) {
    throw new UsageError(`Cannot change ${path} as it is a link`);
  }
  return { path, source: { scope: "folder", file: path, folder }, keys };
}

function serversAt({ path, keys }: ServerMap): Json {
  const found = keys.reduce<unknown>(
    (at, key) => isObject(at) ? at[key] : undefined,
    readJsonFile(path, false),
  );
  return isObject(found) ? found : {};
}

/** Returns the scopes that have a server called `name`. */
export const scopesOf = (name: string): ServerScope[] =>
  SCOPES.filter((scope) => Object.hasOwn(serversAt(mapOf(scope)), name));

/**
 * Adds a server. One for the repository is approved, because the user has written it.
 * @returns the path of the file. @throws {UsageError} if it is invalid or exists.
 */
export async function addToFile(name: string, server: Json, scope: ServerScope): Promise<string> {
  const map = mapOf(scope);
  const [read] = definitionsIn({ mcpServers: { [name]: server } }, map.source);
  if (read?.problem !== undefined) throw new UsageError(`Cannot add ${name} as ${read.problem}`);
  const servers = serversAt(map);
  if (Object.hasOwn(servers, name)) {
    const where = scope === "user" ? "" : ` --scope ${scope}`;
    throw new UsageError(
      `There is a server ${name} already: copilot mcp remove ${name}${where} removes it`,
    );
  }
  await saveServers(map, { ...servers, [name]: server });
  if (scope === "project") await new FolderTrust(stateFolder()).save(broughtBy(read!), true);
  return map.path;
}

/** Removes a server and returns the path of its file. */
export async function removeFromFile(name: string, scope: ServerScope): Promise<string> {
  const map = mapOf(scope);
  const { [name]: _, ...others } = serversAt(map);
  await saveServers(map, others);
  return map.path;
}

async function saveServers({ path, keys, source }: ServerMap, servers: Json): Promise<void> {
  const changed = (at: unknown, [key, ...rest]: readonly string[]): Json =>
    key === undefined
      ? servers
      : { ...isObject(at) ? at : {}, [key]: changed(isObject(at) ? at[key] : {}, rest) };
  const file = readJsonFile(path) ?? {};
  await replaceUserFile(path, `${JSON.stringify(changed(file, keys), null, 2)}\n`);
  // Other users of the repository read it.
  if (source.scope === "folder" && Deno.build.os !== "windows") await Deno.chmod(path, 0o644);
}
