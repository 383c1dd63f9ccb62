/** The checks that a folder offers. @module */

import { attempt } from "../../attempt.ts";
import { isObject } from "../../text/json.ts";
import { join } from "../../text/std_path.ts";
import { readBoundedText } from "../bounded_text.ts";

const MAX_MANIFEST_BYTES = 1024 * 1024;
const LOCKS = [["pnpm-lock.yaml", "pnpm"], ["yarn.lock", "yarn"], ["bun.lock", "bun run"], [
  "bun.lockb",
  "bun run",
]] as const;

/** Files that name a check by their existence. */
const BY_FILE = [
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["pytest.ini", "pytest"],
  ["pyproject.toml", "pytest"],
  ["setup.py", "pytest"],
  ["tox.ini", "tox"],
  ["pom.xml", "mvn -q test"],
  ["gradlew", "./gradlew test"],
  ["mix.exs", "mix test"],
  ["Package.swift", "swift test"],
  ["build.zig", "zig build test"],
  [".rspec", "bundle exec rspec"],
  ["phpunit.xml", "vendor/bin/phpunit"],
] as const;

const TASK_NAMES = ["ok", "check", "test", "lint", "typecheck"];

/** Returns the commands that check `folder`, best first. */
export async function knownChecks(folder: string): Promise<string[]> {
  const text = (name: string) => readBoundedText(join(folder, name), MAX_MANIFEST_BYTES);
  const has = (name: string) => attempt(() => Deno.statSync(join(folder, name))) !== undefined;
  const tableIn = async (name: string, key: string): Promise<string[]> => {
    const content = await text(name) ?? "";
    const json: unknown = attempt(() => JSON.parse(content));
    const table = isObject(json) ? json[key] : undefined;
    return isObject(table) ? TASK_NAMES.filter((one) => typeof table[one] === "string") : [];
  };
  const [, runner] = LOCKS.find(([lock]) => has(lock)) ?? ["", "npm"];
  const scripts = (await tableIn("package.json", "scripts")).map((name) =>
    runner === "npm" && name !== "test" ? `npm run ${name}` : `${runner} ${name}`
  );
  const deno = ["deno.json", "deno.jsonc"].find(has);
  const tasks = deno === undefined
    ? []
    : (await tableIn(deno, "tasks")).map((name) => `deno task ${name}`);
  if (deno !== undefined && tasks.length === 0) tasks.push("deno test");
  const makefile =
    (await Promise.all(["Makefile", "makefile", "GNUmakefile"].map(text))).find((one) => one) ?? "";
  const targets = TASK_NAMES.filter((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(makefile));
  const others = BY_FILE.filter(([file]) => has(file)).map(([, command]) => command);
  return [...new Set([...tasks, ...scripts, ...targets.map((name) => `make ${name}`), ...others])];
}
