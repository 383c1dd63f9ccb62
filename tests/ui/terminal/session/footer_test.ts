import { assertEquals } from "@std/assert";
import { footerText, type StatusPart } from "../../../../src/ui/terminal/session/footer.ts";
import { ADDED, ASKED, DIM, type Painter, REMOVED } from "../../../../src/ui/terminal/style.ts";
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

const SANDBOXED = { approve: "auto", isSandboxed: true } as const;

/** A gap of several spaces stands for all columns that are free. */
const ROWS: [change: Partial<Status>, shown: string, columns?: number][] = [
  [{}, "m"],
  [{ model: undefined }, ""],
  [{ model: "/models/a\\b/qwen-8B.GGUF" }, "qwen-8B.GGUF"],
  [{ model: "org/qwen-8b" }, "org/qwen-8b"],
  [{ model: "a\x1b" }, "a␛"],
  [{ mode: { approve: "plan", isSandboxed: true }, approvesAll: true }, "m · plan · sandboxed"],
  [{ approvesAll: true }, "m · --yes"],
  [{ mode: { approve: "ask", isSandboxed: false } }, "m · ask · NO SANDBOX"],
  [{ mode: { ...SANDBOXED, isReadOnly: true } }, "m · auto · read-only"],
  [
    { mode: { ...SANDBOXED, hasNetwork: true }, model: "a-model-of-20-letter" },
    "a-model-of… · auto · sandboxed · network",
    40,
  ],
  [{ runningJobs: 1 }, "m    1 job"],
  [{ check: { command: "npm test", round: 0, rounds: 5 } }, "m    until npm test"],
  [
    { check: { command: "npm run a-long-name-of-a-check", round: 2, rounds: 5 } },
    "m    until npm run a-long-name-of-… · round 2/5",
  ],
  [{ check: { command: "npm test", round: 2, rounds: 5 } }, "m    until 2/5", 20],
  [
    { ...tokens(500, true, 8192), check: { command: "npm test", round: 2, rounds: 5 } },
    "m    until 2/5 · ctx 6 %",
    24,
  ],
  [
    { tasks: [{ text: "a", isDone: true }, { text: "b", isDone: false }] },
    "m    1 of 2 done",
  ],
  [{ runningJobs: 2, cost: 0 }, "m    2 jobs · $0.0000"],
  [tokens(1), "m    ctx 1"],
  [tokens(999, false), "m    ctx ~999"],
  [tokens(5, true, 0), "m    ctx 5"],
  [tokens(1000, true, 8192), "m    ctx ▮▯▯▯▯ 12 %"],
  [tokens(5000, false, 8192), "m    ctx ▮▮▮▮▯ ~61 %"],
  [tokens(9000, true, 8192), "m    ctx ▮▮▮▮▮ 110 %"],
  [
    { ...tokens(3100, true, 8192), speed: 44.6, branch: "main", mode: SANDBOXED },
    "m · auto · sandboxed    ctx ▮▮▯▯▯ 38 % · 45 tok/s · main",
  ],
  // The least useful parts are dropped first; the mode never.
  [
    { ...tokens(3100, true, 8192), speed: 44.6, branch: "main", mode: SANDBOXED },
    "m · auto · sandboxed    ctx ▮▮▯▯▯ 38 % · main",
    50,
  ],
  [
    { ...tokens(3100, true, 8192), speed: 44.6, branch: "main", mode: SANDBOXED },
    "m · auto · sandboxed    ctx ▮▮▯▯▯ 38 %",
    40,
  ],
  [
    { ...tokens(3100, true, 8192), branch: "main", mode: SANDBOXED },
    "m · auto · sandboxed    38 %",
    30,
  ],
  [
    { ...tokens(1600), model: "a-model-of-20-letter", mode: SANDBOXED },
    "a-model-of… · auto · sandboxed",
    30,
  ],
];
for (const [change, shown, columns = 80] of ROWS) {
  Deno.test(`the status line: ${shown}`, () => {
    const row = footerText({ ...STATUS, ...change }, columns);
    assertEquals(row.replace(/ {3,}/, "    "), shown);
    if (shown.includes("  ")) assertEquals(row.length, columns);
  });
}

Deno.test("the status line has the parts that the settings name, and always the mode", () => {
  const status = { ...STATUS, ...tokens(9), branch: "main", mode: SANDBOXED };
  const of = (parts: StatusPart[], folder = STATUS.folder) =>
    footerText({ ...status, folder }, 40, { parts, home: "/home/u" });
  assertEquals(of([]), "auto · sandboxed");
  assertEquals(of(["folder", "branch"]), `auto · sandboxed · ~/work${" ".repeat(11)}main`);
  assertEquals(footerText({ ...status, ...tokens(0) }, 40), "m · auto · sandboxed");
  assertEquals(of(["folder"], "/home/u"), "auto · sandboxed · ~");
  assertEquals(of(["folder"], "/home/ursula"), "auto · sandboxed · /home/ursula");
  assertEquals(of(["folder"], `/${"a".repeat(20)}`), `auto · sandboxed · …${"a".repeat(19)}`);
});

Deno.test("the context is green, yellow and red as it fills", () => {
  const paint: Painter = (text, style) => style === DIM ? text : `<${style}>${text}`;
  const shown = (used: number) =>
    footerText({ ...STATUS, ...tokens(used, true, 1000) }, 30, { paint }).slice(11);
  assertEquals(shown(600).includes(`<${ADDED}>ctx ▮▮▮▯▯ 60 %`), true);
  assertEquals(shown(610).includes(`<${ASKED}>ctx ▮▮▮▮▯ 61 %`), true);
  assertEquals(shown(900).includes(`<${REMOVED}>ctx ▮▮▮▮▮ 90 %`), true);
});
