import { assertEquals } from "@std/assert";
import { diffLines } from "../../src/text/diff.ts";
import {
  farewellLines,
  hookLines,
  instructionLines,
  mcpRow,
  permissionReportLines,
  resumedLines,
  serverLines,
  sessionLine,
  trustChangeRows,
  trustQuestion,
  trustStartRows,
} from "../../src/frontends/session_lines.ts";
import type { Way } from "../../src/frontends/hint_text.ts";
import type { Resumed } from "../../src/session/record.ts";
import type { PermissionReport } from "../../src/session/report.ts";

const REPORT: PermissionReport = {
  approve: "ask",
  yes: false,
  mode: "off",
  network: false,
  env: [],
  networked: [],
  rules: [],
};

const REPORTS: [change: Partial<PermissionReport>, rows: string[]][] = [
  [{}, ["approve  ask", "sandbox  off: a command can do what you can"]],
  [{ hooks: [{ event: "Stop", command: "a\x1b" }, { event: "E", matcher: "M", command: "b" }] }, [
    "approve  ask",
    "sandbox  off: a command can do what you can",
    "hook     Stop: a␛",
    "hook     E M: b",
  ]],
  [{ yes: true, mode: "read-only", by: "bubblewrap" }, [
    "approve  --yes: nothing is asked",
    "sandbox  read-only, by bubblewrap, without network",
  ]],
  [{ mode: "workspace-write", why: "sandbox-exec is missing", network: true }, [
    "approve  ask",
    "sandbox  workspace-write, but sandbox-exec is missing: commands are refused",
  ]],
  [
    {
      mode: "workspace-write",
      by: "bubblewrap",
      network: true,
      env: ["A", "B_*"],
      rules: [
        { effect: "deny", text: "read(\x1bx)", isOfSession: false },
        { effect: "allow", text: "run_bash(ls)", isOfSession: true },
      ],
      file: "/home/u/.config/copilot/permissions.json",
      trust: true,
    },
    [
      "approve  ask",
      "sandbox  workspace-write, by bubblewrap, with network",
      "env      A, B_*",
      "deny     read(␛x) · saved",
      "allow    run_bash(ls) · this session",
      "file     /home/u/.config/copilot/permissions.json",
      "folder   its instructions are used (/trust)",
    ],
  ],
  [{ networked: ["a", "b\n"], env: ["A"] }, [
    "approve  ask",
    "sandbox  off: a command can do what you can",
    "env      A",
    "network  in this session for a, b",
  ]],
  [{ rules: [{ effect: "ask", text: "run_bash(a)", isOfSession: true, isConfined: true }] }, [
    "approve  ask",
    "sandbox  off: a command can do what you can",
    "ask      run_bash(a) · this session, for the sandbox",
  ]],
  [{ trust: false }, [
    "approve  ask",
    "sandbox  off: a command can do what you can",
    "folder   its instructions are not used (/trust)",
  ]],
];
for (const [change, rows] of REPORTS) {
  Deno.test(`the rows of /permissions: ${JSON.stringify(change).slice(0, 60)}`, () => {
    assertEquals(permissionReportLines({ ...REPORT, ...change }), rows);
  });
}

Deno.test("what becomes of a folder's instructions is said, but not that they were refused by the person", () => {
  const files = [
    { name: "AGENTS.md", lines: 1, isHeeded: true },
    { name: "a/CLAUDE.md", lines: 2, isHeeded: true },
  ];
  const unheeded = files.map((file) => ({ ...file, isHeeded: false }));
  const names = "AGENTS.md (1 line), a/CLAUDE.md (2 lines)";
  const none = { files: [], refused: [], isHeeded: true };
  assertEquals(instructionLines(none, "flags"), []);
  assertEquals(instructionLines({ ...none, files }, "flags"), [`· using ${names}`]);
  assertEquals(instructionLines({ ...none, files: unheeded, isHeeded: false }, "flags"), []);
  assertEquals(
    instructionLines({
      files: unheeded,
      refused: [{ name: "\x1bx", reason: "outside" }, { name: "y", reason: "secret" }],
      isHeeded: undefined,
      unsaved: "no room\n",
    }, "flags"),
    [
      "· ␛x is not used: it leads out of the folder",
      "· y is not used: it leads to a secret file",
      "· your answer cannot be saved: no room",
      `· not used: ${names} (--trust uses it)`,
    ],
  );
  assertEquals(trustQuestion({ type: "trust", files }), {
    text: `This folder has instructions for the model: ${names}.`,
    title: "Use these instructions?",
  });
});

