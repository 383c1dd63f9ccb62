/** Repairs paths if they can mean only one file or folder of the working directory. @module */

import { attempt } from "../../attempt.ts";
import { expandHome, isWithin } from "../../text/paths.ts";
import {
  basename,
  dirname,
  isAbsolute,
  relative,
  resolve,
  SEPARATOR,
  slashed,
} from "../../text/std_path.ts";
import { withPlainLooks } from "../files/edit_readings.ts";
import { SlipError } from "./slip_error.ts";
import { runSearch } from "../search/run_search.ts";
import { findTarget } from "../search/target.ts";

/** The use of the path: a file to write that does not exist never gets another file's name. */
export type PathUse = "read" | "edit" | "write";

interface PathOrder {
  folder: string;
  use: PathUse;
  isFile: boolean;
  request?: string | undefined;
}

const MAX_NAMES = 5000;

/** Characters around a path, and other systems' names of the working directory or a file. */
const CLEANING: readonly (readonly [RegExp, string])[] = [
  [/^[\s"'`<]+|[\s"'`>,;]+$/g, ""],
  // A Markdown link to the path that it shows.
  [/^\[([^\]]+)\]\(\1\)$/, "$1"],
  [/^file:(?:\/\/(?:localhost)?(?=\/)|\/\/)?/i, ""],
  [/^@(?=[\w.])/, ""],
  [/^\$(?:PWD|\{(?:PWD|workspaceFolder|workspaceRoot)\})\//, ""],
  ...SEPARATOR === "/" ? [[/\\(?= )/g, ""], [/\\+/g, "/"]] as const : [],
  [/(?<=.)\/+$/, ""],
];
/** Folders that models assume for projects, and the sides of a diff. */
const PLACES_BEFORE: readonly RegExp[] = [
  /^\/+/,
  /^\/(?:workspaces?|app|repo|project|testbed|code|root|mnt\/data)\/+/,
  /^[ab]\/(?=.)/,
];
const LINE_BEHIND = /(?::\d+(?:[:-]\d+)*|#L\d+(?:-L?\d+)?|\s+\(?lines? \d+.*)$/i;

/**
 * Returns the path that `~` starts, or the only meaning of a `path` where nothing exists. @throws {SlipError} if it
 * has several.
 */
export async function repairPath(path: string, order: PathOrder): Promise<string | undefined> {
  const whole = expandHome(path);
  if (whole !== path && isAbsolute(whole)) return await repairPath(whole, order) ?? whole;
  if (path.trim() === "" || isInPlace(path, order)) return undefined;
  const clean = decoded(cleaned(path));
  const inFolder = PLACES_BEFORE.concat(
    new RegExp(`^(?:/|/.*/)?${RegExp.escape(basename(order.folder))}/+`),
  )
    .filter((place) => place.test(clean)).map((place) => clean.replace(place, ""));
  const levels = [
    [clean],
    inFolder,
    // A text for one line must not replace the file.
    [clean, ...inFolder].filter((one) => LINE_BEHIND.test(one) && order.use !== "write").map((
      one,
    ) => one.replace(LINE_BEHIND, "")),
  ];
  for (const level of levels) {
    const found = onlyOne(path, level, order);
    if (found !== undefined) return found;
  }
  if (order.use === "write") {
    const same = (await alikeOf(clean, order)).filter((one) =>
      one.normalize() === `./${clean}`.normalize()
    );
    return onlyOne(path, same, order) ?? newPlace(path, inFolder, order) ??
      namedPlace(path, order) ??
      await checkNew(path, clean, order);
  }
  const alike = await Promise.all([clean, ...inFolder].map((one) => alikeOf(one, order)));
  const found = onlyOne(path, alike.flat(), order);
  if (found !== undefined) return found;
  if (order.isFile) await suggestNamed(path, clean, order);
  return undefined;
}

function cleaned(path: string): string {
  return CLEANING.reduce((text, [pattern, by]) => text.replace(pattern, by), path);
}

function decoded(path: string): string {
  if (/%2[ef]|%5c|%0/i.test(path)) return path;
  return attempt(() => decodeURIComponent(path)) ?? path;
}

function isInPlace(path: string, { folder }: PathOrder): boolean {
  try {
    Deno.statSync(resolve(folder, path));
    return true;
  } catch (error) {
    // A path that cannot be checked may exist.
    return !(error instanceof Deno.errors.NotFound || error instanceof TypeError ||
      error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.InvalidData);
  }
}

function onlyOne(path: string, paths: readonly string[], order: PathOrder) {
  const found: string[] = [];
  for (const one of new Set(paths)) {
    const at = resolve(order.folder, one);
    if (one === "" || !isWithin(order.folder, at) || !isInPlace(at, order)) continue;
    const shown = slashed(relative(order.folder, at)) || ".";
    if (!found.includes(shown)) found.push(shown);
  }
  if (found.length < 2) return found[0];
  throw new SlipError(
    `Cannot ${order.use} ${JSON.stringify(path)} as it does not exist, and may be ${
      found.sort().map((one) => JSON.stringify(one)).join(" or ")
    }: name one of them`,
  );
}

/** Returns names that differ in case, accents' form, quotes, dashes or blanks, or have an extension that `path` lacks. */
async function alikeOf(path: string, { folder }: PathOrder): Promise<string[]> {
  let found = ["."];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const next: string[] = [];
    for (const one of found.slice(0, 8)) {
      for (const name of await namesInFolder(resolve(folder, one))) {
        const isSame = looseName(name) === looseName(part);
        const isLonger = isLast && !part.includes(".") && name.startsWith(`${part}.`);
        if (isSame || isLonger) next.push(`${one}/${name}`);
      }
    }
    const exact = next.filter((one) => one.endsWith(`/${part}`));
    found = exact.length > 0 ? exact : next;
  }
  return parts.length === 0 ? [] : found;
}

const looseName = (name: string): string => withPlainLooks(name.normalize("NFC")).toLowerCase();

async function namesInFolder(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (names.push(name) === MAX_NAMES) break;
    }
  } catch { /* An unreadable folder has no names. */ }
  return names;
}

