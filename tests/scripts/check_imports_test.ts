import { assertEquals } from "@std/assert";
import { ensureDir } from "@std/fs/ensure-dir";
import { dirname } from "@std/path/dirname";
import { violations } from "../../scripts/check_imports.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

type Tree = Record<string, string>;

const ROWS: [name: string, tree: Tree, broken: string[]][] = [
  ["every layer may import the ones below", {
    "main.ts": `import "./src/cli/run.ts";`,
    "src/cli/run.ts": `import "../ui/a.ts"; import "../ui/terminal/a.ts";`,
    "src/ui/a.ts": `import "../session/a.ts"; import "./terminal/a.ts"; import "./print/a.ts";`,
    "src/session/a.ts": `import "../agent/a.ts"; import "../records/a.ts";`,
    "src/agent/a.ts": `import "../tools/a.ts"; import "../text/a.ts"; import "./b.ts";`,
    "src/extensions/x/a.ts": `import "../../session/a.ts"; import "../y/a.ts";`,
    "src/extensions/y/a.ts": `import "../../rpc/a.ts"; import "../../types/a.ts";`,
    "src/tools/a.ts": `import "../wire/a.ts"; import "../errors.ts"; import "@std/path/join";`,
    "src/wire/a.ts": `import type { T } from "../types/a.ts";`,
    "src/types/a.ts": `import "./b.ts";`,
    "src/config.ts": `import type { T } from "./types/a.ts"; import "./errors.ts";`,
    "src/mod.ts": `export * from "./cli/run.ts"; export * from "./types/a.ts";`,
  }, []],
  ["neighbours that the table names", {
    "src/safety/a.ts": `import "../tools/a.ts";`,
    "src/temp_folder.ts": `import "./user_files.ts";`,
  }, []],
  ["neighbours the other way", { "src/tools/a.ts": `import "../safety/a.ts";` }, [
    "src/tools/a.ts:1 imports src/safety/a.ts: tools is in layer 2 and safety in layer 2, imports point downwards",
  ]],
  ["upwards", { "src/text/a.ts": `import "./b.ts";\nimport "../tools/a.ts";` }, [
    "src/text/a.ts:2 imports src/tools/a.ts: text is in layer 1 and tools in layer 2, imports point downwards",
  ]],
  ["upwards by type", { "src/wire/a.ts": `import type { A } from "../agent/a.ts";` }, [
    "src/wire/a.ts:1 imports src/agent/a.ts: wire is in layer 1 and agent in layer 3, imports point downwards",
  ]],
  ["upwards by a type in place", { "src/wire/a.ts": `let a: import("../agent/a.ts").A;` }, [
    "src/wire/a.ts:1 imports src/agent/a.ts: wire is in layer 1 and agent in layer 3, imports point downwards",
  ]],
  ["upwards when it runs", { "src/session/a.ts": `await import("../cli/run.ts");` }, [
    "src/session/a.ts:1 imports src/cli/run.ts: session is in layer 4 and cli in layer 7, imports point downwards",
  ]],
  ["upwards by an export", { "src/errors.ts": `export { a } from "./text/a.ts";` }, [
    "src/errors.ts:1 imports src/text/a.ts: errors is in layer 0 and text in layer 1, imports point downwards",
  ]],
  ["across layer 2", { "src/models/x/a.ts": `import "../toolcalls/a.ts";` }, [
    "src/models/x/a.ts:1 imports src/models/toolcalls/a.ts: models is in layer 2 and models/toolcalls in layer 2, imports point downwards",
  ]],
  ["the agent and the terminal", { "src/agent/a.ts": `import "../ui/terminal/a.ts";` }, [
    "src/agent/a.ts:1 imports src/ui/terminal/a.ts: agent imports nothing of ui",
  ]],
  ["a session and what shows it", {
    "src/session/x/a.ts":
      `import "../../ui/terminal/a.ts";\nimport type { A } from "../../ui/a.ts";`,
  }, [
    "src/session/x/a.ts:1 imports src/ui/terminal/a.ts: session imports nothing of ui",
    "src/session/x/a.ts:2 imports src/ui/a.ts: session imports nothing of ui",
  ]],
  ["two displays", {
    "src/ui/print/a.ts": `import "../terminal/session/a.ts"; import "../a.ts";`,
    "src/ui/terminal/session/a.ts": "",
  }, [
    "src/ui/print/a.ts:1 imports src/ui/terminal/session/a.ts: ui/print imports nothing of ui/terminal/session",
  ]],
  ["types", { "src/types/a.ts": `import type { A } from "../errors.ts";` }, [
    "src/types/a.ts:1 imports src/errors.ts: types imports nothing",
  ]],
  ["main", { "main.ts": `import "./src/cli/run.ts"; import "./src/config.ts";` }, [
    "main.ts:1 imports src/config.ts: main.ts imports src/cli/run.ts, nothing more",
  ]],
  ["the library's entry", { "src/cli/a.ts": `import "../mod.ts";` }, [
    "src/cli/a.ts:1 imports src/mod.ts: no file of src/ imports it",
  ]],
  ["out of src", { "src/cli/a.ts": `import "../../tests/a.ts";`, "tests/a.ts": "" }, [
    "src/cli/a.ts:1 imports tests/a.ts: no file of src/ imports it",
  ]],
  ["no layer", {
    "src/utils/a.ts": `import "../types/a.ts";`,
    "src/cli/a.ts": `import "../utils/a.ts";`,
  }, [
    "src/cli/a.ts:1 imports src/utils/a.ts: utils has no layer: add it to the table in check_imports.ts",
    "src/utils/a.ts:1 imports src/types/a.ts: utils has no layer: add it to the table in check_imports.ts",
  ]],
  [
    "node:, npm: and whole packages",
    { "src/text/a.ts": `import "node:fs";\nimport "@std/path";\nimport "@std/assert/equals";` },
    [1, 2, 3].map((line) =>
      `src/text/a.ts:${line} imports ${
        ["node:fs", "@std/path", "@std/assert/equals"][line - 1]
      }: src/ imports subpaths of @std/cli, @std/fs and @std/path, nothing else from outside`
    ),
  ],
  ["a cycle by type and at run time", {
    "src/text/a.ts": `import type { B } from "./b.ts";`,
    "src/text/b.ts": `await import("./c.ts");`,
    "src/text/c.ts": `export * from "./a.ts";`,
  }, ["import cycle: src/text/a.ts -> src/text/b.ts -> src/text/c.ts -> src/text/a.ts"]],
  ["a file that imports itself", { "src/text/a.ts": `import "./a.ts";` }, [
    "import cycle: src/text/a.ts -> src/text/a.ts",
  ]],
];

/** Empty files for each row to import, so that a row holds only what it is about. */
const FOLDERS = (
  "types text wire rpc models models/toolcalls tools safety records ui/terminal extensions " +
  "agent session ui ui/print cli"
).split(" ");
const COMMON: Tree = {
  "deno.json": "{}",
  "main.ts": "",
  "src/errors.ts": "",
  "src/config.ts": "",
  "src/user_files.ts": "",
  "src/mod.ts": "",
  "src/cli/run.ts": "",
  ...Object.fromEntries(
    FOLDERS.flatMap((folder) => ["a", "b"].map((name) => [`src/${folder}/${name}.ts`, ""])),
  ),
};

for (const [name, tree, broken] of ROWS) {
  Deno.test(`check_imports: ${name}`, async () => {
    using temp = tempFolder();
    const root = temp.path;
    for (const [path, text] of Object.entries({ ...COMMON, ...tree })) {
      await ensureDir(dirname(`${root}/${path}`));
      await Deno.writeTextFile(`${root}/${path}`, text);
    }
    assertEquals(await violations(root), broken);
  });
}
