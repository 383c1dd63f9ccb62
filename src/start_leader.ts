/** Starts a program that leads a process group, so that all that it starts can be ended with it. @module */

/** The folder and the variables that a program starts with. */
interface ProgramStart {
  /** The absolute folder that it runs in. */
  cwd: string;
  /** All its variables. */
  env: Record<string, string>;
}

/** Starts a program with pipes for its output, in a session and a group of its own. @throws {Deno.errors.NotFound} */
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
