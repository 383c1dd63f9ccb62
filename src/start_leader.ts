/** Starts a program as the leader of a process group, to end all its processes together. @module */

import type { ConfinedProgram } from "./types/confine.ts";

/**
 * Starts a program with pipes for its output, in its own session and group. `cwd`: the absolute working directory;
 * `env`: all its variables, also if it is sandboxed. @throws {Deno.errors.NotFound}
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
