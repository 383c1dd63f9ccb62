/** Instruction files: the user's, and those of a folder that the user trusts. They are read once. @module */

import { attempt } from "../../attempt.ts";
import { oneLine } from "../../text/one_line.ts";
import { dirname, isAbsolute, join, relative } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";
import { userFile } from "../../user_files.ts";
import { readBoundedText } from "../bounded_text.ts";
import { booleanField, readFrontmatter, textField } from "../skills/frontmatter.ts";
import type { SessionState } from "../../session/extension.ts";
import { instructionQuestion } from "./instruction_lines.ts";
import type { PromptFile } from "../skills/load.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import type { InstructionFile, LoadedInstructions } from "../../session/data.ts";
import type { Permissions } from "../../safety/permissions.ts";
import { foldersDownTo, repositoryOf } from "../../safety/repositories.ts";
import type { Brought, FolderTrust, TrustVerdict } from "../../safety/folder_trust.ts";
import type { PathTable } from "../../safety/path_table.ts";
import { isWithin } from "../../text/paths.ts";

/** The names of instruction files. The first existing one of each folder is used. */
const FILE_NAMES =
  "AGENTS.override.md AGENTS.md CLAUDE.md .claude/CLAUDE.md GEMINI.md .github/copilot-instructions.md .cursorrules"
    .split(" ");
/** The folders of rules. The first existing one of each folder is used. */
const RULE_FOLDERS = [".claude/rules", ".cursor/rules"];
/** The user's own files in the home folder, of which the first is used without one of this program. */
const OWN_FILES = [".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"];
/** The maximum size of a file's part that is used, as in other agents, and of the file. */
const MAX_INSTRUCTION_BYTES = 32 * 1024;
const MAX_WHOLE_BYTES = 1024 * 1024;

interface FolderInstructions {
  /** The folder to trust: the repository's root, or else the folder itself. */
  root: string;
  /** The files, by path relative to the working directory (`name`) and to `root`. */
  files:
    (Omit<InstructionFile, "lines"> & { path: string; text: string; promptFile?: PromptFile })[];
  refused: LoadedInstructions["refused"][number][];
}

interface InstructionOptions {
  trust?: boolean | undefined;
  answer?: boolean | undefined;
  confirm?: SessionState["confirm"];
  signal?: AbortSignal;
}

/** @param skills the skills, commands and sub-agents. Those of the folder are trusted with its instructions */
export async function loadInstructions(
  session: SessionState,
  options: InstructionOptions,
  skills?: SkillsExtension,
): Promise<LoadedInstructions> {
  const { agent, permissions, folderTrust } = session;
  const { workingDir } = agent.state;
  const { root, files, refused } = await instructionsOf(workingDir, permissions);
  const found = await skills?.find(session);
  for (const promptFile of found?.promptFiles ?? []) {
    if (promptFile.scope !== "folder") continue;
    const { path, text } = promptFile;
    files.push({ name: relative(workingDir, path), path: relative(root, path), text, promptFile });
  }
  const { said, ...decided } = await decideOn(folderTrust, root, files, options);
  const loaded: LoadedInstructions = { ...decided, refused };
  if (said !== undefined) {
    await trustInstructions(folderTrust, root, said ? files : undefined)
      .catch((error) => loaded.unsaved = reasonOf(error));
  }
  const yours = await ownInstructions(permissions);
  if (yours?.name) loaded.own = { name: yours.name, lines: lineCount(yours.text) };
  agent.state.instructions = [
    ...yours ? [`Instructions of the user:\n${yours.text}`] : [],
    ...files.filter(({ promptFile }, i) => !promptFile && loaded.files[i]!.isLoaded).map((
      { name, text },
    ) => `Instructions of the project, from ${oneLine(name)}:\n${text}`),
  ].join("\n");
  if (found) {
    const notLoaded = files.filter((_, i) => !loaded.files[i]!.isLoaded);
    const left = new Set(notLoaded.map(({ promptFile }) => promptFile));
    const promptFiles = found.promptFiles.filter((one) => !left.has(one));
    skills?.use(session, { ...found, promptFiles });
  }
  return loaded;
}

