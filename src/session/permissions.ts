/** The permissions of a run: decides calls, confines commands, knows which folders are trusted. @module */

import { attempt } from "../attempt.ts";
import { API_KEY_ENVS } from "../config.ts";
import { makeTempFolder } from "../temp_folder.ts";
import type { PermissionChoice } from "../permissions/choice.ts";
import type { FolderLooks } from "../permissions/folder_looks.ts";
import type { PathTable } from "../permissions/path_table.ts";
import type { KeptCaches } from "../permissions/sandbox/kept_caches.ts";
import type { Sandbox } from "../permissions/sandbox/probe.ts";
import {
  PermissionsFile,
  type ToolNames,
  type TrustedInstructions,
} from "../permissions/settings_file.ts";
import type { KeptRule } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";
import { isObject } from "../text/json.ts";
import type { View } from "../permissions/view.ts";
import { RefusedError } from "../tools/call_errors.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import type { Policy } from "../types/policy.ts";
import type { Confine } from "../types/tool.ts";
import {
  stateFolder,
  unheededSettings,
  userFile,
  userFolder,
  type VariableReader,
} from "../user_files.ts";
import type { Frontend } from "./frontend.ts";
import type { Notice, PermissionReport, SandboxStatus } from "./report.ts";
import { projectSettings, repositoryOf } from "./repository.ts";
import type { SettingsInForce } from "./settings_in_force.ts";

/**
 * Reads the person's settings file. `env` has the home folder, the folders of settings and PATH; rules may
 * be about the tools of `toolNames`. @throws {UsageError} when the file makes no sense.
 */
export async function openPermissions(
  choice: PermissionChoice = {},
  env: VariableReader = (name) => Deno.env.get(name),
  toolNames: ToolNames = builtinToolNames,
): Promise<Permissions> {
  const file = new PermissionsFile(userFile("permissions.json", env), toolNames);
  const { sandbox } = await file.general();
  return new Permissions(choice, file, choice.sandbox ?? sandbox, env, toolNames);
}

async function builtinToolNames(): Promise<string[]> {
  const { builtinTools, withJobs } = await import("../tools/mod.ts");
  return withJobs(builtinTools).map(({ name }) => name);
}

/** A look at the folder counts for a verdict and for the mounts that follow it at once, in milliseconds. */
const FRESH_MS = 100;
const HOLDS_HOME =
  "the working directory holds the home folder. The user can change to the folder of a project with /cd";

export class Permissions {
  /** Variables that commands get beside the usual ones. */
  readonly env: readonly string[];
  /** Rules that were added in this session, by folder: in another one they are about other files. */
  readonly #added = new Map<string, KeptRule[]>();
  readonly #settings = new Map<string, Promise<SettingsInForce>>();
  /** What views of a folder have found so far, whatever the settings. */
  readonly #known = new Map<string, Map<string, "none" | "read">>();
  #looks: FolderLooks | undefined;
  /** The last view that a verdict was made from, with its time; taken by the command that it is about. */
  #viewed: { settings: SettingsInForce; view: View; at: number } | undefined;
  /** The mode that was chosen in the session, and the one before plan mode. */
  #approve: ApproveMode | undefined;
  #beforePlan: ApproveMode | undefined;
  #paths: Promise<PathTable> | undefined;
  #sandbox: Promise<Sandbox | string> | undefined;
  /** The texts of the grants by which a person let commands use the network. */
  readonly #networked = new Set<string>();
  /** The folder of what confined commands see as `/tmp` and the like. */
  #own: string | undefined;
  #kept: Promise<KeptCaches | undefined> | undefined;

  /** @param wantedSandbox the mode of the sandbox that the person named, for all folders */
  constructor(
    private readonly choice: PermissionChoice,
    private readonly file: PermissionsFile,
    private readonly wantedSandbox: SandboxMode | undefined,
    readonly variables: VariableReader,
    private readonly toolNames: ToolNames,
  ) {
    this.env = choice.env ?? [];
  }

