/** Variables that make tools store what they install in the sandbox's caches. @module */

import { join, resolve } from "../../text/std_path.ts";
import { entryAt } from "../places.ts";
import { accessAt, type View } from "../view.ts";

/** A variable, its default folder in the home folder, and the sandbox's folder. */
type ToolFolder = readonly [name: string, usual: string, own: string];

/** Caches, results and installed programs. A tool starts without the user's. */
const FOLDERS: readonly ToolFolder[] = [
  ["BUN_INSTALL_BIN", ".bun/bin", "bin"],
  ["BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "bun"],
  ["CARGO_INSTALL_ROOT", ".cargo", "."],
  ["DENO_INSTALL_ROOT", ".deno", "."],
  ["GOBIN", "go/bin", "bin"],
  // Its wrapper locks its own files, so it does not work read-only.
  ["GRADLE_USER_HOME", ".gradle", "gradle"],
  ["PIPX_BIN_DIR", ".local/bin", "bin"],
  ["PIPX_HOME", ".local/share/pipx", "pipx"],
  ["PIPX_MAN_DIR", ".local/share/man", "man"],
  ["TMPDIR", "/tmp", "/tmp"],
  ["UV_CACHE_DIR", ".cache/uv", "uv"],
  ["UV_TOOL_BIN_DIR", ".local/bin", "bin"],
  ["UV_TOOL_DIR", ".local/share/uv/tools", "uv-tools"],
  ["XDG_CACHE_HOME", ".cache", "."],
  ["XDG_STATE_HOME", ".local/state", "state"],
  ["npm_config_cache", ".npm", "npm"],
  ["pnpm_config_store_dir", ".local/share/pnpm/store", "pnpm-store"],
];
/** Packages that builds read: the user's, until a command of the folder had the network and fetched its own. */
const PACKAGES: readonly ToolFolder[] = [
  ["CARGO_HOME", ".cargo", "cargo"],
  ["COREPACK_HOME", ".cache/node/corepack", "corepack-own"],
  ["CYPRESS_CACHE_FOLDER", ".cache/Cypress", "cypress-own"],
  ["DENO_DIR", ".cache/deno", "deno-own"],
  ["GOMODCACHE", "go/pkg/mod", "go/pkg/mod"],
  ["GOPATH", "go", "go"],
  ["NUGET_PACKAGES", ".nuget/packages", "nuget"],
  ["PRE_COMMIT_HOME", ".cache/pre-commit", "pre-commit-own"],
  ["UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", "uv-python"],
  ["YARN_CACHE_FOLDER", ".cache/yarn", "yarn-own"],
];
/** Files that builds and checks write into the folder, if it is read-only. */
const RESULTS: readonly ToolFolder[] = [
  ["CARGO_TARGET_DIR", "target", "target"],
  ["COVERAGE_FILE", ".coverage", "coverage"],
  ["MYPY_CACHE_DIR", ".mypy_cache", "mypy"],
  ["RUFF_CACHE_DIR", ".ruff_cache", "ruff"],
];
/** Makes tools use what they fetched before and fail at once without a network, instead of retrying for a minute. */
const OFFLINE = {
  CARGO_NET_OFFLINE: "true",
  PIP_RETRIES: "1",
  UV_OFFLINE: "1",
  npm_config_fetch_retries: "0",
  npm_config_prefer_offline: "true",
  pnpm_config_fetch_retries: "0",
  pnpm_config_prefer_offline: "true",
};

interface Tools {
  view: View;
  home: string;
  /** The folder that commands see as `.cache` of the home folder. */
  cache: string;
  value(name: string): string | undefined;
  programs: readonly string[];
}

/** Returns the variables for a view. Folders that commands can already write are omitted. */
export function toolVariables(
  { view, home, cache, value, programs }: Tools,
): Record<string, string> {
  const seen = join(home, ".cache");
  const isWritable = (path: string) => /^(write|own)$/.test(accessAt(view, path));
  const needed = (base: string, isShared = false) => ([name, usual, own]: ToolFolder) => {
    const path = value(name) || resolve(base, usual);
    const isUsed = isShared && !view.network && entryAt(path) !== undefined &&
      entryAt(join(cache, own)) === undefined;
    return isWritable(path) || isUsed ? [] : [[name, resolve(seen, own)]];
  };
  const folders: Record<string, string> = Object.fromEntries([
    ...FOLDERS.flatMap(needed(home)),
    ...PACKAGES.flatMap(needed(home, true)),
    ...RESULTS.flatMap(needed(view.folder)),
  ]);
  const modules = folders.GOMODCACHE ?? value("GOMODCACHE") ?? join(home, "go/pkg/mod");
  return {
    ...folders,
    ...view.network ? {} : { ...OFFLINE, GOPROXY: `file://${modules}/cache/download` },
    PATH: [...programs, join(seen, "bin")].join(":"),
    // Its cache is another mount than the folder, and hard links do not cross mounts.
    UV_LINK_MODE: "copy",
  };
}
