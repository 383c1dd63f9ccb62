import { assertEquals } from "@std/assert";
import { ListModal, type ListOptions } from "../../../../src/ui/terminal/screen/list_modal.ts";
import { listRows } from "../../../../src/ui/terminal/screen/list.ts";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";
import { ownStyle } from "../../../../src/ui/terminal/style.ts";
import { rowsText } from "../../../../src/ui/terminal/styled.ts";

const PLAIN = { sgr: () => "" };
const size = { columns: 40, rows: 24 };

function list(options: Partial<ListOptions<string>> = {}, labels = ["one", "two", "three"]) {
  const items = labels.map((label) => ({ label, detail: `the ${label}`, value: label }));
  return new ListModal({ ...PLAIN, title: "Which?", items, ...options });
}
const shown = (modal: ListModal<string>, at = size) => rowsText(modal.layout(at).rows).split("\n");
function press(modal: ListModal<string>, ...names: string[]) {
  let outcome;
  for (const name of names) {
    const key: Key = name.startsWith("'")
      ? { type: "text", text: name.slice(1) }
      : { type: "key", name };
    outcome = modal.press(key);
  }
  return outcome;
}

Deno.test("a list has a title, a row for each item, the chosen one marked, and a hint", () => {
  assertEquals(shown(list({ hint: "Enter picks" }, ["one"])), [
    "Which?",
    "❯ one  the one",
    "  Enter picks",
    "",
  ]);
  assertEquals(shown(list({ isNumbered: true, chosen: 1 })), [
    "Which?",
    "  1  one    the one",
    "❯ 2  two    the two",
    "  3  three  the three",
    "",
  ]);
});

Deno.test("a question has a bar at its left", () => {
  assertEquals(shown(list({ isBarred: true }, ["one"])), ["▌ Which?", "▌ ❯ one  the one", ""]);
});

Deno.test("arrows and pages stop at the ends; Enter picks, Escape and Ctrl-C do not", () => {
  const many = Array.from({ length: 20 }, (_, i) => `item ${i}`);
  const rows: [keys: string[], picked: string][] = [
    [[], "item 0"],
    [["down", "ctrl-n", "tab"], "item 3"],
    [["down", "up"], "item 0"],
    [["up"], "item 0"],
    [["end", "down"], "item 19"],
    [["end", "shift-tab", "ctrl-p"], "item 17"],
    [["pagedown"], "item 8"],
    [["pagedown", "pagedown", "pagedown"], "item 19"],
    [["pagedown", "pageup", "pageup"], "item 0"],
    [["end"], "item 19"],
    [["end", "home"], "item 0"],
  ];
  for (const [keys, picked] of rows) {
    assertEquals(press(list({}, many), ...keys, "enter"), { done: picked }, keys.join(" "));
  }
  for (const key of ["escape", "ctrl-c", "ctrl-d", "ctrl-g"]) {
    assertEquals(press(list(), key), { done: null });
  }
  assertEquals([press(list(), "ctrl-l"), press(list(), "ctrl-z")], ["clear", "suspend"]);
});

Deno.test("a list that passes text on has its keys, and leaves any other text to the line below", () => {
  const passing = () => list({ passesText: true, isNumbered: true, hint: "Enter to select" });
  assertEquals(shown(passing()).at(-2), "  Enter to select");
  assertEquals(press(passing(), "'to hue"), "pass");
  assertEquals(press(passing(), "'2"), { done: "two" });
});

Deno.test("a hint that is too long breaks between its parts", () => {
  const hint = "Enter to select · Esc to cancel · Ctrl-R rename";
  assertEquals(shown(list({ hint })).slice(-3), [
    "  Enter to select · Esc to cancel",
    "  Ctrl-R rename · type to filter",
    "",
  ]);
});

Deno.test("a digit picks a row where rows are numbered", () => {
  assertEquals(press(list({ isNumbered: true }), "'2"), { done: "two" });
  assertEquals(press(list({ isNumbered: true }), "'4"), "bell");
  assertEquals(press(list(), "'2"), "none");
});

Deno.test("a letter picks the row that has it as its key, unless a word is being typed", () => {
  const items = [["first", "f"], ["second", "s"], ["of", undefined]].map(([label, key]) => ({
    ...{ label: label!, value: label! },
    ...key !== undefined && { key },
  }));
  for (const [keys, picked] of [["f", "first"], ["s", "second"]] as const) {
    assertEquals(press(list({ items }), `'${keys}`), { done: picked });
  }
  assertEquals(press(list({ items }), "'o", "'f", "enter"), { done: "of" });
});

