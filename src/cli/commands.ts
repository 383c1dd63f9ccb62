/**
 * The slash commands of the session, in one table.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { nearest } from "../text/nearest.ts";
import { resolvePath } from "../text/paths.ts";
import { oneLine } from "./present.ts";

interface Command {
  name: string;
  /** What its argument is called in the help. */
  value?: string;
  help: string;
  /** The text to show, or null to end the session. */
  run(agent: CopilotAgent, argument: string): string | null;
}

const COMMANDS: readonly Command[] = [
  { name: "help", help: "list the commands", run: () => listCommands() },
  { name: "exit", help: "leave", run: () => null },
  { name: "quit", help: "leave", run: () => null },
  {
    name: "clear",
    help: "forget the conversation",
    run(agent) {
      agent.state.messages.length = 0;
      return "The conversation starts anew.";
    },
  },
  {
    name: "history",
    help: "list what you typed",
    run: ({ state }) =>
      state.history.map((text, i) => `${String(i + 1).padStart(4)}  ${oneLine(text)}`).join("\n"),
  },
  {
    name: "tokens",
    help: "tokens used so far",
    run: ({ state: { inputTokens, outputTokens } }) => `${inputTokens} in, ${outputTokens} out`,
  },
  {
    name: "cd",
    value: "PATH",
    help: "work in another folder",
    run({ state }, path) {
      if (path === "") return state.workingDir;
      const home = Deno.env.get("HOME") ?? "~";
      const folder = resolvePath(state, path.replace(/^~(?=\/|$)/, home));
      try {
        if (!Deno.statSync(folder).isDirectory) return `${oneLine(folder)} is not a folder.`;
      } catch (error) {
        return `Cannot change to ${oneLine(folder)}: ${oneLine((error as Error).message)}`;
      }
      state.workingDir = folder;
      return `Now in ${oneLine(folder)}`;
    },
  },
  {
    name: "tools",
    help: "list the tools",
    run: ({ tools }) =>
      tools.map((tool) => `  ${tool.name.padEnd(16)}${tool.description}`).join("\n"),
  },
];

/** Whether a line is a command: `/` and a word. A path such as `/etc/hosts` is none. */
export function isCommand(line: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(line);
}

/** Runs a line that starts with `/`: the text to show, or null to end the session. */
export function runCommand(agent: CopilotAgent, line: string): string | null {
  const [name = "", ...rest] = line.slice(1).trim().split(/\s+/);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command) return command.run(agent, rest.join(" "));
  const near = nearest(name, COMMANDS.map((candidate) => candidate.name));
  return `There is no command /${oneLine(name)}: ${near ? `did you mean /${near}?` : "see /help"}`;
}

function listCommands(): string {
  return COMMANDS.map(({ name, value = "", help }) => `  ${`/${name} ${value}`.padEnd(16)}${help}`)
    .join("\n");
}
