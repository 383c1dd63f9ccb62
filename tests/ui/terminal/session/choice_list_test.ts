import { assertEquals } from "@std/assert";
import { choiceList } from "../../../../src/ui/terminal/session/choice_list.ts";
import { fakeSession } from "../../../helpers/fake_session.ts";

Deno.test("each argument of /approve and /trust is explained, in words that a terminal of 80 holds", async () => {
  await using fake = await fakeSession("http://127.0.0.1:1");
  for (const name of ["approve", "trust"]) {
    const choices = await fake.session.choices(name, new AbortController().signal);
    const command = (await fake.session.commands()).find((one) => one.name === name)!;
    const { items, title } = choiceList(command, choices);
    assertEquals(title.length < 40, true, title);
    for (const { label, detail = "" } of items) {
      assertEquals(detail !== "" && detail.length < 65, true, `${label}: ${detail}`);
    }
  }
});

Deno.test("what is current is chosen and said; a command without a title has its name", () => {
  const choices = [{ argument: "a", label: "A", detail: "8B" }, {
    argument: "b",
    label: "B",
    isCurrent: true,
  }];
  assertEquals(choiceList({ name: "x" }, choices), {
    title: "/x",
    items: [{ label: "A", detail: "8B", value: "a" }, { label: "B", detail: "now", value: "b" }],
    chosen: 1,
    isNumbered: true,
    hint: "Enter to select · Esc to cancel",
  });
  const many = Array.from({ length: 10 }, (_, n) => ({ argument: `${n}`, label: `${n}` }));
  assertEquals(choiceList({ name: "x" }, many).isNumbered, false);
  assertEquals(choiceList({ name: "x" }, many.slice(1)).isNumbered, true);
  const list = choiceList({ name: "x", question: "Which?", wraps: false }, many);
  assertEquals([list.title, list.wraps], ["Which?", false]);
});
