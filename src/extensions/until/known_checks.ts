import { attempt } from "../../attempt.ts";
import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { join } from "../../text/std_path.ts";
import { readBoundedText } from "../bounded_text.ts";

const MAX_MANIFEST_BYTES = 1024 * 1024;
const BY_FILE = {
  "Cargo.toml": "cargo test",
  "go.mod": "go test ./...",
  "pytest.ini": "pytest",
  "pyproject.toml": "pytest",
  "setup.py": "pytest",
  "pom.xml": "mvn -q test",
  gradlew: "./gradlew test",
};
const RUNNERS = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun run",
  "bun.lockb": "bun run",
};
const TASK_NAMES = ["ok", "check", "test", "lint", "typecheck"];

export async function knownChecks(folder: string): Promise<string[]> {
  const text = async (name: string) =>
    await readBoundedText(join(folder, name), MAX_MANIFEST_BYTES) ?? "";
  const byFile = (rows: Record<string, string>) =>
    Object.keys(rows).filter((name) => attempt(() => Deno.statSync(join(folder, name))))
      .map((name) => rows[name]!);
  const tasksIn = async (name: string, key: string) => {
    const json = jsonOrUndefined(await text(name));
    const table = isObject(json) ? json[key] : undefined;
    return isObject(table) ? TASK_NAMES.filter((one) => typeof table[one] === "string") : [];
  };
  const tasks = [...await tasksIn("deno.json", "tasks"), ...await tasksIn("deno.jsonc", "tasks")];
  const [runner] = byFile(RUNNERS);
  const scripts = await tasksIn("package.json", "scripts");
  const makefile = await text("Makefile") || await text("makefile") || await text("GNUmakefile");
  const targets = TASK_NAMES.filter((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(makefile));
  return [
    ...new Set([
      ...tasks.map((name) => `deno task ${name}`),
      ...tasks.length === 0 ? byFile({ "deno.json": "deno test", "deno.jsonc": "deno test" }) : [],
      ...scripts.map((name) =>
        runner ? `${runner} ${name}` : name === "test" ? "npm test" : `npm run ${name}`
      ),
      ...targets.map((name) => `make ${name}`),
      ...byFile(BY_FILE),
    ]),
  ];
}
