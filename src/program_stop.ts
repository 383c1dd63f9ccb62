/** Actions before this program is stopped by Ctrl-Z, and after it continues. @module */

import { attempt } from "./attempt.ts";

/** The time after which a stop has come, and after which a program that continues has the terminal, in ms. */
const STOP_MS = 100;

type Undo = () => void;
const stops = new Set<() => Undo | void>();

/** Calls `action`, which must not wait, before each stop, newest first, and its result after it. Returns the undo. */
export function atProgramStop(action: () => Undo | void): Undo {
  if (Deno.build.os === "windows") return () => {};
  if (stops.size === 0) Deno.addSignalListener("SIGTSTP", stop);
  stops.add(action);
  return () => {
    if (stops.delete(action) && stops.size === 0) Deno.removeSignalListener("SIGTSTP", stop);
  };
}

function stop(): void {
  const undos = [...stops].reverse().map((action) => attempt(action));
  // Without the listener, the signal stops the program, unless no shell could continue it.
  Deno.removeSignalListener("SIGTSTP", stop);
  Deno.kill(Deno.pid, "SIGTSTP");
  const resume = () => {
    for (const undo of undos) undo?.();
    if (stops.size > 0) Deno.addSignalListener("SIGTSTP", stop);
  };
  // After `bg`, the terminal stops the program again as it enters raw mode.
  setTimeout(() => setTimeout(resume, STOP_MS), STOP_MS);
}
