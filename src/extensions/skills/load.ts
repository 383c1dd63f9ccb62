/** Reads skills, commands and sub-agents: Markdown files with frontmatter, in folders of `places.ts`. @module */

import { attempt } from "../../attempt.ts";
import type { PathTable } from "../../safety/path_table.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, relative, slashed } from "../../text/std_path.ts";
import { type AgentLimits, limitsIn } from "../agents/agent_file.ts";
import { EXPLORE } from "../../tools/explore.ts";
import { readBoundedText } from "../bounded_text.ts";
import { booleanField, type FrontmatterFile, readFrontmatter, textField } from "./frontmatter.ts";
import type { PromptFolder } from "./places.ts";

/** A Markdown file with a prompt: a skill, a command or a sub-agent of the user or a folder. */
export interface PromptFile {
  kind: PromptFolder["kind"];
  scope: PromptFolder["scope"];
  /** The name. Skills and commands are typed with a slash before it. */
  name: string;
  description: string;
  argument?: string;
  /** The file, with links resolved. */
  path: string;
  /** The whole file, which trust is bound to. */
  text: string;
  /** The text below the frontmatter. */
  body: string;
  /** False if only the user may start it. */
  isForModel: boolean;
  /** False if only the model may start it. */
  isForPerson: boolean;
  limits?: AgentLimits;
}

export interface LoadedPromptFiles {
  /** By kind and name, sorted by name. Of equal names, the first place wins. */
  promptFiles: PromptFile[];
  problems: { path: string; why: string; plugin?: string }[];
}

/** The maximum number of folders to visit, their depth, and the size of a file. */
const MAX_FOLDERS = 2000;
const MAX_PROMPT_DEPTH = 5;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_DESCRIPTION_CHARS = 1024;
const MAX_PROMPT_NAME = 64;
/** The maximum length of an argument's hint. */
const MAX_HINT_CHARS = 40;
const SKILL_FILE = "SKILL.md";
/** Folders that do not contain skills. */
const SKIPPED = /^(?:\.git|node_modules|\.venv|__pycache__)$/;

/** Reads `places`, in order of precedence. */
export async function loadPromptFiles(
  places: readonly PromptFolder[],
  paths: PathTable,
): Promise<LoadedPromptFiles> {
  const found = new Map<string, PromptFile>();
  const problems: LoadedPromptFiles["problems"] = [];
  const visited = { folders: 0 };
  for (const place of places) {
    const { kind, path, only, plugin } = place;
    const files = only === undefined
      ? markdownFilesIn(path, kind === "skill", visited)
      : [join(path, only)];
    for (const file of files) {
      const read = await promptFileAt(file, place, paths);
      const key = typeof read === "string" ? "" : `${kind} ${read.name}`;
      if (typeof read !== "string") found.set(key, found.get(key) ?? read);
      else problems.push({ path: file, why: read, ...plugin && { plugin: plugin.name } });
    }
  }
  const all = [...found.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  const skills = new Set(all.filter(isOwnSkill).map(({ name }) => name));
  const promptFiles = all.filter((one) => one.kind !== "command" || !skills.has(one.name));
  return { promptFiles, problems };
}

/** Finds the Markdown files below a folder; of skills, the outermost `SKILL.md` of each branch. */
function* markdownFilesIn(
  folder: string,
  areSkills: boolean,
  visited: { folders: number },
  depth = 1,
): Generator<string> {
  const entries = (attempt(() => [...Deno.readDirSync(folder)]) ?? [])
    .sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of areSkills ? [] : entries) {
    if (!isDirectory && /\.md$/i.test(name)) yield join(folder, name);
  }
  for (const { name, isFile } of entries) {
    if (isFile || SKIPPED.test(name) || ++visited.folders > MAX_FOLDERS) continue;
    const at = join(folder, name);
    const file = join(at, SKILL_FILE);
    if (areSkills && attempt(() => Deno.statSync(file).isFile)) yield file;
    else if (depth < MAX_PROMPT_DEPTH) yield* markdownFilesIn(at, areSkills, visited, depth + 1);
  }
}

