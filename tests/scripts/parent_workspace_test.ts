import { assertEquals, assertStringIncludes } from "@std/assert";
import { walk } from "@std/fs/walk";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { relative } from "@std/path/relative";
import { tempFolder } from "../helpers/temp_folder.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

/** Copies the modules of our vendor folder into another one, where they throw once they are imported. */
async function layOutThrowing(vendor: string): Promise<void> {
  for await (const { path } of walk(`${ROOT}vendor`, { includeDirs: false })) {
    const copy = `${vendor}/${relative(`${ROOT}vendor`, path)}`;
    await Deno.mkdir(dirname(copy), { recursive: true });
    await Deno.copyFile(path, copy);
    if (path.endsWith(".json")) continue;
    await Deno.writeTextFile(copy, `throw new Error("a module of the parent folder");\n`, {
      append: true,
    });
  }
}

async function runIn(project: string): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--frozen", "main.ts", "--demo", "-p", "hi"],
    cwd: project,
    stdin: "null",
    env: { XDG_CONFIG_HOME: "/nowhere", NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

Deno.test(
  "R-13 a workspace in a parent folder does not replace our modules by those of its vendor folder",
  { ignore: Deno.build.os === "windows" },
  async () => {
    using temp = tempFolder();
    const parent = temp.path;
    const project = `${parent}/project`;
    await Deno.mkdir(project);
    for (const name of ["main.ts", "deno.lock"]) {
      await Deno.copyFile(ROOT + name, `${project}/${name}`);
    }
    for (const name of ["src", "vendor"]) await Deno.symlink(ROOT + name, `${project}/${name}`);
    const theirs = { vendor: true, lock: false, workspace: ["./project"] };
    await Deno.writeTextFile(`${parent}/deno.json`, JSON.stringify(theirs));
    await layOutThrowing(`${parent}/vendor`);

    const { workspace, ...rest } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
    const settings = `${project}/deno.json`;
    await Deno.writeTextFile(settings, JSON.stringify({ workspace, ...rest }));
    const ours = await runIn(project);
    assertEquals(ours.code, 0, ours.text);
    assertStringIncludes(ours.text, "This is the demo");

    // Positive control: as a member of that workspace the program gets their modules.
    await Deno.writeTextFile(settings, JSON.stringify(rest));
    const replaced = await runIn(project);
    assertEquals(replaced.code, 1);
    assertStringIncludes(replaced.text, "a module of the parent folder");
  },
);
