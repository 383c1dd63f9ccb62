import { assertEquals } from "@std/assert";
import { isWithin, resolvePath } from "../../src/text/paths.ts";

const rows: [name: string, path: string, expected: string][] = [
  ["relative", "src/a.ts", "/work/dir/src/a.ts"],
  ["empty is the working directory", "", "/work/dir"],
  ["dot", ".", "/work/dir"],
  ["parent", "../x", "/work/x"],
  ["above the root stays at the root", "../../../../etc", "/etc"],
  ["inner dots and slashes", "./a/./b//../c", "/work/dir/a/c"],
  ["absolute", "/etc/passwd", "/etc/passwd"],
  ["absolute is not even normalised", "/a/../b/./c//d/", "/a/../b/./c//d/"],
  ["no home", "~/x", "/work/dir/~/x"],
  ["no percent decoding", "a%2fb%2e%2e", "/work/dir/a%2fb%2e%2e"],
  ["no file URL", "file:///etc/passwd", "/work/dir/file:/etc/passwd"],
  ["spaces are part of a name", " a ", "/work/dir/ a "],
  ["a backslash is part of a name", "a\\b", "/work/dir/a\\b"],
  ["names like members of Object", "__proto__", "/work/dir/__proto__"],
];

for (const [name, path, expected] of rows) {
  Deno.test(
    `resolvePath: ${name}`,
    { ignore: Deno.build.os === "windows" },
    () => assertEquals(resolvePath({ workingDir: "/work/dir" }, path), expected),
  );
}

const WITHIN: [folder: string, path: string, expected: boolean][] = [
  ["/a/b", "/a/b", true],
  ["/a/b", "/a/b/c", true],
  ["/a/b", "/a/b/../b/c", true],
  ["/a/b", "/a/b/..c", true],
  ["/", "/a", true],
  ["/a/b", "/a", false],
  ["/a/b", "/a/bc", false],
  ["/a/b", "/a/b/../c", false],
  ["/a/b", "/", false],
];

for (const [folder, path, expected] of WITHIN) {
  Deno.test(
    `isWithin: ${path} in ${folder}`,
    { ignore: Deno.build.os === "windows" },
    () => assertEquals(isWithin(folder, path), expected),
  );
}
