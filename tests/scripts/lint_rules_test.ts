import { assertEquals } from "@std/assert";
import plugin from "../../scripts/lint_rules.ts";

const ROWS: [file: string, source: string, broken: string[]][] = [
  ["src/models/a.ts", `await fetch("http://a");`, ["one-fetch"]],
  ["src/models/a.ts", `await globalThis.fetch("http://a");`, ["one-fetch"]],
  ["src/models/a.ts", `await config.fetch?.("http://a");`, ["one-fetch"]],
  ["src/wire/http.ts", `await fetch("http://a");`, []],
  ["src/config.ts", `export interface A { fetch?: typeof fetch }`, []],
  ["src/config.ts", `// fetch("http://a")\nconst text = 'fetch("a")';`, []],
  ["src/cli/a.ts", `new Deno.Command("git");`, ["one-start"]],
  ["src/start_program.ts", `new Deno.Command("git");`, []],
  ["tests/a_test.ts", `await fetch("http://a"); console.log(1);`, []],
  ["src/cli/a.ts", `await import("./" + name);`, ["literal-import"]],
  ["src/cli/a.ts", `await import("./b.ts");`, []],
  ["src/text/a.ts", `console.log(1);`, ["no-console"]],
  ["src/cli/a.ts", `console.log(1);`, ["no-console"]],
  ["src/cli/a.ts", `// Asks anew.\n/** What was read. */\nlet a;`, [
    "plain-english",
    "plain-english",
  ]],
  ["src/cli/a.ts", `// There is none. What the user wrote\nconst anew = "nobody heeds it";`, []],
  ["src/text/all.ts", `export * from "./a.ts"; export { b } from "./b.ts";`, ["no-barrel"]],
  ["src/text/mod.ts", `export * from "./a.ts";`, []],
  ["src/text/a.ts", `export * from "./a.ts"; export const b = 1;`, []],
  ["src/text/a.ts", `const b = 1; export { b };`, []],
];

for (const [file, source, broken] of ROWS) {
  Deno.test(`lint rules: ${file}: ${source}`, () => {
    const found = Deno.lint.runPlugin(plugin, `/project/${file}`, source);
    assertEquals(found.map(({ id }) => id), broken.map((rule) => `copilot/${rule}`));
  });
}
