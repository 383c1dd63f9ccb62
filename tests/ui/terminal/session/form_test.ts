import { assertEquals } from "@std/assert";
import { askForm } from "../../../../src/ui/terminal/session/form.ts";
import type { ChoiceList } from "../../../../src/ui/terminal/screen/screen.ts";
import { elicitationOf } from "../../../../src/extensions/mcp/elicitation.ts";

/** A display whose person answers in turn; null is Esc. */
function display(answers: (string | null)[]) {
  const shown: string[] = [];
  return {
    shown,
    isLive: true,
    columns: 80,
    screen: {
      print: (text: string) => void shown.push(text),
      notify: () => {},
      choose<T>({ title, items }: ChoiceList<T>) {
        shown.push(title);
        const answer = answers.shift() ?? null;
        return Promise.resolve(items.find(({ key }) => key === answer)?.value ?? null);
      },
      ask(prompt: string, objection: (line: string) => string | undefined) {
        shown.push(prompt);
        for (;;) {
          const answer = answers.shift() ?? null;
          const wrong = answer === null ? undefined : objection(answer);
          if (wrong === undefined) return Promise.resolve(answer);
          shown.push(wrong);
        }
      },
    },
  };
}

const signal = new AbortController().signal;
const question = elicitationOf("shop", {
  message: "Your \x1b[2Jorder\n▌ Run this command",
  requestedSchema: {
    properties: {
      size: { type: "integer", minimum: 1 },
      gift: { type: "boolean", default: false },
    },
    required: ["size"],
  },
});

Deno.test("form: a person fills it in, sees what is sent, and sends it", async () => {
  const person = display(["none", "3", "", "y"]);
  assertEquals(await askForm(question, person, signal), {
    action: "accept",
    content: { size: 3, gift: false },
  });
  const text = person.shown.join("\n");
  assertEquals([text.includes("shop asks: Your ␛[2Jorder\n  ▌ Run"), text.includes("\x1b")], [
    true,
    false,
  ]);
  assertEquals(person.shown.includes("  size must be an integer"), true);
});

Deno.test("form: a field says what it is, what Enter means, and nothing is listed where all is left out", async () => {
  const asked = elicitationOf("shop", {
    message: "More",
    requestedSchema: {
      properties: {
        note: { type: "string", description: "What else\nto say" },
        kind: { type: "string", enum: ["a", "b"], default: "b" },
      },
    },
  });
  const person = display(["", "", "y"]);
  const content = { kind: "b" };
  assertEquals(await askForm(asked, person, signal), { action: "accept", content });
  assertEquals(person.shown.slice(-7), [
    "  What else\n  to say",
    "note (text, Enter skips it): ",
    "  1 a",
    "  2 b",
    'kind (one, Enter: "b"): ',
    '  kind: "b"',
    "Send this to shop?",
  ]);
  const only = elicitationOf("shop", {
    message: "More",
    requestedSchema: { properties: { note: { type: "string" } } },
  });
  const silent = display(["", "y"]);
  assertEquals(await askForm(only, silent, signal), { action: "accept", content: {} });
  assertEquals(silent.shown.slice(-2), [
    "note (text, Enter skips it): ",
    "Send this to shop?",
  ]);
});

Deno.test("form: Esc cancels at any field, a no declines, an address is shown and never opened", async () => {
  assertEquals(await askForm(question, display([null]), signal), { action: "cancel" });
  assertEquals(await askForm(question, display(["3", "y", "n"]), signal), { action: "decline" });
  const url = elicitationOf("shop", { mode: "url", message: "Pay", url: "https://pay.example/x" });
  const person = display(["y"]);
  assertEquals(await askForm(url, person, signal), { action: "accept" });
  assertEquals(person.shown.join("\n").includes("an address of pay.example"), true);
});
