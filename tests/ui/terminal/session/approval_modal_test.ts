import { assertEquals } from "@std/assert";
import { ApprovalModal } from "../../../../src/ui/terminal/session/approval_modal.ts";
import { answerRows } from "../../../../src/ui/answers.ts";
import type { Approval, ApprovalAnswer, ApprovalChoice } from "../../../../src/safety/approval.ts";
import { type Key, KeyDecoder } from "../../../../src/ui/terminal/line/keys.ts";
import { rowsText } from "../../../../src/ui/terminal/styled.ts";

const CHOICES: readonly ApprovalChoice[] = ["once", "refuse", "session", "folder", "edit"];

function approval(more: Partial<Approval> = {}): Approval {
  return {
    call: { id: "1", name: "run_bash", arguments: { command: "npm test" } },
    subject: { command: "npm test" },
    reason: "runs a command",
    isRoutine: true,
    isFromUser: false,
    choices: CHOICES,
    rules: [{ rule: "run_bash(npm test *)", words: "npm test …" }],
    ...more,
  };
}

function question(
  more: Partial<Approval> = {},
  columns = 80,
  about = "the call",
  isSeen?: () => boolean,
) {
  const calls: string[] = [];
  const one = approval(more);
  const modal = new ApprovalModal({
    about: () => about,
    hasGap: true,
    ...isSeen && { isSeen },
    transcriptKey: "F2",
    rows: (columns) => answerRows(one, columns, "Shift-Tab"),
    ...{ allowsEdits: one.allowsEdits, isLossy: one.isLossy },
    command: one.choices.includes("edit") ? one.subject.command : undefined,
    sgr: () => "",
    ring: { kills: [] },
    help: () => "y  yes\nn  no",
    onCancel: () => calls.push("cancel"),
  });
  const decoder = new KeyDecoder();
  const press = (keys: string) => {
    let outcome;
    const all = [...decoder.push(new TextEncoder().encode(keys)), ...decoder.flush()];
    for (const key of all as Key[]) outcome = modal.press(key);
    return outcome;
  };
  const rows = (size = { columns, rows: 24 }) =>
    rowsText(modal.layout({ ...size, columns: size.columns + 2 }).rows).split("\n")
      .slice(0, -1).map((row) => row.replace(/^▌ /, "").trimEnd());
  return { modal, press, rows, calls };
}

Deno.test("in a question about a loss, no is selected first", () => {
  const { rows, press } = question({ isLossy: true });
  assertEquals(rows().filter((row) => row.startsWith("❯")), ["❯ n  No: say what to do instead"]);
  assertEquals([press("\r"), press("\r")], ["none", { done: { choice: "refuse", reason: "" } }]);
});

Deno.test("a question is a list: what each answer allows stands in its row", () => {
  assertEquals(question().rows(), [
    ...["", "the call"],
    "",
    "❯ y  Yes",
    "  a  Yes, and any `npm test …` in this session",
    "  s  Yes, and any `npm test …` from now on in this folder",
    "  n  No: say what to do instead",
    "  e edit · ? help · Esc stops the turn",
  ]);
  const exact = [{ rule: "run_bash(npm test)", words: "npm test" }];
  assertEquals(question({ rules: exact }).rows()[4], "  a  Yes, and exactly this in this session");
  assertEquals(question({}, 40).rows()[4], "  a  Yes, always in this session");
  assertEquals(question({ choices: ["once", "refuse"], isFromUser: true }).rows(), [
    ...["", "the call"],
    "",
    "❯ y  Yes",
    "  n  No",
    "  ? help · Esc stops the turn",
  ]);
});

const ANSWERS: [keys: string, answer: ApprovalAnswer][] = [
  ["1", { choice: "once" }],
  ["2", { choice: "session" }],
  ["3", { choice: "folder" }],
  ["y", { choice: "once" }],
  ["Y", { choice: "once" }],
  ["a", { choice: "session" }],
  ["s", { choice: "folder" }],
  ["\r", { choice: "once" }],
  ["\x1b[B\r", { choice: "session" }],
  ["\t\t\r", { choice: "folder" }],
  ["\x1b[A\r\r", { choice: "refuse", reason: "" }],
  ["4\r", { choice: "refuse", reason: "" }],
  ["4use make\r", { choice: "refuse", reason: "use make" }],
  ["n\r", { choice: "refuse", reason: "" }],
  ["n use make\r", { choice: "refuse", reason: "use make" }],
  ["no, use make\r", { choice: "refuse", reason: "use make" }],
  ["no\r", { choice: "refuse", reason: "" }],
  ["not now\r", { choice: "refuse", reason: "not now" }],
  ["Nightly builds\r", { choice: "refuse", reason: "Nightly builds" }],
  ["explain it first\r", { choice: "refuse", reason: "explain it first" }],
  ["\x1b[Ause make\r", { choice: "refuse", reason: "use make" }],
  ["4x\x7f\x7f1", { choice: "once" }],
  ["nx\x1b[27u2", { choice: "session" }],
  ["e\r", { choice: "once" }],
  ["e -v\r", { choice: "edit", command: "npm test -v" }],
  ["e\x15\r\x1b[B\r", { choice: "session" }],
  ["\x1b[200~yes, and go on\x1b[201~\r", { choice: "refuse", reason: "yes, and go on" }],
  ["\x1b[200~1\nsecond line\x1b[201~\r", { choice: "refuse", reason: "1" }],
  ["use make instead\r", { choice: "refuse", reason: "use make instead" }],
  ["yes please\r", { choice: "refuse", reason: "yes please" }],
];
for (const [keys, answer] of ANSWERS) {
  Deno.test(`the keys ${JSON.stringify(keys)} answer a question`, () => {
    assertEquals(question().press(keys), { done: answer });
  });
}

