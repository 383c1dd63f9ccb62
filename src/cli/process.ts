/** The process of the program: its streams, and how signals end it. @module */

import type { Output } from "../ui/terminal/stdio.ts";
import { EXIT } from "../exit_codes.ts";

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

/** Calls `handler` with the exit code of each signal, until the returned function is called. SIGXFSZ only fails a write. */
export function onSignals(handler: (exitCode: number) => void): () => void {
  const codes: [Deno.Signal, number][] = Deno.build.os === "windows"
    ? [["SIGINT", EXIT.interrupted], ["SIGBREAK", EXIT.interrupted]]
    : [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated], ["SIGHUP", EXIT.hangup]];
  const listen = (signal: Deno.Signal, listener: () => void) => {
    Deno.addSignalListener(signal, listener);
    return () => Deno.removeSignalListener(signal, listener);
  };
  const listeners = codes.map(([signal, code]) => listen(signal, () => handler(code)));
  if (Deno.build.os !== "windows") listeners.push(listen("SIGXFSZ", () => {}));
  return () => listeners.forEach((remove) => remove());
}
