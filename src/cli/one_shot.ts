import { readSchema } from "../agent/answer_schema.ts";
import type { CopilotConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import { parsePermissionChoice } from "../safety/choice.ts";
import { openPermissions } from "../safety/permissions.ts";
import { Session } from "../session/session.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { notePart } from "../text/parts.ts";
import type { Part } from "../types/message.ts";
import type { JsonSchema } from "../types/tool.ts";
import { EXIT } from "../exit_codes.ts";
import type { Format } from "../ui/print/json_output.ts";
import { PrintFrontend } from "../ui/print/print.ts";
import { readPiped } from "../ui/terminal/stdio.ts";
import { type Args, asUsage, flagNote } from "./args.ts";
import { answerWriter, flagImages, serversOf } from "./flag_files.ts";
import { afterAbort, type Run } from "./process.ts";
import { type CopilotOptions, sessionOptions } from "./settings.ts";
import { DEMO_NOTICE, withSettings } from "./with_settings.ts";

/** `-p` continues without a pipe that is silent for longer, in ms. */
const SILENT_STDIN_MS = 3000;
const MAX_SHOWN_SCHEMA = 80;

export async function runOneShot(args: Args, run: Run): Promise<number> {
  return await withSettings(args, "look", async (config, options) => {
    const prompt = await readPrompt(args, run);
    return await answerPrompt(config, options, args, prompt, run);
  });
}

async function answerPrompt(
  config: CopilotConfig,
  options: CopilotOptions,
  args: Args,
  prompt: readonly Part[],
  run: Run,
): Promise<number> {
  const answerSchema = await answerSchemaOf(args);
  const writeAnswer = answerWriter(args);
  // A check can only pass if the model may change files.
  const prefersAuto = args.until === undefined ? "read-only" : "workspace-write";
  const permissions = openPermissions(
    parsePermissionChoice(args, args.yes ? undefined : prefersAuto),
  );
  const servers = await serversOf(args, permissions);
  const frontend = new PrintFrontend({
    format: (args.output ?? "text") as Format,
    stdout: run.stdout,
    stderr: run.stderr,
    isChecked: answerSchema !== undefined,
    isTerminal: Deno.stdout.isTerminal() || Deno.stderr.isTerminal(),
    signal: run.signal,
    stopCode: () => run.stopCode ?? EXIT.interrupted,
  });
  await using session = asUsage(() =>
    new Session({
      ...sessionOptions(config, options, args, permissions, servers),
      // A single answer needs no undo.
      canUndo: false,
      answerSchema,
      isPrint: true,
      asksAtStart: false,
    }, frontend), args);
  if (args.demo) run.stderr.write(`${DEMO_NOTICE}\n`);
  const exitCode = await frontend.run(session, prompt);
  const fault = await writeAnswer(frontend.answer);
  if (fault === undefined) return exitCode;
  run.stderr.line(`copilot: ${fault}`);
  return exitCode === EXIT.done ? EXIT.error : exitCode;
}

async function answerSchemaOf(args: Args): Promise<JsonSchema | undefined> {
  const given = args["json-schema"];
  if (given === undefined) return undefined;
  const found = await readSchema(given);
  if ("schema" in found) return found.schema;
  const shown = shortened(oneLine(given), MAX_SHOWN_SCHEMA);
  throw new UsageError(`Cannot use ${shown} as --json-schema: ${found.problem}`);
}

async function readPrompt(args: Args, { stderr, signal }: Run): Promise<Part[]> {
  const asked = args.print ?? "";
  if (flagNote(asked)) stderr.write(`· ${flagNote(asked)}\n`);
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
  // A FIFO may have no writer.
  const images = await Promise.race([flagImages(args), afterAbort(signal, 0)]);
  if (!images) throw signal.reason;
  if (piped.trim() === "") return [typed, ...images];
  // `@names` in piped text attach no files: someone else may have written it.
  const context = { type: "resource", name: "", text: piped } as const;
  if (asked.trim() === "") return [notePart(piped, "prompt"), ...images];
  return [typed, { ...context, kind: "stdin" }, ...images];
}
