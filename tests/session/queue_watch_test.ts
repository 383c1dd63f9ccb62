import { assertEquals } from "@std/assert";
import { allSlotsWrite } from "../../src/models/ollama/slots.ts";
import { QueueWatch } from "../../src/models/queue_watch.ts";

Deno.test("a request behind others is told of once, and one that is answered is not asked about", async () => {
  const answers = [false, true, true];
  let asked = 0;
  const told = Promise.withResolvers<void>();
  let queued = 0;
  const watch = new QueueWatch(
    () => Promise.resolve(answers[asked++]!),
    () => {
      queued++;
      told.resolve();
    },
    0,
  );
  watch.onEvent({ type: "thinking" });
  await told.promise;
  assertEquals([asked, queued], [2, 1]);
  watch.onEvent({ type: "thinking" });
  watch.onEvent({ type: "text_delta", text: "a" });
  watch.onEvent({ type: "thinking" });
  watch.end();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([asked, queued], [2, 1]);
});

/** The answer of `GET /slots`, and whether a request without an answer waits for a slot. */
const SLOTS: [unknown, boolean][] = [
  // As b11669 has it, and as older ones have it.
  [[{ id: 0, is_processing: true, next_token: [{ n_decoded: 12 }] }], true],
  [[{ id: 0, is_processing: true, next_token: { n_decoded: 12 } }], true],
  [[{ id: 0, is_processing: true, next_token: [{ n_decoded: 0 }] }], false],
  [
    [{ id: 0, is_processing: true, next_token: [{ n_decoded: 9 }] }, { is_processing: false }],
    false,
  ],
  [[{ id: 0, is_processing: true }], false],
  [[], false],
  [{ error: { code: 501 } }, false],
];

for (const [slots, isBusy] of SLOTS) {
  Deno.test(`slots ${JSON.stringify(slots)}: ${isBusy}`, async () => {
    const fetch = () => Promise.resolve(Response.json(slots));
    assertEquals(await allSlotsWrite({ host: "http://localhost:1", fetch }), isBusy);
  });
}
