/** Reads skills, own commands and sub-agents: Markdown files with frontmatter, in the folders of `places.ts`. @module */

import { attempt } from "../../attempt.ts";
import type { PathTable } from "../../permissions/path_table.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, relative, slashed } from "../../text/std_path.ts";
import { readBoundedText } from "../bounded_text.ts";
import { type AgentLimits, readAgentFile } from "../agents/agent_file.ts";
import { booleanField, readFrontmatter, textField } from "./frontmatter.ts";
import type { PluginPlace } from "./places.ts";

/** A skill, a command or a sub-agent of a person or a folder. */
export interface PlugIn {
  kind: PluginPlace["kind"];
  scope: PluginPlace["scope"];
  /** The name: that of a skill or a command stands behind a slash. */
  name: string;
  /** A line that says what it is for. */
  description: string;
  /** The name of its argument, such as `[ISSUE]`. */
  argument?: string;
  /** The file, with links followed. */
  path: string;
  /** The whole file, which trust is bound to. */
  text: string;
  /** The text below the frontmatter. */
  body: string;
  /** False where only a person starts it. */
  isForModel: boolean;
  /** False where only the model does. */
  isForPerson: boolean;
  /** The limits of a sub-agent. */
  limits?: AgentLimits;
}

/** A file that is left out. */
interface PlugInProblem {
  path: string;
  why: string;
}

export interface LoadedPlugIns {
  /** By kind and name, in the order of their names; of those with one name, the first that counts. */
  plugIns: PlugIn[];
  problems: PlugInProblem[];
}

/** The folders and files that are looked at, how deep, the bytes of one file, and of all. */
const MAX_FOLDERS = 2000;
const MAX_PLUG_IN_DEPTH = 5;
const MAX_PLUG_INS = 1000;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_ALL_BYTES = 4 * 1024 * 1024;
const MAX_DESCRIPTION_CHARS = 1024;
const MAX_PLUG_IN_NAME = 64;
/** The longest that a hint of an argument may be. */
const MAX_HINT_CHARS = 40;
const SKILL_FILE = "SKILL.md";
/** Folders in which nobody keeps skills. */
const SKIPPED = /^(?:\.git|node_modules|\.venv|__pycache__)$/;

/** Reads what is in `places`, those that count before others first. */
export function loadPlugIns(places: readonly PluginPlace[], paths: PathTable): LoadedPlugIns {
  return new Loader(paths).load(places);
}

class Loader {
  readonly #found = new Map<string, PlugIn>();
  readonly #problems: PlugInProblem[] = [];
  #folders = 0;
  #files = 0;
  #bytes = 0;

  constructor(private readonly paths: PathTable) {}

