/**
 * The terminal in raw mode, and back: on every way out but SIGKILL. Deno restores its settings when
 * it exits or throws, but not on a signal, and knows nothing of the modes of escape
 * sequences. @module
 */

import { writeStdout } from "./stdio.ts";

/** A terminal in raw mode. The mode ends when all who entered it have disposed of it. */
export interface RawTerminal extends Disposable {
  /** Stops the process as Ctrl-Z does, the terminal restored; resolves when it goes on. */
  suspend(): Promise<void>;
  /** Gives the terminal, restored, to another program until `run` is done with it. */
  lend<T>(run: () => Promise<T>): Promise<T>;
  /** Has the terminal, which knows kitty's keyboard protocol, tell Shift-Enter from Enter. */
  useKitty(): void;
}

export interface RawOptions {
  /** Draws again: the size changed, or (`resumed`) the process goes on after a stop. */
  onRedraw?: ((resumed: boolean) => void) | undefined;
  /** The text to write before the terminal is given up in haste, such as the way to the row below. */
  onLeave?: (() => string) | undefined;
  /**
   * Ends the process on SIGINT, SIGTERM and SIGHUP, after the terminal was restored; when left out,
   * the signal itself ends it. Only the first who enters raw mode is called.
   */
  onSignal?: ((signal: Deno.Signal) => void) | undefined;
  /** The terminal reports its focus, as the keys `focus-in` and `focus-out`. */
  focus?: boolean | undefined;
}

/** Turns bracketed paste on; and off again, with other modes that may have been left on. */
const ENTER = "\x1b[?2004h";
const LEAVE = "\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[m";
/**
 * Kitty's keyboard protocol, on a stack of the terminal's own: keys that old codes do not tell apart, with
 * the character that Shift makes of each.
 */
const KITTY_ON = "\x1b[>5u";
const KITTY_OFF = "\x1b[<u";
/** xterm's modifyOtherKeys, for keys without a code of their own, such as Shift-Enter. */
const OTHER_KEYS_ON = "\x1b[>4;1m";
const OTHER_KEYS_OFF = "\x1b[>4m";
const FOCUS_ON = "\x1b[?1004h";
const FOCUS_OFF = "\x1b[?1004l";
const unix = Deno.build.os !== "windows";
/** The options of all who are in raw mode, outermost first. */
const holders: RawOptions[] = [];
/** Removes the listeners of {@linkcode watch}. */
let endWatch = () => {};
/** True once the terminal said that it knows kitty's protocol. */
let hasKitty = false;
/** True while another program has the terminal. */
let isLent = false;
/** Resolves the promise that {@linkcode suspend} returned. */
let onResumed = () => {};
/** A stop not come within these milliseconds was ignored: no shell could continue the process. */
const SUSPEND_MS = 200;

/** Enters raw mode; several may hold it at once. */
export function rawTerminal(options: RawOptions = {}): RawTerminal {
  holders.push(options);
  if (holders.length === 1) {
    enterRaw();
    endWatch = watch();
  } else if (options.focus) writeStdout(FOCUS_ON);
  return {
    suspend,
    lend,
    useKitty() {
      if (hasKitty || holders.length === 0) return;
      hasKitty = true;
      if (!isLent) writeStdout(KITTY_ON);
    },
    [Symbol.dispose]() {
      const at = holders.indexOf(options);
      if (at === -1) return;
      if (holders.length > 1) {
        holders.splice(at, 1);
        if (options.focus && !reportsFocus()) writeStdout(FOCUS_OFF);
        return;
      }
      endWatch();
      exitRaw();
      holders.pop();
    },
  };
}

/**
 * Makes a terminal sane that another program left raw; to be awaited before raw mode is entered, as
 * Deno restores what it finds then. It looks once, and takes some milliseconds, most of them in
 * another process. A terminal that only has its echo off stays: Emacs runs programs in one.
 */
export function makeSane(): Promise<void> {
  return sanity ??= (async () => {
    if (!unix || !Deno.stdin.isTerminal()) return;
    try {
      if (/-(icanon|opost)\b/.test(await stty("-a"))) await stty("sane");
    } catch {
      // Without stty the terminal stays as it is.
    }
  })();
}

/** The look of {@linkcode makeSane}. */
let sanity: Promise<void> | undefined;

