import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { globFiles } from "../text_results.ts";
import { posixTest, test, type Workspace, workspace } from "../workspace.ts";

const posix = Deno.build.os !== "windows";

function glob(ws: Workspace, pattern: string, path = ".", maxOutputChars = 100_000) {
  return globFiles({ pattern, path }, { ...ws.context, maxOutputChars });
}

/** The files found, sorted: the order of files made at once is of no interest. */
async function names(ws: Workspace, pattern: string, path?: string): Promise<string> {
  return (await glob(ws, pattern, path)).split("\n").sort().join(" ");
}

const NAMES = [
  ...["a.ts", "b.js", "src/c.ts", "src/deep/d.ts", "src/deep/e.tsx", ".env", "x.log"],
  ...[".github/workflows/ci.yml", ".github/x.ts", "dist/out.ts", "dist/.cache/x.ts"],
  ...["node_modules/p/index.ts", "node_modules/p/node_modules/q/index.ts"],
];
const EMPTY = Object.fromEntries(NAMES.map((name) => [name, ""]));
const TREE = { ...EMPTY, ".gitignore": "dist/\n*.log\n" };

test("finds files by pattern, relative to the working directory", async (ws) => {
  ws.putAll(TREE);
  const rows: [pattern: string, found: string, path?: string][] = [
    ["*.ts", "a.ts"],
    ["./*.ts", "a.ts"],
    ["**/*.ts", "a.ts src/c.ts src/deep/d.ts"],
    ["**/*.{ts,tsx}", "a.ts src/c.ts src/deep/d.ts src/deep/e.tsx"],
    ["src/*", "src/c.ts"],
    ["src/", "src/c.ts src/deep/d.ts src/deep/e.tsx"],
    ["src//**", "src/c.ts src/deep/d.ts src/deep/e.tsx"],
    ["src/**/d.ts", "src/deep/d.ts"],
    ["*/*/d.ts", "src/deep/d.ts"],
    ["{src,.}/c.ts", "src/c.ts"],
    ["{a,src/c}.ts", "a.ts src/c.ts"],
    ["**/[de].ts*", "src/deep/d.ts src/deep/e.tsx"],
    ["a.ts", "a.ts"],
    ["*.ts", "src/c.ts", "src"],
    ["src/*.ts", "src/c.ts", "src"],
    ["**/*.ts", "src/deep/d.ts", "src/deep"],
    // Hidden files only where the pattern names them, ignored ones never.
    ["**/.*", ".env .gitignore"],
    [".*", ".env .gitignore"],
    ["*", "a.ts b.js"],
    [".e{nv,x}", ".env"],
    ["{.env,a.ts}", ".env a.ts"],
    [
      "*/workflows/*",
      "No files match */workflows/*. Skipped: 5 files of other names, " +
      "6 ignored or hidden (name one as path to search it).",
    ],
    [".*/workflows/*", ".github/workflows/ci.yml"],
    // What is named is searched, be it hidden or ignored.
    ["**", ".github/workflows/ci.yml .github/x.ts", ".github"],
    [".github/**", ".github/workflows/ci.yml .github/x.ts"],
    [".github/*/*", ".github/workflows/ci.yml"],
    ["dist/**", "dist/out.ts"],
    ["**", "dist/out.ts", "dist"],
    ["*.ts", "dist/.cache/x.ts", "dist/.cache"],
    ["node_modules/p/*.ts", "node_modules/p/index.ts"],
    ["**/*.ts", "node_modules/p/index.ts", "node_modules"],
  ];
  for (const [pattern, found, path] of rows) {
    const sorted = found.startsWith("No ") ? found : found.split(" ").sort().join(" ");
    assertEquals(await names(ws, pattern, path), sorted, `${pattern} in ${path}`);
  }
});

test("nothing found says why, and what to try", async (ws) => {
  ws.putAll(TREE);
  assertStringIncludes(await glob(ws, "c.ts"), "**/c.ts searches folders below, too.");
  assertStringIncludes(await glob(ws, "*.log"), "6 ignored or hidden (name one as path");
  assertEquals((await glob(ws, "**/*.none")).includes("folders below"), false);
  ws.put("empty/");
  assertEquals(await glob(ws, "**/*", "empty"), "No files match **/*.");
});

