/** The permissions of a run: decides calls and sandboxes commands. @module */

import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { EXPLORE } from "../tools/explore.ts";
import { API_KEY_ENVS } from "../config.ts";
import type { PermissionChoice } from "./choice.ts";
import { FolderLooks } from "./folder_looks.ts";
import { homesIn, PathTable } from "./path_table.ts";
import { levelOf, PermissionsFile, rulesOf, ruleText } from "./settings_file.ts";
import { isAgainstReading } from "./path_verdict.ts";
import { type KeptRule, matchesPath, parseKept } from "./rules.ts";
import type { ApproveMode } from "./settings.ts";
import { isObject } from "../text/json.ts";
import { isWithin } from "../text/paths.ts";
import { type View, writtenFolders } from "./view.ts";
import { RefusedError } from "../tools/call_errors.ts";
import type { Policy } from "../types/policy.ts";
import type { Confine } from "../types/confine.ts";
import {
  checkOwnFolders,
  ignoredSettings,
  privateFolder,
  stateFolder,
  userFile,
  userFolder,
  type VariableReader,
} from "../user_files.ts";
import { Confinement } from "./confinement.ts";
import { isLeftOpen } from "./sandbox/git_folders.ts";
import { restoreLinks } from "./sandbox/kept_links.ts";
import { expectSwaps, isWrittenNow } from "./sandbox/writers.ts";
import type { Approver } from "./approval.ts";
import type {
  ModeStatus,
  PermissionNotice,
  PermissionReport,
  SandboxStatus,
} from "./permission_report.ts";
import { repositoryOf } from "./repositories.ts";
import { CallPolicy } from "./call_policy.ts";
import { gitQueries } from "./git_queries.ts";
import { type FolderCopy, projectSettings, settingsInForce } from "./settings_in_force.ts";
import type { SettingsInForce } from "./settings_in_force.ts";
import { builtinTools, withJobs } from "../tools/mod.ts";
import { isOn } from "./host_verdict.ts";
import { namespacesAdvice } from "./sandbox/probe.ts";

/** Reads the user's settings file, with the folders that `env` names. @throws {UsageError} if it is invalid. */
export function openPermissions(
  choice: PermissionChoice = {},
  env: VariableReader = (name) => Deno.env.get(name),
  looks?: FolderLooks,
  caches = "caches",
): Permissions {
  const file = new PermissionsFile(userFile("permissions.json", env), TOOL_NAMES, choice.usual);
  file.general();
  const permissions = new Permissions(choice, file, env, caches, looks);
  if (choice.level) {
    levelOf(choice.level, { file: "the flags", toolNames: TOOL_NAMES });
    const { homes } = permissions.paths;
    // In a folder above a home folder, protected files are known only by their place in the home folder.
    const wide = choice.level.sandboxWrite.find((dir) =>
      homes.some((home) => isWithin(attempt(() => Deno.realPathSync(dir)) ?? dir, home))
    );
    if (wide !== undefined) {
      throw new UsageError(
        `Cannot use --add-dir ${
          JSON.stringify(wide)
        } as it contains a home folder: name a folder in it`,
      );
    }
  }
  return permissions;
}

const TOOL_NAMES = [
  ...withJobs(builtinTools).map(({ name }) => name),
  "fetch_url",
  "search_web",
  EXPLORE,
];

const MAX_OUTPUTS = 100;

const pathTable = (variables: VariableReader) =>
  new PathTable({
    home: variables("HOME") ?? variables("USERPROFILE"),
    others: homesIn(Deno.uid() === 0 && attempt(() => Deno.readTextFileSync("/etc/passwd")) || ""),
    own: [userFolder(variables), stateFolder(variables)],
    temporary: privateFolder(variables),
  });

/** The origin of a server or a hook; `hooks`: the hooks of a folder; `trusted`: those that `--trust` allows. */
type ServerOrigin = "user" | "folder" | "given" | "plugin" | "hooks" | "trusted";

export class Permissions {
  readonly env: readonly string[];
  /** Rules that were added in this session, by folder: the same rule names other files in another folder. */
  readonly #added = new Map<string, KeptRule[]>();
  readonly #settings = new Map<string, Promise<SettingsInForce>>();
  /** The copies of folders in which sub-agents work, by their paths. */
  readonly #copies = new Map<string, FolderCopy>();
  readonly #incomplete = new Set<string>();
  #approve: ApproveMode | undefined;
  #beforePlan: ApproveMode | undefined;
  readonly #networked = new Set<string>();
  readonly #outputs = new Map<string, string>();
  readonly #confinement: Confinement;
  readonly #sources: ConstructorParameters<typeof Confinement>[0];
  frontend: Approver | undefined;

