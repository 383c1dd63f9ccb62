/** Adds servers to a file, and removes them. @module */

import { UsageError } from "../../errors.ts";
import { attempt } from "../../attempt.ts";
import { FolderTrust } from "../../safety/folder_trust.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { objectOr } from "../../text/json.ts";
import { join } from "../../text/std_path.ts";
import { readJsonFile, replaceUserFile, stateFolder } from "../../user_files.ts";
import { broughtBy, definitionsIn } from "./definition.ts";
import { ownMcpFile } from "../definition_files.ts";

type Json = Readonly<Record<string, unknown>>;

/** Of the user, everywhere, or of everyone who has this repository. */
const SCOPES = ["user", "project"] as const;
export type ServerScope = (typeof SCOPES)[number];

export function scopeCalled(name: string): ServerScope {
  const scope = SCOPES.find((one) => one === name);
  if (!scope) throw new UsageError(`--scope needs one of ${SCOPES.join(", ")}`);
  return scope;
}

function scopeFile(scope: ServerScope) {
  const folder = repositoryOf(Deno.realPathSync("."));
  const path = scope === "project" ? join(folder, ".mcp.json") : ownMcpFile();
  if (path === undefined) throw new UsageError("There is no home folder to save servers in");
  if (scope === "project" && (attempt(() => Deno.realPathSync(path)) ?? path) !== path) {
    throw new UsageError(`Cannot change ${path} as it is a link`);
  }
  return { path, folder };
}

const ownServersIn = ({ mcpServers }: Json): Json => objectOr(mcpServers);

export const scopesOf = (name: string): ServerScope[] =>
  SCOPES.filter((scope) =>
    Object.hasOwn(ownServersIn(readJsonFile(scopeFile(scope).path, false) ?? {}), name)
  );

async function changeServers(scope: ServerScope, change: (servers: Json) => Json): Promise<string> {
  const { path } = scopeFile(scope);
  const file = readJsonFile(path) ?? {};
  const changed = { ...file, mcpServers: change(ownServersIn(file)) };
  await replaceUserFile(path, `${JSON.stringify(changed, null, 2)}\n`);
  // Other users of the repository read it.
  if (scope === "project" && Deno.build.os !== "windows") await Deno.chmod(path, 0o644);
  return path;
}

/**
 * Adds a server, and returns a line about it. One for the repository is approved, because the user wrote it.
 * @throws {UsageError} if it is invalid or exists.
 */
export async function addToFile(name: string, server: Json, scope: ServerScope): Promise<string> {
  const { path: file, folder } = scopeFile(scope);
  const source = scope === "project"
    ? { scope: "folder", file, folder } as const
    : { scope: "user" } as const;
  const [read] = definitionsIn({ mcpServers: { [name]: server } }, source);
  if (read?.problem !== undefined) throw new UsageError(`Cannot add ${name} as ${read.problem}`);
  const path = await changeServers(scope, (servers) => {
    if (!Object.hasOwn(servers, name)) return { ...servers, [name]: server };
    const how = `copilot mcp remove ${name}${scope === "user" ? "" : ` --scope ${scope}`}`;
    throw new UsageError(`There is a server ${name} already: ${how} removes it`);
  });
  if (scope === "project") await new FolderTrust(stateFolder()).save(broughtBy(read!), true);
  return `Added ${name} to ${path}. copilot mcp test ${name} tries it.\n`;
}

export async function removeFromFile(name: string, scope: ServerScope): Promise<string> {
  const path = await changeServers(scope, ({ [name]: _, ...others }) => others);
  return `Removed ${name} from ${path}.\n`;
}
