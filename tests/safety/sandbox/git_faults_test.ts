/** What counts as a fault of a new repository. */

import { assertEquals, assertMatch } from "@std/assert";
import { unsearched, waitTime } from "../../../src/safety/in_place.ts";
import { FolderLooks } from "../../../src/safety/folder_looks.ts";
import { PathTable } from "../../../src/safety/path_table.ts";
import { startWriter } from "../../../src/safety/sandbox/writers.ts";
import { newFaults, putAside, removeLinks } from "../../../src/safety/sandbox/git_faults.ts";

const ANSWERS = {
  ...{ time: waitTime(), own: "/", harmlessSettings: () => undefined, namedIn: () => [] },
  ...{ mayApply: () => false, indexMayLeadAway: () => false },
};

Deno.test({
  name:
    "R-23 new repositories for which there is no time stay unsearched, but for one that took it all",
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
    const time = { left: 0 };
    const indexMayLeadAway = (at: string) => {
      asked.push(at.slice(root.length + 1));
      time.left = 0;
      return false;
    };
    const git = { ...ANSWERS, time, indexMayLeadAway };
    const rows: [left: number, found: string[], unsearched: string[]][] = [
      [10, [], ["a", "b", "c"]],
      [10_000, ["a"], ["b", "c"]],
    ];
    for (const [left, found, later] of rows) {
      time.left = left;
      const faults = newFaults(folders, root, git);
      assertEquals(faults.map(([path]) => path.slice(root.length + 1)), found);
      assertEquals(names.filter((name) => unsearched.delete(`${root}/${name}`)), later);
    }
    assertEquals(asked, ["a/index", "a/index"]);
    assertEquals(removeLinks(folders, () => [], time), []);
    assertEquals(folders.filter((at) => unsearched.delete(at)), folders);
    for (const said of removeLinks(folders, () => [], time, () => [])) {
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

Deno.test({
  name: "R-23 of many new repositories, each is looked at after some commands",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const line = "mkdir -p $n/objects $n/refs; echo ref: refs/heads/x > $n/HEAD; echo > $n/config";
    const args = ["-c", `for n in a b c; do ${line}; done`];
    await new Deno.Command("sh", { args, cwd: folder }).output();
    const asked: string[] = [];
    const time = { left: 0 };
    const harmlessSettings = (path: string) => {
      asked.push(path.slice(folder.length + 1));
      time.left -= 6000;
      return undefined;
    };
    const answers = { ...ANSWERS, time, harmlessSettings };
    const looks = new FolderLooks(new PathTable({ home: folder }));
    const places = new Map([[folder, "write"] as const]);
    const view = { folder, places, network: false, isComplete: true };
    const saids = [/could be searched/, /could be searched/, /^$/].map((said, i) => {
      time.left = 10_000;
      // The views of later commands protect what the first one made.
      const repositories = i === 0 ? [] : ["a", "b", "c"].map((name) => `${folder}/${name}`);
      const seen = { ...view, repositories };
      assertMatch(startWriter(seen, looks, answers, undefined)().join(), said);
      return asked.splice(0).map((path) => path.slice(0, 1)).sort();
    });
    // Those that took time come one by one, and none is asked about again.
    const [first, second, third] = saids.map((names) => names.join(""));
    assertEquals(saids.map(({ length }) => length), [2, 2, 1]);
    assertEquals([second!.includes(third!), new Set(first! + second!).size], [true, 3]);
    unsearched.clear();
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name: "R-21 a file is put aside even if the disk has no space for what replaces it",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    await Deno.writeTextFile(`${folder}/config`, "before\n");
    const module = import.meta.resolve("../../../src/safety/sandbox/git_faults.ts");
    const code = `const { putAside } = await import(${JSON.stringify(module)});
      console.log(putAside([[${JSON.stringify(`${folder}/config`)}, "x".repeat(60_000)]], ${
      JSON.stringify(folder)
    }).join());`;
    // As on a full disk, the text is written in part: the system limits the size of a file to 16 KiB.
    const limited = 'trap "" XFSZ; ulimit -f 32; exec "$0" eval --no-lock "$1"';
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", limited, Deno.execPath(), code],
    }).output();
    const moved = /config was moved to (config\.\S+)/.exec(new TextDecoder().decode(stdout));
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), [moved?.[1]]);
    assertEquals(await Deno.readTextFile(`${folder}/${moved?.[1]}`), "before\n");
    // Positive control.
    await Deno.writeTextFile(`${folder}/config`, "before\n");
    assertMatch(putAside([[`${folder}/config`, "after"]], folder).join(), /config was moved to/);
    assertEquals(await Deno.readTextFile(`${folder}/config`), "after");
    assertEquals(
      [...Deno.readDirSync(folder)].every(({ name }) => name.startsWith("config")),
      true,
    );
    await Deno.remove(folder, { recursive: true });
  },
});
