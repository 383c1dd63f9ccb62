import { assertEquals, assertThrows } from "@std/assert";
import { repetitionWatcher, truncateRepetition } from "../../src/text/repetition.ts";
import { seeded } from "../helpers/split.ts";
import { forEveryTextSplit } from "./splits.ts";

const WARNING = "\n\n[Warning: repetitive output truncated]";
const PAD = `${
  "Lorem ipsum dolor sit amet, no two words alike here: ".padEnd(200, "0123456789")
}\n`;

/** Without a repetition in it, and without white space. */
const LONG = Array.from({ length: 90 }, (_, n) => (n + 40) ** 2).join("");

/** [name, text, what stays of it; undefined for all] */
const rows: [name: string, text: string, kept?: string][] = [
  ["shorter than 200 characters", "It is a loop. ".repeat(14)],
  ["exactly 200", "It is a lo. ".repeat(16) + "12345678", "It is a lo. It is a lo."],
  ["199 characters of two units", "😀".repeat(162) + "\nIt is low.\nIt is low.\nIt is low.\nabc"],
  [
    "200 characters of two units",
    "😀".repeat(162) + "\nIt is low.\nIt is low.\nIt is low.\nabcd",
    "😀".repeat(162) + "\nIt is low.\nIt is low.",
  ],
  [
    "three times",
    `${PAD}One two three. One two three. One two three.`,
    `${PAD}One two three. One two three.`,
  ],
  ["twice", `${PAD}One two three. One two three. Four`],
  [
    "apart",
    `${PAD}Same again.\na\nSame again! Same again.\nb\nSame again.`,
    `${PAD}Same again.\na\nSame again! Same again.`,
  ],
  [
    "the last without an end",
    `${PAD}Same again\nSame again\nSame again`,
    `${PAD}Same again\nSame again`,
  ],
  ["9 characters", `${PAD}${"Same now.\n".repeat(5)}`],
  ["10 characters", `${PAD}${"Same now!!\n".repeat(5)}`, `${PAD}Same now!!\nSame now!!`],
  ["10 units but 9 characters", `${PAD}${"Same 😀ow.\n".repeat(5)}`],
  [
    "white space around does not count",
    `${PAD}  Same again. \n\tSame again.\r\n Same again.`,
    `${PAD}  Same again. \n\tSame again.`,
  ],
  [
    "a dot within a word ends nothing",
    `${PAD}see a.txt.gz. see a.txt.gz. see a.txt.gz.`,
    `${PAD}see a.txt.gz. see a.txt.gz.`,
  ],
  [
    "quotes after the stop",
    `${PAD}He said "stop." He said "stop." He said "stop."`,
    `${PAD}He said "stop." He said "stop."`,
  ],
  [
    "wide stops need no space",
    `${PAD}${"这是一个会重复的句子。".repeat(3)}`,
    `${PAD}${"这是一个会重复的句子。".repeat(2)}`,
  ],
  [
    "wide stops with quotes",
    `${PAD}${"「这是一个会重复的句子！」".repeat(3)}`,
    `${PAD}${"「这是一个会重复的句子！」".repeat(2)}`,
  ],
  [
    "which comes first is cut",
    `${PAD}${"First one.\nSecond one.\n".repeat(3)}`,
    `${PAD}First one.\nSecond one.\nFirst one.`,
  ],
  [
    "equal lines of code",
    `${PAD}${"  return None\n  x = 1\n".repeat(3)}`,
    `${PAD}  return None\n  x = 1\n  return None`,
  ],
  ["short lines of code", `${PAD}${"}\n}\nelse {\n".repeat(20)}`],
  // Without sentences
  ["one character", `${PAD}${"a".repeat(400)}`, `${PAD}aa`],
  ["one character, honestly", `${PAD}${"-".repeat(399)}`],
  ["one token", `${PAD}x ${"the ".repeat(100)}`, `${PAD}x the the`],
  [
    "a phrase",
    `${PAD}and so on, ${"again and again, ".repeat(30)}`,
    `${PAD}and so on, again and again, again and again,`,
  ],
  ["short lines", `${PAD}${"1\n22\n".repeat(100)}`, `${PAD}1\n22\n1\n22\n`],
  ["line feeds", `${PAD}a${"\n".repeat(400)}`, `${PAD}a\n\n`],
  ["emoji", `${PAD}${"😀".repeat(200)}`, `${PAD}😀😀`],
  ["less than three units", PAD + LONG.repeat(3).slice(0, -1)],
  ["three units", PAD + LONG.repeat(3), PAD + LONG.repeat(2)],
  [
    "a sentence, then a runaway",
    `${PAD}${"Same again.\n".repeat(3)}${"a".repeat(400)}`,
    `${PAD}Same again.\nSame again.`,
  ],
  ["in a fence", `${PAD}\`\`\`\n${"0, ".repeat(667)}`, `${PAD}\`\`\`\n0, 0,`],
  ["in a fence, honestly", `${PAD}\`\`\`\n${"0, ".repeat(660)}\n\`\`\`\n`],
  ["after a fence", `\`\`\`\na\n\`\`\`\n${"0, ".repeat(140)}`, "```\na\n```\n0, 0,"],
];

