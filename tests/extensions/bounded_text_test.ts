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
  assertEquals([await read("in/a", 6), await read("in/a", 5, `${root}/in`)], ["12345", "12345"]);
  assertEquals(await read("in/a", 4), "1234\n[The rest is left out: 4 bytes are read]\n");
  assertEquals(await read("in", 5), undefined);
  assertEquals(await read("in/link", 5, `${root}/in`), undefined);
});

Deno.test("imports have a depth and a number, and share the bytes", async () => {
  using temp = tempFolder();
  const root = temp.path;
  for (let i = 1; i <= 6; i++) await Deno.writeTextFile(`${root}/${i}`, `in ${i}\n@${i + 1}`);
  await Deno.writeTextFile(`${root}/none`, "");
  await Deno.writeTextFile(`${root}/ten`, "1234567890");
  const large = "x".repeat(32 * 1024 - 5);
  await Deno.writeTextFile(`${root}/large`, large);
  const read = (text: string) =>
    expandImports(text, { path: `${root}/main`, root, paths: new PathTable() });
  assertEquals(await read("@1"), "in 1\nin 2\nin 3\nin 4\n@5");
  const lines = async (count: number) => (await read("@ten\n".repeat(count))).split("\n");
  assertEquals((await lines(20)).filter((line) => line === "1234567890").length, 20);
  assertEquals((await lines(21)).slice(19), ["1234567890", "@ten", ""]);
  assertEquals(
    await read("@large\n@ten"),
    `${large}\n12345\n[The rest is left out: 5 bytes are read]`,
  );
  assertEquals(
    await read("~~~\n@ten\n~~~\n* @ten\n@~/ten\n@ten x"),
    "~~~\n@ten\n~~~\n1234567890\n@~/ten\n@ten x\nten:\n1234567890",
  );
  assertEquals(await read(`@${root}/ten\n@in\n@.`), `@${root}/ten\n@in\n@.`);
});
