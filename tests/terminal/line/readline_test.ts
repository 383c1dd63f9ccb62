import { assertEquals } from "@std/assert";
import { lineState, lineText, withKills } from "../../../src/terminal/line/state.ts";
import { seeded } from "../../helpers/split.ts";
import { pressAll, PressedLine } from "./press_helper.ts";

/**
 * Types each line of keys at GNU readline in a pseudo-terminal, with the history given, and tells
 * what came of it. Lines end with Enter; killed text is forgotten by nobody in between.
 */
const PROGRAM = `
import json, os, pty, sys
lines, history = json.load(sys.stdin)
child, fd = pty.fork()
if child == 0:
    import readline
    for key in ('"\\\\C-h": backward-delete-char', 'set bell-style none', 'set enable-bracketed-paste off'):
        readline.parse_and_bind(key)
    readline.set_auto_history(False)
    os.write(1, b"<" + json.dumps("GNU" in readline.__doc__).encode() + b">")
    for line in lines:
        readline.clear_history()
        for entry in history: readline.add_history(entry)
        text = input("ready\\n")
        os.write(1, b"<" + json.dumps(text).encode() + b">")
    os._exit(0)
seen = b""
def until(marker):
    global seen
    while marker not in seen:
        got = os.read(fd, 65536)
        if not got: sys.exit("readline ended")
        seen += got
    before, seen = seen.split(marker, 1)
    return before
def result():
    until(b"<")
    return json.loads(until(b">"))
answers = [result()]
for line in lines:
    until(b"ready")
    os.write(fd, line.encode())
    answers.append(result())
json.dump(answers, sys.stdout)
`;

/** What readline makes of the lines, or why it can not be asked. */
async function readline(lines: string[], history: string[]): Promise<string[] | string> {
  try {
    const child = new Deno.Command("python3", {
      args: ["-c", PROGRAM],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      env: { INPUTRC: "/dev/null", TERM: "xterm", LC_ALL: "C.UTF-8", COLUMNS: "1000" },
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify([lines, history])));
    await writer.close();
    const { stdout, stderr } = await child.output();
    const text = new TextDecoder().decode(stdout);
    if (text === "") {
      return `python3 has no readline: ${new TextDecoder().decode(stderr).slice(-200)}`;
    }
    const [gnu, ...answers] = JSON.parse(text);
    return gnu ? answers : "python3 uses another library than GNU readline";
  } catch (error) {
    return `no python3: ${(error as Error).message}`;
  }
}

/** Keys that mean the same in both, on a text of one line. */
const KEYS = [
  ..."ab. é日-",
  "one two",
  "foo.bar ",
  "e\u0301",
  "\x1b[D",
  "\x1b[C",
  "\x1bOD",
  "\x1b[H",
  "\x1b[F",
  "\x1b[3~",
  "\x7f",
  ..."\x01\x02\x05\x06\x08\x0b\x14\x15\x17\x19",
  "\x1bb",
  "\x1bf",
  "\x1bd",
  "\x1b\x7f",
  "\x1bu",
  "\x1bl",
  "\x1bc",
  "\x1b[1;5C",
  "\x1b[1;5D",
];
/** Of these, what the texts that they lead to shows. */
const ROWS = [
  "a b\x17\x02\x06c\x17\x19\x1by",
  "a b\x17\x02\x06c\x17\x19\x1by\x1by\x1by \x19",
  "one two\x17\x1f",
  "a\x17\x1f\x1f",
  "\x1b[A",
  "\x1b[A\x1b[A",
  "new\x1b[A\x1b[B",
  "new\x1b[AX\x1b[A\x1b[B",
  "\x10\x10\x10\x10\x0e",
  "\x12git",
  "\x12git\x12",
  "\x12git\x12\x12",
  "\x12make\x05 -j",
  "\x12log\x7f\x7f\x05X",
  "abc\x12git\x07",
  "abc\x12nothing\x07",
  "\x1b<\x1b>\x1b<X",
];
const HISTORY = ["make test", "git log", "echo x", "git push"];

Deno.test("the same keys give the same text as in GNU readline", async (t) => {
  const random = seeded(5);
  const lines = Array.from(
    { length: 400 },
    () =>
      Array.from(
        { length: 2 + Math.floor(random() * 14) },
        () => KEYS[Math.floor(random() * KEYS.length)],
      ).join(""),
  );
  lines.push(...ROWS);
  // A bar tells where the cursor is, but in a search, where it would be looked for.
  const keys = lines.map((line) => line.startsWith("\x12") ? `${line}\r` : `${line}|\r`);
  const answers = await readline(keys, HISTORY);
  const why = typeof answers === "string" ? answers : "";
  await t.step({
    name: `${lines.length} lines${why && `: skipped, ${why}`}`,
    ignore: why !== "",
    async fn() {
      let { kills } = lineState();
      for (const [i, line] of lines.entries()) {
        const begun = new PressedLine(withKills(lineState({ history: HISTORY }), kills));
        const { state } = await pressAll(keys[i]!, begun);
        ({ kills } = state);
        assertEquals(lineText(state), answers[i], JSON.stringify(line));
      }
    },
  });
});
