import { assert, assertEquals } from "@std/assert";
import { FolderLooks } from "../../src/safety/folder_looks.ts";
import { OPEN_FOLDER, runInPlace, waitTime } from "../../src/safety/in_place.ts";
import { PathTable } from "../../src/safety/path_table.ts";
import { repositoriesIn } from "../../src/safety/repositories.ts";
import { removeLinks } from "../../src/safety/sandbox/git_faults.ts";
import { posixTest } from "../helpers/test_unless.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

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
      assertEquals([names, look.isDone], [["c/two/.git", "one/.git"], true], line);
      assertEquals(removeLinks(look.found, () => ["hooks"], waitTime()), {
        lines: [],
        isDone: true,
      });
    }
    await Deno.remove(base, { recursive: true });
  },
});

posixTest("R-23 only a folder is opened, also if something else has replaced it", () => {
  using temp = tempFolder();
  const at = Deno.realPathSync(temp.path);
  const path = `${at}/closed`;
  Deno.writeTextFileSync(path, "", { mode: 0o400 });
  runInPlace(at, OPEN_FOLDER, ["closed"]);
  Deno.mkdirSync(`${path}-folder`, { mode: 0 });
  runInPlace(at, OPEN_FOLDER, ["closed-folder"]);
  const modes = [path, `${path}-folder`].map((one) => Deno.lstatSync(one).mode! & 0o777);
  assertEquals(modes, [0o400, 0o700]);
});
