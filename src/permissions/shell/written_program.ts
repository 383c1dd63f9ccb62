/** Programs that commands in the sandbox may have made. @module */

import { attempt } from "../../attempt.ts";
import { join } from "../../text/std_path.ts";
import type { Scene } from "../path_verdict.ts";
import { accessAt } from "../view.ts";
import type { Word } from "./lexer.ts";

/**
 * The program of a command that leaves the sandbox, where commands in the sandbox may have made it: what PATH
 * finds in a folder that they write. With it go programs that it finds by its name, such as `git-lfs`.
 */
export function writtenProgram(
  [first]: readonly Word[],
  { programs = [], left, hasJobs }: Pick<Scene, "programs" | "left" | "hasJobs">,
): string | undefined {
  const name = first?.text ?? "";
  if (left === undefined || name.includes("/")) return undefined;
  const view = left();
  const written = programs.filter((folder) => {
    const real = attempt(() => Deno.realPathSync(folder));
    return real !== undefined && accessAt(view, real) === "write";
  });
  // A job may make one between this look and the start.
  if (hasJobs && written.length > 0) return join(written[0]!, name);
  return written.flatMap((folder) => {
    const entries = attempt(() => [...Deno.readDirSync(folder)]) ?? [];
    return entries.filter((one) => one.name === name || one.name.startsWith(`${name}-`))
      .map((one) => join(folder, one.name));
  })[0];
}
