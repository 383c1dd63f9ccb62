/** Finds the files that decide a check: tests, the configuration of test runners, and its scripts. @module */

import { attempt } from "../../attempt.ts";
import { linksOn, realPathOf } from "../../safety/places.ts";
import {
  changesSince,
  type FileContent,
  type FolderSnapshot,
  snapshotOf,
} from "../../session/snapshot.ts";
import { knownContent } from "../../session/undo.ts";
import { isObject } from "../../text/json.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, join, relative } from "../../text/std_path.ts";
import { utf8Text } from "../../text/utf8.ts";

const TEST_FILE = new RegExp(
  [
    String.raw`(^|/)(tests?|__tests__|__snapshots__|specs?|e2e|testdata)/`,
    String.raw`(^|/)test_[^/]+$|[._-](tests?|spec|cy)\.[^/]+$`,
    // Not `test.log` and `test.db`, which a check may write.
    String.raw`(^|/)tests?\.([cm]?[jt]sx?|py|rb|php|pl|lua|jl|[rR]|sh)$`,
    String.raw`(Tests?|Spec|IT)\.(java|kt|kts|cs|fs|scala|groovy|swift|php)$`,
  ].join("|"),
);
const MAKEFILE = /(^|\/)((GNUm|M|m)akefile|[Jj]ustfile|Rakefile|[Tt]askfile\.ya?ml)$/;
const CONFIGURATION = new RegExp(
  [
    MAKEFILE.source,
    String
      .raw`(^|/)(conftest\.py|\.?pytest\.(ini|toml)|tox\.ini|noxfile\.py|\.rspec|\.mocharc\.\w+)$`,
    String
      .raw`(^|/)(phpunit\.xml(\.dist)?|(jest|vitest|playwright|cypress|karma|ava|jasmine)\.config\.\w+)$`,
    // Python runs the first before the tests of a folder, and prefers the others to the modules that run tests.
    String
      .raw`(^|/)tests?/(.*/)?__init__\.py$|^(_?pytest|unittest|doctest|sitecustomize)(/__init__)?\.pyc?$`,
  ].join("|"),
);
/** Of manifests, only these parts decide a check. Others change with a dependency. */
const MANIFEST = /(^|\/)((package|composer)\.json|deno\.jsonc?)$/;
const MANIFEST_PART =
  /^(scripts|tasks|test|lint|compilerOptions|jest|mocha|ava|vitest|nyc|tap|wireit)$/;
