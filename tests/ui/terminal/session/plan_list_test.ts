import { assertEquals } from "@std/assert";
import type { Display } from "../../../../src/ui/terminal/session/display.ts";
import { askAboutPlan } from "../../../../src/ui/terminal/session/plan_list.ts";
import type { Session } from "../../../../src/session/session.ts";

const { signal } = new AbortController();

/** What a person who picks `choice` and types `line` is shown and asked; `keepsMode`: plan mode stays. */
async function asked(
  {
    choice = null as string | { change: string } | null,
    line = null as string | null,
    isLive = true,
    keepsMode = false,
  },
) {
  const seen: unknown[] = [];
  let approve = "plan";
  const screen = {
    notify: (text: string) => void seen.push(text),
    choose(
      { isNumbered, items }: { isNumbered: boolean; items: unknown[] },
      _: unknown,
      how: unknown,
    ) {
      seen.push([isNumbered, items.length, how, `steps: ${display.showsTasks}`]);
      return Promise.resolve(choice);
    },
    ask(prompt: string, objection: (line: string) => unknown, ...more: unknown[]) {
      seen.push([prompt, objection("x"), ...more.slice(1)]);
      return Promise.resolve(line);
    },
  };
  const display = {
    isLive,
    screen,
    showsTasks: false,
    columns: 80,
    look: { unicode: true },
    say: (text: string) => seen.push(text),
  };
  const session = {
    command(name: string, argument: string) {
      seen.push(`/${name} ${argument}`);
      if (!keepsMode) approve = argument === "go" ? "ask" : argument;
      return Promise.resolve("The folder keeps plan mode.");
    },
    get status() {
      return { mode: { approve } };
    },
  };
  const next = await askAboutPlan(
    session as unknown as Session,
    display as unknown as Display,
    signal,
  );
  assertEquals(display.showsTasks, false);
  return { next, seen };
}
const NOTE = "copilot asks: ready to start?";
const LIST = [true, 4, { waits: true, yields: true, hasPanel: true }, "steps: true"];
const QUESTION = ["What should change? ", undefined, "", { waits: false }];

Deno.test("a plan is carried out, kept or changed, as the person picks from a list", async () => {
  for (const choice of [null, "keep"]) {
    assertEquals(await asked({ choice }), { next: undefined, seen: [NOTE, LIST] });
  }
  for (const choice of ["go", "edits"]) {
    const next = { type: "text", text: "Carry out the plan." } as const;
    assertEquals(await asked({ choice }), { next, seen: [NOTE, LIST, `/plan ${choice}`] });
  }
  for (const line of [null, "", "  "]) {
    const { next, seen } = await asked({ choice: "change", line });
    assertEquals([next, seen], [undefined, [NOTE, LIST, QUESTION]]);
  }
  const typed = await asked({ choice: { change: "less" } });
  assertEquals(typed, { next: { type: "text", text: "less" }, seen: [NOTE, LIST] });
  const changed = await asked({ choice: "change", line: "less" });
  assertEquals(changed.next, { type: "text", text: "less" });
});

Deno.test("where a folder keeps plan mode, nothing is carried out and its words are shown", async () => {
  const { next, seen } = await asked({ choice: "go", keepsMode: true });
  assertEquals([next, seen.at(-1)], [undefined, "The folder keeps plan mode."]);
});

Deno.test("on a terminal without a list the commands are named", async () => {
  assertEquals(await asked({ isLive: false }), {
    next: undefined,
    seen: ["· /plan accepts this plan, /plan off discards it"],
  });
});
