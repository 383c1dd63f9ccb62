/** Starts a program as the leader of a process group, to end all its processes together. @module */

/** The folder and the variables for a program. */
interface ProgramStart {
  /** The absolute working directory. */
  cwd: string;
  /** All its variables. */
  env: Record<string, string>;
}

/** Starts a program with pipes for its output, in its own session and group. @throws {Deno.errors.NotFound} */
export function startLeader(
  program: string,
  args: readonly string[],
  { cwd, env }: ProgramStart,
  stdin: "piped" | "null" = "piped",
): Deno.ChildProcess {
  return new Deno.Command(program, {
    ...{ args: [...args], cwd, env, stdin },
    clearEnv: true,
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}
