/** A worker of a search. It loads few modules, because each delays the first result. @module */

import { HUNGRY, type Order, Searcher, STOP, type WorkerReport } from "./searcher.ts";

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<Order>) => void;
  postMessage(report: WorkerReport): void;
};

let searcher: Searcher;
let shared: Int32Array;

scope.onmessage = ({ data: order }) => {
  try {
    if (order.type === "finish") return scope.postMessage({ type: "found", found: searcher.found });
    if (order.type === "start") {
      shared = order.shared;
      searcher = new Searcher(order.job, () => Atomics.load(shared, STOP) === 1);
    }
    for (const task of order.tasks) searcher.tasks.push(task);
    work();
    scope.postMessage({ type: "idle" });
  } catch (error) {
    scope.postMessage({ type: "failed", message: String(error) });
  }
};

function work(): void {
  const { tasks } = searcher;
  while (tasks.length > 0 && Atomics.load(shared, STOP) === 0) {
    searcher.step();
    const hungry = Atomics.load(shared, HUNGRY);
    if (hungry === 0 || tasks.length < 2) continue;
    // Another busy worker may have served the waiting one in the meantime.
    if (Atomics.compareExchange(shared, HUNGRY, hungry, hungry - 1) !== hungry) continue;
    scope.postMessage({ type: "share", tasks: tasks.splice(0, Math.ceil(tasks.length / 2)) });
  }
}
