import { assertEquals } from "@std/assert";
import { findProgram, listedFolders, programFolders } from "../src/find_program.ts";
import { systemProgram, userProgram } from "../src/start_program.ts";
import { tempFolder } from "./helpers/temp_folder.ts";

Deno.test("programs are looked for in the folders of PATH that are not in the working directory", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using temp = tempFolder();
  const top = temp.path;
  const [inside, outside, link] = [`${top}/work/bin`, `${top}/bin`, `${top}/link`];
  for (const folder of [inside, outside]) await Deno.mkdir(folder, { recursive: true });
  await Deno.symlink(inside, link);
  const path = `${inside}:${outside}:.::bin:${link}:/usr/bin:${top}/work`;
  assertEquals(programFolders(undefined, path), [inside, outside, link, "/usr/bin", `${top}/work`]);
  assertEquals(programFolders(`${top}/work`, path), [outside, "/usr/bin"]);
  assertEquals(programFolders(link, path), [outside, "/usr/bin", `${top}/work`]);
  // A command could create these.
  await Deno.symlink(`${inside}/later`, `${top}/dangling`);
  const missing = `${top}/dangling:${link}/later:${outside}`;
  assertEquals(programFolders(`${top}/work`, missing), [outside]);
  // Commands of any session may have written these, except at home.
  const made = [`${top}/other/.venv/bin`, `${top}/node_modules/.bin`];
  for (const at of made) await Deno.mkdir(at, { recursive: true });
  await Deno.symlink(made[0]!, `${top}/link2`);
  const home = Deno.env.get("HOME")!;
  for (const isHome of [false, true]) {
    if (isHome) Deno.env.set("HOME", top);
    const found = programFolders(`${top}/work`, [...made, `${top}/link2`, outside].join(":"));
    assertEquals(found, isHome ? [made[1], outside] : [outside]);
  }
  Deno.env.set("HOME", home);
  // A program that starts outside of the sandbox finds no others there, nor in a listed folder.
  const before = Deno.env.get("PATH")!;
  Deno.env.set("PATH", [made[0], outside, inside, before].join(":"));
  listedFolders.add(outside);
  for (const start of [systemProgram, userProgram]) {
    const { stdout } = await start("/bin/sh", { args: ["-c", 'echo "$PATH"'] })!.output();
    assertEquals(new TextDecoder().decode(stdout).includes(`${outside}:`), false, start.name);
    assertEquals(new TextDecoder().decode(stdout).includes(".venv"), false, start.name);
  }
  listedFolders.clear();
  Deno.env.set("PATH", before);
  // The usual folders count wherever one works.
  assertEquals(programFolders("/", `${outside}:/usr/bin`), ["/usr/bin"]);

  await Deno.mkdir(`${inside}/tool`);
  await Deno.writeTextFile(`${outside}/tool`, "", { mode: 0o644 });
  const find = (folders: string[], written?: string) => findProgram("tool", folders, written);
  assertEquals(find([inside, outside, `${top}/none`]), undefined);
  await Deno.chmod(`${outside}/tool`, 0o654);
  assertEquals(find([inside, outside]), `${outside}/tool`);

  // A link that leads to where commands write.
  await Deno.mkdir(`${top}/own`);
  await Deno.writeTextFile(`${inside}/made`, "", { mode: 0o755 });
  await Deno.symlink(`${inside}/made`, `${top}/own/tool`);
  const folders = [`${top}/own`, outside];
  assertEquals(find(folders), `${top}/own/tool`);
  for (const written of [`${top}/work`, inside, link]) {
    assertEquals(find(folders, written), `${outside}/tool`);
  }
  listedFolders.add(link);
  assertEquals(find(folders, `${top}/own`), `${outside}/tool`);
  listedFolders.clear();
  assertEquals(find([`${top}/own`], "/"), `${top}/own/tool`);
});
