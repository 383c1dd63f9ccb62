/** Paths with a slip in them, read as the one file or folder of the working directory that they can mean. @module */

import { isWithin } from "../../text/paths.ts";
import {
  basename,
  dirname,
  isAbsolute,
  relative,
  resolve,
  SEPARATOR,
  slashed,
} from "../../text/std_path.ts";
import { SlipError } from "./slip_error.ts";

/** What is done with the path: another's name is never taken for a file to write that is not there. */
export type PathUse = "read" | "edit" | "write";

interface PathOrder {
  folder: string;
  use: PathUse;
  /** True where the path is a file's. */
  isFile: boolean;
  /** What the person asked for. */
  asked?: string | undefined;
}

/** The most names of a folder that are compared. */
const MAX_NAMES = 5000;

/** Signs around a path, and what stands for the working directory or a file in other places. */
const CLEANING: readonly (readonly [RegExp, string])[] = [
  [/^[\s"'`<]+|[\s"'`>,;]+$/g, ""],
  // A link of Markdown to the path that it shows.
  [/^\[([^\]]+)\]\(\1\)$/, "$1"],
  [/^file:(?:\/\/(?:localhost)?(?=\/)|\/\/)?/i, ""],
  [/^@(?=[\w.])/, ""],
  [/^\$(?:PWD|\{(?:PWD|workspaceFolder|workspaceRoot)\})\//, ""],
  ...SEPARATOR === "/" ? [[/\\(?= )/g, ""], [/\\+/g, "/"]] as const : [],
  [/(?<=.)\/+$/, ""],
];
/** Folders in which models think that projects are, and the sides of a difference. */
const PLACES_BEFORE: readonly RegExp[] = [
  /^\/+/,
  /^\/(?:workspaces?|app|repo|project|testbed|code|root|mnt\/data)\/+/,
  /^[ab]\/(?=.)/,
];
/** A line behind a path. */
const LINE_BEHIND = /(?::\d+(?:[:-]\d+)*|#L\d+(?:-L?\d+)?|\s+\(?lines? \d+.*)$/i;

/**
 * The path that `path` can only mean, where there is nothing at `path` itself.
 * @throws {SlipError} where it can mean several, or a file would be made by a name that is a slip.
 */
export async function repairPath(path: string, order: PathOrder): Promise<string | undefined> {
  if (path.trim() === "" || isInPlace(path, order)) return undefined;
  const clean = decoded(cleaned(path));
  const inFolder = PLACES_BEFORE.concat(
    new RegExp(`^(?:/|/.*/)?${RegExp.escape(basename(order.folder))}/+`),
  )
    .filter((place) => place.test(clean)).map((place) => clean.replace(place, ""));
  const levels = [
    [clean],
    inFolder,
    // What is written to a line must not replace the file.
    [clean, ...inFolder].filter((one) => LINE_BEHIND.test(one) && order.use !== "write").map((
      one,
    ) => one.replace(LINE_BEHIND, "")),
  ];
  for (const level of levels) {
    const found = onlyOne(path, level, order);
    if (found !== undefined) return found;
  }
  if (order.use === "write") {
    return newPlace(path, inFolder, order) ?? namedPlace(path, order) ??
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
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isInPlace(path: string, { folder }: PathOrder): boolean {
  try {
    Deno.statSync(resolve(folder, path));
    return true;
  } catch (error) {
    // What cannot be looked at may be there.
    return !(error instanceof Deno.errors.NotFound || error instanceof TypeError ||
      error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.InvalidData);
  }
}

/** The one of `paths` that is in the folder. */
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

/** Names that differ in case, or have an extension that `path` lacks. */
async function alikeOf(path: string, { folder }: PathOrder): Promise<string[]> {
  let found = ["."];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const next: string[] = [];
    for (const one of found.slice(0, 8)) {
      for (const name of await namesInFolder(resolve(folder, one))) {
        const isSame = name.toLowerCase() === part.toLowerCase();
        const isLonger = isLast && !part.includes(".") && name.startsWith(`${part}.`);
        if (isSame || isLonger) next.push(`${one}/${name}`);
      }
    }
    const exact = next.filter((one) => one.endsWith(`/${part}`));
    found = exact.length > 0 ? exact : next;
  }
  return parts.length === 0 ? [] : found;
}

async function namesInFolder(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (names.push(name) === MAX_NAMES) break;
    }
  } catch { /* It has none. */ }
  return names;
}

/** The place of a new file whose folder exists only without the place before it. */
function newPlace(path: string, inFolder: readonly string[], order: PathOrder): string | undefined {
  const given = isAbsolute(path) ? dirname(path) : path.split("/")[0]!;
  if (isAbsolute(path) && isWithin(order.folder, path) || isInPlace(given, order)) return undefined;
  const found = [...new Set(inFolder)].filter((one) =>
    path.endsWith(`/${one}`) && /.\/./.test(one) && !LINE_BEHIND.test(one) &&
    isWithin(order.folder, resolve(order.folder, one)) && isInPlace(dirname(one), order)
  );
  return found.length === 1 ? found[0] : undefined;
}

/** The path that the person named, of which `path` lacks the folder, or has a folder too many. */
function namedPlace(path: string, { asked = "", ...order }: PathOrder): string | undefined {
  const words = asked.split(/[\s"'`(),;:]+/).map((word) => word.replace(/\.$/, ""));
  const isPlaced = path.includes("/") && isInPlace(dirname(path), order);
  const [named, second] = new Set(
    words.filter((word) =>
      word === path || word.includes("/") && isWithin(order.folder, resolve(order.folder, word)) &&
        (word.endsWith(`/${path}`) || !isPlaced && path.endsWith(`/${word}`))
    ),
  );
  return named === path || second !== undefined ? undefined : named;
}

/** Refuses a new file whose name or place is a slip. */
async function checkNew(path: string, clean: string, order: PathOrder): Promise<undefined> {
  const { folder } = order;
  const refuse = (reason: string, right: string): never => {
    throw new SlipError(
      `Cannot write ${JSON.stringify(path)} as ${reason}: give the path ${JSON.stringify(right)}`,
    );
  };
  const plain = clean.replace(LINE_BEHIND, "");
  const below = isAbsolute(plain) && !isWithin(folder, plain) ? belowFolder(plain, order) : plain;
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
  await checkTest(path, folder);
}

/** The fixed part of the name of a test, with what stands for the rest of it. */
const TEST_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^test_[\w.-]+(?=\.\w+$)/, "test_*"],
  [/^[\w.-]+(?=[._](?:test|spec)\.\w+$)/, "*"],
];

/** Refuses a new test at the top of the folder where all others of its name are in one folder below. */
async function checkTest(path: string, folder: string): Promise<undefined> {
  const [name, by] = TEST_NAMES.find(([one]) => one.test(path)) ?? [];
  if (name === undefined) return;
  const pattern = path.replace(name, by!);
  const { folderOfAll } = await import("./named_files.ts");
  const place = await folderOfAll(pattern, folder);
  if (place === undefined) return;
  throw new SlipError(
    `Cannot write ${
      JSON.stringify(path)
    } as all files of the name ${pattern} are in the folder ${place}: give the path ${
      JSON.stringify(`${place}/${path}`)
    }, or ${JSON.stringify(`./${path}`)} to make it at the top`,
  );
}

/** The end of an absolute path that begins with a name in the folder, else all but homes and the slash. */
function belowFolder(path: string, order: PathOrder): string {
  const parts = path.replace(/^\/(?:home|Users)\/[^/]+\/|^\/+/, "").split("/");
  for (let from = 0; from < parts.length - 1; from++) {
    if (isInPlace(parts[from]!, order)) return parts.slice(from).join("/");
  }
  return parts.join("/");
}

/** True where the first folder of an absolute path is there. */
async function hasTop(path: string): Promise<boolean> {
  const top = SEPARATOR === "/" ? `/${path.split("/").find((part) => part !== "")}` : dirname(path);
  // A path below a home that nobody has is meant below the working directory.
  const [home] = /^\/(?:home|Users)\/[^/]+/.exec(path) ?? [top];
  return await Deno.lstat(home!).then(() => true, () => false);
}

/** Names the files elsewhere in the folder that have the name of one that is not there. */
async function suggestNamed(path: string, clean: string, order: PathOrder): Promise<void> {
  const plain = clean.replace(LINE_BEHIND, "");
  const { filesNamed } = await import("./named_files.ts");
  const files = await filesNamed(plain, order.folder);
  if (files.length === 0) return;
  const shown = files.map((one) => JSON.stringify(one)).join(" or ");
  throw new SlipError(
    `Cannot ${order.use} ${JSON.stringify(path)} as it does not exist: do you mean ${shown}?`,
  );
}
