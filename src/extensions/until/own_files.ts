/** The files that decide a check: tests, the configuration of test runners, and checks that its command names. @module */

import { attempt } from "../../attempt.ts";
import { isObject } from "../../text/json.ts";
import { join, slashed } from "../../text/std_path.ts";

const TEST_FILE = new RegExp(
  [
    String.raw`(^|/)(tests?|__tests__|__snapshots__|specs?|e2e|testdata)/`,
    String.raw`(^|/)test_[^/]+$|[._-](tests?|spec|cy)\.[^/]+$`,
    String.raw`(Tests?|Spec|IT)\.(java|kt|kts|cs|fs|scala|groovy|swift|php)$`,
  ].join("|"),
);
const CONFIGURATION = new RegExp(
  String
    .raw`(^|/)(conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|(GNUm|M|m)akefile|[Jj]ustfile|Rakefile|\.rspec|` +
    String.raw`phpunit\.xml(\.dist)?|[Tt]askfile\.ya?ml|\.mocharc\.\w+|` +
    String.raw`(jest|vitest|playwright|cypress|karma|ava|jasmine)\.config\.\w+)$|` +
    // Python prefers such a module to the one that runs the tests.
    String.raw`^(_?pytest|unittest|doctest|sitecustomize)(/__init__)?\.pyc?$`,
);
/** Manifests, with the parts that decide a check. Others change with a dependency. */
const MANIFESTS: Readonly<Record<string, readonly string[]>> = {
  "package.json": ["scripts", "jest", "mocha", "ava", "vitest", "nyc", "tap", "wireit"],
  "deno.json": ["tasks", "test", "lint", "compilerOptions"],
  "deno.jsonc": ["tasks", "test", "lint", "compilerOptions"],
  "composer.json": ["scripts"],
};
const PYPROJECT_PART = /^\[+tool\.(pytest|tox|nox|hatch|pdm|poe|taskipy)/;

/** The names of files that check, if a command names them. Others are the program: `python3 main.py`, `tsc app.ts`. */
const NAMED_CHECK = /\.(sh|bash)$|^[^.]+$|check|test|spec|verif|lint/i;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** True if a new file can change what a check does. A new test cannot make others pass. */
export const isConfiguration = (path: string): boolean => CONFIGURATION.test(path);

/** Returns the paths in `folder` that `command` may name, also after `cd`. */
export function pathsNamedIn(command: string, folder: string): ReadonlySet<string> {
  const short = command.replaceAll(`${folder}/`, "").replace(/\$(PWD|\{PWD\})\//g, "");
  const words = short.split(/[\s"'=;&|()<>]+/);
  const folders = ["", ...words.filter((_, i) => words[i - 1] === "cd")];
  return new Set(folders.flatMap((at) => words.map((word) => slashed(join(at, word)))));
}

/** True if `path`, relative to the folder with `/`, decides the result of a check that names `named`. */
export function decidesCheck(path: string, named: ReadonlySet<string>): boolean {
  const name = nameOf(path);
  return TEST_FILE.test(path) || isConfiguration(path) || Object.hasOwn(MANIFESTS, name) ||
    name === "pyproject.toml" || named.has(path) && NAMED_CHECK.test(name);
}

export function decidingPart(path: string, text: string): string {
  const keys = MANIFESTS[nameOf(path)];
  if (keys !== undefined) {
    const json: unknown = attempt(() => JSON.parse(text));
    return isObject(json) ? JSON.stringify(keys.map((key) => json[key])) : text;
  }
  if (nameOf(path) !== "pyproject.toml") return text;
  return text.split(/^(?=\[)/m).filter((part) => PYPROJECT_PART.test(part)).join("");
}