async function stty(word: string): Promise<string> {
  // By its path, as a folder may bring a program of that name.
  const command = new Deno.Command("/bin/stty", { args: [word], stdin: "inherit" });
  return new TextDecoder().decode((await command.output()).stdout);
}

/** The size of a terminal, in cells. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The terminal's size; 80 by 24 where it does not say. */
export function terminalSize(): TerminalSize {
  try {
    const { columns, rows } = Deno.consoleSize();
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 };
  }
}

/** True when the terminal breaks rows that a smaller window makes too long; few do not. */
export function reflowsRows(): boolean {
  const { env } = Deno;
  return !env.has("XTERM_VERSION") && env.get("TERM") !== "linux" &&
    (!env.has("STY") || env.has("TMUX"));
}

/** Does a step that fails where the terminal is gone. */
export function unlessGone(step: () => void): void {
  try {
    step();
  } catch {
    // Nobody sees it any more.
  }
}

/** True for terminals that have modifyOtherKeys; others may take it for colours. */
const hasOtherKeys = () => Deno.env.has("TMUX") || Deno.env.has("XTERM_VERSION");
const reportsFocus = () => holders.some(({ focus }) => focus);

function enterRaw(): void {
  Deno.stdin.setRaw(true);
  const keyboard = hasKitty ? KITTY_ON : hasOtherKeys() ? OTHER_KEYS_ON : "";
  writeStdout(ENTER + keyboard + (reportsFocus() ? FOCUS_ON : ""));
}

/** Restores the terminal as far as it is still there. */
function exitRaw(): void {
  const keyboard = (hasKitty ? KITTY_OFF : "") + (hasOtherKeys() ? OTHER_KEYS_OFF : "");
  unlessGone(() => writeStdout((reportsFocus() ? FOCUS_OFF : "") + keyboard + LEAVE));
  unlessGone(() => Deno.stdin.setRaw(false));
}

function exitInHaste(): void {
  if (holders.length === 0 || isLent) return;
  unlessGone(() => writeStdout(holders.map(({ onLeave }) => onLeave?.() ?? "").join("")));
  exitRaw();
}

/** Listens to every event that ends or stops the process; the result removes the listeners. */
function watch(): () => void {
  const ends: Deno.Signal[] = unix ? ["SIGINT", "SIGTERM", "SIGHUP"] : ["SIGINT", "SIGBREAK"];
  const listeners = new Map<Deno.Signal, () => void>();
  for (const signal of ends) listeners.set(signal, () => endProcess(signal));
  listeners.set("SIGWINCH", () => redraw(false));
  if (unix) listeners.set("SIGCONT", resumed);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  const events = ["unload", "error", "unhandledrejection"];
  for (const event of events) addEventListener(event, exitInHaste);
  return () => {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    for (const event of events) removeEventListener(event, exitInHaste);
  };
}

function endProcess(signal: Deno.Signal): void {
  // Ctrl-C is for the program that has the terminal.
  if (isLent && signal === "SIGINT") return;
  const { onSignal } = holders[0] ?? {};
  exitInHaste();
  if (onSignal) return onSignal(signal);
  endWatch();
  // Without a listener the signal does what it always does, and the parent sees that it did.
  if (unix) Deno.kill(Deno.pid, signal);
  else Deno.exit(130);
}

function redraw(afterStop: boolean): void {
  if (isLent) return;
  for (const { onRedraw } of holders) onRedraw?.(afterStop);
}

function suspend(): Promise<void> {
  if (!unix) return Promise.resolve();
  exitInHaste();
  const start = Date.now();
  // The whole process group, as the terminal does it: a script around us has to stop as well. The
  // stop may come a little after the call returns.
  Deno.kill(0, "SIGTSTP");
  const timer = setTimeout(() => {
    // A later timer means that the process was stopped: SIGCONT follows.
    if (Date.now() - start < 2 * SUSPEND_MS) resumed();
  }, SUSPEND_MS);
  return new Promise((resolve) => {
    onResumed = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function lend<T>(run: () => Promise<T>): Promise<T> {
  exitInHaste();
  isLent = true;
  try {
    return await run();
  } finally {
    isLent = false;
    resumed();
  }
}

/** The process goes on; meanwhile somebody else had the terminal. */
function resumed(): void {
  if (isLent) return; // stopped and continued along with the program that has it
  // A terminal that is closed wakes us as well: SIGHUP, or the next use of it, ends the session.
  unlessGone(() => {
    enterRaw();
    redraw(true);
  });
  onResumed();
}
