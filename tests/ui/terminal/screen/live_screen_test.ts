import { assertEquals } from "@std/assert";
import { LiveScreen } from "../../../../src/ui/terminal/screen/live_screen.ts";
import type { Screen } from "../../../../src/ui/terminal/screen/screen.ts";
import type { TextPart } from "../../../../src/types/message.ts";
import { keymapOf } from "../../../../src/ui/terminal/line/actions.ts";
import type { RawOptions } from "../../../../src/ui/terminal/tty.ts";
import { styleStart } from "../../../../src/ui/terminal/style.ts";
import { FakeTerminal } from "./fake_terminal.ts";

type Options = ConstructorParameters<typeof LiveScreen>[0];

function makeScreen(options: Partial<Options> = {}) {
  const terminal = new FakeTerminal();
  const screen = new LiveScreen({
    sgr: () => "",
    unicode: true,
    history: () => [],
    completer: () => undefined,
    activity: () => undefined,
    footer: () => "the status",
    onStop() {},
    onEnd(signal) {
      throw new Error(`ended by ${signal}`);
    },
    ...options,
  }, terminal);
  return { screen, terminal };
}

/** The texts that the newest screen saved. */
let dropped: string[] = [];

/** A test of a live screen, amid a turn unless `activity` is left out. */
function screenTest(
  name: string,
  body: (
    screen: Screen,
    terminal: FakeTerminal,
    stops: string[],
    turn: { activity?: string | undefined },
  ) => Promise<void>,
  options: {
    activity?: string | undefined;
    history?: string[];
    panel?: string[];
    help?: string[];
  } = {
    activity: "working",
  },
): void {
  Deno.test(name, async () => {
    const stops: string[] = [];
    dropped = [];
    const turn = { activity: options.activity };
    let isHidden = false;
    const made = makeScreen({
      history: () => options.history ?? [],
      completer: (before) => ({ replace: before.length, items: ["/clear", "/close"] }),
      activity: () => turn.activity === undefined ? undefined : ["", turn.activity],
      onStop() {
        stops.push("stop");
        terminal.write(""); // wakes those that wait
      },
      rewind: { type: "text", text: "/undo" },
      onUnsent: ({ text }) => dropped.push(text),
      help: () => options.help ?? ["  /  commands", "  @  files"],
      overtakes: (line) => line.startsWith("/"),
      panel: () => isHidden ? [] : options.panel ?? [],
      onTasks: () => isHidden = !isHidden,
    });
    const { terminal } = made;
    using screen = made.screen;
    await terminal.type("");
    await body(screen, terminal, stops, turn);
  });
}

