/** The number of parallel sub-agents: one, or as many as the server has slots. @module */

import { clearSlot, freeSlots } from "../../models/ollama/slots.ts";
import type { CopilotConfig } from "../../config.ts";
import { mayBeLlamaCpp, targetOf } from "../../models/target.ts";
import { addressOf } from "../../models/model_server.ts";

const MAX_LANES = 4;

interface Lane extends Disposable {
  slot: number | undefined;
}

export async function openLanes(config: CopilotConfig, signal: AbortSignal): Promise<Lanes> {
  const target = targetOf(config);
  const slots = mayBeLlamaCpp(target) ? await freeSlots({ ...addressOf(target), signal }) : [];
  return new Lanes(slots.slice(0, MAX_LANES));
}

/** Lets the server reuse the main agent's cached prompt after the sub-agents have finished. */
export async function closeLanes(config: CopilotConfig): Promise<void> {
  const target = targetOf(config);
  if (mayBeLlamaCpp(target)) await clearSlot(addressOf(target));
}

export class Lanes {
  readonly #free: (number | undefined)[];
  readonly #count: number;
  readonly #queue: { isAlone: boolean; start: () => void }[] = [];

  /** @param slots the slots to use. If it is empty, there is one lane, and the server chooses */
  constructor(slots: readonly number[]) {
    this.#free = slots.length === 0 ? [undefined] : [...slots];
    this.#count = this.#free.length;
  }

  /** Waits for a lane. `isAlone` waits until all are free, and blocks others. @throws the signal's reason. */
  async enter(isAlone: boolean, signal: AbortSignal): Promise<Lane> {
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", leave);
        const taken = this.#free.splice(0, isAlone ? this.#count : 1);
        resolve({
          slot: taken[0],
          [Symbol.dispose]: () => {
            this.#free.push(...taken.splice(0));
            this.#next();
          },
        });
      };
      const waiting = { isAlone, start };
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal.reason);
        this.#next();
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  #next(): void {
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      if (this.#free.length < (first.isAlone ? this.#count : 1)) return;
      this.#queue.shift();
      first.start();
    }
  }
}
