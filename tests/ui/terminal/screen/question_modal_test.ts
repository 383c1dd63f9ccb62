import { assertEquals } from "@std/assert";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";
import { QuestionModal } from "../../../../src/ui/terminal/screen/message_modal.ts";
import { rowsText } from "../../../../src/ui/terminal/styled.ts";

const size = { columns: 40, rows: 24 };

function question(more: { isHidden?: boolean; unicode?: boolean; text?: string } = {}) {
  const printed: string[] = [];
  let cancelled = 0;
  const modal = new QuestionModal({
    prompt: "Which? ",
    color: "",
    ring: { kills: [] },
    context: "the call",
    text: "",
    append: (lines) => printed.push(lines),
    columns: () => size.columns,
    objection: (line) => line === "no" ? "no is no answer" : undefined,
    onCancel: () => cancelled++,
    ...more,
  });
  const type = (text: string) => modal.press({ type: "text", text });
  const press = (name: string) => modal.press({ type: "key", name } as Key);
  const row = () => rowsText(modal.layout(size).rows).trimEnd();
  return { modal, printed, type, press, row, cancelled: () => cancelled };
}

Deno.test("a question shows what is typed; its answer is printed as it goes into the scrollback", () => {
  const { printed, type, press, row } = question({ text: "ye" });
  assertEquals(row(), "Which? ye");
  type("s");
  assertEquals(row(), "Which? yes");
  assertEquals([press("enter"), printed], [{ done: "yes" }, ["Which? yes\n"]]);
});

Deno.test("of a hidden answer dots are shown, twelve at most, and nothing is printed", () => {
  for (const [unicode, dot] of [[true, "•"], [undefined, "•"], [false, "*"]] as const) {
    const hidden = question({ isHidden: true, ...unicode !== undefined && { unicode } });
    hidden.type("sk-1");
    assertEquals(hidden.row(), `Which? ${dot.repeat(4)}`);
    hidden.type("23456789");
    assertEquals(hidden.row(), `Which? ${dot.repeat(12)}`);
    hidden.type("0");
    assertEquals(hidden.row(), `Which? ${dot.repeat(12)}`);
    assertEquals(hidden.press("enter"), { done: "sk-1234567890" });
    assertEquals(hidden.printed, [`Which? ${dot.repeat(12)}\n`]);
  }
});

Deno.test("what is no answer is objected to, and the question stays, empty and of one line", () => {
  const { printed, type, press, row } = question();
  type("no");
  assertEquals([press("enter"), printed], ["none", ["Which? no\n", "no is no answer\n"]]);
  assertEquals(row(), "Which?");
  type("a");
  // Where a line may have several lines, this key begins one.
  press("alt-enter");
  type("b");
  assertEquals(press("enter"), { done: "ab" });
});

Deno.test("Escape and Ctrl-C cancel; Ctrl-D at an empty line gives no answer either", () => {
  for (const [key, count] of [["escape", 1], ["ctrl-c", 1], ["ctrl-d", 0]] as const) {
    const { press, cancelled } = question();
    assertEquals([press(key), cancelled()], [{ done: null }, count], key);
  }
});
