/** Runs commands sandboxed as a folder's settings require. @module */

import { shortened } from "../text/one_line.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname, join } from "../text/std_path.ts";
import { RefusedError } from "../tools/call_errors.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import type { Confine, ConfinedProgram, Right } from "../types/confine.ts";
import {
  gitInputs,
  gitSettings,
  gitStashed,
  indexMayLeadAway,
  madeSettings,
  trackPushed,
} from "./git_queries.ts";
import { gitFoldersOf } from "./git_files.ts";
import { gitFindings } from "./named_files.ts";
import { READ_FILE, runInPlace, waitTime } from "./in_place.ts";
import type { PathTable } from "./path_table.ts";
import { entryAt, linksOn } from "./places.ts";
import { withState } from "./plugin_state.ts";
import { credentialsEnvironment, withCredentials } from "./sandbox/credentials.ts";
import { isOpenable, mendKilled, openGitFolders } from "./sandbox/git_folders.ts";
import { useCaches } from "./sandbox/kept_caches.ts";
import { keepLinks, restoreLinks } from "./sandbox/kept_links.ts";
import { makeOwnFolder } from "./sandbox/own_folder.ts";
import { findSandbox, type Sandbox } from "./sandbox/probe.ts";
import { canShare, SharedNetworks } from "./sandbox/shared_networks.ts";
import { toolVariables } from "./sandbox/tool_variables.ts";
import { forgetMounts, ownSource, withFewPaths } from "./sandbox/mounts.ts";
import { outerEnvironment } from "./sandbox/wrap.ts";
import { expectSwaps, isWrittenNow, searchKilled, startWriter } from "./sandbox/writers.ts";
import { limitOf } from "./sandbox_limit.ts";
import type { Settings } from "./settings.ts";
import type { SettingsInForce } from "./settings_in_force.ts";
import { accessAt, type View } from "./view.ts";

const HOLDS_HOME =
  "the working directory contains the home folder. The user can change to the folder of a project with /cd";

interface ConfinementSources {
  settingsFor(folder: string): Promise<SettingsInForce>;
  paths(): PathTable;
  stateFolder: string | undefined;
  variables(name: string): string | undefined;
  /** The name, in the state folder, of the caches of these programs, which share no files; if empty, no cache is saved. */
  caches: string;
  /** The folder of the run, with caches that last as long; by default, one is made. */
  own?: string;
  /** True for commands of the folder, which may start programs such as git in it. */
  areCommands: boolean;
  /** Called at the end of a sandboxed command, with the end of its output. */
  onEnd(view: View, command: string, output: string): void;
  mayAsk(): boolean;
  /** Called with what was put aside or restored after a sandboxed command, in one line. */
  onMended(text: string): void;
}

