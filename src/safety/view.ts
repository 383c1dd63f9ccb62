/**
 * The view: what may be read, written and reached from a folder. It is made for a folder and a mode; the
 * sandbox's mounts, the verdicts on paths and all sandboxed programs derive from it.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { isWithin } from "../text/paths.ts";
import { basename, dirname, fromFileUrl, join } from "../text/std_path.ts";
import { FolderLooks, hasOtherBytes, isGitName, type PathAccess } from "./folder_looks.ts";
import {
  type Finding,
  gitFindings,
  gitFoldersOf,
  isInsideGit,
  leadsIntoKnown,
  smallFile,
  withoutCredentials,
} from "./git_files.ts";
import { runInPlace, runInPlaces } from "./in_place.ts";
import { mayBeThere, type PathTable } from "./path_table.ts";
import { placeOf } from "./places.ts";
import { OF_SYSTEM } from "./protected_paths.ts";

/** The files and the network that programs may use. Paths without an entry do not exist for them. */
export interface View {
  folder: string;
  /** The access to a file, or to a folder with all in it. The deepest entry that contains a path decides. */
  places: ReadonlyMap<string, PathAccess>;
  network: boolean;
  /** The texts that programs see instead of settings that contain credentials, and of other files. */
  texts?: ReadonlyMap<string, string | Uint8Array>;
  /** Protected links directly in the folder, which no mount protects. */
  links?: readonly string[];
  /** The repositories in writable folders, and what leads to one; git commands write them there. */
  repositories?: readonly string[];
  /** The links of `repositories` with their targets: no mount protects them. */
  gitLinks?: ReadonlyMap<string, string>;
  /** The folders that are hidden or read-only as a whole because there are too many paths in them. */
  closed?: readonly string[];
  /** False if the folder is too large to be searched completely; the rest is closed. */
  isComplete: boolean;
}

/** Returns the view's access to an absolute path with links resolved. */
export function accessAt({ places }: Pick<View, "places">, real: string): PathAccess {
  for (let at = real;; at = dirname(at)) {
    const access = places.get(at);
    if (access !== undefined) return access;
    if (dirname(at) === at) return "none";
  }
}

interface ViewSources {
  folder: string;
  isWritable: boolean;
  network: boolean;
  paths: PathTable;
  read?: readonly string[];
  write?: readonly string[];
  /** Returns the access to an absolute path that rules allow; undefined if no rule covers it. */
  ruled?: (path: string) => Finding["access"] | undefined;
  /** Absolute paths at or below which these rules match. */
  ruledPlaces?: readonly string[];
  looks?: FolderLooks;
  /** Absolute folders of programs, from PATH, that are not in the folder. */
  programs?: readonly string[];
  /** Absolute folders of programs, from PATH, that may be in the folder. */
  allPrograms?: readonly string[];
}

export const entryAt = (path: string): Deno.FileInfo | undefined =>
  attempt(() => Deno.lstatSync(path));

/** @param closed the result for a path that this user may not access */
export function realPathOf(path: string, closed?: string): string | undefined {
  // Deno cannot name the paths that this one represents.
  if (hasOtherBytes(path)) return path;
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied ? closed : undefined;
  }
}

/** The system's own folders, without those for data, such as `/home`, `/mnt` and `/srv`. */
const READABLE_ROOTS: Readonly<Record<string, readonly string[]>> = {
  linux: [
    ..."/bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /opt /nix /gnu /snap".split(" "),
    // Processors and memory groups, from which programs derive their number of threads.
    ..."/sys/devices/system /sys/fs/cgroup /var/lib /var/cache".split(" "),
  ],
  darwin: "/bin /sbin /usr /etc /opt /private/etc /System /Library /Applications /nix /dev".split(
    " ",
  ),
};

