/**
 * What git runs beside itself: the hooks of a repository, and programs that its settings name. Whoever runs git
 * outside of the sandbox runs these there, and they may run files of the folder, such as its tests.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import { gitFoldersOf, isRepository, smallFile } from "./git_files.ts";

/** One setting: its section and name in lower case, as in `core.hookspath`, without a subsection. */
interface GitSetting {
  name: string;
  value: string;
}

/** Sections in which no setting of a repository names a program. */
const NAMELESS_SECTIONS = new Set(
  ("advice author branch checkout clone color column commit committer extensions fetch format i18n index init log " +
    "maintenance pack pull push rebase rerere status tag transfer user").split(" "),
);
/** Settings of other sections that name none. */
const NAMELESS = new Set(
  `core.abbrev core.autocrlf core.bare core.commitgraph core.compression core.eol core.excludesfile core.filemode
  core.fscache core.hookspath core.ignorecase core.logallrefupdates core.longpaths core.multipackindex core.precomposeunicode
  core.preloadindex core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion core.safecrlf
  core.sparsecheckout core.sparsecheckoutcone core.splitindex core.symlinks core.untrackedcache core.whitespace
  core.worktree credential.usehttppath credential.username diff.algorithm diff.colormoved diff.mnemonicprefix
  diff.noprefix diff.renames diff.submodule filter.required gc.auto gc.autodetach lfs.access
  lfs.repositoryformatversion lfs.url merge.conflictstyle merge.ff merge.renames merge.tool
  remote.fetch remote.gh-resolved remote.mirror remote.partialclonefilter remote.promisor remote.prune remote.push
  remote.pushurl remote.tagopt remote.url submodule.active submodule.branch submodule.ignore submodule.recurse
  submodule.url`.split(/\s+/),
);
/** Values with which a setting that may name a program names none. */
const HARMLESS_VALUE: Readonly<Record<string, RegExp>> = {
  "core.fsmonitor": /^(true|false|0|1|)$/i,
};
/** Settings of the person, for all repositories, with which git runs what may run files of the folder. */
const NAMING =
  /^(core\.fsmonitor|filter\.(clean|smudge|process)|merge\.driver|diff\.(command|external|textconv))$/;
/** Where the hooks are, which are looked at there. */
const HOOKS_PATH = "core.hookspath";
const LFS = /^git[- ]lfs\b/;
/** A file of settings that is not understood: it may name anything. */
const NOT_UNDERSTOOD: GitSetting = { name: "unknown", value: "" };

/** The hooks that commands run which run no others. */
const ALWAYS_RUN = new Set(["post-index-change", "reference-transaction"]);

/**
 * What git runs beside itself in a folder; undefined for nothing that may run files of the folder. Reads
 * git's files as they are now.
 *
 * @param runsHooks false for a command that runs only hooks about the index and about names
 * @param home the home folder, for the person's own settings
 * @param nested the folders of repositories in this one
 */
export function gitPrograms(
  folder: string,
  runsHooks: boolean,
  home: string | undefined,
  nested: readonly string[] = [],
): "hooks" | "settings" | undefined {
  const config = Deno.env.get("XDG_CONFIG_HOME");
  const personal = [
    "/etc/gitconfig",
    ...home === undefined ? [] : [join(home, ".gitconfig"), join(home, ".config/git/config")],
    ...config ? [join(config, "git/config")] : [],
  ].flatMap((file) => gitSettingsIn(file, { home }));
  if (runsHooks && personal.some(({ name }) => name.startsWith("hook."))) return "hooks";
  if (personal.some(({ name, value }) => NAMING.test(name) && !isHarmlessIn(name, value))) {
    return "settings";
  }
  const programsAt = (at: string, runsHooks: boolean) => {
    for (const { folders, isKnown } of repositoriesAt(at)) {
      const stated = folders.flatMap((one) =>
        ["config", "config.worktree"].flatMap((name) => gitSettingsIn(join(one, name)))
      );
      const elsewhere = [...personal, ...stated].filter(({ name }) => name === HOOKS_PATH)
        .map(({ value }) => resolve(at, value.replace(/^~(?=\/)/, home ?? "~")));
      const usual = folders.map((one) => join(one, "hooks"));
      if ([...usual, ...elsewhere].some((one) => hasHooks(one, runsHooks))) return "hooks";
      if (!isKnown || !stated.every(namesNothing)) return "settings";
    }
  };
  // In a submodule, or what was added as one, git looks for changes.
  for (const at of nested) {
    const found = programsAt(at, false);
    if (found) return found;
  }
  // git passes over a `.git` that is no repository, and goes on in the folder above.
  for (let at = folder;; at = dirname(at)) {
    const found = programsAt(at, runsHooks);
    if (found || dirname(at) === at) return found;
  }
}

