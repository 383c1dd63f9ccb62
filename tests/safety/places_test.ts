import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { placeOf } from "../../src/safety/places.ts";
import { isWithin } from "../../src/text/paths.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

const unix = { ignore: Deno.build.os === "windows" };

/** `ws` beside `out` and `ws-evil`, with links of every kind. */
function folders(): Disposable & { top: string; ws: string } {
  const top = Deno.realPathSync(Deno.makeTempDirSync());
  const ws = join(top, "ws");
  for (const name of ["ws", "ws/sub", "out", "ws-evil"]) Deno.mkdirSync(join(top, name));
  for (const name of ["ws/a", "out/canary", "ws-evil/canary"]) {
    Deno.writeTextFileSync(join(top, name), "");
  }
  const links: [string, string][] = [
    ["link", "../out/canary"],
    ["linkdir", join(top, "out")],
    ["inner", "sub"],
    ["dangling", "../out/new"],
    ["dangling-in", "sub/new"],
    ["hop", "dangling"],
    ["missing-dir", join(top, "out/none")],
    ["loop", "loop"],
    ["self", "."],
  ];
  for (const [name, target] of links) Deno.symlinkSync(target, join(ws, name));
  return { top, ws, [Symbol.dispose]: () => Deno.removeSync(top, { recursive: true }) };
}

const rows: [id: string, path: string, real: string | undefined, isInside: boolean][] = [
  ["a file", "a", "ws/a", true],
  ["the folder", ".", "ws", true],
  ["nothing yet", "x/y/z", "ws/x/y/z", true],
  ["a name with dots", "..a/...", "ws/..a/...", true],
  ["PTH-01 ..", "../out/canary", "out/canary", false],
  ["PTH-01 .. later", "a/../../out/canary", "out/canary", false],
  ["PTH-01 absolute", "TOP/out/canary", "out/canary", false],
  ["PTH-01 absolute with ..", "TOP/ws/./../out", "out", false],
  ["PTH-01 nothing yet outside", "../out/x/y", "out/x/y", false],
  ["PTH-01 ~ is a name", "~/x", "ws/~/x", true],
  ["PTH-02 a sibling whose name begins the same", "../ws-evil/canary", "ws-evil/canary", false],
  ["PTH-02 absolute", "TOP/ws-evil/canary", "ws-evil/canary", false],
  ["PTH-03 a link to a file", "link", "out/canary", false],
  ["PTH-03 below a link", "linkdir/canary", "out/canary", false],
  ["PTH-03 nothing yet below a link", "linkdir/new/x", "out/new/x", false],
  ["PTH-03 a link that stays", "inner/x", "ws/sub/x", true],
  ["PTH-03 many links that stay", "self/self/self/a", "ws/a", true],
  ["PTH-03 .. after a link, absolute", "TOP/ws/linkdir/../out/canary", "out/canary", false],
  ["PTH-04 a link to nothing", "dangling", "out/new", false],
  ["PTH-04 a link to it", "hop", "out/new", false],
  ["PTH-04 below a link to nothing", "missing-dir/x", "out/none/x", false],
  ["PTH-04 a link to nothing inside", "dangling-in", "ws/sub/new", true],
  ["PTH-04 a link to itself", "loop", undefined, false],
  ["PTH-05 the system's state", "/proc/self/environ", undefined, false],
];

for (const [name, path, real, isInside] of rows) {
  test(`placeOf: ${name}`, () => {
    using at = folders();
    const place = placeOf(at.ws, path.replace("TOP", at.top));
    assertEquals(place.isInside, isInside);
    if (real !== undefined) assertEquals(place.real, join(at.top, real));
  });
}

test("placeOf: a working directory that is a link itself", () => {
  using at = folders();
  const link = join(at.top, "ws-link");
  Deno.symlinkSync(at.ws, link);
  assertEquals(placeOf(link, "x").isInside, true);
  assertEquals(placeOf(link, join(at.ws, "a")).isInside, true);
  assertEquals(placeOf(link, "../out").isInside, false);
});

Deno.test("placeOf: what cannot be resolved is outside", () => {
  const place = placeOf("/ws", "a", {
    realPathSync: () => {
      throw new Deno.errors.PermissionDenied();
    },
    readLinkSync: () => "",
  });
  assertEquals(place.isInside, false);
});

const CASES = [
  ["/ws", "/ws", true],
  ["/ws", "/ws/a", true],
  ["/ws", "/ws-evil", false],
  ["/ws", "/", false],
  ["/ws", "/..a", false],
  ["/ws", "/ws/..a", true],
  ["/", "/a", true],
] as const;
for (const [folder, path, expected] of CASES) {
  Deno.test(
    `isWithin: ${path} in ${folder}`,
    unix,
    () => assertEquals(isWithin(folder, path), expected),
  );
}

test("placeOf: as many links are followed as Linux follows, and what may not be searched is outside", () => {
  /** Links that lead each to the one before it, the first to nothing. */
  const chain = {
    realPathSync(path: string): string {
      if (path === "/ws/closed") throw new Deno.errors.PermissionDenied();
      if (/[/]l[0-9]+$/.test(path)) throw new Deno.errors.NotFound();
      return path;
    },
    readLinkSync(path: string): string {
      const at = Number(/[0-9]+$/.exec(path)![0]);
      if (at === 0) throw new Deno.errors.NotFound();
      return `l${at - 1}`;
    },
  };
  const at = (path: string) => {
    const { real, isInside } = placeOf("/ws", path, chain);
    return [real, isInside];
  };
  assertEquals(at("l40"), ["/ws/l0", true]);
  assertEquals(at("l41"), ["/ws/l41", false]);
  assertEquals(at("closed"), ["/ws/closed", false]);
  const gone = () => {
    throw new Deno.errors.NotFound();
  };
  assertEquals(placeOf("/ws", "a", { realPathSync: gone, readLinkSync: gone }).isInside, false);
});
