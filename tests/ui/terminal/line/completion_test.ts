import { assertEquals } from "@std/assert";
import type { Completion } from "../../../../src/ui/terminal/line/completion.ts";
import { rowsText } from "../../../../src/ui/terminal/styled.ts";
import { lineState } from "../../../../src/ui/terminal/line/state.ts";
import { pressAll, PressedLine, shown } from "./press_helper.ts";

const COMMANDS = [
  { label: "/model", detail: "another model", text: "/model " },
  { label: "/compact", detail: "make room" },
  { label: "/cd", detail: "another folder", text: "/cd ", isOpen: true, isUnfinished: true },
];
const FILES = ["a.txt", "b c.txt"].map((label) => ({ label, text: `@${label} `, isOpen: true }));

function offered(before: string): Completion | undefined {
  const [, word] = /(?:^| )@(\S*)$/.exec(before) ?? [];
  if (word !== undefined) {
    const items = FILES.filter(({ label }) => label.startsWith(word));
    return { replace: word.length + 1, items, isTyped: true };
  }
  if (!/^\/\w*$/.test(before)) return undefined;
  const items = COMMANDS.filter(({ label }) => label.startsWith(before));
  return { replace: before.length, items, isTyped: true };
}

/** A line in which `keys` were typed, one after the other, with what is offered looked up in between. */
async function line(...keys: string[]): Promise<PressedLine> {
  const pressed = new PressedLine(undefined, { completer: offered, onChange() {} });
  for (const part of keys) {
    await pressAll(part, pressed);
    for (let i = 0; i < 5; i++) await Promise.resolve();
  }
  return pressed;
}
const rowsOf = (pressed: PressedLine) =>
  rowsText(pressed.modals.layout({ columns: 60, rows: 24 }).rows).split("\n")
    .map((row) => row.trimEnd()).filter((row) => row !== "");

Deno.test("commands are listed as soon as a slash is typed, and fewer with each letter", async () => {
  const pressed = await line("/");
  assertEquals(rowsOf(pressed), [
    "> /",
    "❯ /model    another model",
    "  /compact  make room",
    "  /cd       another folder",
    "  Tab inserts · Enter runs it",
  ]);
  await pressAll("c", pressed);
  for (let i = 0; i < 5; i++) await Promise.resolve();
  assertEquals(rowsOf(pressed)[1], "❯ /compact  make room");
  await pressAll("\x7f", pressed);
  for (let i = 0; i < 5; i++) await Promise.resolve();
  assertEquals(rowsOf(pressed).length, 5);
});

Deno.test("a list that is too narrow for its descriptions has that of the selected row below it", async () => {
  const detail = "a description that needs two rows of forty columns";
  const items = [{ label: "/long", detail }, { label: "/short", detail: "few words" }];
  const completer = () => ({ replace: 1, items, isTyped: true });
  const pressed = new PressedLine(undefined, { completer, onChange() {} });
  await pressAll("/", pressed);
  for (let i = 0; i < 5; i++) await Promise.resolve();
  const below = (rows: number) =>
    rowsText(pressed.modals.layout({ columns: 40, rows }).rows).split("\n").slice(3);
  const keys = "  Tab inserts · Enter runs it";
  const detailed = ["    a description that needs two rows of", "    forty columns"];
  assertEquals(below(24), [...detailed, keys, ""]);
  await pressAll("\x1b[B", pressed);
  assertEquals(below(24), ["    few words", "", keys, ""]);
  assertEquals(below(10), [keys, ""]);
});

const KEYS: [name: string, keys: string[], text: string, sent: string[]][] = [
  ["Enter sends the marked command", ["/", "c", "\r"], "/compact|", ["/compact"]],
  ["an argument may be left out", ["/m", "\r"], "/model |", ["/model "]],
  ["one that must be there is waited for", ["/", "\x1b[A", "\r"], "/cd |", []],
  ["also behind a name that is typed in full", ["/cd", "\r"], "/cd |", []],
  ["a second Enter sends it without", ["/cd", "\r", "\r"], "/cd |", ["/cd "]],
  ["arrows put the next one in", ["/", "\x1b[B", "\x1b[B"], "/cd |", []],
  ["and Enter sends what they put in", ["/", "\x1b[B", "\r"], "/compact|", ["/compact"]],
  ["round the end", ["/", "\x1b[A"], "/cd |", []],
  ["Tab puts in the marked one", ["/", "\t"], "/model |", []],
  ["and closes the list: Enter sends", ["/m", "\t", "\r"], "/model |", ["/model "]],
  ["Tab after an arrow puts in the next", ["/", "\x1b[B", "\t"], "/cd |", []],
  ["undo takes all of them back at once", ["/", "\x1b[B", "\x1b[B", "\x1f"], "/|", []],
  ["a typed command is sent as it is", ["/compact", "\r"], "/compact|", ["/compact"]],
  ["what is none is sent, too", ["/x", "\r"], "/x|", ["/x"]],
  ["Escape closes the list: Enter sends the text", ["/c", "\x1b", "\r"], "/c|", ["/c"]],
  ["and it stays closed for that word", ["/", "\x1b", "c", "\r"], "/c|", ["/c"]],
  ["but not for the next one there", ["/", "\x1b", "\x15", "/", "c", "\r"], "/compact|", [
    "/compact",
  ]],
  ["nor behind the same text", ["see @", "\x1b", "\x17", "@", "\r"], "see @a.txt |", []],
  ["Enter puts a file in, and does not send", ["see @b", "\r"], "see @b c.txt |", []],
  [
    "a file that was put in by an arrow is not sent, either",
    ["@", "\x1b[B", "\r"],
    "@b c.txt |",
    [],
  ],
  ["the message goes on behind it", ["@a", "\r", "now", "\r"], "@a.txt now|", ["@a.txt now"]],
  ["a file that was typed is sent", ["@a.txt", "\r"], "@a.txt|", ["@a.txt"]],
  ["Enter in the read that ends the name sends the text", ["/c", "d foo\r"], "/cd foo|", [
    "/cd foo",
  ]],
  ["Tab in that read completes the text", ["/", "com\t"], "/compact|", []],
  ["Enter in the read after an arrow does, too", ["/", "\x1b[A", "a\r"], "/cd a|", ["/cd a"]],
  ["other keys are the line's", ["/c", "\x01", "x"], "x|/c", []],
];
for (const [name, keys, text, sent] of KEYS) {
  Deno.test(`the list below the line: ${name}`, async () => {
    const pressed = await line(...keys);
    assertEquals([shown(pressed.state), pressed.sent], [text, sent]);
  });
}

