import { assertEquals } from "@std/assert";
import type { HookDefinition, HookEvent } from "../../../src/extensions/hooks/definition.ts";
import {
  type HookEnd,
  type HookVerdict,
  joinedVerdicts,
  verdictOf,
} from "../../../src/extensions/hooks/verdict.ts";

const hookAt = (event: HookEvent, scope: HookDefinition["scope"] = "user"): HookDefinition => (
  { path: "/hooks.json", scope, event, command: "check\nit", timeoutMs: 1 }
);
const end = (code: number, stdout = "", stderr = ""): HookEnd => (
  { code, stdout, stderr }
);
const says = (value: Record<string, unknown>) => end(0, JSON.stringify(value));
const specific = (value: Record<string, unknown>) => says({ hookSpecificOutput: value });
const long = "x".repeat(10_001);
const cut = `${"x".repeat(9999)}…`;

const ROWS: [event: HookEvent, end: HookEnd, verdict: Partial<HookVerdict>][] = [
  ["PreToolUse", { failure: "so" }, { block: "the hook check it cannot run: so" }],
  ["Stop", { failure: "so" }, { messages: ["the hook check it cannot run: so"] }],
  ["PreToolUse", end(2, "", " no\n"), { block: "no" }],
  ["PreToolUse", end(2), { block: "the hook check it gave no reason" }],
  ["PreToolUse", end(2, "", long), { block: cut }],
  ["SessionStart", end(2, "", "a\nb"), { messages: ["the hook check it said: a b"] }],
  ["SessionEnd", end(2), { messages: ["the hook check it said"] }],
  ["PreToolUse", end(1, "", "a"), { messages: ["the hook check it ended with exit code 1: a"] }],
  ["PreToolUse", end(125), { messages: ["the hook check it ended with exit code 125"] }],
  ["PreToolUse", end(126), { block: "the hook check it cannot run: exit code 126" }],
  ["PreToolUse", end(127), { block: "the hook check it cannot run: exit code 127" }],
  ["PreToolUse", end(128, "", "a"), { block: "the hook check it cannot run: exit code 128: a" }],
  ["PreToolUse", end(137), { block: "the hook check it cannot run: exit code 137" }],
  ["UserPromptSubmit", end(0, " a\n"), { context: "a" }],
  ["SessionStart", end(0, long), { context: cut }],
  ["SessionStart", end(0, " "), {}],
  ["PostToolUse", end(0, "a"), {}],
  ["PreToolUse", end(0, "{a"), { block: "the hook check it printed what is not JSON" }],
  ["PreToolUse", says({}), {}],
  ["Stop", says({ decision: "block", reason: "more" }), { block: "more", reason: "more" }],
  ["Stop", says({ decision: "block" }), { block: "the hook check it gave no reason" }],
  ["SessionStart", says({ decision: "block" }), {}],
  ["Stop", says({ decision: "approve" }), {}],
  ["Stop", says({ decision: "ask" }), {}],
  ["Stop", says({ decision: "odd" }), {}],
  ["Stop", says({ systemMessage: "a\nb" }), { messages: ["a b"] }],
  ["Stop", says({ systemMessage: "" }), {}],
  ["Stop", says({ decision: "block", systemMessage: "m" }), { block: "m", shown: "m" }],
  ["Stop", says({ decision: "block", reason: "r", systemMessage: "m" }), {
    ...{ block: "r", reason: "r", shown: "m" },
  }],
  ["Stop", says({ continue: false }), { stop: "the hook check it stopped it" }],
  ["Stop", says({ continue: false, stopReason: "so" }), { stop: "so" }],
  ["Stop", says({ continue: true, stopReason: "so" }), {}],
  ["PreToolUse", says({ continue: false }), {
    ...{ stop: "the hook check it stopped it", block: "the hook check it stopped it" },
  }],
  ["PreToolUse", specific({ permissionDecision: "deny", permissionDecisionReason: "r" }), {
    ...{ block: "r", reason: "r" },
  }],
  ["PreToolUse", specific({ permissionDecision: "allow" }), { decision: "allow" }],
  ["PreToolUse", specific({ permissionDecision: "ask" }), { decision: "ask" }],
  ["PreToolUse", specific({ permissionDecision: "defer" }), {}],
  ["PreToolUse", specific({ permissionDecision: "odd" }), {
    block: 'the hook check it decided "odd", which is not a decision',
  }],
  ["PreToolUse", says({ decision: "approve" }), { decision: "allow" }],
  ["PreToolUse", specific({ updatedInput: { a: 1 } }), { updatedInput: { a: 1 } }],
  ["PostToolUse", specific({ updatedInput: { a: 1 } }), {}],
  ["PreToolUse", specific({ updatedInput: 5 }), {}],
  ["PostToolUse", specific({ additionalContext: long }), { context: cut }],
  ["PostToolUse", says({ hookSpecificOutput: 5 }), {}],
  ["PreToolUse", says({ async: true, decision: "block", reason: "r" }), {
    block: "r",
    reason: "r",
  }],
];

for (const [event, ended, verdict] of ROWS) {
  Deno.test(`hooks: ${event} says ${JSON.stringify(ended).slice(0, 90)}`, () => {
    assertEquals(verdictOf(hookAt(event), ended), { messages: [], ...verdict });
  });
}

Deno.test("hooks: several verdicts are one, the strictest, and a folder's make nothing less strict", () => {
  const one = (verdict: Partial<HookVerdict>, scope: HookDefinition["scope"] = "user") => (
    { hook: hookAt("PreToolUse", scope), verdict: { messages: [], ...verdict } }
  );
  const allow = { decision: "allow" } as const;
  const ask = { decision: "ask" } as const;
  const a = { a: 1 };
  const rows: [each: ReturnType<typeof one>[], joined: Partial<HookVerdict>][] = [
    [[], {}],
    [[one({ messages: ["a"], block: "b" }), one({ messages: ["c"], block: "d", context: "e" })], {
      ...{ messages: ["a", "c"], block: "b\nd", context: "e" },
    }],
    [[one({ reason: "a" }), one({ reason: "a", stop: "s" })], { reason: "a", stop: "s" }],
    [[one(allow)], allow],
    [[one(allow, "folder")], {}],
    [[one(allow), one(ask, "folder")], ask],
    [[one({ ...allow, updatedInput: a })], { ...allow, updatedInput: a }],
    [[one(allow), one({ updatedInput: a }, "folder"), one({ updatedInput: a }, "plugin")], allow],
  ];
  for (const [each, joined] of rows) {
    assertEquals(joinedVerdicts(each), { messages: [], ...joined });
  }
});
