/** Starts programs, which find no others where a sandboxed command may have written one. @module */

import { attempt } from "./attempt.ts";
import { findProgram, programFolders, SYSTEM_PATH } from "./find_program.ts";
import { isAbsolute } from "./text/std_path.ts";
import type { ConfinedProgram } from "./types/confine.ts";

type StartOptions = Omit<Deno.CommandOptions, "env"> & { env?: Record<string, string> };

/** Returns a helper of this program, without input. Its variables are `env`, and the PATH of the system. */
export const systemProgram = (program: string, { env, ...options }: StartOptions): Deno.Command =>
  new Deno.Command(program, {
    stdin: "null",
    ...options,
    clearEnv: true,
    env: { PATH: SYSTEM_PATH, ...env },
  });

/**
 * Returns a program of the user, by its name or absolute path, with the folders of PATH that no command writes which
 * works in `folder`: that of the session, or else the one in which this program was started.
 */
export function userProgram(
  name: string,
  options: StartOptions,
  folder = attempt(Deno.cwd) ?? "/",
): Deno.Command | undefined {
  if (Deno.build.os === "windows") return new Deno.Command(name, options);
  const folders = programFolders(folder);
  const path = isAbsolute(name) ? name : findProgram(name, folders, folder);
  const env = { ...options.env, PATH: folders.join(":") };
  return path === undefined ? undefined : new Deno.Command(path, { ...options, env });
}

/**
 * Starts a program with pipes for its output, in its own session and group, to end all its processes together. `cwd`:
 * the absolute working directory; `env`: all its variables, also if it is sandboxed. @throws {Deno.errors.NotFound}
 */
export function startLeader(
  { program, args, environment }: Pick<ConfinedProgram, "program" | "args" | "environment">,
  { cwd, env }: { cwd: string; env: Record<string, string> },
  stdin: "piped" | "null" = "piped",
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args,
    cwd,
    env: environment?.(env) ?? env,
    stdin,
    clearEnv: true,
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}