/** What Tab makes of a line, the texts offered for it, and how much of it they replace. */
const TABS: [typed: string, items: string[], replace: number, text: string][] = [
  ["re", ["read", "ready"], 2, "read|"],
  ["re", ["read"], 2, "read|"],
  ["re", ["read"], 9, "read|"],
  ["see RE", ["read", "reuse"], 2, "see re|"],
  ["re", ["are", "bare"], 2, "re|"],
  ["re", ["oh, re", "re"], 2, "re|"],
  ["recall", ["re"], 6, "re|"],
  ["re", [], 2, "re|"],
];
Deno.test("Tab puts in what all completions begin with, unless it is less than was typed", async () => {
  for (const [typed, items, replace, text] of TABS) {
    const completer = () => ({ items, replace });
    const pressed = await pressAll(typed, new PressedLine(undefined, { completer }));
    await pressAll("\t", pressed);
    for (let i = 0; i < 5; i++) await Promise.resolve();
    assertEquals(shown(pressed.state), text, typed);
  }
});

Deno.test("a screen of one row has no room for the list", async () => {
  const { modals } = await line("/");
  assertEquals(rowsText(modals.layout({ columns: 60, rows: 1 }).rows), "> /\n");
});

Deno.test("nothing is offered of a paste, or where nobody can be told that it is there", async () => {
  assertEquals(rowsOf(await line("\x1b[200~@a\x1b[201~")).length, 1);
  const silent = new PressedLine(undefined, { completer: offered });
  await pressAll("/", silent);
  assertEquals(silent.hasMenu, false);
});

Deno.test("of a long text a completer is given what is next to the cursor", async () => {
  const given: [before: string, after: string][] = [];
  const completer = (...text: [string, string]) => void given.push(text);
  const asked = async (text: string, cursor = text.length) => {
    const pressed = new PressedLine({ ...lineState({ text: [...text] }), cursor }, {
      completer,
    });
    await pressAll("\t", pressed);
    return given.pop();
  };
  const [command, mention] = ["/" + "a".repeat(1023), " @src/a"];
  assertEquals(await asked(command), [command, ""]);
  assertEquals(await asked(`b${command}`), [`…${command}`, ""]);
  assertEquals(await asked(`${command}${mention}`), [`…${command.slice(7)}${mention}`, ""]);
  assertEquals(await asked(mention.repeat(2) + command + "b", 14), [mention.repeat(2), command]);
});

Deno.test("an offer that comes when the line has changed is dropped", async () => {
  const late = Promise.withResolvers<Completion>();
  const answers = [late.promise, { replace: 2, items: [] }];
  const completer = () => answers.shift();
  let changes = 0;
  const look = { completer, onChange: () => changes++ };
  const pressed = new PressedLine(undefined, look);
  await pressAll("/c", pressed);
  late.resolve({ replace: 1, items: ["/old"], isTyped: true });
  for (let i = 0; i < 9; i++) await Promise.resolve();
  assertEquals([pressed.hasMenu, changes], [false, 0]);
});

Deno.test("the list grows while more is found, until another row was chosen", async () => {
  const fuller = [Promise.withResolvers<Completion>(), Promise.withResolvers<Completion>()];
  const offers = (...items: string[]) => ({ replace: 1, items, isTyped: true });
  const completer = () => ({
    ...offers("@a"),
    loadMore: () =>
      fuller[0]!.promise.then((next) => ({ ...next, loadMore: () => fuller[1]!.promise })),
  });
  let changes = 0;
  const pressed = new PressedLine(undefined, { completer, onChange: () => changes++ });
  const settle = async () => {
    for (let i = 0; i < 9; i++) await Promise.resolve();
  };
  await pressAll("@", pressed);
  await settle();
  const keys = "  Tab inserts · Enter runs it";
  assertEquals([rowsOf(pressed), changes], [["> @", "❯ @a", keys], 1]);
  fuller[0]!.resolve(offers("@b", "@c"));
  await settle();
  assertEquals([rowsOf(pressed), changes], [["> @", "❯ @b", "  @c", keys], 2]);
  await pressAll("\x1b[B", pressed);
  fuller[1]!.resolve(offers("@d"));
  await settle();
  assertEquals([rowsOf(pressed), changes], [["> @c", "  @b", "❯ @c", keys], 2]);
});
