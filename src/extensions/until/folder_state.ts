/** The files of a folder, and those that decide a check: tests, the configuration of test runners, and its scripts. @module */

import { attempt } from "../../attempt.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { digestOf } from "../../text/digest.ts";
import { isObject } from "../../text/json.ts";
import { basename, join } from "../../text/std_path.ts";
import { entriesBelow, stampOfInfo } from "../../tools/search/entries_below.ts";
import { readBoundedText } from "../bounded_text.ts";

/** The maximum number of files that are looked at, of bytes of a file that decides a check, and of all of these. */
const MAX_COMPARED_FILES = 200_000;
const MAX_BYTES = 1024 * 1024;
const MAX_DECIDING_BYTES = 64 * 1024 * 1024;

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
    String.raw`(^|/)(conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|\.rspec|\.mocharc\.\w+)$`,
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
const PYPROJECT = /(^|\/)pyproject\.toml$/;
const PYPROJECT_PART = /^\[+tool\.(pytest|tox|nox|hatch|pdm|poe|taskipy)/;
/** The names of files that check, if a command or a task names them. Others are the program: `python3 main.py`. */
const NAMED_CHECK = /\.(sh|bash)$|^[^.]+$|check|test|spec|verif|lint/i;

export interface FolderState {
  stamps: ReadonlyMap<string, string>;
  deciding: ReadonlyMap<string, string>;
}

export async function folderStateOf(
  folder: string,
  command: string,
  signal?: AbortSignal,
): Promise<FolderState> {
  let room = MAX_DECIDING_BYTES;
  const stamps = new Map<string, string>();
  const deciding = new Map<string, string>();
  const tasks: string[] = [];
  const look = async (path: string, info: Deno.FileInfo, isNamed = false) => {
    const stamp = stampOfInfo(info);
    stamps.set(path, stamp);
    const decides = [TEST_FILE, CONFIGURATION, MANIFEST, PYPROJECT].some((one) => one.test(path));
    if (!decides && !isNamed) return;
    signal?.throwIfAborted();
    const isRead = info.size <= Math.min(MAX_BYTES, room);
    if (isRead) room -= info.size;
    const text = isRead ? await readBoundedText(join(folder, path), MAX_BYTES) : undefined;
    // Such as the `__init__.py` of new tests.
    if (text?.trim() === "") return;
    const part = text === undefined ? undefined : decidingPart(path, text);
    deciding.set(path, part === undefined ? stamp : await digestOf(part));
    if (part && (MANIFEST.test(path) || MAKEFILE.test(path))) tasks.push(part);
  };
  // An ignored Makefile is often generated, and has no precedence over others.
  const always = (name: string) => CONFIGURATION.test(name) && name !== "Makefile";
  for (const { path, info } of entriesBelow(folder, repositoryOf(folder), [/^/], always)) {
    if (!info.isFile) continue;
    if (stamps.size === MAX_COMPARED_FILES) {
      // More files differ each time, as they may.
      stamps.set("", crypto.randomUUID());
      break;
    }
    await look(path.slice(folder.length + 1), info);
  }
  // In a task, a name without an ending is often what it makes.
  const ofTasks = tasks.flatMap((task) => checksNamedIn(task, folder)).filter((one) =>
    /\.\w+$/.test(one)
  );
  const named = [...checksNamedIn(command, folder), ...ofTasks];
  for (const path of stamps.keys()) {
    const isNamed = named.some((end) => `/${path}`.endsWith(`/${end}`));
    if (!isNamed || deciding.has(path)) continue;
    const info = attempt(() => Deno.lstatSync(join(folder, path)));
    if (info?.isFile) await look(path, info, true);
  }
  return { stamps, deciding };
}

/** Returns the ends of the paths that a command or a task may name as its check. */
export const checksNamedIn = (text: string, folder: string): string[] =>
  text.replaceAll(`${folder}/`, "").replace(/\$(PWD|\{PWD\})\//g, "")
    .split(/[\s"'\\=:;&|()<>]+/).map((word) => word.replace(/^(\.{1,2}\/)+/, ""))
    .filter((word) => NAMED_CHECK.test(basename(word)));

export function decidingPart(path: string, text: string): string {
  const json: unknown = MANIFEST.test(path) && attempt(() => JSON.parse(text));
  if (isObject(json)) {
    return JSON.stringify(Object.entries(json).filter(([key]) => MANIFEST_PART.test(key)));
  }
  if (!PYPROJECT.test(path)) return text;
  return text.split(/^(?=\[)/m).filter((part) => PYPROJECT_PART.test(part)).join("");
}

export const differs = ({ stamps }: FolderState, now: FolderState): boolean =>
  stamps.size !== now.stamps.size ||
  [...now.stamps].some(([path, stamp]) => stamps.get(path) !== stamp);

/** Returns the files that decide a check and that differ from `accepted`. A new test cannot make others pass. */
export function changedDeciding(accepted: FolderState["deciding"], now: FolderState): string[] {
  const gone = [...accepted.keys()].filter((path) => !now.deciding.has(path));
  const changed = [...now.deciding].filter(([path, digest]) =>
    accepted.has(path) ? accepted.get(path) !== digest : CONFIGURATION.test(path)
  );
  return [...gone, ...changed.map(([path]) => path)];
}
