/** Runs commands sandboxed as a folder's settings require. @module */

import { attempt } from "../attempt.ts";
import { programFolders } from "../find_program.ts";
import type { PathTable } from "./path_table.ts";
import { programStarts } from "./folder_looks.ts";
import { expectPipes } from "./git_files.ts";
import type { GitAnswers } from "./sandbox/git_faults.ts";
import { findSandbox, type Sandbox } from "./sandbox/probe.ts";
import { canShare, SharedNetworks } from "./sandbox/shared_networks.ts";
import { limitOf } from "./sandbox_limit.ts";
import { unsearched, waitTime } from "./in_place.ts";
import { entryAt } from "./places.ts";
import { repositoriesIn } from "./repositories.ts";
import { accessAt, type View, writtenFolders } from "./view.ts";
import { RefusedError } from "../tools/call_errors.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname } from "../text/std_path.ts";
import type { Confine, ConfinedProgram } from "../types/confine.ts";
import { gitInputs, gitSettings, harmlessText, indexMayLeadAway } from "./git_queries.ts";
import type { SettingsInForce } from "./settings_in_force.ts";

const HOLDS_HOME =
  "the working directory contains the home folder. The user can change to the folder of a project with /cd";

interface ConfinementSources {
  settingsFor(folder: string): Promise<SettingsInForce>;
  paths(): PathTable;
  /** The state folder; undefined without a home folder. */
  stateFolder: string | undefined;
  variables(name: string): string | undefined;
  /** The name, in the state folder, of the caches of these programs: commands and servers do not share files. */
  caches: string;
  /** True for commands and hooks of the folder, which may start programs of the folder such as git. */
  areCommands: boolean;
  /** Called at the end of a sandboxed command, with the end of its output. */
  onEnd(view: View, command: string, output: string): void;
  mayAsk(): boolean;
  /** Called with what a sandboxed command was not allowed to leave, in one line. */
  onMended(text: string): void;
}

/** The views whose programs may have made repositories that are not checked yet; true while the program runs. */
const writers = new Map<View, boolean>();

/** True if a sandboxed program that is running can write a path, from before the path was protected. */
export const isWrittenNow = (path: string): boolean =>
  [...writers].some(([view, runs]) => runs && accessAt(view, path) === "write");

/** The repositories that commands made. */
const madeRepositories = new Set<string>();

export const isKnownRepository = (folder: string): boolean =>
  ![...unsearched].some(entryAt) &&
  ![...madeRepositories].some((at) => isWithin(basename(at) === ".git" ? dirname(at) : at, folder));

