/** Instruction files: the user's, and those of a folder that the user trusts. They are read once. @module */

import { attempt } from "../../attempt.ts";
import { oneLine } from "../../text/one_line.ts";
import { dirname, isAbsolute, join, relative } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";
import { userFile, type VariableReader } from "../../user_files.ts";
import { readBoundedText } from "../bounded_text.ts";
import type { SessionState } from "../../session/extension.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { instructionQuestion } from "./instruction_lines.ts";
import type { LoadedPromptFiles, PromptFile } from "../skills/load.ts";
import type { HeededInstructions, InstructionFile } from "../../session/data.ts";
import type { Permissions } from "../../safety/permissions.ts";
import { foldersDownTo } from "../../safety/repositories.ts";
import type { Brought, FolderTrust, TrustChange, TrustDoubt } from "../../safety/folder_trust.ts";
import type { PathTable } from "../../safety/path_table.ts";
import { isWithin } from "../../text/paths.ts";

/** The names of instruction files. The first existing one of each folder is used. */
const FILE_NAMES = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];
/** The maximum bytes read of a file, as in other agents. */
const MAX_INSTRUCTION_BYTES = 32 * 1024;

interface FolderInstructions {
  /** The folder to trust: the repository's root, or else the folder itself. */
  root: string;
  /** The files, by path relative to the working directory (`name`) and to `root`. */
  files: { name: string; path: string; text: string; promptFile?: PromptFile }[];
  refused: HeededInstructions["refused"][number][];
}

/** How to decide on a folder's instructions. */
export interface HeedOptions {
  /** Loads them this time. */
  trust?: boolean | undefined;
  /** The user's answer, if given without a question. */
  answer?: boolean | undefined;
  /** Asks the user; undefined if there is no answer. */
  confirm?: ((question: Confirmation) => Promise<boolean | undefined>) | undefined;
  /** Reads the variables that locate the user's own instructions. */
  env?: VariableReader;
  /** The skills, commands and sub-agents. Those of the folder are trusted with its instructions. */
  skills?: { find(): Promise<LoadedPromptFiles>; use(found: LoadedPromptFiles): void };
}

type InstructionHost = Pick<SessionState, "agent" | "permissions" | "folderTrust">;

export async function heedInstructions(
  { agent, permissions, folderTrust }: InstructionHost,
  { trust, answer, confirm, env, skills }: HeedOptions,
): Promise<HeededInstructions> {
  const { workingDir } = agent.state;
  const { root, files, refused } = await instructionsOf(workingDir, permissions);
  const found = await skills?.find();
  for (const promptFile of found?.promptFiles ?? []) {
    if (promptFile.scope === "user") continue;
    const { path, text } = promptFile;
    files.push({ name: relative(workingDir, path), path: relative(root, path), text, promptFile });
  }
  const judged = await judgeInstructions(folderTrust, root, files);
  const shown = judged.files.map((
    { file: { name, text, promptFile }, isTrusted, change },
  ): InstructionFile => ({
    name,
    ...promptFile && { kind: promptFile.kind },
    lines: text.trimEnd().split("\n").length,
    ...change && { change },
    ...!isTrusted && !change?.lines && { text },
  }));
  const doubt = judged.doubt && { doubt: judged.doubt };
  const isOpen = !trust && judged.isTrusted === undefined;
  const said = answer ??
    (isOpen ? await confirm?.(instructionQuestion({ files: shown, ...doubt })) : undefined);
  const isHeeded = said ?? (trust || judged.isTrusted);
  const heeded: HeededInstructions = {
    files: shown.map(({ change, text, ...file }, i) => ({
      ...file,
      ...isHeeded === undefined && text !== undefined && { text },
      // A yes trusts the current file, so it is no longer changed.
      ...change && !said && { change },
      isHeeded: isHeeded ?? judged.files[i]!.isTrusted,
    })),
    refused,
    isHeeded,
    ...isHeeded === undefined && doubt,
  };
  if (said !== undefined) {
    await trustInstructions(folderTrust, root, said ? files : undefined)
      .catch((error) => heeded.unsaved = reasonOf(error));
  }
  const userInstructions = userFile("AGENTS.md", env);
  const yours = userInstructions &&
    await readBoundedText(userInstructions, MAX_INSTRUCTION_BYTES);
  agent.state.instructions = [
    ...yours ? [`Instructions of the user:\n${yours}`] : [],
    ...files.filter(({ promptFile }, i) => !promptFile && heeded.files[i]!.isHeeded).map((
      { name, text },
    ) => `Instructions of the project, from ${oneLine(name)}:\n${text}`),
  ].join("\n");
  if (found) {
    const unheeded = new Set(files.filter((_, i) => !heeded.files[i]!.isHeeded));
    const left = new Set([...unheeded].map(({ promptFile }) => promptFile));
    const promptFiles = found.promptFiles.filter((one) => !left.has(one));
    skills?.use({ ...found, promptFiles });
  }
  return heeded;
}