function watched(pieces: string[]): number | undefined {
  const watcher = repetitionWatcher();
  let cut: number | undefined;
  for (const piece of pieces) cut ??= watcher.push(piece);
  return cut ?? watcher.end();
}

for (const [name, text, kept] of rows) {
  Deno.test(`truncateRepetition: ${name}`, () => {
    const result = truncateRepetition(text);
    if (kept === undefined) assertEquals(result, text);
    else assertEquals(result.trimEnd(), result);
    const cut = watched([text]);
    assertEquals(cut === undefined ? undefined : text.slice(0, cut).trimEnd(), kept?.trimEnd());
    assertEquals(result, cut === undefined ? text : text.slice(0, cut) + WARNING);
  });
  Deno.test(`repetitionWatcher: ${name}, on every split`, () => {
    const cut = watched([text]);
    forEveryTextSplit(text, (pieces) => assertEquals(watched(pieces), cut));
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

Deno.test("truncateRepetition: what it returns is not cut again", () => {
  for (const [, text] of rows) {
    const once = truncateRepetition(text);
    assertEquals(truncateRepetition(once), once);
  }
});

/** [what repeats, how often, by how many characters of the repetition it must be seen] */
const loops: [name: string, unit: string, bound: number][] = [
  ["a token", "the ", 400],
  ["a sentence", "I will now do it. ", 400],
  ["a three-line cycle", "ok\nno go\n1\n", 400],
  ["a paragraph", `${[...Array(40).keys()].map((n) => `step ${n * n}`).join(" ")}\n\n`, 3 * 500],
  ["a page", Array.from({ length: 400 }, (_, n) => `line ${n * 7}`).join("\n"), 3 * 4096],
];

for (const [name, unit, bound] of loops) {
  Deno.test(`repetitionWatcher: a runaway of ${name} is seen while it streams`, () => {
    const watcher = repetitionWatcher();
    const before = "An honest beginning:\n\n";
    watcher.push(before);
    const text = unit.repeat(Math.ceil(bound / unit.length) + 1);
    let seen = 0;
    let cut: number | undefined;
    while (cut === undefined && seen < text.length) cut = watcher.push(text[seen++]!);
    assertEquals(seen <= bound + unit.length, true, `seen after ${seen}`);
    // A word may be completed.
    assertEquals(cut! <= before.length + 2 * unit.length + 20, true, `cut at ${cut}`);
    assertEquals(watcher.push("more"), cut);
    assertEquals(watcher.end(), cut);
    assertEquals(
      truncateRepetition(before + text + "more"),
      (before + text).slice(0, cut) + WARNING,
    );
  });
}

Deno.test("repetitionWatcher: honest answers are not ended", () => {
  const table = "| a | b |\n|---|---|\n" + "| 0 | 0 |\n".repeat(30);
  const code = "```py\n" + "    if x:\n        return None\n    y = f(x)\n".repeat(30) + "```\n";
  const matrix = "```\n" + "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n".repeat(20) + "```\n";
  const box = `┌${"─".repeat(120)}┐\n│${" ".repeat(120)}│\n└${"─".repeat(120)}┘\n`;
  const numbers = Array.from({ length: 500 }, (_, n) => n).join(" ");
  for (const text of [table, code, matrix, box, numbers, "=".repeat(200)]) {
    const watcher = repetitionWatcher();
    assertEquals([...text].find((char) => watcher.push(char) !== undefined), undefined, text);
  }
});

Deno.test("repetitionWatcher agrees with truncateRepetition on random texts", () => {
  const random = seeded(3);
  const parts = [
    "ab ",
    "It is. ",
    "A longer sentence. ",
    "\n",
    "x",
    "```\n",
    "0, ",
    "。",
    "長い長い長い文章です",
  ];
  for (let i = 0; i < 300; i++) {
    let text = "";
    while (text.length < 600) {
      text += parts[Math.floor(random() * parts.length)]!.repeat(1 + random() ** 8 * 600);
    }
    const cut = watched([text]);
    assertEquals(watched(text.split("")), cut);
    assertEquals(watched(text.match(/[^]{1,7}/g)!), cut);
    const expected = cut === undefined ? text : text.slice(0, cut) + WARNING;
    assertEquals(truncateRepetition(text), expected);
  }
});

Deno.test("truncateRepetition: ten million characters without repetition complete", () => {
  const random = seeded(4);
  for (const signs of ["ab", "abcdefgh .\n"]) {
    let text = "";
    while (text.length < 1_000_000) text += signs[Math.floor(random() * signs.length)];
    truncateRepetition(text.repeat(10));
  }
});
