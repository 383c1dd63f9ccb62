import { attempt } from "../attempt.ts";
import { VERSION } from "../config.ts";
import { type Args, FLAGS, outputAsked, parseArgs, usageText } from "./args.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../exit_codes.ts";
import { resultLine } from "../ui/print/json_output.ts";
import { oneLine } from "../text/one_line.ts";
import { withSigns } from "../text/signs.ts";
import { reasonOf } from "../text/reason.ts";
import { FLAGS_OF_SERVER, withDefaults } from "./defaults.ts";
import { afterAbort, type Run, stopOnSignals } from "./process.ts";
import { showsUtf8 } from "../ui/terminal/locale.ts";
import { repositoryOf } from "../safety/repositories.ts";
import { checkOwnFolders } from "../user_files.ts";
import { Output } from "../ui/terminal/stdio.ts";

const READER_MS = 500;
const verbs = () => import("./verbs.ts");

/** Runs the program with the words of the command line and returns the exit code. Never throws. */
export async function main(words: readonly string[]): Promise<number> {
  // Leaves the stack of the bundle: for an error that is thrown on it, such as a missing settings file, V8 parses
  // the whole bundle again to find the lines, which takes 20 ms.
  await undefined;
  endOnFault();
  await findHome();
  restoreVariables();
  const stopped = new AbortController();
  const stdout = new Output(Deno.stdout, (error) => {
    if (error instanceof Deno.errors.BrokenPipe) return run.stop(EXIT.closed);
    stderr.write(`copilot: cannot write to stdout: ${reasonOf(error)}\n`);
    run.stop(EXIT.error);
  });
  // Progress that cannot be written is no reason to stop.
  const stderr = areJoint() ? stdout : new Output(Deno.stderr, () => {});
  const run: Run = {
    stdout,
    stderr,
    stop(exitCode) {
      run.stopCode ??= exitCode;
      stopped.abort();
    },
    signal: stopped.signal,
  };
  if (!showsUtf8()) fitTerminals(run);
  // An invalid command line is answered in the format that it asks for, too.
  const format = outputAsked(words);
  let args: Args = format === undefined ? {} : { output: format };
  let code: number;
  try {
    const [verb] = words;
    if (verb === "mcp" || verb === "plugin" || verb === "sessions" || verb === "exam") {
      checkWorkFolder();
      stopOnSignals(run);
      code = await (await verbs()).OWN_WORDS[verb](words.slice(1), run);
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

/** Sets HOME from the user database if it is missing, as under cron and for some editors. */
async function findHome(): Promise<void> {
  if (Deno.env.get("HOME") || Deno.build.os === "windows") return;
  const home = attempt((await import("node:os")).homedir);
  if (home) Deno.env.set("HOME", home);
}

/** Gives commands the variables as they were before `scripts/copilot`, which set them for the program itself. */
function restoreVariables(): void {
  for (const name of ["DENO_DIR", "NODE_OPTIONS"]) {
    const given = Deno.env.get(`COPILOT_${name}`);
    if (given !== undefined) Deno.env.delete(name);
    if (given) Deno.env.set(name, given);
  }
}

/** True if stdout and stderr are the same file, where two streams would lose their order. */
function areJoint(): boolean {
  const [out, err] = [1, 2].map((fd) => attempt(() => Deno.readLinkSync(`/proc/self/fd/${fd}`)));
  return out !== undefined && out === err;
}

/** Refuses a folder that contains the user's own files, before they are read. @throws {UsageError} */
function checkWorkFolder(folder = "."): void {
  const at = attempt(() => Deno.realPathSync(folder));
  if (at !== undefined) checkOwnFolders(repositoryOf(at));
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
function fitTerminals({ stdout, stderr }: Run): void {
  const outputs = [[Deno.stdout, stdout], [Deno.stderr, stderr]] as const;
  for (const [stream, output] of outputs) {
    if (stream.isTerminal()) output.fit = (text) => withSigns(text, false);
  }
}

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

async function standingText(args: ReturnType<typeof parseArgs>): Promise<string | undefined> {
  if (args.help && args.command === "replay") return (await verbs()).REPLAY_USAGE;
  if (args.help) return usageText();
  const { deno } = Deno.version;
  if (args.version) return `copilot ${VERSION} (deno ${deno}, ${Deno.build.target})\n`;
  if (args.completions === undefined) return undefined;
  return (await verbs()).completionScript(args.completions);
}

async function dispatch(args: ReturnType<typeof parseArgs>, run: Run): Promise<number> {
  const text = await standingText(args);
  if (text !== undefined) {
    run.stdout.write(text);
    return EXIT.done;
  }
  checkWorkFolder(args["working-dir"]);
  const { command } = args;
  const headless = args.print !== undefined || !Deno.stdin.isTerminal();
  const needing = OF_PRINT.find((name) => args[name] !== undefined);
  const unused = needing ?? (command === "doctor" ? OF_SESSIONS : [...OF_SESSIONS, "json"] as const)
    .find((name) => args[name] !== undefined);
  if (unused && command) throw new UsageError(`copilot ${command} has no use for --${unused}`);
  if (needing && !headless) throw new UsageError(`--${needing} needs -p`);
  args = withDefaults(args);
  if (command !== undefined) {
    stopOnSignals(run);
    return await (await verbs()).WITH_FLAGS[command](args, run);
  }
  const elsewhere = FLAGS.find(({ name }) => args[name] && OF_COMMANDS.includes(name));
  if (elsewhere) {
    throw new UsageError(`--${elsewhere.name} is for another command (${elsewhere.help})`);
  }
  const other = args.demo && DEMO_EXCLUDES.find((name) => args[name] !== undefined);
  if (other) throw new UsageError(`--demo and --${other} exclude each other`);
  if (args.continue && args.resume !== undefined) {
    throw new UsageError("--continue and --resume exclude each other");
  }
  let line: string | undefined;
  const way = headless ? "flags" : "terminal";
  if (args.resume === "" && headless) throw new UsageError("--resume needs an ID with -p");
  if (args.continue || args.resume !== undefined || args["fork-session"]) {
    const { serverOfNewest, withResumed } = await import("./session_server.ts");
    ({ args, line } = withResumed(args, way));
    checkWorkFolder(args["working-dir"]);
    const own = args.resume ? undefined : serverOfNewest(args, way);
    if (own) [args, line] = [{ ...args, ...own.flags }, own.line];
  }
  if (!headless) return await (await import("./copilot.ts")).runSession(args, line);
  if (line !== undefined) run.stderr.line(line);
  stopOnSignals(run);
  const { message } = args;
  if (message !== undefined) args = { ...args, print: message };
  return await (await import("./one_shot.ts")).runOneShot(args, run);
}

/** The demo has its own server, and its sessions are not recorded. */
const DEMO_EXCLUDES = [...FLAGS_OF_SERVER, "continue", "resume"] as const;
const OF_COMMANDS: readonly string[] = ["from", "as-exam", "port", "allow-host", "json"];
const OF_SESSIONS = ["print", "continue", "resume", "fork-session", "mcp-config"] as const;
const OF_PRINT = ["output", "json-schema", "stdin", "image", "output-last-message"] as const;