  constructor(
    private readonly choice: PermissionChoice,
    private readonly file: PermissionsFile,
    readonly variables: VariableReader,
    caches: string,
    /** The runs of an exam share it: the system is not searched for each. */
    readonly looks = new FolderLooks(pathTable(variables)),
  ) {
    this.env = choice.env ?? [];
    this.#sources = {
      settingsFor: (folder) => this.#settingsFor(folder),
      paths: () => this.paths,
      stateFolder: this.stateFolder,
      variables: this.variables,
      caches,
      areCommands: true,
      onEnd: (view, command, output) => {
        // While the model reads the output, a large folder is searched for the next command.
        if (looks.isLarge) void looks.walk(searched(view));
        if (this.#outputs.size > MAX_OUTPUTS) this.#outputs.clear();
        if (output !== "" && this.#outputs.get(command) !== "") this.#outputs.set(command, output);
      },
      mayAsk: () => this.frontend?.approve !== undefined,
      onMended: (why) => this.#tell({ code: "mended", why }),
    };
    this.#confinement = new Confinement(this.#sources);
  }

  get paths(): PathTable {
    return this.looks.paths;
  }

  /** Returns the policy for calls. Without `approve`, calls that need approval are refused. */
  policy(approve?: Approver["approve"], onRefused = () => {}): Policy {
    return {
      decide: async (tool, args, context) => {
        const swaps = () => expectSwaps(this.stateFolder);
        await swaps();
        const settings = await this.#settingsFor(context.workingDir);
        const { view: makeView, programs } = settings;
        const source = { root: context.workingDir, programs, home: this.paths.home };
        const git = {
          ...gitQueries(source),
          isWritten: (path: string) => isLeftOpen(path) || isWrittenNow(path, this.stateFolder),
        };
        // The verdict, the question and its rule use the same view.
        let view: View | undefined;
        const decision = await new CallPolicy(tool, args, context, {
          settings: {
            ...settings,
            git,
            outputs: this.#outputs,
            ...makeView && { view: () => view ??= makeView() },
          },
          yes: this.approvesAll,
          approve,
          onEvent: (event) => this.frontend?.onEvent(event),
          onRefused,
          swaps,
          network: (grants) => {
            for (const { text } of grants) this.#networked.add(text);
            this.#settings.clear();
          },
          allow: (rule, folder) => this.allow(rule, folder),
          save: (rule, folder) => this.save(rule, folder),
        }).decide();
        if (view && !view.isComplete) this.#lookOn(view);
        return decision;
      },
    };
  }

  /** Continues the search of a folder for which a command had no time, and reports each folder once. */
  #lookOn(view: View): void {
    const { folder } = view;
    if (!this.#incomplete.has(folder)) this.#tell({ code: "look_incomplete", folder });
    this.#incomplete.add(folder);
    void this.looks.walk(searched(view));
  }

  #tell(notice: PermissionNotice): void {
    this.frontend?.onEvent({ type: "session_notice", notice });
  }

  /** Returns the view of a searched folder, and the folders of programs; undefined if commands are not sandboxed. */
  async toCopy(folder: string) {
    const { view, programs } = await this.#settingsFor(folder);
    if (view && !view().isComplete) await this.looks.walk(searched(view()));
    return view && { view: view(), programs };
  }