Deno.test("a list of nothing, and one that fits to the column", () => {
  const nothing = list({}, []);
  assertEquals(press(nothing, "down", "up", "pagedown", "enter"), "bell");
  assertEquals(shown(nothing)[1], "  no match · Esc clears");
  const hinted = (rows: number) => shown(list({ hint: "hint" }), { columns: 40, rows }).at(-2);
  assertEquals([hinted(8), hinted(9)], ["  three  the three", "  hint · type to filter"]);
});

Deno.test("what is typed narrows the list, best first; Escape takes that back before it leaves", () => {
  const modal = list();
  press(modal, "'t", "'h");
  assertEquals(shown(modal), [
    "Which?",
    "  th",
    "❯ three  the three",
    "  one    the one",
    "  two    the two",
    "",
  ]);
  assertEquals(modal.layout(size).cursor, { row: 1, column: 4 });
  press(modal, "'r");
  assertEquals(shown(modal), ["Which?", "  thr", "❯ three  the three", ""]);
  assertEquals(press(modal, "backspace", "backspace", "'w", "enter"), { done: "two" });
  press(modal, "'xyz");
  assertEquals(shown(modal).at(-2), "  no match · Esc clears");
  assertEquals(press(modal, "enter"), "bell");
  assertEquals(press(modal, "escape"), "none");
  assertEquals(shown(modal).length, 5);
  assertEquals(press(modal, "escape"), { done: null });
});

Deno.test("where each row has its letter, a word hides no row and answers nothing, whatever is in it", () => {
  const items = [{ label: "Yes", value: "yes", key: "y" }, { label: "No", value: "no", key: "n" }];
  const modal = list({ items, sgr: ownStyle });
  assertEquals(press(modal, "'w", "'h", "'y", "enter"), "bell");
  const title = "\x1b[1mWhich?\x1b[m";
  const yes = `\x1b[7;36m${"❯ Yes".padEnd(40)}\x1b[m`;
  assertEquals(shown(modal), [title, "  why", yes, "  No", ""]);
  press(modal, "escape");
  assertEquals(shown(modal), [title, yes, "  No", ""]);
  assertEquals(press(modal, "'n"), { done: "no" });
  assertEquals(press(list({ items }), "'x", "down", "enter"), { done: "no" });
});

Deno.test("the hint of two rows or more says that typing filters, where letters do not select", () => {
  const hint = (count: number, key?: string) => {
    const items = Array.from({ length: count }, (_, n) => ({
      ...{ label: `item ${n}`, value: `${n}` },
      ...key && { key: `${n}` },
    }));
    return shown(list({ hint: "hint", items })).at(-2);
  };
  assertEquals([hint(1), hint(2), hint(2, "a")], ["  hint", "  hint · type to filter", "  hint"]);
});

Deno.test("a list has up to fifteen rows and a count, and it moves with the row that is chosen", () => {
  const many = Array.from({ length: 30 }, (_, i) => `item ${i}`);
  const modal = list({ hint: "hint" }, many);
  const rows = () => shown(modal).slice(1, -2).map((row) => row.slice(0, 9).trimEnd());
  const next = Array.from({ length: 13 }, (_, i) => `  item ${i + 1}`);
  assertEquals(rows(), ["❯ item 0", ...next, "↓ item 14"]);
  const count = () => [shown(modal)[0], shown(modal).at(-2)];
  assertEquals(count(), [`Which?${" ".repeat(30)}1/30`, "  hint · type to filter"]);
  press(modal, "pagedown", "pagedown");
  assertEquals([rows()[0], rows()[7], rows()[14]], ["↑ item 9", "❯ item 16", "↓ item 23"]);
  assertEquals(modal.layout(size).cursor, { row: 8, column: 0 });
  press(modal, "end");
  assertEquals([rows()[0], rows()[14]], ["↑ item 15", "❯ item 29"]);
  assertEquals(count()[0], `Which?${" ".repeat(29)}30/30`);
  assertEquals(shown(modal, { columns: 40, rows: 2 }).slice(1), ["❯ item 29  the item 29", ""]);
  const counted = [12, 13].map((length) => shown(list({}, many.slice(0, length)))[0]);
  assertEquals(counted, ["Which?", `Which?${" ".repeat(30)}1/13`]);
});

Deno.test("descriptions go first where there is no room, and what is cut ends in an ellipsis", () => {
  const items = [{ label: "a-name-of-20-columns", detail: "and what it means to us" }];
  const at = (columns: number) =>
    rowsText(listRows(items, 0, { columns, rows: 5 }, PLAIN)).trimEnd();
  assertEquals(at(60), "❯ a-name-of-20-columns  and what it means to us");
  assertEquals(at(38), "❯ a-name-of-20-columns  and what it m…");
  assertEquals(at(37), "❯ a-name-of-20-columns");
  assertEquals(at(48), "❯ a-name-of-20-columns  and what it means to us");
  assertEquals(at(47), "❯ a-name-of-20-columns  and what it means to us");
  assertEquals(at(46), "❯ a-name-of-20-columns  and what it means to …");
  assertEquals(at(22), "❯ a-name-of-20-columns");
  assertEquals(at(20), "❯ a-name-of-20-colu…");
});

