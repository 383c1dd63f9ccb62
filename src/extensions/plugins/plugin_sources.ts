/** Where plug-ins and marketplaces come from, and how git fetches them. Nothing of what it fetches runs. @module */

import { attempt } from "../../attempt.ts";
import { UsageError } from "../../errors.ts";
import { userProgram } from "../../start_program.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { expandHome, isWithin } from "../../text/paths.ts";
import { isAbsolute, join, resolve } from "../../text/std_path.ts";
import { readJsonFile } from "../../user_files.ts";
import type { PluginFields } from "./plugin_parts.ts";

interface PluginSource {
  /** The address and the version for git; missing for a folder. */
  url?: string;
  ref?: string;
  /** The folder, or the path below the root of the repository. */
  path: string;
  /** True if a fetched file names it: git then uses encrypted protocols only. */
  isForeign: boolean;
}

const REPOSITORY = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;
const REF = /^[A-Za-z0-9](?:[\w/+-]|\.(?!\.)){0,250}$/;
const GIT_ADDRESS = /^(?:[a-z][a-z+]*:\/\/|[\w.-]+@[\w.-]+:)[^\s-]\S*$/;

/** Returns the source that the user names: `PATH`, `owner/repo` or a URL, which `#REF` may follow. */
export function sourceNamed(given: string): PluginSource {
  const [, name = "", ref] = /^([^#]*)(?:#(.*))?$/s.exec(given) ?? [];
  const isPath = /^(?:~?|\.\.?)(?:[/\\]|$)/.test(given) || isAbsolute(given);
  if (!isPath && (REPOSITORY.test(name) || GIT_ADDRESS.test(name))) {
    return gitSource({ url: name, ref }, false);
  }
  const path = attempt(() => Deno.realPathSync(resolve(expandHome(given))));
  if (path !== undefined && Deno.statSync(path).isDirectory) return { path, isForeign: false };
  const what = JSON.stringify(shortened(oneLine(given), 200));
  throw new UsageError(
    `There is no folder ${what}: name a folder, owner/repo, a URL or NAME@MARKETPLACE`,
  );
}

/** Returns a repository. @throws {UsageError} for a field that git could take for something else. */
function gitSource({ url, ref, sha, path = "." }: PluginFields, isForeign: boolean): PluginSource {
  const wanted = String(sha ?? ref ?? "HEAD");
  const address = REPOSITORY.test(String(url)) ? `https://github.com/${url}.git` : String(url);
  if (GIT_ADDRESS.test(address) && REF.test(wanted) && typeof path === "string") {
    return { url: address, ref: wanted, path, isForeign };
  }
  const why = REF.test(wanted) ? "it is not an address" : "its version is not one of git";
  throw new UsageError(`Cannot fetch ${shownUrl(`${url}#${wanted}`)} as ${why}`);
}

const MARKET_FILE = ".claude-plugin/marketplace.json";

/** Reads a marketplace. `isForeign`: its folder was fetched. @throws {UsageError} if it is invalid. */
export function readMarket(top: string, isForeign: boolean) {
  const file = join(top, MARKET_FILE);
  const isHere = attempt(() => isWithin(Deno.realPathSync(top), Deno.realPathSync(file)));
  const { name, plugins } = isHere && readJsonFile(file) || {};
  if (typeof name !== "string" || !/^\w[\w.-]{0,63}$/.test(name) || !Array.isArray(plugins)) {
    throw new UsageError(`There is no marketplace: ${MARKET_FILE} must have a name and plugins`);
  }
  const entries = plugins.filter((one) => isObject(one) && typeof one.name === "string")
    .map((one): [string, Record<string, unknown>] => [one.name, one]);
  return { name, top, isForeign, entries: Object.fromEntries(entries) };
}

export function sourceIn(
  { top, isForeign }: ReturnType<typeof readMarket>,
  { name, source }: PluginFields,
): PluginSource {
  if (typeof source === "string") return { path: resolve(top, source), isForeign };
  const { source: kind, repo, ...more } = objectOr(source);
  if (/^(?:github|url|git-subdir)$/.test(String(kind))) {
    return gitSource({ url: repo, ...more }, isForeign);
  }
  const what = shortened(oneLine(`${name}: ${JSON.stringify(source)}`), 100);
  throw new UsageError(`Cannot fetch what is neither a folder nor a git repository: ${what}`);
}

const MAX_FETCH_MS = 300_000;
/** Neither the user's settings nor the repository make git start another program. */
const PLAIN_SETTINGS = "core.hooksPath=/dev/null core.fsmonitor=false submodule.recurse=false " +
  "fetch.recurseSubmodules=false gc.auto=0 maintenance.auto=false protocol.version=2";

/** Fetches a repository into the new folder `into`, without its `.git`, and returns its commit. */
export async function fetchSource(
  { url, ref, isForeign }: PluginSource,
  into: string,
  signal: AbortSignal,
): Promise<string> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(MAX_FETCH_MS)]);
  const own = Object.entries(Deno.env.toObject());
  const env = {
    ...Object.fromEntries(own.filter(([name]) => !/^GIT_(?!SSH|SSL)|^SSH_ASKPASS/.test(name))),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    GCM_INTERACTIVE: "never",
    SSH_ASKPASS_REQUIRE: "never",
    GIT_ALLOW_PROTOCOL: isForeign ? "https:ssh" : "https:ssh:http:git:file",
  };
  // The user's settings may have filters, which a fetch does not use, but a checkout does.
  const plain = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const settings = PLAIN_SETTINGS.split(" ").flatMap((one) => ["-c", one]);
  const run = async (args: readonly string[], variables = {}) => {
    const git = userProgram("git", {
      args: ["-C", into, ...settings, ...args],
      env: { ...env, ...variables },
      clearEnv: true,
      cwd: "/",
      signal: stop,
      detached: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
    if (!git) throw new Error("git is missing, which fetches plug-ins: install it");
    const { success, stdout, stderr } = await git.output();
    signal.throwIfAborted();
    const text = new TextDecoder().decode(success ? stdout : stderr).trim();
    if (success) return text;
    const line = text.split("\n").findLast((one) => /^(?:fatal|error):/.test(one)) ?? text;
    const why = stop.aborted ? "it took too long" : shownUrl(line);
    throw new Error(`Cannot fetch ${shownUrl(url!)}: ${shortened(why, 300)}`);
  };
  await Deno.mkdir(into, { mode: 0o700 });
  await run(["init", "--quiet", "--template="], plain);
  await run(["fetch", "--quiet", "--depth=1", "--no-tags", "--", url!, ref!]);
  await run(["checkout", "--quiet", "--detach", "FETCH_HEAD"], plain);
  const commit = await run(["rev-parse", "HEAD"], plain);
  await Deno.remove(join(into, ".git"), { recursive: true });
  return commit;
}

/** Returns a text on one line, without the credentials of addresses. */
export const shownUrl = (text: string): string => oneLine(text).replace(/(\/\/)[^/@\s]*@/g, "$1");
