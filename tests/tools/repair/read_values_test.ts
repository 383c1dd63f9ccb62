import { assertEquals } from "@std/assert/equals";
import { builtinTools } from "../../../src/tools/mod.ts";
import { readValues } from "../../../src/tools/repair/read_values.ts";
import type { ToolArgs } from "../../../src/tools/schema.ts";

const FENCED = "```ts\ny\n```";
const edit = (old_string: string, new_string: string) => (
  { file_path: "a.ts", old_string, new_string }
);
/** A call, and the arguments that are read otherwise, each with a line for the person. */
const ROWS: [tool: string, args: ToolArgs, read: ToolArgs][] = [
  ["run_bash", { command: "`ls`" }, { command: "ls" }],
  ["run_bash", { command: "ls" }, {}],
  ["run_bash", {}, {}],
  ["list_directory", { path: " " }, { path: "." }],
  ["list_directory", {}, {}],
  ["write_file", { file_path: "a.ts", content: FENCED }, { content: "y\n" }],
  ["write_file", { file_path: "a.md", content: FENCED }, {}],
  ["edit_file", edit("x", FENCED), { new_string: "y" }],
  ["edit_file", edit("x\n", FENCED), { new_string: "y\n" }],
  ["edit_file", edit("x\n", "```ts\n```"), { new_string: "" }],
  ["edit_file", edit("```\nx", FENCED), {}],
  ["edit_file", edit("x", "a();\\nb();"), { new_string: "a();\nb();" }],
  ["edit_file", edit("x\\n", "a();\\nb();"), {}],
  ["edit_file", edit("x", "if (a &lt; b) {}"), { new_string: "if (a < b) {}" }],
  ["edit_file", edit("x & y", "if (a &lt; b) {}"), {}],
  // The command of another tool, and the content of another one, are left alone.
  ["grep_code", { pattern: "a", command: "`ls`", content: FENCED }, {}],
];

for (const [name, args, read] of ROWS) {
  Deno.test(`values of ${name}: ${JSON.stringify(args)}`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    try {
      for (const file of ["a.ts", "a.md"]) await Deno.writeTextFile(`${folder}/${file}`, "x");
      const tool = builtinTools.find((one) => one.name === name)!;
      const found = await readValues(tool, args, { workingDir: folder });
      assertEquals(found.args, { ...args, ...read });
      assertEquals(found.repairs.length, Object.keys(read).length);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test({
  name: "a call is read where the folder that Deno was started in was removed",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = Deno.cwd();
    const removed = Deno.makeTempDirSync();
    Deno.chdir(removed);
    try {
      Deno.removeSync(removed);
      const write = builtinTools.find(({ name }) => name === "write_file")!;
      const args = { file_path: "a", content: "x" };
      assertEquals(await readValues(write, args, { workingDir: removed }), { args, repairs: [] });
    } finally {
      Deno.chdir(folder);
    }
  },
});
