import { assertEquals } from "@std/assert";
import { holdsWholeFile, leftOutBy } from "../../../src/tools/files/left_out.ts";

const OLD = "one();\ntwo();\nthree();\n";

Deno.test("a mark that stands for lost code is named, anything else is not", () => {
  const rows: [after: string, mark: string | undefined][] = [
    ["one();\n// ... existing code ...\n", "// ... existing code ..."],
    ["one();\n  # rest of the file…\n", "# rest of the file…"],
    ["one();\n... rest of the code\n", "... rest of the code"],
    ["[remaining lines ...]\n", "[remaining lines ...]"],
    ["<!-- … other parts -->\n", "<!-- … other parts -->"],
    ["one();\n// the rest stays the same\n", "// the rest stays the same"],
    ["one();\n// ...\n", "// ..."],
    ["one();\n[58 lines left out]\n", "[58 lines left out]"],
    ["one();\n[... 12 more lines ...]\n", "[... 12 more lines ...]"],
    ["one();\nf([2 lines]);\n", undefined],
    // As many lines as before: words alone are a comment.
    ["one();\n// the rest stays the same\nfour();\n", undefined],
    ["one();\n// ... existing code ...\nfour();\nfive();\n", "// ... existing code ..."],
    // Nothing is lost.
    [`${OLD}// ... existing code ...\n`, undefined],
    ["one();\nconst a = [...rest];\n", undefined],
    ["one();\nf(...existing);\n", undefined],
    ["one();\n", undefined],
    [`one();\n// ... existing code ${"x".repeat(58)}\n`, `// ... existing code ${"x".repeat(58)}`],
  ];
  for (const [after, mark] of rows) assertEquals(leftOutBy(OLD, after), mark, after);
  // What stood there before is no mark.
  const after = "// ... existing code ...\n";
  assertEquals(leftOutBy(`${after}a\nb\n`, `${after}c\n`), undefined);
  const most = "x".repeat(4 * 1024 * 1024 - after.length);
  assertEquals(leftOutBy(most, after), after.trim());
  assertEquals(leftOutBy(`${most}x`, after), undefined);
});

Deno.test("an edit whose new text is the whole file is seen, a longer part is not", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`);
  const text = lines(10).join("\n");
  const with_ = (at: number, line: string) => lines(10).with(at, line).join("\n");
  const rows: [text: string, before: string, after: string, holds: boolean][] = [
    [text, "line 4", with_(4, "new"), true],
    [text, "line 4", `${with_(4, "new")}\n\n`, true],
    [text, "line 4", "new", false],
    [text, "line 4", with_(0, "new"), false],
    [text, "line 4", with_(9, "new"), false],
    [text, text, with_(4, "new"), false],
    // All but the lines that are to go.
    [text, lines(8).slice(2).join("\n"), [...lines(2), "line 8", "line 9"].join("\n"), true],
    // Two of nine others lack: fewer than eight of ten are kept.
    [text, "line 4", lines(10).with(4, "n").with(5, "n").join("\n"), true],
    [text, "line 4", lines(10).with(4, "n").with(5, "n").with(6, "n").join("\n"), false],
    [lines(5).join("\n"), "line 2", lines(5).with(2, "n").join("\n"), true],
    [lines(4).join("\n"), "line 2", lines(4).with(2, "n").join("\n"), false],
    [lines(5).join("\n"), "line 1\nline 2\nline 3", lines(5).with(2, "n").join("\n"), false],
  ];
  for (const [text, before, after, holds] of rows) {
    assertEquals(holdsWholeFile(text, before, after), holds, after);
  }
});
