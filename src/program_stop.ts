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

/** Calls all actions. Returns what calls their results. */
async function begin(): Promise<Undo> {
  const undos = new Map<Action, Undo | void>();
  const next = () => [...stops].findLast((action) => !undos.has(action));
  for (let action = next(); action !== undefined; action = next()) {
    undos.set(action, await Promise.try(action).catch(() => {}));
  }
  return () => undos.forEach((undo) => undo?.());
}

let last: Promise<unknown> = Promise.resolve();

/** Runs `action` between the actions of a stop and their results, one at a time: sandboxed programs do not run meanwhile. */
export function whileStopped<T>(action: () => Promise<T>): Promise<T> {
  const run = last.then(async () => {
    const undo = await begin();
    return await Promise.try(action).finally(undo);
  });
  last = run.catch(() => {});
  return run;
}

async function stop(): Promise<void> {
  // A terminal repeats the key.
  if (isStopping) return;
  isStopping = true;
  const undo = await begin();
  // Without the listener, the signal stops the program, unless no shell could continue it.
  Deno.removeSignalListener("SIGTSTP", stop);
  Deno.kill(Deno.pid, "SIGTSTP");
  const resume = () => {
    undo();
    isStopping = false;
    if (stops.size > 0) Deno.addSignalListener("SIGTSTP", stop);
  };
  // After `bg`, the terminal stops the program again as it enters raw mode.
  setTimeout(() => setTimeout(resume, STOP_MS), STOP_MS);
}
