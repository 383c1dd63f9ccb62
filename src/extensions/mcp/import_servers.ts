/** Finds the MCP servers that other programs have, in their own spellings. @module */

import { attempt } from "../../attempt.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { looseJson } from "../../text/loose_json.ts";
import { isWithin } from "../../text/paths.ts";
import { join, resolve } from "../../text/std_path.ts";
import { tomlTable } from "../../text/toml.ts";
import { processVariable } from "../../user_files.ts";
import {
  approvedPart,
  defined,
  definitionsIn,
  type McpDefinition,
  serverEntries,
} from "./definition.ts";

/** The files of Cursor, VS Code, codex, opencode, Gemini CLI, Claude Code and Claude Desktop. */
const FOLDER_FILES =
  ".cursor/mcp.json .vscode/mcp.json .codex/config.toml opencode.json opencode.jsonc .gemini/settings.json"
    .split(" ");
const HOME_FILES =
  `.claude.json .cursor/mcp.json .codex/config.toml .config/opencode/opencode.json .config/opencode/opencode.jsonc
  .gemini/settings.json .config/Claude/claude_desktop_config.json .config/Code/User/mcp.json`.split(
    /\s+/,
  );
const MAX_IMPORT_BYTES = 32 * 2 ** 20;

/** Returns the servers of `file`, or of all files of other programs. Of two with the same name, the first counts. */
export function foreignServers(file?: string): McpDefinition[] {
  const root = repositoryOf(Deno.realPathSync("."));
  const home = processVariable("HOME") ?? processVariable("USERPROFILE") ?? "";
  const usual = [
    ...FOLDER_FILES.map((name) => join(root, name)),
    ...HOME_FILES.map((name) => join(home, name)),
  ];
  const all = (file === undefined ? usual : [resolve(file)]).flatMap((path) => {
    const value = valueIn(path);
    const projects = isObject(value?.projects) ? value.projects : {};
    // Relative paths of a folder's file start there.
    const places = { root, home, cwd: isWithin(root, path) ? root : undefined };
    return [...serverEntries(projects[root]), ...serverEntries(value)].flatMap(([name, server]) => {
      const mcpServers = { [name]: translated(server, places) };
      return definitionsIn({ mcpServers }, { scope: "user", file: path });
    });
  });
  return all.filter(({ name }, i) => all.findIndex((one) => one.name === name) === i);
}

function valueIn(path: string): Record<string, unknown> | undefined {
  const isFit = attempt(() => Deno.statSync(path).size <= MAX_IMPORT_BYTES);
  const text = isFit ? attempt(() => Deno.readTextFileSync(path)) ?? "" : "";
  if (/\.toml$/i.test(path)) return { mcpServers: tomlTable(text, "mcp_servers") };
  const value = jsonOrUndefined(text) ?? looseJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns a definition with the fields and variables of codex and VS Code in our spelling. */
function translated(
  server: unknown,
  places: { root: string; home: string; cwd: string | undefined },
): unknown {
  if (!isObject(server)) return server;
  const { bearer_token_env_var: token, env_vars: names, env, environment, ...rest } = server;
  const { headers, http_headers: fixed, env_http_headers: named, ...others } = rest;
  const variable = (name: unknown) => `\${${name}}`;
  const map = (value: unknown) => isObject(value) ? value : {};
  const passed = Array.isArray(names) ? names.map((name) => [name, variable(name)]) : [];
  const inHeaders = Object.entries(map(named)).map(([key, name]) => [key, variable(name)]);
  const whole = {
    ...defined({ cwd: places.cwd }),
    ...others,
    env: { ...Object.fromEntries(passed), ...map(environment), ...map(env) },
    headers: {
      ...map(fixed),
      ...Object.fromEntries(inHeaders),
      ...token !== undefined && { Authorization: `Bearer ${variable(token)}` },
      ...map(headers),
    },
  };
  return JSON.parse(
    JSON.stringify(whole),
    (_, value) =>
      typeof value === "string"
        ? value.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => variable(id.replace(/\W/g, "_")))
          .replaceAll("${workspaceFolder}", places.root).replaceAll("${userHome}", places.home)
        : value,
  );
}

/** Returns the JSON of a definition for the user's file. Other programs do not turn the sandbox off. */
export function ownDefinition(definition: McpDefinition): Record<string, unknown> {
  const { timeoutMs: timeout, include: includeTools, exclude, isEnabled } = definition;
  const { command, url, ...part } = approvedPart(definition);
  const [program, ...args] = Array.isArray(command) ? command : [];
  return defined({
    ...program === undefined ? { type: "http", url } : { command: program, args },
    ...part,
    ...{ timeout, includeTools, excludeTools: exclude.length > 0 ? exclude : undefined },
    enabled: isEnabled ? undefined : false,
  });
}
