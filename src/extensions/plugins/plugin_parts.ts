/** Reads what a plug-in brings, in the format of Claude Code. Nothing of it runs. @module */

import { attempt } from "../../attempt.ts";
import { isObject } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, resolve } from "../../text/std_path.ts";
import { readJsonFile } from "../../user_files.ts";
import { type HookDefinition, hooksIn } from "../hooks/definition.ts";
import { definitionsIn, MAX_SERVER_NAME, type McpDefinition } from "../mcp/definition.ts";
import { KIND_FOLDERS, type PromptFolder } from "../skills/places.ts";

export type PluginFields = Readonly<Record<string, unknown>>;

/** Returns the manifest of a plug-in; empty without one. @throws {Error} for invalid JSON. */
export const manifestIn = (root: string): PluginFields =>
  readJsonFile(join(root, ".claude-plugin", "plugin.json")) ?? {};

const isFileAt = (path: string) => attempt(() => Deno.statSync(path).isFile) === true;

export function pluginNameOf(given: unknown): string | undefined {
  const name = String(given ?? "").toLowerCase().replace(/[\s._]+/g, "-");
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && name.length <= 64 ? name : undefined;
}

/** Returns the name of a server as in Claude Code. A plug-in's name has no `_`, so no other server has this one. */
function serverName(plugin: string, given: string): string {
  const own = given.replace(/[^A-Za-z0-9]*[^\w.-]+[^A-Za-z0-9]*|[._]{2,}/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "").slice(0, Math.max(1, MAX_OWN_CHARS - plugin.length));
  return `plugin_${plugin}_${own}`.replace(/[^A-Za-z0-9]+$/, "");
}

const MAX_OWN_CHARS = MAX_SERVER_NAME - "plugin__".length;

export class PluginParts {
  readonly version: string;
  readonly places: readonly PromptFolder[];
  readonly hooks: readonly HookDefinition[];
  readonly servers: readonly McpDefinition[];
  /** Sentences about parts that do not work here. */
  readonly unused: string[] = [];
  readonly #manifest: PluginFields;

  /** `entry` are the fields of its marketplace. @throws {Error} if a file of it is invalid, or leads out of it. */
  constructor(
    readonly root: string,
    readonly name: string,
    private readonly entry: PluginFields = {},
  ) {
    const manifest = this.#manifest = entry.strict === false ? {} : manifestIn(root);
    this.version = /^[\w.+-]{1,40}$/.exec(String(entry.version ?? manifest.version ?? ""))?.[0] ??
      "";
    if ("lspServers" in { ...manifest, ...entry } || isFileAt(join(root, ".lsp.json"))) {
      this.unused.push("language servers are not used");
    }
    this.places = this.#places();
    this.hooks = this.#hooks();
    this.servers = this.#settings("mcpServers", ".mcp.json").flatMap(([file, value]) => {
      const given = Object.entries(isObject(value.mcpServers) ? value.mcpServers : value)
        .filter(([, server]) => isObject(server));
      const mcpServers = Object.fromEntries(
        given.map(([one, server]) => [serverName(name, one), server]),
      );
      return definitionsIn({ mcpServers }, { scope: "plugin", file, folder: root });
    });
  }

  #places(): PromptFolder[] {
    const { root } = this;
    return KIND_FOLDERS.flatMap(([kind, field]) => {
      const paths = this.#paths(field, field);
      // A plug-in may be a skill itself.
      if (kind === "skill" && paths.length === 0) paths.push(root);
      return paths.flatMap((path): PromptFolder[] => {
        const about = { kind, scope: "plugin", root, plugin: this } as const;
        const only = kind === "skill" ? join(basename(path), "SKILL.md") : basename(path);
        if (isFileAt(join(dirname(path), only))) return [{ path: dirname(path), only, ...about }];
        return path === root ? [] : [{ path, ...about }];
      });
    });
  }

  #hooks(): HookDefinition[] {
    return this.#settings("hooks", "hooks/hooks.json").flatMap(([path, value]) => {
      const file = { path, scope: "plugin", folder: this.root, plugin: this } as const;
      const events = isObject(value.hooks) ? value.hooks : value;
      const { hooks, problems } = hooksIn({ hooks: events }, file);
      this.unused.push(...problems);
      return hooks;
    });
  }

  /** Returns the existing paths of a field, and the usual one unless the marketplace's entry replaces it. */
  #paths(field: string, usual: string): string[] {
    const listed = [this.#manifest[field], this.entry[field]].flat()
      .filter((one) => one !== undefined && !isObject(one)).map(String);
    const first = field in this.entry ? [] : [usual];
    const found = [...first, ...listed].flatMap((one) => this.#existing(one) ?? []);
    return [...new Set(found)];
  }

  /** Returns the JSON objects of a field, which are in files or in the field itself. */
  #settings(field: string, usual: string): (readonly [path: string, value: PluginFields])[] {
    const inline = [this.#manifest[field], this.entry[field]].flat().filter(isObject);
    return [
      ...this.#paths(field, usual).map((path) => [path, readJsonFile(path) ?? {}] as const),
      ...inline.map((value) => [join(this.root, "plugin.json"), { [field]: value }] as const),
    ];
  }

  /** Returns an existing path in the plug-in. @throws {Error} for one that leads out of it. */
  #existing(given: string): string | undefined {
    const at = resolve(this.root, given.replace(/^\$\{CLAUDE_PLUGIN_ROOT\}\/?/, "./"));
    const real = attempt(() => Deno.realPathSync(at));
    if ([at, real ?? at].every((one) => isWithin(this.root, one))) return real;
    throw new Error(`its path ${oneLine(given)} leads out of its folder`);
  }
}
