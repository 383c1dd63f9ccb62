import { assertEquals } from "@std/assert";
import {
  inRow,
  outputText,
  reportText,
  shellText,
  waitingText,
} from "../../src/frontends/report_text.ts";
import { keymapOf } from "../../src/terminal/line/actions.ts";
import type { Report } from "../../src/session/report.ts";
import { runBash } from "../../src/tools/shell/run_bash.ts";
import type { Job } from "../../src/types/tool.ts";
import { workspace } from "../tools/workspace.ts";

const SHELL: [command: string, shown: string][] = [
  ["echo a", "a"],
  ["echo a; echo b >&2", "a\nstderr:\nb"],
  ["echo b >&2", "stderr:\nb"],
  ["true", "no output"],
  ["echo 'exit code: 0'", "exit code: 0"],
  ["echo a; exit 2", "exit code: 2\nstdout:\na"],
  [
    "sleep 60 & echo a",
    "exit code: 0\nended processes it left in the background: 1 (sleep)\nstdout:\na",
  ],
];
for (const [command, shown] of SHELL) {
  Deno.test(`a person reads of !${command}`, {
    ignore: Deno.build.os === "windows",
  }, async () => {
    using ws = workspace();
    assertEquals(shellText(await runBash({ command, timeout_seconds: 60 }, ws.context)), shown);
  });
}

Deno.test("of a command that printed nothing to stdout, stderr is shown", () => {
  assertEquals(outputText({}), "no output");
  assertEquals(outputText({ stderr: "" }), "stderr:\n");
  assertEquals(outputText({ stdout: "a" }), "a");
});

const job = (number: number, seconds: number, outcome?: string, command = "npm run\ndev") =>
  ({ number, elapsedMs: seconds * 1000, outcome, command }) as Job;
const asked = { type: "models", model: "m\x1b", server: "host:1" } as const;
const heeded = {
  files: [{ name: "AGENTS.md", lines: 1, isHeeded: true }],
  refused: [],
  isHeeded: true,
};
const undone = {
  messages: 1,
  ...{ way: "undo", text: "do it", files: [], hasConversation: true, commands: 0 } as const,
};
const parts = (tokens: number[]) =>
  (["system", "tools", "user", "assistant", "tool"] as const)
    .map((name, at) => ({ name, tokens: tokens[at]! }));

