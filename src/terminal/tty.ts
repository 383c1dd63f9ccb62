/**
 * The terminal in raw mode, and back: on every way out but SIGKILL.
 *
 * Deno restores the terminal's settings when it exits or throws, but not on a signal, and it knows
 * nothing of the modes that escape sequences set.
 *
 * @module
 */

import { show } from "./stdin.ts";

/** A terminal in raw mode. Dispose of it to leave the mode that whoever came first entered. */
export interface RawTerminal extends Disposable {
  /** Stops the process as Ctrl-Z does, the terminal restored; resolves when it goes on. */
  suspend(): Promise<void>;
}

/** What happens to a terminal in raw mode. */
export interface RawOptions {
  /** The size changed: `resumed` is false. Or the process goes on after a stop: draw all anew. */
  onRedraw?: ((resumed: boolean) => void) | undefined;
  /** What to write before the terminal is given up in haste, such as a way to the row below. */
  onLeave?: (() => string) | undefined;
  /**
   * Who ends the process on SIGINT, SIGTERM and SIGHUP, the terminal being restored: the signal
   * itself when left out. Counts for the first who enters raw mode.
   */
  onSignal?: ((signal: Deno.Signal) => void) | undefined;
  /** Whether the terminal reports its focus, as the keys `focus-in` and `focus-out`. */
  focus?: boolean | undefined;
}

/** Paste in brackets; and the way back, with what else may have been left on. */
const ENTER = "\x1b[?2004h";
const LEAVE = "\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[m";
const FOCUS_ON = "\x1b[?1004h";
const FOCUS_OFF = "\x1b[?1004l";

const unix = Deno.build.os !== "windows";
/** Who is in raw mode, outermost first. */
const holders: RawOptions[] = [];
let endWatch = () => {};
/** Resolves what {@linkcode suspend} returned. */
let onResumed = () => {};
/** A stop that has not come by then, in milliseconds, was ignored: there is no shell to go on from. */
const STOP_MS = 200;

/** Enters raw mode; several may hold it at once. */
export function rawTerminal(options: RawOptions = {}): RawTerminal {
  holders.push(options);
  if (holders.length === 1) {
    enter();
    endWatch = watch();
  } else if (options.focus) show(FOCUS_ON);
  return {
    suspend,
    [Symbol.dispose]() {
      const at = holders.indexOf(options);
      if (at < 0) return;
      if (holders.length > 1) {
        holders.splice(at, 1);
        if (options.focus && !focused()) show(FOCUS_OFF);
        return;
      }
      endWatch();
      exit();
      holders.pop();
    },
  };
}

/** The terminal's size in cells; 80 by 24 where it does not say. */
export function terminalSize(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 };
  }
}

/** Whether the terminal breaks rows that a smaller window makes too long; few do not. */
export function reflowsRows(env: { get(name: string): string | undefined } = Deno.env): boolean {
  return env.get("XTERM_VERSION") === undefined && env.get("TERM") !== "linux" &&
    (env.get("STY") === undefined || env.get("TMUX") !== undefined);
}

const focused = () => holders.some(({ focus }) => focus);

function enter(): void {
  Deno.stdin.setRaw(true);
  show(ENTER + (focused() ? FOCUS_ON : ""));
}

/** Restores the terminal, even if there is none any more. */
function exit(): void {
  const steps = [
    () => show((focused() ? FOCUS_OFF : "") + LEAVE),
    () => Deno.stdin.setRaw(false),
  ];
  for (const step of steps) {
    try {
      step();
    } catch {
      // Nothing to restore it on.
    }
  }
}

function exitInHaste(): void {
  if (holders.length === 0) return;
  try {
    show(holders.map(({ onLeave }) => onLeave?.() ?? "").join(""));
  } catch {
    // See exit.
  }
  exit();
}

/** Listens to all that ends or stops the process. */
function watch(): () => void {
  const ends: Deno.Signal[] = unix ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGBREAK"];
  const listeners: [Deno.Signal, () => void][] = ends.map((signal) => [signal, () => end(signal)]);
  listeners.push(["SIGWINCH", () => redraw(false)]);
  if (unix) listeners.push(["SIGCONT", resumed]);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  const events = ["unload", "error", "unhandledrejection"];
  for (const event of events) addEventListener(event, exitInHaste);
  return () => {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    for (const event of events) removeEventListener(event, exitInHaste);
  };
}

function end(signal: Deno.Signal): void {
  const { onSignal } = holders[0] ?? {};
  exitInHaste();
  if (onSignal) return onSignal(signal);
  endWatch();
  // Without a listener the signal does what it always does, and the parent sees that it did.
  if (unix) Deno.kill(Deno.pid, signal);
  else Deno.exit(130);
}

function redraw(afterStop: boolean): void {
  for (const { onRedraw } of holders) onRedraw?.(afterStop);
}

function suspend(): Promise<void> {
  if (!unix) return Promise.resolve();
  exitInHaste();
  const { promise, resolve } = Promise.withResolvers<void>();
  const start = Date.now();
  // The whole process group, as the terminal does it: a script around us has to stop as well. The
  // stop may come a little after the call returns.
  Deno.kill(0, "SIGTSTP");
  const timer = setTimeout(() => {
    // Later than that we were stopped, and SIGCONT is on its way.
    if (Date.now() - start < 2 * STOP_MS) resumed();
  }, STOP_MS);
  onResumed = () => {
    clearTimeout(timer);
    resolve();
  };
  return promise;
}

/** The process goes on; meanwhile somebody else had the terminal. */
function resumed(): void {
  try {
    enter();
    redraw(true);
  } catch {
    // A terminal that is closed wakes us as well: SIGHUP, or the next use of it, ends the session.
  }
  onResumed();
}
