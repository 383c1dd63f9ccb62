/** `copilot plugin`: which plug-ins are installed, and from where. @module */

import { attempt } from "../../attempt.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit_codes.ts";
import { FolderTrust } from "../../safety/folder_trust.ts";
import { openPermissions } from "../../safety/permissions.ts";
import { count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, join, resolve } from "../../text/std_path.ts";
import { pluginsFolder, replaceUserFile, stateFolder, userFile } from "../../user_files.ts";
import { confirmed, type McpRun, noneNamed } from "../mcp/mcp_verb.ts";
import { loadPromptFiles } from "../skills/load.ts";
import { copyFiles } from "./plugin_files.ts";
import { manifestIn, pluginNameOf, type PluginParts } from "./plugin_parts.ts";
import * as sources from "./plugin_sources.ts";
import { foldersIn, type PluginRow, readPlugin, readRows, type Rows } from "./plugin_store.ts";

const PLUGIN_USAGE = `Usage:
  copilot plugin list                       the installed plug-ins
  copilot plugin add SOURCE                 shows what a plug-in runs, asks, and installs it
  copilot plugin update [NAME]              fetches a plug-in again, or all of them
  copilot plugin remove|enable|disable NAME
  copilot plugin marketplace list [NAME]    the plug-ins of one marketplace, or of all
  copilot plugin marketplace add SOURCE
  copilot plugin marketplace update [NAME]
  copilot plugin marketplace remove NAME

SOURCE is PATH, owner/repo or a URL, which #REF may follow; for a plug-in also NAME@MARKETPLACE.
--yes agrees without asking.
`;

const MARKET_VERBS = ["add", "list", "remove", "update"];
const PLUGIN_VERBS = [...MARKET_VERBS, "disable", "enable"];
const VERB_ALIASES = new Map([["install", "add"], ["uninstall", "remove"], ["rm", "remove"]]);

/** Runs `copilot plugin` with its words and returns the exit code. @throws {UsageError} for invalid words. */
export async function runPlugin(words: readonly string[], run: McpRun): Promise<number> {
  const isHelp = words[0] === "help" || words.some((word) => /^(?:--help|-h)$/.test(word));
  if (words.length === 0 || isHelp) {
    run.stdout.write(PLUGIN_USAGE);
    return words.length === 0 ? EXIT.usage : EXIT.done;
  }
  const given = words.filter((word) => !/^(?:--yes|-y)$/.test(word));
  const isOfMarkets = given[0] === "marketplace";
  const [first = "list", name = "", ...more] = isOfMarkets ? given.slice(1) : given;
  const verb = VERB_ALIASES.get(first) ?? first;
  const verbs = isOfMarkets ? MARKET_VERBS : PLUGIN_VERBS;
  if (!verbs.includes(verb)) {
    throw noneNamed("verb", verb, verbs, "copilot plugin --help lists them");
  }
  const lacksName = name === "" && !/^(?:list|update)$/.test(verb);
  if (lacksName || name.startsWith("-") || more.length > 0) {
    const words = oneLine([verb, name, ...more].join(" "));
    const why = lacksName ? `Name what to ${verb}` : `Cannot do "${words}"`;
    throw new UsageError(`${why}: copilot plugin --help shows the forms`);
  }
  const work = new PluginWork(run, given.length < words.length);
  return await work.act(verb, name, isOfMarkets).finally(() => work.close());
}

/** The record and the folder of plug-ins, while one process uses them. */
class PluginWork {
  readonly folder: string;
  readonly plugins: Rows;
  readonly marketplaces: Rows;
  readonly #file = userFile("plugins.json") ?? "";
  readonly #lock: Deno.FsFile;
  /** The names of folders that the record had at the start, or that this process made. */
  readonly #folders: Set<string>;
  readonly #trust = new FolderTrust(stateFolder());

