/** Calls with one slip in them end rightly; traps hold. By itself it prints what does not. */
import { assertEquals } from "@std/assert";
import { FURTHER_SLIPS, FURTHER_TRAPS } from "../fixtures/further_slips.ts";
import { SLIPS, TRAPS } from "../fixtures/slips.ts";
import { type Slip, wrongIn } from "../helpers/slips.ts";

const ALL_SLIPS = [...SLIPS, ...FURTHER_SLIPS];
const ALL_TRAPS = [...TRAPS, ...FURTHER_TRAPS];

/** What is wrong with the outcome of each case, a line each. */
async function wrongs(slips: readonly Slip[]): Promise<string[]> {
  const found: string[] = [];
  for (const slip of slips) {
    const wrong = await wrongIn(slip);
    if (wrong !== "") found.push(`${slip.id}: ${wrong.replaceAll("\n", "⏎").slice(0, 400)}`);
  }
  return found;
}

for (const [family, slips] of Map.groupBy(ALL_SLIPS, ({ id }) => id.split(":")[0]!)) {
  Deno.test(`slips end rightly: ${family}`, async () => assertEquals(await wrongs(slips), []));
}

Deno.test("traps hold", async () => assertEquals(await wrongs(ALL_TRAPS), []));

if (import.meta.main) {
  for (const [what, cases] of [["slips", ALL_SLIPS], ["traps", ALL_TRAPS]] as const) {
    const found = await wrongs(cases);
    for (const line of found) console.log(line);
    console.log(`${what}: ${cases.length - found.length} of ${cases.length}`);
  }
}
