import { assertEquals } from "@std/assert/equals";
import { ensureDir } from "@std/fs/ensure-dir";
import { dirname } from "@std/path/dirname";
import { relative } from "@std/path/relative";
import { walkSync } from "../../scripts/std_fallback/fs/walk.ts";
import { subpath, types } from "../../scripts/std_fallback/layout.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

for (const name of ["assert", "cli", "path"]) {
  Deno.test(`std fallback: what it declares of @std/${name} is there`, async () => {
    for (const [module, text] of types(name)) {
      const declared = text.matchAll(/^export declare (?:function|const|class) (\w+)/gm);
      // The module of the real package where JSR is reached, else that of the fallback.
      const real = await import(`@std/${name}${subpath(module).slice(1)}`);
      for (const [, symbol] of declared) {
        assertEquals(symbol! in real, true, `${symbol} of @std/${name}/${module}`);
      }
    }
  });
}

const FILES = ["a/1.ts", "a/b/2.js", "a/b/c/3.ts", ".h/4.ts", "z.txt"];

async function inTree(check: (root: string) => void): Promise<void> {
  using temp = tempFolder();
  const root = temp.path;
  for (const file of FILES) {
    await ensureDir(dirname(`${root}/${file}`));
    await Deno.writeTextFile(`${root}/${file}`, "");
  }
  await Deno.symlink(`${root}/a/b`, `${root}/a/link`, { type: "dir" });
  check(root);
}

function paths(root: string, entries: Iterable<{ path: string }>): string {
  return [...entries].map(({ path }) => relative(root, path).replaceAll("\\", "/")).sort().join(
    " ",
  );
}

// JSR's @std/fs 1.0.24 gives the expected values.
const WALKS: [options: Parameters<typeof walkSync>[1], expected: string][] = [
  [{}, " .h .h/4.ts a a/1.ts a/b a/b/2.js a/b/c a/b/c/3.ts a/link z.txt"],
  [{ includeDirs: false, includeSymlinks: false }, ".h/4.ts a/1.ts a/b/2.js a/b/c/3.ts z.txt"],
  [{ exts: [".ts"] }, ".h/4.ts a/1.ts a/b/c/3.ts"],
];

for (const [options, expected] of WALKS) {
  Deno.test(`std fallback: walk ${Deno.inspect(options)}`, () =>
    inTree((root) => {
      assertEquals(paths(root, walkSync(root, options)), expected);
    }));
}