/** Returns the skill, command or sub-agent in a file, or the reason why the file has no valid one. */
async function promptFileAt(
  file: string,
  { kind, scope, plugin, root, path: folder }: PromptFolder,
  paths: PathTable,
): Promise<PromptFile | string> {
  const path = attempt(() => Deno.realPathSync(file));
  if (path === undefined) return "it cannot be read";
  if (paths.secretKind(path) !== undefined && scope !== "user") return "it links to a secret file";
  if (root !== undefined && !isWithin(root, path)) return "it links out of the folder";
  const written = await readBoundedText(path, MAX_FILE_BYTES, root);
  if (written === undefined) return "it cannot be read";
  const text = plugin === undefined
    ? written
    : written.replaceAll("${CLAUDE_PLUGIN_ROOT}", () => plugin.root)
      .replaceAll("${CLAUDE_SKILL_DIR}", () => dirname(path));
  const read = definitionIn(kind, text, slashed(relative(folder, file)), plugin);
  if (typeof read === "string") return read;
  const name = plugin === undefined ? read.name : `${plugin.name}:${read.name}`;
  return { kind, scope, path, text, ...read, name };
}

const isOwnSkill = ({ kind, scope }: PromptFile) => kind === "skill" && scope !== "plugin";

/** The fields that come from the file itself. */
type Definition = Omit<PromptFile, "kind" | "scope" | "path" | "text">;

/** Returns the definition in a file, or why it is invalid. `file` is its path below the folder of its kind. */
export function definitionIn(
  kind: PromptFile["kind"],
  text: string,
  file: string,
  plugin?: PromptFolder["plugin"],
): Definition | string {
  const { fields, body } = readFrontmatter(text);
  return DEFINITION_READERS[kind]({ fields, body: body.trim() }, file, plugin);
}

type FieldValue = Parameters<typeof textField>[0];
type DefinitionReader = (
  read: FrontmatterFile,
  file: string,
  plugin: PromptFolder["plugin"],
) => Definition | string;

const BAD_NAME = "its name must be letters, digits and hyphens";
const NO_DESCRIPTION = "it has no description";
const NO_TEXT = "it has no text";

const DEFINITION_READERS: Readonly<Record<PromptFile["kind"], DefinitionReader>> = {
  /** An invalid name is replaced by that of the skill's folder. */
  skill({ fields, body }, file) {
    const description = lineOf(fields.description);
    if (description === "") return NO_DESCRIPTION;
    const name = nameIn(fields, basename(dirname(file)), /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*$/u);
    if (name === undefined) return BAD_NAME;
    return {
      name,
      description,
      body,
      argument: argumentHint(fields["argument-hint"]) ?? "[TEXT]",
      isForModel: booleanField(fields["disable-model-invocation"]) !== true,
      isForPerson: booleanField(fields["user-invocable"]) !== false,
    };
  },
  /** One of a plug-in needs no description, as in Claude Code, and its name has the plug-in's before it. */
  agent({ fields, body }, file, plugin) {
    const description = lineOf(fields.description) || lineOf(plugin && titleOf(body));
    if (description === "") return NO_DESCRIPTION;
    if (body === "") return NO_TEXT;
    const name = nameIn(fields, withoutEnding(basename(file)), /^[a-z\d][\w-]*(?:\.[\w-]+)*$/);
    if (name === undefined) return BAD_NAME;
    if (name === EXPLORE && !plugin) return "a built-in sub-agent has this name";
    const limits = limitsIn(fields);
    return { name, description, body, limits, isForModel: true, isForPerson: false };
  },
  /** `git/commit.md` is `/git:commit`. */
  command({ fields, body }, file) {
    const name = withoutEnding(file).replaceAll("/", ":").toLowerCase();
    if (name.length > MAX_PROMPT_NAME || !/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_:-]*$/u.test(name)) {
      return BAD_NAME;
    }
    if (body === "") return NO_TEXT;
    const argument = argumentHint(fields["argument-hint"]) ??
      (/\$(?:ARGUMENTS|[1-9])/.test(body) ? "[TEXT]" : undefined);
    return {
      name,
      body,
      description: lineOf(fields.description ?? titleOf(body)),
      ...argument !== undefined && { argument },
      isForModel: false,
      isForPerson: true,
    };
  },
};

const titleOf = (body: string) => body.split("\n")[0]!.replace(/^#+\s*/, "");

const withoutEnding = (file: string) => file.replace(/\.md$/i, "");

function nameIn(
  { name: given }: FrontmatterFile["fields"],
  other: string,
  valid: RegExp,
): string | undefined {
  return [textField(given)?.trim() ?? "", other].map((one) => one.normalize("NFKC").toLowerCase())
    .find((one) => one.length <= MAX_PROMPT_NAME && valid.test(one));
}

const lineOf = (value: FieldValue, maxChars = MAX_DESCRIPTION_CHARS): string =>
  shortened(oneLine(textField(value) ?? ""), maxChars);

/** Returns a hint as written, in brackets if the argument is optional. */
const argumentHint = (value: FieldValue) => lineOf(value, MAX_HINT_CHARS) || undefined;
