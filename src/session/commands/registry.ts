/** All slash commands of a session, in one table. @module */

import { THEMES } from "../../config.ts";
import type { ArgumentChoice, CommandInfo, Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";
import { agentsCommand } from "./agents.ts";
import { conversationCommands, planCommand } from "./conversation.ts";
import { copyCommand } from "./copy.ts";
import { folderCommands } from "./folder.ts";
import { initCommand } from "./init.ts";
import { jobsCommand } from "./jobs.ts";
import { mcpCommand, promptCommands, runPrompt } from "./mcp.ts";
import { modelCommand, setupCommand } from "./model.ts";
import { unknownReport } from "./unknown.ts";

/** The commands, in the order of the help. */
export const commands: readonly Command[] = [
  {
    name: "help",
    help: "list the commands",
    run: (session) => ({ type: "commands", commands: commandsOf(session) }),
  },
  modelCommand,
  ...conversationCommands,
  planCommand,
  ...folderCommands,
  initCommand,
  copyCommand,
  jobsCommand,
  mcpCommand,
  agentsCommand,
  {
    name: "tools",
    help: "list the tools",
    run: ({ agent }) => ({ type: "tools", tools: agent.tools }),
  },
  setupCommand,
  {
    name: "doctor",
    help: "check the model server, and say what to change",
    isSlow: true,
    run: () => ({ type: "doctor" }),
  },
  {
    name: "theme",
    argument: "[NAME]",
    help: "colours for a dark or a light background, none, or auto; the choice is kept",
    run: (_, name) => ({ type: "theme", name }),
    values: () => [...THEMES],
  },
  { name: "keys", help: "list the keys and their actions", run: () => ({ type: "keys" }) },
  { name: "exit", help: "leave", run: () => ({ type: "leave" }) },
  { name: "quit", help: "leave", run: () => ({ type: "leave" }) },
];

/** The commands of a session: those of the table, skills and own commands, and prompts of MCP servers. */
export const commandsOf = (session: SessionState): readonly CommandInfo[] => [
  ...commands,
  ...session.plugged?.commands ?? [],
  ...promptCommands(session),
];

const commandNamed = (name: string) => commands.find((command) => command.name === name);

/** Commands, and their names in other programs. */
const NAMES_ELSEWHERE = [
  ["clear", "new reset"],
  ["context", "status"],
  ["init", "memory"],
  ["jobs", "bashes ps"],
  ["resume", "sessions continue chat"],
  ["rewind", "restore checkpoint"],
  ["setup", "config settings login connect provider"],
  ["tokens", "cost usage stats"],
] as const;

/** Runs the command `name`; one that there is not is reported, with the nearest name. */
export async function runCommand(
  session: SessionState,
  name: string,
  argument: string,
  signal: AbortSignal,
): Promise<Report> {
  const command = commandNamed(name);
  if (command === undefined) {
    const prompted = await runPrompt(session, name, argument, signal);
    if (prompted) return prompted;
    if (/^modes?$/.test(name)) return { type: "no_mode_command", name };
    const names = commandsOf(session).map((candidate) => candidate.name);
    const report = unknownReport("command", name, names);
    const meant = NAMES_ELSEWHERE.find(([, theirs]) => theirs.split(" ").includes(name))?.[0];
    return meant === undefined ? report : { ...report, nearest: meant };
  }
  const isChoice = command.takesFlags && argument.startsWith("-");
  if (argument !== "" && command.argument === undefined && !isChoice) {
    return { type: "bad_argument", command: name, takes: [] };
  }
  return await command.run(session, argument, signal);
}

/** The arguments of the command `name` from which a person may pick one; none where it has no list. */
export async function choicesOf(
  session: SessionState,
  name: string,
  signal: AbortSignal,
): Promise<readonly ArgumentChoice[]> {
  return await commandNamed(name)?.choices?.(session, signal) ?? [];
}

/** The arguments that complete `argument` of the command `name`, with what is known of them. */
export async function completeArgument(
  session: SessionState,
  name: string,
  argument: string,
): Promise<(string | ArgumentChoice)[]> {
  const command = commandNamed(name);
  const values = command?.values
    ? await command.values(session, argument)
    : await command?.choices?.(session) ?? [];
  return values.filter((value) =>
    (typeof value === "string" ? value : value.argument).startsWith(argument)
  );
}
