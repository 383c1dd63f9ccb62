import { assertEquals } from "@std/assert";
import { diffLines } from "../../src/text/diff.ts";
import { farewellLines, trustRows } from "../../src/ui/session_lines.ts";
import {
  instructionLines,
  instructionQuestion,
} from "../../src/extensions/instructions/instruction_lines.ts";

const plain = (text: string) => text;

Deno.test("what becomes of a folder's instructions is said, but not that they were refused by the person", () => {
  const files = [
    { name: "AGENTS.md", lines: 1, isLoaded: true },
    { name: "a/CLAUDE.md", lines: 2, isLoaded: true },
  ];
  const unheeded = files.map((file) => ({ ...file, isLoaded: false }));
  const names = "AGENTS.md (1 line), a/CLAUDE.md (2 lines)";
  const none = { files: [], refused: [], isLoaded: true };
  assertEquals(instructionLines(none, "flags"), []);
  assertEquals(instructionLines({ ...none, files }, "flags"), [`· using ${names}`]);
  assertEquals(instructionLines({ ...none, files: unheeded, isLoaded: false }, "flags"), []);
  assertEquals(
    instructionLines({
      files: unheeded,
      refused: [{ name: "\x1bx", reason: "outside" }, { name: "y", reason: "secret" }],
      isLoaded: undefined,
      unsaved: "no room\n",
    }, "flags"),
    [
      "· ␛x is not used: it links out of the folder",
      "· y is not used: it links to a secret file",
      "· your answer cannot be saved: no room",
      `· not used: ${names} (--trust uses it)`,
    ],
  );
  const { text, title } = instructionQuestion({ files });
  assertEquals({ text, title }, {
    text: `This folder has instructions for the model: ${names}.`,
    title: "Use these instructions?",
  });
});

Deno.test("R-18 what changed since it was trusted is said, asked about, and shown", () => {
  const lines = diffLines("one\ntwo\n", "one\n2\x1b\n");
  const files = [
    { name: "AGENTS.md", lines: 1, isLoaded: true },
    { name: "a/AGENTS.md", lines: 2, isLoaded: false, change: { type: "changed", lines } },
    { name: "b\n/AGENTS.md", lines: 1, isLoaded: false, change: { type: "added" } },
    { name: "c", lines: 1, isLoaded: false, change: { type: "changed", lines: [] } },
  ] as const;
  const named = "a/AGENTS.md (2 lines, changed since you trusted it), " +
    "b /AGENTS.md (1 line, new), c (1 line, changed since you trusted it)";
  const none = { refused: [], isLoaded: undefined };
  assertEquals(instructionLines({ ...none, files, doubt: "content" }, "editor"), [
    "· using AGENTS.md (1 line)",
    `· not used: ${named} (/trust uses it)`,
  ]);
  assertEquals(instructionLines({ ...none, files: files.slice(1), doubt: "folder" }, "terminal"), [
    `· not used, because this is not the folder that you trusted: ${named} (/trust uses it)`,
  ]);
  const texts = (["content", "folder"] as const).map((doubt) =>
    instructionQuestion({ doubt, files }).text
  );
  assertEquals(texts, [
    `This folder's instructions for the model have changed since you trusted them: AGENTS.md (1 line), ${named}.`,
    "This is not the folder that you trusted at this path. It has instructions for the model: " +
    `AGENTS.md (1 line), ${named}.`,
  ]);
  const rows = trustRows({ files }, 80, plain);
  assertEquals(rows, ["  a/AGENTS.md", "    1   one", "      - two", "    2 + 2␛"]);
});

Deno.test("the question about trust shows how the files begin, in rows that drive no terminal", () => {
  const files = [
    { name: "AGENTS.md", lines: 4, text: `# A\x1b[2J\n${"x".repeat(50)}` },
    { name: "b", lines: 1, text: "one\n" },
    { name: "c", lines: 1 },
  ];
  assertEquals(trustRows({ files }, 40, plain), [
    "  AGENTS.md:",
    "  │ # A␛[2J",
    `  │ ${"x".repeat(35)}…`,
    "  … 2 more lines",
    "  b:",
    "  │ one",
  ]);
});

Deno.test("what is not shown of a file is counted, a single line as well", () => {
  const rows = (lines: number) =>
    trustRows({ files: [{ name: "a", lines, text: "b" }] }, 40, plain);
  assertEquals(rows(2), ["  a:", "  │ b", "  … 1 more line"]);
  const many = Array.from({ length: 4 }, (_, i) => ({ name: `${i}`, lines: 1, text: "x" }));
  assertEquals(trustRows({ files: many }, 80, plain).filter((row) => row.endsWith(":")).length, 3);
});

Deno.test("all that is to be trusted can be read before the answer: what a file says, and its changes", () => {
  const text = Array.from({ length: 20 }, (_, i) => `${i} ${"x".repeat(30)}\x1b`).join("\n");
  const change = { type: "changed", lines: [{ kind: "+", text: "new", line: 1 }] } as const;
  const files = [
    ...["a", "b", "c", "d"].map((name) => ({ name, lines: 20, text })),
    { name: "e", lines: 1, change },
  ];
  const rows = trustRows({ files }, 30, plain, true);
  assertEquals(rows.filter((row) => row.includes("␛")).length, 80);
  assertEquals(rows.every((row) => row.length <= 30), true);
  assertEquals(rows.slice(-2), ["  e", "    1 + new"]);
});

Deno.test("a session that is left says how to resume it, and what could not be saved", () => {
  const path = "/s/2026-11-27T01-28-20-000Z-1568fabb.jsonl";
  const how = "To continue: copilot --resume 1568fabb";
  assertEquals(farewellLines({ path }), [how]);
  assertEquals(farewellLines({ path, isBehind: true }), [
    "The newest messages could not be saved.",
    how,
  ]);
});
