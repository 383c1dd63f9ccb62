/**
 * What a run may do: flags, the person's own file, and what the folder adds to make it stricter.
 *
 * @module
 */

import { API_KEY_ENVS } from "../config.ts";
import type { Rule } from "../permissions/rules.ts";
import { count } from "../text/count.ts";
import type { Settings } from "../permissions/settings.ts";
import { isObject } from "../text/json.ts";
import { isWithin } from "../text/paths.ts";
import { join, relative } from "../text/std_path.ts";
import { atProgramEnd } from "../tools/shell/program_end.ts";
import type { Policy } from "../types/policy.ts";
import type { Confine } from "../types/tool.ts";
import { type Args } from "../cli/args.ts";
import { UsageError } from "../errors.ts";
import { RefusedError } from "../tools/call_errors.ts";
import type { Frontend } from "./frontend.ts";
import { oneLine } from "../text/one_line.ts";
import { keepForFolder, levelOf } from "../permissions/settings_file.ts";
import { foldersDownTo } from "./repository.ts";
import { readJson, stateFolder, unheeded, userFile, userFolder } from "../user_files.ts";

/** What a run may do. */
export interface Permissions {
  /**
   * Decides calls; where `frontend` cannot be asked, what would be asked about is refused, and
   * `onRefused` is told.
   */
  policy(frontend?: Pick<Frontend, "approve" | "onEvent">, onRefused?: () => void): Policy;
  /** Confines commands, where that is wanted. */
  confine(workingDir: () => string): Confine;
  /** Variables that commands get though they look like credentials. */
  env: readonly string[];
  /**
   * Reads what the folder adds, and tries the sandbox where one is wanted; lines to show.
   *
   * @param mayRun whether commands run, asked about or not
   */
  prepare(workingDir: string, mayRun: boolean): Promise<string[]>;
  /** Allows a call in this folder for the rest of the session. */
  allow(rule: string, workingDir: string): Promise<void>;
  /** Allows a call in this folder for good; where that is kept. */
  save(rule: string, workingDir: string): Promise<string>;
  /** Whether the person lets a folder instruct the model; undefined when they never said. */
  trusts(folder: string): boolean | undefined;
  /** Keeps whether they do. */
  trust(folder: string, isTrusted: boolean): Promise<void>;
  /** What confines commands, or why nothing can; looked for also where it is not wanted. */
  confinement(workingDir: string): Promise<Confinement>;
  /** What is in force, in lines. */
  describe(workingDir: string): Promise<string[]>;
}

/** What goes for a folder. */
interface InForce extends Settings {
  network: boolean;
  /** What the folder itself changes, in lines to show. */
  notices: string[];
}

/** See {@linkcode Permissions.confinement}. */
export interface Confinement {
  mode: Settings["sandbox"];
  network: boolean;
  /** What would do it, such as `bubblewrap`; undefined where nothing works here. */
  by?: string;
  /** Why nothing works. */
  why?: string;
}

const PROJECT_FILE = ".copilot/permissions.json";
/** What a folder may say: the rest would loosen something, or means nothing. */
const PROJECT_KEYS = ["approve", "sandbox", "deny", "ask", "allow"];

type Core = [
  typeof import("../permissions/policy.ts"),
  typeof import("../permissions/rules.ts"),
  typeof import("../permissions/containment.ts"),
  typeof import("../tools/shell/find_program.ts"),
  typeof import("./call_policy.ts"),
];
let loaded: Promise<Core> | undefined;
/** Loaded on first use, so that a run without tools does not pay for it. */
const core = (): Promise<Core> =>
  loaded ??= Promise.all([
    import("../permissions/policy.ts"),
    import("../permissions/rules.ts"),
    import("../permissions/containment.ts"),
    import("../tools/shell/find_program.ts"),
    import("./call_policy.ts"),
  ]);

/**
 * Reads the person's file, and the flags.
 *
 * @throws {UsageError} when one of them makes no sense.
 */