Deno.test("R-18 what changed since it was trusted is said, asked about, and shown", () => {
  const lines = diffLines("one\ntwo\n", "one\n2\x1b\n");
  const files = [
    { name: "AGENTS.md", lines: 1, isHeeded: true },
    { name: "a/AGENTS.md", lines: 2, isHeeded: false, change: { type: "changed", lines } },
    { name: "b\n/AGENTS.md", lines: 1, isHeeded: false, change: { type: "added" } },
    { name: "c", lines: 1, isHeeded: false, change: { type: "changed", lines: [] } },
  ] as const;
  const named = "a/AGENTS.md (2 lines, changed since you trusted it), " +
    "b /AGENTS.md (1 line, new), c (1 line, changed since you trusted it)";
  const none = { refused: [], isHeeded: undefined };
  assertEquals(instructionLines({ ...none, files, doubt: "content" }, "editor"), [
    "· using AGENTS.md (1 line)",
    `· not used: ${named} (/trust uses it)`,
  ]);
  assertEquals(instructionLines({ ...none, files: files.slice(1), doubt: "folder" }, "terminal"), [
    `· not used, as this is not the folder that you trusted: ${named} (/trust uses it)`,
  ]);
  const texts = (["content", "folder"] as const).map((doubt) =>
    trustQuestion({ type: "trust", doubt, files }).text
  );
  assertEquals(texts, [
    `This folder's instructions for the model have changed since you trusted them: AGENTS.md (1 line), ${named}.`,
    "This is not the folder that you trusted at this path. It has instructions for the model: " +
    `AGENTS.md (1 line), ${named}.`,
  ]);
  const rows = trustChangeRows({ type: "trust", doubt: "content", files }, 80, (text) => text);
  assertEquals(rows, ["  a/AGENTS.md", "    1   one", "    2 - two", "    2 + 2␛"]);
});

Deno.test("the question about trust shows how the files begin, in rows that drive no terminal", () => {
  const files = [
    { name: "AGENTS.md", lines: 4, start: ["# A\x1b[2J", "x".repeat(50)] },
    { name: "b", lines: 1, start: ["one"] },
    { name: "c", lines: 1 },
  ];
  assertEquals(trustStartRows({ files }, 40), [
    "  AGENTS.md:",
    "  │ # A␛[2J",
    `  │ ${"x".repeat(34)}…`,
    "  … 2 more lines",
    "  b:",
    "  │ one",
  ]);
});

const RESUMED: Resumed = {
  ...{ started: "2026-01-02T03:04:05.678Z", title: "Fix\nit\x1b", messages: 2, lostLines: 0 },
};
const FROM = 'Continuing "Fix it␛": 2 messages, begun 2 hours ago';
const used = { before: { model: "a\x1b", server: "x:1" }, now: { model: "b", server: "y:2" } };

