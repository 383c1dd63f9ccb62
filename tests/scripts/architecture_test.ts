import { assertEquals } from "@std/assert";
import { walk } from "@std/fs/walk";
import { fromFileUrl } from "@std/path/from-file-url";
import { relative } from "@std/path/relative";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

Deno.test("architecture: every file and folder that the page names is there", async () => {
  const there = ["/main.ts"];
  for (const folder of ["src", "tests", "scripts"]) {
    for await (const { path, isDirectory } of walk(`${ROOT}${folder}`)) {
      there.push(`/${relative(ROOT, path).replaceAll("\\", "/")}${isDirectory ? "/" : ""}`);
    }
  }
  const text = await Deno.readTextFile(`${ROOT}docs/architecture.md`);
  const named = [...text.matchAll(/`([\w./<>]+(?:\.ts|\/))`/g)].map(([, name]) => name!);
  const protocols = ["openai", "ollama", "anthropic"];
  const missing = named.flatMap((name) => protocols.map((one) => name.replace("<protocol>", one)))
    .filter((name) => !there.some((path) => path.endsWith(`/${name}`)));
  assertEquals([named.length > 50, [...new Set(missing)]], [true, []]);
});