function newPlace(path: string, inFolder: readonly string[], order: PathOrder): string | undefined {
  const given = isAbsolute(path) ? dirname(path) : path.split("/")[0]!;
  if (isAbsolute(path) && isWithin(order.folder, path) || isInPlace(given, order)) return undefined;
  const found = [...new Set(inFolder)].filter((one) =>
    path.endsWith(`/${one}`) && /.\/./.test(one) && !LINE_BEHIND.test(one) &&
    isWithin(order.folder, resolve(order.folder, one)) && isInPlace(dirname(one), order)
  );
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the path from the user's message, if `path` lacks its folder or has a folder too many. */
function namedPlace(path: string, { request = "", ...order }: PathOrder): string | undefined {
  const words = request.split(/[\s"'`(),;:]+/).map((word) => word.replace(/\.$/, ""));
  const isPlaced = path.includes("/") && isInPlace(dirname(path), order);
  const [named, second] = new Set(
    words.filter((word) =>
      word === path || word.includes("/") && isWithin(order.folder, resolve(order.folder, word)) &&
        (word.endsWith(`/${path}`) || !isPlaced && path.endsWith(`/${word}`))
    ),
  );
  return named === path || second !== undefined ? undefined : named;
}

/** Rejects a new file with a mistake in its name. */
async function checkNew(path: string, clean: string, order: PathOrder): Promise<undefined> {
  const refuse = (reason: string, right: string): never => {
    throw new SlipError(
      `Cannot write ${JSON.stringify(path)} as ${reason}: give the path ${JSON.stringify(right)}`,
    );
  };
  const plain = clean.replace(LINE_BEHIND, "");
  const below = isAbsolute(plain) && !isWithin(order.folder, plain)
    ? belowFolder(plain, order)
    : plain;
  const isTop = below !== plain && !await hasTop(plain);
  const right = isTop ? below : plain;
  if (isTop) {
    refuse("nothing is made at the root of the disk, or in a home that is not there", right);
  }
  if (plain !== clean) {
    const isThere = isInPlace(right, order);
    refuse(
      isThere
        ? "the whole file is written: to change a line, call edit_file, and else"
        : "a line number is no part of a file's name",
      right,
    );
  }
  const names = path.split(/[,;\n]\s*/);
  if (names.length > 1 && names.every((name) => /^\S+\.\w+$/.test(name))) {
    throw new SlipError(
      `Cannot write ${JSON.stringify(path)} as one call writes one file: call write_file for each`,
    );
  }
  if (cleaned(path) !== path.replace(/(?<=.)\/+$/, "")) {
    refuse(
      "quotes, blanks at the ends, backslashes and the like are no part of a new file's name",
      right,
    );
  }
  return undefined;
}

/** Returns the end of an absolute path from a name in the folder on, otherwise from the home folder on. */
function belowFolder(path: string, order: PathOrder): string {
  const parts = path.replace(/^\/(?:home|Users)\/[^/]+\/|^\/+/, "").split("/");
  for (let from = 0; from < parts.length - 1; from++) {
    if (isInPlace(parts[from]!, order)) return parts.slice(from).join("/");
  }
  return parts.join("/");
}

async function hasTop(path: string): Promise<boolean> {
  const top = SEPARATOR === "/" ? `/${path.split("/").find((part) => part !== "")}` : dirname(path);
  // A path below a home that does not exist means one below the working directory.
  const [home] = /^\/(?:home|Users)\/[^/]+/.exec(path) ?? [top];
  return await Deno.lstat(home!).then(() => true, () => false);
}

/** The maximum number of files that an error suggests. */
const MAX_NAMED_FILES = 3;
/** The maximum duration of a search in a large tree, in milliseconds. */
const SEARCH_MS = 1000;

/** Throws with the files in other folders that have the plain name of one that does not exist, if they are few. */
async function suggestNamed(path: string, clean: string, order: PathOrder): Promise<void> {
  const name = basename(clean.replace(LINE_BEHIND, ""));
  if (!/^[\w@+-][\w.@+-]*$/.test(name)) return;
  const target = await findTarget({ workingDir: order.folder }, ".", `**/${name}`, false);
  const job = { ...target, limit: MAX_NAMED_FILES + 1 };
  const { signal } = new AbortController();
  const limits = { timeoutMs: SEARCH_MS };
  const { files, end } = await runSearch(job, [job.walk.root], signal, limits);
  if (end !== "done" || files.length === 0 || files.length > MAX_NAMED_FILES) return;
  const shown = files.map((file) => JSON.stringify(file.path)).sort().join(" or ");
  throw new SlipError(
    `Cannot ${order.use} ${JSON.stringify(path)} as it does not exist: do you mean ${shown}?`,
  );
}
