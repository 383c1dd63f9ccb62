/** Starts a program as the leader of a process group, to end all its processes together. @module */

/**
 * Starts a program with pipes for its output, in its own session and group. `cwd`: the absolute working directory;
 * `env`: all its variables. @throws {Deno.errors.NotFound}
 */
export function startLeader(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
  stdin: "piped" | "null" = "piped",
): Deno.ChildProcess {
  return new Deno.Command(program, {
    args: [...args],
    cwd,
    env,
    stdin,
    clearEnv: true,
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}
