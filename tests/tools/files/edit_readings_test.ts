import { assertEquals } from "@std/assert";
import { readEdit } from "../../../src/tools/files/edit_readings.ts";

const NUMBERS = "old_string without line numbers";
const FENCE = "old_string without the code fence around it";
const ESCAPES = "\\n and other escapes in old_string as what they stand for";
const ENTITIES = "HTML entities in old_string as signs";
const BLANKS = "old_string without the blank lines around it";
const LOOKS = "old_string in spite of other quotes, dashes or blanks";
const TRAILING = "old_string in spite of trailing blanks";
const SEVERAL = `${TRAILING} and other quotes, dashes or blanks`;
const LETTERS = "old_string in spite of another form of its letters";

/** How an edit of a file is read: the place, both texts as in the file, and in what form they came. */
type Reading = [at: number, before: string, after: string, how?: string];
// deno-fmt-ignore
const EXACT: [file: string, before: string, after: string, reading?: Reading][] = [
  ["a\nb\nc\n", "1\ta\n2\tb", "1\tA\n2\tb", [0, "a\nb", "A\nb", NUMBERS]],
  ["a\nb\nc\n", "1: a\n3: b", "A\nb"],
  ["a\n\nb\n", "1\ta\n\n3\tb", "x", [0, "a\n\nb", "x", NUMBERS]],
  ["a\na\n", "```\na\n```", "b"],
  ["aa\n", "```\na\n```", "b"],
  ["x\n", "```\na\n```", "b"],
  ["a\n\nb\n", "a\\n\nb", "c"],
  ["xa\n", "\na\n", "\nb\n"],
  ["a\nb\nc\n", "1: a\n4: b", "A\nb"],
  ["a\nb\nc\n", "2: a\n2: b", "A\nb"],
  ["a\nb\nc\n", "1: a\n\n2: b", "A"],
  ["a\n\nb\nc\n", "1: a\n\n2: b", "A"],
  ["a\nb\nc\n", "0| a\n1| b", "0| A\n5| b"],
  ["a\nb\nc\n", "  1→a\n  2→b", "x", [0, "a\nb", "x", NUMBERS]],
  ["a\nb\n", "```\na\n```", "```\nA\n```", [0, "a", "A", FENCE]],
  ["a\nb\n", "~~~js\na\n~~~", "A", [0, "a", "A", FENCE]],
  ["a\nb\n", "```\na", "A"],
  ["a\nb\n", "a\\nb", "A\\nB", [0, "a\nb", "A\nB", ESCAPES]],
  ["a\nb\n", "a\\nb", "A\nB"],
  ['say "x"\n', 'say \\"x\\"', 'say \\"y\\"', [0, 'say "x"', 'say "y"', ESCAPES]],
  ["a\tb\n", "a\\tb", "c", [0, "a\tb", "c", ESCAPES]],
  ["if (a < b) {}\n", "if (a &lt; b) {}", "if (a &gt; b) {}", [0, "if (a < b) {}", "if (a > b) {}", ENTITIES]],
  ["if (a < b) {}\n", "if (a &lt b) {}", "c"],
  ["a\nb\nc\n", "\na\n", "\nA\n", [0, "a", "A", BLANKS]],
  ["a\nb\nc\n", "\na\n", "A\n"],
  ["a\nb\nc\n", "\n\nb\n\n", "\n\nB\n\n", [2, "b", "B", BLANKS]],
  ["say “x” now\n", 'say "x" now', 'say "x" then', [0, "say “x” now", "say “x” then", LOOKS]],
  ['say "x" now\n', "say “x” now", "say “y” now", [0, 'say "x" now', 'say "y" now', LOOKS]],
  ["say “x” and “x”\n", '"x"', '"z"'],
  ["say “x”\nand “x”\n", '"x"', '"z"'],
  ["a – b\n", "a - b", "a - c", [0, "a – b", "a – c", LOOKS]],
  ["a  \nb\n", "a\nb", "a\nB", [0, "a  \nb", "a  \nB", TRAILING]],
  ["a  \nb\n", "a\nb\n", "a\nB\n", [0, "a  \nb\n", "a  \nB\n", TRAILING]],
  ["a  \nb", "a\nb\n", "a\nB\n", [0, "a  \nb", "a  \nB", TRAILING]],
  ["a  \nb\nc\n", "a\nb\n", "", [0, "a  \nb\n", "", TRAILING]],
  ["a  \nb\n", "a\nb\n", "a\nB"],
  ["x\na  \nb\nc\n", "a\nb", "a\nnew\nb", [2, "a  \nb", "a  \nnew\nb", TRAILING]],
  ["x\n“a”\nb  \nc\n", '"a"\nb', '"a"', [2, "“a”\nb  ", "“a”", SEVERAL]],
  ["x\n“a”\nb  \nc\n", '"a"\nb', '“q”\n"a"\nb', [2, "“a”\nb  ", "“q”\n“a”\nb  ", SEVERAL]],
  ["  a\n    b\n  c\n", "a\nb", "A\nb", [0, "  a\n    b", "  A\n    b"]],
  ["  a\n    b\n  c\n", "a\nb", "A\nb\nc"],
  ["  a\n    b\n  c\n", "a\nb\n", "A\nb\n", [0, "  a\n    b\n", "  A\n    b\n"]],
  ["  a\n    b\n  c\n", "a\n b", "A\n b", [0, "  a\n    b", "  A\n    b"]],
  ["e\u0301te\u0301\n", "\u00e9t\u00e9", "x", [0, "e\u0301te\u0301", "x", LETTERS]],
  ["a\nb\n", "z", "y"],
  ["a\nb\n", "   ", "y"],
  ["say “hi” — “ho”\n", 'say "hi" - "ho"', 'say "hey" - "ho" “new”', [
    0,
    "say “hi” — “ho”",
    'say “hey" - "ho" “new”',
    LOOKS,
  ]],
  ['say "hi"  \n', "say “hi”", "say “hi” – “new”", [0, 'say "hi"  ', 'say "hi" – “new”  ', SEVERAL]],
];

for (const [file, before, after, expected] of EXACT) {
  Deno.test(`in ${JSON.stringify(file)}, ${JSON.stringify(before)} -> ${JSON.stringify(after)}`, () => {
    const reading = readEdit(file, before, after);
    const { at, before: is, after: becomes, how } = reading ?? {};
    assertEquals(reading && [at, is, becomes, ...how === undefined ? [] : [how]], expected);
    if (reading) assertEquals(file.startsWith(reading.before, reading.at), true);
  });
}

Deno.test("an edit of 200000 characters is looked through, a longer one only for its indentation", () => {
  const read = (length: number) => {
    const line = "x".repeat(length - 2);
    return readEdit(`\u201c${line}\u201d\n`, `"${line}"`, "")?.before.length;
  };
  assertEquals([read(200_000), read(200_001)], [200_000, undefined]);
});
