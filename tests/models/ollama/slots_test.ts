import { assertEquals } from "@std/assert";
import { answering } from "./answering.ts";
import { clearSlot, freeSlots, slotTasks } from "../../../src/models/ollama/slots.ts";

const idle = { is_processing: false };
const server = (props: unknown, slots: unknown, asked?: string[]) =>
  answering({ "/props": props, "/slots": slots }, asked);

// deno-fmt-ignore
const ROWS: [name: string, props: unknown, slots: unknown, free: number[]][] = [
  ["one slot", { total_slots: 1 }, [{ id: 0, ...idle, id_task: 3 }], []],
  [
    "the newest request's is not free, those used last come first",
    { total_slots: 4 },
    [{ id: 0, ...idle, id_task: 3 }, { id: 1, ...idle, id_task: 9 }, { id: 2, is_processing: true, id_task: 8 }, { id: 3, ...idle }],
    [0, 3],
  ],
  ["one that never had a task comes last", { total_slots: 3 }, [{ id: 0 }, { id: 1, id_task: 0 }, { id: 2, id_task: 1 }], [1, 0]],
  ["slots that it does not show", { total_slots: 4 }, undefined, []],
  ["another kind of server", undefined, undefined, []],
  ["nonsense", { total_slots: "many" }, { slots: 4 }, []],
];

for (const [name, props, slots, free] of ROWS) {
  Deno.test(`free slots of llama.cpp's server: ${name}`, async () => {
    assertEquals(await freeSlots(server(props, slots)), free);
  });
}

Deno.test("the newest task of each slot, as far as the server shows it", async () => {
  const rows: [slots: unknown, tasks: { slot: number; task: number }[]][] = [
    [[{ id: 3, id_task: 7 }, { id: 0 }], [{ slot: 3, task: 7 }, { slot: 0, task: -1 }]],
    [[{ id_task: 0 }, 5, { id: "x", id_task: "y" }], [{ slot: 0, task: 0 }, { slot: 1, task: -1 }]],
    [{ slots: 4 }, []],
    [undefined, []],
  ];
  for (const [slots, tasks] of rows) {
    assertEquals(await slotTasks(server({}, slots)), tasks);
  }
});

Deno.test("the only slot is cleared by a short text, others are left alone", async () => {
  const rows: [props: unknown, asked: string[]][] = [
    [{ total_slots: 1 }, ["/props", "POST /completion"]],
    [{ total_slots: 2 }, ["/props"]],
    [undefined, ["/props"]],
  ];
  for (const [at, [props, expected]] of rows.entries()) {
    const asked: string[] = [];
    const options = server(props, undefined, asked);
    await clearSlot({ ...options, host: `http://localhost:${at + 2}` });
    assertEquals(asked, expected);
  }
});
