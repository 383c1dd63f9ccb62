/** What counts as a fault of a new repository. */

import { assertEquals, assertMatch } from "@std/assert";
import { waitTime } from "../../../src/safety/in_place.ts";
import { mendRepositories, putAside, removeLinks } from "../../../src/safety/sandbox/git_faults.ts";

const ANSWERS = {
  ...{ time: waitTime(), own: "/", madeSettings: () => undefined, namedIn: () => [] },
  ...{ mayApply: () => false, indexMayLeadAway: () => false },
};

Deno.test({
  name: "R-23 new repositories for which there is no time are put aside as a whole",
  ignore: Deno.build.os === "windows",
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir());
    const names = ["a", "b", "c", "d"];
    const line =
      "mkdir $n $n/objects $n/refs; cd $n; echo ref: refs/heads/x > HEAD; : > index; ln -s / link";
    const args = ["-c", `for n in ${names.join(" ")}; do (${line}); done`];
    await new Deno.Command("sh", { args, cwd: root }).output();
    const folders = names.map((name) => `${root}/${name}`);
    const asked: string[] = [];
    const time = { left: 10_000 };
    const indexMayLeadAway = (at: string) => {
      asked.push(at.slice(root.length + 1));
      if (asked.length > 1) time.left = 0;
      return false;
    };
    const git = { ...ANSWERS, own: root, time, indexMayLeadAway };
    const moved = (from: string[]) => {
      const { lines, isDone } = mendRepositories(from, root, git);
      assertEquals([isDone, lines.filter((one) => one.includes("could not"))], [true, []]);
      return lines.flatMap((one) => /(\w) was moved to/.exec(one)?.[1] ?? []);
    };
    assertEquals(moved(folders.slice(0, 3)), ["b", "c"]);
    assertEquals(asked, ["a", "b"]);
    assertEquals(moved(folders.slice(3)), ["d"]);
    assertEquals(
      [...Deno.readDirSync(`${root}/a`)].map(({ name }) => name).includes("link"),
      false,
    );
    // A known folder stays.
    const known = removeLinks([`${root}/a`], () => [], time, () => []);
    assertMatch(known.lines.join(), /took too long.*do not use/);
    assertEquals(known.isDone, false);
    await Deno.remove(root, { recursive: true });
  },
});

Deno.test({
  name: "R-21 a file is put aside even if the disk has no space for what replaces it",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const [config, made] = [`${folder}/config`, `${folder}/made`];
    for (const path of [config, made]) await Deno.writeTextFile(path, "before\n");
    const module = import.meta.resolve("../../../src/safety/sandbox/git_faults.ts");
    const code = `const { putAside } = await import(${JSON.stringify(module)});
      const [folder, config, made] = ${JSON.stringify([folder, config, made])};
      const faults = [[config, "x".repeat(60_000)], [made, "x".repeat(60_000), true]];
      console.log(JSON.stringify(putAside(faults, folder)));`;
    // As on a full disk, the text is written in part: the system limits the size of a file to 16 KiB.
    const limited = 'trap "" XFSZ; ulimit -f 32; exec "$0" eval --no-lock "$1"';
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", limited, Deno.execPath(), code],
    }).output();
    const { lines, isDone } = JSON.parse(new TextDecoder().decode(stdout));
    const moved = /config was moved to (config\.\S+)/.exec(lines[0]);
    assertMatch(lines[1], /made could not/);
    const names = () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assertEquals([isDone, names()], [false, [moved![1]!, "made"]]);
    for (const name of names()) {
      assertEquals(await Deno.readTextFile(`${folder}/${name}`), "before\n");
    }
    // Positive control.
    await Deno.rename(`${folder}/${moved![1]}`, config);
    const done = putAside([[config, "after"], [made, "after", true]], folder);
    assertEquals([done.isDone, done.lines.length], [true, 1]);
    for (const path of [config, made]) assertEquals(await Deno.readTextFile(path), "after");
    assertEquals(names().length, 3);
    await Deno.remove(folder, { recursive: true });
  },
});