/** Folders of the home folder with programs and their sources: toolchains, and package caches. */
const TOOLCHAINS =
  `.agents/skills .asdf .bun/bin .bun/install .cabal/bin .cabal/packages .cabal/store .cargo/bin .cargo/git .cargo/registry .claude/skills
  .conda .deno .dotnet .elan .espressif .fnm .foundry/bin .gem/ruby .ghcup .gradle/caches .gradle/wrapper .ivy2/cache
  .jdks .jenv .juliaup .julia .linuxbrew .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise
  .local/share/pipx .local/share/pnpm .local/share/rtx .local/share/uv .local/share/virtualenvs .local/state/fnm_multishells
  .m2/repository .m2/wrapper .mix .nimble .nuget/packages .nvm .opam .platformio .pub-cache .pyenv .rbenv .rustup .rvm
  .npm-global .rye .sbt .sdkman/bin .sdkman/candidates .stack .swiftly .swiftpm .tfenv .volta .yarn/berry/cache .zig anaconda3 bin flutter
  go/bin go/pkg mambaforge miniconda3 miniforge3 perl5 sdk
  .cache/Cypress .cache/deno .cache/ms-playwright .cache/node/corepack .cache/pre-commit .cache/puppeteer .cache/yarn Library/Caches/deno Library/pnpm`
    .split(/\s+/);

/** Caches of the home folder of which commands get private ones. */
export const PRIVATE_CACHES = [".cache", ".npm"] as const;

/** Makes the view of a folder. Creates what git's settings name and is missing, so that no command can create it. */
export function makeView(sources: ViewSources): View {
  const { folder, isWritable, network, paths, looks = new FolderLooks(paths) } = sources;
  makeOwnFolders(sources);
  const list = (at: string) => looks.at(at, true)?.entries.map(({ name }) => name) ?? [];
  const places = namedPlaces(sources, list);
  const ofHome = homeSecrets(places, paths, looks);
  const add = adderTo(places);
  const repository = repositoryAround(folder, paths.homes);
  add("read", repository);
  add("read", sources.read ?? []);
  add("write", sources.write ?? []);
  const written = (sources.write ?? []).flatMap((path) => realPathOf(path) ?? []);
  const listed = (sources.read ?? []).flatMap((path) => realPathOf(path) ?? []);
  const named = new Set([...listed, ...written]);
  const beside = looksBeside(sources, repository[0], listed)
    .flatMap((look) => findingsIn(look, looks).found);
  const isMeant = ({ path }: Finding) => {
    // Programs may be in a folder that an administrator closed to others.
    const isListed = named.has(path) || paths.protectedKind(path) === OF_SYSTEM &&
        [...named].some((at) => isWithin(at, path));
    return !isListed && ![folder, ...sources.programs ?? []].some((at) => isWithin(path, at));
  };
  const ofSystem = systemSecrets(looks, [folder, ...repository]);
  for (const finding of [...ofSystem, ...beside, ...ofHome]) {
    const { path, access } = finding;
    const usual = accessAt({ places }, path);
    const isStricter = usual === "write" || usual === "read" && access === "none";
    if (isStricter && isMeant(finding)) add(access, [path]);
  }
  // In a repository without a work tree, and in a folder of programs or settings, new files count as well.
  const isProtected = isInsideGit(folder) || paths.protectedKind(folder) !== undefined;
  places.set(folder, isWritable && !isProtected ? "write" : "read");
  for (const at of written) if (isInsideGit(at)) places.set(at, "read");
  add("read", programParts().filter((path) => isWithin(folder, path)));
  const repositories = new Set(repository.map((at, i) => i === 0 ? join(at, ".git") : at));
  // Settings of the surrounding repository name paths in the folder.
  const stated = beside.filter(({ named }) => named !== undefined);
  const all = [...beside];
  const links: string[] = [];
  let isComplete = true;
  for (const root of new Set([folder, ...written])) {
    const look = root === folder ? sources : { paths, isListed: true };
    const inside = findingsIn({ ...look, root }, looks);
    isComplete &&= inside.isComplete;
    const found = root === folder
      ? [...inside.found, ...programsIn(sources)]
      : inside.found.filter(isMeant);
    for (const { path, isGitFolder } of found) {
      if (isGitFolder && (root === folder || isWithin(root, path))) repositories.add(path);
    }
    found.push(...stated);
    // Secrets come first: nothing that leads to one opens it.
    found.sort((a, b) => +(b.access === "none") - +(a.access === "none"));
    links.push(...protect(root, places, found));
    all.push(...found);
  }
  hideSecrets(places, folder, paths.confinedSecrets(list).filter(({ real }) => !named.has(real!)));
  const texts = replaceTexts(places, all);
  return { folder, places, texts, network, isComplete, links, ...knownTo(repositories) };
}

