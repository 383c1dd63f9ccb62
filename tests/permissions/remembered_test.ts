import { assertEquals } from "@std/assert";
import { type Lookups, Remembered } from "../../src/permissions/remembered.ts";

/** Runs `test` in a folder that looks as if nothing changed in it for long, until something does. */
async function inSettledFolder(test: (folder: string) => void) {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const { now } = Date;
  // The time of a change is the system's, and cannot be set back.
  Date.now = () => now() + 10_000;
  try {
    test(folder);
  } finally {
    Date.now = now;
    await Deno.remove(folder, { recursive: true });
  }
}

/** Counts how often a result is made from a look at a path. */
function looked(path: string) {
  const remembered = new Remembered<number>();
  let made = 0;
  return (key = "") =>
    remembered.get(key, (from: Lookups) => {
      from.note(path);
      let real: string | undefined;
      try {
        real = Deno.realPathSync(path);
      } catch {
        // Nothing is there.
      }
      from.noteReal(path, real);
      return ++made;
    });
}

/** The number of the result that two looks in a row give: other programs change the folder above, too. */
function kept(look: (key?: string) => number, key?: string): number {
  for (let tries = 0; tries < 100; tries++) {
    const made = look(key);
    if (look(key) === made) return made;
  }
  throw new Error("no two looks gave the same result");
}

Deno.test({
  name: "R-19 a result is kept while no folder above what it was made from changed",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inSettledFolder((folder) => {
      Deno.mkdirSync(`${folder}/sub`);
      const look = looked(`${folder}/sub/a/b`);
      const made = [kept(look), kept(look, "other")];
      Deno.mkdirSync(`${folder}/sub/a`);
      made.push(kept(look, "other"));
      Deno.renameSync(`${folder}/sub`, `${folder}/gone`);
      made.push(kept(look, "other"));
      assertEquals(new Set(made).size, 4);
    }),
});

Deno.test({
  name: "R-19 a result made in a folder that changed just now is made anew each time",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const look = looked(`${folder}/a`);
    assertEquals([look(), look()], [1, 2]);
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test({
  name:
    "R-02 R-19 a link behind a result is followed again: what it leads through may change alone",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inSettledFolder((folder) => {
      for (const name of ["links", "through", "a", "b"]) Deno.mkdirSync(`${folder}/${name}`);
      Deno.symlinkSync(`${folder}/a`, `${folder}/through/at`);
      Deno.symlinkSync(`${folder}/through/at`, `${folder}/links/one`);
      Deno.symlinkSync(`${folder}/through/none`, `${folder}/links/two`);
      const one = looked(`${folder}/links/one`);
      const two = looked(`${folder}/links/two`);
      const made = [kept(one), kept(two)];
      Deno.removeSync(`${folder}/through/at`);
      Deno.symlinkSync(`${folder}/b`, `${folder}/through/at`);
      Deno.mkdirSync(`${folder}/through/none`);
      assertEquals([kept(one) > made[0]!, kept(two) > made[1]!], [true, true]);
    }),
});
