import { assertEquals, assertStringIncludes } from "@std/assert";
import { reminder } from "../../src/agent/ask_model.ts";
import { cutNewResults, startOfNewest, stubOldResults } from "../../src/agent/shrink.ts";
import { isSummary, summaryMessages, summaryRequest } from "../../src/agent/summary.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Message } from "../../src/types/message.ts";
import type { Tool } from "../../src/types/tool.ts";

/** `u9` is a message of the person of 9 characters, `a` an answer, `t` a result, `?` asks again. */
function history(text: string): Message[] {
  return text.split(" ").filter(Boolean).map((word): Message => {
    const content = "x".repeat(Number(word.slice(1)));
    if (word === "?") return reminder();
    if (word[0] === "t") return { role: "tool", toolCallId: "1", toolName: "look", content };
    return { role: word[0] === "u" ? "user" : "assistant", content };
  });
}

/** The same words; a result that was replaced is `t-`. */
function words(messages: readonly Message[]): string {
  return messages.map(({ role, content, standsFor }) =>
    standsFor === "reminder" ? "?" : role.slice(0, 1) +
      (/^x*$/.test(content) ? content.length : content.startsWith("x") ? "…" : "-")
  ).join(" ");
}

const size = ({ content }: Message) => content.length;

const STUBS: [before: string, wanted: number, after: string, count: number][] = [
  ["u9 a0 t1000 t2000 a9", 5000, "u9 a0 t1000 t2000 a9", 0],
  ["u9 a0 t1000 t2000 a9", 2500, "u9 a0 t- t2000 a9", 1],
  ["u9 a0 t1000 t2000 a9", 0, "u9 a0 t- t- a9", 2],
  ["u9 a0 t1000 a0 t2000 t3000", 0, "u9 a0 t- a0 t2000 t3000", 1],
  ["u9 a0 t100 a9 u9", 0, "u9 a0 t100 a9 u9", 0],
  ["u9 a0 t1000 a9 u9", 0, "u9 a0 t- a9 u9", 1],
  ["u9000 a9000 u9", 0, "u9000 a9000 u9", 0],
  ["", 0, "", 0],
];

for (const [before, wanted, after, count] of STUBS) {
  Deno.test(`old results of "${before}" for ${wanted}`, () => {
    const messages = history(before);
    const [stubbed, stubs] = stubOldResults(messages, wanted, size);
    assertEquals([words(stubbed), stubs, words(messages)], [after, count, before]);
    // A line is not put in place of a line.
    assertEquals(stubOldResults(stubbed, wanted, size)[1], 0);
  });
}

const CUTS: [before: string, most: number, after: string, count: number][] = [
  ["u9 a9 t1000", 2000, "u9 a9 t1000", 0],
  ["u9 a9 t10000", 4000, "u9 a9 t…", 1],
  ["u9 a9 t10000 t10000 t90", 4000, "u9 a9 t… t… t90", 2],
  ["u9 a0 t5000 a9 t10000", 4000, "u9 a0 t5000 a9 t…", 1],
  ["u9 a0 t5000 a9", 400, "u9 a0 t5000 a9", 0],
  ["u9 a0 t5000 a9 u9", 400, "u9 a0 t5000 a9 u9", 0],
  ["u9000 a9 t9000", 4000, "u9000 a9 t…", 1],
];

for (const [before, most, after, count] of CUTS) {
  Deno.test(`new results of "${before}" for ${most}`, () => {
    const [cut, cuts] = cutNewResults(history(before), most, size);
    assertEquals([words(cut), cuts], [after, count]);
    const results = cut.filter((m) => m.role === "tool" && m.content.includes("left out"));
    for (const { content } of results) assertEquals(content.length <= Math.max(200, most), true);
  });
}

/** A history, a budget, and where its newest messages begin. */
const STARTS: [history: string, budget: number, start: number][] = [
  ["u9 a9 u9 a9", 100, 0],
  ["u9 a9 u9 a9", 20, 2],
  ["u9 a9 u9 a9", 0, 3],
  ["u9 a9 u9", 0, 2],
  ["u9 a9 t9 t9 a9 t9 t9", 60, 4],
  ["u9 a9 t9 t9 a9 t9 t9", 0, 4],
  ["u50 a9 t9 a9 t9 a9", 90, 3],
  ["u50 a9 t9 a9 t9 a9", 70, 5],
  ["u9 a9 t9 a9 u9 a9 t9", 40, 4],
  ["u9 a9 t9 a9 u9 a9 t9", 54, 4], // not at an answer of an older turn
  ["u9 a9 u9 a9 ? a9 t9", 40, 5],
  ["u9 a9 u9 a9 ? a9 t9", 200, 0],
  ["u9 a9 u9 a9 ?", 0, 3],
];

for (const [before, budget, start] of STARTS) {
  Deno.test(`the newest ${budget} of "${before}" begin at ${start}`, () => {
    assertEquals(startOfNewest(history(before), budget, size), start);
  });
}

Deno.test("a summary holds the paths that were open, the newest 40, and is known for one", () => {
  const reads = Array.from({ length: 50 }, (_, i): Message => ({
    role: "assistant",
    content: "",
    toolCalls: [{ id: `${i}`, name: "read_file", arguments: { file_path: `${i % 45}.ts` } }],
  }));
  const [summary, answer] = summaryMessages("Task: a.", reads, builtinTools);
  const paths = /^Files that were open: (.*)$/m.exec(summary!.content)![1]!.split(", ");
  assertEquals([paths.length, paths[0], paths.at(-1)], [40, "10.ts", "4.ts"]);
  assertEquals([isSummary(summary), isSummary(answer), isSummary(undefined)], [true, false, false]);
  assertEquals(summaryMessages("Task: a.", [], builtinTools)[0]!.content.includes("Files"), false);
});

Deno.test("a summary lists files, by what the tools say of their calls", () => {
  const read: Tool = {
    name: "look",
    description: "",
    parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    access: "read",
    subject: ({ at }) => ({ path: String(at).trim(), isFile: true }),
    run: () => "",
  };
  const calls: [string, Record<string, unknown>][] = [
    ["look", { at: "mine.ts" }],
    ["look", {}],
    ["list_directory", { path: "folder" }],
    ["grep_code", { path: "place", pattern: "a" }],
    ["edit_file", { file_path: "b.ts", old_string: "a", new_string: "b" }],
    ["gone", { file_path: "c.ts" }],
  ];
  const toolCalls = calls.map(([name, args], i) => ({ id: `${i}`, name, arguments: args }));
  const old: Message = { role: "assistant", content: "", toolCalls };
  const [summary] = summaryMessages("Task: a.", [old], [...builtinTools, read]);
  assertStringIncludes(summary!.content, "Files that were open: mine.ts, b.ts");
});

Deno.test("of results little is shown to sum up, of an earlier summary all", () => {
  const old: Message[] = [
    ...summaryMessages("s".repeat(9000), [], []),
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "1", name: "look", arguments: {}, invalid: { text: "{bro", reason: "" } }],
    },
    { role: "tool", toolCallId: "1", toolName: "look", content: "r".repeat(9000) },
  ];
  const { content } = summaryRequest(old, Infinity)[1]!;
  assertEquals([/s+/.exec(content.slice(60))![0].length, content.includes("{bro")], [9000, true]);
  assertEquals(content.match(/r{100,}/g)!.join("").length < 600, true);
  const [, short] = summaryRequest(old, 1000, "names");
  assertEquals(short!.content.length < 2500 && short!.content.includes("above all: names"), true);
});
