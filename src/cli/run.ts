/**
 * The program: reads the command line, runs what it asks for, returns the exit code.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import type { Policy } from "../types.ts";
import { type Args, asUsage, helpText, parseArgs, UsageError } from "./args.ts";
import { EXIT } from "./exit.ts";
import type { Format } from "./headless.ts";
import { oneLine } from "./present.ts";
import type { CopilotOptions, ExtraSettings } from "./settings.ts";
import { type Output, output, readPiped } from "./stdio.ts";

/** How long a pipe as stdin may be silent before `-p` goes on without it. */
const SILENT_STDIN_MS = 3000;

/** How long a run that was told to end may take, before a second signal ends it at once. */
const TIDY_UP_MS = 5000;

/** Runs the program with the command line's words; the exit code. Never throws. */
export async function main(words: readonly string[]): Promise<number> {
  let broken: number | undefined;
  const stop = new AbortController();
  const stdout = output(Deno.stdout, (error) => {
    broken = error instanceof Deno.errors.BrokenPipe ? EXIT.closed : EXIT.error;
    if (broken === EXIT.error) stderr.write(`copilot: cannot write to stdout: ${error.message}\n`);
    stop.abort();
  });
  // Progress that nobody can read is no reason to stop.
  const stderr = output(Deno.stderr, () => {});
  let code: number;
  try {
    const args = parseArgs(words);
    code = await dispatch(args, { stdout, stderr, stop });
  } catch (error) {
    stderr.write(`copilot: ${errorLine(error)}\n`);
    code = error instanceof UsageError ? EXIT.usage : EXIT.error;
    if (error instanceof Deno.errors.BrokenPipe) code = EXIT.closed;
  }
  await Promise.all([stdout.drained(), stderr.drained()]);
  return broken ?? code;
}

interface Streams {
  stdout: Output;
  stderr: Output;
  stop: AbortController;
}

async function dispatch(args: Args, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  if (args.help) return stdout.write(helpText()), EXIT.done;
  if (args.version) {
    const { VERSION } = await import("../config.ts");
    return stdout.write(`copilot ${VERSION} (deno ${Deno.version.deno}, ${Deno.build.target})\n`),
      EXIT.done;
  }
  if (args.completions !== undefined || args.man) {
    const [{ completionScript, manPage }, { VERSION }] = await Promise.all([
      import("./completions.ts"),
      import("../config.ts"),
    ]);
    const text = args.man ? manPage(VERSION) : completionScript(args.completions!);
    return stdout.write(text), EXIT.done;
  }
  const { optionsFromArgs, toConfig } = await import("./settings.ts");
  let options = optionsFromArgs(args);
  const headless = args.print !== undefined || !Deno.stdin.isTerminal();
  const format = checkedFormat(args, headless);
  let demo: { host: string; model: string; close(): Promise<void> } | undefined;
  if (args.demo) {
    checkDemo(args);
    demo = (await import("./demo.ts")).startDemoServer();
    options = { ...options, local: true, host: demo.host, model: demo.model };
    stderr.write("· demo: fixed rules, no language model\n");
  }
  try {
    const config = asUsage(() => toConfig(options));
    if (!headless) {
      const { runInteractive } = await import("./interactive.ts");
      return await runInteractive(config, {
        workingDir: options.workingDir,
        modelNamed: options.model !== undefined,
        yes: args.yes === true,
        notify: !args["no-notify"],
      });
    }
    const prompt = await readPrompt(args, stderr);
    return await answerPrompt(config, options, args, format, prompt, streams);
  } finally {
    await demo?.close();
  }
}

async function answerPrompt(
  config: Parameters<typeof newAgent>[0],
  options: CopilotOptions & ExtraSettings,
  args: Args,
  format: Format,
  prompt: string,
  { stdout, stderr, stop }: Streams,
): Promise<number> {
  const [{ runHeadless }, { allowAll, refuseWrites }, { onSignals }] = await Promise.all([
    import("./headless.ts"),
    import("./approve.ts"),
    import("./signals.ts"),
  ]);
  let refused = false;
  const policy = args.yes ? allowAll : refuseWrites(() => refused = true);
  let signalCode: number | undefined;
  let signalledAt = 0;
  const release = onSignals((code) => {
    // The first one ends what runs; whoever is impatient must not leave its processes behind.
    if (signalCode !== undefined && performance.now() - signalledAt > TIDY_UP_MS) {
      Deno.exit(signalCode);
    }
    signalledAt ||= performance.now();
    signalCode ??= code;
    stop.abort();
  });
  try {
    const agent = await newAgent(config, options.workingDir, policy);
    const code = await runHeadless({
      agent,
      prompt,
      format,
      stdout,
      stderr,
      terminal: Deno.stdout.isTerminal() || Deno.stderr.isTerminal(),
      signal: stop.signal,
      modelNamed: options.model !== undefined,
      refused: () => refused,
      signalCode: () => signalCode,
    });
    return signalCode ?? code;
  } finally {
    release();
  }
}

async function newAgent(
  config: ConstructorParameters<typeof CopilotAgent>[0],
  workingDir: string | undefined,
  policy: Policy,
): Promise<CopilotAgent> {
  const { CopilotAgent } = await import("../agent/agent.ts");
  return asUsage(() => new CopilotAgent(config, workingDir ?? ".", { policy }));
}

function checkedFormat(args: Args, headless: boolean): Format {
  const format = args.output ?? "text";
  if (format !== "text" && format !== "json" && format !== "stream-json") {
    throw new UsageError(
      `--output must be text, json or stream-json: it is ${JSON.stringify(format.slice(0, 60))}`,
    );
  }
  if (args.output !== undefined && !headless) throw new UsageError("--output needs -p");
  if (args.stdin && !headless) throw new UsageError("--stdin needs -p");
  return format;
}

function checkDemo(args: Args): void {
  for (
    const name of ["local", "hosted", "host", "base-url", "api-key", "model", "use-compat"] as const
  ) {
    if (args[name] !== undefined) throw new UsageError(`--demo and --${name} exclude each other`);
  }
}

/** The prompt: the argument, the piped text, or the one with the other as context. */
async function readPrompt(args: Args, stderr: Output): Promise<string> {
  const asked = args.print ?? "";
  let piped = "";
  if (!Deno.stdin.isTerminal()) {
    const patient = asked === "" || args.stdin;
    const got = await readPiped(Deno.stdin, patient ? undefined : SILENT_STDIN_MS);
    if (got.silent) {
      stderr.write(
        "· stdin is a pipe that sent nothing for 3 s: going on without it (--stdin waits)\n",
      );
    }
    if (got.replaced > 0) {
      stderr.write(`· stdin: ${got.replaced} pieces were not UTF-8 and were replaced by U+FFFD\n`);
    }
    piped = got.text;
  }
  if (asked.trim() === "" && piped.trim() === "") {
    throw new UsageError('The prompt is empty: give one with -p "...", or pipe it in');
  }
  if (piped.trim() === "") return asked;
  return asked.trim() === "" ? piped : `${asked}\n\n<stdin>\n${piped}\n</stdin>`;
}

function errorLine(error: unknown): string {
  return oneLine(error instanceof Error ? error.message || error.name : String(error));
}