const PYPROJECT = /(^|\/)(pyproject\.toml|setup\.cfg)$/;
const PYPROJECT_PART = /^\[+tool[.:](pytest|tox|nox|hatch|pdm|poe|taskipy)/;
/** The names of files that check, if a command or a task names them. Others are the program: `python3 main.py`. */
const NAMED_CHECK = /\.(sh|bash)$|^[^.]+$|check|test|spec|verif|lint/i;
/** The names of scripts. A check may write other files that its command names: `npm test > test.log`. */
const SCRIPT = /\.(sh|bash|[cm]?[jt]s|py|rb|pl|php|lua)$|^[^.]*(check|test|spec|verif|lint)[^.]*$/i;

/** Returns the ends of the paths that a command or a task may name as its check. */
export const checksNamedIn = (text: string, folder: string): string[] =>
  text.replaceAll(`${folder}/`, "").replace(/\$(PWD|\{PWD\})\//g, "")
    .split(/[\s"'\\=:;&|()<>]+/).map((word) => word.replace(/^(\.{0,2}\/)+/, ""))
    .filter((word) => NAMED_CHECK.test(basename(word)));

export function decidingPart(path: string, text: string): string {
  const json: unknown = MANIFEST.test(path) && attempt(() => JSON.parse(text));
  if (isObject(json)) {
    return JSON.stringify(Object.entries(json).filter(([key]) => MANIFEST_PART.test(key)));
  }
  if (!PYPROJECT.test(path)) return text;
  return text.split(/^(?=\[)/m).filter((part) => PYPROJECT_PART.test(part)).join("");
}

/** Looks at a folder, and at those of `--add-dir` that are not too large, also at the ignored configuration of test runners. */
export async function lookWithChecks(
  folder: string,
  before?: FolderSnapshot,
  added: readonly string[] = [],
): Promise<FolderSnapshot> {
  // An ignored Makefile is often generated, and has no precedence over others.
  const always = (name: string) => CONFIGURATION.test(name) && name !== "Makefile";
  const look = await snapshotOf(folder, before, always);
  for (const at of added) {
    const { files } = await snapshotOf(at, before && { ...before, folder: at }, always);
    for (const [path, file] of files ?? []) look.files?.set(path, file);
  }
  return look;
}

const endsWithOne = (path: string, ends: readonly string[]): boolean =>
  ends.some((end) => path.endsWith(`/${end}`));

/** Returns a content as text, without blanks at its ends; "?" if it is unknown. */
async function trimmedText(content: FileContent): Promise<string> {
  const known = await knownContent(content);
  return typeof known === "string" ? "?" : utf8Text(known).trim();
}

/** Returns the ends of the paths of files that a command, and the tasks of its folder, name as a check. */
export async function namedChecks(
  command: string,
  { folder, files = new Map() }: FolderSnapshot,
): Promise<readonly string[]> {
  const manifests = [...files].filter(([path]) => MANIFEST.test(path) || MAKEFILE.test(path));
  const tasks = manifests.map(async ([path, file]) =>
    decidingPart(path, await trimmedText(file.content))
  );
  // In a task, a name without an ending is often what it makes.
  const byTasks = (await Promise.all(tasks)).flatMap((task) => checksNamedIn(task, folder))
    .filter((one) => /\.\w+$/.test(one));
  const named = [...checksNamedIn(command, folder), ...byTasks];
  const places = [
    ...[...files.keys()].filter((path) => CONFIGURATION.test(path) || endsWithOne(path, named)),
    ...named.map((one) => join(folder, one)),
  ].filter((path) => attempt(() => Deno.statSync(path).isFile))
    .flatMap((path) => [...linksOn(folder, path), realPathOf(path) ?? path]);
  const endOf = (path: string) => isWithin(folder, path) ? relative(folder, path) : path.slice(1);
  return [...named, ...places.map(endOf)];
}

/**
 * Returns the files that decide a check and changed between two looks. A new test cannot make others pass, a script
 * that is named and that was missing can.
 * @param isStrict also those that have their content again
 */
export async function changedDeciding(
  before: FolderSnapshot,
  now: FolderSnapshot,
  named: readonly string[],
  isStrict = false,
): Promise<string[]> {
  if (!before.files || !now.files) return ["the folder has too many files to compare them"];
  const changed: string[] = [];
  for (const { path } of changesSince(before, now)) {
    const name = relative(before.folder, path);
    const [isConfiguration, isNamed] = [CONFIGURATION.test(name), endsWithOne(path, named)];
    const isTest = [TEST_FILE, MANIFEST, PYPROJECT].some((one) => one.test(name));
    if (!isConfiguration && !isNamed && !isTest) continue;
    const was = await trimmedText(before.files.get(path)?.content);
    const is = await trimmedText(now.files.get(path)?.content);
    // A new one may tell a test runner to run nothing.
    const isProject = PYPROJECT.test(name);
    const isScript = isNamed && !isTest && (SCRIPT.test(basename(name)) || is.startsWith("#!"));
    // Such as the `__init__.py` of new tests.
    if (was === "" && !isConfiguration && !isProject && !isScript) continue;
    const isSame = was !== "?" && decidingPart(name, was) === decidingPart(name, is);
    if (isStrict || !isSame) changed.push(name);
  }
  return changed;
}
