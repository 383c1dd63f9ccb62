/** Finds the MCP servers that other programs have, in their own spellings. @module */

import { attempt } from "../../attempt.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { isObject, jsonOrUndefined, objectOr } from "../../text/json.ts";
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
  runsFolder,
  wordsFrom,
} from "./definition.ts";

/** The files of Claude Code, Cursor, VS Code, codex, opencode, Gemini CLI and Claude Desktop, at home or in a folder. */
const FOREIGN_FILES =
  `.claude.json .cursor/mcp.json .vscode/mcp.json .codex/config.toml opencode.json opencode.jsonc
  .config/opencode/opencode.json .config/opencode/opencode.jsonc .gemini/settings.json
  .config/Claude/claude_desktop_config.json .config/Code/User/mcp.json`.split(/\s+/);

/** Returns the servers of all files of other programs, the user's own first. */
export function foreignServers(): McpDefinition[] {
  const root = repositoryOf(Deno.realPathSync("."));
  const home = processVariable("HOME") ?? processVariable("USERPROFILE") ?? "";
  // The programs of macOS have their files elsewhere.
  const folder = Deno.build.os === "darwin" ? "Library/Application Support/" : ".config/";
  const names = FOREIGN_FILES.map((name) => name.replace(/^\.config\/(?=[A-Z])/, folder));
  const paths = [home, root].flatMap((at) => names.map((name) => join(at, name)));
  return [...new Set(paths)].flatMap((path) => {
    const isFile = attempt(() => Deno.statSync(path).isFile);
    const text = (isFile ? attempt(() => Deno.readTextFileSync(path)) ?? "" : "")
      .replace(/\$\{input:([^}"]+)\}/g, (_, id: string) => `\${${id.replace(/\W/g, "_")}}`)
      .replaceAll("${workspaceFolder}", () => inJson(root))
      .replaceAll("${userHome}", () => inJson(home));
    const value = /\.toml$/i.test(path)
      ? { mcp_servers: tomlTable(text, "mcp_servers") }
      : jsonOrUndefined(text) ?? looseJson(text);
    const projects = objectOr(objectOr(value).projects);
    const isHere = isWithin(root, path);
    const scope = isHere ? "folder" : "user";
    return [projects[root], value].filter(isObject).flatMap((given) => {
      const found = definitionsIn(given, { scope, file: path });
      return isHere || given !== value ? found.map((one) => startingIn(root, one)) : found;
    });
  });
}

/** Relative paths of a folder's file start there. Other folders of the user's servers are empty. */
const startingIn = (root: string, one: McpDefinition): McpDefinition =>
  one.program === undefined
    ? one
    : runsFolder(one)
    ? { ...one, cwd: /^\$?\{/.test(one.cwd ?? "") ? one.cwd! : resolve(root, one.cwd ?? ".") }
    : { ...one, program: { ...one.program, args: wordsFrom(root, one.program.args) } };

const inJson = (path: string): string => JSON.stringify(path).slice(1, -1);

/** Returns the JSON of a definition for the user's file. Other programs do not turn the sandbox off. */
export function ownDefinition(definition: McpDefinition): Record<string, unknown> {
  const { timeoutMs: timeout, include: includeTools, exclude, isEnabled, oauth } = definition;
  const { command, url, ...part } = approvedPart(definition);
  const [program, ...args] = Array.isArray(command) ? command : [];
  return defined({
    ...program === undefined ? { type: "http", url } : { command: program, args },
    ...part,
    oauth,
    timeout,
    includeTools,
    excludeTools: exclude.length > 0 ? exclude : undefined,
    enabled: isEnabled ? undefined : false,
  });
}
