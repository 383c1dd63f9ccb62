/** How many sub-agents work at a time: one, or as many as the model's server has slots for. @module */

import { clearSlot, freeSlots } from "../../backends/local/slots.ts";
import type { CopilotConfig } from "../../config.ts";
import { mayBeLlamaCpp, targetOf } from "../../model_target.ts";
import { addressOf } from "../model_server.ts";

/** The most sub-agents that work at a time. */
const MAX_LANES = 4;

/** A place to work in; disposing of it lets the next one in. */
interface Lane extends Disposable {
  /** The server's slot to use; undefined where the server chooses. */
  slot: number | undefined;
}

/** The lanes for the server of a model: it is asked now. */
export async function openLanes(config: CopilotConfig, signal: AbortSignal): Promise<Lanes> {
  const target = targetOf(config);
  const slots = mayBeLlamaCpp(target) ? await freeSlots({ ...addressOf(target), signal }) : [];
  return new Lanes(slots.slice(0, MAX_LANES));
}

/** Has the server of a model find the conversation of the agent itself again, once no sub-agent works. */
export async function closeLanes(config: CopilotConfig): Promise<void> {
  const target = targetOf(config);
  if (mayBeLlamaCpp(target)) await clearSlot(addressOf(target));
}

export class Lanes {
  readonly #free: (number | undefined)[];
  readonly #count: number;
  readonly #queue: { isAlone: boolean; start: () => void }[] = [];

  /** @param slots the slots to use; with none, there is one lane, and the server chooses */
  constructor(slots: readonly number[]) {
    this.#free = slots.length === 0 ? [undefined] : [...slots];
    this.#count = this.#free.length;
  }

  /** Waits for a lane; `isAlone` waits until all are free, and keeps others out. @throws the signal's reason. */
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