  /** Uses the settings of a folder for its copy. Its commands have the folder `own` in place of the session's. */
  addCopy(copy: FolderCopy, own: string) {
    this.#copies.set(copy.at, copy);
    const remove = () => this.#copies.delete(copy.at) && this.#settings.delete(copy.at);
    return { remove, confine: new Confinement({ ...this.#sources, own }).confine(() => copy.at) };
  }

  confine(workingDir: () => string): Confine {
    return this.#confinement.confine(workingDir);
  }

  /**
   * Returns a function that sandboxes a server with a `/tmp` and caches of its own. Without a set sandbox mode, it
   * runs sandboxed if that works: the user approves its calls, but cannot see what they do.
   * @param by its origin. Plug-ins and the hooks of a folder, which may use git, are sandboxed under all settings,
   * because the question about them says so. If no sandbox works, they are refused
   */
  confineServers(workingDir: () => string, name: string, by: ServerOrigin = "user"): Confine {
    const { file } = this;
    const areHooks = by === "hooks" || by === "trusted";
    const isAlways = by === "plugin" || by === "hooks";
    // A plug-in's server has the network by a right of its own.
    const choice = isAlways ? { ...this.choice, network: false } : this.choice;
    const isConfigured = (folder: string) =>
      [choice, file.forFolder(folder), ...file.aboveFolder(folder), file.general()]
        .some(({ sandbox }) => sandbox !== undefined);
    const confinement = new Confinement({
      ...this.#sources,
      caches: `servers/${name}`,
      areCommands: areHooks,
      onEnd: () => {},
      settingsFor: async (folder) => {
        const settings = await this.#readSettings(folder, choice);
        const isFree = isAlways ? settings.sandbox === "off" : !isConfigured(folder);
        if (!isFree) return settings;
        return await this.#readSettings(folder, { ...choice, sandbox: "workspace-write" });
      },
    });
    return async (...given) => {
      try {
        return await confinement.confine(workingDir)(...given);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        if (isAlways) {
          const what = by === "plugin"
            ? "plug-ins run"
            : "without --trust and --sandbox off, a folder's hooks run";
          const why = await confinement.fault();
          throw new RefusedError(`${what} only in the sandbox, which cannot start: ${why}`);
        }
        if (areHooks || isConfigured(workingDir())) throw error;
        return { program: given[0], args: [...given[1]] };
      }
    };
  }

  /** Reads a folder's settings; tests the sandbox if commands may run. @throws {UsageError} for invalid settings. */
  async prepare(folder: string, mayRun: boolean): Promise<PermissionNotice[]> {
    checkOwnFolders(repositoryOf(folder), this.variables);
    const notices: PermissionNotice[] = [];
    const restored = restoreLinks(folder, this.stateFolder);
    if (restored.length > 0) notices.push({ code: "mended", why: restored.join("; ") });
    const names = ignoredSettings(folder);
    if (names.length > 0) notices.push({ code: "settings_unheeded", names });
    for (const variable of this.env.filter((name) => API_KEY_ENVS.includes(name))) {
      notices.push({ code: "key_withheld", variable });
    }
    const { sandbox: wanted = this.file.general().sandbox, prefersAuto, yes } = this.choice;
    // Most folders have no settings, so that a start without them need not read all that the first call needs. If no
    // sandbox mode is set, only the settings decide if commands are sandboxed.
    const isPlain = (wanted === undefined ? !mayRun : wanted === "off") &&
      prefersAuto !== "workspace-write" &&
      !this.file.hasFolders && projectSettings(folder).length === 0;
    if (isPlain) {
      if (wanted === undefined && mayRun) notices.push({ code: "sandbox_off" });
      return notices;
    }
    const { sandbox, view, lacksSandbox, notices: found } = await this.#settingsFor(folder);
    notices.push(...found);
    if (view !== undefined) return notices;
    if (sandbox !== "off") {
      notices.push({ code: "sandbox_missing", why: await this.#confinement.fault() });
    } else if (lacksSandbox && (mayRun || prefersAuto === "workspace-write")) {
      const why = await this.#confinement.fault();
      notices.push({ code: "sandbox_off", why, isAsked: !yes });
    } else if (wanted === undefined && mayRun) {
      notices.push({ code: "sandbox_off" });
    }
    return notices;
  }

  /**
   * True if pages of the web may be fetched in a folder: the user can be asked, a rule allows a host, or there is a
   * network and the user has agreed to all. If they cannot be asked, the rules are read only if there are some.
   */
  async mayFetch(folder: string, isAsked: boolean): Promise<boolean> {
    if (isAsked) return true;
    const { yes, network: wanted, sandbox: chosen } = this.choice;
    const isSaid = yes === true && (wanted === true || chosen === "off");
    if (!isSaid && !this.file.mayAllow && !this.choice.level) return false;
    const { rules, sandbox, network } = await this.#settingsFor(folder);
    return isOn(rules) || (sandbox === "off" || network) && isSaid;
  }

  setApprove(approve: ApproveMode | undefined): void {
    if (this.#approve !== "plan") this.#beforePlan = this.#approve;
    this.#approve = approve;
    this.#settings.clear();
  }

  /** Searches a folder before a command needs it, because the first search of a large one takes time. */
  async lookAhead(folder: string): Promise<void> {
    if (this.choice.prefersAuto !== "workspace-write") return;
    const view = (await this.#settingsFor(folder)).view?.();
    if (view?.isComplete === false) await this.looks.walk(searched(view));
  }

  /** Ends plan mode: restores the previous mode, or the default one. */
  async endPlan(folder: string): Promise<void> {
    const { isSandboxed } = await this.mode(folder);
    this.setApprove(this.#approve === "plan" ? this.#beforePlan : undefined);
    if ((await this.mode(folder)).approve !== "plan") return;
    this.setApprove(isSandboxed && this.choice.prefersAuto ? "auto" : "ask");
  }

  get approvesAll(): boolean {
    return this.choice.yes === true;
  }

  get startsInPlan(): boolean {
    const { approve, usual } = this.choice;
    return (approve ?? usual?.approve) === "plan";
  }

  /** The approval mode that was chosen in the session, or plan mode from its start. */
  get chosenMode(): ApproveMode | undefined {
    return this.#approve ?? (this.startsInPlan ? "plan" : undefined);
  }

  /** True if a rule for a folder denies reading a file, or asks about it. */
  async isRuled(path: string, folder: string): Promise<boolean> {
    const { rules } = await this.#settingsFor(folder);
    return rules.some((rule) => isAgainstReading(rule) && matchesPath(rule, folder, path));
  }

  /** The folders of `--add-dir`. */
  get addedFolders(): readonly string[] {
    return this.choice.level?.sandboxWrite ?? [];
  }

  /** Returns the paths beside the folder that commands may write in some mode. */
  listedPaths(folder: string): string[] {
    const levels = [this.file.general(), this.file.forFolder(folder), this.choice.level];
    return levels.flatMap((level) => level?.sandboxWrite ?? []);
  }

  async mode(folder: string): Promise<ModeStatus> {
    const { approve, view, sandbox, network } = await this.#settingsFor(folder);
    const isSandboxed = view !== undefined;
    return {
      approve,
      isSandboxed,
      ...isSandboxed && sandbox === "read-only" && approve !== "plan" && { isReadOnly: true },
      ...isSandboxed && network && { hasNetwork: true },
    };
  }

  allow(rule: KeptRule, folder: string): void {
    parseKept(rule);
    const others = (this.#added.get(folder) ?? []).filter((one) => !supersedes(rule, one));
    this.#added.set(folder, [...others, rule]);
    this.#settings.clear();
  }

  /** Moves a rule of the session to the user's file. Returns the file. @throws {Error} if it lasts for the session only. */
  async save(rule: KeptRule, folder: string): Promise<string> {
    const path = await this.file.save(folder, (here) => {
      return { allow: [...rulesOf(here).filter((one) => !supersedes(rule, one)), rule] };
    });
    this.#added.set(folder, this.#added.get(folder)?.filter((one) => one !== rule) ?? []);
    this.#settings.clear();
    return path;
  }

  allowed(folder: string): { text: string; by: "rule" | "kept" | "network" }[] {
    const added = (this.#added.get(folder) ?? []).map(({ rule }) => rule);
    return [
      ...[...new Set(added)].map((text) => ({ text, by: "rule" as const })),
      ...[...new Set(this.file.allowed(folder))].map((text) => ({ text, by: "kept" as const })),
      ...[...this.#networked].map((text) => ({ text, by: "network" as const })),
    ];
  }

  /** Revokes what is allowed in a folder. @throws {Error} if that cannot be saved. */
  async disallow(text: string, folder: string): Promise<void> {
    this.#networked.delete(text);
    this.#added.set(folder, (this.#added.get(folder) ?? []).filter(({ rule }) => rule !== text));
    try {
      if (!this.file.allowed(folder).includes(text)) return;
      await this.file.save(folder, (here) => {
        return { allow: rulesOf(here).filter((rule) => ruleText(rule) !== text) };
      });
    } finally {
      // A call meanwhile still read the rule.
      this.#settings.clear();
    }
  }

  get stateFolder(): string | undefined {
    return stateFolder(this.variables);
  }

  async sandboxStatus(folder: string): Promise<SandboxStatus> {
    const { sandbox: mode, network } = await this.#settingsFor(folder);
    const sandbox = await this.#confinement.find();
    if (typeof sandbox !== "string") return { mode, network, by: sandbox.by };
    return { mode, network, why: sandbox, advice: namespacesAdvice() };
  }

  async describe(folder: string): Promise<PermissionReport> {
    const { approve, sandbox: mode, network, rules } = await this.#settingsFor(folder);
    return {
      approve,
      yes: this.approvesAll,
      ...mode === "off" ? { mode, network } : await this.sandboxStatus(folder),
      env: this.env,
      networked: [...this.#networked],
      rules,
      file: this.file.path,
    };
  }

  #settingsFor(folder: string): Promise<SettingsInForce> {
    const known = this.#settings.get(folder);
    if (known !== undefined) return known;
    const settings = this.#readSettings(folder);
    this.#settings.set(folder, settings);
    // The user may repair an unreadable file, so it is read again.
    settings.catch(() => this.#settings.delete(folder));
    return settings;
  }

  async #readSettings(at: string, choice = this.choice): Promise<SettingsInForce> {
    const copy = this.#copies.get(at);
    const folder = copy?.of ?? at;
    const settings = await settingsInForce(folder, {
      choice: { ...choice, ...this.#approve && { approve: this.#approve } },
      file: this.file,
      added: this.#added.get(folder) ?? [],
      path: this.variables("PATH"),
      looks: this.looks,
      hasSandbox: async () => typeof await this.#confinement.find() === "object",
    }, copy);
    return { ...settings, networked: [...this.#networked] };
  }
}

const searched = (view: View): string[] => [view.folder, ...writtenFolders(view)];

function supersedes(rule: KeptRule, one: unknown): boolean {
  return isObject(one) && one.rule === rule.rule && (!rule.confined || one.confined === true);
}