/** The repositories that git may find in a folder: `isKnown` is false where a `.git` leads to one that is not tied to it. */
function repositoriesAt(folder: string): { folders: string[]; isKnown: boolean }[] {
  const dotGit = join(folder, ".git");
  const info = attempt(() => Deno.statSync(dotGit));
  const tied = info?.isFile ? gitFoldersOf(dotGit) : [];
  return [
    ...info?.isDirectory ? [{ folders: [dotGit], isKnown: true }] : [],
    ...info?.isFile ? [{ folders: tied, isKnown: tied.length > 0 }] : [],
    ...isRepository(folder) ? [{ folders: [folder], isKnown: true }] : [],
  ];
}

function hasHooks(folder: string, runsHooks: boolean): boolean {
  const names = attempt(() => [...Deno.readDirSync(folder)].map(({ name }) => name)) ?? [];
  return names.some((name) =>
    !name.endsWith(".sample") && (runsHooks || ALWAYS_RUN.has(name)) &&
    isExecutable(join(folder, name))
  );
}

const isExecutable = (path: string): boolean =>
  ((attempt(() => Deno.statSync(path))?.mode ?? 0) & 0o111) !== 0;

const isHarmlessIn = (name: string, value: string): boolean =>
  HARMLESS_VALUE[name]?.test(value) === true || name.startsWith("filter.") && LFS.test(value);

const namesNothing = ({ name, value }: GitSetting): boolean =>
  NAMELESS_SECTIONS.has(name.split(".", 1)[0]!) || NAMELESS.has(name) || isHarmlessIn(name, value);

/** The most files of settings that one includes. */
const MAX_PERSONAL = 20;

/** The settings of a file; those of a `person` with what it includes, whatever the condition. */
function gitSettingsIn(
  file: string,
  person?: { home: string | undefined },
  seen = new Set<string>(),
): GitSetting[] {
  if (seen.has(file) || seen.size > MAX_PERSONAL) return [];
  seen.add(file);
  const text = smallFile(file);
  // A larger one was not read.
  if (text === "") {
    return (attempt(() => Deno.statSync(file).size) ?? 0) > 0 ? [NOT_UNDERSTOOD] : [];
  }
  let section = "";
  return text.split("\n").flatMap((line) => {
    let rest = line.trim();
    const [header, name] = /^\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*/.exec(rest) ?? [];
    if (header !== undefined) {
      section = name!.split(".", 1)[0]!.toLowerCase();
      rest = rest.slice(header.length);
    }
    if (rest === "" || /^[#;]/.test(rest)) return [];
    const [all, key, given = ""] = /^([a-zA-Z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? [];
    if (all === undefined || rest.endsWith("\\")) return [NOT_UNDERSTOOD];
    const value = given.replace(/^"(.*)"$/, "$1");
    const setting = { name: `${section}.${key!.toLowerCase()}`, value };
    if (!person || !/^include(if)?\.path$/.test(setting.name)) return [setting];
    const path = value.replace(/^~(?=\/)/, person.home ?? "~");
    return gitSettingsIn(resolve(dirname(file), path), person, seen);
  });
}
