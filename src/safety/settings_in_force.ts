/** The settings in force in a folder: this run's, the user's, and a project's, which only restrict. @module */

import type { PermissionChoice } from "./choice.ts";
import type { PathTable } from "./path_table.ts";
import { tighten } from "./policy.ts";
import { READER, WRITER } from "./path_verdict.ts";
import { isFor, type KeptRule, matchesPath, parseKept } from "./rules.ts";
import { levelOf, type PermissionsFile } from "./settings_file.ts";
import type { Settings } from "./settings.ts";
import type { FolderLooks } from "./folder_looks.ts";
import { makeView } from "./make_view.ts";
import { listedPlace, realPathOf } from "./places.ts";
import type { View } from "./view.ts";
import { isWithin } from "../text/paths.ts";
import { dirname, join, relative } from "../text/std_path.ts";
import { findProgram, listedFolders, programFolders } from "../find_program.ts";
import type { PermissionNotice } from "./permission_report.ts";
import { readJsonFile } from "../user_files.ts";

export interface SettingsInForce extends Settings {
  network: boolean;
  paths: PathTable;
  programs: readonly string[];
  commandPrograms: readonly string[];
  sandboxRead: readonly string[];
  sandboxWrite: readonly string[];
  /** The folders that commands may have written, in other modes and sessions, too. */
  written: readonly string[];
  lacksSandbox: boolean;
  /** Looks into folders for `view`; undefined without a sandbox. */
  looks?: FolderLooks;
  notices: PermissionNotice[];
}

/** The copy `at` of a folder, which has its settings. Commands in it also have the access of `reads`. */
export type FolderCopy = { at: string; of: string; reads: View["places"] };

interface SettingsSources {
  choice: PermissionChoice;
  file: PermissionsFile;
  added: readonly KeptRule[];
  path: string | undefined;
  looks: FolderLooks;
  hasSandbox(): Promise<boolean>;
}

const PROJECT_FILE = ".copilot/permissions.json";

type ProjectSettings = { at: string; settings: Record<string, unknown> };

/** Returns the settings in `folder` and all above, the outermost first: a command can make a repository of any folder. */
export function projectSettings(folder: string): ProjectSettings[] {
  const above = dirname(folder);
  const settings = readJsonFile(join(folder, PROJECT_FILE));
  return [
    ...above === folder ? [] : projectSettings(above),
    ...settings === undefined ? [] : [{ at: folder, settings }],
  ];
}

/** Settings that a project may make stricter. */
const PROJECT_KEYS = ["approve", "sandbox", "deny", "ask", "allow"];

export async function settingsInForce(
  folder: string,
  { choice, file, added, path, looks, hasSandbox }: SettingsSources,
  copy?: FolderCopy,
): Promise<SettingsInForce> {
  const [general, here] = [file.general(), file.forFolder(folder)];
  const flags = levelOf(choice.level ?? {}, { file: "the flags", toolNames: file.toolNames });
  const configured = choice.approve ?? here.approve ?? general.approve;
  const sandbox = choice.sandbox ?? here.sandbox ?? general.sandbox;
  const isWanted = sandbox !== "off" &&
    (sandbox ?? configured ?? choice.yes ?? choice.prefersAuto) !== undefined;
  // The sandbox hides the home folder, so it cannot run in a folder that contains it.
  const holdsHome = looks.paths.homes.some((home) => isWithin(folder, home));
  const canConfine = isWanted && !holdsHome && await hasSandbox();
  const confinedIn = configured === undefined && choice.prefersAuto || "workspace-write";
  const approve = configured ?? (canConfine && choice.prefersAuto ? "auto" : "ask");
  const ofSession = [...flags.rules, ...added.map((kept) => parseKept(kept))]
    .map((rule) => ({ ...rule, origin: "this session" }));
  let usual = {
    approve: general.approve ?? approve,
    sandbox: general.sandbox ?? (canConfine ? confinedIn : "off"),
    rules: [...general.rules, ...here.rules, ...ofSession],
  };
  let network = general.network ?? false;
  // The user's settings for parent folders only make this one stricter.
  for (const above of file.aboveFolder(folder)) {
    usual = tighten(usual, above).settings;
    network &&= above.network !== false;
  }
  let hasBash: boolean | undefined;
  const written = [general, here, flags].flatMap(({ sandboxWrite }) => sandboxWrite);
  for (const at of [...written, ...file.sandboxWrite]) listedFolders.add(at);
  let inForce: SettingsInForce = {
    ...usual,
    approve: choice.approve ?? here.approve ?? usual.approve,
    sandbox: choice.sandbox ?? here.sandbox ?? usual.sandbox,
    network: choice.network ?? here.network ?? network,
    sandboxRead: [...general.sandboxRead, ...here.sandboxRead],
    sandboxWrite: written,
    written: [folder, ...written, ...file.sandboxWrite].flatMap((at) => realPathOf(at) ?? []),
    paths: looks.paths,
    hasBash: () =>
      hasBash ??= Deno.build.os !== "windows" &&
        findProgram("bash", programFolders(folder, path), folder) !== undefined,
    programs: programFolders(folder, path),
    commandPrograms: programFolders(undefined, path),
    lacksSandbox: isWanted && !canConfine,
    notices: [],
  };
  for (const project of projectSettings(folder)) {
    inForce = tightenedBy(project, inForce, folder, file.toolNames);
  }
  if (inForce.sandbox === "off") return inForce;
  inForce.notices.push(...missingPaths(inForce, flags.sandboxWrite));
  if (inForce.approve === "plan") inForce = { ...withoutWrites(inForce), sandbox: "read-only" };
  if (copy) inForce = withoutWrites(inForce);
  if (holdsHome || !await hasSandbox()) return inForce;
  return { ...inForce, view: viewsOf(folder, inForce, path, looks, copy), looks };
}

