import { assertEquals, assertMatch } from "@std/assert";
import {
  ADDED_BAND,
  ADDED_WORD,
  DIM,
  KEYWORD,
  NUMBER,
  REMOVED_BAND,
  REMOVED_WORD,
} from "../../src/ui/terminal/style.ts";
import { changeLines, changeNotes, changeRows, writeNotes } from "../../src/ui/change.ts";
import { graphemeWidth } from "../../src/text/width.ts";
import { prepareEdit } from "../../src/tools/edit_file.ts";
import { prepareWrite } from "../../src/tools/write_file.ts";
import type { Change } from "../../src/types/tool.ts";
import { workspace } from "../tools/workspace.ts";

const shown = (change: Change) => [...changeLines(change), ...changeNotes(change)];

const ROWS: [
  name: string,
  before: string | undefined,
  args: [string, string, boolean?],
  string[],
][] = [
  [
    "the whole line, and those around it",
    "def f():\n  a\n  return x - y\n\nb\nc\n",
    ["x - y", "x"],
    ["1   def f():", "2     a", "  -   return x - y", "3 +   return x", "4   ", "5   b"],
  ],
  ["a new file", undefined, ["", "a\nb\n"], ["1 + a", "2 + b"]],
  ["lines joined", "a\nb\nc\n", ["b\n", "b"], ["1   a", "  - b", "  - c", "2 + bc"]],
  ["CRLF", "a\r\nb\r\n", ["a\nb", "a\nc"], ["1   a", "  - b", "2 + c"]],
  ["a lone CR", "a\nb\n", ["b", "b\r"], ["1   a", "  - b", "2 + b␍"]],
  ["the end of the last line", "a\nb", ["b", "b\n"], ["(adds a line end at the end of the text)"]],
];
for (const [name, before, [old_string, new_string], expected] of ROWS) {
  Deno.test(`an edit is shown: ${name}`, async () => {
    using ws = workspace();
    if (before !== undefined) ws.put("f", before);
    const args = { file_path: "f", old_string, new_string, replace_all: false };
    assertEquals(shown((await prepareEdit(args, ws.context)).change), expected);
  });
}

Deno.test("how a file was written is noted", () => {
  assertEquals(writeNotes(), []);
  assertEquals(
    writeNotes({
      ...{ keeps: ["CRLF", "BOM"], isReindented: true },
      ...{ linkedTo: "a\x1b", inPlace: "it has 2 hard links" },
    }),
    [
      ...["(indented like the file)", "(its CRLF line endings kept)", "(its BOM kept)"],
      ...["(the link points to a␛)", "(written in place as it has 2 hard links)"],
    ],
  );
});

Deno.test("a change of what holds secrets shows no lines that the call does not name", async () => {
  using ws = workspace();
  const grant = {
    realPath: ws.put("env", "KEY=1\nA=1 B=2\n"),
    withheld: { folder: ws.dir, paths: [] },
  };
  const args = { file_path: "env", old_string: "A=1", new_string: "A=2", replace_all: false };
  const shownFor = async (isSecret: boolean) => {
    const context = { ...ws.context, grant: { ...grant, isSecret } };
    const write = await prepareWrite({ file_path: "env", content: "x" }, context);
    return [shown((await prepareEdit(args, context)).change), shown(write.change)];
  };
  assertEquals(await shownFor(true), [["- A=1", "+ A=2"], []]);
  assertEquals(await shownFor(false), [
    ["1   KEY=1", "  - A=1 B=2", "2 + A=2 B=2"],
    ["  - KEY=1", "  - A=1 B=2", "1 + x", "(removes a line end at the end of the text)"],
  ]);
});

Deno.test("TTY-02 the rows of a change are few, no wider than the terminal, and safe", async () => {
  using ws = workspace();
  const content = `\x1b[2J${"漢".repeat(300)}\u202e\n`.repeat(100);
  const { change } = await prepareWrite({ file_path: "f", content }, ws.context);
  const rows = changeRows(change, 40, (text) => text);
  assertEquals(rows.at(-1), "    … 99 more lines");
  for (const row of rows) {
    assertEquals(Array.from(row, graphemeWidth).reduce((sum, one) => sum + one) <= 40, true, row);
    // deno-lint-ignore no-control-regex
    assertEquals(/\x1b|\u202e/.test(row), false);
  }
});

const line = (text: string, at?: number, kind: "+" | "-" | " " = "+") => ({
  kind,
  text,
  ...(at !== undefined && { line: at }),
});
const drawn = (change: Partial<Change>, columns = 80) =>
  changeRows({ morePlaces: 0, ...change } as Change, columns, (text) => text);

