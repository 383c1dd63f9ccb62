/**
 * Type-checks the project with the types of the fallback in place of the real @std packages:
 * `deno run -A scripts/std_fallback/check.ts`. It finds imports that only JSR's packages have, also on
 * a network that reaches JSR.
 */
import { ensureDir } from "@std/fs/ensure-dir";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { subpath, types } from "./layout.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

const folder = await Deno.makeTempDir();
try {
  const imports: Record<string, string> = {};
  for (const name of ["assert", "cli", "expect", "path"]) {
    for (const [module, text] of types(name)) {
      const file = `${folder}/${name}/${module}.d.ts`;
      await ensureDir(dirname(file));
      await Deno.writeTextFile(file, text);
      imports[`@std/${name}${subpath(module).slice(1)}`] = toFileUrl(file).href;
    }
  }
  for (const { name } of Deno.readDirSync(`${ROOT}/scripts/std_fallback/fs`)) {
    const file = toFileUrl(`${ROOT}/scripts/std_fallback/fs/${name}`);
    imports[`@std/fs${subpath(name.replace(/\.ts$/, "")).slice(1)}`] = file.href;
  }
  const map = `${folder}/import_map.json`;
  await Deno.writeTextFile(map, JSON.stringify({ imports }));
  const check = new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--import-map", map, "main.ts", "src", "tests", "scripts"],
    cwd: ROOT,
  });
  Deno.exitCode = (await check.spawn().status).code;
} finally {
  await Deno.remove(folder, { recursive: true });
}
