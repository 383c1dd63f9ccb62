/** The text of reports and of shell commands. @module */

import type { ToldFailure } from "../session/hints.ts";
import type { McpApproval, Report } from "../session/report.ts";
import type { UndoneFile, UndoReport } from "../session/undo.ts";
import { type Copied, MAX_COPY_BYTES } from "../terminal/clipboard.ts";
import { ACTIONS, DEFAULT_KEYMAP, type Keymap, VIM_KEYS } from "../terminal/line/actions.ts";
import { rowsText, styledRow } from "../terminal/styled.ts";
import { clockTime, count, dollars, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { sanitizeProse } from "../text/sanitize.ts";
import type { CommandOutput, ToolOutcome } from "../types/tool.ts";
import { HELP_ACTIONS, HELP_MORE, keyRows, namesText, table } from "./help_tables.ts";
import { failureWords, type Way } from "./hint_text.ts";
import { noticeLines } from "./notices.ts";
import { screenKey } from "./shown_keys.ts";
import {
  instructionLines,
  mcpRow,
  permissionReportLines,
  resumedLines,
  sessionLine,
} from "./session_lines.ts";

/** The terminal that the text is for. */
interface TextOptions {
  columns: number;
  unicode: boolean;
  /** How settings are changed there (default: as in a session of a terminal). */
  way?: Way;
  /** The keys in force (default: those of the table). */
  keymap?: Keymap;
  /** Styles what is less important. */
  dim?: (text: string) => string;
}

/** The text of `report`; null where the session is to end. */
export function reportText(report: Report, options: TextOptions): string | null {
  const text = TEXTS[report.type] as (report: Report, options: TextOptions) => string | null;
  return text(report, options);
}

/** The line about a text for the clipboard; `what`: what was copied. */
export function copiedText(copied: Copied, what = ""): string {
  switch (copied) {
    case "sent":
      return `Copied: ${what}. A terminal that forbids OSC 52 ignores it.`;
    case "sent_to_tmux":
      return `Copied: ${what}. tmux passes it on after: tmux set -g set-clipboard on`;
    case "too_large":
      return `Not copied: terminals take at most ${thousands(MAX_COPY_BYTES)} bytes.`;
    case "unsupported":
      return "Not copied: this terminal has no clipboard for programs.";
  }
}

type ReportTexts = {
  [T in Report["type"]]: (
    report: Extract<Report, { type: T }>,
    options: TextOptions,
  ) => string | null;
};

const TEXTS: ReportTexts = {
  leave: () => null,
  setup: () =>
    "/setup needs a terminal that can be repainted: /model --local --host URL or /model --base-url URL names a server.",
  doctor: () => "copilot doctor checks the model server: run it in a shell.",
  theme: () => "There are no colours to choose here.",
  turn: () => "This command needs a session.",
  copy: () => copiedText("unsupported"),
  unknown({ what, name, nearest, server }) {
    const { noun, list, slash = "" } = NAMED_THINGS[what];
    const at = server === undefined ? "" : ` at ${server}`;
    const how = nearest === undefined ? `see ${list}` : `did you mean ${slash}${oneLine(nearest)}?`;
    return `There is no ${noun} ${slash}${oneLine(name)}${at}: ${how}`;
  },
  no_mode_command({ name }, { keymap = DEFAULT_KEYMAP }) {
    const key = screenKey(keymap, "next-mode");
    const next = key === undefined ? "" : `${key} changes the mode; `;
    return `There is no command /${oneLine(name)}: ${next}/approve names one, /plan begins to plan`;
  },
  bad_argument: ({ command, takes }) =>
    takes.length === 0
      ? `/${command} takes no argument`
      : `/${command} takes nothing, or one of: ${takes.join(", ")}`,
  nothing_allowed: () => "Nothing was allowed here, so there is nothing to remove.",
  missing_argument: ({ command, argument }) => `/${command} needs ${oneLine(argument)}`,
  failed: (report, { way = "terminal" }) => failureWords(report, way),
  cleared: () => "The conversation starts anew.",
  compacted: ({ message = "There is nothing to sum up yet." }) => message,
  not_compacted: ({ why, hint }, { way = "terminal" }) =>
    `The conversation stays as it was${
      why === undefined ? "." : `: ${failureWords({ why, ...hint && { hint } }, way)}`
    }`,
  plan: ({ state }) => PLAN_TEXTS[state],
  nothing_to_copy({ blocks }) {
    if (blocks === undefined) return "There is no answer to copy yet.";
    if (blocks === 0) return "The last answer has no block of code: /copy copies all of it";
    return `The last answer has ${count(blocks, "block")} of code: /copy 1 copies the first`;
  },
  undo_bound: ({ most }) => `/undo takes a number of messages, at most ${most} now`,
  bad_folder({ folder, why }) {
    if (why === "no_folder") return `${oneLine(folder)} is not a folder.`;
    const reason = why === "absent" ? "there is no such folder" : oneLine(why.error);
    return `Cannot change to ${oneLine(folder)}: ${reason}`;
  },
  resumed: ({ resumed }, { dim }) => resumedLines(resumed, "terminal", dim).join("\n"),
  undone: ({ way, undone, isContinued }) =>
    undone ? undoLines(undone).join("\n") : nothingToUndo(way, isContinued),
  keys(_, { columns, keymap = DEFAULT_KEYMAP }) {
    const names = ACTIONS.map(({ name }) => name);
    const rows = table(keyRows(keymap, names), columns);
    if (!keymap.isVim) return rows;
    const vim = table(VIM_KEYS.map(({ keys, help }) => [keys, help]), columns);
    return `${rows}\n\nIn vim's command mode:\n${vim}`;
  },
  commands({ commands }, { columns, keymap = DEFAULT_KEYMAP }) {
    const rows = commands.map(({ name, argument = "", help }) => [`/${name} ${argument}`, help]);
    const keys = keyRows(keymap, HELP_ACTIONS);
    const typed = HELP_MORE.map(({ name, help, more }) => [name, more ? `${help}; ${more}` : help]);
    return [
      `Commands:\n${table(rows, columns)}`,
      `In a message:\n${table(typed, columns)}`,
      `Keys (/keys lists all):\n${table(keys, columns)}`,
    ].join("\n\n");
  },
  tools: ({ tools }, { columns }) => namesText(tools, columns),
  agents: ({ agents }, { columns }) => namesText(agents, columns) || NO_AGENTS,
  no_room_for_agents: () =>
    "The first request has no room left for the tool explore: fewer skills, sub-agents or MCP servers make some.",
  history: ({ entries }) =>
    entries.map((text, i) => `${String(i + 1).padStart(4)}  ${oneLine(text)}`).join("\n"),
  tokens({ inputTokens, outputTokens, cost, last }) {
    const cached = last?.cachedTokens ? ` (${last.cachedTokens} from the cache)` : "";
    const newest = last === undefined
      ? ""
      : `\nThe last request: ${last.inputTokens} in${cached}, ${last.outputTokens} out`;
    const total = cost === undefined ? "" : `, ${dollars(cost)}`;
    return `Tokens so far: ${inputTokens} in, ${outputTokens} out${total}${newest}`;
  },
  /** A bar for each part of the context, in estimated tokens. */
  context({ parts, window, counted }, { columns, unicode }) {
    const used = parts.reduce((sum, { tokens }) => sum + tokens, 0);
    const all = Math.max(used, window ?? 0);
    const block = unicode ? "█" : "#";
    const width = Math.min(MAX_BAR, Math.max(0, columns - 33));
    const free = window === undefined ? [] : [{ name: "free", tokens: all - used } as const];
    const rows = [...parts, ...free].map(({ name, tokens }) => {
      const share = tokens / all;
      const bar = block.repeat(Math.ceil(share * width));
      const percent = `${Math.round(share * 100)}%`;
      return `  ${PARTS[name].padEnd(14)}${`${tokens}`.padStart(8)}${percent.padStart(6)}  ${bar}`;
    });
    const room = window === undefined
      ? "tokens; how many the model has room for is not known"
      : `of ${window} tokens`;
    const { inputTokens = 0, cachedTokens = 0 } = counted ?? {};
    const percent = Math.round(100 * cachedTokens / inputTokens);
    const cache = `Of this session's prompt tokens, ${percent} % came from the server's cache.`;
    return [...rows, `About ${used} ${room}.`, ...inputTokens > 0 ? [cache] : []].join("\n");
  },
  models({ models, model, server, failure }, { way = "terminal" }) {
    const now = `Now: ${oneLine(model)} at ${server}.`;
    if (failure !== undefined) return `${now} ${unlistedText(failure, way)}`;
    const rows = models.map(({ name, isCurrent }) => `${isCurrent ? "* " : "  "}${oneLine(name)}`);
    return [...rows, `${now} /model NAME picks another.`].join("\n");
  },
  model({ model, server, isListed, nearest, failure }, { way = "terminal" }) {
    const now = `Now with ${oneLine(model)} at ${server}. The conversation goes on.`;
    if (failure !== undefined) return `${now} ${unlistedText(failure, way)}`;
    if (isListed) return now;
    const instead = nearest === undefined
      ? "/model shows others"
      : `did you mean ${oneLine(nearest)}?`;
    return `${now} The server does not list it, the next message shows whether it has it: ${instead}`;
  },
  model_stays({ model, server, failure }, { way = "terminal" }) {
    const words = failureWords(failure, way);
    return `Still with ${
      oneLine(model)
    } at ${server}: ${words}. --model NAME switches all the same.`;
  },
  folder({ folder, change }) {
    if (change === undefined) return oneLine(folder);
    const notices = change.notices.flatMap((one) => noticeLines(one, "terminal")).map((line) =>
      `· ${line}`
    );
    const lines = [`Now in ${oneLine(folder)}`, ...notices];
    return [...lines, ...instructionLines(change.instructions, "terminal")].join("\n");
  },
  trust({ instructions }) {
    const { files, isHeeded } = instructions;
    const lines = instructionLines(instructions, "terminal");
    if (isHeeded === false) lines.push("This folder's instructions are not used.");
    else if (files.length === 0) {
      lines.push("This folder has no instructions. You will be asked about new ones.");
    }
    return lines.join("\n");
  },
  sessions({ sessions }) {
    if (sessions.length === 0) return "There are no earlier sessions in this folder.";
    const rows = sessions.map((one, i) => `${String(i + 1).padStart(4)}  ${sessionLine(one)}`);
    return [...rows, "/resume N continues one."].join("\n");
  },
  permissions: ({ permissions }) =>
    permissionReportLines(permissions).map((row) => `  ${row}`).join("\n"),
  mcp({ servers, has }) {
    const rows = servers.map((one) => `  ${mcpRow(one, "/mcp")}`);
    if (!has) return rows.join("\n") || NO_SERVERS;
    const row = (name: string, words = "") =>
      `    ${oneLine(name)}${words && `: ${shortened(oneLine(words), 100)}`}`;
    const [{ name: server }] = servers as [typeof servers[number]];
    return [
      ...rows,
      ...has.tools.map(({ name, description }) => row(name, description)),
      ...has.prompts.map(({ name, description }) => row(`/${server}:${name}`, description)),
      ...has.resources.map(({ uri, name }) => row(`@${server}:${uri}`, name)),
    ].join("\n");
  },
  mcp_approval: ({ server, result }) => APPROVAL_TEXTS[result](server),
  empty_prompt: ({ name }) => `The prompt ${name} is empty.`,
  jobs({ jobs, output }, { columns }) {
    const states = jobs.map(({ outcome, elapsedMs }) => ({
      state: outcome ?? "running",
      time: clockTime(elapsedMs),
    }));
    const widths = {
      state: Math.max(0, ...states.map(({ state }) => state.length)),
      time: Math.max(0, ...states.map(({ time }) => time.length)),
    };
    const rows = jobs.map(({ number, command }, at) => {
      const state = states[at]!.state.padEnd(widths.state);
      const time = states[at]!.time.padStart(widths.time);
      return inRow(`${`${number}`.padStart(3)}  ${state}  ${time}  ${oneLine(command)}`, columns);
    });
    if (output === undefined) return rows.join("\n") || "Nothing runs in the background.";
    return (output === "" ? [...rows, "  no output"] : [sanitizeProse(output), ...rows]).join("\n");
  },
};

const unlistedText = (failure: ToldFailure, way: Way): string =>
  `The server does not list its models: ${failureWords(failure, way)}`;

/** The nouns of what has a name, and the commands that list them. */
const NAMED_THINGS: Readonly<
  Record<
    Extract<Report, { type: "unknown" }>["what"],
    { noun: string; list: string; slash?: string }
  >
> = {
  agent: { noun: "sub-agent", list: "/agents" },
  command: { noun: "command", list: "/help", slash: "/" },
  job: { noun: "job", list: "/jobs" },
  mcp_server: { noun: "MCP server", list: "/mcp" },
  model: { noun: "model", list: "/model" },
  session: { noun: "session", list: "/resume" },
};
const NO_AGENTS =
  "No file defines a sub-agent: one in .agents/agents or ~/.config/copilot/agents does.";
const NO_SERVERS = "No MCP server is defined. copilot mcp add adds one, for new sessions.";
const PLAN_TEXTS: Readonly<Record<Extract<Report, { type: "plan" }>["state"], string>> = {
  begun: "Plan mode: the model only looks. /plan accepts what it plans, /plan off leaves.",
  not_on: "Plan mode is not on: /plan begins it.",
  no_plan: "There is no plan yet. Say what to plan, or leave with /plan off.",
  stays: "Plan mode stays: settings for this folder ask for it.",
  accepted: 'The plan is accepted. Say "go on", or what to change.',
  dropped: "Plan mode is over.",
  over: "Plan mode is over: there was no plan to accept.",
  refuses_init: "In plan mode nothing is written: leave it with /plan off, then /init.",
};
const APPROVAL_TEXTS: Readonly<Record<McpApproval, (server: string) => string>> = {
  none: (server) => `${server} has nothing that waits for your approval.`,
  elsewhere: (server) => `copilot mcp approve ${server} shows it, and asks you.`,
  declined: (server) => `Not approved: ${server}.`,
  tools_declined: (server) => `Not approved: ${server} keeps the tools that were.`,
  tools: (server) => `Approved the tools of ${server} that you saw.`,
  now: (server) => `Approved ${server}. find_tool finds its tools now.`,
  next_session: (server) => `Approved ${server}. Its tools are there in the next session.`,
};

/** The parts of the context, in people's words. */
const PARTS = {
  system: "instructions",
  tools: "tools",
  user: "you",
  assistant: "the model",
  tool: "results",
  free: "free",
};
const MAX_BAR = 30;

/** `text` cut to a row of `columns`. */
export function inRow(text: string, columns: number): string {
  return rowsText([styledRow(text, columns)]).trimEnd();
}

/** The line while a command waits for the model, such as `12 s · 40 tokens · Esc stops · /compact`. */
export function waitingText(name: string, startedAt: number, tokens: number): string {
  const written = tokens > 0 ? ` · ${count(tokens, "token")}` : "";
  const seconds = Math.floor((performance.now() - startedAt) / 1000);
  return `${seconds} s${written} · Esc stops · ${oneLine(name)}`;
}

/** The most characters of a message that are shown. */
const SHOWN_MESSAGE_CHARS = 60;

export function undoLines(
  { way, text, messages, files, hasConversation, commands }: UndoReport,
): string[] {
  const title = `"${shortened(oneLine(text), SHOWN_MESSAGE_CHARS)}"`;
  const taken = messages === 1
    ? `Undone: ${title}. /redo brings it back.`
    : `Undone: ${title} and what came after it, ${messages} messages. /redo brings back one.`;
  return [
    way === "undo" ? taken : `Redone: ${title}.`,
    ...files.map((file) => `  ${fileLine(file, way)}`),
    ...hasConversation ? [] : ["The conversation has changed since then, and stays as it is."],
    ...commands > 0 ? [`Not undone: what ${count(commands, "command")} did.`] : [],
  ];
}

export function nothingToUndo(way: UndoReport["way"], isContinued = false): string {
  return isContinued
    ? "There is nothing to undo: what was said and written before the session was continued stays."
    : `There is nothing to ${way}.`;
}

function fileLine({ path, result, reason = "" }: UndoneFile, way: UndoReport["way"]): string {
  const after = {
    failed: ` stays as it is: ${oneLine(reason)}`,
    removed: ": removed",
    recreated: ": restored",
    restored: way === "undo" ? ": restored" : ": changed again",
  };
  return `${oneLine(path)}${after[result]}`;
}

/** The result of a command that ended; where it succeeded, its output alone. */
export function shellText({ content, exitCode, output, endedProcesses }: ToolOutcome): string {
  return output && exitCode === 0 && !endedProcesses ? outputText(output) : content;
}

/** The output of a command, stderr last. */
export function outputText({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : [stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}
