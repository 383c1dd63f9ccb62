/** The number of parallel sub-agents: one, or as many as the server has slots. @module */

import { clearSlot, freeSlots } from "../../models/ollama/slots.ts";
import type { CopilotConfig } from "../../config.ts";
import { mayBeLlamaCpp, targetOf } from "../../models/target.ts";
import { addressOf } from "../../models/model_server.ts";
import { orAborted } from "../../wire/wait.ts";

const MAX_LANES = 4;

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
  /** Resolves when the newest caller of `enter` has a lane, or was stopped. */
  #last: Promise<unknown> = Promise.resolve();
  #freed = Promise.withResolvers<void>();

  /** @param slots the slots to use. If it is empty, there is one lane, and the server chooses */
  constructor(slots: readonly number[]) {
    this.#free = slots.length === 0 ? [undefined] : [...slots];
    this.#count = this.#free.length;
  }

  /** Waits for a lane. `isAlone` waits until all are free, and blocks others. @throws the signal's reason. */
  async enter(isAlone: boolean, signal: AbortSignal) {
    signal.throwIfAborted();
    const wanted = isAlone ? this.#count : 1;
    const entered = this.#last.then(async () => {
      while (this.#free.length < wanted) await orAborted(this.#freed.promise, signal);
      signal.throwIfAborted();
      const taken = this.#free.splice(0, wanted);
      return {
        slot: taken[0],
        [Symbol.dispose]: () => {
          this.#free.push(...taken.splice(0));
          this.#freed.resolve();
          this.#freed = Promise.withResolvers();
        },
      };
    });
    this.#last = entered.catch(() => {});
    return await entered;
  }
}