/** A file with instructions; `path` is relative to the folder that is trusted. */
type Instructions = Pick<FoundInstructions, "path" | "text">;

/** The trust in some files of a folder. */
interface Judgement<File extends Instructions> {
  /** False if the user does not want any instructions of the folder; undefined if they have to be asked. */
  isTrusted: boolean | undefined;
  doubt?: TrustDoubt;
  files: { file: File; isTrusted: boolean; change?: TrustChange }[];
}

/** The user's answer about all instructions of a folder. */
const allOf = (root: string): Brought => ({ kind: "instructions", root, name: "", text: "" });
const broughtFile = (root: string, { path, text }: Instructions): Brought => {
  return { kind: "instructions", root, name: path, text };
};

export async function trustsInstructions(
  folderTrust: FolderTrust,
  root: string,
): Promise<boolean | undefined> {
  const { isApproved, doubt } = await folderTrust.of(allOf(root));
  return isApproved ?? (doubt && true);
}

export async function judgeInstructions<File extends Instructions>(
  folderTrust: FolderTrust,
  root: string,
  files: readonly File[],
): Promise<Judgement<File>> {
  if (files.length === 0) return { isTrusted: true, files: [] };
  const { isApproved, doubt } = await folderTrust.of(allOf(root));
  if (!isApproved) {
    const none = files.map((file) => ({ file, isTrusted: false }));
    return { isTrusted: isApproved, ...doubt && { doubt }, files: none };
  }
  const judged = await Promise.all(files.map(async (file) => {
    const { isApproved = false, change } = await folderTrust.of(broughtFile(root, file));
    return { file, isTrusted: isApproved, ...change && { change } };
  }));
  if (judged.every(({ isTrusted }) => isTrusted)) return { isTrusted: true, files: judged };
  return { isTrusted: undefined, doubt: "content", files: judged };
}

/** Saves that the user trusts the folder `root` with `files`, or wants no instructions of it. */
export async function trustInstructions(
  folderTrust: FolderTrust,
  root: string,
  files: readonly Instructions[] | undefined,
): Promise<void> {
  for (const file of files ?? []) await folderTrust.save(broughtFile(root, file), true);
  await folderTrust.save(allOf(root), files !== undefined);
}

async function instructionsOf(folder: string, by: Permissions): Promise<FolderInstructions> {
  const folders = foldersDownTo(folder);
  const root = folders[0]!;
  const found: FolderInstructions = { root, files: [], refused: [] };
  for (const at of folders) {
    const file = await instructionFileIn(at, folder, root, by);
    if (file === undefined) continue;
    if ("reason" in file) found.refused.push(file);
    else found.files.push(file);
  }
  return found;
}

/** An instruction file, by path relative to the working directory (`name`) and to the root. */
export type FoundInstructions = Pick<FolderInstructions["files"][number], "name" | "path" | "text">;

