import { assertEquals } from "@std/assert";
import { PathTable } from "../../src/safety/path_table.ts";
import { readBoundedText } from "../../src/extensions/bounded_text.ts";
import { expandImports } from "../../src/extensions/instructions/instructions.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

Deno.test("files of others are read up to a limit, and what leads out of their folder is not", async () => {
  using temp = tempFolder();
  const root = temp.path;
  await Deno.mkdir(`${root}/in`);
  await Deno.writeTextFile(`${root}/in/a`, "12345");
  await Deno.writeTextFile(`${root}/out`, "out");
  await Deno.symlink("../out", `${root}/in/link`);
  const read = (path: string, most: number, within?: string) =>
    readBoundedText(`${root}/${path}`, most, within);
  assertEquals([read("in/a", 6), read("in/a", 5, `${root}/in`)], ["12345", "12345"]);
  assertEquals(read("in/a", 4), "1234\n[The rest is left out: 4 bytes are read]\n");
  assertEquals([read("in", 5), read("in/link", 5, `${root}/in`)], [undefined, undefined]);
});

Deno.test("imports have a depth and a number, and share the bytes", async () => {
  using temp = tempFolder();
  const root = temp.path;
  for (let i = 1; i <= 6; i++) await Deno.writeTextFile(`${root}/${i}`, `in ${i}\n@${i + 1}`);
  await Deno.writeTextFile(`${root}/none`, "");
  await Deno.writeTextFile(`${root}/ten`, "1234567890");
  const read = (text: string, maxBytes = 1000) =>
    expandImports(text, { path: `${root}/main`, root, maxBytes, paths: new PathTable() });
  assertEquals(read("@1"), "in 1\nin 2\nin 3\nin 4\n@5");
  const lines = (count: number) => read("@ten\n".repeat(count)).split("\n");
  assertEquals(lines(20).filter((line) => line === "1234567890").length, 20);
  assertEquals(lines(21).slice(19), ["1234567890", "@ten", ""]);
  assertEquals(
    read("@ten\n@ten", 15),
    "1234567890\n12345\n[The rest is left out: 5 bytes are read]",
  );
  assertEquals(
    read("~~~\n@ten\n~~~\n* @ten\n@~/ten\n@ten x"),
    "~~~\n@ten\n~~~\n1234567890\n@~/ten\n@ten x",
  );
  assertEquals(read(`@${root}/ten\n@in\n@.`), `@${root}/ten\n@in\n@.`);
});
