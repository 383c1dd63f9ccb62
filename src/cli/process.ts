/** The process of the program: its streams, and how signals end it. @module */

import type { Output } from "../ui/terminal/stdio.ts";
import { onSignals } from "./signals.ts";

/** The time for a run to end after a signal, in ms. After it, another signal exits at once. */
const MAX_ENDING_MS = 5000;

export interface Run {
  stdout: Output;
  stderr: Output;
  stop(exitCode: number): void;
  signal: AbortSignal;
  stopCode?: number;
}

/** From here on, a signal ends the current work, and then the program. */
export function stopOnSignals(run: Run): void {
  let signalledAt: number | undefined;
  onSignals((code) => {
    // The first signal ends the work. Further ones must not leave its processes running.
    if (signalledAt !== undefined && performance.now() - signalledAt > MAX_ENDING_MS) {
      Deno.exit(run.stopCode);
    }
    signalledAt ??= performance.now();
    run.stop(code);
  });
}

export function afterAbort(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const begin = () => setTimeout(resolve, ms);
    if (signal.aborted) begin();
    else signal.addEventListener("abort", begin);
  });
}