const REPORTS: [report: Report, rows: string[] | null, columns?: number, unicode?: boolean][] = [
  [{ type: "leave" }, null],
  [{ type: "copy", text: "x" }, ["Not copied: this terminal has no clipboard for programs."]],
  [{ type: "doctor" }, ["copilot doctor checks the model server: run it in a shell."]],
  [{ type: "theme", name: "" }, ["There are no colours to choose here."]],
  [{ type: "failed", why: "So." }, ["So."]],
  [{ type: "failed", why: "So.", hint: { type: "userinfo" } }, [
    "So. Check the user name and password in the address",
  ]],
  [{ type: "unknown", what: "command", name: "a", nearest: "b" }, [
    "There is no command /a: did you mean /b?",
  ]],
  [{ type: "bad_argument", command: "a", takes: [] }, ["/a takes no argument"]],
  [{ type: "bad_argument", command: "a", takes: ["b", "c"] }, [
    "/a takes nothing, or one of: b, c",
  ]],
  [{ type: "nothing_allowed" }, ["Nothing was allowed here, so there is nothing to remove."]],
  [{ type: "nothing_to_copy" }, ["There is no answer to copy yet."]],
  [{ type: "nothing_to_copy", blocks: 0 }, [
    "The last answer has no block of code: /copy copies all of it",
  ]],
  [{ type: "nothing_to_copy", blocks: 1 }, [
    "The last answer has 1 block of code: /copy 1 copies the first",
  ]],
  [{ type: "undo_bound", most: 2 }, [
    "/undo takes a number of messages, at most 2 now",
  ]],
  [{ type: "bad_folder", folder: "a", why: "no_folder" }, ["a is not a folder."]],
  [{ type: "bad_folder", folder: "a", why: "absent" }, [
    "Cannot change to a: there is no such folder",
  ]],
  [{ type: "bad_folder", folder: "a", why: { error: "so" } }, ["Cannot change to a: so"]],
  [{ type: "not_compacted" }, ["The conversation stays as it was."]],
  [{ type: "not_compacted", why: "so" }, ["The conversation stays as it was: so"]],
  [{ type: "not_compacted", why: "So", hint: { type: "userinfo" } }, [
    "The conversation stays as it was: So. Check the user name and password in the address",
  ]],
  [{ type: "compacted" }, ["There is nothing to sum up yet."]],
  [{ type: "agents", agents: [] }, [
    "No file defines a sub-agent: one in .agents/agents or ~/.config/copilot/agents does.",
  ]],
  [{ type: "agents", agents: [{ name: "a", description: "b" }] }, ["  a               b"]],
  [{ type: "mcp", servers: [] }, [
    "No MCP server is defined. copilot mcp add adds one, for new sessions.",
  ]],
  [
    {
      type: "mcp",
      servers: [
        { name: "s", standing: "disabled", isRunning: false, tokens: 0, changed: [] } as never,
      ],
      has: {
        tools: [{ name: "t", description: "d".repeat(101) }, { name: "u" }],
        prompts: [{ name: "p", description: "e" }],
        resources: [{ uri: "a:1", name: "n" }],
      },
    },
    [
      "  s: turned off",
      `    t: ${"d".repeat(99)}…`,
      "    u",
      "    /s:p: e",
      "    @s:a:1: n",
    ],
  ],
  [{ type: "tools", tools: [{ name: "n".repeat(15), description: "d" }] }, [
    `  ${"n".repeat(15)} d`,
  ], 60],
  [{ type: "tools", tools: [{ name: "n".repeat(16), description: "d" }] }, [
    `  ${"n".repeat(16)}`,
    `${" ".repeat(18)}d`,
  ], 60],
  [{ type: "tools", tools: [{ name: "a", description: "d" }] }, ["  a", "      d"], 59],
  [{ type: "tools", tools: [{ name: "a".repeat(38), description: "d" }] }, [
    ...[`  ${"a".repeat(38)}`, "      d"],
  ], 40],
  [{ type: "history", entries: ["a\nb", "c"] }, ["   1  a b", "   2  c"]],
  [{ type: "tools", tools: [{ name: "glob", description: "finds files by their names" }] }, [
    "  glob",
    "      finds files by their names",
  ], 40],
  [{ type: "tools", tools: [{ name: "glob", description: "finds files by their names" }] }, [
    "  glob",
    "      finds files by their",
    "      names",
  ], 10],
  [{ type: "tokens", inputTokens: 7, outputTokens: 2 }, ["Tokens so far: 7 in, 2 out"]],
  [
    {
      ...{ type: "tokens", inputTokens: 70, outputTokens: 20, cost: 1.5 },
      last: { inputTokens: 7, outputTokens: 2, cachedTokens: 3 },
    },
    ["Tokens so far: 70 in, 20 out, $1.50", "The last request: 7 in (3 from the cache), 2 out"],
  ],
  [
    { type: "tokens", inputTokens: 7, outputTokens: 2, last: { inputTokens: 7, outputTokens: 2 } },
    ["Tokens so far: 7 in, 2 out", "The last request: 7 in, 2 out"],
  ],
  [{ type: "context", parts: parts([100, 50, 30, 20, 0]), window: 400 }, [
    `  instructions       100   25%  ${"█".repeat(8)}`,
    `  tools               50   13%  ${"█".repeat(4)}`,
    `  you                 30    8%  ${"█".repeat(3)}`,
    `  the model           20    5%  ${"█".repeat(2)}`,
    "  results              0    0%  ",
    `  free               200   50%  ${"█".repeat(15)}`,
    "About 200 of 400 tokens.",
  ]],
  [{ type: "context", parts: [], counted: { inputTokens: 0, cachedTokens: 0 } }, [
    "About 0 tokens; how many the model has room for is not known.",
  ]],
  [{ type: "context", parts: [], counted: { inputTokens: 200, cachedTokens: 175 } }, [
    "About 0 tokens; how many the model has room for is not known.",
    "Of this session's prompt tokens, 88 % came from the server's cache.",
  ]],
  // More than fits: the parts share what there is.
  [
    { type: "context", parts: parts([300, 100, 0, 0, 0]), window: 100 },
    [
      "  instructions       300   75%  ######",
      "  tools              100   25%  ##",
      "  you                  0    0%  ",
      "  the model            0    0%  ",
      "  results              0    0%  ",
      "  free                 0    0%  ",
      "About 400 of 100 tokens.",
    ],
    40,
    false,
  ],
  [
    { type: "context", parts: parts([3, 1, 0, 0, 0]) },
    [
      "  instructions         3   75%  ",
      "  tools                1   25%  ",
      "  you                  0    0%  ",
      "  the model            0    0%  ",
      "  results              0    0%  ",
      "About 4 tokens; how many the model has room for is not known.",
    ],
    20,
  ],
  [
    {
      ...asked,
      models: [{ name: "a\n", isCurrent: false }, { name: "m", isCurrent: true }],
    },
    ["  a", "* m", "Now: m␛ at host:1. /model NAME picks another."],
  ],
  [{ ...asked, models: [], failure: { why: "no" } }, [
    "Now: m␛ at host:1. The server does not list its models: no",
  ]],
  [{ ...asked, type: "model", isListed: true }, [
    "Now with m␛ at host:1. The conversation goes on.",
  ]],
  [{ ...asked, type: "model", isListed: false }, [
    "Now with m␛ at host:1. The conversation goes on. The server does not list it, the next message shows whether it has it: /model shows others",
  ]],
  [{ ...asked, type: "model", isListed: false, nearest: "b\x1b" }, [
    "Now with m␛ at host:1. The conversation goes on. The server does not list it, the next message shows whether it has it: did you mean b␛?",
  ]],
  [{ ...asked, type: "model", isListed: true, failure: { why: "no" } }, [
    "Now with m␛ at host:1. The conversation goes on. The server does not list its models: no",
  ]],
  [{ type: "unknown", what: "model", name: "a\x1b", nearest: "b\x1b", server: "host:1" }, [
    "There is no model a␛ at host:1: did you mean b␛?",
  ]],
  [{ type: "unknown", what: "model", name: "a", server: "host:1" }, [
    "There is no model a at host:1: see /model",
  ]],
  [{ type: "folder", folder: "/a\x1b" }, ["/a␛"]],
  [
    {
      ...{ type: "folder", folder: "/a" },
      change: { notices: [{ code: "key_withheld", variable: "A" }], instructions: heeded },
    },
    ["Now in /a", "· A is the model's key: commands never get it", "· using AGENTS.md (1 line)"],
  ],
  [{ type: "trust", instructions: heeded }, ["· using AGENTS.md (1 line)"]],
  [{ type: "trust", instructions: { ...heeded, isHeeded: false } }, [
    "This folder's instructions are not used.",
  ]],
  [{ type: "trust", instructions: { ...heeded, files: [] } }, [
    "This folder has no instructions. You will be asked about new ones.",
  ]],
  [{ type: "sessions", sessions: [] }, ["There are no earlier sessions in this folder."]],
  [{ type: "sessions", sessions: [{ started: "2026-01-02T03:04:05.678Z", title: "a\nb" }] }, [
    "   1  2026-01-02 03:04  a b",
    "/resume N continues one.",
  ]],
  [{ type: "undone", way: "undo", undone: undefined }, ["There is nothing to undo."]],
  [{ type: "undone", way: "undo", undone: undefined, isContinued: true }, [
    "There is nothing to undo: what was said and written before the session was continued stays.",
  ]],
  [{ type: "undone", way: "redo", undone: undefined }, ["There is nothing to redo."]],
  [{ type: "undone", way: "undo", undone: { ...undone, text: `${"a".repeat(60)}b` } }, [
    `Undone: "${"a".repeat(59)}…". /redo brings it back.`,
  ]],
  [{ type: "undone", way: "undo", undone: { ...undone, messages: 3 } }, [
    'Undone: "do it" and what came after it, 3 messages. /redo brings back one.',
  ]],
  [{ type: "undone", way: "redo", undone: { ...undone, way: "redo", commands: 2 } }, [
    'Redone: "do it".',
    "Not undone: what 2 commands did.",
  ]],
  [{ type: "jobs", jobs: [] }, ["Nothing runs in the background."]],
  [{ type: "jobs", jobs: [job(1, 61.9), job(12, 3605, "exit code 3")] }, [
    "  1  running       1:01  npm run dev",
    " 12  exit code 3  60:05  npm run dev",
  ]],
  [{ type: "jobs", jobs: [job(1, 9, undefined, "a".repeat(40))] }, [
    `  1  running  0:09  ${"a".repeat(10)}…`,
  ], 31],
  [{ type: "jobs", jobs: [job(1, 0)], output: "a\x1b\nb" }, [
    ...["a␛", "b", "  1  running  0:00  npm run dev"],
  ]],
  [{ type: "jobs", jobs: [job(1, 0)], output: "" }, [
    ...["  1  running  0:00  npm run dev", "  no output"],
  ]],
];
for (const [at, [report, rows, columns = 80, unicode = true]] of REPORTS.entries()) {
  Deno.test(`${at + 1}: what a person reads of a report: ${report.type}`, () => {
    const text = reportText(report, { columns, unicode });
    assertEquals(text === null ? null : text.split("\n"), rows);
  });
}

Deno.test("a row is cut to the terminal, with an ellipsis in its last column", () => {
  assertEquals([inRow("abc", 3), inRow("abcd", 3)], ["abc", "ab…"]);
});

Deno.test("while a command waits, what was written so far is counted", () => {
  const now = performance.now();
  assertEquals(waitingText("/compact", now, 0), "0 s · Esc stops · /compact");
  assertEquals(waitingText("/compact", now, 1), "0 s · 1 token · Esc stops · /compact");
});

Deno.test("the keys of vim's command mode are listed where that is in force", () => {
  const rows = (isVim: boolean) =>
    reportText({ type: "keys" }, { columns: 80, unicode: true, keymap: keymapOf({}, isVim) })!;
  assertEquals([rows(true), rows(false)].map((text) => text.includes("In vim's command mode:")), [
    true,
    false,
  ]);
});

Deno.test("in a narrow terminal the rows of long names are indented, too", () => {
  const rows = reportText({ type: "keys" }, { columns: 30, unicode: true })!.split("\n");
  assertEquals(rows.filter((row) => !/^(?: {2}| {6})\S/.test(row)), []);
});