/** Returns the repositories of a view, and the targets of those that are links. */
function knownTo(paths: ReadonlySet<string>): Pick<View, "repositories" | "gitLinks"> {
  const gitLinks = new Map<string, string>();
  for (const path of paths) {
    const target = attempt(() => Deno.readLinkSync(path));
    if (target !== undefined) gitLinks.set(path, target);
  }
  return { repositories: [...paths], gitLinks };
}

/** Prints a file unless a link leads to it. */
const READ =
  `exec 4<"./$1" && [ "$(readlink /proc/self/fd/4)" = "$here/$1" ] && head -c 1000000 <&4`;
/** Texts with credentials that were read at paths without a link. */
const knownTexts = new Map<string, string>();

/** Makes settings that contain credentials read-only, and returns the texts that programs see instead of them. */
function replaceTexts(
  places: Map<string, PathAccess>,
  found: readonly Finding[],
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, isSettings } of found) {
    const real = isSettings && realPathOf(path);
    if (!real || !/read|write/.test(accessAt({ places }, real))) continue;
    const text = smallFile(real);
    const plain = withoutCredentials(text);
    if (plain === text) continue;
    places.set(real, "read");
    // A program that runs may just have put a link to a hidden file there.
    if (knownTexts.get(real) !== text) {
      const { output } = runInPlace(dirname(real), READ, [basename(real)]);
      if (output === text.trim()) knownTexts.set(real, text);
    }
    texts.set(real, knownTexts.get(real) === text ? plain : "");
  }
  return texts;
}

export const writtenFolders = ({ places }: View): string[] =>
  [...places].filter(([path, access]) => access === "write" && realPathOf(path) === path)
    .map(([path]) => path);

/** Restricts access to what was found in a folder, and returns the protected links that are directly in it. */
function protect(
  root: string,
  places: Map<string, PathAccess>,
  found: readonly Finding[],
): string[] {
  const links: string[] = [];
  for (const { path, access, named } of found) {
    if (named && accessAt({ places }, root) === "write") makeNamed(root, path, named);
    const real = realPathOf(path, path);
    // Links are restored only directly in the folder, which no command can move.
    for (const link of named || entryAt(path)?.isSymlink ? linksOn(root, path) : []) {
      const around = dirname(link);
      if (accessAt({ places }, around) !== "write") continue;
      if (around === root) links.push(link);
      else if (named || access === "read" && link !== path) places.set(around, "read");
    }
    // A link out of the folder has the access of its target.
    if (real === undefined || !isWithin(root, real)) continue;
    if (access === "read" && accessAt({ places }, real) === "none") continue;
    // A mount cannot be made behind a link, whose target has another path.
    for (const one of named ? [real] : [path, real]) places.set(one, access);
  }
  return links;
}

/** Returns the folders of PATH in the folder, except those of dependencies, which package managers write. */
function programsIn({ folder, allPrograms = [] }: ViewSources): Finding[] {
  return allPrograms.filter((path) => {
    const real = realPathOf(path);
    if (real === undefined || !isWithin(folder, real)) return false;
    return !real.slice(folder.length).split("/").some((name) => DEPENDENCIES.test(name));
  }).map((path) => ({ path, access: "read", named: "hooks" }));
}

