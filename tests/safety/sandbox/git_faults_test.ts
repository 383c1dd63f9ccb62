/** What counts as a fault of a new repository. */

import { assertEquals, assertMatch } from "@std/assert";
import { unsearched } from "../../../src/safety/in_place.ts";
import { newFaults, removeLinks } from "../../../src/safety/sandbox/git_faults.ts";

Deno.test({
  name: "R-23 new repositories that cannot be looked through in time are faults as a whole",
  ignore: Deno.build.os === "windows",
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir());
    const names = ["a", "b", "c"];
    const line =
      "mkdir $n $n/objects $n/refs; cd $n; echo ref: refs/heads/x > HEAD; : > index; ln -s / link";
    const args = ["-c", `for n in ${names.join(" ")}; do (${line}); done`];
    await new Deno.Command("sh", { args, cwd: root }).output();
    const folders = names.map((name) => `${root}/${name}`);
    const asked: string[] = [];
    const time = { left: 10 };
    const indexMayLeadAway = (at: string) => {
      asked.push(at.slice(root.length + 1));
      time.left = 0;
      return true;
    };
    const faults = newFaults(folders, root, {
      time,
      harmlessText: () => undefined,
      indexMayLeadAway,
      mayApply: () => false,
    });
    const found = faults.map(([path]) => path.slice(root.length + 1));
    assertEquals([asked, found], [["a"], ["a/index", "b", "c"]]);
    for (const said of removeLinks(folders, () => [], time)) {
      assertMatch(said, /took too long.*do not use/);
    }
    assertEquals(Deno.lstatSync(`${root}/a/link`).isSymlink, true);
    assertEquals(folders.filter((at) => unsearched.has(at)), folders);
    // Positive control.
    assertMatch(
      removeLinks(folders, () => [], { left: 5000 }).join(),
      /a\/link, a link to \/, was removed/,
    );
    assertEquals(folders.filter((at) => unsearched.has(at)), []);
    await Deno.remove(root, { recursive: true });
  },
});
