import { assertEquals } from "@std/assert";
import { allSlotsWrite } from "../../src/models/ollama/slots.ts";

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
