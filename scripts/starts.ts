// Runs the program as its users start it, against a scripted server: with a prompt, with one that takes
// calls of tools, and as in a terminal; tells which functions V8 counted.
import inspector from "node:inspector";
import { pathToFileURL } from "node:url";

/** Where a function stands in its source, in UTF-16 units, and how often it ran. */
export type CountedRange = { startOffset: number; endOffset: number; count: number };
/** The functions of each module that a run loaded, by the module's address; the first is the module itself. */
export type Counts = Map<string, CountedRange[]>;
type Coverage = { result: { url: string; functions: { ranges: CountedRange[] }[] }[] };

const COUNT = "--count";
/** What is typed in the terminal, each line after the text before it is seen. */
const DIALOGUE = [[">", "hello\r"], ["your question", "/exit\r"]] as const;

if (import.meta.main && Deno.args[0] === COUNT) {
  await count(Deno.args[1]!, Deno.args[2]!, Deno.args.slice(3));
}

/**
 * Runs `program` in this process with `args`; when it exits, writes the ranges of its functions to the
 * file `to`, as JSON. Without a prompt in `args`, stdin and stdout pass for a terminal.
 */
async function count(program: string, to: string, args: string[]): Promise<void> {
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
      const counts = result.filter(({ url }) => url.startsWith("file:"))
        .map(({ url, functions }) => [url, functions.map(({ ranges }) => ranges[0])]);
      Deno.writeTextFileSync(to, JSON.stringify(counts));
      exit(code);
    });
  }) as typeof exit;
  Object.defineProperty(Deno, "args", { value: args });
  await import(pathToFileURL(program).href);
}

/**
 * Starts `program` three times, and returns what each start ran: one that answers a prompt, one that reads
 * two files for it, one in a terminal. @param flags Deno's own, for the program
 * @throws {Error} where a start fails.
 */
export async function countStarts(
  program: string,
  flags: string[],
): Promise<[prompt: Counts, calls: Counts, terminal: Counts]> {
  const folder = await Deno.makeTempDir();
  const server = start(
    folder,
    ["--no-config", "--no-lock"],
    import.meta.resolve("./bench_server.ts"),
  );
  try {
    for (const name of ["a", "b"]) await Deno.writeTextFile(`${folder}/${name}.txt`, "1\n");
    const address = server.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const options = ["--base-url", (await address).value!.trim(), "--model", "m"];
    const run = async (args: string[], dialogue?: typeof DIALOGUE): Promise<Counts> => {
      const ran = `${folder}/ran ${args.join(" ")}.json`;
      const counting = [import.meta.url, COUNT, program, ran, ...options, ...args];
      await ended(start(folder, flags, ...counting), dialogue);
      return new Map(JSON.parse(await Deno.readTextFile(ran)));
    };
    const runs = await Promise.allSettled([
      run(["-p", "hello"]),
      run(["-p", "reads 2"]),
      run([], DIALOGUE),
    ]);
    for (const run of runs) if (run.status === "rejected") throw run.reason;
    const counts = runs.map((run) => (run as PromiseFulfilledResult<Counts>).value);
    return counts as [Counts, Counts, Counts];
  } finally {
    try {
      server.kill();
    } catch {
      // Its time is over, and it has ended.
    }
    await server.status;
    await Deno.remove(folder, { recursive: true });
  }
}

/** Evaluates the modules at `paths`, in a process of its own. @throws {Error} where that fails. */
export async function checkModules(paths: string[], folder: string): Promise<void> {
  const imports = paths.map((path) => `import ${JSON.stringify(pathToFileURL(path).href)};`);
  const all = `${folder}/all.js`;
  await Deno.writeTextFile(all, imports.join("\n"));
  await ended(start(folder, ["--no-config", "--no-lock"], all));
}

function start(folder: string, flags: string[], ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", ...flags, ...args],
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
    signal: AbortSignal.timeout(60_000),
  }).spawn();
}

/** Runs a program to its end, and types what the dialogue has. @throws {Error} where it fails. */
async function ended(
  program: Deno.ChildProcess,
  dialogue: typeof DIALOGUE | [] = [],
): Promise<void> {
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
  if (code !== 0) throw new Error(`a start of the program ended with code ${code}`);
}