  /** The secrets and protected files of the person; loaded with the first call that needs them. */
  paths(): Promise<PathTable> {
    return this.#paths ??= import("../permissions/path_table.ts").then(({ PathTable }) =>
      new PathTable({
        home: this.variables("HOME") ?? this.variables("USERPROFILE"),
        own: [userFolder(this.variables), stateFolder(this.variables)],
      })
    );
  }

  /** Decides calls; where `frontend` cannot be asked, what would be asked about is refused. */
  policy(frontend?: Pick<Frontend, "approve" | "onEvent">, onRefused = () => {}): Policy {
    return {
      decide: async (tool, args, context) => {
        const loading = import("./call_policy.ts");
        this.#viewed = undefined;
        const settings = await this.#settingsFor(context.workingDir);
        const { CallPolicy } = await loading;
        // The verdict, the question and the rule that it offers are all made from one look at the folder.
        const { view: look } = settings;
        let view: View | undefined;
        return await new CallPolicy(tool, context, {
          settings: {
            ...settings,
            // Of a command alone: what another call changes is seen by the next look.
            ...look && {
              view: () =>
                view ??= tool.access === "execute" ? this.#viewFor(settings, look) : look(),
            },
          },
          yes: this.choice.yes === true,
          approve: frontend?.approve?.bind(frontend),
          onEvent: (event) => frontend?.onEvent(event),
          onRefused,
          confined: () => this.#confinedTo(settings),
          network: (grants) => {
            for (const { text } of grants) this.#networked.add(text);
            this.#settings.clear();
          },
          allow: (rule, folder) => this.allow(rule, folder),
          save: (rule, folder) => this.save(rule, folder),
        }).decide(args);
      },
    };
  }

  #caches(own: string): Promise<KeptCaches | undefined> {
    return this.#kept ??= Promise.all([
      import("../permissions/sandbox/kept_caches.ts"),
      this.paths(),
    ]).then(async ([{ KeptCaches }, { home }]) => {
      const { stateFolder: state } = this;
      if (!state || !home) return undefined;
      const kept = await KeptCaches.open(`${state}/caches`, own, home);
      if (kept) atProgramEnd(() => kept.removeEmpty());
      return kept;
    });
  }

  #viewFor(settings: SettingsInForce, look: () => View): View {
    const view = look();
    this.#viewed = { settings, view, at: performance.now() };
    return view;
  }

  /** The view that the verdict on this command was made from; undefined where it is not from just now. */
  #viewOfVerdict(settings: SettingsInForce): View | undefined {
    const viewed = this.#viewed;
    this.#viewed = undefined;
    const isFresh = viewed?.settings === settings && performance.now() - viewed.at < FRESH_MS;
    return isFresh ? viewed.view : undefined;
  }

  /** Confines commands, where that is wanted. */
  confine(workingDir: () => string): Confine {
    return async (program, args, leave) => {
      const folder = workingDir();
      const settings = await this.#settingsFor(folder);
      if (settings.sandbox === "off" || leave === "sandbox") return { program, args: [...args] };
      const sandbox = await this.#findSandbox();
      if (typeof sandbox === "string" || settings.view === undefined) {
        throw new RefusedError(
          `Refused: commands are to be confined, and cannot be: ${
            typeof sandbox === "string"
              ? `${sandbox}. The user can have them run unconfined with --sandbox off`
              : HOLDS_HOME
          }`,
        );
      }
      const own = this.#own ??= privateFolder();
      const view = this.#viewOfVerdict(settings) ?? settings.view();
      await (await this.#caches(own))?.useFor(view);
      const network = view.network || leave === "network";
      const [confined, ...before] = sandbox.command({ ...view, network }, own);
      const limits = `confined by ${sandbox.by}: ${limitsOf({ ...settings, network })}`;
      return {
        program: confined!,
        args: [...before, program, ...args],
        limits,
        ...sandbox.holder !== undefined && { holder: sandbox.holder },
      };
    };
  }

  /**
   * Confines MCP servers: as commands are, and where nobody said what confines those, in the sandbox if
   * one works here. Each call of a server is asked about, but what it does then nobody sees. `isStrict`: what
   * cannot be confined does not run.
   */
  confineServers(workingDir: () => string, isStrict = false): Confine {
    const { choice, file, variables, toolNames } = this;
    const wanted = { ...choice, sandbox: choice.sandbox ?? "workspace-write" } as const;
    const own = new Permissions(wanted, file, wanted.sandbox, variables, toolNames);
    const confine = own.confine(workingDir);
    return async (program, args, leave) => {
      const [general, here] = await Promise.all([file.general(), file.forFolder(workingDir())]);
      const stated = choice.sandbox ?? here.sandbox ?? general.sandbox;
      if (stated !== undefined) return await this.confine(workingDir)(program, args, leave);
      own.setApprove(this.#approve);
      try {
        return await confine(program, args, leave);
      } catch (error) {
        if (isStrict || !(error instanceof RefusedError)) throw error;
        return { program, args: [...args] };
      }
    };
  }

  /**
   * Reads the settings that a folder brings, and tries the sandbox where one is wanted. `mayRun`: commands
   * run, asked about or not. @throws {UsageError} when a settings file makes no sense.
   */
  async prepare(folder: string, mayRun: boolean): Promise<Notice[]> {
    const notices: Notice[] = [];
    const names = unheededSettings(folder);
    if (names.length > 0) notices.push({ code: "settings_unheeded", names });
    for (const variable of this.env.filter((name) => API_KEY_ENVS.includes(name))) {
      notices.push({ code: "key_withheld", variable });
    }
    const wanted = this.wantedSandbox;
    // Most folders bring no settings: the rules are loaded with the first call.
    const isPlain = (wanted ?? "off") === "off" && !this.choice.prefersAuto &&
      !this.file.hasFolders && projectSettings(folder).length === 0;
    const inForce = isPlain ? undefined : await this.#settingsFor(folder);
    notices.push(...inForce?.notices ?? []);
    if (inForce?.view !== undefined) return notices;
    if (inForce !== undefined && inForce.sandbox !== "off") {
      notices.push({ code: "sandbox_missing", why: await this.#fault() });
    } else if (inForce?.lacksSandbox) {
      const isAsked = !this.choice.yes;
      notices.push({ code: "sandbox_off", why: await this.#fault(), isAsked });
    } else if (wanted === undefined && mayRun) {
      notices.push({ code: "sandbox_off" });
    }
    return notices;
  }

  async #fault(): Promise<string> {
    const sandbox = await this.#findSandbox();
    return typeof sandbox === "string" ? sandbox : HOLDS_HOME;
  }

  /** Changes the mode of asking for the rest of the session. */
  setApprove(approve: ApproveMode | undefined): void {
    if (this.#approve !== "plan") this.#beforePlan = this.#approve;
    this.#approve = approve;
    this.#settings.clear();
  }

  /** Ends plan mode: the mode before it is back, or the usual one. */
  async endPlan(folder: string): Promise<void> {
    const { isConfined } = await this.mode(folder);
    this.setApprove(this.#approve === "plan" ? this.#beforePlan : undefined);
    if ((await this.mode(folder)).approve !== "plan") return;
    this.setApprove(isConfined && this.choice.prefersAuto ? "auto" : "ask");
  }

  /** True where plan mode was asked for as the session began. */
  get startsInPlan(): boolean {
    return this.choice.approve === "plan";
  }

  /** The mode of asking that was chosen in the session, or plan mode as it began; undefined for the usual one. */
  get chosenMode(): ApproveMode | undefined {
    return this.#approve ?? (this.startsInPlan ? "plan" : undefined);
  }

  /** The mode of asking in force for a folder, and whether its commands are confined. */
  async mode(folder: string): Promise<{ approve: ApproveMode; isConfined: boolean }> {
    const { approve, view } = await this.#settingsFor(folder);
    return { approve, isConfined: view !== undefined };
  }

  /** Allows a call in a folder for the rest of the session. */
  async allow(rule: KeptRule, folder: string): Promise<void> {
    const { parseKept } = await import("../permissions/rules.ts");
    parseKept(rule);
    const others = (this.#added.get(folder) ?? []).filter((one) => !supersedes(rule, one));
    this.#added.set(folder, [...others, rule]);
    this.#settings.clear();
  }

  /** Allows a call in a folder, for the session and for good, where it does not throw; the file's path. */
  async save(rule: KeptRule, folder: string): Promise<string> {
    await this.allow(rule, folder);
    const path = await this.file.save(folder, (here) => {
      const rules = Array.isArray(here.allow) ? here.allow : [];
      return { allow: [...rules.filter((one) => !supersedes(rule, one)), rule] };
    });
    this.#settings.clear();
    return path;
  }

  /** The instructions of a folder that the person trusted; false where they are not to be heeded. */
  trusted(folder: string): TrustedInstructions | false | undefined {
    return this.file.instructions(folder);
  }

  /** Saves which instructions of a folder are trusted, or that none is. @throws {Error} when that fails. */
  async trust(folder: string, trusted: TrustedInstructions | false): Promise<void> {
    await this.file.save(folder, () => ({ instructions: trusted }));
    this.#settings.clear();
  }

  /** The folder of what the program keeps for the person; undefined where there is no home folder. */
  get stateFolder(): string | undefined {
    return stateFolder(this.variables);
  }

  /** The sandbox that commands have in a folder, or could have. */
  async sandboxStatus(folder: string): Promise<SandboxStatus> {
    const { sandbox: mode, network } = await this.#settingsFor(folder);
    const sandbox = await this.#findSandbox();
    if (typeof sandbox !== "string") return { mode, network, by: sandbox.by };
    const advice = (await import("../permissions/sandbox/probe.ts")).namespacesAdvice();
    return { mode, network, why: sandbox, ...advice !== undefined && { advice } };
  }

  async describe(folder: string): Promise<PermissionReport> {
    const { approve, sandbox: mode, network, rules } = await this.#settingsFor(folder);
    const trusted = this.trusted(repositoryOf(folder));
    return {
      approve,
      yes: this.choice.yes === true,
      ...mode === "off" ? { mode, network } : await this.sandboxStatus(folder),
      env: this.env,
      networked: [...this.#networked],
      rules: rules.map(({ effect, text, isOfSession = false }) => ({ effect, text, isOfSession })),
      ...this.file.path !== undefined && { file: this.file.path },
      ...trusted !== undefined && { trust: trusted !== false },
    };
  }

  #settingsFor(folder: string): Promise<SettingsInForce> {
    const known = this.#settings.get(folder);
    if (known !== undefined) return known;
    const settings = this.#readSettings(folder);
    this.#settings.set(folder, settings);
    // A file that cannot be read may be mended, and is read again.
    settings.catch(() => this.#settings.delete(folder));
    return settings;
  }

  async #readSettings(folder: string): Promise<SettingsInForce> {
    const [{ settingsInForce }, { FolderLooks }] = await Promise.all([
      import("./settings_in_force.ts"),
      import("../permissions/folder_looks.ts"),
    ]);
    const known = this.#known.get(folder) ?? new Map();
    this.#known.set(folder, known);
    const settings = await settingsInForce(folder, {
      choice: { ...this.choice, ...this.#approve && { approve: this.#approve } },
      file: this.file,
      paths: await this.paths(),
      toolNames: this.toolNames,
      added: this.#added.get(folder) ?? [],
      path: this.variables("PATH"),
      known,
      looks: this.#looks ??= new FolderLooks(await this.paths()),
      hasSandbox: async () => typeof await this.#findSandbox() === "object",
    });
    return { ...settings, networked: [...this.#networked] };
  }

  async #confinedTo(settings: SettingsInForce): Promise<string | undefined> {
    if (settings.sandbox === "off") return undefined;
    const sandbox = await this.#findSandbox();
    return typeof sandbox === "string" ? undefined : `confined: ${limitsOf(settings)}`;
  }

  #findSandbox(): Promise<Sandbox | string> {
    return this.#sandbox ??= Promise.all([import("../permissions/sandbox/probe.ts"), this.paths()])
      .then(([{ findSandbox }, paths]) => {
        const folder = this.stateFolder;
        return findSandbox(paths, folder && `${folder}/sandbox`);
      });
  }
}

/** True where a rule takes the place of `one`: the same, or for the same files as they were. */
function supersedes(rule: KeptRule, one: unknown): boolean {
  const names = ({ files = {} }: Partial<KeptRule>) => Object.keys(files).join("\n");
  return isObject(one) && one.rule === rule.rule && names(one) === names(rule);
}

/** A folder of this run: what one command leaves in it is there for the next. */
function privateFolder(): string {
  const folder = makeTempFolder("copilot-");
  // Files that a command made unremovable stay, in the system's folder for temporary files.
  atProgramEnd(() => attempt(() => Deno.removeSync(folder, { recursive: true })));
  return folder;
}

function limitsOf({ sandbox, network }: Pick<SettingsInForce, "sandbox" | "network">): string {
  const where = sandbox === "read-only" ? "a private /tmp" : "this folder and a private /tmp";
  return `only ${where} can be written${network ? "" : ", and there is no network"}`;
}
