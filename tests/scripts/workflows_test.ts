import { assertEquals } from "@std/assert";
import { walk } from "@std/fs/walk";
import { fromFileUrl } from "@std/path/from-file-url";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

Deno.test("R-17 workflows: each action is pinned by its commit, and tells its version", async () => {
  const used: string[] = [];
  for await (const { path } of walk(`${ROOT}.github`, { exts: [".yml", ".yaml"] })) {
    const text = await Deno.readTextFile(path);
    used.push(...[...text.matchAll(/\buses["']?\s*:\s*(.*)/g)].map(([, action]) => action!));
  }
  const others = used.filter((action) => !action.startsWith("./"));
  assertEquals(others.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(action)), []);
  assertEquals(others.length > 0, true);
});

/** The package of Deno for each target that is released. */
const PACKAGES: Record<string, string> = {
  "x86_64-unknown-linux-gnu": "linux-x64-glibc",
  "aarch64-unknown-linux-gnu": "linux-arm64-glibc",
  "x86_64-apple-darwin": "darwin-x64",
  "aarch64-apple-darwin": "darwin-arm64",
  "x86_64-pc-windows-msvc": "win32-x64",
};

Deno.test("R-17 setup: the hash of Deno is known for each system that is released for", async () => {
  const release = await Deno.readTextFile(`${ROOT}.github/workflows/release.yml`);
  const targets = [...release.matchAll(/\btarget: ([\w-]+)/g)].map(([, target]) => target!);
  assertEquals(targets.toSorted(), Object.keys(PACKAGES).toSorted());
  const setup = await Deno.readTextFile(`${ROOT}scripts/setup`);
  const hashes = [...setup.matchAll(/^@deno\/(\S+)@\$DENO [\w+/]{86}==$/gm)].map(([, one]) => one!);
  for (const target of targets) assertEquals(hashes.includes(PACKAGES[target]!), true, target);
});
