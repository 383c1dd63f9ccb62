import { assertEquals } from "@std/assert";
import { footerText } from "../../../../src/ui/terminal/session/footer.ts";
import type { Status } from "../../../../src/session/frontend.ts";

const STATUS: Status = {
  model: "m",
  folder: "/home/u/work",
  approvesAll: false,
  tokens: { used: 0, isCounted: true, window: undefined },
  cost: undefined,
  tasks: [],
  runningJobs: 0,
};
const tokens = (used: number, isCounted = true, window?: number) => ({
  tokens: { used, isCounted, window },
});

const ROWS: [change: Partial<Status>, shown: string, columns?: number][] = [
  [{}, "m · ~/work"],
  [{ model: undefined }, "~/work"],
  [{ model: "/models/a\\b/qwen-8B.GGUF" }, "qwen-8B.GGUF · ~/work"],
  [{ model: "org/qwen-8b" }, "org/qwen-8b · ~/work"],
  [{ model: "a\x1b" }, "a␛ · ~/work"],
  [
    { mode: { approve: "plan", isSandboxed: true }, approvesAll: true },
    "m · ~/work · plan · sandboxed",
  ],
  [{ approvesAll: true }, "m · ~/work · --yes"],
  [{ mode: { approve: "ask", isSandboxed: false } }, "m · ~/work · ask · NO SANDBOX"],
  [
    { mode: { approve: "auto", isSandboxed: true, isReadOnly: true } },
    "m · ~/work · auto · read-only",
  ],
  [
    {
      mode: { approve: "edits", isSandboxed: true, hasNetwork: true },
      model: "a-model-of-20-letter",
    },
    "a-model-o… · edits · sandboxed · network",
    40,
  ],
  [{ runningJobs: 1 }, "m · 1 job · ~/work"],
  [
    { tasks: [{ text: "a", isDone: true }, { text: "b", isDone: false }] },
    "m · 1/2 tasks · ~/work",
  ],
  [{ runningJobs: 2, cost: 0 }, "m · 2 jobs · $0.0000 · ~/work"],
  [tokens(1), "m · context 1 · ~/work"],
  [tokens(999, false), "m · context ~999 · ~/work"],
  [tokens(1000, true, 8192), "m · context 1.0k (12% of 8.2k) · ~/work"],
  [tokens(5, true, 0), "m · context 5 · ~/work"],
  [{ folder: "/home/u" }, "m · ~"],
  [{ folder: "/home/ursula" }, "m · /home/ursula"],
  [{ folder: `/${"a".repeat(19)}` }, `m · /${"a".repeat(19)}`, 40],
  [{ folder: `/${"a".repeat(20)}` }, `m · …${"a".repeat(19)}`, 40],
  [{ folder: "/abcdefghijklmn" }, "m", 10],
  [
    {
      ...tokens(1600),
      model: "a-model-of-20-letter",
      folder: "/tmp/project",
      mode: { approve: "edits", isSandboxed: true },
    },
    "a-model-of-20-letter · edits · sandboxed",
    40,
  ],
  [
    {
      ...tokens(1600, false, 8192),
      ...{ cost: 1, runningJobs: 1, tasks: [{ text: "a", isDone: true }] },
      mode: { approve: "auto", isSandboxed: true },
    },
    "m · 1/1 tasks · 1 job · auto · sandboxed",
    45,
  ],
  [
    {
      ...tokens(1600),
      model: "a-model-of-20-letter",
      mode: { approve: "auto", isSandboxed: true },
    },
    "a-model-of… · auto · sandboxed",
    30,
  ],
  [
    { ...tokens(1600), folder: "/abcdefghijklmn", mode: { approve: "ask", isSandboxed: false } },
    "m · context 1.6k · …defghijklmn · ask · NO SANDBOX",
    50,
  ],
  [
    { ...tokens(1600), folder: "/abcdefghijklmn", mode: { approve: "ask", isSandboxed: false } },
    "m · context 1.6k · ask · NO SANDBOX",
    45,
  ],
];
for (const [change, shown, columns = 80] of ROWS) {
  Deno.test(`the status line: ${shown}`, () => {
    assertEquals(footerText({ ...STATUS, ...change }, columns, "/home/u"), shown);
  });
}

Deno.test("the status line without a home folder has the folder whole", () => {
  assertEquals(footerText(STATUS, 80, ""), "m · /home/u/work");
});