function hideSecrets(
  places: Map<string, PathAccess>,
  folder: string,
  secrets: readonly { path: string; real?: string }[],
): void {
  for (const { path, real } of secrets) {
    // The folder itself is never hidden, and what this user cannot open needs no hiding.
    if (real === undefined || isWithin(real, folder) || !canOpen(real)) continue;
    for (const one of [path, real]) places.set(one, "none");
  }
}

/** Creates this program's own folders if a command could create them, so that they can be hidden. */
function makeOwnFolders({ folder, isWritable, write = [], paths }: ViewSources): void {
  const written = [...isWritable ? [folder] : [], ...write];
  for (const at of written.length > 0 ? paths.own : []) {
    const { real } = placeOf("/", at);
    if (written.some((root) => isWithin(root, real))) makeFolders(real, "umask 077");
  }
}

/** Arguments: the name of a new file or "", its text, and the names of the folders to create below each other. */
const MAKE = `at=\${here%/} file=$1 text=$2 && shift 2
for name do mkdir "./$name" && at=$at/$name && at "$at" || exit; done
set -C
[ -z "$file" ] || printf %s "$text" >"./$file"`;

/** Creates the missing folders of a path, and then a file in it. Follows no link that a command creates meanwhile. */
function makeFolders(path: string, before = "", name = "", text = ""): void {
  const missing: string[] = [];
  let at = path;
  for (; entryAt(at) === undefined; at = dirname(at)) missing.unshift(basename(at));
  if (missing.length === 0 && name === "") return;
  runInPlace(at, `${before}\n${MAKE}`, [name, text, ...missing]);
}

/** Returns the links in the folder that are followed on the way to a path, those behind other links included. */
export function linksOn(folder: string, path: string): string[] {
  const links: string[] = [];
  const names = path.split("/");
  // Linux follows 40 links in one path.
  for (let at = "/", followed = 0; names.length > 0 && followed <= 40;) {
    const next = join(at, names.shift()!);
    // Deno does not read a target that is not UTF-8.
    const other = () => entryAt(next)?.isSymlink ? "" : undefined;
    const target = attempt(() => Deno.readLinkSync(next)) ?? other();
    if (target !== undefined) {
      followed++;
      if (isWithin(folder, next)) links.push(next);
      names.unshift(...target.split("/"));
    }
    at = target === undefined ? next : target.startsWith("/") ? "/" : at;
  }
  return links;
}

/** Creates a missing path that git's settings name in the folder, so that no command can create it. */
function makeNamed(folder: string, path: string, named: NonNullable<Finding["named"]>): void {
  const { real } = placeOf("/", path);
  if (!isWithin(folder, real) || hasOtherBytes(real) || entryAt(real) !== undefined) return;
  if (named === "file") makeFolders(dirname(real), "", basename(real));
  // git stash would remove an empty folder, which commands cannot.
  else makeFolders(real, "", ".gitignore", "*\n");
}

function programParts(): string[] {
  const start = attempt(() => fromFileUrl(import.meta.url)) ?? "/";
  for (let at = dirname(start); dirname(at) !== at; at = dirname(at)) {
    if (entryAt(join(at, "scripts/copilot")) === undefined) continue;
    return [".deno", "vendor", "scripts"].map((name) => join(at, name));
  }
  return [];
}

/** Adds existing paths to places, each under its name and its resolved path. */
const adderTo =
  (places: Map<string, PathAccess>) => (access: PathAccess, names: readonly string[]): void => {
    for (const name of names) {
      const real = realPathOf(name);
      if (real !== undefined) { for (const path of [name, real]) places.set(path, access); }
    }
  };

/** Returns the system's folders, and those of the home folder with programs. */
function namedPlaces(
  { paths: { home }, programs = [] }: ViewSources,
  list: (folder: string) => readonly string[],
) {
  const places = new Map<string, PathAccess>();
  const add = adderTo(places);
  add("read", READABLE_ROOTS[Deno.build.os] ?? []);
  for (const path of ["/tmp", "/var/tmp"]) places.set(path, "own");
  if (home === undefined) return places;
  add("none", [home]);
  for (const name of PRIVATE_CACHES) places.set(join(home, name), "own");
  const isToAsk = mayBeThere([home], list);
  add("read", TOOLCHAINS.map((name) => join(home, name)).filter(isToAsk));
  add("read", programs.filter((path) => isWithin(home, path) && path !== home));
  return places;
}