const MAX_MENDED_LINES = 20;
const MAX_CLOSED_NAMES = 5;
const GIT_ALONE = /^git [a-z][^;&|`$()<>\n]*$/;

/** The parts from which the sandbox of a program is made. */
interface PreparedSandbox {
  sandbox: Sandbox;
  /** The absolute folder that contains the commands' private folders. */
  own: string;
  view: View;
  git: ReturnType<typeof gitOf>;
}

export class Confinement {
  #sandbox: Promise<Sandbox | string> | undefined;
  /** The folder that sandboxed commands see as `/tmp` and the like. */
  #own: string | undefined;
  readonly #networks = new SharedNetworks();
  /** The folders that the last command could not use, in words. */
  #closed = "";

  constructor(private readonly sources: ConfinementSources) {}

  /** Returns the sandbox of this machine, or the reason why it has no sandbox. */
  find(): Promise<Sandbox | string> {
    const { paths, stateFolder: folder } = this.sources;
    return this.#sandbox ??= findSandbox(paths().home, folder && `${folder}/sandbox`);
  }

  async fault(): Promise<string> {
    const sandbox = await this.find();
    return typeof sandbox === "string" ? sandbox : HOLDS_HOME;
  }

  confine(workingDir: () => string): Confine {
    return async (...given) => {
      const [program, args, right, { isJob = false } = {}] = given;
      const folder = workingDir();
      const settings = await this.sources.settingsFor(folder);
      const restored = restoreLinks(folder, this.sources.stateFolder);
      if (settings.sandbox === "off" || right?.kind === "sandbox") {
        if (restored.length > 0) this.sources.onMended(restored.join("; "));
        const isOpen = settings.sandbox === "off" || Deno.build.os === "windows";
        // Folders in which sandboxed commands may have created programs are excluded.
        const variables = { PATH: settings.programs.join(":") };
        return { program, args: [...args], ...!isOpen && { variables } };
      }
      await expectSwaps(this.sources.stateFolder, isJob || !this.sources.areCommands);
      return await this.#sandboxed(settings, given, restored);
    };
  }

  async #sandboxed(
    settings: SettingsInForce,
    [program, args, right, more = {}]: Parameters<Confine>,
    restored: readonly string[],
  ): Promise<ConfinedProgram> {
    const { sources } = this;
    const { reads = [], isJob = false, changesState = false } = more;
    const command = args.at(-1) ?? "";
    const made = await this.#viewFor(settings, right);
    const { sandbox, git, left, own } = made;
    const isCopied = changesState && sandbox.by === "bubblewrap";
    const { view, store } = withState(made.view, isCopied ? own : undefined);
    const { words, variables, closed, isShared, leave, network, tidy, opened } = await this
      .#wordsFor(
        settings,
        { sandbox, own, view, git },
        { command, right, reads, isJob },
      );
    const endLinks = keepLinks(view, sources.stateFolder);
    const forget = atProgramEnd(endLinks);
    const limits = { ...settings, view, network, isShared };
    return {
      program: words[0]!,
      args: [...words.slice(1), program, ...args],
      limits: `sandboxed by ${sandbox.by}: ${limitsOf(limits, opened, right)}${closed.more}`,
      limitOf: (end) => {
        const limit = right?.kind === "credentials" ? undefined : limitOf(end, limits);
        const mayAsk = sources.mayAsk() && !/^(plan|never)$/.test(settings.approve);
        // The line with all limits also names the folders that are closed.
        const isNamed = closed.more !== "" && limit?.path && isWithin(view.folder, limit.path);
        return isNamed ? undefined : limit && { ...limit, ...mayAsk && { mayAsk } };
      },
      finish: (output, code) => {
        sources.onEnd(view, command, output);
        // The sandbox may have run nothing because the known mounts are outdated.
        if (code === 126) forgetMounts();
        forget();
        leave?.();
        const done = [...restored, ...left, ...closed.said, ...opened?.close() ?? []];
        if (code === 0) done.push(...trackPushed(git.answers.source, right ?? {}));
        return this.#report([...done, ...store?.() ?? [], ...endLinks(), ...tidy()]);
      },
      variables,
      environment: right?.kind === "credentials" ? credentialsEnvironment : outerEnvironment,
    };
  }

  /** Returns the words that sandbox a program, the variables that it gets, and what to call at its end. */
  async #wordsFor(
    settings: SettingsInForce,
    { sandbox, own, view, git }: PreparedSandbox,
    given: { command: string; right: Right | undefined; reads: readonly string[]; isJob: boolean },
  ) {
    const { sources } = this;
    const { right, reads, isJob } = given;
    const { sandboxRead, sandboxWrite, paths: { home } } = settings;
    const { stated, opened } = await this.#openGit(view, git, given);
    const usesCredentials = right?.kind === "credentials";
    const network = view.network || usesCredentials || right?.kind === "network";
    const isWritten = (path: string) => isWrittenNow(path, sources.stateFolder);
    const open = { ...opened?.view ?? view, network };
    const files = usesCredentials ? join(own, "credentials") : own;
    let leave: (() => void) | undefined;
    try {
      const { seen, texts, variables: ofGit } = usesCredentials
        ? withCredentials(git.source, open, { stated, own: files, value: sources.variables, right })
        : sources.areCommands
        ? gitInputs(git.source, open, { stated, made: opened?.made, isWritten })
        : { seen: open, texts: new Map(open.texts), variables: {} };
      const places = new Map(seen.places);
      for (const path of [...reads, ...texts.keys()]) places.set(path, "read");
      const mounted = withFewPaths({ ...seen, texts, places });
      const closed = this.#closedIn(mounted);
      const isApart = right !== undefined || network || !canShare();
      const rights = JSON.stringify([seen.folder, settings.sandbox, sandboxRead, sandboxWrite]);
      const shared = isApart
        ? undefined
        : await this.#networks.join(rights, sandbox.program, isJob);
      leave = shared?.leave;
      const tools = home && toolVariables({
        view: { ...view, network },
        home,
        value: sources.variables,
        cache: ownSource(own, `${home}/.cache`),
        programs: sources.areCommands ? settings.commandPrograms : settings.programs,
      });
      const words = sandbox.command(mounted, files, shared?.enter);
      const tidy = startWriter(view, settings.looks!, git.answers, sources.stateFolder);
      const variables = { ...tools, ...ofGit };
      return {
        words,
        variables,
        closed,
        isShared: shared !== undefined,
        leave,
        network,
        tidy,
        opened,
      };
    } catch (error) {
      opened?.close();
      leave?.();
      throw error;
    }
  }

  #report(lines: string[]): string | undefined {
    const more = lines.splice(MAX_MENDED_LINES).length;
    const mended = [...lines, ...more > 0 ? [`${more} more`] : []].join("; ");
    if (mended) this.sources.onMended(mended);
    return mended || undefined;
  }

  /** Returns the folders that commands cannot use, in words: `said` if that has changed, `more` for limits. */
  #closedIn(view: View): { said: string[]; more: string } {
    const names = (view.closed ?? []).map((at) =>
      `${shortened(at, 200)} is ${accessAt(view, at) === "hidden" ? "hidden" : "read-only"}`
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

  /** Makes the view of a program, and mends what killed commands left. @throws {RefusedError} if no sandbox works. */
  async #viewFor(settings: SettingsInForce, right: Right | undefined) {
    const [sandbox, { view: makeView }] = [await this.find(), settings];
    if (typeof sandbox === "string" || makeView === undefined) {
      const advice = typeof sandbox === "string"
        ? '. The user can run them without it: "sandbox": "off" in config.json, or --sandbox off at the start'
        : "";
      throw new RefusedError(
        `commands must run in the sandbox, which cannot start: ${await this
          .fault()}${advice}`,
      );
    }
    const { stateFolder, caches } = this.sources;
    const first = makeView(right?.folder);
    const own = this.#own ??= this.sources.own ?? makeOwnFolder(atProgramEnd);
    const git = gitOf(settings, first, own);
    const left = [
      mendKilled(first, git.answers),
      searchKilled(first, settings.looks!, git.answers, stateFolder),
    ];
    const view = left.some((lines) => lines) ? makeView(right?.folder) : first;
    const { home } = this.sources.paths();
    if (stateFolder && home && caches && !this.sources.own) {
      await useCaches(view, `${stateFolder}/${caches}`, own, home);
    }
    return { sandbox, own, view, git, left: left.flatMap((lines) => lines ?? []) };
  }

  /** Returns git's settings for a command that may use git, and its folders, opened if the command may write them. */
  async #openGit(
    view: View,
    { source, answers }: ReturnType<typeof gitOf>,
    { command, right, isJob }: { command: string; right: Right | undefined; isJob: boolean },
  ) {
    // A server's changes to git folders would be checked only at its end.
    const usesGit = this.sources.areCommands && /\bgit\b/.test(command);
    const stated = usesGit ? gitSettings(source) ?? [] : undefined;
    // With the network, only a single git command may write them.
    const isGit = right?.kind === "git" || right?.kind === "network" && GIT_ALONE.test(command);
    const usesCredentials = right?.kind === "credentials";
    const isOpened = stated && (usesCredentials || isGit && !isJob);
    // It is git alone, so that it may write in a folder that commands only read.
    const places = new Map(view.places).set(view.folder, "write");
    const seen = usesCredentials ? { ...view, places } : view;
    const { gitFolder = "", repository = gitFolder } = right ?? {};
    const alone = usesCredentials
      ? [...new Set([repository, gitFolder])].filter(isOpenable)
      : undefined;
    const opened = isOpened ? await openGitFolders(seen, answers, command, alone) : undefined;
    return { stated, opened };
  }
}

/** The maximum size of the settings of a repository that a command made, which each view reads. */
const MAX_MADE_SETTINGS = 100_000;

function gitOf({ programs, paths }: SettingsInForce, view: View, own: string) {
  const { folder } = view;
  const source = { folder, root: folder, programs, home: paths.home, time: waitTime() };
  const atEnd = { ...source, time: waitTime() };
  const answers = {
    source: atEnd,
    own,
    time: atEnd.time,
    madeSettings: (file: string, marks: boolean) => {
      const { size } = entryAt(file) ?? {};
      // A job may put a link in the place of its folder.
      const { output, fault } = runInPlace(dirname(file), READ_FILE, [basename(file)], atEnd.time);
      const isRead = !fault && (size ?? 0) <= MAX_MADE_SETTINGS;
      const given = size === undefined ? "" : isRead ? output : undefined;
      return madeSettings(atEnd, given, { own, gitFolder: dirname(file), marks });
    },
    namedIn: (tree: string) =>
      gitFindings(undefined, tree, paths).flatMap(({ path, named }) =>
        named && isWithin(tree, path) ? linksOn(tree, path)[0] ?? path : []
      ),
    mayApply: (gitFolder: string, stash: string) => {
      const dotGit = view.repositories?.find((at) => gitFoldersOf(at)[0] === gitFolder) ??
        gitFolder;
      return basename(dotGit) === ".git" &&
        gitStashed(atEnd, gitFolder, dirname(dotGit), stash)?.every((path) =>
            accessAt(view, path) === "write" && paths.protectedKind(path) === undefined
          ) === true;
    },
    indexMayLeadAway: (gitFolder: string) => indexMayLeadAway(atEnd, gitFolder),
  };
  return { source, answers };
}

export function limitsOf(
  { sandbox, network }: Pick<Settings, "sandbox" | "network">,
  opened?: unknown,
  right?: Right,
): string {
  if (right?.kind === "credentials") return "only git's folders can be written";
  const git = opened ? "without git's settings and hooks" : ".git only through git";
  const where = sandbox === "read-only"
    ? "a private /tmp"
    : `this folder (${git}) and a private /tmp`;
  return `only ${where} can be written${network ? "" : ", and there is no network"}`;
}
