/** The user's `permissions.json`, and the settings that such a file may contain. @module */

import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { isObject } from "../text/json.ts";
import { expandHome, isWithin } from "../text/paths.ts";
import { isAbsolute } from "../text/std_path.ts";
import { readJsonFile, replaceUserFile } from "../user_files.ts";
import type { PermissionChoice } from "./choice.ts";
import {
  type KeptRule,
  parseKept,
  parseRule,
  PLUGGED,
  realFolder,
  type Rule,
  RULE_EFFECTS,
  type RuleEffect,
} from "./rules.ts";
import { APPROVE_MODES, modeAmong, SANDBOX_MODES, type Strictness } from "./settings.ts";

interface SettingsLevel extends Partial<Strictness> {
  network?: boolean;
  sandboxRead: string[];
  sandboxWrite: string[];
  rules: Rule[];
}

const KEYS = "approve sandbox network sandboxRead sandboxWrite deny ask allow folders".split(" ");
const TOOL_GROUPS = ["read", "write", "execute", "network", "*"];

interface LevelSource {
  file: string;
  toolNames: readonly string[];
  /** The folder that the level is for, if it is above the working directory. */
  above?: string | undefined;
}

/** Checks one level. @throws {UsageError} for an unknown setting or an invalid value. */
export function levelOf(value: unknown, source: LevelSource): SettingsLevel {
  const { file } = source;
  if (!isObject(value)) throw unusable("a folder", file, "a JSON object");
  for (const key of Object.keys(value)) {
    if (!KEYS.includes(key)) throw unusable(key, file, `one of ${KEYS.join(", ")}`);
  }
  const { folders = {} } = value;
  if (!isObject(folders) || !Object.keys(folders).every((name) => isAbsolute(name))) {
    throw unusable("folders", file, "an object whose keys are absolute paths, without ~");
  }
  const approve = modeAmong(APPROVE_MODES, value.approve, `approve in ${file}`);
  const sandbox = modeAmong(SANDBOX_MODES, value.sandbox, `sandbox in ${file}`);
  const level: SettingsLevel = {
    ...approve && { approve },
    ...sandbox && { sandbox },
    sandboxRead: pathList("sandboxRead", value, file),
    sandboxWrite: pathList("sandboxWrite", value, file),
    rules: [],
  };
  const { network } = value;
  if (typeof network === "boolean") level.network = network;
  else if (network !== undefined) throw unusable("network", file, "true or false");
  if (RULE_EFFECTS.some((effect) => value[effect] !== undefined)) {
    level.rules = rulesIn(value, source);
  }
  return level;
}

function pathList(key: string, value: Record<string, unknown>, file: string): string[] {
  const given = value[key] ?? [];
  const paths = Array.isArray(given)
    ? given.map((path) => typeof path === "string" ? expandHome(path) : "")
    : [""];
  if (paths.every(isAbsolute)) return paths;
  throw unusable(key, file, "a list of paths from / or ~ on");
}

function unusable(key: string, file: string, constraint: string): UsageError {
  return new UsageError(`Cannot use ${key} in ${file} as it must be ${constraint}`);
}

function rulesIn(value: Record<string, unknown>, { file, toolNames, above }: LevelSource): Rule[] {
  const names = [...toolNames, ...TOOL_GROUPS];
  return RULE_EFFECTS.flatMap((effect) => {
    const texts = value[effect] ?? [];
    if (!Array.isArray(texts) || !texts.every((rule) => isRule(rule, effect))) {
      throw unusable(effect, file, "a list of rules");
    }
    return texts.map((given: string | KeptRule) => {
      try {
        const rule = typeof given === "string"
          ? parseRule(effect, given, above)
          : parseKept(given, above);
        // The servers of a folder are not known here.
        if (names.includes(rule.tool) || rule.tool.startsWith(PLUGGED)) return rule;
        // A rule for an unknown tool would silently match no call.
        const why = `no tool is called ${rule.tool}: there are ${names.join(", ")}`;
        throw new SyntaxError(`Cannot use the rule ${JSON.stringify(rule.text)} as ${why}`);
      } catch (error) {
        throw new UsageError(`${(error as Error).message} (in ${file})`);
      }
    });
  });
}

function isRule(value: unknown, effect: RuleEffect): value is string | KeptRule {
  if (typeof value === "string") return true;
  if (effect !== "allow" || !isObject(value) || typeof value.rule !== "string") return false;
  const { rule: _, confined = true, ...others } = value;
  return Object.keys(others).length === 0 && typeof confined === "boolean";
}

type FolderSettings = Record<string, unknown>;

export const rulesOf = ({ allow }: FolderSettings): unknown[] => Array.isArray(allow) ? allow : [];
export const ruleText = (rule: unknown): string => `${isObject(rule) ? rule.rule : rule}`;

export class PermissionsFile {
  #content: Record<string, unknown> | undefined;

  /** @throws {UsageError} if `path` cannot be read. `path` is undefined without a home folder. */
  constructor(
    readonly path: string | undefined,
    readonly toolNames: readonly string[],
    private readonly usual: PermissionChoice["usual"] = {},
  ) {
    this.#content = path === undefined ? undefined : readJsonFile(path);
  }

  get hasFolders(): boolean {
    return this.#content?.folders !== undefined;
  }

  get mayAllow(): boolean {
    return this.hasFolders || this.#content?.allow !== undefined;
  }

  general(): SettingsLevel {
    return { ...this.usual, ...this.#level(this.#content ?? {}) };
  }

  /** The folders that commands of any folder may write. */
  get sandboxWrite(): string[] {
    const levels = [this.#content, ...Object.values(this.#folders())];
    return levels.flatMap((one) => attempt(() => this.#level(one).sandboxWrite) ?? []);
  }

  forFolder(folder: string): SettingsLevel {
    return this.#level(this.#folders()[folder] ?? {});
  }

  /** Returns the settings for the folders above one, and for the folder itself under the name of a link. */
  aboveFolder(folder: string): SettingsLevel[] {
    return Object.entries(this.#folders()).flatMap(([name, value]) => {
      // `folder` has no links in its path; the name in the user's file may have some.
      const above = realFolder(name);
      if (name === folder || !isWithin(above, folder)) return [];
      return this.#level(value, above === folder ? undefined : above);
    });
  }

  allowed(folder: string): string[] {
    const here = this.#folders()[folder];
    return isObject(here) ? rulesOf(here).map(ruleText) : [];
  }

  /** Changes and saves a folder's settings. Returns the file's path. @throws {Error} if it cannot be read or written. */
  async save(folder: string, change: (here: FolderSettings) => FolderSettings): Promise<string> {
    const { path } = this;
    if (path === undefined) throw new Error("there is no home folder to save it in");
    const file = readJsonFile(path) ?? {};
    const folders = isObject(file.folders) ? file.folders : {};
    const here = isObject(folders[folder]) ? folders[folder] : {};
    const next = { ...file, folders: { ...folders, [folder]: { ...here, ...change(here) } } };
    await replaceUserFile(path, `${JSON.stringify(next, null, 2)}\n`);
    this.#content = next;
    return path;
  }

  #folders(): Record<string, unknown> {
    return isObject(this.#content?.folders) ? this.#content.folders : {};
  }

  #level(value: unknown, above?: string): SettingsLevel {
    return levelOf(value, { file: this.path ?? "", toolNames: this.toolNames, above });
  }
}