/** Returns the instruction file in the folder `at`, or why it is never loaded; undefined without one. */
export async function instructionFileIn(
  at: string,
  folder: string,
  root: string,
  by: Permissions,
): Promise<FoundInstructions | FolderInstructions["refused"][number] | undefined> {
  for (const name of FILE_NAMES) {
    const path = join(at, name);
    const real = attempt(() => Deno.realPathSync(path));
    if (real === undefined) continue;
    const shown = relative(folder, path);
    // The user trusts the folder's author, but not the files that a link points to.
    const isSecret = real !== path && (by.paths.secretKind(real) !== undefined || isInGit(real));
    const isInside = real.startsWith(join(root, "/")) && !isSecret;
    const own = isInside ? await readBoundedText(real, MAX_INSTRUCTION_BYTES, root) : undefined;
    const text = own && await withImports(own, { path: real, root, by });
    if (own === undefined) return { name: shown, reason: isSecret ? "secret" : "outside" };
    return text!.trim() === ""
      ? undefined
      : { name: shown, path: relative(root, path), text: text! };
  }
  return undefined;
}

function withImports(
  text: string,
  { path, root, by }: { path: string; root: string; by: Permissions },
): Promise<string> | string {
  if (!/^[ \t]*@\S/m.test(text)) return text;
  return expandImports(text, { path, root, maxBytes: MAX_INSTRUCTION_BYTES, paths: by.paths });
}

interface ImportOptions {
  /** The file with the text, with links resolved. */
  path: string;
  /** The folder that imports must stay in. */
  root: string;
  /** The maximum size of all imports, in bytes. */
  maxBytes: number;
  paths: PathTable;
}

/** The maximum number of imported files per text, and their maximum depth. */
const MAX_IMPORTS = 20;
const MAX_IMPORT_DEPTH = 5;
/** A line that is only a path, possibly as an item of a list. */
const IMPORT_LINE = /^[ \t]*(?:[-*][ \t]+)?@(\S+)[ \t]*$/;
const FENCE_LINE = /^[ \t]*(?:```|~~~)/;

/** Returns `text` with each line `@path` replaced by that file. Lines that name no file are unchanged. */
export async function expandImports(text: string, options: ImportOptions): Promise<string> {
  let left = MAX_IMPORTS;
  let room = options.maxBytes;
  const expanded = async (from: string, path: string, open: readonly string[]): Promise<string> => {
    let isCode = false;
    const lines = from.split("\n");
    for (const [i, line] of lines.entries()) {
      if (FENCE_LINE.test(line)) isCode = !isCode;
      const [, name] = isCode ? [] : IMPORT_LINE.exec(line) ?? [];
      if (name === undefined || open.length >= MAX_IMPORT_DEPTH || left <= 0) continue;
      const real = importedFile(name, path, options);
      if (real === undefined || open.includes(real)) continue;
      const found = await readBoundedText(real, room, options.root);
      if (found === undefined) continue;
      left--;
      room = Math.max(0, room - found.length);
      lines[i] = await expanded(found.trimEnd(), real, [...open, real]);
    }
    return lines.join("\n");
  };
  return await expanded(text, options.path, [options.path]);
}

/** Returns the file of an import if it is allowed: inside of the root, and not a secret. */
function importedFile(
  name: string,
  from: string,
  { root, paths }: ImportOptions,
): string | undefined {
  if (isAbsolute(name) || name.startsWith("~")) return undefined;
  const real = attempt(() => Deno.realPathSync(join(dirname(from), name)));
  const isOpen = real !== undefined && isWithin(root, real) &&
    paths.secretKind(real) === undefined && !isInGit(real);
  return isOpen ? real : undefined;
}

/** True for a path below a repository's `.git`, whose files are not written as instructions. */
const isInGit = (path: string): boolean => /[\\/]\.git[\\/]/i.test(path);
