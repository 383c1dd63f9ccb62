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
  name: `R-23 a folder that a command closed to the look for new repositories is opened${
    Deno.uid() === 0 ? " (skipped: root may look everywhere)" : ""
  }`,
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(folder);
    await sh(folder, "git init -q one; git init -q c/two");
    for (const line of ["000 c", "444 c", "311 c", "000 one/.git", "000 ."]) {
      await sh(folder, `chmod ${line}`);
      const looks = new FolderLooks(new PathTable({}));
      const look = repositoriesIn(folder, looks, () => true);
      const names = look.found.map((at) => at.slice(folder.length + 1)).sort();
      assertEquals([names, look.isComplete], [["c/two/.git", "one/.git"], true], line);
      assertEquals(removeLinks(look.found, () => ["hooks"], waitTime()), []);
    }
    await Deno.remove(base, { recursive: true });
  },
});
