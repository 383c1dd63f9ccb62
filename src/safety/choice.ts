/** The permissions that the user chooses for one run. @module */

import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import { resolve } from "../text/std_path.ts";
import { ruleElsewhere } from "./rules_elsewhere.ts";
import {
  APPROVE_MODES,
  modeAmong,
  SANDBOX_MODES,
  type SandboxMode,
  type Settings,
} from "./settings.ts";

/** Choices for one run. They override the settings in the user's file. */
export interface PermissionChoice extends Partial<Pick<Settings, "approve" | "sandbox">> {
  network?: boolean;
  /** Defaults for settings that neither this nor the user's file has. */
  usual?: Pick<PermissionChoice, "approve" | "sandbox" | "network">;
  /** Additional variables for commands: names, or patterns such as `AWS_*`. */
  env?: readonly string[];
  /** If no mode is set and the sandbox works, the mode is `auto` with this sandbox. */
  prefersAuto?: Exclude<SandboxMode, "off">;
  /** Rules, and folders beside the working directory, as in `permissions.json`. */
  level?: { allow: string[]; deny: string[]; sandboxWrite: string[] };
  /** True under `--yes`: asks only about what the sandbox closes, and what a rule that denies may cover. */
  yes?: boolean;
}

/** Returns the choices of the flags. @throws {UsageError} for an invalid value. */
export function parsePermissionChoice(
  { network, env, yes, usual, allow, deny, "add-dir": folders, ...modes }:
    & { approve?: string; sandbox?: string; env?: string }
    & { allow?: string; deny?: string; "add-dir"?: string }
    & { usual?: { approve?: string; sandbox?: string; network?: boolean } }
    & Pick<PermissionChoice, "network" | "yes">,
  prefersAuto?: PermissionChoice["prefersAuto"],
): PermissionChoice {
  const approve = modeAmong(APPROVE_MODES, modes.approve, "--approve");
  const sandbox = modeAmong(SANDBOX_MODES, modes.sandbox, "--sandbox");
  return {
    ...prefersAuto && { prefersAuto },
    ...approve && { approve },
    ...sandbox && { sandbox },
    ...network !== undefined && { network },
    ...env !== undefined && { env: variableNames(env) },
    ...yes !== undefined && { yes },
    ...usual && { usual: parsePermissionChoice(usual) },
    ...(allow ?? deny ?? folders) !== undefined &&
      { level: levelOfFlags({ allow, deny, folders }, approve ?? usual?.approve) },
  };
}

function variableNames(text: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const wrong = names.find((name) => !/^[a-z_]\w*\*?$/i.test(name));
  if (wrong === undefined) return names;
  const shown = JSON.stringify(wrong.slice(0, 60));
  throw new UsageError(
    `Cannot use --env ${shown} as it must be the name of a variable, or a prefix and *`,
  );
}

function levelOfFlags(
  { allow = "", deny = "", folders = "" }: Partial<
    Record<"allow" | "deny" | "folders", string | undefined>
  >,
  approve = "auto",
): NonNullable<PermissionChoice["level"]> {
  const dirs = folders.split("\n").filter(Boolean).map((dir) => {
    const path = resolve(dir);
    if (attempt(() => Deno.statSync(path).isDirectory)) return path;
    throw new UsageError(`Cannot use --add-dir ${JSON.stringify(dir)} as it is not a folder`);
  });
  const accesses = approve === "auto" ? ["read", "write"] : ["read"];
  const ofDirs = dirs.map((dir) => dir.replace(/[*?[{]/g, "[$&]"))
    .flatMap((dir) => accesses.map((access) => `${access}(${dir}/**)`));
  return {
    allow: [...rulesOfFlag("allow", allow), ...ofDirs],
    deny: rulesOfFlag("deny", deny),
    sandboxWrite: dirs,
  };
}

/** Returns the rules in the values of a flag, which commas or blanks separate. */
function rulesOfFlag(effect: "allow" | "deny", text: string): string[] {
  const open = text.split("\n").find((one) => one.split("(").length !== one.split(")").length);
  if (open !== undefined) {
    throw new UsageError(`Cannot use the rule ${JSON.stringify(open)} as a bracket is missing`);
  }
  return (text.match(/[^\s,()]+(?:\([^)\n]*\))?|[^\s,]+/g) ?? [])
    .map((rule) => ruleElsewhere(effect, rule));
}
