import { assertEquals } from "@std/assert";
import { type Modal, ModalStack, type Outcome } from "../../../../src/ui/terminal/screen/modal.ts";

const size = { columns: 80, rows: 24 };
const key = { type: "key", name: "enter" } as const;

/** A modal that shows its name, and whose keys have the outcomes given, one after the other. */
function modal<T>(name: string, ...outcomes: Outcome<T>[]): Modal<T> & { presses: number } {
  return {
    context: name.toUpperCase(),
    presses: 0,
    layout: () => ({
      rows: [[{ text: name, width: name.length, style: "" }]],
      cursor: { row: 0, column: 0 },
    }),
    press() {
      this.presses++;
      return outcomes.shift() ?? "none";
    },
  };
}

const top = (modals: ModalStack) => modals.layout(size).rows[0]?.[0]?.text ?? "";

Deno.test("the top modal has the keys and the rows until it is done", async () => {
  const modals = new ModalStack();
  const line = modal("line", "bell");
  modals.open(line);
  const answer = modals.open(modal<string>("question", "clear", { done: "yes" }));
  assertEquals([top(modals), modals.depth, modals.context], ["question", 2, "LINE\nQUESTION\n"]);
  assertEquals([await modals.press(key), await modals.press(key)], ["clear", "none"]);
  assertEquals([await answer, top(modals), line.presses], ["yes", "line", 0]);
  assertEquals(await modals.press(key), "bell");
});

Deno.test("a key is passed on to the modal below, which it closes for", async () => {
  const modals = new ModalStack();
  const menu = modal<void>("menu", "none", "pass");
  const line = modal("line", { push: menu }, "suspend");
  modals.open(line);
  await modals.press(key);
  assertEquals([top(modals), modals.depth], ["menu", 1]);
  assertEquals(await modals.press(key), "none");
  assertEquals(await modals.press(key), "suspend");
  assertEquals([top(modals), menu.presses, line.presses], ["line", 2, 2]);
});

Deno.test("a modal closes with its parts, and leaves those opened above it", async () => {
  const modals = new ModalStack();
  const question = modal("question", { push: modal<void>("search") });
  const closed = modals.open(question);
  await modals.press(key);
  modals.open(modal("other"));
  modals.close(question);
  assertEquals([await closed, top(modals), modals.depth], [null, "other", 1]);
  modals.close(question);
  modals.closeAll();
  assertEquals([top(modals), modals.depth, await modals.press(key)], ["", 0, "none"]);
});

Deno.test("an outcome that comes later opens a part above its modal, not above all", async () => {
  const modals = new ModalStack();
  const completed = Promise.withResolvers<Outcome>();
  const line = modal("line", { later: completed.promise });
  modals.open(line);
  const pressed = modals.press(key);
  const answer = modals.open(modal<string>("question", { done: "yes" }));
  completed.resolve({ push: modal<void>("menu") });
  assertEquals([await pressed, top(modals)], ["none", "question"]);
  await modals.press(key);
  assertEquals([await answer, top(modals)], ["yes", "menu"]);

  const late = modal("late", { later: Promise.resolve({ push: modal<void>("menu") }) });
  modals.open(late);
  const pressing = modals.press(key);
  modals.close(late);
  await pressing;
  assertEquals([top(modals), modals.depth], ["menu", 1]);
});
