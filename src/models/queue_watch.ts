/** Detects that a server answers other requests first. @module */

import type { TurnEvent } from "../types/event.ts";
import { onceAfter } from "../wire/wait.ts";

/** Milliseconds of silence before the server is asked, and between two checks. */
const QUEUE_LOOK_MS = 3000;

/** Watches the events of a turn. While a request has no answer, it calls `isBusy`, and `onQueued` once. */
export class QueueWatch {
  #cancel: (() => void) | undefined;

  constructor(
    private readonly isBusy: () => Promise<boolean>,
    private readonly onQueued: () => void,
  ) {}

  onEvent({ type }: TurnEvent): void {
    this.end();
    if (type === "thinking") this.#ask();
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #ask(): void {
    const cancel = this.#cancel = onceAfter(QUEUE_LOOK_MS, async () => {
      const isBusy = await this.isBusy();
      if (this.#cancel !== cancel) return;
      if (isBusy) this.onQueued();
      else this.#ask();
    });
  }
}
