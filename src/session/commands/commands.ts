/**
 * The slash commands of the session, in one table.
 *
 * @module
 */

import type { CopilotAgent } from "../../agent/agent.ts";
import { count } from "../../text/count.ts";
import { nearest } from "../../text/nearest.ts";
import { resolvePath } from "../../text/paths.ts";
import { appearance, painter } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";
import type { Usage } from "../../types/event.ts";
import type { Jobs } from "../../types/tool.ts";
import { parseArgs } from "../../cli/args.ts";
import {
  instructionLines,
  permissionNoticeLines,
  permissionReportLines,
} from "../../frontends/permission_lines.ts";
import { showContext } from "../../frontends/terminal/context_view.ts";
import { jobArguments, runJobs } from "./jobs.ts";
import { modelNames, serverOf } from "../model_server.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";
import type { Permissions } from "../permissions.ts";
import { dollars } from "../prices.ts";
import type { SessionRecord } from "../record.ts";
import { repositoryOf } from "../repository.ts";
import type { UndoLog } from "../undo.ts";

/** What the commands work on. */
export interface Session {
  readonly agent: CopilotAgent;
  /** Whether the person named the model. */
  modelNamed: boolean;
  /** Whether it is known that the server has the model, which it may choose where none is named. */
  isModelKnown?: boolean;
  /** What goes along with the next message, such as the output of a command. */
  pending: string;
  /** What the newest request took of the model's window. */
  context?: Usage;
  /** US dollars so far; undefined while nothing is known to cost anything. */
  cost?: number;
  /** What the run may do. */
  permissions?: Permissions;
  /** The model only looks, and says what it would do. */
  isPlanning?: boolean;
  /** What can be taken back. */
  undo?: UndoLog;
  /** Done once it is known what the server has, which may choose the model. */
  looked?: Promise<void>;
  /** What runs in the background. */
  jobs?: Jobs;
  /** Keeps the conversation. */
  record?: SessionRecord;
  /** Tokens, about, that the model wrote for a command that waits for it. */
  pieces?: number;
  /** Ends a command that waits for the model. */
  signal?: AbortSignal;
}

interface Command {
  name: string;
  /** What its argument is called in the help. */
  value?: string;
  help: string;
  /** The text to show, or null to end the session. */
  run(session: Session, argument: string): string | null | Promise<string>;
  /** What its argument may be. */
  values?(session: Session): Promise<string[]>;
}

/** The commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  { name: "help", help: "list the commands", run: () => listCommands() },
  { name: "exit", help: "leave", run: () => null },
  { name: "quit", help: "leave", run: () => null },
  {
    name: "clear",
    help: "forget the conversation",
    run(session) {
      session.agent.state.messages.length = 0;
      session.agent.state.seenFiles.clear();
      session.undo?.leave();
      session.pending = "";
      delete session.context;
      return "The conversation starts anew.";
    },
  },
  {
    name: "resume",
    value: "[N]",
    help: "list this folder's earlier sessions, or go on with one",
    run: (session, argument) => resume(session, argument),
  },
  {
    name: "undo",
    help: "take back the newest message: the conversation, and the files that tools wrote",
    run: (session) => takeBack(session, "undo"),
  },
  {
    name: "redo",
    help: "bring back what was taken back",
    run: (session) => takeBack(session, "redo"),
  },
  {
    name: "compact",
    value: "[TEXT]",
    help: "sum up the conversation, to make room; TEXT says what to keep above all",
    run: (session, focus) => sumUp(session, focus),
  },
  {
    name: "context",
    help: "what fills the model's context",
    run: ({ agent }) => showContext(agent),
  },
  {
    name: "model",
    value: "[NAME]",
    help: "list the models, go on with another, or with another server (flags as at the start)",
    run: (session, argument) => argument === "" ? listModels(session) : setModel(session, argument),
    values: ({ agent }) => modelNames(agent.config),
  },
  {
    name: "history",
    help: "list what you typed",
    run: ({ agent: { state } }) =>
      state.history.map((text, i) => `${String(i + 1).padStart(4)}  ${oneLine(text)}`).join("\n"),
  },
  {
    name: "tokens",
    help: "tokens used so far, and what they cost where that is known",
    run({ agent: { state }, context, cost }) {
      const now = context === undefined
        ? ""
        : `\nThe last request: ${context.inputTokens} in${
          context.cachedTokens ? ` (${context.cachedTokens} from the cache)` : ""
        }, ${context.outputTokens} out`;
      const total = cost === undefined ? "" : `, ${dollars(cost)}`;
      return `${state.inputTokens} in, ${state.outputTokens} out${total}${now}`;
    },
  },
  {
    name: "cd",
    value: "PATH",
    help: "work in another folder",
    async run(session, path) {
      const { agent: { state }, permissions } = session;
      if (path === "") return oneLine(state.workingDir);
      let folder = resolvePath(state, expandHome(path));
      try {
        folder = Deno.realPathSync(folder);
        if (!Deno.statSync(folder).isDirectory) return `${oneLine(folder)} is not a folder.`;
      } catch (error) {
        const why = error instanceof Deno.errors.NotFound
          ? "there is no such folder"
          : oneLine((error as Error).message);
        return `Cannot change to ${oneLine(folder)}: ${why}`;
      }
      // Where its settings cannot be read, the session stays where it is.
      const notices = permissionNoticeLines(await permissions?.prepare(folder, false) ?? []);
      state.workingDir = folder;
      return [`Now in ${oneLine(folder)}`, ...notices, ...await heed(session)].join("\n");
    },
  },
  {
    name: "plan",
    help: "the model only looks and makes a plan; /plan again accepts it, /plan off drops it",
    value: "[off]",
    run: (session, argument) => plan(session, argument),
    values: () => Promise.resolve(["off"]),
  },
  {
    name: "trust",
    value: "[off]",
    help: "heed the instructions that the folder brings (AGENTS.md), now and later; or do not",
    run: (session, argument) => setTrust(session, argument),
    values: () => Promise.resolve(["off"]),
  },
  {
    name: "jobs",
    value: "[N]",
    help: "list what runs in the background, or show the end of its output; /jobs stop N (or all)",
    run: async ({ jobs }, argument) =>
      jobs ? await runJobs(jobs, argument) : "There are no jobs here.",
    values: ({ jobs }) => Promise.resolve(jobs ? jobArguments(jobs) : []),
  },
  {
    name: "permissions",
    help: "what may run without asking, and what confines it",
    async run({ agent: { state: { workingDir } }, permissions }) {
      if (permissions === undefined) return "";
      const rows = permissionReportLines(await permissions.describe(workingDir));
      return rows.map((row) => `  ${row}`).join("\n");
    },
  },
  {
    name: "tools",
    help: "list the tools",
    run: ({ agent: { tools } }) => table(tools.map(({ name, description }) => [name, description])),
  },
];

/** `path` with the home folder for its `~`, as a shell has it. */
export function expandHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, Deno.env.get("HOME") ?? "~");
}

