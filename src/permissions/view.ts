/**
 * The view: what may be read, written and reached in a folder. Made once for a folder and a mode; the
 * sandbox's mounts, the verdicts on paths and all that runs confined derive from it.
 *
 * @module
 */

import { isWithin } from "../text/paths.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import { entriesOf, homeNames, type PathTable } from "./path_table.ts";

/** `own`: commands write there what stands on none of the machine's disks under that name, as in `/tmp`. */
export type PathAccess = "none" | "read" | "write" | "own";

/** The files and network that programs may use. A path that no entry holds is not there for them. */
export interface View {
  /** The folder that is worked in. */
  folder: string;
  /** The access to a file, or to a folder with all below it: the deepest entry that holds a path decides. */
  places: ReadonlyMap<string, PathAccess>;
  /** True where programs may use the network. */
  network: boolean;
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
  ruled?: (path: string) => "none" | "read" | undefined;
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

function realPathOf(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
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
  `.asdf .bun/bin .bun/install .cabal/bin .cabal/packages .cabal/store .cargo/bin .cargo/git .cargo/registry
  .conda .deno .dotnet .elan .espressif .fnm .foundry/bin .gem/ruby .ghcup .gradle/caches .gradle/wrapper .ivy2/cache
  .jdks .jenv .juliaup .julia .linuxbrew .local/bin .local/lib .local/pipx .local/share/fnm .local/share/mise
  .local/share/pipx .local/share/pnpm .local/share/rtx .local/share/uv .local/share/virtualenvs .local/state/fnm_multishells
  .m2/repository .m2/wrapper .mix .nimble .nuget/packages .nvm .opam .platformio .pub-cache .pyenv .rbenv .rustup .rvm
  .rye .sbt .sdkman/candidates .stack .swiftly .swiftpm .tfenv .volta .yarn/berry/cache .zig anaconda3 bin flutter
  go/bin go/pkg mambaforge miniconda3 miniforge3 perl5 sdk
  .cache/deno .cache/ms-playwright .cache/pre-commit .cache/puppeteer .cache/yarn Library/Caches/deno Library/pnpm`
    .split(/\s+/);

/** The view of a folder. What the system is asked: which of the known folders are there, and what the folder holds. */
export function makeView(sources: ViewSources): View {
  const { folder, isWritable, network, paths, os = Deno.build.os } = sources;
  const places = new Map<string, PathAccess>();
  const add = (access: PathAccess, names: readonly string[]) => {
    for (const name of names) {
      const real = realPathOf(name);
      if (real !== undefined) { for (const path of [name, real]) places.set(path, access); }
    }
  };
  const { home } = paths;
  add("read", READABLE_ROOTS[os] ?? []);
  for (const path of ["/tmp", "/var/tmp"]) places.set(path, "own");
  if (home !== undefined) {
    add("none", [home]);
    for (const name of [".cache", ".npm"]) places.set(join(home, name), "own");
    // Named secrets lie beside these, never in them: a test holds the two lists against each other.
    add("read", TOOLCHAINS.map((name) => join(home, name)).filter(homeNames(home)));
    const programs = sources.programs ?? [];
    add("read", programs.filter((path) => isWithin(home, path) && path !== home));
  }
  add("read", repositoryAround(folder, home));
  add("read", sources.read ?? []);
  add("write", sources.write ?? []);
  places.set(folder, isWritable ? "write" : "read");
  const { found, isComplete } = findingsIn(folder, paths, sources.ruled);
  for (const { path, access } of found) {
    const real = realPathOf(path);
    // A link that leads out of the folder leads to what the view says of that place.
    if (real !== undefined && isWithin(folder, real)) add(access, [path]);
  }
  const named = new Set([...sources.read ?? [], ...sources.write ?? []].map(realPathOf));
  for (const { path, real } of paths.confinedSecrets()) {
    // Nothing hides the folder itself, and what this user cannot open needs no hiding.
    if (real === undefined || isWithin(real, folder) || named.has(real) || !canOpen(real)) continue;
    for (const one of [path, real]) places.set(one, "none");
  }
  return { folder, places, network, isComplete };
}

/** The repository that the folder is a part of, and its files elsewhere; never the home folder, or one above it. */
function repositoryAround(folder: string, home: string | undefined): string[] {
  for (let at = folder;; at = dirname(at)) {
    if (home !== undefined && isWithin(at, home)) return [];
    if (entryAt(join(at, ".git")) !== undefined) return [at, ...gitFoldersOf(join(at, ".git"))];
    if (dirname(at) === at) return [];
  }
}

/**
 * The folders in which git keeps what belongs to a `.git` that is a file: a worktree's or submodule's, and
 * the repository's. The file may be a command's own work: what it names counts only where git has written
 * there that it belongs to this one.
 */
function gitFoldersOf(dotGit: string): string[] {
  const named = /^gitdir:\s*(.+)/.exec(smallFile(dotGit))?.[1];
  const folder = named && realPathOf(resolve(dirname(dotGit), named));
  if (!folder) return [];
  const back = smallFile(join(folder, "gitdir")).trim();
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(smallFile(join(folder, "config")))?.[1];
  const isWorktree = back !== "" && realPathOf(resolve(folder, back)) === realPathOf(dotGit);
  const isSubmodule = worktree !== undefined &&
    realPathOf(resolve(folder, worktree)) === realPathOf(dirname(dotGit));
  if (!isWorktree && !isSubmodule) return [];
  const common = realPathOf(resolve(folder, smallFile(join(folder, "commondir")).trim()));
  // git keeps a worktree's folder as REPOSITORY/worktrees/NAME.
  const isTied = common === dirname(dirname(folder)) && isRepository(common);
  return isTied ? [folder, common] : [folder];
}

/** True for a folder that git takes for a repository. */
function isRepository(folder: string, entries = entriesOf(folder)): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return ["HEAD", "objects", "config"].every((name) => names.has(name));
}

/** The most that is read of a file of git's. */
const MAX_GIT_FILE = 100_000;

/** The start of a small file; nothing where none can be read. */
function smallFile(path: string): string {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size <= MAX_GIT_FILE ? Deno.readTextFileSync(path) : "";
  } catch {
    return "";
  }
}

