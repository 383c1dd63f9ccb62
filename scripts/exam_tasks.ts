/**
 * Packs the tasks of the exam, the folders of `exam/`, into the module that is in the bundle: `scripts/exam_tasks`. Their
 * solutions, which only tests use, are left out.
 */
import { walkSync } from "@std/fs/walk";
import { relative } from "@std/path/relative";
import { root } from "./bench_tools.ts";

export const PACKED = `${root}/src/cli/exam/tasks.json`;

/** Each check begins with it: a link may lead to what the check makes, and no task needs one. */
const NO_LINKS =
  'link=$(find . -type l | head -n 1); [ -z "$link" ] || { echo "${link#./} is a link"; exit 1; }\n';

/** Returns the text of the packed tasks: for each, its files by their path. */
export function packedTasks(): string {
  const tasks: Record<string, Record<string, string>> = {};
  const paths = [...walkSync(`${root}/exam`, { includeDirs: false })].map(({ path }) => path);
  for (const path of paths.sort()) {
    const [name, ...rest] = relative(`${root}/exam`, path).replaceAll("\\", "/").split("/");
    const file = rest.join("/");
    const start = file === "check.sh" ? NO_LINKS : "";
    if (file !== "solution.sh") (tasks[name!] ??= {})[file] = start + Deno.readTextFileSync(path);
  }
  return `${JSON.stringify(tasks, null, 2)}\n`;
}

if (import.meta.main) Deno.writeTextFileSync(PACKED, packedTasks());
