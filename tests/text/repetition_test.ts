import { assert, assertEquals, assertThrows } from "@std/assert";
import { HIDDEN_CYCLE, RepetitionWatcher, truncateRepetition } from "../../src/text/repetition.ts";
import { seeded } from "../helpers/split.ts";

const WARNING = "\n\n[Warning: repetitive output truncated]";
const PAD = `${
  "Lorem ipsum dolor sit amet, no two words alike here: ".padEnd(200, "0123456789")
}\n`;

/** [name, text, what stays of it; undefined for all] */
// deno-fmt-ignore
const rows: [name: string, text: string, kept?: string][] = [
  ["shorter than 200 characters", "It is a loop. ".repeat(14)],
  ["exactly 200", "It is a lo. ".repeat(16) + "12345678", "It is a lo. It is a lo."],
  ["199 characters of two units", "😀".repeat(162) + "\nIt is low.\nIt is low.\nIt is low.\nabc"],
  [
    "200 characters of two units",
    "😀".repeat(162) + "\nIt is low.\nIt is low.\nIt is low.\nabcd",
    "😀".repeat(162) + "\nIt is low.\nIt is low.",
  ],
  ["three times", `${PAD}One two three. One two three. One two three.`, `${PAD}One two three. One two three.`],
  ["twice", `${PAD}One two three. One two three. Four`],
  ["apart", `${PAD}Same again.\na\nSame again! Same again.\nb\nSame again.`, `${PAD}Same again.\na\nSame again! Same again.`],
  ["the last without an end", `${PAD}Same again\nSame again\nSame again`, `${PAD}Same again\nSame again`],
  ["9 characters", `${PAD}${"Same now.\n".repeat(5)}`],
  ["10 characters", `${PAD}${"Same now!!\n".repeat(5)}`, `${PAD}Same now!!\nSame now!!`],
  ["10 units but 9 characters", `${PAD}${"Same 😀ow.\n".repeat(5)}`],
  ["white space around does not count", `${PAD}  Same again. \n\tSame again.\r\n Same again.`, `${PAD}  Same again. \n\tSame again.`],
  ["a dot within a word ends nothing", `${PAD}see a.txt.gz. see a.txt.gz. see a.txt.gz.`, `${PAD}see a.txt.gz. see a.txt.gz.`],
  ["quotes after the stop", `${PAD}He said "stop." He said "stop." He said "stop."`, `${PAD}He said "stop." He said "stop."`],
  ["wide stops need no space", `${PAD}${"这是一个会重复的句子。".repeat(3)}`, `${PAD}${"这是一个会重复的句子。".repeat(2)}`],
  ["wide stops with quotes", `${PAD}${"「这是一个会重复的句子！」".repeat(3)}`, `${PAD}${"「这是一个会重复的句子！」".repeat(2)}`],
  ["which comes first is cut", `${PAD}${"First one.\nSecond one.\n".repeat(3)}`, `${PAD}First one.\nSecond one.\nFirst one.`],
  ["equal lines of code", `${PAD}${"  return None\n  x = 1\n".repeat(3)}`, `${PAD}  return None\n  x = 1\n  return None`],
  ["short lines of code", `${PAD}${"}\n}\nelse {\n".repeat(20)}`],
];

for (const [name, text, kept] of rows) {
  Deno.test(`truncateRepetition: ${name}`, () => {
    assertEquals(truncateRepetition(text), kept === undefined ? text : kept + WARNING);
  });
}

Deno.test("truncateRepetition: maxRepeats", () => {
  const text = PAD + "It goes on. ".repeat(4);
  const cut = `${PAD}It goes on. It goes on.${WARNING}`;
  assertEquals(truncateRepetition(text, { maxRepeats: 4 }), cut);
  assertEquals(truncateRepetition(text, { maxRepeats: 5 }), text);
  assertEquals(truncateRepetition(text, { maxRepeats: 2 }), cut);
  assertEquals(truncateRepetition(text, { maxRepeats: 1 }), cut);
  for (const maxRepeats of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(() => truncateRepetition(text, { maxRepeats }), RangeError, "maxRepeats must be");
  }
});

