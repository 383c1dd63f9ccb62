/**
 * The view: what may be read, written and reached in a folder. Made once for a folder and a mode; the
 * sandbox's mounts, the verdicts on paths and all that runs confined derive from it.
 *
 * @module
 */

import { isWithin } from "../text/paths.ts";
import { dirname, join } from "../text/std_path.ts";
import { FolderLooks, type PathAccess } from "./folder_looks.ts";
import { type Finding, gitFindings, gitFoldersOf, isInsideGit, submodulesIn } from "./git_files.ts";
import { mayBeThere, namesIn, type PathTable } from "./path_table.ts";

/** The files and network that programs may use. A path that no entry holds is not there for them. */
export interface View {
  /** The folder that is worked in. */
  folder: string;
  /** The access to a file, or to a folder with all below it: the deepest entry that holds a path decides. */
  places: ReadonlyMap<string, PathAccess>;
  /** True where programs may use the network. */
  network: boolean;
  /** Protected links that lie directly in the folder, which no mount protects; none where it is left out. */
  links?: readonly string[];
  /** git's folders, which commands of git write where the folder can be written. */
  gitFolders?: readonly string[];
  /** False where the folder holds more than was looked through for what is hidden or not written. */
  isComplete: boolean;
}

/** The view's access to an absolute path with links resolved. */
export function accessAt({ places }: Pick<View, "places">, real: string): PathAccess {
  for (let at = real;; at = dirname(at)) {
    const access = places.get(at);
    if (access !== undefined) return access;
    if (dirname(at) === at) return "none";
  }
}

/** The facts that {@linkcode makeView} makes a view from. */
interface ViewSources {
  folder: string;
  /** True where the folder can be written. */
  isWritable: boolean;
  network: boolean;
  paths: PathTable;
  /** Folders that the person lists, beside those that are known; absolute. */
  read?: readonly string[];
  write?: readonly string[];
  /** The access that rules leave to an absolute path; undefined where they say nothing. */
  ruled?: (path: string) => Finding["access"] | undefined;
  /** Absolute paths at or below which these rules match. */
  ruledPlaces?: readonly string[];
  /** What earlier looks found: it counts where the folder has become too large to be looked through. */
  known?: Map<string, Finding["access"]>;
  /** Looks into folders for all views of one person. */
  looks?: FolderLooks;
  /** Absolute folders of programs, from PATH. */
  programs?: readonly string[];
  os?: string;
}

/** The file, folder or link at a path; undefined where there is none, or this user may not look. */
export function entryAt(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** @param closed the result where this user may not look */
function realPathOf(path: string, closed?: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied ? closed : undefined;
  }
}

/** The system's own folders; what others keep on the machine (`/home`, `/mnt`, `/srv`, ...) is not among them. */
const READABLE_ROOTS: Readonly<Record<string, readonly string[]>> = {
  linux: [
    ..."/bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /opt /nix /gnu /snap".split(" "),
    // Processors and memory groups: what programs ask to know how many threads to start.
    ..."/sys/devices/system /sys/fs/cgroup /var/lib /var/cache".split(" "),
  ],
  darwin: "/bin /sbin /usr /etc /opt /private/etc /System /Library /Applications /nix /dev".split(
    " ",
  ),
};

/** Folders of the home folder with programs and what they were built from: toolchains, and caches of packages. */
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

/** Caches of the home folder of which commands have their own. */
export const PRIVATE_CACHES = [".cache", ".npm"] as const;

/** The view of a folder. What the system is asked: which of the known folders are there, and what the folder holds. */
export function makeView(sources: ViewSources): View {
  const { folder, isWritable, network, paths, looks = new FolderLooks(paths) } = sources;
  const places = namedPlaces(sources);
  const add = adderTo(places);
  const repository = repositoryAround(folder, paths.home);
  add("read", repository);
  add("read", sources.read ?? []);
  add("write", sources.write ?? []);
  const named = new Set(
    [...sources.read ?? [], ...sources.write ?? []].map((path) => realPathOf(path)),
  );
  for (const look of looksBeside(sources, repository[0], named)) {
    for (const { path, access } of findingsIn(look, looks).found) {
      const usual = accessAt({ places }, path);
      const isStricter = usual === "write" || usual === "read" && access === "none";
      const isMeant = !isWithin(path, folder) && !named.has(path) && isReachable(path);
      if (isStricter && isMeant) add(access, [path]);
    }
  }
  // New files count as well in a repository without a work tree, and in a folder of what others run.
  const isProtected = isInsideGit(folder) || paths.protectedKind(folder) !== undefined;
  places.set(folder, isWritable && !isProtected ? "write" : "read");
  const { found, isComplete } = findingsIn({ ...sources, root: folder }, looks);
  const { known = new Map<string, Finding["access"]>() } = sources;
  if (isComplete) known.clear();
  for (const { path, access } of found) known.set(path, access);
  const links: string[] = [];
  const gitFolders = new Set(repository.slice(1));
  if (repository[0] !== undefined) gitFolders.add(join(repository[0], ".git"));
  for (const [path, access] of known) {
    const real = realPathOf(path, path);
    // Only in the folder itself, which no command can move away: below, another place could be mended.
    if (dirname(path) === folder && entryAt(path)?.isSymlink) links.push(path);
    // A link that leads out of the folder leads to what the view says of that place.
    if (real === undefined || !isWithin(folder, real)) continue;
    for (const one of [path, real]) places.set(one, access);
  }
  for (const { path, real } of paths.confinedSecrets()) {
    // Nothing hides the folder itself, and what this user cannot open needs no hiding.
    if (real === undefined || isWithin(real, folder) || named.has(real) || !canOpen(real)) continue;
    for (const one of [path, real]) places.set(one, "none");
  }
  for (const { path, isGitFolder } of found) if (isGitFolder) gitFolders.add(path);
  const isOpened = (path: string) =>
    entryAt(path)?.isDirectory === true && realPathOf(path) === path;
  return {
    ...{ folder, places, network, isComplete, links },
    gitFolders: places.get(folder) === "write" ? [...gitFolders].filter(isOpened) : [],
  };
}