const RESUMPTIONS: [change: Partial<Resumed>, rows: string[], way?: Way][] = [
  [{}, [FROM]],
  [{ messages: 1 }, [FROM.replace("2 messages", "1 message")]],
  [{ lostLines: 1 }, [`${FROM}; 1 line could not be read`]],
  [{ isInUse: true }, [FROM, "Another copilot has it open: what follows is a session of its own."]],
  [{ lastTyped: "a\nb", lastAnswer: "c\x1b" }, [FROM, "  <> a b>", "  <c␛>"]],
  [{ lastTyped: "a".repeat(200), lastAnswer: "b".repeat(300) }, [
    ...[FROM, `  <> ${"a".repeat(200)}>`, `  <${"b".repeat(300)}>`],
  ]],
  [{ lastTyped: "a".repeat(201), lastAnswer: "b".repeat(301) }, [
    ...[FROM, `  <> ${"a".repeat(199)}…>`, `  <${"b".repeat(299)}…>`],
  ]],
  [{ reading: { tokens: 18_000, seconds: 40 } }, [
    FROM,
    "18.0k tokens have to be read again, about 40 s, unless the server still has them in its cache.",
  ]],
  [{ reading: { tokens: 18_000 } }, [
    ...[FROM, "18.0k tokens have to be read again, unless the server still has them in its cache."],
  ]],
  [{ openCalls: 0 }, [FROM, "The last turn was cut off: before the answer."]],
  [{ openCalls: 1 }, [
    ...[FROM, "The last turn was cut off: its open call is marked as interrupted."],
  ]],
  [{ openCalls: 2 }, [
    ...[FROM, "The last turn was cut off: its open calls are marked as interrupted."],
  ]],
  [{ model: { ...used, isTakenUp: true } }, [FROM, "With a␛, as before (/model changes it)."]],
  [{ model: { ...used, isTakenUp: false } }, [
    ...[FROM, "The session was with a␛ at x:1, and goes on with b at y:2 now."],
  ]],
  [{ model: { before: used.before, now: { server: "y:2" }, isTakenUp: false } }, [
    ...[FROM, "The session was with a␛ at x:1, and goes on with y:2 now."],
  ]],
  [{ model: { ...used, before: { ...used.before, server: "y:2" }, isTakenUp: false } }, [
    FROM,
    "The session was with a␛ at y:2, and goes on with b at y:2 now. /model a␛ goes back.",
  ]],
  // A run of one prompt takes flags.
  [{ model: { ...used, isTakenUp: true } }, [
    ...[FROM, "With a␛, as before (--model changes it)."],
  ], "flags"],
  [{ model: { ...used, before: { ...used.before, server: "y:2" }, isTakenUp: false } }, [
    FROM,
    "The session was with a␛ at y:2, and goes on with b at y:2 now. --model a␛ goes back.",
  ], "flags"],
  ...([
    ["compat", "--base-url"],
    ["local", "--local --host"],
    ["hosted", "--hosted --base-url"],
  ] as const).map(([kind, flags]): [Partial<Resumed>, string[]] => {
    const before = { model: "a", server: "x:1", at: { kind, url: "http://x:1/v1" } };
    return [{ model: { ...used, before, isTakenUp: false } }, [
      FROM,
      "The session was with a at x:1, and goes on with b at y:2 now. " +
      `/model ${flags} http://x:1/v1 --model a goes back.`,
    ]];
  }),
];
for (const [change, rows, way = "terminal"] of RESUMPTIONS) {
  Deno.test(`what is said of a session that goes on: ${JSON.stringify(change).slice(0, 60)}`, () => {
    const now = Date.parse(RESUMED.started) + 2 * 3_600_000;
    assertEquals(resumedLines({ ...RESUMED, ...change }, way, (text) => `<${text}>`, now), rows);
  });
}

Deno.test("where there is no session to go on with, that is said", () => {
  assertEquals(resumedLines(undefined, "flags"), ["There is no earlier session in this folder."]);
});

Deno.test("an earlier session is one line, however much was typed first", () => {
  const line = (title: string) => sessionLine({ ...RESUMED, title });
  assertEquals(line("a\nb"), "2026-01-02 03:04  a b");
  assertEquals(line("a".repeat(60)), `2026-01-02 03:04  ${"a".repeat(60)}`);
  assertEquals(line("a".repeat(61)), `2026-01-02 03:04  ${"a".repeat(59)}…`);
});

Deno.test("what is not shown of a file is counted, a single line as well", () => {
  const rows = (lines: number) =>
    trustStartRows({ files: [{ name: "a", lines, start: ["b"] }] }, 40);
  assertEquals(rows(1), ["  a:", "  │ b"]);
  assertEquals(rows(2), ["  a:", "  │ b", "  … 1 more line"]);
  const narrow = { name: "a", lines: 1, start: ["x".repeat(12)] };
  assertEquals(trustStartRows({ files: [narrow] }, 5)[1], `  │ ${"x".repeat(10)}…`);
  const many = Array.from({ length: 4 }, (_, i) => ({ ...narrow, name: `${i}` }));
  assertEquals(trustStartRows({ files: many }, 80).filter((row) => row.endsWith(":")).length, 3);
});

