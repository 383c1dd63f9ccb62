import { assertEquals } from "@std/assert";
import { freeSlots } from "../../../src/backends/local/slots.ts";

const idle = { is_processing: false };
const ROWS: [name: string, props: unknown, slots: unknown, free: number[]][] = [
  ["one slot", { total_slots: 1 }, [{ id: 0, ...idle, id_task: 3 }], []],
  [
    "the newest request's is not free, those used last come first",
    { total_slots: 4 },
    [
      { id: 0, ...idle, id_task: 3 },
      { id: 1, ...idle, id_task: 9 },
      { id: 2, is_processing: true, id_task: 8 },
      { id: 3, ...idle },
    ],
    [0, 3],
  ],
  ["slots that it does not show", { total_slots: 4 }, undefined, []],
  ["another kind of server", undefined, undefined, []],
  ["nonsense", { total_slots: "many" }, { slots: 4 }, []],
];

for (const [name, props, slots, free] of ROWS) {
  Deno.test(`free slots of llama.cpp's server: ${name}`, async () => {
    const fetch = (input: string | URL | Request) => {
      const answer = String(input).endsWith("/props") ? props : slots;
      return Promise.resolve(
        answer === undefined ? new Response("", { status: 404 }) : Response.json(answer),
      );
    };
    assertEquals(await freeSlots({ host: "http://localhost:1", fetch }), free);
  });
}
