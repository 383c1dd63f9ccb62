/**
 * Measures `grep_code` and `glob_files` against `rg` (ripgrep), if that is on PATH: paired and
 * alternating, medians, on a tree of 50 000 files and 300 MB, and on one of 200 files. The trees are
 * made in the temporary folder at the first run, and stay there: `deno run -A scripts/bench_search.ts [RUNS]`.
 */

import { existsSync } from "@std/fs/exists";
import { globFiles } from "../src/tools/glob_files.ts";
import { grepCode } from "../src/tools/grep_code.ts";
import { randomBelow } from "../tests/helpers/split.ts";
import { compared, inPairs, median, timeOf } from "./bench_tools.ts";

interface TreeShape {
  files: number;
  folders: number;
  /** The size of all files together. */
  bytes: number;
}

const LARGE: TreeShape = { files: 50_000, folders: 5_000, bytes: 300e6 };
const SMALL: TreeShape = { files: 200, folders: 20, bytes: 1.2e6 };

/** Returns the path of the tree, which an earlier run may have made. */
function tree(shape: TreeShape): string {
  const tmp = Deno.env.get("TMPDIR") ?? "/tmp";
  // Change the version if `fill` changes: otherwise, an older tree is measured.
  const path = `${tmp}/bench-search-${Object.values(shape).join("-")}-v1`;
  if (existsSync(path, { isDirectory: true })) return path;
  const unfinished = Deno.makeTempDirSync({ dir: tmp });
  fill(unfinished, shape);
  Deno.renameSync(unfinished, path);
  return path;
}

const WORDS =
  ("return const function value index length result error string number else for while " +
    "import export class async await filter reduce push config option request response stream " +
    "buffer token parse render update state handler event callback promise null undefined").split(
      " ",
    );

function fill(root: string, { files, folders, bytes }: TreeShape): void {
  const below = randomBelow(1);
  const word = () => WORDS[below(WORDS.length)]!;
  const line = () => {
    const words = Array.from(
      { length: 3 + below(7) },
      () => below(6) ? word() : `${word()}_${below(999)}`,
    );
    return "  ".repeat(1 + below(4)) + words.join([" ", ".", ", ", " = ", "("][below(5)]) + ";\n";
  };
  const lines = Array.from({ length: 4000 }, line);
  Deno.mkdirSync(`${root}/.git`); // rg reads .gitignore in repositories only
  Deno.writeTextFileSync(`${root}/.gitignore`, "node_modules/\ndist/\n*.log\n/build\n.env*\n");
  const paths = [root];
  while (paths.length < folders) {
    const path = `${paths[below(1 + below(paths.length))]}/${word()}${paths.length}`;
    Deno.mkdirSync(path);
    paths.push(path);
  }
  for (let i = 0; i < files; i++) {
    // The product of three random numbers makes most files small and a few large.
    const size = bytes / files * 8 * (below(1000) / 1000) * (below(1000) / 1000) *
      (below(1000) / 1000);
    let text = "";
    while (text.length < size) text += lines[below(lines.length)];
    if (i % 500 === 0) text += "  // needle_in_haystack\n";
    if (i % 30 === 0) text += "// größe naïve 日本語 コメント\n";
    const ext = ["ts", "js", "py", "md", "json", "go"][below(6)];
    Deno.writeTextFileSync(`${paths[below(paths.length)]}/${word()}${i}.${ext}`, text);
  }
}

const context = (workingDir: string) => ({
  workingDir,
  maxOutputChars: 100_000,
  signal: new AbortController().signal,
});

const grep = (pattern: string, dir: string) => () =>
  grepCode({ pattern, path: ".", glob: "", context_lines: 0 }, context(dir));
const glob = (pattern: string, dir: string) => () =>
  globFiles({ pattern, path: "." }, context(dir));

function rg(dir: string, ...args: string[]): () => Promise<unknown> {
  return async () =>
    await new Deno.Command("rg", { args, cwd: dir, stdin: "null", stdout: "piped" }).output();
}

async function main(): Promise<void> {
  const runs = Number(Deno.args[0] ?? 7);
  const hasRg = await rg(".", "--version")().then(() => true, () => false);
  if (!hasRg) console.log("rg is not on PATH: no comparison");
  const [large, small] = [tree(LARGE), tree(SMALL)];
  const row = async (name: string, ours: () => unknown, dir: string, ...args: string[]) => {
    const [mine, theirs] = [ours, hasRg ? rg(dir, ...args) : ours].map((one) => () => timeOf(one));
    const rows = await inPairs(runs, mine!, theirs!);
    const alone = () => `${median(rows.map(([a]) => a)).toFixed(1)} ms`;
    console.log(`${name.padEnd(34)} ${hasRg ? compared(rows, "ms", 1) : alone()}`);
  };
  const both = (name: string, pattern: string, dir: string, ...flags: string[]) =>
    row(name, grep(pattern, dir), dir, "-n", ...flags, pattern);

  console.log(`median of ${runs} runs, against rg`);
  await both("literal, 100 matches", "needle_in_haystack", large);
  await both("literal, none", "zzzqqq", large);
  await both("ignoring case", "(?i)NEEDLE_in_hay", large);
  await both("not ASCII", "größe", large);
  await both("regex", "function\\s+\\w+_9\\d+\\(", large);
  await both("regex that begins with a repeat", "\\w+_hay\\w+", large);
  await both("regex without a literal", "[a-z]+_\\d{3}[a-z]", large);
  await both("every file matches (rg -l)", "e", large, "-l");
  await row("glob **/*.ts (rg unsorted)", glob("**/*.ts", large), large, "--files", "-g", "*.ts");
  const sorted = ["--files", "-g", "*.ts", "--sortr", "modified"];
  await row("glob **/*.ts (rg sorted)", glob("**/*.ts", large), large, ...sorted);
  await row("glob **/* (rg unsorted)", glob("**/*", large), large, "--files");
  console.log("200 files");
  await both("literal", "needle_in_haystack", small);
  await both("regex", "function\\s+\\w+_9\\d+\\(", small);
  await row("glob **/*.ts", glob("**/*.ts", small), small, "--files", "-g", "*.ts");
}

await main();