const yes = (line: string) => line === "y" ? undefined : "y is the answer";
/** The rows that `output` writes, one below the other. */
const plain = (output: string) =>
  // deno-lint-ignore no-control-regex
  output.replace(/\x1b\[[?\d]*[A-Za-z]|\r/g, "").split("\n").map((row) => row.trimEnd());
const isAsked = ({ rows }: FakeTerminal) => rows.some((row) => row.startsWith("Run this?"));

screenTest(
  "a question accepts keys after 300 ms of quiet, with text in the line after 1 s",
  async (screen, terminal) => {
    const answer = screen.ask("Run this? ", yes, new AbortController().signal);
    const isComing = (rows: readonly string[]) => rows.includes("Stop typing to answer:");
    await terminal.until(isComing);
    for (let i = 0; i < 3; i++) {
      await terminal.type("y\r");
      await terminal.wait(200);
      assertEquals(isAsked(terminal), false, terminal.rows.join("\n"));
    }
    await terminal.type("draft");
    await terminal.wait(999);
    assertEquals(isAsked(terminal), false, terminal.rows.join("\n"));
    await terminal.until((rows) => isComing(rows) && rows.includes("> draft"));
    await terminal.wait(1);
    await terminal.until((rows) => isAsked(terminal) && !isComing(rows));
    assertEquals(terminal.rows.filter((row) => row === "queued: y").length, 3);
    await terminal.type("y\r");
    assertEquals(await answer, "y");
    await terminal.until((rows) => rows.includes("> draft"));
  },
);

screenTest("no row of a list is selected if the user has a draft", async (screen, terminal) => {
  for (const when of ["before", "after"]) {
    if (when === "before") await terminal.type("draft");
    const answer = screen.choose(LIST, new AbortController().signal, { waits: true });
    await terminal.until((rows) => rows.includes("Stop typing to answer:"));
    if (when === "after") await terminal.type("draft");
    await terminal.wait(1000);
    await terminal.until((rows) => rows.includes("Which?") && rows.includes("draft: draft"));
    await terminal.type("\r");
    await terminal.type("\x1b[A\r");
    assertEquals(await answer, "one", when);
    await terminal.type("\x15");
  }
});

screenTest("a question that comes is never off the screen", async (screen, terminal) => {
  const answer = screen.ask("Run this? ", yes, new AbortController().signal);
  const isThere = () => isAsked(terminal) || terminal.rows.includes("Stop typing to answer:");
  await terminal.until(isThere);
  const write = terminal.write.bind(terminal);
  const missing: string[] = [];
  terminal.write = (text) => {
    write(text);
    if (!isThere()) missing.push(terminal.rows.join("\n"));
  };
  await terminal.wait(300);
  await terminal.until(() => isAsked(terminal));
  assertEquals(missing, []);
  terminal.write = write;
  await terminal.type("y\r");
  assertEquals(await answer, "y");
});

screenTest("a question objects, is cancelled, is aborted", async (screen, terminal) => {
  const ask = async (signal: AbortSignal) => {
    const answer = screen.ask("Run this? ", yes, signal, { text: "text" });
    await terminal.wait(300);
    await terminal.until((rows) => rows.includes("Run this? text") && !rows.includes("working"));
    return { answer };
  };
  const abort = new AbortController();
  await terminal.type("later\r");
  const { answer: first } = await ask(abort.signal);
  // It stays one line.
  await terminal.type("\\\r");
  await terminal.until((rows) => rows.includes("y is the answer") && rows.includes("Run this?"));
  await terminal.type("\\\r");
  await terminal.until((rows) => rows.filter((row) => row === "y is the answer").length === 2);
  await terminal.type("\x1b");
  assertEquals(await first, null);
  await terminal.until((rows) => rows.includes("held: later"));
  const { answer: second } = await ask(abort.signal);
  await terminal.type("\x12not in the history");
  abort.abort();
  assertEquals(await second, null);
  await terminal.type("x");
  await terminal.until((rows) => rows.includes("> x"));
});

screenTest("a ? alone shows help below the line", async (screen, terminal) => {
  const shown = (line: string, isHelped: boolean) =>
    terminal.until((rows) => rows.includes(line) && rows.includes("  @  files") === isHelped);
  await terminal.type("?");
  await shown("> ?", true);
  await terminal.type("x");
  await shown("> ?x", false);
  await terminal.type("\x7f");
  await shown("> ?", true);
  await terminal.type("\x7f");
  await shown(">", false);
  for (const end of ["?", "\x1b"]) {
    await terminal.type("?");
    await shown("> ?", true);
    await terminal.type(end);
    await shown(">", false);
  }
  const read = screen.read();
  await terminal.type("?\r");
  await shown(">", false);
  assertEquals((await read)?.text, "?");
}, { history: [] });

const NINE = Array.from({ length: 9 }, (_, at) => `row ${at}`);

screenTest("a long help takes the rows above the line", async (_, terminal) => {
  await terminal.until((rows) => rows.includes("row 5 of the panel"));
  await terminal.type("?");
  await terminal.until((rows) => NINE.every((row) => rows.includes(row)));
  await terminal.type("?");
  await terminal.until((rows) => rows.includes("row 0 of the panel"));
}, { panel: NINE.slice(0, 6).map((row) => `${row} of the panel`), help: NINE });

screenTest("a search goes on behind a question", async (screen, terminal) => {
  await terminal.type("\x12fir");
  const answer = screen.ask("Run this? ", yes, new AbortController().signal);
  for (let i = 0; i < 6; i++) await terminal.wait(300);
  await terminal.until(() => isAsked(terminal));
  await terminal.type("\x1b");
  assertEquals(await answer, null);
  await terminal.until((rows) => rows.includes("(reverse-i-search)'fir': first"));
  await terminal.type("\x1b");
  await terminal.until((rows) => rows.includes("> first"));
  await terminal.type("!");
  await terminal.until((rows) => rows.includes("> !first"));
}, { history: ["first", "second"] });

screenTest("the rows above and below the input, in low windows, too", async (screen, terminal) => {
  screen.stream("The beginning");
  await terminal.type("one\rtwo\x1b[13;2u  lines\r");
  const all = [
    "The beginning",
    "",
    "working",
    "queued: one",
    "queued: two lines",
    "Up edits",
    ...["─".repeat(40), ">"],
    "the status",
  ];
  await terminal.until(() => terminal.rows.includes("queued: two lines"));
  assertEquals(terminal.rows, all);
  const low = all.toSpliced(-3, 1);
  const shown = async (height: number) => {
    terminal.size = () => ({ columns: 40, rows: height });
    terminal.output = "";
    screen.update();
    await terminal.until(() => terminal.output !== "");
    assertEquals(terminal.output.includes("\x1b[2m"), false);
    return plain(terminal.output);
  };
  for (const height of [6, 5, 4]) assertEquals(await shown(height), low.slice(-height));
  for (const height of [3, 2, 1]) assertEquals(await shown(height), low.slice(-height - 1, -1));
  await terminal.type("1\x1b[13;2u2\x1b[13;2u3\x1b[13;2u4\x1b[13;2u5");
  const input = (from: number) => [2, 3, 4, 5].map((n) => `  ${n}`).slice(from);
  assertEquals(await shown(7), [...low.slice(2, 5), ...input(1), "the status"]);
  assertEquals(await shown(11), [...all.slice(1, 5), all.at(-3), "> 1", ...input(0), "the status"]);
});

screenTest("held messages can be edited and dropped", async (screen, terminal, stops, turn) => {
  const held = "Enter sends · Up edits · Ctrl-C discards";
  await terminal.type("one\rtwo\r\x03");
  assertEquals(stops, ["stop"]);
  await terminal.until((rows) => rows.includes("held: two") && rows.includes("the status"));
  turn.activity = undefined;
  const message = screen.read();
  await terminal.until((rows) => rows.includes(held) && rows.includes("the status"));
  await terminal.type("x");
  await terminal.until((rows) => !rows.includes(held) && rows.includes("the status"));
  await terminal.type("\x7f\x1b[A");
  await terminal.until((rows) => rows.includes("> two") && !rows.includes("held: two"));
  await terminal.type("\x03\x03\x03");
  await terminal.until((rows) =>
    !rows.includes("held: one") && rows.includes("Press Ctrl-C again to exit")
  );
  await terminal.type("\x03");
  assertEquals(await message, null);
});

screenTest("a stopped turn holds its queue", async (screen, terminal, _stops, turn) => {
  await terminal.type("\x03");
  turn.activity = undefined;
  await terminal.type("x\x7f");
  const idle = ["─".repeat(40), ">", "the status"];
  assertEquals(terminal.rows, idle);
  turn.activity = "working";
  await terminal.type("one\r\x03");
  await terminal.until((rows) => rows.includes("held: one"));
  turn.activity = undefined;
  const message = screen.read();
  await terminal.type("\x1b[A\x15");
  await terminal.until((rows) => rows.length === 3);
  assertEquals(terminal.rows, idle);
  await terminal.type("one\r");
  assertEquals((await message)?.text, "one");
});

screenTest("a command overtakes held messages", async (screen, terminal, _stops, turn) => {
  const told: (string | undefined)[] = [];
  const next = async () => told.push((await screen.read())?.text);
  turn.activity = "working";
  await terminal.type("one\rtwo\r\x03");
  await terminal.until((rows) => rows.includes("held: two"));
  turn.activity = undefined;
  const first = next();
  await terminal.type("/now\r");
  await first;
  const second = next();
  await terminal.type("\x10");
  await terminal.until((rows) => rows.includes("> two") && rows.includes("held: one"));
  await terminal.type("!\rthree\r");
  await second;
  await next();
  await next();
  assertEquals(told, ["/now", "one", "two!", "three"]);
});

screenTest("the progress of a turn is drawn again", async (screen, terminal, _stops, turn) => {
  screen.update();
  for (const activity of ["1 s", "2 s", "3 s"]) {
    turn.activity = activity;
    await terminal.until((rows) => rows.includes(activity));
  }
}, { activity: "0 s" });

screenTest("R-06 a queued message knows its pasted ranges", async (screen, terminal) => {
  for (const [pasted, typed] of [["@a", " @b\r"], ["@c", " @d\r"]] as const) {
    await terminal.type(`\x1b[200~${pasted}\x1b[201~`);
    await terminal.until((rows) => rows.includes(`> ${pasted}`));
    await terminal.type(typed);
  }
  await terminal.until((rows) => rows.includes("queued: @c @d"));
  await terminal.type("\x1b[200~a\x1b[8mb\x1b[201~\r");
  await terminal.until((rows) => rows.includes("queued: a␛[8mb"));
  await terminal.type("\x1b[A\x15");
  await terminal.type("\x1b[A!\r");
  const sent = [await screen.read(), await screen.read()];
  const pasted: TextPart["pasted"] = [[0, 1]];
  assertEquals(sent, [
    { type: "text", text: "@a @b", pasted },
    { type: "text", text: "@c @d!", pasted },
  ]);
});

Deno.test("a signal ends the session: whoever reads or asks is told that nothing comes", async () => {
  const ends: string[] = [];
  const made = makeScreen({ onEnd: (signal) => ends.push(signal) });
  const { terminal } = made;
  using screen = made.screen;
  await terminal.type("");
  const message = screen.read();
  screen.print("unfolded");
  await terminal.until((rows) => rows.includes("unfolded"));
  await terminal.type("\x12");
  await terminal.until((rows) => rows.includes("(reverse-i-search)'':"));
  await terminal.type("\x07");
  const answer = screen.ask("Run this? ", yes, new AbortController().signal);
  await terminal.wait(300);
  await terminal.until(() => isAsked(terminal));
  assertEquals(terminal.output.includes("the status"), true);
  const [{ onRedraw, onSignal, focus }] = terminal.holders as [RawOptions];
  terminal.write("\x1b[H\x1b[2J");
  onRedraw!(true);
  assertEquals(terminal.rows, ["Run this?", "the status"]);
  onSignal!("SIGTERM");
  assertEquals([await message, await answer, await screen.read()], [null, null, null]);
  const late = screen.ask("Run this? ", yes, new AbortController().signal);
  await terminal.wait(300);
  assertEquals(await late, null);
  assertEquals([ends, focus, terminal.holders.length], [["SIGTERM"], true, 1]);
  screen.print("rest");
  screen[Symbol.dispose]();
  assertEquals(terminal.rows, ["rest"]);
});

screenTest("a person is notified without the focus", async (screen, terminal) => {
  const notified = () => {
    terminal.output = "";
    screen.notify("done");
    return terminal.output;
  };
  assertEquals(notified(), "");
  await terminal.type("\x1b[O");
  assertEquals(notified(), "\x1b]9;done\x07\x07");
  await terminal.type("\x1b[I");
  assertEquals(notified(), "");
});

screenTest("Ctrl-C twice exits, without a key in between", async (screen, terminal) => {
  const message = screen.read();
  await terminal.type("\x03");
  await terminal.until((rows) => rows.includes("Press Ctrl-C again to exit"));
  for (const keys of ["draft\x03", "\x12\x03"]) {
    await terminal.type(keys);
    await terminal.until((rows) => rows.includes(">") && rows.includes("the status"));
  }
  // Up starts at the newest entry again; undo brings a cleared text back.
  await terminal.type("\x1b[A\x03\x1b[A");
  await terminal.until((rows) => rows.includes("> second"));
  await terminal.type("\x03draft\x03");
  await terminal.type("\x1f");
  await terminal.until((rows) => rows.includes("> draft"));
  await terminal.type("\x03\x03");
  await terminal.until((rows) => rows.includes("Press Ctrl-C again to exit"));
  await terminal.type("\x0f");
  await terminal.until((rows) => rows.includes("the status"));
  await terminal.type("\x03");
  await terminal.until((rows) => rows.includes("Press Ctrl-C again to exit"));
  await terminal.type("\x03");
  assertEquals(await message, null);
}, { activity: undefined, history: ["first", "second"] });

screenTest("in a turn one Ctrl-C stops, two more exit", async (screen, terminal, stops) => {
  await terminal.type("\x03\x03");
  await terminal.until((rows) => rows.includes("Press Ctrl-C again to exit"));
  assertEquals(stops, ["stop"]);
  await terminal.type("\x03");
  assertEquals(await screen.read(), null);
});

screenTest("Escape in a turn does not arm Ctrl-C", async (_, terminal, stops) => {
  for (const count of [1, 2]) {
    await terminal.type("\x1b");
    await terminal.until(() => stops.length === count);
  }
  assertEquals(terminal.rows.includes("Press Ctrl-C again to exit"), false);
});

screenTest(
  "Up has the last message; unsent texts are saved at the end",
  async (screen, terminal, _stops, turn) => {
    turn.activity = undefined;
    const message = screen.read();
    await terminal.type("second\r");
    assertEquals((await message)?.text, "second");
    turn.activity = "working";
    await terminal.type("\x1b[A");
    await terminal.until((rows) => rows.at(-2) === "> second");
    await terminal.type("\x1b[A");
    await terminal.until((rows) => rows.at(-2) === "> first");
    await terminal.type("\x1b[B\x1b[B/exit\rhalf");
    await terminal.until((rows) => rows.at(-2) === "> half");
    assertEquals(
      terminal.rows.some((row) => row.startsWith("queued: /exit · runs after")),
      true,
    );
    // What waits is saved at once: the program may be killed.
    assertEquals(dropped, ["/exit"]);
    (screen as LiveScreen)[Symbol.dispose]();
    assertEquals(dropped, ["/exit", "half"]);
  },
  { history: ["first"] },
);

screenTest("keys typed ahead reach the line after a list", async (screen, terminal) => {
  const { signal } = new AbortController();
  const pick = async () => {
    for (const _ of "list") await screen.choose(LIST, signal);
    for (const _ of "some work") await null;
    return await screen.ask("Address: ", () => undefined, signal, { waits: false });
  };
  const typed = pick();
  await terminal.until((rows) => rows.includes("Which?"));
  await terminal.type("\r\r\r\rhttp://x\r");
  assertEquals(await typed, "http://x");
}, { activity: undefined });

const LIST = {
  title: "Which?",
  items: ["one", "two"].map((label) => ({ label, value: label })),
  isNumbered: true,
};

const hidden = { isHidden: true, waits: false };

screenTest("SEC-02 a hidden answer is never shown", async (screen, terminal) => {
  const objection = (line: string) => line === "bad" ? "no key" : undefined;
  const key = screen.ask("Key: ", objection, new AbortController().signal, hidden);
  await terminal.until((rows) => rows.includes("Key:"));
  await terminal.type("bad");
  await terminal.until((rows) => rows.includes("Key: •••"));
  await terminal.type("\r");
  await terminal.until((rows) => rows.includes("no key") && rows.includes("Key:"));
  await terminal.type("secret-of-many-letters\x15");
  await terminal.type("\x1b[200~pasted-key\x1b[201~");
  await terminal.until((rows) => rows.includes("Key: ••••••••••"));
  await terminal.type("\r");
  assertEquals(await key, "pasted-key");
  await terminal.until((rows) => rows.includes(">"));
  await terminal.type("\x19x");
  await terminal.until((rows) => rows.includes("> x"));
  assertEquals(/bad|secret|pasted/.exec(terminal.output), null);
  const none = screen.ask("Key: ", objection, new AbortController().signal, hidden);
  await terminal.until((rows) => rows.includes("Key:"));
  await terminal.type("half\x1b");
  assertEquals(await none, null);
}, { activity: undefined });

screenTest("Esc twice at an empty line rewinds", async (screen, terminal) => {
  const isAsking = (rows: readonly string[]) =>
    rows.includes("Press Esc again to rewind to a message");
  const message = screen.read();
  await terminal.type("\x1b");
  await terminal.until(isAsking);
  await terminal.type("x");
  await terminal.until((rows) => rows.includes("> x") && !isAsking(rows));
  await terminal.type("\x1b");
  await terminal.type("\x1b");
  await terminal.type("\x7f");
  await terminal.type("\x1b");
  await terminal.until(isAsking);
  await terminal.type("\x7f");
  await terminal.until((rows) => !isAsking(rows));
  await terminal.type("\x1b");
  await terminal.until(isAsking);
  await terminal.type("\x1b");
  assertEquals(await message, { type: "text", text: "/undo" });
  await terminal.type("y");
  await terminal.until((rows) => rows.includes("> y"));
  assertEquals(terminal.rows.some((row) => row.includes("/undo")), false);
}, { activity: undefined });

screenTest("Esc closes a menu or a search first", async (_screen, terminal, stops) => {
  const isMenu = (rows: readonly string[]) => rows.includes("  /clear");
  await terminal.type("/c\t");
  await terminal.until(isMenu);
  await terminal.type("\x1b");
  await terminal.until((rows) => !isMenu(rows));
  await terminal.type("\x12");
  await terminal.until((rows) => rows.some((row) => row.startsWith("(reverse-i-search)")));
  assertEquals(terminal.rows.includes("working"), true);
  await terminal.type("\x1b");
  await terminal.until((rows) => rows.includes("> /cl"));
  assertEquals(stops, []);
  await terminal.type("\x1b");
  await terminal.until(() => stops.length === 1);
});

Deno.test("a question waits for keys that came while a completion was looked up", async () => {
  const asked = Promise.withResolvers<void>();
  const completion = Promise.withResolvers<{ replace: number; items: string[] }>();
  let asks = 0;
  const made = makeScreen({
    completer() {
      // What is offered as it is typed does not hold the keys up; Tab does.
      if (++asks === 2) asked.resolve();
      return completion.promise;
    },
    activity: () => ["", "working"],
  });
  const { terminal } = made;
  using screen = made.screen;
  await terminal.type("");
  // The driver waits for the completion: what is typed from here on is not read.
  terminal.type("@a\t");
  await asked.promise;
  const more = terminal.type("y\r");
  let answer: string | null | undefined;
  screen.ask("Run this? ", yes, new AbortController().signal).then((text) => answer = text);
  for (let i = 0; i < 5; i++) await terminal.wait(501);
  assertEquals(isAsked(terminal), false, terminal.rows.join("\n"));
  completion.resolve({ replace: 2, items: [] });
  await more;
  await terminal.wait(501);
  await terminal.wait(501);
  await terminal.until(() => isAsked(terminal));
  assertEquals([answer, terminal.rows.includes("queued: @ay")], [undefined, true]);
});

Deno.test("Shift-Tab is for the modes, but where a list or a question has it", async () => {
  let presses = 0;
  const made = makeScreen({
    completer: () => ({ replace: 1, items: ["/clear", "/close"], isTyped: true }),
    onShiftTab: () => presses++,
  });
  const { terminal } = made;
  using screen = made.screen;
  await terminal.type("\x1b[Z");
  assertEquals(presses, 1);
  await terminal.type("/");
  assertEquals(terminal.rows.includes("❯ /clear"), true);
  await terminal.type("\x1b[Z");
  await terminal.until((rows) => rows.includes("❯ /close"));
  await terminal.type("\x1b");
  await terminal.until((rows) => !rows.includes("❯ /close"));
  const { signal } = new AbortController();
  const answer = screen.ask("Run this? ", yes, signal);
  for (let i = 0; i < 6; i++) await terminal.wait(201);
  await terminal.until(() => isAsked(terminal));
  await terminal.type("\x1b[Z");
  assertEquals(presses, 1);
  await terminal.type("y\r");
  assertEquals(await answer, "y");
});

Deno.test("a key may be bound to a command, which it sends from an empty line", async () => {
  const { terminal, screen: made } = makeScreen({ keymap: keymapOf({ "alt-m": "/model" }) });
  using screen = made;
  const message = screen.read();
  await terminal.type("x\x1bm\x7f");
  assertEquals(terminal.rows.at(-2), ">");
  await terminal.type("\x1bm");
  assertEquals((await message)?.text, "/model");
});

const lookedAt = (onBackground?: (background: string) => void) =>
  makeScreen({
    sgr: (style) => styleStart({ colors: "rgb", unicode: true, background: "dark" }, style),
    onBackground,
  });

Deno.test("the background is asked for once, after the first prompt; a late answer counts, too", async () => {
  const question = "\x1b]11;?\x1b\\";
  const told: string[] = [];
  for (const ms of [0, 5000]) {
    const { terminal, screen } = lookedAt((background) => told.push(background));
    using _ = screen;
    await terminal.type("");
    assertEquals(terminal.output.includes(question), false);
    const first = screen.read();
    assertEquals(terminal.output.split(question).length, 2);
    assertEquals(terminal.output.slice(0, terminal.output.indexOf(question)).includes("> "), true);
    await terminal.wait(ms);
    await terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x07go\r");
    assertEquals(await first, { type: "text", text: "go" });
    const second = screen.read();
    await terminal.type("on\r");
    assertEquals(await second, { type: "text", text: "on" });
    assertEquals(terminal.output.split(question).length, 2);
  }
  assertEquals(told, ["light", "light"]);
  const { terminal, screen } = lookedAt();
  using _ = screen;
  await terminal.type("");
  screen.read();
  assertEquals(terminal.output.includes(question), false);
});

Deno.test("a message stands as a band from margin to margin, apart from what is above, below a rule the next one is typed", async () => {
  const { terminal, screen } = lookedAt();
  using _ = screen;
  await terminal.type("");
  const read = screen.read();
  await terminal.type("a word and others that are too long for one row\x1b\rtwo\r");
  await read;
  await terminal.until((rows) => rows.at(-1) === "the status");
  assertEquals(terminal.rows, [
    "▎ a word and others that are too long",
    "▎ for one row",
    "▎ two",
    "─".repeat(40),
    ">",
    "the status",
  ]);
  const [band, mark] = ["48;2;42;48;56", "38;2;142;197;255"];
  const row = `\x1b[${band}m\x1b[${mark}m▎\x1b[m\x1b[${band}m two${" ".repeat(35)}\x1b[m`;
  assertEquals(terminal.output.includes(row), true);
  for (const printed of ["said", "told\n"]) {
    screen.print(printed);
    const next = screen.read();
    await terminal.type("on\r");
    await next;
    const rows = `${printed.trim()},,▎ on`;
    await terminal.until((all) => all.slice(-6, -3).join() === rows);
  }
});
