/**
 * Bundles the program into FOLDER: `deno run -A scripts/bundle.ts FOLDER`. It is one file, in which the functions that
 * a prompt with two calls of a tool runs are marked for V8.
 */
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { root, startServer } from "./bench_tools.ts";

/** The beginning of a declaration with `using`, in minified text too. */
const USING = /(?<![\w$."'`])using [\w$]+ ?=/g;
/** The beginnings of the functions that get parentheses. */
const DECLARATION = /^(?:async )?function\*? ?([\w$]+)\(/;
const ARROW = /^(?:async ?)?(?:\(|[\w$]+ ?=>)/;
const METHOD = /^(async )?(\*?)(?!constructor\()([\w$]+)(?=\()/;

if (import.meta.main) {
  const [to] = Deno.args as [string];
  try {
    const main = resolve(to, "main.js");
    await bundle("main.ts", main);
    await markStart(main);
  } catch (error) {
    console.error(`bundle: ${(error as Error).message}`);
    Deno.exit(1);
  }
}

/**
 * The minifier puts a value that is used once, in the next statement, in the place of its name, and then nothing disposes
 * of it. Then the bundle fails; another statement between the two keeps the `using`. It also counts two adjacent `using`
 * as one, because the minifier joins them.
 */
async function bundle(source: string, to: string): Promise<void> {
  const plain = join(dirname(to), "plain.js");
  // One after the other: both would fetch the bundler, of which the first removes the parts.
  await denoBundle("--output", plain, source);
  await denoBundle("--minify", "--output", to, source);
  const texts = await Promise.all([plain, to].map((path) => Deno.readTextFile(path)));
  await Deno.remove(plain);
  const [wanted, found] = texts.map((text) => text.match(USING)?.length ?? 0);
  if (found! < wanted!) throw new Error(`the minifier dropped ${wanted! - found!} of "using"`);
  await Deno.writeTextFile(to, asAscii(texts[1]!));
}

async function denoBundle(...more: string[]): Promise<void> {
  const args = ["bundle", "--quiet", "--frozen", ...more];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: root });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
}

/**
 * Escapes the characters that the bundler leaves in regular expressions: with one of them, V8 stores
 * the whole source with two bytes per character, and reads it more slowly.
 */
export function asAscii(source: string): string {
  return source.replace(
    /[^\0-\x7f]/g,
    (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** Marks the functions that a start of the file `main` calls. Without loopback the file stays as it is. */
async function markStart(main: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  const flags = ["run", "-A", "--quiet", "--no-config", "--no-lock"];
  try {
    for (const name of "ab") await Deno.writeTextFile(join(folder, `${name}.txt`), "text\n");
    await using server = await startServer();
    const coverage = join(folder, "coverage");
    const start = async (program: string, env: Record<string, string>) => {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [...flags, program, "--base-url", server.url, "--model", "m", "-p", "reads 2"],
        cwd: folder,
        clearEnv: true,
        env: { HOME: folder, PATH: Deno.env.get("PATH") ?? "", COPILOT_API_KEY: "none", ...env },
        stdin: "null",
        signal: AbortSignal.timeout(60_000),
      }).output();
      if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
    };
    await start(main, { DENO_COVERAGE_DIR: coverage });
    const [file] = [...Deno.readDirSync(coverage)];
    const { functions } = JSON.parse(await Deno.readTextFile(join(coverage, file!.name)));
    const marked = join(folder, basename(main));
    const source = await Deno.readTextFile(main);
    await Deno.writeTextFile(marked, withParentheses(source, functions));
    await start(marked, {});
    await Deno.copyFile(marked, main);
  } catch (error) {
    console.error(
      `bundle: starts somewhat slower, as nothing was marked: ${(error as Error).message}`,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A function as V8's coverage reports it. The first range is its own, in UTF-16 units. */
export interface CountedFunction {
  ranges: { startOffset: number; endOffset: number; count: number }[];
}

/**
 * Puts the functions that ran in parentheses: V8 compiles these when it loads a module, so that Deno's
 * code cache has them; it compiles others at their first call, at each start again. Top-level
 * declarations become variables at the beginning, where every line can call them as before. Public methods
 * of classes become functions, unless they use `super`.
 */
export function withParentheses(source: string, functions: readonly CountedFunction[]): string {
  // The range of the module itself is the whole source.
  const ranges = functions.map(({ ranges }) => ranges[0]!)
    .filter(({ startOffset, endOffset }) => endOffset - startOffset < source.trimEnd().length)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const declared: [from: number, to: number, name: string][] = [];
  const signs: [at: number, end: number, sign: string][] = [];
  let outerEnd = 0;
  for (const { startOffset: from, endOffset: to, count } of ranges) {
    const isOuter = from >= outerEnd;
    if (isOuter) outerEnd = to;
    if (count === 0) continue;
    const start = source.slice(from, from + 200);
    const name = DECLARATION.exec(start)?.[1];
    const [head, async = "", star, method] = METHOD.exec(start) ?? [];
    const isAtStart = /[;}]/.test(source[from - 1] ?? ";");
    if (name !== undefined && isOuter && isAtStart) {
      declared.push([from, to, name]);
    } else if (ARROW.test(start)) {
      signs.push([from, from, "("], [to, to, ")"]);
    } else if (head !== undefined && isAtStart && !/\bsuper\b/.test(source.slice(from, to))) {
      signs.push(
        [from, from + head.length, `static{this.prototype.${method}=(${async}function${star}`],
        [to, to, ")}"],
      );
    }
  }
  signs.sort(([a], [b]) => a - b);
  let next = 0;
  /** Returns a part of the source with its signs. The parts are asked for in their order. */
  const part = (from: number, to: number): string => {
    let text = "";
    for (; next < signs.length && signs[next]![0] <= to; next++) {
      const [at, end, sign] = signs[next]!;
      text += source.slice(from, at) + sign;
      from = end;
    }
    return text + source.slice(from, to);
  };
  let variables = "";
  let rest = "";
  let at = 0;
  for (const [from, to, name] of declared) {
    rest += part(at, from);
    variables += `var ${name}=(${part(from, to)});`;
    at = to;
  }
  return variables + rest + part(at, source.length);
}
