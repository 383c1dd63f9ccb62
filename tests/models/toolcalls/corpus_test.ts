import { assert, assertEquals } from "@std/assert";
import { cutDifferently, isExact, isLeft, readSamples } from "./corpus.ts";

const calls = await readSamples("calls");
const noCalls = await readSamples("no_calls");

Deno.test("at least 97 of 100 texts with calls are read exactly", () => {
  assert(calls.length >= 250);
  const wrong = calls.filter((sample) => !isExact(sample)).map(({ text }) => text);
  const rate = 1 - wrong.length / calls.length;
  assert(rate >= 0.97, `${(100 * rate).toFixed(1)} %, not read exactly:\n\n${wrong.join("\n\n")}`);
});

Deno.test("nothing is called in texts that hold no call, and they stay as they are", () => {
  assert(noCalls.length >= 250);
  assertEquals(noCalls.filter((sample) => !isLeft(sample)).map(({ text }) => text), []);
});

Deno.test("the same is read however a text is cut", () => {
  assertEquals(cutDifferently([...calls, ...noCalls], 24), []);
});
