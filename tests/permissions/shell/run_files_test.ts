import { assertEquals } from "@std/assert/equals";
import { placeOf } from "../../../src/permissions/places.ts";
import { parseCommandLine } from "../../../src/permissions/shell/parser.ts";
import {
  digestsOf,
  filesRun,
  scriptLength,
  writtenProgram,
} from "../../../src/permissions/shell/run_files.ts";
import type { View } from "../../../src/permissions/view.ts";
import { digestOf } from "../../../src/text/digest.ts";

const unix = { ignore: Deno.build.os === "windows" };

function wordsOf(text: string) {
  const line = parseCommandLine(text);
  if (!line.ok) throw new Error(line.reason);
  return line.commands[0]!.words;
}

/** A folder with these files. */
function folder(names: readonly string[]) {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  for (const name of names) {
    Deno.mkdirSync(`${path}/${name}`.replace(/[/][^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${path}/${name}`, name);
  }
  const place = (one: string) => placeOf(path, one);
  return {
    path,
    scene: { place, root: place(".") },
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

Deno.test("CMD-08 the files that a command runs, as far as its words name them", unix, () => {
  using at = folder([
    ...["build.sh", "gen.py", "x.cfg", "mod/__init__.py", "mod/__main__.py", "one.py", "src/a.js"],
    ...["deep/.git", "deep/build.sh", "bare/HEAD", "tool"],
  ]);
  const rows: [command: string, files: string[] | undefined][] = [
    ["./build.sh --fast", ["build.sh"]],
    ["./build.sh ./build.sh x.cfg", ["build.sh", "x.cfg"]],
    ["./none.sh", undefined],
    ["bin/none", undefined],
    ["tool --config=x.cfg", ["x.cfg"]],
    ["tool a b", []],
    ["tool tool", ["tool"]],
    ["python3 gen.py a", ["gen.py"]],
    ["python3", []],
    ["python3 none.py", undefined],
    ["python3 -c gen.py", ["gen.py"]],
    ["python3 -c 1", []],
    // Modules that the words do not tell from others.
    ["python3.12 -m one", undefined],
    ["python3 -m mod", undefined],
    ["python3 -m unittest one", []],
    ["python3 -m none", undefined],
    ["node src/a", undefined],
    ["node gen.py src", undefined],
    ["node gen.py none", ["gen.py"]],
    ["node gen.py a/b", undefined],
    ["node -e 1", []],
    ["node -p src/none", []],
    // In folders that are repositories of their own, git may run what came with them.
    ["git status", []],
    ["npm test", ["package.json#test"]],
    ["npm --silent test", ["package.json#test"]],
    ["npm run build", ["package.json#build"]],
    ["yarn run-script build", ["package.json#build"]],
    ["npm run", undefined],
    ["npm build", undefined],
    ["npm", undefined],
    ["yarn build", ["package.json#build"]],
    ["pnpm start", ["package.json#start"]],
    ["bun test", undefined],
    ["bun run test", ["package.json#test"]],
    ["npm test --prefix sub", undefined],
    ["npm test -- --prefix sub", ["package.json#test"]],
    ["env npm test", undefined],
    ["env ./build.sh", ["build.sh"]],
    ["env -C sub ./build.sh", undefined],
    ["sh -c 'cd sub && ./build.sh'", undefined],
  ];
  for (const [command, files] of rows) {
    const found = filesRun(wordsOf(command), at.scene);
    assertEquals(found?.map(({ name }) => name).sort(), files, command);
  }
  for (const [sub, isKnown] of [["deep", false], ["bare", false], ["src", true]] as const) {
    const place = (one: string) => placeOf(`${at.path}/${sub}`, one);
    const scene = { ...at.scene, place };
    assertEquals(filesRun(wordsOf("git status"), scene), isKnown ? [] : undefined);
    assertEquals(filesRun(wordsOf("tool a"), scene), []);
  }
});

Deno.test("CMD-08 a command that names more than 20 files is bound to none", unix, () => {
  const names = Array.from({ length: 21 }, (_, i) => `f${i}`);
  using at = folder(names);
  const found = (count: number) =>
    filesRun(wordsOf(`tool ${names.slice(0, count).join(" ")}`), at.scene)?.length;
  assertEquals([found(20), found(21)], [20, undefined]);
});

Deno.test("CMD-08 the words up to a script of the folder, behind which none is code", unix, () => {
  using at = folder(["build.sh", "gen.py", "-e", "run", "bin/tsx"]);
  const rows: [command: string, length: number][] = [
    ["./build.sh a", 1],
    ["build.sh a", 0],
    ["./none.sh", 0],
    ["bash build.sh", 0],
    ["python3 gen.py a", 2],
    ["python3 -e", 0],
    ["node run", 0],
    ["bin/tsx gen.py", 2],
    ["/bin/sh", 0],
    ["python3", 0],
    ["./bin", 0],
  ];
  for (const [command, length] of rows) {
    assertEquals(scriptLength(wordsOf(command), at.scene), length, command);
  }
});

Deno.test(
  "R-14 a program that commands may have written: what PATH finds where they write",
  unix,
  () => {
    using at = folder(["bin/git", "bin/git-lfs", "bin/other", "lib/tool-x", "ro/git"]);
    const places: View["places"] = new Map([["/", "read"], [at.path, "write"], [
      `${at.path}/ro`,
      "read",
    ]]);
    const left = (): View => ({ folder: at.path, places, network: false, isComplete: true });
    const programs = ["none", "lib", "bin", "ro"].map((name) => `${at.path}/${name}`);
    const written = (command: string, more: object = {}) =>
      writtenProgram(wordsOf(command), { programs, left, ...more })?.slice(at.path.length + 1);
    const rows: [command: string, found: string | undefined, more?: object][] = [
      ["other", "bin/other"],
      ["tool", "lib/tool-x"],
      ["oth", undefined],
      ["./bin/other", undefined],
      ["other", undefined, { left: undefined }],
      ["other", undefined, { programs: [`${at.path}/ro`, `${at.path}/none`] }],
      ["git", undefined, { programs: [`${at.path}/ro`] }],
      ["none", undefined],
      // A job may make one between the look and the start.
      ["none", "lib/none", { hasJobs: true }],
      ["git", undefined, { hasJobs: true, programs: [`${at.path}/ro`] }],
    ];
    for (const [command, found, more] of rows) assertEquals(written(command, more), found, command);
  },
);

Deno.test(
  "CMD-08 what files hold, and of a script what runs before and behind it",
  unix,
  async () => {
    using at = folder(["a", "empty", "bad.json"]);
    await Deno.writeTextFile(`${at.path}/empty`, "");
    await Deno.writeTextFile(
      `${at.path}/package.json`,
      JSON.stringify({ scripts: { pretest: "lint", test: "jest", build: 5 } }),
    );
    await Deno.truncate(`${at.path}/bad.json`, 16 * 2 ** 20);
    const digest = async (files: [name: string, script?: string][]) =>
      Object.fromEntries(
        await digestsOf(files.map(([name, script], i) => ({
          name: `${i}`,
          path: `${at.path}/${name}`,
          ...script !== undefined && { script },
        }))),
      );
    const of = (text: string) => digestOf(new TextEncoder().encode(text));
    assertEquals(await digest([["a"], ["empty"], ["none"], ["."]]), {
      0: await of("a"),
      1: await of(""),
    });
    assertEquals(
      await digest([
        ["package.json", "test"],
        ["package.json", "build"],
        ["package.json", "none"],
        ["a", "test"],
      ]),
      { 0: await of('["lint","jest",null]') },
    );
    assertEquals(Object.keys(await digest([["bad.json"]])), ["0"]);
    await Deno.truncate(`${at.path}/bad.json`, 16 * 2 ** 20 + 1);
    assertEquals(await digest([["bad.json"]]), {});
  },
);
