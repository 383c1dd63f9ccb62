import { targetOf } from "../../models/target.ts";
import { dollars } from "../../text/count.ts";
import { nearest } from "../../text/nearest.ts";
import { oneLine } from "../../text/one_line.ts";
import { table } from "../../text/table.ts";
import { type ArgumentChoice, COMMAND_GROUPS, type CommandAnswer } from "../data.ts";
import type { Command, Extension, SessionState } from "../extension.ts";
import { cdCommand } from "./cd.ts";
import { compactCommand } from "./compact.ts";
import { contextCommand } from "./context.ts";
import { copyCommand } from "./copy.ts";
import { forkCommand } from "./fork.ts";
import { initCommand } from "./init.ts";
import { jobsCommand } from "./jobs.ts";
import { atServer, modelCommand, setupCommand } from "./model.ts";
import { permissionCommands } from "./permissions.ts";
import { planCommand } from "./plan.ts";
import { resumeCommand } from "./resume.ts";
import { statusCommand } from "./status.ts";
import { unknownText } from "./texts.ts";
import { themeCommand } from "./theme.ts";
import { undoCommands } from "./undo.ts";

const leaveAnswer = (): CommandAnswer => ({ type: "leave", text: "Use the editor for this." });

const FIRST = ["model", "resume", "undo", "plan", "compact", "exit"];

const NO_CHANGE = "No tool or command has changed a file since this session was opened.";
const NOT_FOLLOWED = "Changes by commands are not known, as the folder has too many files.";

const commands: readonly Command[] = [
  {
    name: "help",
    isView: true,
    group: "Session",
    help: "list the commands",
    isOfTerminal: true,
    run(session) {
      const isOffered = ({ isOfTerminal }: Command) =>
        session.surface.kind !== "editor" || !isOfTerminal;
      const all = commandsOf(session).filter(isOffered);
      const rows = (heading: string, some: readonly Command[]) => {
        const named = some.map(({ name, argument = "", help }) => [`/${name} ${argument}`, help]);
        return `${heading}:\n${table(named, session.surface.columns)}`;
      };
      const first = FIRST.flatMap((name) => all.filter((one) => one.name === name));
      const others = COMMAND_GROUPS.map((group) =>
        rows(group, all.filter((one) => one.group === group && !first.includes(one)))
      );
      return { type: "help", text: [rows("Commands", first), ...others].join("\n\n") };
    },
  },
  modelCommand,
  resumeCommand,
  forkCommand,
  {
    name: "clear",
    group: "Session",
    help: "start another conversation; the session stays in /resume",
    run(session) {
      const { state } = session.agent;
      const left = session.record?.startNext();
      state.messages = [];
      state.seenFiles.clear();
      session.undo?.leave();
      session.pendingParts = [];
      session.usage = undefined;
      const back = left === undefined
        ? ""
        : left.isSaved
        ? ` /resume ${left.id} returns to it.`
        : ` Its end could not be saved: /resume ${left.id} returns to what is before.`;
      return `The conversation is cleared.${back}`;
    },
  },
  ...undoCommands,
  compactCommand,
  contextCommand,
  statusCommand,
  {
    name: "history",
    isView: true,
    group: "Session",
    help: "list what you typed",
    run: ({ agent: { state: { history } } }) =>
      history.map((text, i) => `${`${i + 1}`.padStart(4)}  ${oneLine(text)}`).join("\n"),
  },
  {
    name: "tokens",
    isView: true,
    group: "Model",
    help: "show the tokens used, and their cost if known",
    run({ agent: { state: { inputTokens, outputTokens } }, cost, usage: last, roles }) {
      const cached = last?.cachedTokens ? ` (${last.cachedTokens} from the cache)` : "";
      let newest = last === undefined
        ? ""
        : `\nThe last request: ${last.inputTokens} in${cached}, ${last.outputTokens} out`;
      const total = cost === undefined ? "" : `, ${dollars(cost)}`;
      for (const { role, agent: { config, state } } of roles.lent.values()) {
        if (state.inputTokens + state.outputTokens === 0) continue;
        const model = atServer(config, targetOf(config).name);
        newest +=
          `\nOf these, ${role} (${model}): ${state.inputTokens} in, ${state.outputTokens} out`;
      }
      return `Tokens so far: ${inputTokens} in, ${outputTokens} out${total}${newest}`;
    },
  },
  planCommand,
  cdCommand,
  ...permissionCommands,
  initCommand,
  {
    name: "diff",
    isView: true,
    group: "Work",
    help: "show the changes of this session",
    async run({ undo, agent }) {
      const changes = await undo?.changes(agent.state.workingDir) ?? [];
      const others = undo?.isFollowed === false ? [NOT_FOLLOWED] : [];
      if (changes.length === 0) return [NO_CHANGE, ...others].join(" ");
      const text = [...changes.map(({ path }) => oneLine(path)), ...others].join("\n");
      return { type: "changes", changes, others, text };
    },
  },
  copyCommand,
  {
    name: "export",
    group: "Session",
    argument: "[--html|--md] [FILE]",
    help: "write the session to a Markdown or HTML file",
    isOfTerminal: true,
    values: () => ["--html", "--md"],
    run({ record }, argument) {
      const session = record?.stored;
      if (session === undefined) return "There is no recorded message to export here.";
      return { type: "export", session, argument, text: "Run copilot sessions export in a shell." };
    },
  },
  jobsCommand,
  {
    name: "tools",
    isView: true,
    group: "Work",
    help: "list the tools",
    run: ({ agent: { tools }, surface: { columns } }) =>
      table(tools.map(({ name, description }) => [name, description]), columns),
  },
  setupCommand,
  {
    name: "doctor",
    group: "Model",
    help: "check the model server, and suggest changes",
    isSlow: true,
    isOfTerminal: true,
    run: () => ({
      type: "doctor",
      text: "Run copilot doctor in a shell to check the model server.",
    }),
  },
  themeCommand,
  {
    name: "keys",
    isView: true,
    group: "Setup",
    help: "list the keys and their actions",
    isOfTerminal: true,
    run: () => ({ type: "keys", text: "The editor has its own keys." }),
  },
  { name: "exit", group: "Session", help: "quit", isOfTerminal: true, run: leaveAnswer },
];

