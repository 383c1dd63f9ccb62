import { assertEquals } from "@std/assert";
import { type PathUse, repairPath } from "../../../src/tools/repair/paths.ts";
import { SlipError } from "../../../src/tools/repair/slip_error.ts";
import { posixTest } from "../workspace.ts";

const FILES = [
  ...["README.md", "app/z.ts", "z.ts", "lib/util.ts", "lib.old/util.ts", "two words.txt"],
  ...["src/cart.ts", "src/Cart.ts", "src/page.ts.map", "src/one/menu.ts", "ab/only.ts"],
  ...["cafe\u0301/9.41\u202fAM.txt", "cafe\u0301/l\u2019été.txt"],
  ...["k", "l", "m", "n"].map((folder) => `${folder}/four.ts`),
];

/** A path of a file, and the one that it can only mean; nothing, or the words of the refusal. */
type Row = [path: string, meant: string | undefined];

const ORDERED: [path: string, request: string, meant?: string][] = [
  ["rows.ts", "Move it to `src/rows.ts`.", "src/rows.ts"],
  ["src/src/rows.ts", "Move it to src/rows.ts, please", "src/rows.ts"],
  ["rows.ts", "Move src/rows.ts to rows.ts"],
  ["rows.ts", "Make a/rows.ts and b/rows.ts"],
  ["rows.ts", "Make ../rows.ts"],
  ["src/one/rows.ts", "Make one/rows.ts"],
];

const rows: Record<PathUse, Row[]> = {
  read: [
    ["README.md", undefined],
    ["src", undefined],
    ["", undefined],
    [" ", undefined],
    ["''", undefined],
    ["'/'", undefined],
    ["none", undefined],
    // Signs around a path.
    ["'src/cart.ts',", "src/cart.ts"],
    ["[src/cart.ts](src/cart.ts)", "src/cart.ts"],
    ["file://localhost/src/cart.ts", "src/cart.ts"],
    ["@src/cart.ts", "src/cart.ts"],
    ["$PWD/src/cart.ts", "src/cart.ts"],
    ["src\\cart.ts", "src/cart.ts"],
    ["two\\ words.txt", "two words.txt"],
    ["two%20words.txt", "two words.txt"],
    ["src%2Fcart.ts", undefined],
    ["two%20words%E0.txt", undefined],
    ["'.'", "."],
    // Folders before it.
    ["/src/cart.ts", "src/cart.ts"],
    ["/workspace/src/cart.ts", "src/cart.ts"],
    ["a/src/cart.ts", "src/cart.ts"],
    ["shop/src/cart.ts", "src/cart.ts"],
    ["/shop/src/cart.ts", "src/cart.ts"],
    ["'../outside.txt'", undefined],
    ["/app/z.ts", several("read", "/app/z.ts", "app/z.ts", "z.ts")],
    ["/home/ada/shop/src/cart.ts", "src/cart.ts"],
    // Lines behind it.
    ["src/cart.ts:12", "src/cart.ts"],
    ["/src/cart.ts#L3-L5", "src/cart.ts"],
    ["src/cart.ts (lines 3 to 5)", "src/cart.ts"],
    // Names that are alike.
    ["readme.md", "README.md"],
    ["readme", undefined],
    ["README", "README.md"],
    ["./SRC//cart.ts", "src/cart.ts"],
    ["SRC/CART.TS", several("read", "SRC/CART.TS", "src/Cart.ts", "src/cart.ts")],
    ["LIB/util.ts", "lib/util.ts"],
    ["café/9.41 AM.txt", "cafe\u0301/9.41\u202fAM.txt"],
    ["café/l'e\u0301te\u0301.txt", "cafe\u0301/l\u2019été.txt"],
    ["src/page.ts", undefined],
    ["src/ONE/menu", "src/one/menu.ts"],
    // Files elsewhere.
    ["/other/src/cart.ts", elsewhere("/other/src/cart.ts", '"src/cart.ts"')],
    ["/other//place/src/cart.ts", elsewhere("/other//place/src/cart.ts", '"src/cart.ts"')],
    ["/other/menu.ts", elsewhere("/other/menu.ts", '"src/one/menu.ts"')],
    ["pages/util.ts:3", elsewhere("pages/util.ts:3", '"lib.old/util.ts" or "lib/util.ts"')],
    ["pages/four.ts", undefined],
  ],
  edit: [
    ["src/cart.ts:12", "src/cart.ts"],
    ["/app/z.ts", several("edit", "/app/z.ts", "app/z.ts", "z.ts")],
  ],
  write: [
    ["new.ts", undefined],
    ["src/new/", undefined],
    ["SRC/cart.ts", undefined],
    ["café/l’été.txt", "cafe\u0301/l\u2019été.txt"],
    ["café/9.41 AM.txt", undefined],
    ["pages/util.ts", undefined],
    ["'src/cart.ts'", "src/cart.ts"],
    [
      "src/cart.ts:12",
      'Cannot write "src/cart.ts:12" as the whole file is written: to change a' +
      ' line, call edit_file, and else: give the path "src/cart.ts"',
    ],
    [
      "src/new.ts:12",
      'Cannot write "src/new.ts:12" as a line number is no part of a file\'s name:' +
      ' give the path "src/new.ts"',
    ],
    [
      "'new.ts'",
      "Cannot write \"'new.ts'\" as quotes, blanks at the ends, backslashes and the like" +
      ' are no part of a new file\'s name: give the path "new.ts"',
    ],
    [
      "a.ts, b.ts",
      'Cannot write "a.ts, b.ts" as one call writes one file: call write_file for each',
    ],
    ["one, two", undefined],
    // A folder that is there only without what stands before it.
    ["b/src/new.ts", "src/new.ts"],
    ["/src/new.ts", "src/new.ts"],
    ["/src/one/two/new.ts", rootless("/src/one/two/new.ts", "src/one/two/new.ts")],
    ["/workspace/src/one/new.ts", "src/one/new.ts"],
    ["shop/src/new.ts", "src/new.ts"],
    ["/shop/src/new.ts", "src/new.ts"],
    ["app/src/new.ts", undefined],
    ["shop/new.ts", undefined],
    ["b/../src/new.ts", undefined],
    ["b/none/new.ts", undefined],
    ["/new.ts", rootless("/new.ts", "new.ts")],
    ["/no such top/x/src/one/new.ts", rootless("/no such top/x/src/one/new.ts", "src/one/new.ts")],
    ["/no such top/src", rootless("/no such top/src", "no such top/src")],
    ["/no such top/x/new.ts", rootless("/no such top/x/new.ts", "no such top/x/new.ts")],
    ["/home/nobody there/new.ts", rootless("/home/nobody there/new.ts", "new.ts")],
    ["/src/new.ts:3", rootless("/src/new.ts:3", "src/new.ts")],
  ],
};

