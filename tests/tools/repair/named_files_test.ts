import { assertEquals } from "@std/assert/equals";
import { filesNamed } from "../../../src/tools/repair/named_files.ts";

Deno.test("files of a name that stands elsewhere: three are named, four are none", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const add = async (name: string) => {
      await Deno.mkdir(`${folder}/${name}`);
      await Deno.writeTextFile(`${folder}/${name}/util.ts`, "");
    };
    for (const name of ["a", "b", "c"]) await add(name);
    assertEquals(await filesNamed("lib/util.ts", folder), ["a/util.ts", "b/util.ts", "c/util.ts"]);
    assertEquals(await filesNamed("lib/*.ts", folder), []);
    await add("d");
    assertEquals(await filesNamed("lib/util.ts", folder), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