/** Decides on files of a folder, or asks: `said` is the answer. */
export async function decideOn(
  folderTrust: FolderTrust,
  root: string,
  files: FolderInstructions["files"],
  { trust, answer, confirm, signal = new AbortController().signal }: InstructionOptions,
): Promise<Omit<LoadedInstructions, "refused"> & { said: boolean | undefined }> {
  const all: TrustVerdict = files.length > 0
    ? await folderTrust.of(allOf(root))
    : { isApproved: true };
  const trusts: TrustVerdict[] = await Promise.all(
    files.map((file) => all.isApproved ? folderTrust.of(broughtFile(root, file)) : {}),
  );
  const shown = files.map(({ path: _, text, promptFile, ...named }, i): InstructionFile => {
    const { isApproved, change } = trusts[i]!;
    return {
      ...named,
      ...promptFile && { kind: promptFile.kind },
      lines: lineCount(text),
      ...change && { change },
      ...!isApproved && !change?.lines && { text },
    };
  });
  const isChanged = all.isApproved && !trusts.every(({ isApproved }) => isApproved);
  const isTrusted = isChanged ? undefined : all.isApproved;
  const doubt = isChanged ? { doubt: "content" as const } : all.doubt && { doubt: all.doubt };
  const isOpen = !trust && isTrusted === undefined;
  const said = answer ??
    (isOpen ? await confirm?.(instructionQuestion({ files: shown, ...doubt }), signal) : undefined);
  const isLoaded = said ?? (trust || isTrusted);
  return {
    files: shown.map(({ change, text, ...file }, i) => ({
      ...file,
      ...isLoaded === undefined && text !== undefined && { text },
      // A yes trusts the current file, so it is no longer changed.
      ...change && !said && { change },
      isLoaded: isLoaded ?? trusts[i]!.isApproved ?? false,
    })),
    isLoaded: isLoaded,
    ...isLoaded === undefined && doubt,
    said,
  };
}

const lineCount = (text: string): number => text.trimEnd().split("\n").length;

/** Returns the user's own instructions; `name` is set if they are another program's. */
async function ownInstructions({ paths, variables }: Permissions) {
  const [own, home] = [userFile("AGENTS.md", variables), variables("HOME")];
  const others = home === undefined ? [] : OWN_FILES.map((name) => join(home, name));
  for (const path of own === undefined ? others : [own, ...others]) {
    const text = await readBoundedText(path, MAX_INSTRUCTION_BYTES);
    if (!text?.trim()) continue;
    const whole = await expandImports(text, { path, root: dirname(path), paths });
    return { text: whole, ...path !== own && { name: `~/${relative(home!, path)}` } };
  }
  return undefined;
}

/** A file with instructions; `path` is relative to the folder that is trusted. */
type Instructions = Pick<FoundInstructions, "path" | "text">;

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
    const read = [await instructionFileIn(at, folder, by)];
    for (const path of ruleFilesIn(at)) {
      read.push(ruleInstructions(await instructionFile(path, folder, by)));
    }
    for (const one of read) {
      if (one && "reason" in one) found.refused.push(one);
      else if (one) found.files.push(one);
    }
  }
  return found;
}

function ruleFilesIn(at: string): string[] {
  const [rules = []] = RULE_FOLDERS.map((path) =>
    (attempt(() => [...Deno.readDirSync(join(at, path))]) ?? []).map(({ name }) => name).sort()
      .filter((name) => /\.mdc?$/.test(name)).map((name) => join(at, path, name))
  ).filter((paths) => paths.length > 0);
  return rules;
}

/** Returns what the model gets of a rule: of one for some files, the path. */
function ruleInstructions(file: FoundInstructions | Refused | undefined) {
  if (!file || "reason" in file) return file;
  const { fields: { paths, globs, description, alwaysApply }, body } = readFrontmatter(file.text);
  const isAlways = booleanField(alwaysApply);
  const about = isAlways ? "" : textField(paths ?? globs ?? description)?.trim();
  if (!about && isAlways === false) return undefined;
  return { ...file, text: about ? `Read ${file.name} before work on: ${oneLine(about)}` : body };
}

/** An instruction file, by path relative to the working directory (`name`) and to the root. */
type FoundInstructions = Omit<FolderInstructions["files"][number], "promptFile">;
type Refused = FolderInstructions["refused"][number];

