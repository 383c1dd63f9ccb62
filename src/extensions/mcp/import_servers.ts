/** Finds the MCP servers that other programs have, in their own spellings. @module */

import { attempt } from "../../attempt.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { looseJson } from "../../text/loose_json.ts";
import { isWithin } from "../../text/paths.ts";
import { join, resolve } from "../../text/std_path.ts";
import { tomlTable } from "../../text/toml.ts";
import { approvedPart, definitionsIn, type McpDefinition, serverEntries } from "./definition.ts";
import type { Json } from "./own_servers.ts";

/** The files of Claude Code, Claude Desktop, Cursor, VS Code, codex, opencode and Gemini CLI. */
const HOME_FILES = [
  ...[".claude.json", ".config/Claude/claude_desktop_config.json"],
  ...["Library/Application Support/Claude/claude_desktop_config.json", ".cursor/mcp.json"],
  ...[".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json"],
  ...[".codex/config.toml", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
  ".gemini/settings.json",
];
const FOLDER_FILES = [
  ...[".cursor/mcp.json", ".vscode/mcp.json", ".codex/config.toml", ".gemini/settings.json"],
  ...["opencode.json", "opencode.jsonc"],
];
const MAX_IMPORT_BYTES = 32 * 2 ** 20;

/** Returns the servers of `file`, or of all files of other programs. */
export function foreignServers(folder: string, home: string, file?: string): McpDefinition[] {
  const root = repositoryOf(folder);
  const usual = [
    ...FOLDER_FILES.map((name) => join(root, name)),
    ...HOME_FILES.map((name) => join(home, name)),
  ];
  return (file === undefined ? usual : [resolve(file)]).flatMap((path) => {
    const value = valueIn(path);
    const projects = isObject(value?.projects) ? value.projects : {};
    const found = [...serverEntries(projects[root]), ...serverEntries(value)];
    // Relative paths of a folder's file start there.
    const base = isWithin(root, path) ? root : undefined;
    return found.flatMap(([name, server]) =>
      definitionsIn({ mcpServers: { [name]: translated(server, base, root, home) } }, {
        scope: "user",
        file: path,
      })
    );
  });
}

function valueIn(path: string): Json | undefined {
  const isFit = attempt(() => Deno.statSync(path).size <= MAX_IMPORT_BYTES);
  const text = isFit ? attempt(() => Deno.readTextFileSync(path)) ?? "" : "";
  if (/\.toml$/i.test(path)) return { mcpServers: tomlTable(text, "mcp_servers") };
  const value = jsonOrUndefined(text) ?? looseJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns a definition with the fields and variables of codex and VS Code in our spelling. */
function translated(
  server: unknown,
  base: string | undefined,
  root: string,
  home: string,
): unknown {
  if (!isObject(server)) return server;
  const { bearer_token_env_var: token, env_vars: passed, env, environment, ...rest } = server;
  const { headers, http_headers: fixed, env_http_headers: named, cwd = base, ...others } = rest;
  const map = (value: unknown) => isObject(value) ? value : {};
  const all = (value: unknown): unknown =>
    typeof value === "string"
      ? value.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => `\${${id.replace(/\W/g, "_")}}`)
        .replaceAll("${workspaceFolder}", root).replaceAll("${userHome}", home)
      : Array.isArray(value)
      ? value.map(all)
      : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, all(one)]))
      : value;
  const variables = Array.isArray(passed) ? passed.filter((name) => typeof name === "string") : [];
  return all({
    ...others,
    ...cwd !== undefined && { cwd },
    env: {
      ...Object.fromEntries(variables.map((name) => [name, `\${${name}}`])),
      ...map(environment),
      ...map(env),
    },
    headers: {
      ...map(fixed),
      ...Object.fromEntries(Object.entries(map(named)).map(([key, name]) => [key, `\${${name}}`])),
      ...typeof token === "string" && { Authorization: `Bearer \${${token}}` },
      ...map(headers),
    },
  });
}

/** Returns the JSON of a definition for the user's file. Other programs do not turn the sandbox off. */
export function ownDefinition(definition: McpDefinition): Json {
  const { url, timeoutMs: timeout, include: includeTools, exclude, isEnabled } = definition;
  const { command: [command, ...args] = [], ...part } = approvedPart(definition) as {
    command?: string[];
  };
  return {
    ...command === undefined ? {} : { command, args },
    ...url !== undefined && { type: "http" },
    ...part,
    ...timeout !== undefined && { timeout },
    ...includeTools && { includeTools },
    ...exclude.length > 0 && { excludeTools: exclude },
    ...!isEnabled && { enabled: false },
  };
}
