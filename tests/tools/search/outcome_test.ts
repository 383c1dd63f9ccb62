import { assertEquals } from "@std/assert";
import { fitLines, gaps, leftOut } from "../../../src/tools/search/outcome.ts";
import { emptyTally } from "../../../src/tools/search/walk.ts";

const ONE = { binary: 1, large: 2, unreadable: 3, unnameable: 4, withheld: 5, links: 1 };
const SKIPPED = "1 binary, 2 over 64 MiB, 3 unreadable, 4 with a name that is not UTF-8, " +
  "5 withheld by the rules, 1 link";

Deno.test("what a search left out, in a sentence and in a note", () => {
  const none = emptyTally();
  assertEquals([leftOut(none), gaps(none, "done")], ["", []]);
  const all = { ...none, ...ONE };
  assertEquals([leftOut(all), gaps(all, "done")], [
    ` Skipped: ${SKIPPED}.`,
    [`skipped: ${SKIPPED}`],
  ]);
  const named = { ...none, filtered: 1, ignored: 2, links: 2 };
  assertEquals(
    leftOut(named),
    " Skipped: 1 file of other names, 2 links, 2 ignored or hidden (name one as path to search it).",
  );
  // Where there are results, files of other names are no gap.
  const late = "stopped for lack of time: narrow it down with path";
  assertEquals(gaps(named, "timeout"), [late, "skipped: 2 links"]);
});

Deno.test("as many lines as fit, with the notes of what is left", () => {
  const fit = (maxChars: number, more: string[] = []) =>
    fitLines(["abc", "def"], maxChars, (shown) => [...shown < 2 ? [`${2 - shown}`] : [], ...more]);
  assertEquals(fit(7), "abc\ndef");
  assertEquals(fit(6), "[2]");
  assertEquals(fitLines(["abc", "def", "ghi"], 10, (n) => n < 3 ? ["x"] : []), "abc\n[x]");
  assertEquals(fitLines(["abc", "def", "ghi"], 11, (n) => n < 3 ? ["x"] : []), "abc\ndef\nghi");
  assertEquals([fit(11, ["n"]), fit(10, ["n"])], ["abc\ndef\n[n]", "abc\n[1; n]"]);
  assertEquals(fit(2), "[2");
  assertEquals(fitLines([], 10, () => []), "");
});