/** Returns the instruction file in the folder `at`, or why it is never loaded; undefined without one. */
export async function instructionFileIn(at: string, folder: string, by: Permissions) {
  const path = FILE_NAMES.map((name) => join(at, name))
    .find((one) => attempt(() => Deno.realPathSync(one)) !== undefined);
  return path === undefined ? undefined : await instructionFile(path, folder, by);
}

async function instructionFile(
  path: string,
  folder: string,
  by: Permissions,
): Promise<FoundInstructions | Refused | undefined> {
  const root = repositoryOf(folder);
  const real = attempt(() => Deno.realPathSync(path)) ?? path;
  const name = relative(folder, path);
  // The user trusts the folder's author, but not the files that a link points to.
  const isSecret = real !== path && (by.paths.secretKind(real) !== undefined || isInGit(real));
  const isInside = real.startsWith(join(root, "/")) && !isSecret;
  const whole = isInside ? await readBoundedText(real, MAX_WHOLE_BYTES, root) : undefined;
  if (whole === undefined) return { name, reason: isSecret ? "secret" : "outside" };
  const isCut = whole.length > MAX_INSTRUCTION_BYTES;
  const own = isCut ? whole.slice(0, MAX_INSTRUCTION_BYTES).replace(/\n[^\n]*$/, "\n") : whole;
  const imported: string[] = [];
  const text = await expandImports(own, {
    path: real,
    root,
    paths: by.paths,
    imported,
    isRuled: (path) => by.isRuled(path, folder),
  });
  if (text.trim() === "") return undefined;
  const imports = [...new Set(imported)].map((one) => relative(folder, one));
  const file = { name, path: relative(root, path), text, ...imports.length > 0 && { imports } };
  if (!isCut) return file;
  const total = lineCount(whole);
  return {
    ...file,
    text: `${text}[The rest is left out: ${lineCount(own)} of ${total} lines]\n`,
    total,
  };
}

interface ImportOptions {
  /** The file with the text, with links resolved. */
  path: string;
  /** The folder that imports must stay in. */
  root: string;
  paths: PathTable;
  /** True for a file that rules withhold. */
  isRuled?(path: string): Promise<boolean>;
  /** Gets the paths of the imported files. */
  imported?: string[];
}

const MAX_IMPORTS = 20;
const MAX_IMPORT_DEPTH = 5;
/** A line that is only a path, possibly as an item of a list. */
const IMPORT_LINE = /^[ \t]*(?:[-*][ \t]+)?@(\S+)[ \t]*$/;
/** Code in a line, or a path in a sentence, without the signs that end it. */
const IMPORT_IN_LINE = /`[^`]*`|(?<=^|[\s(])@([^\s`()<>]*[^\s`()<>.,;:!?'"])/g;
const FENCE_LINE = /^[ \t]*(?:```|~~~)/;

/**
 * Returns `text` with each line `@path` replaced by that file. Files that a sentence names follow its line. Names of no
 * file are unchanged.
 */
export async function expandImports(text: string, options: ImportOptions): Promise<string> {
  let left = MAX_IMPORTS;
  let room = MAX_INSTRUCTION_BYTES;
  const expanded = async (from: string, path: string, open: readonly string[]): Promise<string> => {
    let isCode = false;
    const lines = from.split("\n");
    for (const [i, line] of lines.entries()) {
      if (FENCE_LINE.test(line)) isCode = !isCode;
      if (isCode || open.length >= MAX_IMPORT_DEPTH) continue;
      const [, alone] = IMPORT_LINE.exec(line) ?? [];
      const found = alone === undefined
        ? Array.from(line.matchAll(IMPORT_IN_LINE), ([, name]) => name ?? [])
        : [alone];
      for (const name of found.flat()) {
        const real = left > 0 ? importedFile(name, path, options) : undefined;
        if (real === undefined || open.includes(real) || await options.isRuled?.(real)) continue;
        const given = await readBoundedText(real, room, options.root);
        if (given === undefined) continue;
        left--;
        options.imported?.push(real);
        room = Math.max(0, room - given.length);
        const text = await expanded(given.trimEnd(), real, [...open, real]);
        lines[i] = alone === undefined ? `${lines[i]}\n${oneLine(name)}:\n${text}` : text;
      }
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
