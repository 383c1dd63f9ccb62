/** Runs commands sandboxed as a folder's settings require. @module */

import { programFolders } from "../find_program.ts";
import type { PathTable } from "../safety/path_table.ts";
import type { GitAnswers } from "../safety/sandbox/git_faults.ts";
import type { KeptCaches } from "../safety/sandbox/kept_caches.ts";
import type { Sandbox } from "../safety/sandbox/probe.ts";
import { accessAt, entryAt, repositoriesIn, type View } from "../safety/view.ts";
import { RefusedError } from "../tools/call_errors.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import type { Confine, Leave } from "../types/confine.ts";
import type { SettingsInForce } from "./settings_in_force.ts";

const HOLDS_HOME =
  "the working directory holds the home folder. The user can change to the folder of a project with /cd";

interface ConfinementSources {
  settingsFor(folder: string): Promise<SettingsInForce>;
  paths(): PathTable;
  /** The state folder; undefined without a home folder. */
  stateFolder: string | undefined;
  variables(name: string): string | undefined;
  /** The folder in it with the caches of these programs: commands and servers do not share files. */
  caches: string;
  /** Called at the end of a sandboxed command, with the end of its output. */
  onEnd(folder: string, command: string, output: string): void;
  /** Called with what a sandboxed command was not allowed to leave, in one line. */
  onMended(text: string): void;
}

/** The views of what may have made repositories that were not looked at yet, and if it runs, in all sandboxes. */
const writers = new Map<View, boolean>();

