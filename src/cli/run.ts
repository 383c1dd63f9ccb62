/** The program: parses the command line, runs what it asks for, and returns the exit code. @module */

import { attempt } from "../attempt.ts";
import { type CopilotConfig, VERSION } from "../config.ts";
import { type Args, asUsage, outputAsked, parseArgs, usageText, wrongValue } from "./args.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../ui/exit_codes.ts";
import { type Format, FORMATS, resultLine } from "../ui/print/json_output.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { reasonOf } from "../text/reason.ts";
import type { ToolExecution } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import type { JsonSchema } from "../types/tool.ts";
import type { CopilotOptions } from "./settings.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { FLAGS_OF_SERVER, withDefaults } from "./defaults.ts";
import { onSignals } from "./signals.ts";
import { showsUtf8 } from "../ui/terminal/locale.ts";
import { Output, readPiped } from "../ui/terminal/stdio.ts";

/** `-p` continues without a pipe that is silent for longer, in ms. */
const SILENT_STDIN_MS = 3000;
/** The time for a run to end after a signal, in ms. After it, another signal exits at once. */
const MAX_ENDING_MS = 5000;
/** The longest wait for the readers of the output at the end, in ms. */
const READER_MS = 500;
/** The maximum length of a schema in an error, in characters. */
const MAX_SHOWN_SCHEMA = 80;
const DEMO_NOTICE = "· demo: a script plays the model";

/** The program's streams, and how it is stopped. */
interface Run {
  stdout: Output;
  stderr: Output;
  /** Ends the turn, and then the program with `exitCode`. */
  stop(exitCode: number): void;
  signal: AbortSignal;
  /** The exit code of the first call of `stop`. */
  stopCode?: number;
}

/** Runs the program with the words of the command line and returns the exit code. Never throws. */
export async function main(words: readonly string[]): Promise<number> {
  // Leaves the stack of the bundle: for an error that is thrown on it, such as a missing settings file, V8 parses
  // the whole bundle again to find the lines, which takes 20 ms.
  await undefined;
  endOnFault();
  const stopped = new AbortController();
  const stdout = new Output(Deno.stdout, (error) => {
    if (error instanceof Deno.errors.BrokenPipe) return run.stop(EXIT.closed);
    stderr.write(`copilot: cannot write to stdout: ${reasonOf(error)}\n`);
    run.stop(EXIT.error);
  });
  // Progress that cannot be written is no reason to stop.
  const stderr = new Output(Deno.stderr, () => {});
  const run: Run = {
    stdout,
    stderr,
    stop(exitCode) {
      run.stopCode ??= exitCode;
      stopped.abort();
    },
    signal: stopped.signal,
  };
  if (!showsUtf8()) await fitTerminals(run);
  // An invalid command line is answered in the format that it asks for, too.
  const format = outputAsked(words);
  let args: Args = format === undefined ? {} : { output: format };
  let code: number;
  try {
    if (words[0] === "mcp") {
      stopOnSignals(run);
      code = await (await import("./mcp.ts")).runMcp(words.slice(1), run);
    } else {
      args = parseArgs(words);
      code = await dispatch(args, run);
    }
  } catch (error) {
    code = report(error, args, run);
  }
  // In this order: a failure of stdout is reported on stderr.
  const written = stdout.drained().then(() => stderr.drained());
  await Promise.race([written, afterAbort(stopped.signal, READER_MS)]);
  return run.stopCode ?? code;
}

