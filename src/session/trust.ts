/**
 * Trust in the instructions of a folder. It is bound to what each file says, and to the folder: what changed
 * since, or lies in another folder at the same path, is not trusted. @module
 */

import { attempt } from "../attempt.ts";
import type { TrustedInstructions } from "../safety/settings_file.ts";
import { diffLines } from "../text/diff.ts";
import { join } from "../text/std_path.ts";
import { digestOf } from "../text/digest.ts";
import type { Permissions } from "./permissions.ts";
import type { InstructionChange, InstructionDoubt } from "./data.ts";

/** A file with instructions; `path` is relative to the folder that is trusted. */
interface Instructions {
  path: string;
  text: string;
}

/** The trust in some files of a folder. */
interface Judgement<File extends Instructions> {
  /** False where the person does not want the files heeded, undefined where they are to be asked. */
  isTrusted: boolean | undefined;
  /** The reason why what was trusted here is not any more. */
  doubt?: InstructionDoubt;
  files: { file: File; isTrusted: boolean; change?: InstructionChange }[];
}

/** Compares the instructions of the folder `root` with those that were trusted there. */
export async function judgeInstructions<File extends Instructions>(
  permissions: Permissions,
  root: string,
  files: readonly File[],
): Promise<Judgement<File>> {
  const trusted = permissions.trusted(root);
  if (files.length === 0) return { isTrusted: true, files: [] };
  if (!trusted) {
    return { isTrusted: trusted, files: files.map((file) => ({ file, isTrusted: false })) };
  }
  const isSameFolder = trusted.folder === folderId(root);
  const judged = await Promise.all(files.map(async (file) => {
    const change = await changeOf(permissions, root, file, trusted);
    return { file, isTrusted: isSameFolder && !change, ...change && { change } };
  }));
  if (judged.every(({ isTrusted }) => isTrusted)) return { isTrusted: true, files: judged };
  return { isTrusted: undefined, doubt: isSameFolder ? "content" : "folder", files: judged };
}

/** Saves that the person trusts the folder `root` with `files`. @throws {Error} when that cannot be saved. */
export async function trustInstructions(
  permissions: Permissions,
  root: string,
  files: readonly Instructions[],
): Promise<void> {
  const folder = folderId(root);
  const before = permissions.trusted(root);
  // Files of folders that the session is not in stay as they were trusted.
  const others = before && before.folder === folder ? before.files : {};
  const hashes = await Promise.all(
    files.map(async ({ path, text }) => [path, await digestOf(text)]),
  );
  await permissions.trust(root, { folder, files: { ...others, ...Object.fromEntries(hashes) } });
  for (const { path, text } of files) await keepText(permissions, root, path, text);
}

/**
 * Identifies the folder at a path. Its inode may be given to a later folder, so the time when it was made
 * counts, too, where the file system knows it. The device's number is left out, as it may be another after
 * a restart. All this is new in a folder that comes from a backup: nothing else tells it from another one.
 */
function folderId(path: string): string {
  const { ino, birthtime } = Deno.statSync(path);
  return `${ino ?? 0}-${birthtime?.getTime() ?? 0}`;
}

/** The change of a file since it was trusted; undefined for none. */
async function changeOf(
  permissions: Permissions,
  root: string,
  { path, text }: Instructions,
  { files }: TrustedInstructions,
): Promise<InstructionChange | undefined> {
  const hash = Object.hasOwn(files, path) ? files[path] : undefined;
  if (hash === undefined) return { type: "added", lines: diffLines("", text) };
  if (hash === await digestOf(text)) return undefined;
  const name = await keptName(permissions, root, path);
  const before = name && attempt(() => Deno.readTextFileSync(name));
  const isKept = before !== undefined && hash === await digestOf(before);
  return { type: "changed", ...isKept && { lines: diffLines(before, text) } };
}

/** Keeps the text that is trusted, to show later what changed; a hash alone does not tell. */
async function keepText(
  permissions: Permissions,
  root: string,
  path: string,
  text: string,
): Promise<void> {
  const name = await keptName(permissions, root, path);
  if (name === undefined) return;
  attempt(() => {
    Deno.mkdirSync(join(name, ".."), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(name, text, { mode: 0o600 });
  });
}

/** The file that keeps the trusted text: one for each path, so that they do not become more and more. */
async function keptName(
  { stateFolder }: Permissions,
  root: string,
  path: string,
): Promise<string | undefined> {
  return stateFolder && join(stateFolder, "instructions", await digestOf(join(root, path)));
}