/** Whether a line is a command: `/` and a word. A path such as `/etc/hosts` is none. */
export function isCommand(line: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(line);
}

/** Says what a command waits for, as long as it does; undefined for one that is done at once. */
export function waitsFor(session: Session, line: string): (() => string) | undefined {
  if (!/^\/(compact|model)\b/.test(line)) return undefined;
  const start = performance.now();
  session.pieces = 0;
  return () => {
    const tokens = session.pieces ? ` · ${count(session.pieces, "token")}` : "";
    const seconds = Math.floor((performance.now() - start) / 1000);
    return `${seconds} s${tokens} · Esc stops · ${oneLine(line)}`;
  };
}

/** Runs a line that starts with `/`: the text to show, or null to end the session. */
export async function runCommand(session: Session, line: string): Promise<string | null> {
  const [, name = "", argument = ""] = /^\/(\S*)\s*([^]*?)\s*$/.exec(line)!;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command && argument !== "" && command.value === undefined) {
    return `/${name} takes no argument`;
  }
  if (command) return await command.run(session, argument);
  const near = nearest(name, COMMANDS.map((candidate) => candidate.name));
  return `There is no command /${oneLine(name)}: ${near ? `did you mean /${near}?` : "see /help"}`;
}

function listCommands(): string {
  const rows = COMMANDS.map(({ name, value = "", help }) => [`/${name} ${value}`, help]);
  const more = [
    ["@PATH", "in a message: sends the file along"],
    ["!COMMAND", "runs a shell command; its output goes along with the next message"],
    [
      "Esc, Ctrl-C",
      "stop the turn, but no jobs; Ctrl-C twice at an empty line leaves, as does Ctrl-D",
    ],
    ["Alt-Enter", "a new line, as does \\ at the end of one"],
    ["Up, Down", "what you typed before; what is queued comes back first"],
    ["Tab, Ctrl-R", "completes; searches in what you typed"],
    ["Ctrl-O", "shows what was folded: reasoning, results of tools"],
    ["Ctrl-Z", "back to the shell; fg goes on"],
  ];
  return table([...rows, ...more]);
}

/** Rows of a name and a text; the text's rows begin below one another. */
function table(rows: readonly string[][]): string {
  const { columns } = terminalSize();
  return rows.map(([left, text]) =>
    wrapped(text!, Math.max(20, columns - 18)).split("\n")
      .map((row, at) => `  ${(at > 0 ? "" : left!).padEnd(15)} ${row}`).join("\n")
  ).join("\n");
}

/** Why nothing is written while a plan is made; for the model. */
export const PLANNING =
  "Refused: this is plan mode, so nothing is written or run. Look around, then present your plan; the user accepts it with /plan.";

const PLAN_MODE =
  "[Plan mode: look around with the tools that read, then say step by step what you would change. Write and run nothing.]\n\n";

