/** Headless turns with tool calls, in this process or by the program itself. */

import { attempt } from "../../src/attempt.ts";
import { parseArgs } from "../../src/cli/args.ts";
import { optionsFromArgs, sessionOptions, toConfig } from "../../src/cli/settings.ts";
import { UsageError } from "../../src/errors.ts";
import { EXIT } from "../../src/exit_codes.ts";
import { PrintFrontend } from "../../src/ui/print/print.ts";
import { parsePermissionChoice } from "../../src/safety/choice.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { Session } from "../../src/session/session.ts";
import { Output } from "../../src/ui/terminal/stdio.ts";
import { run } from "./program.ts";
import { type Step, strictServer } from "./strict_server.ts";
import { sharingSystem } from "./system_secrets.ts";

/** The result of a turn. */
export interface Ran {
  code: number;
  stderr: string;
  /** The results of the tools, as the model gets them. */
  results: string[];
  folder: string;
}

/** The state before a turn. */
export interface Files {
  /** The user's rules. FOLDER stands for the working folder. */
  own?: unknown;
  /** The folder's rules. */
  project?: unknown;
  prepare?: (folder: string, base: string) => Promise<void> | void;
}

/** Other input of the program. */
export interface ProgramFiles extends Files {
  env?: (folder: string, base: string) => Record<string, string>;
}

/** The effect of --yes depends on the machine's sandbox, so only tests of that omit this. */
const UNCONFINED = ["--sandbox", "off"];

/**
 * Runs one headless turn with tool calls, in a folder of its own below another one: with the flags, the files and
 * the frontend of `-p`. In this process it takes a quarter of the program's start time.
 */
export function turn(
  calls: Step[],
  flags: string[],
  files: Files,
  check: (ran: Ran) => Promise<void> | void,
): Promise<void> {
  return inFolder(calls, flags, files, check, async (words, folder, base) => {
    const variables: Record<string, string> = {
      // A test without own settings may make `base` a repository.
      XDG_CONFIG_HOME: attempt(() => Deno.statSync(`${base}/config`))
        ? `${base}/config`
        : "/nowhere",
      XDG_STATE_HOME: "/dev/null",
    };
    const written = { stdout: "", stderr: "" };
    const stream = (name: keyof typeof written) =>
      new Output({
        write(bytes) {
          written[name] += new TextDecoder().decode(bytes);
          return Promise.resolve(bytes.length);
        },
      }, () => {});
    const [stdout, stderr] = [stream("stdout"), stream("stderr")];
    const { signal } = new AbortController();
    let code: number;
    try {
      const args = parseArgs([...words, "--working-dir", folder]);
      const options = optionsFromArgs(args);
      const permissions = openPermissions(
        parsePermissionChoice(args),
        (name) => variables[name] ?? Deno.env.get(name),
      );
      sharingSystem(permissions.looks);
      const isTerminal = false;
      const frontend = new PrintFrontend({
        ...{ format: "json", stdout, stderr, isTerminal, signal },
        stopCode: () => EXIT.interrupted,
      });
      await using session = new Session({
        ...sessionOptions(toConfig(options), options, args, permissions),
      }, frontend);
      code = await frontend.run(session, "go");
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      code = EXIT.usage;
      stderr.write(`copilot: ${error.message}\n`);
    }
    await Promise.all([stdout.drained(), stderr.drained()]);
    return { code, ...written };
  });
}

/** Runs {@linkcode turn} by the program, as a process. */
export function programTurn(
  calls: Step[],
  flags: string[],
  files: ProgramFiles,
  check: (ran: Ran) => Promise<void> | void,
): Promise<void> {
  return inFolder(
    calls,
    flags,
    files,
    check,
    (words, cwd, base) =>
      run(words, { cwd, env: { XDG_CONFIG_HOME: `${base}/config`, ...files.env?.(cwd, base) } }),
  );
}

/** Makes the folder with `files` and the server, and calls `check` with the result of `runs`. */
async function inFolder(
  calls: Step[],
  flags: string[],
  { own, project, prepare }: Files,
  check: (ran: Ran) => Promise<void> | void,
  runs: (
    words: string[],
    folder: string,
    base: string,
  ) => Promise<{ code: number; stdout: string; stderr: string }>,
): Promise<void> {
  await using server = strictServer([...calls, { text: "Done." }], { models: ["test"] });
  const base = await Deno.realPath(await Deno.makeTempDir());
  const folder = `${base}/folder`;
  try {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/a.txt`, "one\n");
    await Deno.writeTextFile(`${base}/canary`, "outside\n");
    if (own !== undefined) {
      await Deno.mkdir(`${base}/config/copilot`, { recursive: true });
      const text = JSON.stringify(own).replaceAll("FOLDER", folder);
      await Deno.writeTextFile(`${base}/config/copilot/permissions.json`, text);
    }
    if (project !== undefined) {
      await Deno.mkdir(`${folder}/.copilot`);
      await Deno.writeTextFile(`${folder}/.copilot/permissions.json`, JSON.stringify(project));
    }
    await prepare?.(folder, base);
    const { code, stdout, stderr } = await runs(
      [
        ...["--local", "--host", server.url, "-m", "test", "-p", "go", "--output", "json"],
        ...flags,
        ...flags.includes("--yes") && !flags.includes("--sandbox") ? UNCONFINED : [],
      ],
      folder,
      base,
    );
    const result = JSON.parse(stdout.trimEnd().split("\n").at(-1) || "{}");
    const results = (result.toolExecutions ?? []).map((exec: { result: string }) => exec.result);
    await check({ code, stderr, results, folder });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}