/** Where the text is cut, and how many of its characters were read by then. */
function watched(pieces: Iterable<string>, limit?: number): { cut?: number; seen: number } {
  const watcher = new RepetitionWatcher(limit);
  let seen = 0;
  for (const piece of pieces) {
    const cut = watcher.push(piece);
    seen += piece.length;
    if (cut === undefined) continue;
    assertEquals(watcher.push("more"), cut);
    return { cut, seen };
  }
  return { seen };
}

const random = seeded(5);
const noise = (length: number, signs: string): string =>
  Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join("");
const SECTIONS = Array.from(
  { length: 200 },
  (_, n) => `## Section ${n}\n\nThis holds for all.\nThe number is ${n ** 2}.\nSee below.\n\n`,
).join("");
const FENCE = "Look:\n\n```\n";
const PAGE = `${noise(3998, "abcdefgh ijklmn\n")}.\n`;

/** [what repeats, what stands before, the unit, how many units stay, by how many characters of the cycle] */
const loops: [name: string, before: string, unit: string, stay: string, by: number][] = [
  ["a character", "So: ", "a", "aa", 4512],
  ["a token", "So: ", "the ", "the the", 4512],
  ["emoji", "So: ", "😀", "😀😀", 4512],
  ["a sentence", "So: ", "I will now do it. ", "I will now do it. I will now do it.", 4512],
  ["a short cycle of lines", "So:\n\n", "ok\nno go\n1\n", "ok\nno go\n1\nok\nno go\n1", 4512],
  ["line feeds", "So.", "\n", "", 4512],
  ["white space in code", `${FENCE}x`, " \n", "", 4512],
  ["zeros in code", `${FENCE}[`, "0, ", "0, 0,", 13012],
  ["a page", "So: ", PAGE, (PAGE + PAGE).trimEnd(), 4 * 4000 + 512],
  // Each of its parts occurs several times within the unit, at other distances.
  ["a page of two signs", "So: ", noise(1500, "01") + "2", "", 4 * 1501 + 512],
  ["a table within", "So: ", "| 0 | 0 |\n".repeat(50) + "end\n", "", 4512],
  ["what comes after 200 good sections", SECTIONS, "It hangs. ", "It hangs. It hangs.", 4512],
  ["fences", "So:\n\n", "```\nx\n```\n", "```\nx\n```\n```\nx\n```", 13012],
];

const PARAGRAPH =
  "The tool is used to find files that match a name, which is a feature of the command line.\n\n";

/** Blocks of sentences are ended sooner: [what repeats, the block, after how many at the latest] */
const blocks: [name: string, block: string, times: number][] = [
  ["a sentence of 43 characters", "All the files are listed in the table now. ", 15],
  ["a short sentence on one line", "I am stuck in a loop. ", 30],
  ["a paragraph", PARAGRAPH, 8],
  ["a paragraph of 190 characters", PARAGRAPH.trim() + " " + PARAGRAPH, 7],
  ["a section", `## Next\n\n${PARAGRAPH}- one thing:\n- another\n\n${PARAGRAPH}Then:\n\n`, 6],
  ["a long section", `${noise(900, "abcdefg hij")} so.\n\n`, 5],
  ["a result and what it means", `{"path": "a.txt"}\n\nThe file is there, see above.\n\n`, 13],
  [
    "Chinese",
    "这是一个会重复的句子，它没有尽头，模型卡住了，一直在说同样的话，没有停下来的意思。\n\n",
    15,
  ],
];

for (const [name, block, times] of blocks) {
  Deno.test(`RepetitionWatcher: a block is a runaway soon: ${name}`, () => {
    const text = `Let me see what there is.\n\n${block.repeat(200)}`;
    const { cut, seen } = watched(text.match(/[^]{1,7}/g)!);
    assert(cut !== undefined, "not cut");
    assert(seen <= 27 + times * block.length, `seen after ${(seen - 27) / block.length}`);
    assert(cut >= 27 + 1.5 * block.length && cut <= 40 + 2 * block.length, `cut at ${cut}`);
    assertEquals(watched([text]).cut, cut);
  });
}

const VERSE = "Row, row, row your boat,\nGently down the stream.\nLife is but a dream.\n\n";

const matrix = `[${"0, ".repeat(63)}0],\n`.repeat(64);
const dump = Array.from(
  { length: 300 },
  (_, n) => `${(n * 16).toString(16).padStart(8, "0")}  ${"00 ".repeat(16)} ${".".repeat(16)}\n`,
).join("");

