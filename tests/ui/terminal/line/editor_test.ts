import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { layoutLine } from "../../../../src/ui/terminal/line/line_layout.ts";
import { lineState } from "../../../../src/ui/terminal/line/state.ts";
import { noTmux, type Terminal, terminal } from "../../../helpers/tmux.ts";

const command = (mode = "input") =>
  `"$DENO" run -A --no-check "$PROJECT/tests/ui/terminal/line/edit_lines.ts" ${mode}`;

function inTerminal(
  name: string,
  fn: (term: Terminal) => Promise<void>,
  { mode = "input", columns = 80, rows = 24, shell = "sh", env = "" } = {},
): void {
  Deno.test(name + (noTmux && `: skipped, ${noTmux}`), { ignore: noTmux !== "" }, async () => {
    await using term = await terminal({ columns, rows, shell });
    await term.type(`PS1='$ '; stty -g > before; clear; ${env} ${command(mode)}\r`);
    await term.until((rows) => /^(> |name:)/.test(`${rows[0]} `));
    await fn(term);
  });
}

function laidOut(text: string, columns: number, maxRows = 24) {
  const frame = layoutLine(lineState({ text }), { prompt: "> ", sgr: () => "", columns, maxRows });
  const rows = frame.rows.map((row) => row.map((cell) => cell.text).join("").trimEnd());
  return { ...frame.cursor, rows: rows.join("\n") };
}

/** After the program has ended: the terminal is as it was before. */
async function assertRestored(term: Terminal): Promise<void> {
  await term.until((rows) => rows.at(-1) === "$");
  await term.type("stty -g > after; echo left $?\r");
  await term.until("left 0");
  const settings = await Promise.all(
    ["before", "after"].map((name) => Deno.readTextFile(`${term.folder}/${name}`)),
  );
  assertEquals(settings[1], settings[0]);
  await term.output((text) => text.lastIndexOf("\x1b[?2004l") > text.lastIndexOf("\x1b[?2004h"));
}

inTerminal("typing, editing, and leaving with Ctrl-C", async (term) => {
  await term.type("helo\x1b[Dl 日本 e\u0301 👍\x05!");
  await term.until("> hell 日本 e\u0301 👍o!");
  await term.type("\r");
  await term.until('got "hell 日本 e\u0301 👍o!"');
  await term.until((rows) => rows.at(-1) === ">");
  await term.type("not sent\x03");
  await term.until("got null");
  await assertRestored(term);
});

for (const mode of ["input", "line"]) {
  Deno.test(
    `Enter typed before the prompt is there is Enter: ${mode}` + (noTmux && `: ${noTmux}`),
    { ignore: noTmux !== "" },
    async () => {
      await using term = await terminal();
      await term.type(`clear; ${command(mode)}\rearly\rtoo\r`);
      await term.until('got "too"');
      assertStringIncludes((await term.screen()).join("\n"), 'got "early"');
    },
  );
}

inTerminal("long text wraps, wide characters whole, and can be edited everywhere", async (term) => {
  const text = "日本語".repeat(10) + "x".repeat(30);
  await term.type(text);
  const expected = laidOut(text, 21);
  await term.until((rows) => rows.join("\n") === expected.rows);
  await term.untilCursor(expected.column, expected.row);
  await term.type("\x01X");
  await term.until((rows) => rows[0] === "> X日本語日本語日本語");
  await term.untilCursor(3, 0);
  await term.type("\x7f\r");
  await term.until((rows) => rows.join("").includes(`got "${text}"`));
}, { columns: 21 });

