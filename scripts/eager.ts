// Rewrites a bundle so that it starts faster: `deno run -A scripts/eager.ts BUNDLE`.
//
// Deno keeps what V8 compiles while it loads a module, and hands it to V8 at the next start. At that time
// V8 compiles a function only where it stands in parentheses; others are compiled by their first call,
// at each start anew. So the program runs here against a scripted server, once with a prompt and once as
// in a terminal, and the functions that V8 counted get parentheses.
import inspector from "node:inspector";
import { pathToFileURL } from "node:url";
import type { Member, Use } from "./methods_plugin.ts";

/** Where a function stands in its source, in UTF-16 units, and how often it ran. */
export type CountedRange = { startOffset: number; endOffset: number; count: number };
type Coverage = { result: { url: string; functions: { ranges: CountedRange[] }[] }[] };

const COUNT = "--count";
/** What is typed in the terminal, each line after the text before it is seen. */
const DIALOGUE = [[">", "hello\r"], ["your question", "/exit\r"]] as const;
const DECLARATION = /^(?:async )?function\*? ?([\w$]+)\(/;
/** Gives a class a method, as its own definition does. */
const METHOD = "var $method=((owner,name,value)=>Object.defineProperty(owner,name," +
  "{configurable:true,writable:true,value}));";
const ARROW = /^(?:async ?)?(?:\(|[\w$]+ ?=>)/;

if (import.meta.main) {
  if (Deno.args[0] === COUNT) await count(Deno.args[1]!, Deno.args[2]!, Deno.args.slice(3));
  else await rewrite(Deno.args[0]!);
}

/**
 * Runs `bundle` in this process with `args`; when it exits, writes the ranges of its functions to the
 * file `to`, as JSON. Without a prompt in `args`, stdin and stdout pass for a terminal.
 */
async function count(bundle: string, to: string, args: string[]): Promise<void> {
  const { href } = pathToFileURL(bundle);
  if (!args.includes("-p")) {
    Deno.stdin.isTerminal = Deno.stdout.isTerminal = () => true;
    Deno.stdin.setRaw = () => {};
    Deno.consoleSize = () => ({ columns: 80, rows: 24 });
  }
  const session = new inspector.Session();
  session.connect();
  const post = (method: string, params?: object) =>
    new Promise<Coverage>((resolve, reject) =>
      session.post(
        method,
        params,
        (error: Error | null, answer: unknown) =>
          error ? reject(error) : resolve(answer as Coverage),
      )
    );
  await post("Profiler.enable");
  await post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const { exit } = Deno;
  Deno.exit = ((code) => {
    post("Profiler.takePreciseCoverage").then(({ result }) => {
      const functions = result.find(({ url }) => url === href)!.functions;
      Deno.writeTextFileSync(to, JSON.stringify(functions.map(({ ranges }) => ranges[0])));
      exit(code);
    });
  }) as typeof exit;
  Object.defineProperty(Deno, "args", { value: args });
  await import(href);
}

/** Runs the program, then replaces the bundle, where what comes out starts. */
async function rewrite(bundle: string): Promise<void> {
  const path = await Deno.realPath(bundle);
  const folder = await Deno.makeTempDir();
  const start = (...args: string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-config", "--no-lock", ...args],
      cwd: folder,
      clearEnv: true,
      env: {
        HOME: folder,
        PATH: Deno.env.get("PATH") ?? "",
        LC_ALL: "C.UTF-8",
        COPILOT_API_KEY: "none",
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.timeout(30_000),
    }).spawn();
  /** Runs a program to its end, and types what the dialogue has; an error where it fails. */
  async function ended(program: Deno.ChildProcess, dialogue: typeof DIALOGUE | [] = []) {
    const keys = program.stdin.getWriter();
    const lines = [...dialogue];
    // A prompt waits for the end of what is piped to it.
    if (lines.length === 0) await keys.close();
    let seen = "";
    for await (const text of program.stdout.pipeThrough(new TextDecoderStream())) {
      seen += text;
      if (lines.length === 0 || !seen.includes(lines[0]![0])) continue;
      seen = "";
      await keys.write(new TextEncoder().encode(lines.shift()![1]));
    }
    const { code } = await program.status;
    if (code !== 0) throw new Error(`eager: a run of the bundle ended with code ${code}`);
  }
  const server = start(import.meta.resolve("./bench_server.ts"));
  try {
    for (const name of ["a", "b"]) await Deno.writeTextFile(`${folder}/${name}.txt`, "1\n");
    const address = server.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const options = ["--base-url", (await address).value!.trim(), "--model", "m"];
    const ran = `${folder}/ran.json`;
    const ranges: CountedRange[] = [];
    const run = async (args: string[], dialogue?: typeof DIALOGUE) => {
      await ended(start(import.meta.url, COUNT, path, ran, ...options, ...args), dialogue);
      ranges.push(...JSON.parse(await Deno.readTextFile(ran)));
    };
    await run(["-p", "reads 2"]);
    await run([], DIALOGUE);
    const plugin = new URL(import.meta.resolve("./methods_plugin.ts"));
    // Not above: a run that counts has no import map for what this imports.
    const { lintReports } = await import("./lint_reports.ts");
    const found = (await lintReports(plugin, folder, [path]))
      .map(({ message }): Member | Use => JSON.parse(message));
    const faster = `${folder}/main.js`;
    await Deno.writeTextFile(faster, withParentheses(await Deno.readTextFile(path), ranges, found));
    await ended(start(faster, "--version"));
    // At once: a full disk leaves the bundle as it was.
    await Deno.copyFile(faster, `${path}.marked`);
    await Deno.rename(`${path}.marked`, path);
  } finally {
    server.kill();
    await server.status;
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The source with each function in parentheses that ran in one of the runs. Functions that are declared
 * outside of all others become variables at the beginning, where every line can call them as before;
 * methods become functions that their class takes up when it is defined. Constructors stay as they are.
 */
export function withParentheses(
  source: string,
  ranges: CountedRange[],
  found: readonly (Member | Use)[] = [],
): string {
  const places = new Map<string, CountedRange>();
  for (const range of ranges) {
    const place = `${range.startOffset} ${range.endOffset}`;
    if (!places.get(place)?.count) places.set(place, range);
  }
  const members = new Map<string, Member>();
  for (const one of found) if ("head" in one) members.set(`${one.start} ${one.end}`, one);
  // The range of the module itself is the whole source.
  const functions = [...places.values()]
    .filter(({ startOffset, endOffset }) => endOffset - startOffset < source.trimEnd().length)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  /** What stands at an offset in place of the source up to another: first what ends a function. */
  const edits = new Map<number, { to: number; text: string }>();
  const put = (from: number, text: string, to = from) => {
    const { to: end, text: before } = edits.get(from) ?? { to, text: "" };
    edits.set(from, { to: Math.max(to, end), text: before + text });
  };
  const ends = (at: number, text: string) => {
    const { to, text: behind } = edits.get(at) ?? { to: at, text: "" };
    edits.set(at, { to, text: text + behind });
  };
  const declared: [from: number, to: number, name: string][] = [];
  const heads: Member[] = [];
  let outerEnd = 0;
  for (const { startOffset: from, endOffset: to, count } of functions) {
    const isOuter = from >= outerEnd;
    if (isOuter) outerEnd = to;
    if (count === 0) continue;
    const name = DECLARATION.exec(source.slice(from, from + 200))?.[1];
    const member = members.get(`${from} ${to}`);
    if (name !== undefined && isOuter && /[;}]/.test(source[from - 1] ?? ";")) {
      declared.push([from, to, name]);
    } else if (member !== undefined) {
      put(from, member.head, member.parameters);
      ends(to, member.tail);
      heads.push(member);
    } else if (ARROW.test(source.slice(from, from + 200))) {
      put(from, "(");
      ends(to, ")");
    }
  }
  const renamed = new Set(heads.map((member) => member.renamed));
  for (const one of found) {
    if ("head" in one || !renamed.has(one.renamed)) continue;
    const [from, to] = one.name;
    if (!heads.some((head) => head.start <= from && from < head.parameters)) {
      put(from, one.renamed, to);
    }
  }
  const offsets = [...edits.keys()].sort((a, b) => a - b);
  let next = 0;
  /** The source between two offsets, edited. Called from the source's beginning to its end. */
  const part = (from: number, to: number): string => {
    let text = "";
    for (; next < offsets.length && offsets[next]! <= to; next++) {
      const offset = offsets[next]!;
      const edit = edits.get(offset)!;
      text += source.slice(from, offset) + edit.text;
      from = edit.to;
    }
    return text + source.slice(from, to);
  };
  let variables = members.size > 0 ? METHOD : "";
  let rest = "";
  let at = 0;
  for (const [from, to, name] of declared) {
    rest += part(at, from);
    variables += `var ${name}=(${part(from, to)});`;
    at = to;
  }
  return variables + rest + part(at, source.length);
}