test("the newest come first, at most 500, with the rest counted", async (ws) => {
  const shuffled = Array.from({ length: 520 }, (_, i) => i * 97 % 520);
  for (const i of shuffled) {
    ws.put(`d/${i}`, "");
    Deno.utimeSync(ws.at(`d/${i}`), 1e9 + Math.floor(i / 2), 1e9 + Math.floor(i / 2));
  }
  const lines = (await glob(ws, "**")).split("\n");
  // Of two of the same age the first by name.
  assertEquals(lines.slice(0, 4), ["d/518", "d/519", "d/516", "d/517"]);
  assertEquals(lines.length, 501);
  assertEquals(lines[499], "d/21");
  assertEquals(lines[500], "[the 500 newest of 520 files: narrow it down with pattern or path]");
});

test("the result keeps within its limit exactly", async (ws) => {
  for (let i = 0; i < 100; i++) ws.put(`file${String(i).padStart(3, "0")}`, "");
  const whole = await glob(ws, "*");
  assertEquals(whole.length, 799);
  assertEquals(await glob(ws, "*", ".", 799), whole);
  for (let limit = 200; limit < 799; limit += 7) {
    const result = await glob(ws, "*", ".", limit);
    const shown = result.split("\n").length - 1;
    assert(result.length <= limit, `${result.length} of ${limit}`);
    assert(result.length > limit - 10, `${result.length} of ${limit}: there is room left`);
    assertStringIncludes(result, `[the ${shown} newest of 100 files:`);
  }
});

Deno.test("PTH-06 patterns that lead out are refused, with what to give instead", async () => {
  using outside = workspace();
  outside.put("secret.ts", "");
  using ws = workspace();
  ws.put("sub/");
  const cases = [
    ...["../*", "**/../*", "sub/../../*", "{..,x}/*", "{x,..}/*", "x/..", `${outside.dir}/*`],
    ...["/etc/*", "{/etc,x}/*", "{x,/etc}/*", "C:\\*", "c:/*"],
  ];
  for (const pattern of cases) {
    const error = await assertRejects(() => glob(ws, pattern), RangeError);
    assertStringIncludes(error.message, "give the folder as path", pattern);
  }
  // What only looks like it stays inside.
  for (const pattern of ["..*", "a..b", ".{.,}/*", "\\../*", "[.]./*", "?./*"]) {
    assertStringIncludes(await glob(ws, pattern), "No files match", pattern);
  }
});

Deno.test("PTH-06 links are not followed", { ignore: !posix }, async () => {
  using outside = workspace();
  outside.put("secret.ts", "");
  using ws = workspace();
  ws.put("in/a.ts");
  await Deno.symlink(outside.dir, ws.at("sub"));
  await Deno.symlink(outside.at("secret.ts"), ws.at("leak.ts"));
  await Deno.symlink(".", ws.at("in/loop"));
  await Deno.symlink("..", ws.at("in/up"));
  await Deno.symlink("in", ws.at("inside"));
  assertEquals(await glob(ws, "**/*.ts"), "in/a.ts\n[skipped: 1 link]");
  for (const [pattern, path] of [["sub/**", "."], ["**", "sub"], ["*/../sub/*", "."]] as const) {
    const error = await assertRejects(() => glob(ws, pattern, path), Error);
    assert(!error.message.includes(outside.dir), error.message);
  }
  assertStringIncludes(await glob(ws, "*/secret.ts"), "No files match");
  // A link that stays within may be named.
  assertEquals(await glob(ws, "*.ts", "inside"), "inside/a.ts");
});

Deno.test("a place outside that is named plainly is listed with whole paths", async () => {
  using outside = workspace();
  outside.put("a.ts", "");
  using ws = workspace();
  assertEquals(await glob(ws, "*", outside.dir), outside.at("a.ts").replaceAll("\\", "/"));
});

test("bad arguments are refused with what to give instead", async (ws) => {
  ws.putAll(TREE);
  const rows: [pattern: string, path: string, message: string][] = [
    ["", ".", "**/* finds all"],
    ["*", "a.ts", "use read_file"],
    ["*", "scr", "did you mean src?"],
    ["scr/*.ts", ".", "did you mean src?"],
    ["*", "a.ts/b", "Cannot search a.ts/b"],
    ["{a,b}".repeat(40), ".", "at most"],
  ];
  for (const [pattern, path, message] of rows) {
    const error = await assertRejects(() => glob(ws, pattern, path), Error);
    assert(error.message.startsWith("Cannot "), error.message);
    assertStringIncludes(error.message, message);
  }
});

posixTest("names cannot forge lines", async (ws) => {
  ws.put("a\nb\x1b[31m", "");
  ws.put("é 日本", "");
  assertEquals(await names(ws, "*"), "a\\u{a}b\\u{1b}[31m é 日本");
});
