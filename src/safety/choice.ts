/** The permissions that a person chooses for one run. @module */

import { UsageError } from "../errors.ts";
import {
  APPROVE_MODES,
  modeAmong,
  SANDBOX_MODES,
  type SandboxMode,
  type Settings,
} from "./settings.ts";

/** Choices for one run; each goes before the settings of the person's file. */
export interface PermissionChoice extends Partial<Pick<Settings, "approve" | "sandbox">> {
  network?: boolean;
  /** What counts where neither this nor the person's file says anything. */
  usual?: Pick<PermissionChoice, "approve" | "sandbox" | "network">;
  /** Variables that commands get beside the usual ones: names, or `AWS_*`. */
  env?: readonly string[];
  /** The sandbox that commands run in unasked, if nothing else is said and one works. */
  prefersAuto?: Exclude<SandboxMode, "off">;
  /** Calls that would be asked about simply run. */
  yes?: boolean;
}

/** The choices that flags make. Throws a UsageError when a value makes no sense. */
export function parsePermissionChoice(
  { network, env, yes, usual, ...modes }:
    & { approve?: string; sandbox?: string; env?: string }
    & { usual?: { approve?: string; sandbox?: string; network?: boolean } }
    & Pick<PermissionChoice, "network" | "yes">,
): PermissionChoice {
  const approve = modeAmong(APPROVE_MODES, modes.approve, "--approve");
  const sandbox = modeAmong(SANDBOX_MODES, modes.sandbox, "--sandbox");
  return {
    ...approve && { approve },
    ...sandbox && { sandbox },
    ...network !== undefined && { network },
    ...env !== undefined && { env: variableNames(env) },
    ...yes !== undefined && { yes },
    ...usual && { usual: parsePermissionChoice(usual) },
  };
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