function rootless(path: string, right: string): string {
  return `Cannot write "${path}" as nothing is made at the root of the disk, or in a` +
    ` home that is not there: give the path "${right}"`;
}

function several(use: PathUse, path: string, one: string, other: string): string {
  return `Cannot ${use} "${path}" as it does not exist, and may be "${one}" or "${other}":` +
    " name one of them";
}

function elsewhere(path: string, found: string): string {
  return `Cannot read "${path}" as it does not exist: do you mean ${found}?`;
}

posixTest(
  "a path with a slip means the one file that it can mean, or is told which",
  async (ws) => {
    const top = ws.dir;
    const folder = `${top}/shop`;
    for (const file of FILES) ws.put(`shop/${file}`);
    ws.put("outside.txt");
    const read = (path: string, use: PathUse, isFile = true) =>
      repairPath(path, { folder, use, isFile }).catch((error) => {
        if (error instanceof SlipError) return error.message;
        throw error;
      });
    for (const use of ["read", "edit", "write"] as const) {
      for (const [path, meant] of rows[use]) {
        assertEquals(await read(path, use), meant, path);
      }
    }
    // Outside of the folder, where there is a place for it.
    assertEquals(await read(`${top}/new.ts`, "write"), undefined);
    assertEquals(await read(`${folder}/new.ts`, "write"), undefined);
    assertEquals(await read(`${folder}/none/cart.ts`, "read", false), undefined);
    // `~` is the home folder, whatever the use; `~name` and `./~` are names.
    const home = Deno.env.get("HOME");
    const inHome = `${home}/no such`;
    const homes = [["~", home], ["~/no such", inHome], ["~ab", undefined], ["./~/x", undefined]];
    for (const [path, meant] of homes) {
      assertEquals(await read(path!, "read", false), meant);
      assertEquals(await read(path!, "edit", false), meant);
    }
    assertEquals(await read("~/no such", "write"), inHome);
    // A new file goes where the person's message says.
    for (const [path, request, meant] of ORDERED) {
      const order = { folder, use: "write", isFile: true, request } as const;
      assertEquals(await repairPath(path, order), meant, request);
    }
    // A folder is not looked for by its name.
    assertEquals(await read("other/menu.ts", "read", false), undefined);
  },
);