  load(places: readonly PluginPlace[]): LoadedPlugIns {
    for (const place of places) {
      const files = place.kind === "skill"
        ? this.#skillFiles(place.path, 1)
        : this.#commandFiles(place.path, 1);
      for (const file of files) this.#add(file, place);
    }
    const skills = new Set([...this.#found.values()].filter(isSkill).map(({ name }) => name));
    const plugIns = [...this.#found.values()]
      .filter((one) => one.kind !== "command" || !skills.has(one.name))
      .sort((a, b) => a.name < b.name ? -1 : 1);
    return { plugIns, problems: this.#problems };
  }

  /** The `SKILL.md` files below a folder, down to the outermost one of each branch. */
  *#skillFiles(folder: string, depth: number): Generator<string> {
    for (const name of this.#foldersIn(folder)) {
      const at = join(folder, name);
      const file = join(at, SKILL_FILE);
      if (attempt(() => Deno.statSync(file).isFile)) yield file;
      else if (depth < MAX_PLUG_IN_DEPTH) yield* this.#skillFiles(at, depth + 1);
    }
  }

  *#commandFiles(folder: string, depth: number): Generator<string> {
    const names = entriesIn(folder).filter(({ isDirectory }) => !isDirectory)
      .map(({ name }) => name).filter((name) => /\.md$/i.test(name)).sort();
    for (const name of names) yield join(folder, name);
    if (depth === MAX_PLUG_IN_DEPTH) return;
    for (const name of this.#foldersIn(folder)) {
      yield* this.#commandFiles(join(folder, name), depth + 1);
    }
  }

  #foldersIn(folder: string): string[] {
    const names = entriesIn(folder)
      .filter(({ name, isDirectory, isSymlink }) =>
        (isDirectory || isSymlink) && !SKIPPED.test(name)
      ).map(({ name }) => name).sort();
    const room = Math.max(0, MAX_FOLDERS - this.#folders);
    this.#folders += names.length;
    return names.slice(0, room);
  }

  #add(file: string, place: PluginPlace): void {
    const refuse = (why: string) => void this.#problems.push({ path: file, why });
    if (this.#files++ >= MAX_PLUG_INS) return;
    const isFull = "there are too many, and they are too long";
    if (this.#bytes > MAX_ALL_BYTES) return refuse(isFull);
    const path = attempt(() => Deno.realPathSync(file));
    if (path === undefined) return refuse("it cannot be read");
    if (this.paths.secretKind(path) !== undefined && place.scope === "folder") {
      return refuse("it leads to what is secret");
    }
    if (place.root !== undefined && !isWithin(place.root, path)) {
      return refuse("it leads out of the folder");
    }
    const text = attempt(() => readBoundedText(path, MAX_FILE_BYTES, place.root));
    if (text === undefined) return refuse("it cannot be read");
    this.#bytes += text.length;
    if (this.#bytes > MAX_ALL_BYTES) return refuse(isFull);
    const found = { path, scope: place.scope };
    const plugIn = place.kind === "skill"
      ? skillOf(file, text, found)
      : place.kind === "agent"
      ? agentOf(file, text, found)
      : ownCommandOf(slashed(relative(place.path, file)), text, found);
    if (typeof plugIn === "string") return refuse(plugIn);
    const key = `${plugIn.kind} ${plugIn.name}`;
    if (!this.#found.has(key)) this.#found.set(key, plugIn);
  }
}

const isSkill = ({ kind }: PlugIn) => kind === "skill";

function entriesIn(folder: string): Deno.DirEntry[] {
  return attempt(() => [...Deno.readDirSync(folder)]) ?? [];
}

type FoundAt = Pick<PlugIn, "path" | "scope">;

/** The skill in a file, or why it is none. A name that breaks the rules is that of its folder. */
function skillOf(file: string, text: string, found: FoundAt): PlugIn | string {
  const { fields, body } = readFrontmatter(text);
  const description = lineOf(textField(fields.description));
  if (description === "") return "it has no description";
  const folder = basename(dirname(file));
  const given = textField(fields.name)?.trim() ?? "";
  const name = [given, folder].map((one) => one.normalize("NFKC").toLowerCase())
    .find((one) =>
      one.length <= MAX_PLUG_IN_NAME && /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*$/u.test(one)
    );
  if (name === undefined) return `its name must be letters, digits and hyphens`;
  return {
    ...found,
    ...{ kind: "skill", name, description, text, body: body.trim() },
    argument: argumentHint(fields["argument-hint"]) ?? "[TEXT]",
    isForModel: booleanField(fields["disable-model-invocation"]) !== true,
    isForPerson: booleanField(fields["user-invocable"]) !== false,
  };
}

/** The sub-agent in a file. */
function agentOf(file: string, text: string, found: FoundAt): PlugIn | string {
  const read = readAgentFile(text, basename(file));
  if (typeof read === "string") return read;
  const { name, description, prompt: body, limits } = read;
  return {
    ...found,
    ...{ kind: "agent", name, description: lineOf(description), text, body, limits },
    ...{ isForModel: true, isForPerson: false },
  };
}

/** The command in a file: `git/commit.md` is `/git:commit`. */
function ownCommandOf(file: string, text: string, found: FoundAt): PlugIn | string {
  const name = file.replace(/\.md$/i, "").replaceAll("/", ":").toLowerCase();
  if (name.length > MAX_PLUG_IN_NAME || !/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_:-]*$/u.test(name)) {
    return `its name must be letters, digits and hyphens`;
  }
  const { fields, body } = readFrontmatter(text);
  if (body.trim() === "") return "it has no text";
  const [first = ""] = body.trim().split("\n");
  const argument = argumentHint(fields["argument-hint"]) ??
    (/\$(?:ARGUMENTS|[1-9])/.test(body) ? "[TEXT]" : undefined);
  return {
    ...found,
    ...{ kind: "command", name, text, body: body.trim() },
    description: lineOf(textField(fields.description) ?? first.replace(/^#+\s*/, "")),
    ...argument !== undefined && { argument },
    isForModel: false,
    isForPerson: true,
  };
}

const lineOf = (text = "") => shortened(oneLine(text), MAX_DESCRIPTION_CHARS);

/** A hint in brackets, as an argument that may be left out. */
function argumentHint(value: Parameters<typeof textField>[0]): string | undefined {
  const hint = shortened(oneLine(textField(value) ?? ""), MAX_HINT_CHARS);
  if (hint === "") return undefined;
  return hint.startsWith("[") ? hint : `[${hint}]`;
}
