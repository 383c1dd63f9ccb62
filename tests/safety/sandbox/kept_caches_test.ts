import { assertEquals, assertNotEquals } from "@std/assert";
import { useCaches } from "../../../src/safety/sandbox/kept_caches.ts";
import { ownSource } from "../../../src/safety/sandbox/mounts.ts";
import type { PathAccess } from "../../../src/safety/folder_looks.ts";
import type { View } from "../../../src/safety/view.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { posixTest as test } from "../../helpers/test_unless.ts";

const unix = { ignore: Deno.build.os === "windows" };
const HOME = "/home/u";
const viewOf = (folder: string, access: PathAccess, more: [string, PathAccess][] = []): View => ({
  folder,
  places: new Map([[HOME, "hidden"], [folder, access], ...more]),
  network: false,
  isComplete: true,
});

/** A state folder, and sessions with their own folders. */
async function scene() {
  const base = await Deno.realPath(await Deno.makeTempDir());
  for (const name of ["one", "two", "session1", "session2"]) Deno.mkdirSync(`${base}/${name}`);
  const open = (session: string) => ({
    useFor: (view: View) => useCaches(view, `${base}/state/caches`, `${base}/${session}`, HOME),
  });
  const cacheOf = (session: string) => ownSource(`${base}/${session}`, `${HOME}/.cache`);
  const isThere = (path: string) => {
    try {
      return Deno.lstatSync(path) !== undefined;
    } catch {
      return false;
    }
  };
  const kept = () =>
    [...Deno.readDirSync(`${base}/state/caches`)].filter(({ isDirectory }) => isDirectory).length;
  return {
    base,
    open,
    cacheOf,
    isThere,
    kept,
    [Symbol.dispose]: () => Deno.removeSync(base, { recursive: true }),
  };
}

test("SBX-01 the caches of a folder are there in its next session, and in no other folder", async () => {
  using made = await scene();
  const { base, cacheOf } = made;
  const first = made.open("session1");
  await first.useFor(viewOf(`${base}/one`, "write"));
  Deno.writeTextFileSync(`${cacheOf("session1")}/x`, "built");
  const second = made.open("session2");
  await second.useFor(viewOf(`${base}/one`, "write"));
  assertEquals(Deno.readTextFileSync(`${cacheOf("session2")}/x`), "built");
  const one = Deno.readLinkSync(cacheOf("session2"));
  await second.useFor(viewOf(`${base}/two`, "write"));
  assertNotEquals(Deno.readLinkSync(cacheOf("session2")), one);
  assertEquals(made.isThere(`${cacheOf("session2")}/x`), false);
  // Another folder at the same path is another folder.
  Deno.renameSync(`${base}/one`, `${base}/old`);
  Deno.mkdirSync(`${base}/one`);
  await second.useFor(viewOf(`${base}/one`, "write"));
  assertEquals(made.isThere(`${cacheOf("session2")}/x`), false);
});

test("SBX-01 caches are kept where no command reaches them, of their own where the folder is read-only", async () => {
  using made = await scene();
  const { base, cacheOf } = made;
  const caches = made.open("session1");
  const reachable: View[] = [
    viewOf(`${base}/one`, "read", [[base, "read"]]),
    viewOf(`${base}/one`, "write", [[base, "read"]]),
    viewOf(`${base}/one`, "write", [[base, "write"]]),
  ];
  for (const view of reachable) {
    await caches.useFor(viewOf(`${base}/one`, "write"));
    assertEquals(made.isThere(cacheOf("session1")), true);
    await caches.useFor(view);
    assertEquals(made.isThere(cacheOf("session1")), false);
  }
  await caches.useFor(viewOf(`${base}/one`, "write"));
  const written = Deno.readLinkSync(cacheOf("session1"));
  await caches.useFor(viewOf(`${base}/one`, "read"));
  const offline = Deno.readLinkSync(cacheOf("session1"));
  assertNotEquals(offline, written);
  await caches.useFor({ ...viewOf(`${base}/one`, "read"), network: true });
  assertNotEquals(Deno.readLinkSync(cacheOf("session1")), offline);
  await caches.useFor({ ...viewOf(`${base}/one`, "write"), network: true });
  assertEquals(Deno.readLinkSync(cacheOf("session1")), written);
  const hidden: [string, PathAccess][] = [[base, "write"], [`${base}/state`, "hidden"]];
  await caches.useFor(viewOf(`${base}/one`, "write", hidden));
  assertEquals(made.isThere(cacheOf("session1")), true);
});

Deno.test({
  name: "SBX-01 what a cache was not used for in a month goes, once a day",
  ...unix,
  async fn() {
    using made = await scene();
    const { base } = made;
    const caches = made.open("session1");
    await caches.useFor(viewOf(`${base}/one`, "write"));
    const old = `${base}/state/caches/${"0".repeat(64)}`;
    // A command may have closed it to its owner.
    Deno.mkdirSync(`${old}/.cache/closed`, { recursive: true });
    Deno.writeTextFileSync(`${old}/.cache/closed/x`, "");
    Deno.chmodSync(`${old}/.cache/closed`, 0);
    const day = 86_400_000;
    // chmod does not follow what a command linked to.
    Deno.mkdirSync(`${base}/linked`, { mode: 0o500 });
    Deno.symlinkSync(`${base}/linked`, `${old}/.cache/link`);
    const before = new Date(Date.now() - 40 * day);
    Deno.utimeSync(old, before, before);
    const used = `${base}/state/caches/${"1".repeat(64)}`;
    Deno.mkdirSync(used);
    Deno.utimeSync(used, before, new Date(Date.now() - 29 * day));
    Deno.symlinkSync(used, `${base}/state/caches/link`);
    await caches.useFor(viewOf(`${base}/one`, "write"));
    assertEquals(made.isThere(old), true);
    Deno.utimeSync(`${base}/state/caches/looked`, before, before);
    await caches.useFor(viewOf(`${base}/one`, "write"));
    await waitUntil(() => !made.isThere(old));
    assertEquals(made.kept(), 2);
    assertEquals(Deno.statSync(`${base}/linked`).mode! & 0o777, 0o500);
  },
  sanitizeResources: false,
  sanitizeOps: false,
});

test("SBX-01 kept caches are the person's alone, and their last use is noted", async () => {
  using made = await scene();
  const { base, cacheOf } = made;
  const caches = made.open("session1");
  const view = viewOf(`${base}/one`, "write");
  await caches.useFor(view);
  const cache = Deno.readLinkSync(cacheOf("session1"));
  const kept = cache.replace(/[/][^/]*$/, "");
  for (const path of [`${base}/state/caches`, kept, cache]) {
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o700, path);
  }
  const before = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
  Deno.utimeSync(kept, before, before);
  await caches.useFor(view);
  assertEquals(Deno.statSync(kept).mtime!.getTime() > before.getTime(), true);
});

test("SBX-01 a session's own cache lasts while it is used, and goes where a kept one takes its place", async () => {
  using made = await scene();
  const { base, cacheOf } = made;
  const caches = made.open("session1");
  const cache = cacheOf("session1");
  Deno.mkdirSync(cache, { recursive: true });
  Deno.writeTextFileSync(`${cache}/x`, "");
  for (let i = 0; i < 2; i++) {
    await caches.useFor(viewOf(`${base}/one`, "read", [[base, "read"]]));
  }
  assertEquals(made.isThere(`${cache}/x`), true);
  await caches.useFor(viewOf(`${base}/one`, "write"));
  assertEquals([made.isThere(`${cache}/x`), made.isThere(cache)], [false, true]);
});
