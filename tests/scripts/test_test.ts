import { assertEquals } from "@std/assert/equals";
import { ensureDir } from "@std/fs/ensure-dir";
import { fromFileUrl } from "@std/path/from-file-url";
import { tempFolder } from "../helpers/temp_folder.ts";

const TEST = fromFileUrl(new URL("../../scripts/test", import.meta.url));

const TESTS = {
  "src/mod.ts": "/**\n * ```ts\n * 1;\n * ```\n */\nexport const a = 1;\n",
  "tests/session/a_test.ts": `Deno.test("a", () => {});
    Deno.test.ignore("b (skipped: no tmux: it is not found)", () => {});
    Deno.test.ignore("c: skipped, no tmux: it is not found", () => {});`,
  "tests/safety/git_test.ts": `Deno.test("g", () => {});`,
  "tests/tools/b_test.ts": `Deno.test("skipped: 2 links", () => {});
    Deno.test.ignore("[skipped: 1 link]", () => {});`,
  "tests/ui/terminal/d_test.ts": `Deno.test("d", () => {});`,
  "tests/text/c_test.ts": `Deno.test("c", () => {});
    Deno.test.ignore("d (skipped: no perl (5))", () => {});`,
};

Deno.test("test: it closes with what was skipped and why, what failed, and with the counts last", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using temp = tempFolder();
  const root = temp.path;
  for (const folder of ["scripts", ".deno/bin"]) await ensureDir(`${root}/${folder}`);
  for (const [file, text] of Object.entries(TESTS)) {
    await ensureDir(`${root}/${file}`.replace(/\/[^/]*$/, ""));
    await Deno.writeTextFile(`${root}/${file}`, text);
  }
  await Deno.copyFile(TEST, `${root}/scripts/test`);
  await Deno.writeTextFile(`${root}/deno.json`, "{}");
  const mode = { mode: 0o755 };
  await Deno.writeTextFile(`${root}/scripts/setup`, "#!/bin/sh\n", mode);
  // The tests run for real; the other stages pass.
  const deno = `#!/bin/sh\n[ "$1" != test ] || exec '${Deno.execPath()}' "$@"\n`;
  await Deno.writeTextFile(`${root}/.deno/bin/deno`, deno, mode);
  const lastLines = async (count: number) => {
    const { code, stdout } = await new Deno.Command("sh", {
      args: [`${root}/scripts/test`],
      env: { NO_COLOR: "1" },
    }).output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    return [code, ...lines.slice(-count).map((line) => line.trim())];
  };
  assertEquals(await lastLines(5), [
    0,
    "Skipped:",
    "2 no tmux: it is not found",
    "1 no perl (5)",
    "1 no reason in the name",
    "15 passed, 0 failed, 4 skipped",
  ]);
  await Deno.writeTextFile(
    `${root}/tests/text/c_test.ts`,
    'Deno.test("c", () => {});\nDeno.test("e", () => {\n  throw new Error("FAILURES");\n});',
  );
  assertEquals(await lastLines(3), [
    1,
    "Failed: tests",
    "e => ./tests/text/c_test.ts:2:6",
    "14 passed, 2 failed, 3 skipped",
  ]);
});
