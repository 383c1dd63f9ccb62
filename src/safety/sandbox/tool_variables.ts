/** The variables by which tools that install what they run keep that in the sandbox's caches. @module */

import { join, resolve } from "../../text/std_path.ts";
import { accessAt, entryAt, type View } from "../view.ts";

/** A variable, the folder in the home folder that it stands for where it is not set, and the sandbox's own. */
type ToolFolder = readonly [name: string, usual: string, own: string];

/** Caches, results and programs that are installed. A tool starts without what the person has there. */
const FOLDERS: readonly ToolFolder[] = [
  ["BUN_INSTALL_BIN", ".bun/bin", "bin"],
  ["BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "bun"],
  ["CARGO_INSTALL_ROOT", ".cargo", "."],
  ["DENO_INSTALL_ROOT", ".deno", "."],
  ["GOBIN", "go/bin", "bin"],
  // Its wrapper locks what it starts, so nothing of it works where that is read-only.
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
/**
 * Packages that builds read. Without a network those of the person serve, until a command of this folder had
 * the network: from then on, what it fetched does.
 */
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
/** What builds and checks write into the folder, where that is read-only. */
const RESULTS: readonly ToolFolder[] = [
  ["CARGO_TARGET_DIR", "target", "target"],
  ["COVERAGE_FILE", ".coverage", "coverage"],
  ["MYPY_CACHE_DIR", ".mypy_cache", "mypy"],
  ["RUFF_CACHE_DIR", ".ruff_cache", "ruff"],
];
/** Has tools use what they fetched before, and say at once that there is no network, instead of trying for a minute. */
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
  /** The value of a variable, as commands get it. */
  value(name: string): string | undefined;
  programs: readonly string[];
}

/** The variables for a view: of folders that commands can write already there are none. */
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
    // Its cache is another mount than the folder, where no hard link leads.
    UV_LINK_MODE: "copy",
  };
}
