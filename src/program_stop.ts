/** Actions before this program is stopped by Ctrl-Z, and after it continues. @module */

/** The time after which a stop has come, and after which a program that continues has the terminal, in ms. */
const STOP_MS = 100;

type Undo = () => void;
type Action = () => Undo | void | Promise<Undo>;
const stops = new Set<Action>();
let isStopping = false;

/** Calls `action`, which must not take long, before each stop, newest first, and its result after it. Returns the undo. */
export function atProgramStop(action: Action): Undo {
  if (Deno.build.os === "windows") return () => {};
  if (stops.size === 0 && !isStopping) Deno.addSignalListener("SIGTSTP", stop);
  stops.add(action);
  return () => {
    const isLast = stops.delete(action) && stops.size === 0;
    if (isLast && !isStopping) Deno.removeSignalListener("SIGTSTP", stop);
  };
}

async function stop(): Promise<void> {
  // A terminal repeats the key.
  if (isStopping) return;
  isStopping = true;
  const undos = new Map<Action, Undo | void>();
  const next = () => [...stops].findLast((action) => !undos.has(action));
  for (let action = next(); action !== undefined; action = next()) {
    undos.set(action, await Promise.try(action).catch(() => {}));
  }
  // Without the listener, the signal stops the program, unless no shell could continue it.
  Deno.removeSignalListener("SIGTSTP", stop);
  Deno.kill(Deno.pid, "SIGTSTP");
  const resume = () => {
    for (const undo of undos.values()) undo?.();
    isStopping = false;
    if (stops.size > 0) Deno.addSignalListener("SIGTSTP", stop);
  };
  // After `bg`, the terminal stops the program again as it enters raw mode.
  setTimeout(() => setTimeout(resume, STOP_MS), STOP_MS);
}