export async function openPermissions(
  args: Args,
  env: (name: string) => string | undefined = (name) => Deno.env.get(name),
): Promise<Permissions> {
  const path = userFile("permissions.json", env);
  let file = path === undefined ? undefined : readJson(path);
  const ofFolder = (folder: string): unknown =>
    isObject(file?.folders) ? file.folders[folder] ?? {} : {};
  const flags = await levelOf({
    ...(args.approve !== undefined && { approve: args.approve }),
    ...(args.sandbox !== undefined && { sandbox: args.sandbox }),
    ...(args.network && { network: true }),
  }, "--");
  const own = await levelOf(file ?? {}, path ?? "");
  const named = envNames(args.env);
  const session: { folder: string; rule: Rule }[] = [];
  const known = new Map<string, Promise<InForce>>();

  async function settle(folder: string): Promise<InForce> {
    const [{ tighten }, { realFolder }, containment, programs] = await core();
    const here = await levelOf(ofFolder(folder), path ?? "");
    // What the person said of folders above makes this one stricter, never less strict.
    let usual: Pick<Settings, "approve" | "sandbox" | "rules"> = {
      approve: own.approve ?? "ask",
      sandbox: own.sandbox ?? "off",
      rules: [
        ...own.rules,
        ...here.rules,
        ...session.filter((one) => one.folder === folder).map(({ rule }) => rule),
      ],
    };
    let network = own.network ?? false;
    const folders = isObject(file?.folders) ? file.folders : {};
    for (const [named, value] of Object.entries(folders)) {
      // `folder` has no links in its path; what the person calls it may.
      const above = realFolder(named);
      if (named === folder || !isWithin(above, folder)) continue;
      const level = await levelOf(value, path ?? "", above === folder ? undefined : above);
      usual = tighten(usual, level).settings;
      network &&= level.network !== false;
    }
    const settings: Settings = {
      ...usual,
      approve: flags.approve ?? here.approve ?? usual.approve,
      sandbox: flags.sandbox ?? here.sandbox ?? usual.sandbox,
      isTrusted: here.trust === true,
      ...programsOf(programs, folder, env("PATH")),
      mayHoldSecrets: containment.mayHoldSecrets,
      matchesOf: containment.matchesOf,
    };
    let inForce: InForce = {
      ...settings,
      network: flags.network ?? here.network ?? network,
      notices: [],
    };
    for (const [at, project] of projectsOf(folder)) {
      inForce = await tightened(inForce, project, at, folder);
    }
    return inForce;
  }
  function settingsFor(folder: string): Promise<InForce> {
    let settings = known.get(folder);
    if (settings === undefined) {
      settings = settle(folder);
      known.set(folder, settings);
      // What cannot be read may be mended, and is read again.
      settings.catch(() => known.delete(folder));
    }
    return settings;
  }

  let tmp: string | undefined;
  let found: Promise<import("../permissions/sandbox/probe.ts").Sandbox | string> | undefined;
  const sandbox = () =>
    found ??= import("../permissions/sandbox/probe.ts").then(({ findSandbox }) => findSandbox());

  async function allow(rule: string, folder: string): Promise<void> {
    const [, { parseRule }] = await core();
    // The same words are about other files in another folder.
    session.push({ folder, rule: parseRule("allow", rule) });
    known.clear();
  }

  async function save(rule: string, workingDir: string): Promise<string> {
    await allow(rule, workingDir);
    if (path === undefined) throw new Error("there is no home folder to keep it in");
    await keepForFolder(path, workingDir, (here) => {
      const rules = Array.isArray(here.allow) ? here.allow : [];
      return { allow: [...rules.filter((one) => one !== rule), rule] };
    });
    return path;
  }

  return {
    allow,
    env: named,
    async prepare(folder, mayRun) {
      const wanted = flags.sandbox ?? own.sandbox;
      const lines = [
        ...unheeded(folder),
        ...named.filter((name) => API_KEY_ENVS.includes(name))
          .map((name) => `· ${name} is the model's key: commands never get it`),
      ];
      const isPlain = (wanted ?? "off") === "off" && file?.folders === undefined &&
        projectsOf(folder).length === 0;
      const { sandbox: mode, notices } = isPlain
        ? { sandbox: "off", notices: [] }
        : await settingsFor(folder);
      lines.push(...notices);
      const by = mode === "off" ? undefined : await sandbox();
      if (typeof by === "string") {
        lines.push(`· commands cannot be confined, and are refused: ${by} (--sandbox off)`);
      }
      if (mode === "off" && wanted === undefined && mayRun) {
        lines.push("· commands are not confined (--sandbox workspace-write does that)");
      }
      return lines;
    },
    save,
    policy: (frontend, onRefused = () => {}) => ({
      async decide(tool, callArgs, context) {
        const settings = await settingsFor(context.workingDir);
        const [, , , , { decideCall }] = await core();
        return await decideCall({ tool, args: callArgs, context }, settings, {
          yes: args.yes === true,
          approver: isAsker(frontend) ? { frontend, allow, save } : undefined,
          onRefused,
          confined: async () =>
            settings.sandbox !== "off" && typeof await sandbox() === "object"
              ? `confined: ${limitsOf(settings)}`
              : undefined,
        });
      },
    }),
    confine(workingDir) {
      return async (program, programArgs) => {
        const folder = workingDir();
        const { sandbox: mode, network } = await settingsFor(folder);
        if (mode === "off") return { program, args: [...programArgs] };
        const by = await sandbox();
        if (typeof by === "string") {
          throw new RefusedError(
            `Refused: commands are to be confined, and cannot be: ${by}. The user can allow them without with --sandbox off`,
          );
        }
        tmp ??= privateFolder();
        const [confined, all] = by.wrap(program, programArgs, {
          ...{ mode, folder, tmp, network },
          hidden: [userFolder(env), stateFolder(env)].filter((one) => one !== undefined),
        });
        const limits = limitsOf({ sandbox: mode, network });
        return { program: confined, args: all, limits: `confined by ${by.by}: ${limits}` };
      };
    },
    trusts(folder) {
      const here = ofFolder(folder);
      if (!isObject(here)) return undefined;
      const { trust, instructions = trust } = here;
      return typeof instructions === "boolean" ? instructions : undefined;
    },
    async trust(folder, isTrusted) {
      if (path === undefined) throw new Error("there is no home folder to keep it in");
      file = await keepForFolder(path, folder, () => ({ instructions: isTrusted }));
      known.clear();
    },
    async confinement(workingDir) {
      const { sandbox: mode, network } = await settingsFor(workingDir);
      const found = await sandbox();
      return { mode, network, ...typeof found === "string" ? { why: found } : { by: found.by } };
    },
    async describe(workingDir) {
      const { approve, sandbox: mode, network, rules } = await settingsFor(workingDir);
      const by = mode === "off" ? undefined : await sandbox();
      const enforced = by === undefined
        ? "off: a command can do what you can"
        : typeof by === "string"
        ? `${mode}, but ${by}: commands are refused`
        : `${mode}, by ${by.by}, ${network ? "with" : "without"} network`;
      return [
        `approve  ${args.yes ? "--yes: nothing is asked" : approve}`,
        `sandbox  ${enforced}`,
        ...(named.length > 0 ? [`env      ${named.join(", ")}`] : []),
        ...rules.map(({ effect, text }) => `${effect.padEnd(8)} ${oneLine(text)}`),
        ...(path === undefined ? [] : [`yours in ${oneLine(path)}`]),
      ];
    },
  };
}