/** Returns the places outside of the folder to search: its repository, the listed ones, and those of rules. */
function looksBeside(
  { folder, paths, ruled, ruledPlaces = [], write = [] }: ViewSources,
  repository: string | undefined,
  listed: readonly string[],
): PlaceLook[] {
  const looks: PlaceLook[] = ruledPlaces.map((root) => ({ root, ruled }));
  if (repository !== undefined) looks.push({ root: repository, paths });
  for (const at of write) {
    const [root] = repositoryAround(at, paths.homes);
    if (root !== undefined) looks.push({ root, paths, isShallow: true });
  }
  for (const root of listed) {
    // It may be as large as `/tmp`, and a user who lists a secret wants it readable.
    if (paths.secretKind(root) === undefined) looks.push({ root, paths, isShallow: true });
  }
  return looks.filter(({ root }) => !isWithin(folder, root));
}

/** The repository that the folder is a part of, and its files elsewhere; never a home folder, or one above it. */
export function repositoryAround(folder: string, homes: readonly string[] = []): string[] {
  for (let at = folder;; at = dirname(at)) {
    if (homes.some((home) => isWithin(at, home))) return [];
    if (entryAt(join(at, ".git")) !== undefined) return [at, ...gitFoldersOf(join(at, ".git"))];
    if (dirname(at) === at) return [];
  }
}