/** Something in the folder that commands may not write, or that is hidden from them. */
interface Finding {
  path: string;
  access: "none" | "read";
}

/** The most entries that are looked at, as each command waits for it: some 10 ms. */
const MAX_VIEWED = 10_000;
/** Folders with what others wrote or programs made: large, and nobody's repository or settings. */
const GENERATED =
  /^(node_modules|bower_components|target|dist|build|out|vendor|\.venv|venv|__pycache__|\.tox|\.nox|\.cache|\.next|\.gradle)$/;

/** Secrets, git's files, protected files and those that rules are about, looked for level by level. */
function findingsIn(
  folder: string,
  paths: PathTable,
  ruled: ViewSources["ruled"],
): { found: Finding[]; isComplete: boolean } {
  const found: Finding[] = [];
  const folders = [folder];
  /** Folders that are read-only with all below them: in these, only secrets are looked for. */
  const held = new Set<string>();
  let looked = 0;
  for (const at of folders) {
    const entries = entriesOf(at);
    if (at !== folder && isRepository(at, entries)) {
      found.push(...gitFindings(at, dirname(at)));
      continue;
    }
    for (const { name, isDirectory } of entries) {
      if (++looked > MAX_VIEWED) return { found, isComplete: false };
      const path = join(at, name);
      const access = ruled?.(path) ??
        (paths.secretKind(path) !== undefined ? "none" : undefined) ??
        (paths.protectedKind(path) !== undefined ? "read" : undefined);
      if (name === ".git") found.push(...gitFindings(path, at));
      else if (access === "read" && held.has(at)) held.add(path);
      else if (access !== undefined) {
        found.push({ path, access });
        held.add(path);
      }
      // What rules are about may be anywhere.
      if (access !== "none" && isDirectory && name !== ".git" && (ruled || !GENERATED.test(name))) {
        folders.push(path);
      }
    }
  }
  return { found, isComplete: true };
}

/** git's files, and the folders in which it looks for hooks and further settings. */
function gitFindings(path: string, worktree: string): Finding[] {
  const folders = [path, ...gitFoldersOf(path)];
  const named = folders.flatMap((folder) => {
    const config = smallFile(join(folder, "config")) + "\n" +
      smallFile(join(folder, "config.worktree"));
    return [...config.matchAll(/^\s*(hooksPath|path)\s*=\s*"?([^"\n]+?)"?\s*$/gim)]
      // Includes are relative to the file that names them, hooks to the work tree.
      .map(([, key, value]) => resolve(key!.toLowerCase() === "path" ? folder : worktree, value!));
  });
  return [...folders, ...named].map((one) => ({ path: one, access: "read" }));
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
