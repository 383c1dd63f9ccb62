/**
 * What `permissions.json` may hold, and how it is read and added to.
 *
 * @module
 */

import type { Rule } from "./rules.ts";
import type { Settings } from "./settings.ts";
import { isObject } from "../text/json.ts";
import { dirname, isAbsolute } from "../text/std_path.ts";
import { UsageError } from "../errors.ts";
import { readJson } from "../user_files.ts";

/** One level of settings: the person's, a folder's in it, or a project's. */
export interface Level {
  approve?: Settings["approve"];
  sandbox?: Settings["sandbox"];
  network?: boolean;
  /** Whether programs may heed what the folder configures, such as git. */
  trust?: boolean;
  /** Whether the model may heed what the folder instructs. */
  instructions?: boolean;
  rules: Rule[];
}

const KEYS = [
  "approve",
  "sandbox",
  "network",
  "trust",
  "instructions",
  "deny",
  "ask",
  "allow",
  "folders",
];

/** What a rule may name instead of a tool. */
const KINDS = ["read", "write", "execute", "network", "*"];

/**
 * One level, checked.
 *
 * @param where it stands, which errors name
 * @param above the folder that it is for, where that is above the working directory
 */
export async function levelOf(value: unknown, where: string, above?: string): Promise<Level> {
  const wrong = (key: string, constraint: string): never => {
    const name = where === "--" ? `--${key}` : `${key} in ${where}`;
    throw new UsageError(`Cannot use ${name} as it must be ${constraint}`);
  };
  const level: Level = { rules: [] };
  if (!isObject(value)) return wrong("a folder", "a JSON object");
  if (Object.keys(value).length === 0) return level;
  const [{ APPROVE_MODES, SANDBOX_MODES }, { EFFECTS, parseRule }, tools] = await Promise.all([
    import("./settings.ts"),
    import("./rules.ts"),
    import("../tools/mod.ts"),
  ]);
  const names = [...tools.withJobs(tools.builtinTools).map(({ name }) => name), ...KINDS];
  for (const key of Object.keys(value)) {
    if (!KEYS.includes(key)) wrong(key, `one of ${KEYS.join(", ")}`);
  }
  const { folders = {} } = value;
  if (!isObject(folders) || !Object.keys(folders).every((name) => isAbsolute(name))) {
    wrong("folders", "an object whose keys are absolute paths, without ~");
  }
  const one = <T extends string>(key: string, among: readonly T[]): T | undefined => {
    const given = value[key];
    if (given === undefined) return undefined;
    return among.find((word) => word === given) ?? wrong(key, `one of ${among.join(", ")}`);
  };
  const approve = one("approve", APPROVE_MODES);
  const sandbox = one("sandbox", SANDBOX_MODES);
  if (approve) level.approve = approve;
  if (sandbox) level.sandbox = sandbox;
  for (const key of ["network", "trust", "instructions"] as const) {
    const given = value[key];
    if (typeof given === "boolean") level[key] = given;
    else if (given !== undefined) wrong(key, "true or false");
  }
  for (const effect of EFFECTS) {
    const texts = value[effect] ?? [];
    if (!Array.isArray(texts)) return wrong(effect, "a list of rules");
    for (const text of texts) {
      if (typeof text !== "string") wrong(effect, "a list of rules");
      try {
        const rule = parseRule(effect, text, above);
        // Else it would hold for nothing, and nobody would be told.
        if (!names.includes(rule.tool)) {
          throw new SyntaxError(
            `Cannot use the rule ${JSON.stringify(text)} as no tool is called ${rule.tool}: ` +
              `there are ${names.join(", ")}`,
          );
        }
        level.rules.push(rule);
      } catch (error) {
        throw new UsageError(`${(error as Error).message} (in ${where})`);
      }
    }
  }
  return level;
}

/** Keeps more of a folder in the person's file; all of it then. */
export async function keepForFolder(
  path: string,
  folder: string,
  change: (here: Record<string, unknown>) => Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const file = readJson(path) ?? {};
  const folders = isObject(file.folders) ? file.folders : {};
  const here = isObject(folders[folder]) ? folders[folder] : {};
  const next = { ...file, folders: { ...folders, [folder]: { ...here, ...change(here) } } };
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(temporary, `${JSON.stringify(next, null, 2)}\n`, {
      mode: 0o600,
      createNew: true,
    });
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
  return next;
}