  constructor(private readonly run: McpRun, private readonly isYes: boolean) {
    const folder = pluginsFolder();
    if (folder === undefined) throw new UsageError("There is no home folder to save plug-ins in");
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#lock = Deno.openSync(join(folder, ".lock"), { create: true, write: true });
    if (!this.#lock.tryLockSync(true)) {
      throw new Error("Another copilot plugin is at work: wait until it has ended");
    }
    this.folder = Deno.realPathSync(folder);
    ({ plugins: this.plugins, marketplaces: this.marketplaces } = readRows(this.#file));
    this.#folders = foldersIn(this);
  }

  /** Returns the path of a new folder, which stays once the record names it. */
  #newFolder(kind: string): string {
    const name = `${kind}-${crypto.randomUUID().slice(0, 8)}`;
    this.#folders.add(name);
    return join(this.folder, name);
  }

  /** Removes what this process made or replaced, unless the saved record names it. */
  close(): void {
    const named = attempt(() => foldersIn(readRows(this.#file))) ?? this.#folders;
    for (const name of this.#folders.difference(named)) {
      attempt(() => Deno.removeSync(join(this.folder, name), { recursive: true }));
    }
    this.#lock.close();
  }

  async act(verb: string, given: string, isOfMarkets: boolean): Promise<number> {
    const rows = isOfMarkets ? this.marketplaces : this.plugins;
    const what = isOfMarkets ? "marketplace" : "plug-in";
    if (verb === "add") return await (isOfMarkets ? this.#addMarket(given) : this.#install(given));
    const name = given && named(rows, given, what);
    const names = name === "" ? Object.keys(rows) : [name];
    const how = `copilot plugin ${isOfMarkets ? "marketplace " : ""}add SOURCE`;
    if (names.length === 0) this.#say(`There is no ${what}: ${how} adds one.`);
    if (verb === "update") {
      const used = names.flatMap((one) => isOfMarkets ? one : rows[one]!.marketplace ?? []);
      const code = await this.#each([...new Set(used)], (one) => this.#addMarket("", one));
      const act = (one: string) => this.#install(rows[one]!.source, one);
      return isOfMarkets ? code : Math.max(code, await this.#each(names, act));
    }
    if (verb === "list") {
      const act = (one: string) => isOfMarkets ? this.#showMarket(one) : this.#show(one);
      return await this.#each(names, act);
    }
    if (verb === "remove") delete rows[name];
    else rows[name]!.enabled = verb === "enable";
    const where = isOfMarkets || verb === "remove" ? "" : " in new sessions";
    return await this.#saved(`The ${what} ${name} is ${verb}d${where}.`);
  }

  #say(line: string): void {
    this.run.stdout.write(`${line}\n`);
  }

  async #saved(line: string): Promise<number> {
    const { plugins, marketplaces } = this;
    await replaceUserFile(this.#file, `${JSON.stringify({ plugins, marketplaces }, null, 2)}\n`);
    this.#say(line);
    return EXIT.done;
  }

  /** Does something with each name. A failure of one does not stop the others. */
  async #each(names: readonly string[], act: (name: string) => Promise<number>): Promise<number> {
    let code: number = EXIT.done;
    for (const name of names) {
      try {
        code = Math.max(code, await act(name));
      } catch (error) {
        this.run.signal.throwIfAborted();
        this.run.stderr.write(`copilot: ${oneLine(`${name}: ${(error as Error).message}`)}\n`);
        code = Math.max(code, error instanceof UsageError ? EXIT.usage : EXIT.error);
      }
    }
    return code;
  }

  async #show(name: string): Promise<number> {
    const row = this.plugins[name]!;
    const { parts, brought } = await readPlugin(this.folder, name, row);
    const { isApproved } = await this.#trust.of(brought);
    const asks = isApproved ? "" : "not approved (copilot plugin update asks), ";
    const state = row.enabled === false ? "off, " : asks;
    const head = `${name} ${parts.version}`.trimEnd();
    this.#say(`${head}: ${state}${await partsText(parts)} ${from(row)}`);
    return EXIT.done;
  }

  #showMarket(name: string): Promise<number> {
    const entries = Object.entries(this.#market(name).entries);
    this.#say(`${name}: ${count(entries.length, "plug-in")} ${from(this.marketplaces[name]!)}`);
    for (const [one, { description }] of entries) {
      const about = typeof description === "string" ? `: ${description}` : "";
      this.#say(`  ${shortened(oneLine(one + about), 200)}`);
    }
    return Promise.resolve(EXIT.done);
  }

  #market(name: string) {
    const { source, folder } = this.marketplaces[name]!;
    const top = folder === undefined ? source : join(this.folder, folder);
    return sources.readMarket(top, folder !== undefined);
  }

  /** Finds what the user names, and fetches it to a new folder. A folder is used where it is. */
  async #found(given: string) {
    const [, one, at] = /^([^@/\\:#~.][^@/\\:#]*)@([\w.-]+)$/.exec(given) ?? [];
    const market = at && this.#market(named(this.marketplaces, at, "marketplace"));
    const entry = market && market.entries[named(market.entries, one!, "plug-in")];
    const source = entry ? sources.sourceIn(market, entry) : sources.sourceNamed(given);
    const row: PluginRow = entry
      ? { ...this.marketplaces[market.name], marketplace: market.name, entry, source: given }
      : { source: source.url === undefined ? source.path : given };
    if (source.url === undefined) return { source, row, top: market ? market.top : source.path };
    const top = this.#newFolder("fetched");
    const commit = await sources.fetchSource(source, top, this.run.signal);
    return { source, row: { ...row, commit, folder: basename(top) }, top };
  }

  /** Fetches a plug-in, shows it, and installs it after a yes. `known`: the name of the one that it replaces. */
  async #install(wanted: string, known?: string): Promise<number> {
    const { source, row: found, top: at } = await this.#found(wanted);
    const top = Deno.realPathSync(at);
    const root = attempt(() => Deno.realPathSync(resolve(top, source.path)));
    const shown = sources.shownUrl(found.source);
    if (root === undefined || !isWithin(top, root)) {
      throw new UsageError(`There is no folder ${oneLine(source.path)} of ${shown}`);
    }
    const around = this.#newFolder("plug-in");
    const to = join(around, "files");
    Deno.mkdirSync(to, { recursive: true, mode: 0o755 });
    const { paths } = openPermissions();
    // Commands can read the copy, so it has no secrets of the user's own folder.
    const isOwn = source.url === undefined && !source.isForeign;
    await copyFiles(root, top, to, (path) => isOwn && paths.secretKind(path) !== undefined)
      .catch((error: Error) => {
        throw new Error(`Cannot add ${shown}: ${error.message}`);
      });
    const other = basename(source.url?.replace(/\.git$/, "") ?? root);
    const given = found.entry?.name ?? manifestIn(to).name ?? other;
    const name = known ?? pluginNameOf(given);
    if (!name) {
      const wrong = oneLine(JSON.stringify(given));
      throw new UsageError(`Cannot add ${shown}: its name ${wrong} is not of letters and digits`);
    }
    const before = this.plugins[name];
    if (before && !known) {
      throw new UsageError(`There is a plug-in ${name} already ${from(before)}: remove it first`);
    }
    // Modules of Python are imported by the name of their folder.
    const folder = `${basename(around)}/${name}`;
    Deno.renameSync(to, join(this.folder, folder));
    const row = { ...found, folder, enabled: before?.enabled !== false };
    const read = await readPlugin(this.folder, name, row);
    const text = await partsText(read.parts);
    if (text.includes(NO_PARTS) && read.parts.unused.length === 0) {
      const isMarket = attempt(() => sources.readMarket(root, true)) !== undefined;
      const hint = isMarket ? `copilot plugin marketplace add ${shown} adds a marketplace` : text;
      throw new UsageError(`There is no plug-in in ${shown}: ${hint}`);
    }
    const { isApproved, change } = await this.#trust.of(read.brought);
    const isSame = known !== undefined && isApproved === true;
    if (!isSame) {
      const { text: about, title } = read.question(change);
      this.#say(`${about}\n  It has ${text}.`);
      if (!await confirmed(title, this.isYes, this.run)) return EXIT.error;
      await this.#trust.save(read.brought, true);
    }
    this.plugins[name] = row;
    return await this.#saved(
      isSame ? `${name} is installed again, unchanged.` : `Installed ${name}: ${text}.`,
    );
  }

  /** Fetches a marketplace that the user names, or again the `known` one. */
  async #addMarket(given: string, known?: string): Promise<number> {
    const old = known && this.marketplaces[named(this.marketplaces, known, "marketplace")]!.source;
    const { top, row } = await this.#found(old ?? given);
    const { name, entries } = sources.readMarket(top, row.folder !== undefined);
    if (name !== known && (known ?? this.marketplaces[name]) !== undefined) {
      throw new UsageError(`There is a marketplace ${known ?? name} already: remove it first`);
    }
    this.marketplaces[name] = row;
    const hint = known ? "." : `: copilot plugin add NAME@${name} installs one.`;
    const size = count(Object.keys(entries).length, "plug-in");
    return await this.#saved(`The marketplace ${name} has ${size}${hint}`);
  }
}