/** The maximum cost of listing folders, because each command waits for it: about 0.2 s. */
const MAX_COST = 50_000;
/** The cost of closing a folder that is not searched, which takes a mount. */
const CLOSED_COST = 100;
/** Folders of dependencies and builds: files there are not the user's settings. */
const GENERATED =
  /^(node_modules|bower_components|target|dist|build|out|vendor|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;
/** Folders that package managers remove as a whole, which a mount in them would prevent. */
const DEPENDENCIES =
  /^(node_modules|bower_components|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;
/** System folders in which users may store secrets, and the levels that are searched for known names. */
const SECRET_PLACES = ["/etc", "/var/cache", "/var/lib", "/opt"];
const SYSTEM_LEVELS = 4;
/** Public files in them: trusted certificates. */
const PUBLIC = /\.(pem|asc|gpg)$|^(credentials|secrets?)$/;

/** A place to search: for paths that rules cover, and with `paths` also for secrets and protected files. */
interface PlaceLook extends Partial<Pick<ViewSources, "paths">> {
  root: string;
  ruled?: ViewSources["ruled"];
  isShallow?: boolean;
  /** True for a folder that the user lists: what there is no time to search stays readable. */
  isListed?: boolean;
}

/** Returns what is secret, protected, git's or ruled; what there is no time to search is closed. */
function findingsIn(
  look: PlaceLook,
  looks: FolderLooks,
): { found: Finding[]; isComplete: boolean } {
  const { root, ruled } = look;
  const own = ruled?.(root);
  const last = lastFindings.get(looks) ?? new Map<string, Finding[]>();
  lastFindings.set(looks, last);
  const top = folderFindings({ ...look, at: root }, looks);
  // A command may have closed the folder to this search only: its files can still be read by name.
  if (top === undefined) {
    const found = [...last.get(root) ?? [], { path: root, access: "read" } as const];
    return { found, isComplete: false };
  }
  const limit = looks.cost + MAX_COST + top.folders.length * CLOSED_COST;
  const found: Finding[] = own === undefined ? [] : [{ path: root, access: own }];
  found.push(...top.found);
  let isComplete = true;
  // Folders that people write are searched first, in case the time does not suffice.
  const isGenerated = ({ path }: FolderToLookAt) => GENERATED.test(basename(path));
  const inOrder = top.folders.toSorted((a, b) =>
    +isGenerated(a) - +isGenerated(b) || (a.path < b.path ? -1 : 1)
  );
  for (const first of inOrder) {
    const inside: Finding[] = [];
    const folders = [first];
    for (const { path, ...where } of folders) {
      if (looks.cost > limit) break;
      const { found, folders: more } = folderFindings({ ...look, at: path, ...where }, looks) ??
        { found: [{ path, access: "none" } as const], folders: [] };
      inside.push(...found);
      folders.push(...more);
    }
    if (looks.cost <= limit) found.push(...inside);
    else {
      looks.isLarge = true;
      isComplete = false;
      found.push({ path: first.path, access: look.isListed ? "read" : "none" });
    }
  }
  last.set(root, found);
  return { found, isComplete };
}

const lastFindings = new WeakMap<FolderLooks, Map<string, Finding[]>>();

/** The cost of opening a folder, which takes a program. */
const OPENED_COST = 1000;
/** The cost of a look for new repositories, which comes after a command that made many folders: some 2 s. */
const MAX_NEW_COST = 500_000;

/**
 * Looks for repositories in what commands can write below `root`. Also returns what leads to a repository, and folders
 * that cannot be listed. `isComplete` is false if there is no time for all.
 */
export function repositoriesIn(
  root: string,
  looks: FolderLooks,
  isWritten: (path: string) => boolean,
): { found: string[]; isComplete: boolean } {
  const found: string[] = [];
  const folders = [root].filter(isWritten);
  const limit = looks.cost + MAX_NEW_COST;
  const ofRoot = isWritten(`${root}/.git`) ? [] : gitFoldersOf(`${root}/.git`);
  const isKnown = (at: string) => isWritten(dirname(at)) && !isWritten(at) || ofRoot.includes(at);
  for (const at of folders) {
    if (looks.cost > limit) return { found, isComplete: false };
    let look = looks.at(at);
    if (look === undefined) {
      looks.cost += OPENED_COST;
      runInPlace(at, "chmod u+rwx .");
      look = looks.at(at);
    }
    // The user may open a closed folder later.
    const isClosed = look === undefined && entryAt(at)?.uid === Deno.uid();
    if (isClosed || look?.isRepository || isGitName(basename(at))) found.push(at);
    for (const { name, path, isDirectory, isLink } of look?.entries ?? []) {
      if (!isDirectory && !isGitName(name) || !isWritten(path)) continue;
      // Nothing in a folder with such a name can be looked at.
      if (isDirectory && !hasOtherBytes(name)) folders.push(path);
      // The user may add a worktree or a submodule while a job runs.
      else if (isLink || !leadsIntoKnown(path, isKnown)) found.push(path);
    }
  }
  return { found, isComplete: true };
}

interface FolderToLookAt {
  path: string;
  /** True if everything in it is already read-only: only secrets are searched for. */
  isHeld?: boolean;
  isOthers?: boolean;
}

/** Returns the findings in one folder, and its folders to search; undefined if this user may not list it. */
function folderFindings(
  { at, root, paths, ruled, isShallow, isHeld = false, isOthers = false }:
    & PlaceLook
    & Omit<FolderToLookAt, "path">
    & { at: string },
  looks: FolderLooks,
): { found: Finding[]; folders: FolderToLookAt[] } | undefined {
  const look = looks.at(at, ruled !== undefined);
  if (look === undefined) return undefined;
  if (at !== root && look.isRepository) {
    return { found: gitFindings(at, dirname(at), paths), folders: [] };
  }
  const found: Finding[] = [];
  const folders: FolderToLookAt[] = [];
  for (const { name, path, isDirectory, isLink, access: named } of look.entries) {
    const isOthersOwn = isOthers && !/^\.env/i.test(name);
    // A link in a protected folder leads to what is protected as well.
    const usual = named ?? (isHeld && isLink ? "read" : undefined);
    const own = paths && !isOthersOwn ? usual : undefined;
    const access = own === "none" ? own : ruled?.(path) ?? own;
    if (isGitName(name)) {
      found.push(...gitFindings(path, at, paths));
      continue;
    }
    if (access && (access === "none" || !isHeld || isLink)) found.push({ path, access });
    if (isShallow || access === "none" || !isDirectory) continue;
    folders.push({
      path,
      isHeld: isHeld || access === "read",
      isOthers: isOthers || DEPENDENCIES.test(name),
    });
  }
  return { found, folders };
}

/** The folders of the home folder are looked through up to this depth, and for about 20 ms. */
const HOME_LEVELS = 3;
const MAX_HOME_COST = 5_000;

function homeSecrets(
  places: ReadonlyMap<string, PathAccess>,
  { home = "/" }: PathTable,
  looks: FolderLooks,
): Finding[] {
  const found: Finding[] = [];
  const limit = looks.cost + MAX_HOME_COST;
  const shown = [...places].filter(([path, access]) => access === "read" && isWithin(home, path));
  let folders = home === "/" ? [] : shown.map(([path]) => path);
  for (let level = 0; level < HOME_LEVELS && looks.cost < limit; level++) {
    const looked = folders.map((at) => looks.cost < limit ? looks.at(at)?.entries ?? [] : [])
      .flat();
    for (const { name, path, access } of looked) {
      // Flutter runs git in its own repository, which fails without the settings.
      const isGits = /^config(\.worktree)?$/.test(name) && path.includes("/.git/");
      const text = isGits ? smallFile(path) : "";
      const isPlain = text !== "" && withoutCredentials(text) === text;
      if (access === "none" && !isPlain) found.push({ path, access });
    }
    folders = looked.filter(({ name, isDirectory, access }) =>
      isDirectory && access !== "none" && !DEPENDENCIES.test(name) && name !== "site-packages"
    ).map(({ path }) => path);
  }
  return found;
}

const systemFindings = new WeakMap<FolderLooks, string[]>();

/**
 * Returns the secrets in the system's folders: those with known names and, to root, what other users may not read.
 * Commands cannot write there, so the result is cached.
 */
function findSystemSecrets(looks: FolderLooks): string[] {
  const places = ["/usr/local", ...SECRET_PLACES].flatMap((path) => realPathOf(path) ?? []);
  // A file may disappear meanwhile.
  const find =
    `find . -size +0 -type f ! -perm -4 -print -o -type d ! -perm -1 -prune -print || [ $? = 1 ]`;
  const closed = Deno.uid() === 0 ? runInPlaces(find, places.map((path) => [path])) : [];
  const found = closed.flatMap(({ output, fault }, i) =>
    (fault ? "." : output).split("\n").filter(Boolean).map((path) => join(places[i]!, path))
  );
  const look = (folder: string, levels: number) => {
    for (const { name, path, isDirectory, access } of looks.at(folder)?.entries ?? []) {
      if (access === "none" && !PUBLIC.test(name)) found.push(path);
      else if (isDirectory && levels > 1) look(path, levels - 1);
    }
  };
  for (const folder of SECRET_PLACES) look(folder, SYSTEM_LEVELS);
  const secrets = found.filter((path) => hasOtherBytes(path) || canOpen(path));
  systemFindings.set(looks, secrets);
  return secrets;
}

/** @param own the folders that are not the system's */
function systemSecrets(looks: FolderLooks, own: readonly string[]) {
  const all = systemFindings.get(looks) ??
    (Deno.build.os === "linux" ? findSystemSecrets(looks) : []);
  return all.filter((path) => !own.some((at) => isWithin(at, path)))
    .map((path): Finding => ({ path, access: "none" }));
}

const canOpen = (path: string): boolean =>
  attempt(() => {
    if (Deno.statSync(path).isDirectory) Deno.readDirSync(path)[Symbol.iterator]().next();
    else Deno.openSync(path).close();
    return true;
  }) ?? false;