Deno.test("a word that was typed letter by letter behind the key n is whole in the reason", () => {
  const reasons: [typed: string, reason: string][] = [
    ["not now", "not now"],
    ["Nope", "Nope"],
    ["Never, I say", "Never, I say"],
    ["npx instead", "npx instead"],
    ["no", ""],
    ["no: use make", "use make"],
    ["nuse make", "use make"],
    ["nother ways exist", "other ways exist"],
    ["n, wait", "wait"],
    ["4ot now", "ot now"],
  ];
  for (const [typed, reason] of reasons) {
    const { press, rows } = question();
    for (const letter of typed) press(letter);
    if (/^n\w+ \w/i.test(reason)) assertEquals(rows()[6], `❯ n  No: ${reason}`);
    assertEquals(press("\r"), { done: { choice: "refuse", reason } }, typed);
  }
});

Deno.test("SEC a character that is no answer starts a reason: the Enter after it never allows the call", () => {
  const few = { choices: ["once", "refuse"] as const };
  for (const typed of ["x", "5", "-", "/exit", "hello there", "élan"]) {
    const { press, rows } = question();
    for (const letter of typed) press(letter);
    assertEquals(rows()[6], `❯ n  No: ${typed}`);
    assertEquals(press("\r"), { done: { choice: "refuse", reason: typed } });
  }
  for (const typed of ["/undo", "always", "stop", "exit", "2", "sudo x"]) {
    const letters = question(few);
    for (const letter of typed) letters.press(letter);
    const answer = { done: { choice: "refuse" as const, reason: typed } };
    assertEquals([letters.press("\r"), question(few).press(`${typed}\r`)], [answer, answer]);
  }
  const { press } = question(few);
  for (const keys of ["/\x7f\x7f", "/\x1b"]) assertEquals(press(keys), "none");
  assertEquals(press("\x01"), "bell");
  assertEquals(press("y"), { done: { choice: "once" } });
  for (const burst of ["1st", "e\x15\r1st"]) assertEquals(question().press(burst), "none");
});

Deno.test("? explains, Escape and Ctrl-C end the turn, and neither is an answer", () => {
  const help = question();
  const before = help.rows();
  assertEquals(help.press("?"), "none");
  assertEquals(help.rows(), [...before.slice(0, -1), "y  yes", "n  no", before.at(-1)]);
  assertEquals(help.rows({ columns: 80, rows: 6 }).at(-1), "  n  No: say what to do instead");
  assertEquals(help.press("?"), "bell");
  assertEquals(help.rows(), before);
  for (const [rows, outcome] of [[8, "bell"], [9, "none"]] as const) {
    const low = question();
    low.rows({ columns: 80, rows });
    assertEquals(low.press("?"), outcome, `${rows}`);
  }
  const open = question();
  open.press("?");
  assertEquals([open.press("\x1b"), open.rows(), open.calls], ["none", before, []]);
  for (const keys of ["\x1b", "\x03", "\x04"]) {
    const { press, calls } = question();
    assertEquals([press(keys), calls], [{ done: null }, ["cancel"]]);
  }
});

Deno.test("a reason is typed in the place of the last row, the command in that of all", () => {
  const reason = question();
  reason.press("n use make");
  assertEquals(reason.rows().slice(5), [
    "  s  Yes, and any `npm test …` from now on in this folder",
    "❯ n  No:  use make",
    "  Enter sends it · Esc goes back",
  ]);
  assertEquals(reason.modal.layout({ columns: 80, rows: 24 }).cursor, { row: 6, column: 20 });
  const command = question();
  command.press("e");
  assertEquals(command.rows(), ["❯ npm test", "  Enter runs it, once · Esc goes back"]);
  for (const [keys, title] of [["4x", ""], ["e\x15x", "❯"]] as const) {
    const { press, rows } = question();
    press(`${keys}\x7f`);
    assertEquals(rows()[0], title, keys);
    press("\x7f");
    assertEquals(rows().at(-1), "  e edit · ? help · Esc stops the turn", keys);
  }
});

