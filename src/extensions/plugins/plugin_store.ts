/** The record of plug-ins, their folders, and the user's approval of their content. @module */

import { attempt } from "../../attempt.ts";
import type { TrustChange } from "../../safety/folder_trust.ts";
import type { SessionState } from "../../session/extension.ts";
import { count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import { join } from "../../text/std_path.ts";
import { pluginsFolder, readJsonFile, userFile } from "../../user_files.ts";
import { hookText } from "../hooks/definition.ts";
import { approvedPart, type McpDefinition, variablesOf } from "../mcp/definition.ts";
import { pluginContent } from "./plugin_files.ts";
import { type PluginFields, PluginParts } from "./plugin_parts.ts";

export interface PluginRow {
  source: string;
  commit?: string | undefined;
  /** Its folder in the folder of plug-ins; missing for a marketplace in a folder of the user. */
  folder?: string;
  /** For a plug-in: its marketplace, the fields that this has, and false if it is off. */
  marketplace?: string;
  entry?: PluginFields;
  enabled?: boolean;
}

export type Rows = Record<string, PluginRow>;

export function readRows(file: string): { plugins: Rows; marketplaces: Rows } {
  const { plugins, marketplaces } = readJsonFile(file) ?? {};
  // Without a prototype, no name has a special meaning.
  const rows = (given: unknown): Rows => Object.assign(Object.create(null), given);
  return { plugins: rows(plugins), marketplaces: rows(marketplaces) };
}

/** Returns the names of folders that the rows name, of those that `copilot plugin` makes. */
export function foldersIn({ plugins, marketplaces }: ReturnType<typeof readRows>): Set<string> {
  const rows = [...Object.values(plugins), ...Object.values(marketplaces)];
  const folders = rows.flatMap(({ folder = "" }) =>
    /^[a-z-]+-[0-9a-f]{8}(?![^/])/.exec(folder) ?? []
  );
  return new Set(folders);
}

/** Reads an installed plug-in, all its files, and what an approval of it is bound to. @throws {Error} */
export async function readPlugin(plugins: string, name: string, { folder, entry }: PluginRow) {
  const root = folder && attempt(() => Deno.realPathSync(join(plugins, folder)));
  if (!root) throw new Error("its files are missing");
  const { lines, programs } = await pluginContent(root);
  const parts = new PluginParts(root, name, entry);
  const runs = [
    ...parts.hooks.map((hook) =>
      `  hook ${hookText(hook)}` +
      (hook.problem === undefined ? "" : `: cannot run, as ${hook.problem}`)
    ),
    ...parts.servers.map(serverLine),
    ...programs.map((path) => `  program ${oneLine(path)}`),
  ].map(sanitize);
  const bound = [name, ...entry ? [`entry ${JSON.stringify(entry)}`] : [], ...runs, ...lines];
  const head = `The plug-in ${name}${parts.version && ` ${parts.version}`}: ` +
    `${count(lines.length, "file")}; parts that run programs: ${runs.length}. ` +
    "Hooks and servers run in the sandbox; hooks run without a question.";
  const changed = ({ type, lines = [] }: TrustChange) =>
    lines.filter(({ kind }) => type === "changed" && kind !== " ")
      .map(({ kind, text }) => `  ${kind} ${sanitize(text).replace(/(?<= \w{8})\w{56}$/, "…")}`);
  return {
    parts,
    brought: { kind: "plugin", root: plugins, name, text: bound.join("\n") },
    question(change?: TrustChange) {
      return {
        kind: "plugin",
        text: [head, ...runs, ...change ? changed(change) : []].join("\n"),
        title: `Use the ${change?.type === "changed" ? "changed " : ""}plug-in ${name}?`,
        files: [],
        path: root,
      };
    },
  };
}

function serverLine(server: McpDefinition): string {
  const { name, program, network, problem } = server;
  const variables = variablesOf(server).filter((one) => one !== "CLAUDE_PLUGIN_ROOT").join(", ");
  return `  server ${name}: ${JSON.stringify(approvedPart(server))}` +
    (variables && `; gets the values of ${variables}`) +
    (program ? `; with${network ? " the" : "out a"} network` : "") +
    (problem === undefined ? "" : `; cannot be used: ${problem}`);
}

/** Returns the enabled plug-ins whose content is approved, and asks about content that changed. */
export async function loadPlugins(
  { confirm, folderTrust, permissions: { variables: env } }: SessionState,
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<PluginParts[]> {
  const used: PluginParts[] = [];
  const folder = attempt(() => Deno.realPathSync(pluginsFolder(env)!)) ?? "";
  for (const [name, row] of Object.entries(readRows(userFile("plugins.json", env)!).plugins)) {
    if (row.enabled === false) continue;
    try {
      const { parts, brought, question } = await readPlugin(folder, name, row);
      const { isApproved, change } = await folderTrust.of(brought);
      const answer = isApproved ?? await confirm?.(question(change), signal);
      const isChanged = change?.type === "changed";
      const why = isChanged ? "it changed since you approved it" : "it is not approved here";
      if (answer === undefined) throw new Error(why);
      if (isApproved === undefined) await folderTrust.save(brought, answer).catch(() => {});
      if (answer) used.push(parts);
    } catch (error) {
      const why = oneLine((error as Error).message);
      tell(
        `the plug-in ${name} is not used, as ${why}: copilot plugin update ${name} installs it again`,
      );
    }
  }
  return used;
}