/** Returns the commands of a session: those of the table, and of its extensions but `except`. */
export function commandsOf(
  { extensions }: Pick<SessionState, "extensions">,
  except?: Extension,
): readonly Command[] {
  const others = extensions.filter((one) => one !== except);
  const all = [...commands, ...others.flatMap((other) => other.commands?.() ?? [])];
  return COMMAND_GROUPS.flatMap((group) => all.filter((one) => one.group === group));
}

export const commandNamed = (session: SessionState, name: string): Command | undefined =>
  commands.find((one) => one.name === name) ?? commandsOf(session).find((one) => one.name === name);

const NAMES_ELSEWHERE = [
  ["approve", "mode modes"],
  ["clear", "new reset"],
  ["fork", "branch"],
  ["init", "memory"],
  ["jobs", "bashes ps"],
  ["resume", "sessions continue chat"],
  ["rewind", "restore checkpoint"],
  ["setup", "config settings login connect provider"],
  ["tokens", "cost usage stats"],
] as const;

/** Runs the command `name`. The answer to an unknown one suggests the closest name. */
export async function runCommand(
  session: SessionState,
  name: string,
  argument: string,
  signal: AbortSignal,
): Promise<CommandAnswer> {
  const command = commandNamed(session, name);
  if (command === undefined) return unknownCommand(session, name);
  const isBuiltIn = commands.includes(command);
  if (isBuiltIn && argument !== "" && command.argument === undefined) {
    return `/${name} takes no argument`;
  }
  return await command.run(session, argument, signal);
}

function unknownCommand(session: SessionState, name: string): string {
  const meant = NAMES_ELSEWHERE.find(([, theirs]) => theirs.split(" ").includes(name))?.[0] ??
    nearest(name, commandsOf(session).map((candidate) => candidate.name));
  return unknownText(`command /${name}`, "/help", meant && `/${meant}`);
}

export async function completeArgument(
  session: SessionState,
  name: string,
  argument: string,
): Promise<(string | ArgumentChoice)[]> {
  const command = commandNamed(session, name);
  const values = command?.values
    ? await command.values(session, argument)
    : await command?.choices?.(session) ?? [];
  return values.filter((value) =>
    (typeof value === "string" ? value : value.argument).startsWith(argument)
  );
}
