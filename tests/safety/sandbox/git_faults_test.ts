/** What counts as a fault of a new repository. */

import { assertEquals, assertMatch } from "@std/assert";
import { FolderLooks } from "../../../src/safety/folder_looks.ts";
import { type WaitTime, waitTime } from "../../../src/safety/in_place.ts";
import { PathTable } from "../../../src/safety/path_table.ts";
import { putAside, removeLinks, turnOffNew } from "../../../src/safety/sandbox/git_faults.ts";
import { startWriter } from "../../../src/safety/sandbox/writers.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";
import { posixTest } from "../../helpers/test_unless.ts";

const ANSWERS = {
  ...{ time: waitTime(), own: "/", madeSettings: () => undefined, namedIn: () => [] },
  ...{ mayApply: () => false, indexMayLeadAway: () => false },
};

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

const EVIL = `evil() {
  git init -q "$1"
  git -C "$1" config core.fsmonitor "touch '$PWD/ran.$(basename "$1")'; false"
}`;
/** Runs a script, and returns for which repositories git ran their program. */
function ranIn(folder: string, script: string): string[] {
  const env = { HOME: folder, GIT_CEILING_DIRECTORIES: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const args = ["-c", `${EVIL}\n${script}`];
  new Deno.Command("sh", { args, cwd: folder, env }).outputSync();
  return [...Deno.readDirSync(folder)].flatMap(({ name }) => /^ran[.](.*)/.exec(name)?.[1] ?? []);
}

posixTest("R-23 what there is no time to search in a folder runs nothing in the user's git", () => {
  using temp = tempFolder();
  const folder = temp.path;
  const use = "for d in known */ deep/*/; do (cd $d && git status); done";
  assertEquals(ranIn(folder, `evil known; ${use}; rm ran.known`), []);
  // A large folder: each look at a part of it costs all that there is.
  class LargeLooks extends FolderLooks {
    override at(...given: Parameters<FolderLooks["at"]>) {
      if (given[0] !== folder) this.cost += 400_000;
      return super.at(...given);
    }
  }
  const access = new Map([[folder, "write"], [`${folder}/known/.git`, "read"]] as const);
  const view = { folder, places: access, network: false, isComplete: true };
  const startIn = (time: WaitTime) =>
    startWriter(view, new LargeLooks(new PathTable({})), { ...ANSWERS, time }, undefined);
  const end = startIn(waitTime());
  const made = "evil deep/plain; evil deep/shut; chmod a-w deep/shut/.git; chmod 0 deep/shut; " +
    "evil deep/x; mv deep/x/.git deep/bare; git -C deep/bare config core.worktree ..; " +
    "mkdir deep/file deep/link; echo gitdir: ../bare >deep/file/.git; ln -s ../bare deep/link/.git; " +
    "ln -s ../bare/.git/x deep/file/Hide; echo x >deep/HEAD";
  ranIn(folder, made);
  assertMatch(end().join(), /^Not all that is new in \S+ could be looked at: 6 files /);
  assertEquals(ranIn(folder, `chmod -R u+rwX deep; ${use}`), ["known"]);
  assertEquals(Deno.readTextFileSync(`${folder}/deep/HEAD`), "x\n");
  // There is time to find them, but none to look at what is in them.
  const endLate = startIn({ left: 0 });
  ranIn(folder, "evil late");
  assertMatch(endLate().join(), /^Not all .* 1 files [^,]*$/);
  assertEquals(ranIn(folder, "git -C late status; git -C known status"), ["known"]);
  const known = removeLinks([`${folder}/known/.git`], () => [], { left: 0 }, () => []);
  assertMatch(known.lines.join(), /took too long.*do not use/);
});

posixTest(
  "R-23 no file of a new repository has a second name, by which commands write it",
  () => {
    using temp = tempFolder();
    const folder = temp.path;
    const access = new Map([[folder, "write"]] as const);
    const view = { folder, places: access, network: false, isComplete: true };
    const end = startWriter(view, new FolderLooks(new PathTable({})), ANSWERS, undefined);
    const made = "evil from; git init -q to; ln to/.git/config config; " +
      "git init -q x/z; mv x/z/.git x/z.git; echo gitdir: ../z.git >x/z/.git; ln x/z/.git file; " +
      "git init -q src; git -C src -c user.name=x -c user.email=x commit -qm x --allow-empty; " +
      "git -C src commit-graph write --reachable; git clone -q src copy";
    ranIn(folder, made);
    const lines = end();
    assertMatch(lines.join("\n"), /config, a hard link, [^]*z\/[.]git was moved to/);
    assertEquals(lines.length, 2);
    const late = "cat from/.git/config >config; echo gitdir: ../../from/.git >file";
    const use =
      "for d in to x/z copy; do git -C $d status; git -C $d fsck --strict || :>ran.$d; done";
    assertEquals(ranIn(folder, `${late}; ${use}`), []);
    assertEquals(ranIn(folder, "git -C from status"), ["from"]);
  },
);

posixTest("R-23 what changed before a command stays, but no part that it completes", () => {
  using temp = tempFolder();
  const at = temp.path;
  ranIn(at, "evil before; evil later; mv later/.git/objects .");
  const since = Date.now();
  // The clock of a file system is coarse.
  do Deno.writeTextFileSync(`${at}/now`, ""); while (
    Deno.statSync(`${at}/now`).mtime!.getTime() <= since
  );
  ranIn(at, "mv objects later/.git");
  turnOffNew(at, { since, mended: [], known: [] });
  assertEquals(ranIn(at, "for d in */; do git -C $d status; done"), ["before"]);
});