Deno.test("of many skills, commands or sub-agents eight each are named", () => {
  const files = (kind: "skill" | "agent", length: number) =>
    Array.from({ length }, (_, i) => ({ name: `${kind}${i}`, lines: 1, isHeeded: true, kind }));
  const line = (...some: ReturnType<typeof files>[]) =>
    instructionLines({ files: some.flat(), refused: [], isHeeded: true }, "terminal")[0]!;
  const names = (kind: string, length: number) =>
    Array.from({ length }, (_, i) => `${kind}${i} (1 line)`).join(", ");
  assertEquals(line(files("skill", 8)), `· using ${names("skill", 8)}`);
  assertEquals(
    line(files("skill", 9), files("agent", 10)),
    `· using ${names("skill", 8)}, and 1 more skill, ${names("agent", 8)}, and 2 more agents`,
  );
});

Deno.test("an MCP server is shown with all that its approval is about", () => {
  const question = {
    type: "server",
    name: "s\x1b",
    definition: { command: ["a"] },
    variables: [],
  } as const;
  assertEquals(serverLines(question), ["The MCP server s␛:", '  command: ["a"]']);
  assertEquals(
    serverLines({ ...question, file: "/f\x1b", variables: ["A", "B"], network: true }),
    [
      "The MCP server s␛ of /f␛:",
      '  command: ["a"]',
      "  It gets the values of A, B.",
      "  It runs with the network.",
    ],
  );
  assertEquals(serverLines({ ...question, network: false }).at(-1), "  It runs without a network.");
  const tool = (description: string) => ({ name: "t", description, inputSchema: {} });
  const changes = [{ now: tool("b") }, { before: tool("a"), now: tool("b") }];
  const rows = serverLines({ ...question, changes });
  assertEquals(rows.slice(0, 2), ["Tools of the MCP server s␛:", "New: t"]);
  assertEquals(rows.filter((row) => /^ {2}[-+]|^Changed/.test(row)).slice(-3), [
    "Changed: t",
    '  -   "description": "a",',
    '  +   "description": "b",',
  ]);
});

Deno.test("an MCP server is one row: its state, and what waits for the person", () => {
  const server = {
    ...{ name: "s", standing: "ready", isRunning: false, tokens: 30, changed: [] },
  } as unknown as Parameters<typeof mcpRow>[0];
  const rows: [more: object, row: string][] = [
    [{}, "s: its tools are not known yet"],
    [{ tools: 1, isRunning: true }, "s: 1 tool, about 30 tokens if all were shown · running"],
    [{ standing: "pending" }, "s: not approved: /mcp approve s"],
    [{ standing: "declined" }, "s: not approved: /mcp approve s"],
    [{ standing: "disabled" }, "s: turned off"],
    [{ standing: "broken", problem: "it\nis" }, "s: cannot be used · it is"],
    [
      { tools: 2, changed: ["a", "b\n"] },
      "s: 2 tools, about 30 tokens if all were shown · changed, and not offered: a, b (/mcp approve s)",
    ],
  ];
  for (const [more, row] of rows) assertEquals(mcpRow({ ...server, ...more }, "/mcp"), row);
  const changed = Array.from({ length: 11 }, (_, i) => `${i}`);
  assertEquals(
    mcpRow({ ...server, changed }, "copilot mcp").includes("8, 9 (copilot mcp approve s)"),
    true,
  );
});

Deno.test("hooks are shown with their limits, and a session that is left with its file", () => {
  const hook = { event: "PreToolUse", command: "a\x1b", timeoutMs: 1500 };
  const hooks = [hook, { ...hook, matcher: "Bash\x1b" }] as never;
  assertEquals(hookLines({ type: "hooks", file: "/f", hooks } as never), [
    "Hooks in /f: programs that run without asking, in the sandbox:",
    "  PreToolUse: a␛ (at most 1.5 s)",
    "  PreToolUse Bash␛: a␛ (at most 1.5 s)",
  ]);
  const rows: [home: string | undefined, shown: string][] = [
    ["/home/u", "~/r.jsonl"],
    ["/home/us", "/home/u/r.jsonl"],
    ["/home", "~/u/r.jsonl"],
    ["", "/home/u/r.jsonl"],
  ];
  for (const [home, shown] of rows) {
    const path = "/home/u/r.jsonl";
    assertEquals(farewellLines("copilot -c", { path }, home), [
      "To continue: copilot -c",
      `Recorded: ${shown}`,
    ]);
    const [, behind] = farewellLines("copilot -c", { path, isBehind: true }, home);
    assertEquals(
      behind,
      `Recorded without the newest messages, which could not be saved: ${shown}`,
    );
  }
});