/** Honest texts that repeat sentences or lines. */
// deno-fmt-ignore
const repetitive: [name: string, text: string][] = [
  ["a sentence to be written ten times", "I must not talk in class, said the teacher.\n".repeat(10)],
  ["a short one, a hundred times", "I will not be late again.\n".repeat(100)],
  ["a short one, a dozen times in a line", "I will not be late again. ".repeat(12)],
  ["a round", VERSE.repeat(5)],
  ["a poem with a refrain", Array.from({ length: 12 }, (_, n) => `In the year ${n} we sailed.\n${VERSE}`).join("")],
  ["a form", "Name: ____________\nAddress: ____________________. Thank you.\n\n".repeat(30)],
  ["a log", "INFO  Waiting for the server. It is still loading.\n".repeat(40)],
  ["a log with times", "12:03:11 Waiting for the server. It is still loading.\n".repeat(40)],
  ["a list of paths", "- src/components/buttons/primary/index.ts\n".repeat(40)],
  ["a table", "| Not known yet. | To be done later. | Ask the owner. |\n".repeat(70)],
  ["JSON", '{"name": "Not known yet.", "note": "To be done later. "},\n'.repeat(70)],
  ["code", `${FENCE}${"# The next one is to be done by hand.\nrun(next)\n".repeat(80)}\`\`\`\n`],
  ["YAML", "- name: not known yet\n  note: to be done later\n  value: 0\n".repeat(40)],
  ["CSV", "not known yet,to be done later,0,0,0,unknown\n".repeat(60)],
  ["three equal pages", `${SECTIONS.slice(0, 3000)}\n`.repeat(3)],
  ["ingredients", "Salt\nPepper\nOil\nVinegar, if there is some\n\n".repeat(20)],
  ["equal rows", "| a | b |\n|---|---|\n" + "| 0 | 0 |\n".repeat(300)],
  ["calls", "x.push(0);\n".repeat(299)],
  ["rows of zeros", "0,0,0,0,0,0,0,0\n".repeat(200)],
  ["a long word", `\`${"A".repeat(3500)}\``],
  ["a dump", dump],
  ["a matrix", `${FENCE}${matrix}\`\`\`\n`],
  ["a block of code", `${FENCE}${"    if x:\n        return None\n    y = f(x)\n".repeat(200)}\`\`\`\n`],
  ["a box", `┌${"─".repeat(120)}┐\n│${" ".repeat(120)}│\n└${"─".repeat(120)}┘\n`],
  ["numbers", Array.from({ length: 2000 }, (_, n) => n).join(" ")],
  ["a page", PAGE.repeat(3)],
  ["rules", ("=".repeat(3900) + "\n").repeat(3)],
];

for (const [name, text] of repetitive) {
  Deno.test(`RepetitionWatcher: honest, if repetitive: ${name}`, () => {
    for (const before of [0, 65, 117]) {
      const honest = `${"x".repeat(before)} Here it is:\n\n${text}\nThat is all.${
        " Bye for now, ".padEnd(512, "0123456789")
      }`;
      assertEquals(watched([honest]).cut, undefined);
    }
  });
}

for (const [name, before, unit, stay, by] of loops) {
  Deno.test(`RepetitionWatcher: a runaway of ${name} is cut at its beginning`, () => {
    const text = before + unit.repeat(20_000 / unit.length);
    const { cut, seen } = watched(text);
    assert(cut !== undefined && seen <= before.length + by, `seen after ${seen}`);
    if (stay !== "") assertEquals(text.slice(0, cut), before + stay);
    assert(cut >= before.trimEnd().length, `cut at ${cut}`);
    assert(cut <= before.length + 2 * unit.length, `cut at ${cut}`);
    for (const size of [2, 7, 511, 512, 513, 4000, 1e6]) {
      const pieces = Array.from(
        { length: Math.ceil(text.length / size) },
        (_, i) => text.slice(i * size, (i + 1) * size),
      );
      assertEquals(watched(pieces).cut, cut, `in pieces of ${size}`);
    }
  });
}

