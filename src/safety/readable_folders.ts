/** The folders outside of the working directory that programs may read, or that are private to them. @module */

import { attempt } from "../attempt.ts";
import { listedFolders } from "../find_program.ts";
import { isWithin } from "../text/paths.ts";
import { dirname, fromFileUrl, join } from "../text/std_path.ts";
import type { PathAccess } from "./folder_looks.ts";
import { mayBeThere, type NameForms } from "./path_table.ts";
import { entryAt, listedPlace, realPathOf } from "./places.ts";

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
  .jdks .jenv .juliaup .julia .linuxbrew .local/bin .local/lib .local/pipx .local/share/copilot/plugins .local/share/fnm .local/share/mise
  .local/share/pipx .local/share/pnpm .local/share/rtx .local/share/uv .local/share/virtualenvs .local/state/fnm_multishells
  .m2/repository .m2/wrapper .mise .mix .nimble .nuget/packages .nvm .opam .platformio .pub-cache .pyenv .rbenv .rustup .rvm
  .npm-global .rye .sbt .sdkman/bin .sdkman/candidates .stack .swiftly .swiftpm .tfenv .volta .yarn/berry/cache .zig anaconda3 bin flutter
  go/bin go/pkg mambaforge miniconda3 miniforge3 perl5 sdk
  .cache/Cypress .cache/deno .cache/ms-playwright .cache/node/corepack .cache/pre-commit .cache/puppeteer .cache/yarn Library/Caches/deno Library/pnpm`
    .split(/\s+/);

export function namedPlaces(
  home: string | undefined,
  programs: readonly string[],
  list: NameForms,
): Map<string, PathAccess> {
  const places = new Map<string, PathAccess>();
  const add = (access: PathAccess, names: readonly string[]) => addPlaces(places, access, names);
  add("read", (READABLE_ROOTS[Deno.build.os] ?? []).filter(mayBeThere(["/"], list)));
  for (const path of ["/tmp", "/var/tmp"]) places.set(path, "own");
  if (home === undefined) return places;
  add("hidden", [home]);
  places.set(join(home, ".cache"), "own");
  const isToAsk = mayBeThere([home], list);
  add("read", TOOLCHAINS.map((name) => join(home, name)).filter(isToAsk));
  add("read", programs.filter((path) => isWithin(home, path) && path !== home));
  return places;
}

/** Adds existing paths to places, each under its name and its resolved path. */
export function addPlaces(
  places: Map<string, PathAccess>,
  access: PathAccess,
  names: readonly string[],
): void {
  for (const name of names) {
    const real = realPathOf(name);
    if (real !== undefined) places.set(name, access).set(real, access);
  }
}

/**
 * Returns the files, and the folders below `home`, whose absolute paths a program of the user gets as words. None in
 * a folder that commands write counts, nor behind a link in one: a command may have put a link to a secret there.
 */
export function namedReads(words: readonly string[], folder: string, home = ""): string[] {
  const isBelowHome = (path: string) => home !== "" && path !== home && isWithin(home, path);
  const written = [folder, ...listedFolders].flatMap((at) => realPathOf(at) ?? []);
  return words.filter((word) => /^\/[^*?$`]+$/.test(word)).flatMap((word) => {
    const { real, isMade } = listedPlace(word, written);
    if (isMade || written.some((root) => isWithin(root, real))) return [];
    const { isFile } = entryAt(real) ?? {};
    return isFile || isFile === false && isBelowHome(real) ? [real] : [];
  });
}

/** Returns what this program runs from, of which its sources can be written if one of `roots` is its clone, or in it. */
export function programParts(roots: readonly string[]): string[] {
  const at = ownClone ??= cloneAround(attempt(() => fromFileUrl(import.meta.url)) ?? "/");
  if (at === "/") return [];
  const parts = [".deno", "vendor", "scripts"].map((name) => join(at, name));
  return roots.some((root) => isWithin(at, root)) ? parts : [at];
}

let ownClone: string | undefined;

/** Returns the clone of this program that has a path; "/" without one. */
const cloneAround = (path: string): string =>
  dirname(path) === path || entryAt(join(path, "scripts/copilot"))
    ? path
    : cloneAround(dirname(path));
