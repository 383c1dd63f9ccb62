import { assertEquals } from "@std/assert";
import { ensureDir } from "@std/fs/ensure-dir";
import { dirname } from "@std/path/dirname";
import { nameViolations } from "../../scripts/check_names.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const long = (lines: number) => "{" + "\n".repeat(lines - 1) + "}";

const ROWS: [name: string, tree: Record<string, string>, broken: string[]][] = [
  ["a name in two files, exported or not", {
    "src/a.ts": "function twice() {}\nexport interface Same { twice: 1 }",
    "src/b.ts": "import { Same as Other } from './a.ts'; const [x, { twice }] = f();",
    "src/c.ts": "const c = 1;\n\nfunction x() { const twice = 1, c = 2; }\ntype Same = 1;",
  }, [
    "src/a.ts:1 declares twice, as do src/b.ts:1",
    "src/a.ts:2 declares Same, as do src/c.ts:4",
    "src/b.ts:1 declares x, as do src/c.ts:3",
  ]],
  ["a name in one file, several times", {
    "src/a.ts": "function f(): void; function f() {}; interface A {}; const A = 1;",
  }, []],
  ["imports of every form", {
    "src/a.ts": `export const a = 1, [b, c] = f(), d = 1; export type E = 1; export default 1;
      const f2 = 1; export { f2 as g };`,
    "src/b.ts": `import h, { a, type E, g } from "./a.ts"; export { b as b2 } from "./a.ts";`,
    "src/c/d.ts": `async () => { const { c } = await import("../a.ts"); };
      type D = typeof import("../a.ts").d;`,
    "main.ts": `import { b2 } from "./src/b.ts";`,
  }, []],
  ["exports that the library has", {
    "src/a.ts": "export const a = 1; export const b = 1;",
    "src/b.ts": "export const c = 1;",
    "src/mod.ts": `export * from "./a.ts"; export { c } from "./b.ts";`,
  }, []],
  ["exports that nobody imports", {
    "src/a.ts": "export const used = 1;\nexport const b = used;\nexport type C = 1;",
    "src/c.ts": "import { used } from './a.ts'; const C = 1; used.b; export default used;",
    "src/d.ts": "export { used } from './a.ts';",
    "tests/a_test.ts": "import { b } from '../src/a.ts';",
  }, [
    "src/a.ts:3 declares C, as do src/c.ts:1",
    "src/a.ts:3 exports C, which no other file imports",
    "src/c.ts:1 exports default, which no other file imports",
    "src/d.ts:1 exports used, which no other file imports",
  ]],
  ["functions of every form", {
    "src/a.ts": `function a() ${long(60)}
function b() ${long(61)}
const c = async () => ${long(61)};
class D { #e() ${long(61)} get f() ${long(61)} }
const h = { "i-j"() ${long(61)} };
g(function () ${long(61)});`,
  }, [
    "src/a.ts:122 has a function of 61 lines: at most 60",
    "src/a.ts:183 has a function of 61 lines: at most 60",
    "src/a.ts:243 has a function of 61 lines: at most 60",
    "src/a.ts:304 has a function of 61 lines: at most 60",
    "src/a.ts:365 has a function of 61 lines: at most 60",
    "src/a.ts:61 has a function of 61 lines: at most 60",
  ]],
];

for (const [name, tree, broken] of ROWS) {
  Deno.test(`check_names: ${name}`, async () => {
    using temp = tempFolder();
    const root = temp.path;
    for (const [path, text] of Object.entries({ "main.ts": "", "src/mod.ts": "", ...tree })) {
      await ensureDir(dirname(`${root}/${path}`));
      await Deno.writeTextFile(`${root}/${path}`, text);
    }
    assertEquals(await nameViolations(root), broken);
  });
}
