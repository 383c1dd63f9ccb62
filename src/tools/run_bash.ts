/** The tool `run_bash`, and `job_output` for its commands in the background. @module */

import { shellWord } from "../text/shell_word.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, objectSchema, textSchema } from "./definition.ts";
import { SlipError } from "./repair/slip_error.ts";
import type { ToolArgs } from "./schema.ts";
import { valueText } from "./schema_check.ts";
import { type GivenName, isWhole, type RestArgs, type Slips } from "./slips.ts";
import { readCommand } from "./repair/command.ts";
import { runBash } from "./shell/run_command.ts";
import { jobOutput, runInBackground } from "./shell/background.ts";

export const BACKGROUND_ARGUMENT = "run_in_background";

const bash: Tool & { slips: Slips } = {
  name: "run_bash",
  description:
    "Run a shell command in the working directory, without input. Processes it leaves in the background are ended.",
  parameters: objectSchema({
    command: textSchema("The command"),
    timeout_seconds: { type: "number", minimum: 0.1, maximum: 86400, default: 120 },
    leave: {
      type: "string",
      enum: ["network", "sandbox"],
      description: "If the sandbox made it fail: what to leave, with a reason",
    },
    reason: textSchema("For the user"),
  }, ["command"]),
  access: "execute",
  subject: ({ command, leave, reason, [BACKGROUND_ARGUMENT]: isJob }) => ({
    action: isJob === true ? "start" : "run",
    ...typeof command === "string" && { command },
    ...(leave === "network" || leave === "sandbox") && { leave },
    ...typeof reason === "string" && { reason },
  }),
  slips: {
    synonyms: {
      command: bareNames(
        "cmd script bash bashcommand commandline code commands shellcommand cmdline run input",
      ),
      timeout_seconds: bareNames(
        "timeoutsec timeoutsecs timeouts seconds timeoutinseconds maxseconds",
      ),
      run_in_background: bareNames("background isbackground runasbackground detach detached async"),
      reason: bareNames("justification"),
    },
    readings: [takeTimeout, takeFolder],
    readTexts: (args, repairs) => {
      if (typeof args.command !== "string") return;
      const read = readCommand(args.command);
      args.command = read.command;
      repairs.push(...read.repairs);
    },
  },
  run: runBash,
};
export const shellTool: Tool = callable(bash);

/** `run_bash` for sessions in which commands can run in the background. */
export const shellOrJobTool: Tool = callable({
  ...bash,
  parameters: objectSchema({
    ...(bash.parameters.properties as ToolArgs),
    [BACKGROUND_ARGUMENT]: {
      type: "boolean",
      default: false,
      description: "Return while it runs, without a time limit: for servers and long builds",
    },
  }, ["command"]),
  run: (args, context) =>
    args[BACKGROUND_ARGUMENT] ? runInBackground(args, context) : bash.run(args, context),
});

export const jobTool: Tool = callable({
  name: "job_output",
  description:
    "Show what a command in the background printed since you last asked. You are told when it ends.",
  parameters: objectSchema({
    job: { type: "integer", minimum: 1, description: "Its number" },
    stop: { type: "boolean", default: false, description: "End it" },
  }, ["job"]),
  // Needs no approval: it only ends commands that were allowed to start.
  access: "read",
  subject: ({ job }) => ({ action: "check", ...typeof job === "number" && { job } }),
  slips: {
    synonyms: {
      job: bareNames("jobid id number jobnumber bashid shellid"),
      stop: bareNames("kill end terminate"),
    },
  },
  run: jobOutput,
});

/** The maximum that is read as seconds if a time has no unit, and the minimum that is read as milliseconds. */
const MAX_SECONDS = 999;
const SURE_MILLISECONDS = 86_400;

function takeTimeout(args: ToolArgs, rest: RestArgs, { name }: GivenName): string | undefined {
  const ms = rest.take(
    ...bareNames("timeoutms timeoutmillis timeoutmilliseconds milliseconds yieldtimems"),
  );
  if (isWhole(ms)) {
    args.timeout_seconds ??= Number(ms) / 1000;
    return "milliseconds as timeout_seconds";
  }
  const time = rest.given.timeout;
  if (!isWhole(time) || args.timeout_seconds !== undefined) return undefined;
  const given = Number(time);
  rest.take("timeout");
  if (given <= 0) return "timeout as none given";
  const isLong = given > MAX_SECONDS;
  if (isLong && given <= SURE_MILLISECONDS && name !== "bash") {
    const right = (seconds: number) =>
      `{"command": ${valueText(args.command ?? "...")}, "timeout_seconds": ${seconds}}`;
    throw new SlipError(
      `Cannot run run_bash as timeout may be in seconds or milliseconds. A correct call: ${
        right(given / 1000)
      } or ${right(given)}`,
    );
  }
  args.timeout_seconds = isLong ? given / 1000 : given;
  return `timeout as ${args.timeout_seconds} seconds`;
}

function takeFolder(args: ToolArgs, rest: RestArgs, { folder }: GivenName): string | undefined {
  const at = rest.take(
    ...bareNames("cwd workdir workingdirectory workingdir directory dir dirpath path"),
  );
  if (typeof at !== "string" || at.trim() === "") return undefined;
  if ([folder, ".", "$PWD"].includes(at.trim().replace(/(.)\/$/, "$1"))) return undefined;
  const command = String(args.command ?? rest.given.cmd ?? "...");
  const inside = `cd ${shellWord(at)} && ${command}`;
  throw new SlipError(
    `Cannot run run_bash as it runs in the working directory: begin the command with cd. A correct call: ${
      JSON.stringify({ command: inside })
    }`,
  );
}