const from = ({ source, commit = "" }: PluginRow): string =>
  `(${[sources.shownUrl(source), commit.slice(0, 10)].join(" ").trim()})`;

/** Returns the name of a row. @throws {UsageError} with the nearest one. */
function named(rows: Readonly<Record<string, unknown>>, name: string, what: string): string {
  const found = [name, pluginNameOf(name)].find((one) => one && Object.hasOwn(rows, one));
  if (found) return found;
  throw noneNamed(what, name, Object.keys(rows), "copilot plugin --help shows how to list them");
}

const NO_PARTS = "nothing that copilot uses";

async function partsText({ places, hooks, servers, unused }: PluginParts) {
  const { promptFiles, problems } = await loadPromptFiles(places, openPermissions().paths);
  const kinds = [...promptFiles.map((one) => one.kind), ...hooks.map(() => "hook" as const)];
  const byKind = Map.groupBy([...kinds, ...servers.map(() => "server")], (kind) => kind);
  const all = Array.from(byKind, ([kind, some]) => count(some.length, kind));
  const left = [
    ...unused,
    ...problems.map(({ path, why }) => `${basename(path)} is not used, as ${why}`),
  ];
  if (all.length === 0) all.push(NO_PARTS);
  return shortened(oneLine([all.join(", "), ...left].join("; ")), 1000);
}