/** Adds paths to places, each by its name and by what it leads to; none that is not there. */
const adderTo =
  (places: Map<string, PathAccess>) => (access: PathAccess, names: readonly string[]): void => {
    for (const name of names) {
      const real = realPathOf(name);
      if (real !== undefined) { for (const path of [name, real]) places.set(path, access); }
    }
  };

/** The system's folders, and those of the home folder with programs: what depends on no folder that is worked in. */
function namedPlaces({ paths: { home }, programs = [], os = Deno.build.os }: ViewSources) {
  const places = new Map<string, PathAccess>();
  const add = adderTo(places);
  add("read", READABLE_ROOTS[os] ?? []);
  for (const path of ["/tmp", "/var/tmp"]) places.set(path, "own");
  if (home === undefined) return places;
  add("none", [home]);
  for (const name of PRIVATE_CACHES) places.set(join(home, name), "own");
  const isToAsk = mayBeThere(home, namesIn);
  // Named secrets lie beside these, never in them: a test holds the two lists against each other.
  add("read", TOOLCHAINS.map((name) => join(home, name)).filter(isToAsk));
  add("read", programs.filter((path) => isWithin(home, path) && path !== home));
  return places;
}

/** The places beside the folder to look through: its repository, those that are listed, those of rules. */
function looksBeside(
  { folder, paths, ruled, ruledPlaces = [] }: ViewSources,
  repository: string | undefined,
  listed: ReadonlySet<string | undefined>,
): PlaceLook[] {
  const looks: PlaceLook[] = ruledPlaces.map((root) => ({ root, ruled }));
  if (repository !== undefined) looks.push({ root: repository, paths });
  for (const root of listed) {
    if (root === undefined) continue;
    // It may be as large as `/tmp`, and a person who lists a secret means it.
    if (paths.secretKind(root) === undefined) looks.push({ root, paths, isShallow: true });
  }
  return looks.filter(({ root }) => !isWithin(folder, root));
}

/** The repository that the folder is a part of, and its files elsewhere; never the home folder, or one above it. */
function repositoryAround(folder: string, home: string | undefined): string[] {
  for (let at = folder;; at = dirname(at)) {
    if (home !== undefined && isWithin(at, home)) return [];
    if (entryAt(join(at, ".git")) !== undefined) return [at, ...gitFoldersOf(join(at, ".git"))];
    if (dirname(at) === at) return [];
  }
}

/** The most entries that are looked at, as each command waits for it: some 10 ms. */
const MAX_VIEWED = 10_000;
/** Folders with what others wrote or programs made: large, and nobody's repository or settings. */
const GENERATED =
  /^(node_modules|bower_components|target|dist|build|out|vendor|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;

/** A place to look through: for what rules are about, and with `paths` for secrets and protected files. */
interface PlaceLook extends Partial<Pick<ViewSources, "paths">> {
  root: string;
  ruled?: ViewSources["ruled"];
  /** True where folders in it are not looked into. */
  isShallow?: boolean;
}

/** Secrets, git's files, protected files and those that rules are about, looked for level by level. */
function findingsIn(
  { root, paths, ruled, isShallow }: PlaceLook,
  looks: FolderLooks,
): { found: Finding[]; isComplete: boolean } {
  const own = ruled?.(root);
  const found: Finding[] = own === undefined ? [] : [{ path: root, access: own }];
  const folders = new Set([root]);
  /** Folders that are read-only with all below them: in these, only secrets are looked for. */
  const held = new Set<string>();
  let looked = 0;
  for (const at of folders) {
    const look = looks.at(at);
    if (look === undefined) {
      if (at === root) return { found, isComplete: false };
      found.push({ path: at, access: "none" });
      continue;
    }
    if (at !== root && look.isRepository) {
      found.push(...gitFindings(at, dirname(at)));
      continue;
    }
    for (const entry of look.entries) {
      const { name, path, isDirectory } = entry;
      // Nothing in the folder itself is missed, however many files a command adds to it.
      if (++looked > MAX_VIEWED && at !== root) return { found, isComplete: false };
      const access = ruled?.(path) ?? (paths && looks.accessTo(entry));
      if (name === ".git") {
        found.push(...gitFindings(path, at));
        for (const submodule of submodulesIn(at)) folders.add(submodule);
      } else if (access === "read" && held.has(at)) held.add(path);
      else if (access !== undefined) {
        found.push({ path, access });
        held.add(path);
      }
      if (isShallow) continue;
      // What rules are about may be anywhere.
      if (access !== "none" && isDirectory && name !== ".git" && (ruled || !GENERATED.test(name))) {
        folders.add(path);
      }
    }
  }
  return { found, isComplete: true };
}

/** False where root comes to a path by its privileges alone, which confined it has not. */
function isReachable(path: string): boolean {
  if (Deno.uid() !== 0 || dirname(path) === path) return true;
  const above = entryAt(dirname(path));
  const isOpen = above?.uid === 0 || ((above?.mode ?? 0) & (above?.gid === 0 ? 0o11 : 0o1)) !== 0;
  return isOpen && isReachable(dirname(path));
}

function canOpen(path: string): boolean {
  try {
    if (Deno.statSync(path).isDirectory) Deno.readDirSync(path)[Symbol.iterator]().next();
    else Deno.openSync(path).close();
    return true;
  } catch {
    return false;
  }
}