inTerminal("history, search and completion", async (term) => {
  await term.type("\x1b[A");
  await term.until((rows) => rows[0] === "> third entry");
  await term.type("\x1b[A");
  await term.until((rows) => rows[1] === "  with two lines");
  await term.type("\x1b[A\x1b[A");
  await term.until((rows) => rows.join("|") === "> first entry");
  await term.type("\x1b>/c\t\t");
  await term.until((rows) => rows.join("|") === "> /clear|❯ /clear|  /close|  /cd");
  await term.type("\x15\x12wi");
  await term.until("(reverse-i-search)'wi': second");
  await term.type("\r");
  await term.until((rows) =>
    rows.slice(0, 3).join("|") === '> second|  with two lines|got "second\\nwith two lines"'
  );
  // Keys that come before the next prompt are echoed by the terminal.
  await term.untilCursor(2, 3);
  await term.type("again\\\r");
  await term.untilCursor(2, 4);
  await term.type("and on\r");
  await term.until('got "again\\nand on"');
  await term.type("\x1b[A\x1b[Aentry\r");
  await term.until('got "againentry\\nand on"');
});

inTerminal("TTY-03 pastes go in as they are, and never submit", async (term) => {
  await term.type("\x1b[200~one\r\ntwo\rthree\r\x1b[201~");
  await term.until((rows) => rows.join("|") === "> one|  two|  three");
  await term.untilCursor(2, 3);
  await term.type("\x7f\r");
  await term.until('got "one\\ntwo\\nthree"');
  await term.type("\x1b[200~bad\x1b[201~\ry\r\x03\x1b[201~\r");
  await term.until('got "bad\\ny\\n\\u0003"');
  await term.type(`look: \x1b[200~${"line\r".repeat(120)}\x1b[201~ ok`);
  await term.until("> look: [pasted 120 lines] ok");
  await term.type("\x1b[D\x1b[D\x1b[D\x7f\x7f\r");
  await term.until('got "look: ok"');
});

inTerminal(
  "TTY-05 Ctrl-Z gives the shell a sane terminal, fg brings the text back",
  async (term) => {
    await term.type("half a sentence\x1a");
    await term.until("Stopped");
    await term.type("stty -g > stopped; echo ready; cat\r");
    await term.until((rows) => rows.includes("ready"));
    await term.type("typed\r\x04");
    await term.until((rows) => rows.filter((row) => row === "typed").length === 2);
    const { folder } = term;
    assertEquals(
      await Deno.readTextFile(`${folder}/stopped`),
      await Deno.readTextFile(`${folder}/before`),
    );
    await term.type("fg\r");
    await term.until((rows) => rows.at(-1) === "> half a sentence");
    await term.type(", whole\r");
    await term.until('got "half a sentence, whole"');
    await term.type("\x03");
    await assertRestored(term);
  },
  { shell: "bash --norc --noprofile --noediting" },
);

inTerminal("TTY-05 stopped by somebody else, and ended while stopped", async (term) => {
  await term.type("some text");
  await term.until("some text");
  await kill(term, "SIGTSTP");
  await term.until("Stopped");
  await term.type("fg\r");
  await term.until((rows) => rows.at(-1) === "> some text");
  await kill(term, "SIGSTOP");
  await term.until((rows) => rows.filter((row) => row.includes("Stopped")).length === 2);
  await term.type("fg\r");
  await term.until((rows) => rows.at(-1) === "> some text");
  await term.type("\x1a");
  await term.until((rows) => rows.filter((row) => row.includes("Stopped")).length === 3);
  await term.type("kill -9 %1; clear\r");
  await assertRestored(term);
}, { shell: "bash --norc --noprofile --noediting" });

for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
  inTerminal(`TTY-04 ${signal} restores the terminal, and ends as ever`, async (term) => {
    await term.type("text of two rows " + "x".repeat(80) + "\x01");
    await term.until("xxx");
    await kill(term, signal);
    await term.until((rows) => rows.at(-1) === "$");
    await term.type("echo code $?\r");
    await term.until(`code ${{ SIGTERM: 143, SIGHUP: 129, SIGINT: 130 }[signal]}`);
    await assertRestored(term);
    const rows = (await term.screen()).slice(0, 2).map((row) => row.trim());
    assertStringIncludes(rows.join(""), "x".repeat(80));
  });
}

