/** The worker of a search. It loads few modules, because each delays the first result. @module */

import { type Order, Searcher } from "./searcher.ts";

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<Order>) => void;
  postMessage(result: Searcher["found"] | string): void;
};

scope.onmessage = ({ data: { job, tasks, found, stop } }) => {
  const isOver = () => Atomics.load(stop, 0) === 1;
  try {
    const searcher = new Searcher(job, isOver, tasks, found);
    while (tasks.length > 0 && !isOver()) searcher.step();
    scope.postMessage(found);
  } catch (error) {
    scope.postMessage(String(error)); // uncaught, it would be printed
  }
};
