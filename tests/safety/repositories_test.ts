import { assert, assertEquals } from "@std/assert";
import { FolderLooks } from "../../src/safety/folder_looks.ts";
import { waitTime } from "../../src/safety/in_place.ts";
import { PathTable } from "../../src/safety/path_table.ts";
import { repositoriesIn } from "../../src/safety/repositories.ts";
import { removeLinks } from "../../src/safety/sandbox/git_faults.ts";

async function sh(folder: string, script: string): Promise<void> {
  const bash = new Deno.Command("bash", { args: ["-ec", script], cwd: folder });
  assert((await bash.output()).success, script);
}

Deno.test({
  name: `R-23 a folder that a command closed to the look for new repositories is named${
    Deno.uid() === 0 ? " (skipped: root may look everywhere)" : ""
  }`,
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(folder);
    await sh(folder, "git init -q one; git init -q c/two");
    const rows: [mode: string, found: string[]][] = [
      ["chmod 000 c", ["c", "one/.git"]],
      ["chmod 444 c", ["c", "one/.git"]],
      ["chmod 311 c", ["c/two/.git", "one/.git"]],
      ["chmod 000 .", [""]],
    ];
    for (const [line, found] of rows) {
      await sh(folder, line);
      const looks = new FolderLooks(new PathTable({}));
      const look = repositoriesIn(folder, looks, () => true);
      const names = look.found.map((at) => at.slice(folder.length + 1)).sort();
      assertEquals([names, look.isComplete], [found, true], line);
      const said = removeLinks(look.found, () => ["hooks"], waitTime()).join();
      assertEquals(said.includes("could not be looked through"), !line.includes("311"), said);
      await Deno.chmod(folder, 0o755);
      await Deno.chmod(`${folder}/c`, 0o755);
    }
    await Deno.remove(base, { recursive: true });
  },
});
