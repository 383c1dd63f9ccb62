/** Calls with one slip in them end rightly; traps hold. */
import { assertEquals } from "@std/assert";
import { SLIPS, TRAPS } from "../fixtures/slips.ts";
import { type Slip, wrongIn } from "../helpers/slips.ts";

/** What is wrong with the outcome of each case, a line each. */
async function wrongs(slips: readonly Slip[]): Promise<string[]> {
  const found: string[] = [];
  for (const slip of slips) {
    const wrong = await wrongIn(slip);
    if (wrong !== "") found.push(`${slip.id}: ${wrong.replaceAll("\n", "⏎").slice(0, 400)}`);
  }
  return found;
}

for (const [family, slips] of Map.groupBy(SLIPS, ({ id }) => id.split(":")[0]!)) {
  Deno.test(`slips end rightly: ${family}`, async () => assertEquals(await wrongs(slips), []));
}

Deno.test("traps hold", async () => assertEquals(await wrongs(TRAPS), []));
