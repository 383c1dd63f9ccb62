import { assertEquals } from "@std/assert";
import type { Key } from "../../../src/terminal/line/keys.ts";
import { press } from "../../../src/terminal/line/press.ts";
import { lineState, lineText, withKills } from "../../../src/terminal/line/state.ts";
import { viStart } from "../../../src/terminal/line/vi_state.ts";
import { seeded } from "../../helpers/split.ts";
import { readline } from "./readline_oracle.ts";

/** Stands for Escape, which readline would wait behind: more of a sequence might come. */
const ESCAPE = "\x01";
const ENTER = "\r";
const BACKSPACE = "\x7f";
const SETTINGS = [
  "set editing-mode vi",
  "set keymap vi-insert",
  '"\\C-a": vi-movement-mode',
];
const TEXTS = ["one two", "foo.bar baz", "a(b, c) d", "  x  yy ", "--; a", "One TWO", "a", ""];
const TYPED = ["x", "ab ", "q.r", `yz${BACKSPACE}`, "", "A b"];
const MOTIONS = ["h", "l", "w", "b", "e", "W", "B", "E", "0", "^", "$"];
const FINDS = ["fa", "Fa", "to", "To", ";", ",", "fb", "tw"];
const HISTORY = ["make test", "git log", "echo x", "git push"];

Deno.test("vim mode leads to the same text as GNU readline's vi mode", async (t) => {
  const lines = randomLines(800);
  const answers = await readline(lines, HISTORY, SETTINGS);
  const why = typeof answers === "string" ? answers : "";
  await t.step({
    name: `${lines.length} lines${why && `: skipped, ${why}`}`,
    ignore: why !== "",
    fn() {
      let { kills } = lineState();
      let memory = viStart(0).memory;
      for (const [i, line] of lines.entries()) {
        const vi = viStart(HISTORY.length, memory);
        let state = withKills(lineState({ history: HISTORY, vi }), kills);
        for (const key of keysFor(line)) ({ state } = press(state, key));
        ({ kills } = state);
        memory = state.vi!.memory;
        assertEquals(lineText(state), answers[i], JSON.stringify(line));
      }
    },
  });
});

/** A line: a text, commands, and a bar where the cursor is in the end. */
function randomLines(count: number): string[] {
  const random = seeded(11);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const counted = (command: string) =>
    (command !== "0" && random() < 0.25 ? pick(["2", "3", "12"]) : "") + command;
  /** What `.` repeats of `C` is what it typed; readline puts in what another command did. */
  const command = (isRepeated: boolean): string => {
    switch (Math.floor(random() * 12)) {
      case 0:
        return pick(["i", "a", "I", "A"]) + pick(TYPED) + ESCAPE;
      case 1:
        return `R${
          pick(["x", "ab", "qrs", `yz${BACKSPACE}`, `u${BACKSPACE}${BACKSPACE}`])
        }${ESCAPE}`;
      case 2:
        // Python asks readline for a byte at a time, which takes 2d3w for 23 words.
        return counted(pick([...MOTIONS.map((motion) => `c${motion}`), "cc"])) + pick(TYPED) +
          ESCAPE;
      case 3:
      case 4:
        return counted(pick(["d", "y"])) + pick([...MOTIONS, ...FINDS]);
      case 5:
        return pick(["dd", "yy", "D", "Y", ...isRepeated ? [] : [`C${pick(TYPED)}${ESCAPE}`]]);
      case 6:
        return counted(pick(["x", "X", "~", "rz", "r-"]));
      case 7:
        return pick([counted("s"), "S"]) + pick(TYPED) + ESCAPE;
      case 8:
        return pick(["p", "P", "2p", "u", "u", "3u", "U"]);
      case 9:
        return isRepeated ? counted(".") : counted("u");
      case 10:
        return counted(pick(["j", "k", "k"]));
    }
    return counted(pick([...MOTIONS, ...FINDS]));
  };
  return Array.from({ length: count }, () => {
    const isRepeated = random() < 0.5;
    const commands = Array.from(
      { length: 1 + Math.floor(random() * 8) },
      () => command(isRepeated),
    );
    return `${pick(TEXTS)}${ESCAPE}${commands.join("")}i|${ENTER}`;
  });
}

function keysFor(line: string): Key[] {
  const names: Record<string, string> = {
    [ESCAPE]: "escape",
    [ENTER]: "enter",
    [BACKSPACE]: "backspace",
  };
  return Array.from(line, (char): Key => {
    const name = names[char];
    return name === undefined ? { type: "text", text: char } : { type: "key", name };
  });
}
