import { assertEquals, assertStrictEquals } from "@std/assert";
import { FolderLooks, swappers } from "../../src/safety/folder_looks.ts";
import { PathTable } from "../../src/safety/path_table.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const looks = () => new FolderLooks(new PathTable({ home: "/nowhere" }));
const namesAt = (all: FolderLooks, folder: string) =>
  all.at(folder)?.entries.map(({ name }) => name).sort();

test("R-19 a folder that did not change is not listed again; a change at any time is seen", async () => {
  // A system folder: nothing changed in it within the tick of a clock.
  const settled = looks();
  assertStrictEquals(settled.at("/usr"), settled.at("/usr"));
  const folder = await Deno.makeTempDir();
  const fresh = looks();
  // It changed just now, and may do so again at the same time of the file system's clock.
  assertEquals(fresh.at(folder) === fresh.at(folder), false);
  for (const name of [".env.a", ".env.b", ".env"]) {
    Deno.writeTextFileSync(`${folder}/${name}`, "");
    assertEquals(namesAt(fresh, folder)?.includes(name), true);
  }
  // Times that a program sets are not the ones that count.
  Deno.utimeSync(folder, 1, 1);
  fresh.at(folder);
  Deno.writeTextFileSync(`${folder}/c.pem`, "");
  Deno.utimeSync(folder, 1, 1);
  assertEquals(namesAt(fresh, folder), [".env", ".env.a", ".env.b", "c.pem"]);
  await Deno.remove(folder, { recursive: true });
});

/** Calls a function as if it were later, so that no change can have the same time as one before. */
function later<T>(ms: number, use: () => T): T {
  const { now } = Date;
  Date.now = () => now() + ms;
  try {
    return use();
  } finally {
    Date.now = now;
  }
}

test("R-19 another run's change of a large folder that changed just now is seen", async () => {
  const folder = await Deno.makeTempDir();
  for (let at = 0; at < 10_000; at++) Deno.writeTextFileSync(`${folder}/${at}`, "");
  const all = looks();
  assertEquals(namesAt(all, folder), []);
  const { mtime } = Deno.statSync(folder);
  Deno.writeTextFileSync(`${folder}/.env`, "");
  Deno.utimeSync(folder, mtime!, mtime!);
  assertEquals(namesAt(all, folder), [".env"]);
  await Deno.remove(folder, { recursive: true });
});

test("R-19 what a program showed in the place of a folder is forgotten at its end", async () => {
  const base = await Deno.makeTempDir();
  for (const name of ["a/.env", "b/x"]) Deno.mkdirSync(`${base}/${name}`, { recursive: true });
  const all = looks();
  const names = () => later(10_000, () => namesAt(all, `${base}/a`));
  const { readDirSync } = Deno;
  Deno.readDirSync = () => readDirSync(`${base}/b`);
  swappers.now = new Set(["job", "other"]);
  assertEquals(names(), ["x"]);
  Deno.readDirSync = readDirSync;
  // Until then, it is not listed again.
  swappers.now = new Set(["job", "other", "more"]);
  assertEquals(names(), ["x"]);
  swappers.now = new Set(["other", "more"]);
  assertEquals(names(), [".env"]);
  swappers.now = new Set();
  await Deno.remove(base, { recursive: true });
});

test("R-19 a look says what names leave open, and where git would find a repository", async () => {
  const folder = await Deno.makeTempDir();
  for (const name of [".env", "AGENTS.md", "a.ts", "HEAD", "config"]) {
    Deno.writeTextFileSync(`${folder}/${name}`, "");
  }
  const all = looks();
  assertEquals(all.at(folder)!.isRepository, false);
  Deno.mkdirSync(`${folder}/objects`);
  const found = (isWhole: boolean) => {
    const { entries, isRepository } = all.at(folder, isWhole)!;
    return [isRepository, entries.map(({ name, access }) => `${name} ${access}`).sort()];
  };
  // Files of which nothing is known are left out, unless rules may be about them.
  const [kept, others] = [[".env hidden", "AGENTS.md read", "objects undefined"], [
    "HEAD undefined",
    "a.ts undefined",
    "config undefined",
  ]];
  assertEquals(found(false), [true, kept]);
  assertEquals(found(true), [true, [...kept, ...others].sort()]);
  const nothing = { entries: [], isWhole: false, isRepository: false };
  assertEquals(all.at(`${folder}/a.ts`), nothing);
  assertEquals(all.at(`${folder}/none`), nothing);
  await Deno.remove(folder, { recursive: true });
});