Deno.test("a question on a low screen keeps the row that is chosen", () => {
  const { press, rows } = question();
  press("\t");
  assertEquals(rows({ columns: 80, rows: 2 }), [
    "  y  Yes",
    "❯ a  Yes, and any `npm test …` in this session",
  ]);
});

Deno.test("what is asked about stands above the answers; of what does not fit, both ends, and a row says so", () => {
  const call = Array.from({ length: 30 }, (_, n) => `call ${n + 1}`).join("\n");
  const about = (rows: number, columns = 80) =>
    question({}, columns, call).rows({ columns, rows }).slice(0, rows - 6);
  const all = call.split("\n");
  assertEquals(about(37), ["", ...all]);
  assertEquals(about(36), all);
  assertEquals(about(35), [
    ...all.slice(0, 14),
    "  … 2 of 30 rows hidden · F2",
    ...all.slice(16),
  ]);
  assertEquals(about(10), [
    "call 1",
    "call 2",
    "  … 27 of 30 rows hidden · F2",
    "call 30",
  ]);
  const low = question({}, 80, call).rows({ columns: 80, rows: 6 });
  assertEquals(low.slice(0, 2), ["call 1", "  … 29 of 30 rows hidden · F2"]);
});

Deno.test("CMD-05 what is cut is not allowed before all of it was shown; it may be refused", () => {
  const call = Array.from({ length: 30 }, (_, n) => `call ${n + 1}`).join("\n");
  let isSeen = false;
  const { press, rows } = question({}, 80, call, () => isSeen);
  const hint = (size: { columns: number; rows: number }) => rows(size).at(-1);
  const [low, high] = [{ columns: 80, rows: 24 }, { columns: 80, rows: 40 }];
  assertEquals(hint(low), "  e edit · ? help · Esc stops the turn");
  for (const key of ["1", "y", "2", "s", "\r"]) assertEquals(press(key), "bell", key);
  assertEquals(hint(low), "  see all of it first: F2 · Esc stops the turn");
  assertEquals(press("4no\r"), { done: { choice: "refuse", reason: "no" } });
  const other = question({}, 80, call, () => isSeen);
  other.rows(low);
  assertEquals(other.press("1"), "bell");
  assertEquals(other.rows(high).at(-1), "  e edit · ? help · Esc stops the turn");
  assertEquals(other.press("1"), { done: { choice: "once" } });
  other.rows(low);
  isSeen = true;
  assertEquals(other.press("2"), { done: { choice: "session" } });
});

Deno.test("CMD-05 a command that is cut is not run from its own line before all of it was shown", () => {
  const call = Array.from({ length: 30 }, (_, n) => `call ${n + 1}`).join("\n");
  let isSeen = false;
  const cases = [
    ["", { choice: "once" }],
    [" -v", { choice: "edit", command: "npm test -v" }],
  ] as const;
  for (const [keys, answer] of cases) {
    isSeen = false;
    const { press, rows } = question({}, 80, call, () => isSeen);
    rows();
    press(`e${keys}`);
    assertEquals(rows(), [`❯ npm test${keys}`, "  Enter runs it, once · Esc goes back"]);
    assertEquals(press("\r"), "bell");
    assertEquals(rows(), [`❯ npm test${keys}`, "  see all of it first: F2 · Esc goes back"]);
    assertEquals(press("\r"), "bell");
    isSeen = true;
    assertEquals(rows().at(-1), "  Enter runs it, once · Esc goes back");
    assertEquals(press("\r"), { done: answer });
  }
});

Deno.test("a low screen says why an answer was not taken", () => {
  const { press, rows } = question({}, 80, "call 1\ncall 2\ncall 3", () => false);
  const low = { columns: 80, rows: 6 };
  assertEquals(rows(low).at(-1), "  n  No: say what to do instead");
  assertEquals(press("y"), "bell");
  assertEquals([rows(low).length, rows(low).at(-1)], [
    6,
    "  see all of it first: F2 · Esc stops the turn",
  ]);
});

Deno.test("the key of the next mode allows all edits where an answer does, and otherwise moves up", () => {
  const all = question({ allowsEdits: true });
  assertEquals(all.rows()[4], "  a  Yes, and all edits in this session (Shift-Tab)");
  assertEquals(all.press("\x1b[Z"), { done: { choice: "session" } });
  const one = question();
  assertEquals([one.press("\x1b[Z"), one.press("\r")], ["none", "none"]);
  assertEquals(one.rows()[6], "❯ n  No:");
});

Deno.test("a bar is at the left of every row of a question, and No has the same key in each", () => {
  const few = question({ choices: ["once", "refuse"] }, 38, "the call");
  const rows = rowsText(few.modal.layout({ columns: 40, rows: 24 }).rows).split("\n");
  assertEquals(rows.slice(1, -1).filter((row) => !row.startsWith("▌ ")), []);
  assertEquals(few.press("4"), "none");
  assertEquals(few.press("\r"), { done: { choice: "refuse", reason: "" } });
});