function missingPaths(
  { paths: table, sandboxRead, sandboxWrite, written }: SettingsInForce,
  added: readonly string[],
): PermissionNotice[] {
  return Object.entries({ sandboxRead, sandboxWrite }).flatMap(([setting, paths]) =>
    paths.flatMap((path): PermissionNotice[] => {
      const { isMade } = listedPlace(path, written, (at) => table.isWorkplace(at));
      if (!isMade && realPathOf(path, path) !== undefined) return [];
      const by = added.includes(path) ? "--add-dir" : `"${setting}" in permissions.json`;
      return [{ code: "path_missing", by, path, ...isMade && { isMade } }];
    })
  );
}

/** Returns settings under which commands only read the further folders. */
const withoutWrites = (
  { sandboxRead, sandboxWrite, ...inForce }: SettingsInForce,
): SettingsInForce => ({
  ...inForce,
  sandboxRead: [...sandboxRead, ...sandboxWrite],
  sandboxWrite: [],
});

/** Returns what makes the view of a folder under these settings, in which commands may also write one more folder. */
function viewsOf(
  of: string,
  { paths, sandbox, sandboxRead: read, sandboxWrite, written, network, rules }: SettingsInForce,
  path: string | undefined,
  looks: FolderLooks,
  { at: folder, reads: lent }: FolderCopy = { at: of, of, reads: new Map() },
): (more?: string) => View {
  const about = rules.filter((rule) => rule.effect !== "allow" && rule.path !== undefined);
  const isRuled = (at: string, tool: typeof READER | typeof WRITER) =>
    about.some((rule) => isFor(rule, tool) && matchesPath(rule, folder, at));
  return (more) =>
    makeView({
      folder,
      isWritable: sandbox === "workspace-write",
      network,
      paths,
      read,
      lent,
      looks,
      write: more === undefined ? sandboxWrite : [...sandboxWrite, more],
      written,
      opened: more === undefined ? [] : [more],
      programs: programFolders(folder, path),
      allPrograms: programFolders(undefined, path),
      ...about.length > 0 && {
        ruled: (at) => isRuled(at, READER) ? "hidden" : isRuled(at, WRITER) ? "read" : undefined,
        ruledPlaces: about.flatMap(({ start }) => start ?? []),
      },
    });
}

function tightenedBy(
  { at, settings: project }: ProjectSettings,
  inForce: SettingsInForce,
  folder: string,
  toolNames: readonly string[],
): SettingsInForce {
  const path = join(at, PROJECT_FILE);
  const above = at === folder ? undefined : at;
  const allowed = Object.entries(project).filter(([key]) => PROJECT_KEYS.includes(key));
  const level = levelOf(Object.fromEntries(allowed), { file: path, toolNames, above });
  const origin = relative(folder, path);
  const named = level.rules.map((rule) => ({ ...rule, origin }));
  const { settings, ignored } = tighten(inForce, { ...level, rules: named });
  const others = Object.keys(project).filter((key) => !PROJECT_KEYS.includes(key));
  const rules = settings.rules.length - inForce.rules.length;
  const modes = {
    ...settings.approve !== inForce.approve && { approve: settings.approve },
    ...settings.sandbox !== inForce.sandbox && { sandbox: settings.sandbox },
  };
  const ignoredNames = [...ignored, ...others];
  const notices = [...inForce.notices];
  // The file needs no trust, because it can only reduce permissions.
  if (rules > 0 || Object.keys(modes).length > 0) {
    notices.push({ code: "project_stricter", file: origin, modes, rules });
  }
  if (ignoredNames.length > 0) {
    notices.push({ code: "project_ignored", file: origin, settings: ignoredNames });
  }
  return { ...settings, notices };
}
