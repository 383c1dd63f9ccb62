import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { toFileUrl } from "@std/path/to-file-url";
import { splitSources, withLateImports } from "../../scripts/split.ts";
import { asAscii } from "../../scripts/bundle.ts";

const SOURCES = {
  "main.ts": 'await import("./src/cli/run.ts");\n',
  "deno.json": "{}",
  "deno.lock": "{}",
  "src/cli/run.ts": `import "./b.ts";
type Run = typeof import("./late.ts");
const [a, b] = await Promise.all([import("./prompt.ts"), import("../screen.ts")]);
await import(
  "./late.ts",
);
await import("./call.ts");
const { c } = await import("../screen.ts");
`,
  "src/screen.ts": 'const late = import("./cli/late.ts");\n',
  "src/cli/prompt.ts": "",
  "src/cli/late.ts": "",
  "src/cli/call.ts": "",
};

Deno.test("a bundle's sources: what a prompt imports stays, the rest is asked of three parts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [root, to] = [join(folder, "root"), join(folder, "to")];
    for (const path of ["root/src/cli", "root/vendor", "to"]) {
      await Deno.mkdir(join(folder, path), { recursive: true });
    }
    for (const [path, text] of Object.entries(SOURCES)) {
      await Deno.writeTextFile(join(root, path), text);
    }
    const ran = (...paths: [string, count: number][]) =>
      new Map(paths.map(([path, count]) => [
        toFileUrl(join(root, path)).href,
        [{ startOffset: 0, endOffset: 1, count }, { startOffset: 0, endOffset: 1, count: 1 }],
      ]));
    await splitSources(root, to, [
      ran(["src/cli/prompt.ts", 1], ["src/screen.ts", 0]),
      ran(["src/cli/prompt.ts", 1], ["src/cli/call.ts", 1]),
      ran(["src/screen.ts", 1], ["src/cli/prompt.ts", 1], ["src/cli/call.ts", 1]),
    ]);
    const read = (path: string) => Deno.readTextFile(join(to, path));
    assertEquals(
      await read("src/cli/run.ts"),
      `import "./b.ts";
type Run = typeof import("./late.ts");
const [a, b] = await Promise.all([Promise.resolve().then(() => require("./prompt.ts")), import("../../terminal.ts").then((part) => part.m0())]);
await import("../../rest.ts").then((part) => part.m0());
await import("../../calls.ts").then((part) => part.m0());
const { c } = await import("../../terminal.ts").then((part) => part.m0());
`,
    );
    assertEquals(
      await read("src/screen.ts"),
      'const late = import("../rest.ts").then((part) => part.m0());\n',
    );
    for (
      const [part, module] of [["terminal", "screen"], ["calls", "cli/call"], ["rest", "cli/late"]]
    ) {
      assertEquals(
        await read(`${part}.ts`),
        `export const m0 = () => require("./src/${module}.ts");
export const program = () => require("./src/cli/run.ts");
`,
      );
    }
    assertEquals(await read("main.ts"), SOURCES["main.ts"]);
    assertEquals(await Deno.readLink(join(to, "vendor")), join(root, "vendor"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a bundle names its parts so that Deno loads them when they are asked for", () => {
  assertEquals(
    withLateImports('import{a}from"./rest-AB.js";b(import("./rest-AB.js"),import("./chunk-C.js"))'),
    'import{a}from"./rest-AB.js";b(import(String("./rest-AB.js")),import("./chunk-C.js"))',
  );
});

Deno.test("a bundle is ASCII", () => {
  assertEquals(asAscii("a=/\u2026/,b='\u{1f600}'\n"), "a=/\\u2026/,b='\\ud83d\\ude00'\n");
});
