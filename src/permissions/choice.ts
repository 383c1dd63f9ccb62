/** The permissions that a person chooses for one run. @module */

import { UsageError } from "../errors.ts";
import { APPROVE_MODES, SANDBOX_MODES, type Settings } from "./settings.ts";

/** Choices for one run; each goes before the settings of the person's file. */
export interface PermissionChoice extends Partial<Pick<Settings, "approve" | "sandbox">> {
  network?: boolean;
  /** Variables that commands get though they look like credentials: names, or `AWS_*`. */
  env?: readonly string[];
  /** Calls that would be asked about simply run. */
  yes?: boolean;
}

/** The choices that flags make. Throws a UsageError when a value makes no sense. */
export function parsePermissionChoice(
  { approve, sandbox, network, env, yes }:
    & { approve?: string; sandbox?: string; env?: string }
    & Pick<PermissionChoice, "network" | "yes">,
): PermissionChoice {
  return {
    ...approve !== undefined && { approve: flagValue("approve", approve, APPROVE_MODES) },
    ...sandbox !== undefined && { sandbox: flagValue("sandbox", sandbox, SANDBOX_MODES) },
    ...network !== undefined && { network },
    ...env !== undefined && { env: variableNames(env) },
    ...yes !== undefined && { yes },
  };
}

function flagValue<T extends string>(flag: string, given: string, values: readonly T[]): T {
  const value = values.find((one) => one === given);
  if (value !== undefined) return value;
  throw new UsageError(`Cannot use --${flag} as it must be one of ${values.join(", ")}`);
}

function variableNames(text: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const wrong = names.find((name) => !/^[a-z_]\w*\*?$/i.test(name));
  if (wrong === undefined) return names;
  const shown = JSON.stringify(wrong.slice(0, 60));
  throw new UsageError(
    `Cannot use --env ${shown} as it must be the name of a variable, or its beginning and *`,
  );
}
