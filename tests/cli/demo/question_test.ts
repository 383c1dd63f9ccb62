import { assertEquals } from "@std/assert";
import { answerQuestion } from "../../../src/cli/demo/question.ts";

/** The answer to `ask`, without its first and last lines, and the patterns that were searched for. */
function answered(
  ask: string,
  names: string[],
  { found = () => "No matches found" as string, read = "", inside = "" } = {},
): { lines: string[]; patterns: unknown[] } {
  const patterns: unknown[] = [];
  const lines = answerQuestion(ask, false, (name, args) => {
    if (name === "list_directory") {
      return args.path === "." ? [...names, `[${names.length} entries]`].join("\n") : inside;
    }
    if (name === "read_file") return read;
    patterns.push(args.pattern);
    return found();
  });
  return { lines: lines.slice(2, -2), patterns };
}
const numbered = (count: number, sign: string, rest: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => `${sign}${n}${rest(n)}`);

Deno.test("demo: up to twelve names of the folder are shown, and the six most frequent languages", () => {
  const here = (count: number) => answered("?", numbered(count, "f", () => "")).lines[0];
  const shown = numbered(12, "`f", () => "`").join(", ");
  assertEquals(here(0), "- Here: 0 files and 0 folders");
  assertEquals(here(1), "- Here: 1 file and 0 folders: `f0`");
  assertEquals(here(12), `- Here: 12 files and 0 folders: ${shown}`);
  assertEquals(here(13), `- Here: 13 files and 0 folders, such as ${shown}`);
  const endings = ["go", "py", "rs", "ts", "js", "rb", "lua"];
  const files = endings.flatMap((ending, n) => numbered(7 - n, "f", () => `.${ending}`));
  assertEquals(
    answered("?", files).lines[1],
    "- Languages, by the file endings here: Go (7), Python (6), Rust (5), TypeScript (4), " +
      "JavaScript (3), Ruby (2)",
  );
});

Deno.test("demo: the words of a question that are searched for are names, then the longest, two at most", () => {
  const rows: [ask: string, patterns: string[]][] = [
    ["what is it", ["TODO", "main"]],
    ["is ab abc", ["abc", "TODO", "main"]],
    [`what ${"x".repeat(60)}`, [`x${"x".repeat(59)}`, "TODO", "main"]],
    [`what ${"x".repeat(61)}`, ["TODO", "main"]],
    ["short longest middle", ["longest", "middle", "TODO", "main"]],
    ["where is longest or aName", ["aName", "longest", "TODO", "main"]],
    ["where is `a phrase` of longest", ["a phrase", "TODO", "main"]],
    ["main", ["TODO", "main"]],
    [`${" ".repeat(2000)}behind`, ["TODO", "main"]],
    [`${" ".repeat(1994)}before`, ["before", "TODO", "main"]],
  ];
  for (const [ask, patterns] of rows) assertEquals(answered(ask, []).patterns, patterns, ask);
});

Deno.test("demo: the search goes on until something is found; of six files the first match is named", () => {
  const match = (count: number) => numbered(count, "f", (n) => `.ts:${n + 1}:one`).join("\n");
  const shown = numbered(6, "  - `f", (n) => `.ts:${n + 1}\` \`one\``);
  const about = (ask: string, results: string[]) =>
    answered(ask, [], { found: () => results.shift() ?? "No matches found" }).lines.slice(1);
  assertEquals(about("first", [match(6)]), ["- `first` is in 6 files:", ...shown]);
  assertEquals(about("first", [match(7)]), ["- `first` is in 7 files, such as:", ...shown]);
  assertEquals(about("first", [`${match(1)}\nf0.ts:9:two`]), ["- `first` is in 1 file:", shown[0]]);
  assertEquals(about("first", [`${match(1)}\n[more]`])[0], "- `first` is in at least 1 file:");
  const none = "No matches found";
  assertEquals(
    about("first", [none, match(1)])[0],
    "- `first` was not found; `TODO` is in 1 file:",
  );
  assertEquals(
    about("first", [none, none, match(1)])[0],
    [
      "- `first` and `TODO` were not found; `main` is in 1 file:",
    ][0],
  );
  assertEquals(about("first", []), ["- A search for `first`, `TODO`, `main` found nothing."]);
  assertEquals(about("first", ["Error: it broke"]), ["- Error: it broke"]);
});

Deno.test("demo: a project is told of by its README's first sentences, or by the fields of its file", () => {
  const file = (text: string) => text.split("\n").map((line, n) => `${n + 1}\t${line}`).join("\n");
  const about = (name: string, text: string) =>
    answered("?", [name], { read: file(text) }).lines[0];
  const prose = "It does one thing, and does it well. Then it stops. More is not said.";
  const first = "It does one thing, and does it well. Then it stops.";
  assertEquals(
    about("README.md", `# Name\n\n[![badge](x)](y)\n\n${prose}`),
    `- **Name**: ${first} (\`README.md\`)`,
  );
  assertEquals(about("README.md", "```\ncode\n```\n# Name"), "- **Name** (`README.md`)");
  assertEquals(about("README.md", ""), "- begins with `nothing: it is empty` (`README.md`)");
  const fields = '{\n  "name": "tool",\n  "description": "does it"\n}';
  assertEquals(about("package.json", fields), "- **tool**: does it (`package.json`)");
  assertEquals(
    answered("?", ["README.md"], { read: "Error: no" }).lines[0],
    "- `README.md`: Error: no",
  );
});