/** An uncaught error ends the program with one line, after other listeners have restored the terminal. */
function endOnFault(): void {
  const end = (event: ErrorEvent | PromiseRejectionEvent) => {
    event.preventDefault();
    const error: unknown = "reason" in event ? event.reason : event.error;
    const [, place] = /at .*?([^/(]+:\d+:\d+)/.exec((error as Error | undefined)?.stack ?? "") ??
      [];
    const line = `copilot: ended by an error: ${oneLine(reasonOf(error))}${
      place ? ` (${place})` : ""
    }`;
    queueMicrotask(() => {
      attempt(() => Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`)));
      Deno.exit(EXIT.error);
    });
  };
  addEventListener("error", end);
  addEventListener("unhandledrejection", end);
}

/** Converts output to terminals without UTF-8. Pipes and files get the text unchanged. */
async function fitTerminals({ stdout, stderr }: Run): Promise<void> {
  const outputs = [[Deno.stdout, stdout], [Deno.stderr, stderr]] as const;
  const shown = outputs.filter(([stream]) => stream.isTerminal());
  if (shown.length === 0) return;
  const { withSigns } = await import("../text/signs.ts");
  for (const [, output] of shown) output.fit = (text) => withSigns(text, false);
}

/** Reports the error of a run and returns the exit code. */
function report(error: unknown, args: Args, { stdout, stderr, stopCode }: Run): number {
  const message = oneLine(reasonOf(error)) || "it failed";
  let exitCode = stopCode ?? EXIT.error;
  if (stopCode === undefined && error instanceof UsageError) exitCode = EXIT.usage;
  if (stopCode === undefined && error instanceof Deno.errors.BrokenPipe) exitCode = EXIT.closed;
  if (stopCode === undefined) stderr.line(`copilot: ${message}`);
  if (args.output === "json" || args.output === "stream-json") {
    const how = stopCode === undefined ? { error: message } : { stopReason: "aborted" as const };
    stdout.write(resultLine({ exitCode, ...how }));
  }
  return exitCode;
}

/** Returns the text of flags that print something instead of running. */
async function standingText(args: Args): Promise<string | undefined> {
  if (args.help) return usageText();
  const { deno } = Deno.version;
  if (args.version) return `copilot ${VERSION} (deno ${deno}, ${Deno.build.target})\n`;
  if (args.completions === undefined) return undefined;
  return (await import("./completions.ts")).completionScript(args.completions);
}

async function dispatch(args: ReturnType<typeof parseArgs>, run: Run): Promise<number> {
  const text = await standingText(args);
  if (text !== undefined) {
    run.stdout.write(text);
    return EXIT.done;
  }
  const given = args;
  const { command } = args;
  args = withDefaults(args);
  if (command === "doctor") return await examine(args, run);
  if (command === "acp") {
    stopOnSignals(run);
    return await (await import("./acp.ts")).runAcp(args, run.signal);
  }
  if (args.json) throw new UsageError("--json goes with doctor; with -p it is --output json");
  const headless = args.print !== undefined || !Deno.stdin.isTerminal();
  const format = checkedFormat(args, headless);
  const other = args.demo && DEMO_EXCLUDES.find((name) => args[name] !== undefined);
  if (other) throw new UsageError(`--demo and --${other} exclude each other`);
  const way = headless ? "flags" : "terminal";
  const own = args.continue && (await import("./session_server.ts")).serverOfNewest(args, way);
  if (own) args = { ...args, ...own.flags };
  if (!headless) return await runSession(args, given, own?.line);
  if (own) run.stderr.line(own.line);
  stopOnSignals(run);
  const { message } = args;
  if (message !== undefined) args = { ...args, print: message };
  return await withSettings(args, "look", async (config, options) => {
    const prompt = await readPrompt(args, run);
    return await answerPrompt(config, options, args, format, prompt, run);
  });
}

/** The demo has its own server, and its sessions are not recorded. */
const DEMO_EXCLUDES = [...FLAGS_OF_SERVER, "continue"] as const;

/** Calls `use` with the settings of the command line, while the demo runs if it was asked for. */
async function withSettings(
  args: Args,
  scene: "tour" | "look",
  use: (config: CopilotConfig, options: CopilotOptions) => Promise<number>,
): Promise<number> {
  const { NoServerError, optionsFromArgs, toConfig } = await import("./settings.ts");
  let options = optionsFromArgs(args);
  const demo = args.demo && (await import("./demo/server.ts")).startDemo(scene);
  if (demo) {
    const { host, model, folder = options.workingDir } = demo;
    options = { ...options, local: true, host, model, workingDir: folder };
  }
  try {
    return await use(asUsage(() => toConfig(options)), options);
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error;
    const [{ noServerText }, { setupHome }] = await Promise.all([
      import("./doctor_search.ts"),
      import("./setup.ts"),
    ]);
    throw new UsageError(await noServerText(setupHome()));
  } finally {
    await demo?.close();
  }
}

async function examine(args: Args, run: Run): Promise<number> {
  if (args.demo) throw new UsageError("doctor examines a model server: leave out --demo");
  if (args.print !== undefined || args.output !== undefined) {
    throw new UsageError("doctor has no use for -p and --output: --json gives one JSON object");
  }
  stopOnSignals(run);
  const [
    { isServerOpen, optionsFromArgs, toConfig },
    { runDoctor },
    { openPermissions },
    { ModelFit },
  ] = await Promise.all([
    import("./settings.ts"),
    import("./doctor.ts"),
    import("../session/permissions.ts"),
    import("../session/fit_model.ts"),
  ]);
  const output = {
    json: args.json === true,
    columns: Deno.stdout.isTerminal() ? Deno.consoleSize().columns : 80,
    write: (text: string) => run.stdout.write(text),
    signal: run.signal,
  };
  if (isServerOpen(args)) {
    const [{ searchServers }, { setupHome }] = await Promise.all([
      import("./doctor_search.ts"),
      import("./setup.ts"),
    ]);
    const found = await searchServers(setupHome(), output);
    if (typeof found === "number") return found;
    args = { ...args, ...found };
  }
  const options = optionsFromArgs(args);
  return await runDoctor(asUsage(() => toConfig(options)), {
    permissions: await openPermissions(parsePermissionChoice(args)),
    fit: new ModelFit({ isChosen: options.model !== undefined, asksRemote: true }),
    ...output,
  });
}

/** From here on, a signal ends the current work, and then the program. */
function stopOnSignals(run: Run): void {
  let signalledAt: number | undefined;
  onSignals((code) => {
    // The first signal ends the work. Further ones must not leave its processes running.
    if (signalledAt !== undefined && performance.now() - signalledAt > MAX_ENDING_MS) {
      Deno.exit(run.stopCode);
    }
    signalledAt ??= performance.now();
    run.stop(code);
  });
}

/** `given` are the flags of the command line, without config.json. `line` is shown at the start. */
async function runSession(args: Args, given: Args, line?: string): Promise<number> {
  const [{ runInTerminal, terminalFrontend }, { isServerOpen }, { canEdit }] = await Promise.all([
    import("./copilot.ts"),
    import("./settings.ts"),
    import("../ui/terminal/line/input.ts"),
  ]);
  let code: number = EXIT.hangup;
  try {
    let start: CopilotConfig | undefined;
    using frontend = terminalFrontend(args, async ({ agent: { config: end }, record }) => {
      const { lastLines } = await import("./session_server.ts");
      return lastLines({ given, start: start ?? end, end }, record);
    });
    if (canEdit() && isServerOpen(args)) {
      const chosen = await frontend.setUp(line);
      line = undefined;
      if (typeof chosen === "number") return chosen;
      if (chosen === undefined) throw new UsageError(NOTHING_CHOSEN);
      args = { ...args, ...chosen };
      given = { ...given, ...chosen.demo && { demo: true } };
    }
    // The tour shows the questions.
    if (args.demo) args = { approve: "ask", ...args };
    code = await withSettings(args, "tour", (config, options) => {
      start = config;
      const motto = args.demo ? `${DEMO_NOTICE}. Say: The tests fail. Fix them.` : line;
      return runInTerminal(frontend, config, options, { args, motto, checked: asUsage });
    });
  } catch (error) {
    if (Deno.stdin.isTerminal()) throw error;
  }
  // The window was closed: reading ended, or writing failed, possibly before the signal arrived.
  return Deno.stdin.isTerminal() ? code : EXIT.hangup;
}

const NOTHING_CHOSEN =
  "No model was chosen: run copilot again, or name one with --local, --base-url or --hosted; --demo needs none";

async function answerPrompt(
  config: CopilotConfig,
  options: CopilotOptions,
  args: Args,
  format: Format,
  prompt: readonly Part[],
  run: Run,
): Promise<number> {
  const [{ PrintFrontend }, { Session }, { openPermissions }, { sessionOptions }] = await Promise
    .all([
      import("../ui/print/print.ts"),
      import("../session/session.ts"),
      import("../session/permissions.ts"),
      import("./settings.ts"),
    ]);
  const answerSchema = await answerSchemaOf(args);
  const chosen = parsePermissionChoice(args);
  const choice = chosen.yes ? chosen : { ...chosen, prefersAuto: "read-only" as const };
  const permissions = await openPermissions(choice);
  const isProgressSeen = Deno.stderr.isTerminal();
  const changeRows = isProgressSeen ? await loadChangeRows() : undefined;
  const frontend = new PrintFrontend({
    format,
    stdout: run.stdout,
    stderr: run.stderr,
    isChecked: answerSchema !== undefined,
    isTerminal: Deno.stdout.isTerminal() || isProgressSeen,
    changeRows,
    signal: run.signal,
    stopCode: () => run.stopCode ?? EXIT.interrupted,
  });
  await using session = asUsage(() =>
    new Session({
      ...sessionOptions(config, options, args, permissions),
      // A single answer needs no undo. It is recorded if it continues a session.
      canUndo: false,
      answerSchema,
      isRecorded: args.continue === true && !args["no-session"],
      asksServer: "before-turns",
    }, frontend)
  );
  if (args.demo) run.stderr.write(`${DEMO_NOTICE}\n`);
  return await frontend.run(session, prompt);
}

/** Loads the function that shows a call's change on stderr. */
async function loadChangeRows(): Promise<(execution: ToolExecution) => string[]> {
  const [{ terminalSize }, { executionRows }] = await Promise.all([
    import("../ui/terminal/tty.ts"),
    import("../ui/change.ts"),
  ]);
  return (execution) => executionRows(execution, terminalSize().columns);
}

/** Returns the schema of `--json-schema`. @throws {UsageError} if it cannot be read or used. */
async function answerSchemaOf(args: Args): Promise<JsonSchema | undefined> {
  const given = args["json-schema"];
  if (given === undefined) return undefined;
  const { readSchema } = await import("../agent/answer_form.ts");
  const found = await readSchema(given);
  if ("schema" in found) return found.schema;
  const shown = shortened(oneLine(given), MAX_SHOWN_SCHEMA);
  throw new UsageError(`Cannot use ${shown} as --json-schema: ${found.problem}`);
}

function checkedFormat(args: Args, headless: boolean): Format {
  const asked = args.output ?? "text";
  const format = FORMATS.find((known) => known === asked);
  if (format === undefined) throw wrongValue("output", "text, json or stream-json", asked);
  if (args.output !== undefined && !headless) throw new UsageError("--output needs -p");
  if (args["json-schema"] !== undefined && !headless) {
    throw new UsageError("--json-schema needs -p");
  }
  if (args.stdin && !headless) throw new UsageError("--stdin needs -p");
  return format;
}

/** Returns the prompt: the argument, the piped text, or both, the argument first. */
async function readPrompt(args: Args, { stderr, signal }: Run): Promise<Part[]> {
  const asked = args.print ?? "";
  let piped = "";
  if (!Deno.stdin.isTerminal()) {
    const patient = asked === "" || args.stdin;
    const reading = readPiped(Deno.stdin, patient ? undefined : SILENT_STDIN_MS);
    const got = await Promise.race([reading, afterAbort(signal, 0)]);
    if (!got) throw signal.reason;
    const silence = "is a pipe that sent nothing for 3 s: going on without it (--stdin waits)";
    if (got.silent) stderr.write(`· stdin ${silence}\n`);
    if (got.text.includes("\ufffd")) stderr.write("· stdin has U+FFFD where it was not UTF-8\n");
    piped = got.text;
  }
  if (asked.trim() === "" && piped.trim() === "") {
    throw new UsageError('The prompt is empty: give one with -p "...", or pipe it in');
  }
  const typed: Part = { type: "text", text: asked };
  if (piped.trim() === "") return [typed];
  // `@names` in piped text attach no files: someone else may have written it.
  const context = { type: "resource", name: "", text: piped } as const;
  if (asked.trim() === "") return [{ ...context, kind: "note" }];
  return [typed, { ...context, kind: "stdin" }];
}

/** Resolves `ms` milliseconds after `signal` was aborted. */
function afterAbort(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const begin = () => setTimeout(resolve, ms);
    if (signal.aborted) begin();
    else signal.addEventListener("abort", begin);
  });
}
