import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cutUnreadResults, startOfNewest, stubOldResults } from "../../src/agent/shrink.ts";
import {
  isNonsense,
  isSummary,
  outline,
  summaryMessages,
  summaryRequest,
} from "../../src/agent/summary.ts";
import { notePart } from "../../src/text/parts.ts";
import type { Message, Part } from "../../src/types/message.ts";

/** `u9` is a message of the person of 9 characters, `a` an answer, `t` a result, `?` asks again. */
function history(text: string): Message[] {
  return text.split(" ").filter(Boolean).map((word): Message => {
    const content = "x".repeat(Number(word.slice(1)));
    if (word === "?") {
      return { role: "user", content: "Say what you found out.", standsFor: "reminder" };
    }
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
  ["u9 a0 t1000 t2000 a9", 2500, "u9 a0 t- t2000 a9", 1],
  ["u9 a0 t1000 t2000 a9", 0, "u9 a0 t- t- a9", 2],
  ["u9 a0 t1000 a0 t2000 t3000", 0, "u9 a0 t- a0 t2000 t3000", 1],
  ["u9 a0 t1000 t2000 a9", 3018, "u9 a0 t1000 t2000 a9", 0],
  ["u9 a0 t1000 t2000 a9", 3017, "u9 a0 t- t2000 a9", 1],
  // A line of 85 characters stands for twice as many at least.
  ["u9 a0 t170 a9", 0, "u9 a0 t- a9", 1],
  ["u9 a0 t169 a9", 0, "u9 a0 t169 a9", 0],
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
  ["u9 a9 t1482", 2000, "u9 a9 t1482", 0],
  ["u9 a9 t1483", 2000, "u9 a9 t…", 1],
  ["a9 t1491", 2000, "a9 t1491", 0],
  ["u9 a9 t10000", 4000, "u9 a9 t…", 1],
  ["u9 a9 t740 t741 t10000", 3000, "u9 a9 t740 t741 t…", 1],
  // Results that fit together are left, however they share the room.
  ["u9 a9 t100 t1382", 2000, "u9 a9 t100 t1382", 0],
  ["u9 a9 t741 t1000", 2000, "u9 a9 t741 t…", 1],
  ["u9 a9 t10000 t10000 t90", 4000, "u9 a9 t… t… t90", 2],
  ["u9 a0 t5000 a9 t10000", 4000, "u9 a0 t5000 a9 t…", 1],
  ["u9 a0 t5000 a9", 400, "u9 a0 t5000 a9", 0],
  ["u9 a0 t5000 a9 u9", 400, "u9 a0 t5000 a9 u9", 0],
  ["u9000 a9 t9000", 4000, "u9000 a9 t…", 1],
];

for (const [before, most, after, count] of CUTS) {
  Deno.test(`unread results of "${before}" for ${most}`, () => {
    const [cut, cuts] = cutUnreadResults(history(before), most, size);
    assertEquals([words(cut), cuts], [after, count]);
    const results = cut.filter((m) => m.role === "tool" && m.content.includes("left out"));
    for (const { content: { length } } of results) {
      assertEquals(length <= Math.max(200, most) && length >= 190, true, `${length}`);
    }
  });
}

/** A history, a budget, and where its newest messages begin. */
const STARTS: [history: string, budget: number, start: number][] = [
  ["u9 a9 u9 a9", 100, 0],
  ["u9 a9 u9 a9", 0, 3],
  ["u9 a9 u9 a9", 18, 2],
  ["u9 a9 u9 a9", 17, 3],
  ["a9 t9 a9 t9", 100, 0],
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

const said = (content: string): Message => ({ role: "user", content });

Deno.test("a summary that says the request again, or an earlier summary, is nonsense", () => {
  const [summary] = summaryMessages("Task: a.", [notePart("more")]);
  assertEquals([isSummary(summary), isSummary(undefined)], [true, false]);
  assertEquals(isNonsense("Task: a.\n", [summary!]), true);
  assertEquals(isNonsense("Task: b.", [summary!]), false);
  assertEquals(isNonsense("Task: a.", [said("Task: a.")]), false);
  assertEquals(isNonsense("<conversation>\nperson: a", []), true);
});

Deno.test("of results little is shown to sum up, of an earlier summary all", () => {
  const old: Message[] = [
    ...summaryMessages("s".repeat(9000), []),
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

Deno.test("a request for a summary quotes so much of each message, and says how long it may be", () => {
  const image: Part = { type: "image", mediaType: "image/png", data: "AA==" };
  const text = JSON.stringify({ a: "c".repeat(2000) });
  const messages: Message[] = [
    { role: "user", content: "u".repeat(9000), parts: [image, image] },
    {
      role: "assistant",
      content: "m".repeat(9000),
      toolCalls: [{ id: "1", name: "look", arguments: JSON.parse(text) }],
    },
    { role: "tool", toolCallId: "1", toolName: "look", content: "r".repeat(9000) },
  ];
  const request = (...more: [focus?: string, words?: number]) =>
    summaryRequest(messages, Infinity, ...more)[1]!.content;
  const quoted = request().split("\n\nTask")[0]!;
  const shown = (sign: string) => [...quoted].filter((char) => char === sign).length;
  const parts = [["u", 3900, 4000], ["m", 1900, 2000], ["r", 500, 600]] as const;
  for (const [sign, least, most] of parts) {
    assertEquals(shown(sign) > least && shown(sign) < most + 60, true, `${sign} ${shown(sign)}`);
  }
  assertStringIncludes(quoted, "person: uuu");
  assertStringIncludes(quoted, "[2 images]\n\ncopilot: mmm");
  assertEquals(quoted.match(/ images\]/g)?.length, 1);
  assertMatch(quoted, /\n\[calls look: \{"a":"c{90,}\n[^]{30,50}\nc+"\}\]\n\nresult of look: rrr/);
  assertEquals(/\[calls [^]*?\}\]/.exec(quoted)![0].length < 330, true);
  assertEquals(request().includes("Keep above all"), false);
  assertEquals(request("  ").includes("Keep above all"), false);
  for (const [words, said] of [[undefined, 400], [401, 400], [123.4, 123], [1, 40]] as const) {
    assertStringIncludes(request("", words), `in at most ${said} words`);
  }
});

Deno.test("an outline has an earlier summary and the copilot's last words", () => {
  const [summary] = summaryMessages("s".repeat(9000), []);
  const messages: Message[] = [
    summary!,
    said("u"),
    { role: "assistant", content: "w".repeat(5000) },
    { role: "assistant", content: "[note]", standsFor: "end_of_turn" },
    { role: "assistant", content: "" },
  ];
  const text = outline(messages);
  const length = (sign: RegExp) => text.match(sign)!.join("").length;
  assertEquals([length(/s{100,}/g) > 3900, length(/s{100,}/g) <= 4000], [true, true]);
  assertEquals([length(/w{100,}/g) > 950, length(/w{100,}/g) <= 1000], [true, true]);
  assertEquals([text.includes("[note]"), text.includes("[Summary")], [false, false]);
  assertEquals(outline([said("u")]), "");
});