const ends: [mode: string, message: string][] = [
  ["throw", "thrown meanwhile"],
  ["reject", "rejected meanwhile"],
  ["exit", ""],
];
for (const [mode, message] of ends) {
  inTerminal(`TTY-04 ${mode} while a line is edited restores the terminal`, async (term) => {
    await term.type("/c\t");
    await assertRestored(term);
    await term.until(message);
  }, { mode });
}

inTerminal("TTY-05 a terminal found raw is sane while the program is stopped", async (term) => {
  await term.type("text\x1a");
  await term.until("Stopped");
  await assertSane(term);
  await term.type("clear; fg\r");
  await term.until((rows) => rows.at(-1) === "> text");
  await term.type("\x03");
  await assertSane(term);
  // Not bash, which gives a terminal the settings that it had before the program.
}, { env: "stty -icanon -echo;" });

inTerminal("TTY-04 a terminal without echo is not raw, and stays so", async (term) => {
  await term.type("\x03");
  await term.until("got null");
  await term.type("stty -a > after; echo left\r");
  await term.until("left");
  assertStringIncludes(await Deno.readTextFile(`${term.folder}/after`), " -echo ");
}, { env: "stty -echo;" });

async function assertSane(term: Terminal): Promise<void> {
  await term.until((rows) => rows.at(-1) === "$");
  await term.type("stty -a > after; echo is $?\r");
  await term.until((rows) => rows.at(-2) === "is 0");
  const settings = await Deno.readTextFile(`${term.folder}/after`);
  for (const name of ["icanon", "echo", "isig", "icrnl", "opost"]) {
    assert(settings.split(/[\s;]+/).includes(name), `${name}: ${settings}`);
  }
}

inTerminal("readLineRaw: prompt in colour, one line, what was typed ahead", async (term) => {
  await term.type("a\\\rtyped ahead");
  await term.until((rows) => rows.join("|") === 'name: a\\|got "a\\\\"|name: typed ahead');
  await term.output((text) => text.includes("\x1b[32mname: \x1b[m"));
  await term.type("\x04\x01\x0b\x04");
  await term.until("got null");
}, { mode: "line" });

inTerminal(
  "TTY-09 a terminal that knows no escape sequences edits the line itself",
  async (term) => {
    await term.type("helo\x7flo\r");
    await term.until('got "hello"');
    await term.type("one\\\rtwo\r");
    await term.until('got "one\\ntwo"');
    await term.type("\x03");
    await term.until("got null");
    assert(!(await term.output()).includes("\x1b[?"));
    // A read that is under way can not be called back: the process waits for its end.
    await term.type("\r");
    await term.until((rows) => rows.at(-1) === "$");
  },
  { mode: "input", env: "TERM=dumb" },
);

async function kill(term: Terminal, signal: Deno.Signal): Promise<void> {
  Deno.kill(Number(await Deno.readTextFile(`${term.folder}/pid`)), signal);
}

Deno.test("TTY-09 without a terminal lines come as they are, not an escape or prompt", async () => {
  const rows: [mode: string, stdin: string, ...texts: (string | null)[]][] = [
    ["input", "one\ntwo\r\nthree", "one", "two", "three", null],
    ["input", "one\\\ntwo\nthree\\\n", "one\ntwo", "three", null],
    ["input", "", null],
    ["input", "\n\n", "", "", null],
    ["line", "one\\\ntwo\n", "one\\", "two", null],
    ["line", "日本\n\x03\n", "日本", "\x03", null],
  ];
  for (const [mode, stdin, ...texts] of rows) {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", import.meta.resolve("./edit_lines.ts"), mode],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
    const output = new TextDecoder().decode((await child.output()).stdout);
    assertEquals(output, texts.map((text) => `got ${JSON.stringify(text)}\r\n`).join(""));
  }
});
