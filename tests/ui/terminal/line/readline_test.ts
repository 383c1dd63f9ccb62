import { assert, assertEquals } from "@std/assert";
import { lineState, lineText, withKills } from "../../../../src/ui/terminal/line/state.ts";
import { seeded } from "../../../helpers/split.ts";
import { pressAll, PressedLine } from "./press_helper.ts";
import { readline } from "./readline_oracle.ts";

/**
 * A key that does nothing in readline. Text that is typed ahead does not end a series of kills there, as
 * the next key is a part of it; this one is.
 */
const NOTHING = "\x1e";

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
  ..."\x01\x02\x04\x05\x06\x08\x0b\x15\x17\x19",
  "\x1bb",
  "\x1bf",
  // Python asks readline for a byte at a time, and Escape alone ends a series of kills then.
  `${NOTHING}\x1bd`,
  `${NOTHING}\x1b\x7f`,
  // Of one character of several bytes alone, readline's undo has a step that does nothing.
  `ab${NOTHING}\x14`,
  `ab${NOTHING}\x1b[D\x14`,
  "\x1bu",
  "\x1bl",
  "\x1bc",
  "\x1bt",
  "\x1f",
  "\x1f",
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
    { length: 700 },
    () =>
      Array.from(
        { length: 2 + Math.floor(random() * 18) },
        () => KEYS[Math.floor(random() * KEYS.length)]!,
      ),
  );
  const all: { line: string; keys: string; asked: string }[] = [];
  for (const line of lines) {
    // Ctrl-D at an empty line ends the input.
    const { ended } = await typed(line.join(""), HISTORY);
    const keys = `${line.join("")}|\r`;
    const asked = line.map((key) => key >= " " && key !== "\x7f" ? key + NOTHING : key).join("");
    if (!ended) all.push({ line: line.join(""), keys, asked: `${asked}|${NOTHING}\r` });
  }
  for (const line of ROWS) {
    // A bar tells where the cursor is, but in a search, where it would be looked for.
    const keys = line.startsWith("\x12") ? `${line}\r` : `${line}|\r`;
    all.push({ line, keys, asked: keys });
  }
  const settings = ['"\\C-h": backward-delete-char', '"\\C-^": set-mark'];
  const answers = await readline(all.map(({ asked }) => asked), HISTORY, settings);
  const why = typeof answers === "string" ? answers : "";
  assert(all.length > 500, `${all.length}`);
  await t.step({
    name: `${all.length} lines${why && `: skipped, ${why}`}`,
    ignore: why !== "",
    async fn() {
      let { kills } = lineState();
      for (const [i, { line, keys }] of all.entries()) {
        const begun = new PressedLine(withKills(lineState({ history: HISTORY }), kills));
        const { state } = await pressAll(keys, begun);
        ({ kills } = state);
        assertEquals(lineText(state), answers[i], JSON.stringify(line));
      }
    },
  });
});

async function typed(keys: string, history: string[]): Promise<{ ended: boolean }> {
  const line = new PressedLine(lineState({ history }));
  const { effects } = await pressAll(keys, line);
  return { ended: effects.includes("end") };
}