Deno.test("a change is drawn up to half a screen, a new file up to 10 rows, 400 characters of a line", () => {
  const lines = Array.from({ length: 14 }, (_, at) => line("x", at + 1));
  const drawnAt = (change: Partial<Change>, screenRows: number) =>
    changeRows({ morePlaces: 0, lines, ...change } as Change, 80, (text) => text, false, {
      screenRows,
    });
  const cases = [
    [{}, 24, 12],
    // A row with the number of one line takes no fewer rows than the line.
    [{}, 26, 14],
    [{}, 60, 14],
    [{}, 8, 10],
    [{ isNew: true }, 60, 10],
  ] as const;
  for (const [change, screenRows, shown] of cases) {
    const rows = drawnAt(change, screenRows);
    const more = 14 - shown;
    const rest = more === 0 ? [] : [`    … ${more} more lines`];
    assertEquals(rows.slice(shown), rest, `${screenRows}`);
  }
  const long = (chars: number) => drawn({ lines: [line("x".repeat(chars))] }, 500);
  assertEquals(long(400), [`    + ${"x".repeat(400)}`]);
  assertEquals(long(401), [`    + ${"x".repeat(400)}…`]);
  assertEquals(drawn({ lines: [line("x".repeat(20))] }, 5), [
    ...["    + xxxxxxxx", "      xxxxxxxx", "      xxxx"],
  ]);
  assertEquals(drawn({ morePlaces: 1 }), []);
});

Deno.test("the notes below a change say what its lines do not", () => {
  const one = line("x", 1);
  assertEquals(drawn({ lines: [one], morePlaces: 1 }).slice(1), ["    (and in 1 more place)"]);
  assertEquals(drawn({ lines: [] }), ["    (no change)"]);
  const rows = ["    (removes a line end at the end of the text)"];
  assertEquals(drawn({ lines: [], lineEnd: "removes" }), rows);
});

/** Rows with their styles as `<name>`. */
function styled(change: Partial<Change>, columns: number, hasBands = true): string[] {
  const names: [style: number, name: string][] = [
    [ADDED_WORD, "word+"],
    [REMOVED_WORD, "word-"],
    [ADDED_BAND, "+"],
    [REMOVED_BAND, "-"],
    [KEYWORD, "keyword"],
    [NUMBER, "number"],
    [DIM, "dim"],
  ];
  const paint = Object.assign((text: string, style: number) => {
    const found = names.filter(([one]) => style & one).map(([, name]) => name).join(" ");
    return found === "" || text === "" ? text : `<${found}>${text}</>`;
  }, { hasBands });
  return changeRows({ path: "a.py", isNew: false, morePlaces: 0, ...change }, columns, paint);
}

Deno.test("a changed line is a band to the margin, its changed words brighter, its code coloured", () => {
  const lines = [
    line("if a:", 8, " "),
    line("  b = 1", 9, "-"),
    line("  b = 22", 9),
    line("c", 10),
  ];
  assertEquals(styled({ lines }, 20), [
    "    <dim> 8 </>  <keyword>if</> a:",
    "    <- dim>   </><->- </><->  b = </><word- - number>1</><->    </>",
    "    <+ dim> 9 </><+>+ </><+>  b = </><word+ + number>22</><+>   </>",
    "    <+ dim>10 </><+>+ </><+>c</><+>          </>",
  ]);
  assertEquals(styled({ lines: lines.slice(0, 2) }, 20, false), [
    "    <dim>8 </>  <dim>if a:</>",
    "    <- dim>  </><->- </><->  b = 1</>",
  ]);
});

Deno.test("a long line of a change goes on below its text, and no row is wider than the terminal", () => {
  assertEquals(styled({ lines: [line("abcdefghij漢字k", 7)] }, 16), [
    "    <+ dim>7 </><+>+ </><+>abcdefgh</>",
    "    <+>    </><+>ij漢字k</><+> </>",
  ]);
});

Deno.test("of a line that was replaced by quite another, no word stands out", () => {
  const lines = [line("one two three", 1, "-"), line("something = else()", 1)];
  assertEquals(styled({ lines }, 40).filter((row) => /word[-+]/.test(row)), []);
});

Deno.test("the words of a replaced line are those in which it differs from the most similar new line", () => {
  const lines = [
    line("", 1, " "),
    line("  total = a", 2, "-"),
    line("  unknown = b", 2),
    line("  total = a + c", 3),
    line(" ", 4, " "),
  ];
  const [removed, unlike, alike, ...rest] = styled({ lines }, 30);
  assertEquals([removed, unlike].filter((row) => row!.includes("word")), []);
  assertMatch(alike!, /total = a<\/><word\+ \+> \+ c<\/>/);
  // Blank lines around a change say nothing.
  assertEquals(rest, []);
});
