import { assertEquals } from "@std/assert";
import type { Display } from "../../../../src/ui/terminal/session/display.ts";
import { acceptsPlan } from "../../../../src/ui/terminal/session/plan_list.ts";
import type { Session } from "../../../../src/session/session.ts";

/** Asks on a display whose user picks `choice`, in a folder that enforces plan mode. */
async function asked(choice: string | null, isLive = true) {
  const said: string[] = [];
  const screen = { notify() {}, choose: () => Promise.resolve(choice) };
  const say = (text: string) => said.push(text);
  const display = { isLive, screen, showsTasks: false, say };
  const session = {
    command: () => Promise.resolve("The folder keeps plan mode."),
    status: { mode: { approve: "plan" } },
  };
  const { signal } = new AbortController();
  const parts = [session as unknown as Session, display as unknown as Display] as const;
  return { isAccepted: await acceptsPlan(...parts, signal), said };
}

Deno.test("a plan is not carried out in a folder that enforces plan mode, nor if it is kept", async () => {
  assertEquals(await asked("go"), { isAccepted: false, said: ["The folder keeps plan mode."] });
  assertEquals(await asked(null), { isAccepted: false, said: [] });
});

Deno.test("a terminal without lists names the commands for a plan", async () => {
  const said = ["· /plan accepts this plan, /plan off discards it"];
  assertEquals(await asked(null, false), { isAccepted: false, said });
});