Deno.test("a wide list keeps its descriptions beside long labels, and the end of a path that is cut", () => {
  const long = `/models/${"x".repeat(80)}-Q4_K_M.gguf`;
  const items = [{ label: long, detail: "127.0.0.1:8080" }, {
    label: "q",
    detail: "127.0.0.1:1234",
  }];
  const at = (columns: number) =>
    rowsText(listRows(items, 0, { columns, rows: 5 }, PLAIN)).trimEnd().split("\n");
  const cut = `/models/${"x".repeat(23)}…${"x".repeat(18)}-Q4_K_M.gguf`;
  assertEquals(at(80), [`❯ ${cut}  127.0.0.1:8080`, `  q${" ".repeat(63)}127.0.0.1:1234`]);
  assertEquals(at(40), [`❯ /models/${"x".repeat(11)}…${"x".repeat(6)}-Q4_K_M.gguf`, "  q"]);
  const plain = [{ label: "What is this? ".repeat(9), detail: "now" }];
  const [row] = rowsText(listRows(plain, 0, { columns: 80, rows: 5 }, PLAIN)).split("\n");
  assertEquals(row!.slice(60), "at is this? Wh…  now");
  const both = [{ label: "l".repeat(80), detail: "d".repeat(80) }];
  const [wide] = rowsText(listRows(both, 0, { columns: 80, rows: 5 }, PLAIN)).split("\n");
  assertEquals(wide, `❯ ${"l".repeat(43)}…  ${"d".repeat(31)}…`);
});

Deno.test("a list too narrow for its descriptions has that of the chosen row below it, in as many rows for each", () => {
  const items = [
    {
      label: "plan",
      detail: "nothing is written; commands only where a sandbox holds",
      value: "p",
    },
    { label: "edits", detail: "edits in the folder", value: "e" },
  ];
  const modal = list({ items, hint: "hint", isNumbered: true, passesText: true });
  const labels = ["❯ 1  plan", "  2  edits"];
  assertEquals(shown(modal), [
    ...["Which?", ...labels, "    nothing is written; commands only ", "    where a sandbox holds"],
    ...["  hint", ""],
  ]);
  press(modal, "down");
  assertEquals(shown(modal).slice(3), ["    edits in the folder", "", "  hint", ""]);
  assertEquals(shown(modal, { columns: 40, rows: 13 }).length, 5);
});

Deno.test("the letters that fit are bold, the chosen row is filled, descriptions are dim", () => {
  const items = [{ label: "src/cart.py", detail: "x" }, { label: "wide 漢 cart" }];
  const look = { sgr: ownStyle, word: "cart" };
  const bold = (at: number) =>
    listRows(items, 1 - at, { columns: 60, rows: 5 }, look)[at]!
      .filter(({ style }) => style.includes("\x1b[1m")).map(({ text }) => text).join("");
  assertEquals([bold(0), bold(1)], ["cart", "cart"]);
  const styles = listRows(items, 0, { columns: 60, rows: 5 }, look)[0]!.map(({ style }) => style);
  assertEquals([styles[2], styles.at(-1)], ["\x1b[7;36m", "\x1b[7;36m"]);
  const other = listRows(items, 1, { columns: 60, rows: 5 }, look)[0]!.map(({ style }) => style);
  assertEquals([other[2], other.at(-1)], ["", "\x1b[2m"]);
});

Deno.test("rows of a group have its heading above the first one, which counts as a row", () => {
  const items = ["a", "b", "c", "d"].map((label, at) => ({
    label,
    group: at < 2 ? "First" : "Second",
  }));
  const at = (chosen: number, rows: number) =>
    rowsText(listRows(items, chosen, { columns: 40, rows }, PLAIN)).trimEnd().split("\n");
  assertEquals(at(2, 9), ["  First", "  a", "  b", "  Second", "❯ c", "  d"]);
  assertEquals(at(3, 3), ["↑ Second", "  c", "❯ d"]);
  assertEquals(at(0, 3), ["  First", "❯ a", "↓ b"]);
  const values = items.map((item) => ({ ...item, value: item.label }));
  const modal = new ListModal({ ...PLAIN, title: "Which?", items: values, chosen: 2 });
  assertEquals(modal.layout(size).cursor, { row: 5, column: 0 });
});

Deno.test("what could drive the terminal is shown, not sent", () => {
  const row = rowsText(listRows([{ label: "a\x1b[31mb\nc" }], 0, { columns: 40, rows: 3 }, PLAIN));
  assertEquals(row.split("\n").length, 2);
  assertEquals(row.includes("\x1b"), false);
});
