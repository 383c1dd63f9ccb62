import { attempt } from "../../attempt.ts";
import { findProgram, programFolders } from "../../find_program.ts";
import { join } from "../../text/std_path.ts";
import { readBoundedText } from "../bounded_text.ts";

const MAX_MANIFEST_BYTES = 1024 * 1024;
const TASK_NAMES = "ok|check|test|lint|typecheck";
const JSON_TASKS = new RegExp(`"(${TASK_NAMES})"\\s*:\\s*"`, "g");
const TARGETS = new RegExp(`^(${TASK_NAMES})\\s*:(?!=)`, "gm");

/** The tasks that a file has, and the command that runs one; or the command of a folder with such a file. */
const KNOWN_ROWS: readonly (readonly [file: string, command: string, tasks?: RegExp])[] = [
  ["deno.json", "deno task", JSON_TASKS],
  ["deno.jsonc", "deno task", JSON_TASKS],
  ["package.json", "npm run", JSON_TASKS],
  ["Makefile", "make", TARGETS],
  ["makefile", "make", TARGETS],
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["pytest.ini", "pytest"],
  ["pyproject.toml", "pytest"],
];
/** As `unittest` finds them. */
const PYTHON_TEST = /^test.*\.py$/;

export async function knownChecks(folder: string): Promise<string[]> {
  const checks = await Promise.all(KNOWN_ROWS.map(async ([file, command, tasks]) => {
    const text = await readBoundedText(join(folder, file), MAX_MANIFEST_BYTES);
    if (text === undefined) return [];
    return tasks ? [...text.matchAll(tasks)].map(([, name]) => `${command} ${name}`) : [command];
  }));
  const at = [".", "tests"].find((at) =>
    attempt(() => Deno.readDirSync(join(folder, at)).some(({ name }) => PYTHON_TEST.test(name)))
  );
  const hasPytest = findProgram("pytest", programFolders(folder), folder);
  if (at) checks.push([hasPytest ? "pytest" : `python3 -m unittest discover ${at}`]);
  return [...new Set(checks.flat().map((check) => check.replace("npm run test", "npm test")))];
}