Deno.test("RepetitionWatcher: data has the limit of code without a fence too, wherever lines end", () => {
  const cases = [
    ["| 0 | 0 |\n"],
    [`    x.push(${"0, ".repeat(20)}0);\n`],
    [`\tx.push(${"0, ".repeat(20)}0);\n`],
    ['{"value": null, "ok": true},\n'],
    ["  [0, 0, 0, 0, 0, 0, 0, 0],\n"],
    ["<tr><td></td><td></td></tr>\n"],
    ["0,0,0.5,-1\n"],
    ["[0, 0, 0", ", 0"],
  ];
  for (const [line, end] of cases) {
    for (const before of [0, 21]) {
      const text = `${"Here it is:".slice(0, before)}${" ".repeat(before)}\n\n${line}`;
      const more = end ?? line!;
      const rows = more.repeat(10_000 / more.length);
      assertEquals(watched([text + rows]).cut, undefined, `${line} after ${before}`);
      assert(watched([text + rows + rows.slice(0, 4000)]).cut !== undefined, line);
    }
  }
});

/** [the words, how many characters are read at the most until they are cut, where they are] */
const wordRows: [unit: string, by: number, before?: string, limit?: number][] = [
  ["_py", 320],
  ["the ", 384],
  ["and so on, ", 64 * 11 + 128],
  ["/usr/local/bin: ", 64 * 16 + 128],
  ["an answer in the text of ", 1024 + 128],
  ["the files that are listed in the table and the names of them and", 24 * 64 + 128],
  ["_py", 320, FENCE],
  ["self.next.", 64 * 10 + 128, `${FENCE}x = `],
  ["_py", 256 * 3 + 128, '{"content": "', HIDDEN_CYCLE],
];

for (const [unit, by, before = "So: ", limit] of wordRows) {
  Deno.test(`RepetitionWatcher: words on one line are cut soon: ${before}${unit}`, () => {
    const { cut, seen } = watched(before + unit.repeat(3000), limit);
    assert(cut !== undefined && seen - before.length <= by, `seen ${seen}`);
    assert(cut >= before.trimEnd().length && cut <= before.length + 3 * unit.length, `cut ${cut}`);
  });
}

Deno.test("RepetitionWatcher: a row of values, signs or cells is not words", () => {
  const values = ["-", "=", "0", "0, ", "null, ", "False, ", "ff ", "0xab, ", "x", "| --- "];
  const inCode = values.map((unit) => `${FENCE}${unit.repeat(200)}\n\`\`\`\n`);
  const other = ["| no ", "<td></td>", "[],", "0 1 ", "\\n"].map((unit) => unit.repeat(200));
  for (const text of [...inCode, ...other, "ab cd\n".repeat(105), "the same ".repeat(40)]) {
    assertEquals(watched(`Here it is:\n\n${text}\nThat is all.${PAD}`).cut, undefined, text);
  }
  assertEquals(watched(`{"content": "${"no\\n".repeat(300)}"}${PAD}`, HIDDEN_CYCLE).cut, undefined);
});

Deno.test("RepetitionWatcher: another limit, which white space does not have", () => {
  const { seen } = watched("<b> ".repeat(9000), HIDDEN_CYCLE);
  assert(seen >= HIDDEN_CYCLE && seen <= HIDDEN_CYCLE + 512, `seen after ${seen}`);
  assert(watched("\t".repeat(9000), HIDDEN_CYCLE).seen <= 4512);
});

Deno.test("RepetitionWatcher: a unit must come four times, a block of short ones be long", () => {
  const page = Array.from({ length: 300 }, (_, i) => `x${i * 7919 % 9973} `).join("");
  const rows: [unit: string, repeats: number, isRunaway: boolean][] = [
    // Over 4000 characters, seen within 128 characters more.
    [page, 3.5, false],
    [page, 4.5, true],
    // Sentences in lines of 39 and of 40 characters.
    ["I will not talk in the classroom ever.\n", 50, false],
    ["I will not talk in the classrooms ever.\n", 50, true],
  ];
  for (const [unit, repeats, isRunaway] of rows) {
    const text = `Well: ${unit.repeat(repeats)}${unit.slice(0, repeats % 1 * unit.length)}`;
    assertEquals(watched([text]).cut !== undefined, isRunaway, unit);
  }
});