function isAsker(
  frontend: Pick<Frontend, "approve" | "onEvent"> | undefined,
): frontend is Required<Pick<Frontend, "approve" | "onEvent">> {
  return frontend?.approve !== undefined;
}

/** What `folder` says of itself, and what the folders of its repository above it say: those first. */
function projectsOf(folder: string): [at: string, project: Record<string, unknown>][] {
  return foldersDownTo(folder).flatMap((at) => {
    const project = readJson(join(at, PROJECT_FILE), false);
    return project === undefined ? [] : [[at, project]];
  });
}

/** What is in force, with what the folder `at`, that is worked in or above, adds to it. */
async function tightened(
  inForce: InForce,
  project: Record<string, unknown>,
  at: string,
  folder: string,
): Promise<InForce> {
  const [{ tighten }] = await core();
  const stated = Object.entries(project).filter(([key]) => PROJECT_KEYS.includes(key));
  const above = at === folder ? undefined : at;
  const theirs = await levelOf(Object.fromEntries(stated), join(at, PROJECT_FILE), above);
  const { settings, ignored } = tighten(inForce, theirs);
  const others = Object.keys(project).filter((key) => !PROJECT_KEYS.includes(key));
  const rules = settings.rules.length - inForce.rules.length;
  const stricter = [
    ...(settings.approve === inForce.approve ? [] : [`approve: ${settings.approve}`]),
    ...(settings.sandbox === inForce.sandbox ? [] : [`sandbox: ${settings.sandbox}`]),
    ...(rules === 0 ? [] : [count(rules, "rule")]),
  ];
  const name = relative(folder, join(at, PROJECT_FILE));
  // Nobody is asked whether to trust it: whatever it holds, less is allowed than without it.
  const notices = [
    [`· ${name} makes things stricter: `, stricter],
    [`· ${name} can only make things stricter; ignored: `, [...ignored, ...others]],
  ].filter(([, what]) => what!.length > 0).map(([text, what]) =>
    oneLine(text + (what as string[]).join(", "))
  );
  return { ...settings, notices: [...inForce.notices, ...notices] };
}

/** The names that `--env` lists. */
function envNames(text = ""): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const wrong = names.find((name) => !/^[a-z_]\w*\*?$/i.test(name));
  if (wrong === undefined) return names;
  throw new UsageError(
    `Cannot use --env ${
      JSON.stringify(wrong.slice(0, 60))
    } as it must be the name of a variable, or its beginning and *`,
  );
}

/** What the commands of a run see as /tmp: one leaves there what the next one reads. */
function privateFolder(): string {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "copilot-" }));
  atProgramEnd(() => {
    try {
      Deno.removeSync(folder, { recursive: true });
    } catch {
      // What a command made unremovable stays, in the system's own folder for such things.
    }
  });
  return folder;
}

/** What confined commands can do. */
function limitsOf({ sandbox, network }: Pick<InForce, "sandbox" | "network">): string {
  const where = sandbox === "read-only" ? "a private /tmp" : "this folder and a private /tmp";
  return `only ${where} can be written${network ? "" : ", and there is no network"}`;
}

/** What the policy has to know of the programs that PATH finds. */
function programsOf(
  { findProgram, programFolders }: Core[3],
  folder: string,
  path: string | undefined,
): Pick<Settings, "hasBash" | "isBrought" | "isSystem"> {
  if (Deno.build.os === "windows") return { hasBash: false };
  const folders = programFolders(folder, path);
  const all = programFolders(undefined, path);
  return {
    hasBash: findProgram("bash", folders) !== undefined,
    isBrought: (name) => findProgram(name, all) !== findProgram(name, folders),
    isSystem: (name) => /^(\/usr(\/local)?)?\/bin\//.test(findProgram(name, folders) ?? ""),
  };
}