/** The maximum number of lines about the end of one command. */
const MAX_MENDED_LINES = 20;
/** The maximum number of closed folders that are named. */
const MAX_CLOSED_NAMES = 5;
const GIT_ALONE = /^git [a-z][^;&|`$()<>\n]*$/;

/** Prepares for a program that runs while others are checked. */
export async function expectSwaps(willRun = false): Promise<void> {
  if (willRun || [...writers.values()].includes(true)) await expectPipes();
}

export class Confinement {
  #sandbox: Promise<Sandbox | string> | undefined;
  /** The folder that sandboxed commands see as `/tmp` and the like. */
  #own: string | undefined;
  #mounts: string | undefined;
  readonly #networks = new SharedNetworks();
  /** The folders that the last command could not use, in words. */
  #closed = "";

  constructor(private readonly sources: ConfinementSources) {}

  /** Returns the sandbox of this machine, or the reason why it has none. */
  find(): Promise<Sandbox | string> {
    const { paths, stateFolder: folder } = this.sources;
    return this.#sandbox ??= findSandbox(paths(), folder && `${folder}/sandbox`);
  }

  async fault(): Promise<string> {
    const sandbox = await this.find();
    return typeof sandbox === "string" ? sandbox : HOLDS_HOME;
  }

  async limits(settings: SettingsInForce): Promise<string | undefined> {
    if (settings.sandbox === "off" || settings.view === undefined) return undefined;
    const sandbox = await this.find();
    return typeof sandbox === "string" ? undefined : `sandboxed: ${limitsOf(settings)}`;
  }

  /** Restores the links that jobs replaced, also those of a run that was killed. Returns a line for each. */
  async restoreLinks(folder: string): Promise<string[]> {
    const { restoreLinks } = await import("./sandbox/kept_links.ts");
    return restoreLinks(folder, this.sources.stateFolder);
  }

  confine(workingDir: () => string): Confine {
    return async (...given) => {
      const [program, args, right, { isJob } = {}] = given;
      const folder = workingDir();
      const settings = await this.sources.settingsFor(folder);
      const restored = await this.restoreLinks(folder);
      if (settings.sandbox === "off" || right?.kind === "sandbox") {
        if (restored.length > 0) this.sources.onMended(restored.join("; "));
        return await outside(settings, given);
      }
      await expectSwaps(isJob || !this.sources.areCommands);
      const { words, view, close, variables, left, tidy, more, shared } = await this.#words(
        settings,
        given,
      );
      const { by, environment } = await this.find() as Sandbox;
      const network = settings.network || right?.kind === "network";
      const { keepLinks } = await import("./sandbox/kept_links.ts");
      const endLinks = keepLinks(view, this.sources.stateFolder);
      const forget = atProgramEnd(endLinks);
      writers.set(view, true);
      const ended = programStarts();
      const mend = (output: string, code?: number) => {
        this.sources.onEnd(view, args.at(-1) ?? "", output);
        // Other mounts than those that are known may be why the sandbox ran nothing.
        if (code === 126) this.#mounts = undefined;
        forget();
        shared?.leave();
        ended();
        const lines = [...restored, ...left, ...close?.() ?? [], ...endLinks(), ...tidy()];
        const more = lines.splice(MAX_MENDED_LINES).length;
        const mended = [...lines, ...more > 0 ? [`${more} more`] : []].join("; ");
        if (mended) this.sources.onMended(mended);
        return mended || undefined;
      };
      const limits = limitsOf({ ...settings, network, isGitOpen: close !== undefined });
      return {
        program: words[0]!,
        args: [...words.slice(1), program, ...args],
        limits: `sandboxed by ${by}: ${limits}${more}`,
        limitOf: (end) => {
          const isShared = shared !== undefined;
          const limit = limitOf(end, { ...settings, view, network, isShared });
          // The line with all limits also names the folders that are closed.
          if (more !== "" && limit?.path && isWithin(folder, limit.path)) return undefined;
          const mayAsk = this.sources.mayAsk() && !/^(plan|never)$/.test(settings.approve);
          return limit && { ...limit, ...mayAsk && { mayAsk } };
        },
        mend,
        variables,
        environment,
      };
    };
  }

  /** Returns the sandbox and the function that makes the view. @throws {RefusedError} if no sandbox works. */
  async #sandboxFor({ view: makeView }: SettingsInForce) {
    const sandbox = await this.find();
    if (typeof sandbox !== "string" && makeView !== undefined) return { sandbox, makeView };
    const advice = typeof sandbox === "string"
      ? '. The user can run them without it: "sandbox": "off" in config.json, or --sandbox off at the start'
      : "";
    throw new RefusedError(
      `Refused: commands must run in the sandbox, which cannot start: ${await this
        .fault()}${advice}`,
    );
  }

  /** Enters the network that jobs with the same rights share. */
  #join(
    { sandbox, sandboxRead, sandboxWrite }: SettingsInForce,
    program: string,
    { folder, network }: View,
    isJob: boolean,
  ) {
    if (network || !canShare()) return undefined;
    const rights = JSON.stringify([folder, sandbox, sandboxRead, sandboxWrite]);
    return this.#networks.join(rights, program, isJob);
  }

  /** Returns the folders that commands cannot use, in words: `said` if that has changed, `more` for limits. */
  #closedIn(view: View): { said: string[]; more: string } {
    const names = (view.closed ?? []).map((at) =>
      `${at} is ${accessAt(view, at) === "none" ? "hidden" : "read-only"}`
    );
    const others = names.splice(MAX_CLOSED_NAMES).length;
    if (others > 0) names.push(`and ${others} more`);
    const text = names.length > 0 ? `Of too many protected files, ${names.join(", ")}` : "";
    const said = text === this.#closed ? [] : [text].filter(Boolean);
    this.#closed = text;
    const later = "Folders that are not searched for secrets yet are closed for now";
    const all = [text, view.isComplete ? "" : later].filter(Boolean);
    return { said, more: all.map((one) => `. ${one}`).join("") };
  }

  /** Returns the words before a program that sandbox it. */
  async #words(
    settings: SettingsInForce,
    [, args, right, { reads = [], isJob = false } = {}]: Parameters<Confine>,
  ) {
    const { sandbox, makeView } = await this.#sandboxFor(settings);
    const command = args.at(-1) ?? "";
    const makeNow = () => makeView(right?.folder);
    let view = makeNow();
    const { makeOwnFolder } = await import("./sandbox/own_folder.ts");
    const { stateFolder, caches, areCommands: isCommand, variables: value } = this.sources;
    const isOpen = (at: string) => accessAt(view, at) === "write";
    const own = this.#own ??= makeOwnFolder(atProgramEnd, { isOpen, last: stateFolder });
    const { source, answers, folders } = await gitOf(settings, view.folder);
    const left = folders.mendKilled(view, answers);
    if (left !== undefined) view = makeNow();
    const [{ home }, wrap, { toolVariables }, { useCaches }] = await Promise.all([
      this.sources.paths(),
      import("./sandbox/wrap.ts"),
      import("./sandbox/tool_variables.ts"),
      import("./sandbox/kept_caches.ts"),
    ]);
    if (stateFolder && home) await useCaches(view, `${stateFolder}/${caches}`, own, home);
    // A server's changes to git folders would be checked only at its end. With the network, only a single git command
    // may write them.
    const isGit = right?.kind === "git" || right?.kind === "network" && GIT_ALONE.test(command);
    const stated = isCommand && view.repositories?.length && /\bgit\b/.test(command)
      ? gitSettings(source) ?? []
      : undefined;
    const git = stated && isGit && !isJob
      ? await folders.openGitFolders(view, answers, command)
      : undefined;
    const seen = { ...git?.view ?? view, network: view.network || right?.kind === "network" };
    const { texts, variables } = isCommand
      ? gitInputs(source, seen, { stated, made: git?.made, isWritten: isWrittenNow })
      : { texts: new Map(seen.texts), variables: {} };
    const further = [...reads, ...texts.keys()].map((path) => [path, "read"] as const);
    const places = new Map([...seen.places, ...further]);
    const few = wrap.withFewPaths({ ...seen, texts, places });
    const { said, more } = this.#closedIn(few);
    const shared = right ? undefined : await this.#join(settings, sandbox.program, seen, isJob);
    const makeWords = () =>
      sandbox.command(few, own, this.#mounts ??= wrap.mountinfo(), shared?.enter);
    const tools = home && toolVariables({
      view: { ...view, network: seen.network },
      home,
      cache: wrap.ownSource(own, `${home}/.cache`),
      value,
      programs: isCommand ? programFolders(undefined, value("PATH")) : settings.programs ?? [],
    });
    return {
      words: orElse(makeWords, () => [git?.close(), shared?.leave()]),
      view,
      close: git?.close,
      left: [...left ?? [], ...said],
      more,
      shared,
      tidy: await tidierOf(settings, view, answers),
      variables: { ...tools, ...variables },
    };
  }
}

/** Returns a program that runs without a sandbox. */
async function outside(
  { sandbox, programs = [] }: SettingsInForce,
  [program, args, right]: Parameters<Confine>,
): Promise<ConfinedProgram> {
  // Folders in which sandboxed commands may have created programs are excluded.
  const variables = { PATH: programs.join(":"), ...right?.variables };
  const isOpen = sandbox === "off" || Deno.build.os === "windows";
  const unlock = right?.locks && await unlockerOf(right.locks);
  return {
    ...{ program, args: [...args] },
    ...!isOpen && { variables },
    ...unlock && { mend: () => (unlock(), undefined) },
  };
}

/** @throws {RefusedError} if commands, of this session or another, write one of git's folders */
async function unlockerOf(gitFolders: readonly string[]): Promise<() => void> {
  const { lockGitFolders } = await import("./sandbox/git_folders.ts");
  const unlock = await lockGitFolders(gitFolders);
  if (unlock) return unlock;
  throw new RefusedError(
    "Refused: another command, here or in another session, writes the repository. Try again when it has ended.",
  );
}

function orElse<T>(make: () => T, undo: () => unknown): T {
  try {
    return make();
  } catch (error) {
    undo();
    throw error;
  }
}

async function gitOf({ programs = [], paths: { home } }: SettingsInForce, folder: string) {
  const folders = await import("./sandbox/git_folders.ts");
  const source = { folder, root: folder, programs, home, time: waitTime() };
  const atEnd = { ...source, time: waitTime() };
  const answers = {
    time: atEnd.time,
    harmlessText: (file: string) => harmlessText(atEnd, file),
    indexMayLeadAway: (gitFolder: string) => indexMayLeadAway(atEnd, gitFolder),
  };
  return { source, answers, folders };
}

/**
 * Returns a function that puts aside, at the end of a program, the files by which git would run something in
 * repositories that this program or others made.
 */
async function tidierOf(settings: SettingsInForce, view: View, git: GitAnswers) {
  const { newFaults, putAside, removeLinks } = await import("./sandbox/git_faults.ts");
  const isWritten = (path: string) =>
    [...writers.keys()].some((one) =>
      accessAt(one, path) === "write" && !one.repositories?.includes(path) ||
      isInReplacedLink(one, path)
    );
  return () => {
    writers.set(view, false);
    const all = [...writers].filter(([one]) => one.folder === view.folder);
    const seen = new Set<string>();
    let isComplete = true;
    const mended = [...new Set(all.flatMap(([one]) => writtenFolders(one)))].flatMap((root) => {
      const look = repositoriesIn(root, settings.looks!, isWritten);
      const found = look.found.filter((at) => !seen.has(at) && seen.add(at));
      for (const at of found) madeRepositories.add(at);
      const folders = found.filter((at) => entryAt(at)?.isDirectory !== false);
      isComplete &&= look.isComplete;
      if (look.isComplete) unsearched.delete(root);
      else unsearched.add(root);
      const large =
        `${root} has too many new folders: do not use git in them until the next command has ended`;
      return [
        ...removeLinks(folders, ["hooks"], git.time),
        ...putAside(newFaults(found, root, git)),
        ...look.isComplete ? [] : [large],
      ];
    });
    for (const [one, runs] of isComplete ? all : []) if (!runs) writers.delete(one);
    return mended;
  };
}

/** True for a path that was a link to a repository and leads elsewhere now, and for all in it. */
const isInReplacedLink = ({ gitLinks = new Map() }: View, path: string): boolean =>
  [...gitLinks].some(([at, target]) =>
    isWithin(at, path) && attempt(() => Deno.readLinkSync(at)) !== target
  );

interface WordedLimits extends Pick<SettingsInForce, "sandbox" | "network"> {
  isGitOpen?: boolean;
}

function limitsOf({ sandbox, network, isGitOpen = false }: WordedLimits): string {
  const git = isGitOpen ? "without git's settings and hooks" : "its .git only by git commands";
  const where = sandbox === "read-only"
    ? "a private /tmp"
    : `this folder (${git}) and a private /tmp`;
  return `only ${where} can be written${network ? "" : ", and there is no network"}`;
}