/** A single git command. */
const GIT_ALONE = /^git [a-z][^;&|`$()<>\n]*$/;

export class Confinement {
  #sandbox: Promise<Sandbox | string> | undefined;
  /** The folder that sandboxed commands see as `/tmp` and the like. */
  #own: string | undefined;
  #kept: Promise<KeptCaches | undefined> | undefined;

  constructor(private readonly sources: ConfinementSources) {}

  /** Returns the sandbox of this machine, or the reason why it has none. */
  find(): Promise<Sandbox | string> {
    const { paths, stateFolder: folder } = this.sources;
    return this.#sandbox ??= Promise.all([import("../safety/sandbox/probe.ts"), paths()])
      .then(([{ findSandbox }, table]) => findSandbox(table, folder && `${folder}/sandbox`));
  }

  /** Returns why commands are not sandboxed, in words. */
  async fault(): Promise<string> {
    const sandbox = await this.find();
    return typeof sandbox === "string" ? sandbox : HOLDS_HOME;
  }

  /** Returns the limits of a sandboxed command; undefined if it is not sandboxed. */
  async limits(settings: SettingsInForce): Promise<string | undefined> {
    if (settings.sandbox === "off") return undefined;
    const sandbox = await this.find();
    return typeof sandbox === "string" ? undefined : `confined: ${limitsOf(settings)}`;
  }

  /** Returns a function that sandboxes commands if the settings require it. */
  confine(workingDir: () => string): Confine {
    return async (program, args, leave, reads = []) => {
      const folder = workingDir();
      const settings = await this.sources.settingsFor(folder);
      if (settings.sandbox === "off") return { program, args: [...args] };
      if (leave === "sandbox") {
        // Folders in which sandboxed commands may have created programs are excluded.
        const variables = { PATH: (settings.programs ?? []).join(":") };
        return { program, args: [...args], ...Deno.build.os !== "windows" && { variables } };
      }
      // With the network, only a single git command may write git's folders.
      const isGit = leave === "git" || leave === "network" && GIT_ALONE.test(args.at(-1) ?? "");
      const given = { leave, isGit, reads };
      const { words, view, close, variables, left, tidy } = await this.#words(settings, given);
      const { by, holder, environment } = await this.find() as Sandbox;
      const [confined, ...before] = words;
      const network = settings.network || leave === "network";
      const putBack = view.links?.length
        ? (await import("../safety/sandbox/kept_links.ts")).keepLinks(view.links)
        : undefined;
      writers.set(view, true);
      const mend = (output: string) => {
        this.sources.onEnd(folder, args.at(-1) ?? "", output);
        const lines = [...left, ...close?.() ?? [], putBack?.(), ...tidy()];
        const mended = lines.filter(Boolean).join("; ");
        if (mended) this.sources.onMended(mended);
        return mended || undefined;
      };
      return {
        program: confined!,
        args: [...before, program, ...args],
        limits: `confined by ${by}: ${
          limitsOf({ ...settings, network, isGitOpen: close !== undefined })
        }${view.isComplete ? "" : ". Folders that are not looked through yet are closed for now"}`,
        ...holder !== undefined && { holder },
        mend,
        variables,
        environment,
      };
    };
  }

  /** Returns the words before a program that sandbox it. @throws {RefusedError} if that is not possible. */
  async #words(
    settings: SettingsInForce,
    { leave, isGit, reads }: { leave: Leave | undefined; isGit: boolean; reads: readonly string[] },
  ) {
    const sandbox = await this.find();
    if (typeof sandbox === "string" || settings.view === undefined) {
      const why = typeof sandbox === "string"
        ? `${sandbox}. The user can have them run unconfined: "sandbox": "off" in config.json, or --sandbox off at the start`
        : HOLDS_HOME;
      throw new RefusedError(`Refused: commands are to be confined, and cannot be: ${why}`);
    }
    const makeView = settings.view;
    const makeNow = () =>
      makeView(leave?.startsWith("write:") ? leave.slice("write:".length) : undefined);
    let view = makeNow();
    const { makeOwnFolder } = await import("../safety/sandbox/own_folder.ts");
    const own = this.#own ??= makeOwnFolder(atProgramEnd, {
      isOpen: (at) => accessAt(view, at) === "write",
      last: this.sources.stateFolder,
    });
    const { source, answers, folders, git: asked } = await gitOf(settings, view.folder);
    const left = folders.mendKilled(view, answers);
    if (left !== undefined) view = makeNow();
    const [{ home }, { ownSource }, { toolVariables }, caches] = await Promise.all([
      this.sources.paths(),
      import("../safety/sandbox/wrap.ts"),
      import("../safety/sandbox/tool_variables.ts"),
      this.#caches(own),
    ]);
    await caches?.useFor(view);
    // Servers do not write git folders, because their changes are only checked when the session ends. Servers and
    // the user's hooks start no programs of the folder.
    const isCommand = /^(caches|servers\/folder-hooks)$/.test(this.sources.caches);
    const stated = isGit && isCommand && view.gitFolders?.length
      ? asked.gitSettings(source) ?? []
      : undefined;
    const git = stated && await folders.openGitFolders(view, answers);
    const network = view.network || leave === "network";
    const seen = { ...git?.view ?? view, network };
    const more = reads.map((path) => [path, "read"] as const);
    const words = sandbox.command({ ...seen, places: new Map([...seen.places, ...more]) }, own);
    const tools = home === undefined ? {} : toolVariables({
      view: { ...view, network },
      home,
      cache: ownSource(own, `${home}/.cache`),
      value: this.sources.variables,
      programs: isCommand
        ? programFolders(undefined, this.sources.variables("PATH"))
        : settings.programs ?? [],
    });
    return {
      ...{ words, view, close: git?.close, left: left ?? [] },
      tidy: await tidierOf(settings, view, answers),
      variables: { ...tools, ...stated && asked.gitVariables(stated) },
    };
  }

  #caches(own: string): Promise<KeptCaches | undefined> {
    const { paths, stateFolder } = this.sources;
    return this.#kept ??= Promise.all([
      import("../safety/sandbox/kept_caches.ts"),
      paths(),
    ]).then(async ([{ KeptCaches }, { home }]) => {
      if (!stateFolder || !home) return undefined;
      return await KeptCaches.open(`${stateFolder}/${this.sources.caches}`, own, home);
    });
  }
}

/** git as it is asked about a folder. */
async function gitOf({ programs = [], paths: { home } }: SettingsInForce, folder: string) {
  const [folders, git] = await Promise.all([
    import("../safety/sandbox/git_folders.ts"),
    import("./git_settings.ts"),
  ]);
  const source = { folder, root: folder, programs, home };
  const answers = {
    harmlessText: (file: string) => git.harmlessText(source, file),
    indexMayLeadAway: (gitFolder: string) => git.indexMayLeadAway(source, gitFolder),
  };
  return { source, answers, folders, git };
}

/** Returns what puts aside, at the end of a program, what git would run in repositories that it or others made. */
async function tidierOf(settings: SettingsInForce, view: View, git: GitAnswers) {
  const { newFaults, putAside, removeLinks } = await import("../safety/sandbox/git_faults.ts");
  const root = view.folder;
  const isWritten = (path: string) =>
    [...writers.keys()].some((one) =>
      accessAt(one, path) === "write" && !one.repositories?.includes(path)
    );
  return () => {
    const { found, isComplete } = repositoriesIn(root, settings.looks!, isWritten);
    const removed = found.filter((at) => entryAt(at)?.isDirectory !== false)
      .flatMap((at) => removeLinks(at, { others: ["hooks"] }));
    const mended = [...removed, ...putAside(newFaults(found, root, git))];
    writers.set(view, false);
    if (!isComplete) {
      return [
        ...mended,
        `${root} has too many new folders: use no git in them before a next command`,
      ];
    }
    for (const [one, runs] of writers) if (!runs && one.folder === root) writers.delete(one);
    return mended;
  };
}

interface WordedLimits extends Pick<SettingsInForce, "sandbox" | "network"> {
  isGitOpen?: boolean;
}

function limitsOf({ sandbox, network, isGitOpen = false }: WordedLimits): string {
  const git = isGitOpen ? "in .git no settings and hooks" : "in .git only by git commands";
  const where = sandbox === "read-only"
    ? "a private /tmp"
    : `this folder (${git}) and a private /tmp`;
  return `only ${where} can be written${network ? "" : ", and there is no network"}`;
}