function plan(session: Session, argument: string): string {
  if (argument !== "" && argument !== "off") return "/plan takes nothing but off";
  if (!session.isPlanning) {
    if (argument === "off") return "There is no plan mode to leave.";
    session.isPlanning = true;
    session.pending += PLAN_MODE;
    return "Plan mode: the model only looks. /plan accepts what it plans, /plan off leaves.";
  }
  session.isPlanning = false;
  // What was never sent needs no end.
  const isSent = !session.pending.includes(PLAN_MODE);
  session.pending = session.pending.replace(PLAN_MODE, "");
  if (argument === "off") {
    if (isSent) session.pending += "[Plan mode is over; the plan was not accepted.]\n\n";
    return "Plan mode is over.";
  }
  if (isSent) session.pending += "[The plan is accepted: carry it out.]\n\n";
  return 'The plan is accepted. Say "go on", or what to change.';
}

async function resume(session: Session, argument: string): Promise<string> {
  const { goOn, sessionsHere, titleOf } = await import("../record.ts");
  const sessions = sessionsHere(session.agent);
  if (argument === "") {
    const rows = sessions.map((stored, i) => `${String(i + 1).padStart(4)}  ${titleOf(stored)}`);
    return rows.length === 0
      ? "There are no earlier sessions of this folder."
      : [...rows, "/resume N goes on with one."].join("\n");
  }
  const chosen = sessions[Number(argument) - 1];
  if (!chosen) return `There is no session ${oneLine(argument)}: see /resume`;
  // It may choose the model.
  await session.looked;
  session.undo?.leave();
  delete session.context;
  return goOn(session, chosen, painter(appearance().colors));
}

/** Takes in the instructions of the folder, where it is trusted. */
async function heed({ agent, permissions }: Session, trust?: boolean): Promise<string[]> {
  if (permissions === undefined) return [];
  const { heedInstructions } = await import("../instructions.ts");
  if (trust !== undefined) await permissions.trust(repositoryOf(agent.state.workingDir), trust);
  return instructionLines(await heedInstructions(agent, permissions, {}));
}

async function setTrust(session: Session, argument: string): Promise<string> {
  if (argument !== "" && argument !== "off") return "/trust takes nothing but off";
  try {
    const said = await heed(session, argument === "");
    if (argument === "off") return "What this folder brings is not heeded.";
    return said.join("\n") || "This folder brings no instructions; those that come will be heeded.";
  } catch (error) {
    return `That cannot be kept: ${oneLine((error as Error).message)}`;
  }
}

async function takeBack(session: Session, way: "undo" | "redo"): Promise<string> {
  const said = await session.undo?.[way](session.agent);
  delete session.context;
  return said ?? "There is nothing to take back.";
}

async function sumUp(session: Session, focus: string): Promise<string> {
  const { agent, signal } = session;
  let said = "There is nothing to sum up yet.";
  try {
    const { compact } = await import("../../agent/compact.ts");
    await compact(agent, {
      focus,
      signal,
      onPiece: () => session.pieces = (session.pieces ?? 0) + 1,
      onEvent: (event) => event.type === "notice" && (said = event.message),
    });
    delete session.context;
    return said;
  } catch (error) {
    if (signal?.aborted) return "The conversation stays as it was.";
    return `The conversation stays as it was: ${oneLine((error as Error).message)}`;
  }
}

async function listModels({ agent: { config } }: Session): Promise<string> {
  const { model } = (config.local ?? config.hosted ?? config.compat)!;
  try {
    const names = await modelNames(config);
    const { isSameModel } = await import("../../backends/local/connection.ts");
    const rows = names.map((name) => `${isSameModel(name, model) ? "* " : "  "}${oneLine(name)}`);
    const now = `Now: ${oneLine(model)} at ${serverOf(config)}. /model NAME goes on with another.`;
    return [...rows, now].join("\n");
  } catch (error) {
    return `Now: ${oneLine(model)} at ${serverOf(config)}. The server does not list its models: ${
      oneLine((error as Error).message)
    }`;
  }
}

/** Another model of the same server, or, by flags, one of another. */
async function setModel(session: Session, argument: string): Promise<string> {
  const { agent } = session;
  await session.looked;
  try {
    if (argument.startsWith("-")) {
      const { MODEL_FLAGS, optionsFromArgs, toConfig } = await import("../../cli/settings.ts");
      const args = parseArgs(argument.split(/\s+/));
      const other = Object.keys(args).find((name) => !MODEL_FLAGS.includes(name as "model"));
      if (other !== undefined) return `/model does not take --${other}`;
      const options = optionsFromArgs(args);
      const { maxToolRounds, maxOutputChars, promptTier } = agent.config;
      agent.configure({ maxToolRounds, maxOutputChars, promptTier, ...toConfig(options) });
      session.modelNamed = options.model !== undefined;
    } else {
      agent.setModel(argument);
      session.modelNamed = true;
    }
  } catch (error) {
    return oneLine((error as Error).message);
  }
  delete session.context;
  const { model } = await agent.backend();
  const names = await modelNames(agent.config).catch(() => [model]);
  const { isSameModel } = await import("../../backends/local/connection.ts");
  const known = names.some((name) => isSameModel(name, model));
  const doubt = known ? "" : ` The server does not list it: /model shows those it has.`;
  return `Now with ${oneLine(model)} at ${
    serverOf(agent.config)
  }. The conversation goes on.${doubt}`;
}
