/**
 * The terminal of this process: its keys, its size, raw mode and the way back on every exit but
 * SIGKILL. Deno restores its settings on exit and on errors, but not on signals, and does not know
 * the modes that escape sequences set. @module
 */

import { attempt } from "../../attempt.ts";
import { systemProgram } from "../../start_program.ts";
import { wait } from "../../wire/wait.ts";
import { type KeySource, stdinKeys } from "./line/sources.ts";
import { writeStdout } from "./stdio.ts";

export interface Terminal {
  readonly keys: KeySource;
  /** True if a narrower window wraps long rows instead of cutting them off. */
  readonly reflows: boolean;
  /** Writes all of `text` before it returns. @throws {Error} if the terminal is gone */
  write(text: string): void;
  size(): TerminalSize;
  raw(options: RawOptions): RawTerminal;
  now(): number;
  /** Resolves after `ms` milliseconds, or once `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export function processTerminal(): Terminal {
  return {
    keys: stdinKeys(),
    reflows: reflowsRows(),
    write: writeStdout,
    size: terminalSize,
    raw: rawTerminal,
    now: () => performance.now(),
    pause: (ms, signal) => wait(ms, signal).catch(() => {}),
  };
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export function terminalSize(): TerminalSize {
  const { columns, rows } = attempt(() => Deno.consoleSize()) ?? {};
  return { columns: columns || 80, rows: rows || 24 };
}

function reflowsRows(): boolean {
  const { env } = Deno;
  return !env.has("XTERM_VERSION") && env.get("TERM") !== "linux" &&
    (!env.has("STY") || env.has("TMUX"));
}

export interface RawTerminal extends Disposable {
  /** Stops the process as Ctrl-Z does; resolves when it continues. */
  suspend(): Promise<void>;
  /** Gives the restored terminal to another program while `run` is pending. */
  lend<T>(run: () => Promise<T>): Promise<T>;
  /** Turns on kitty's keyboard protocol, which distinguishes Shift-Enter from Enter. */
  useKitty(): void;
}

export interface RawOptions {
  /** Draws again: the size changed, or (`resumed`) another program used the terminal. */
  onRedraw?: ((resumed: boolean) => void) | undefined;
  /** The text to write before the terminal is given up, such as the way to the row below. */
  onLeave?: (() => string) | undefined;
  /** Ends the process on a signal, after the terminal was restored; by default the signal ends it. */
  onSignal?: ((signal: Deno.Signal) => void) | undefined;
  /** Asks the terminal to report `focus-in` and `focus-out`. */
  focus?: boolean | undefined;
}

/** Bracketed paste; LEAVE also ends other modes that may be on. */
const ENTER = "\x1b[?2004h";
const LEAVE = "\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[m";
/** Kitty's keyboard protocol, with the character that Shift makes of each key. */
const KITTY_ON = "\x1b[>5u";
const KITTY_OFF = "\x1b[<u";
/** xterm's modifyOtherKeys, for keys without a code, such as Shift-Enter. */
const OTHER_KEYS_ON = "\x1b[>4;1m";
const OTHER_KEYS_OFF = "\x1b[>4m";
const FOCUS_ON = "\x1b[?1004h";
const FOCUS_OFF = "\x1b[?1004l";
/** A stop that did not come in this time, in ms, was ignored. Stopping eight jobs before it takes 200. */
const SUSPEND_MS = 600;
const unix = Deno.build.os !== "windows";
let rawOptions: RawOptions | undefined;
let endWatch = () => {};
let hasKitty = false;
let isLent = false;
let onResumed = () => {};

function rawTerminal(options: RawOptions): RawTerminal {
  rawOptions = options;
  enterRaw();
  endWatch = watch();
  return {
    suspend,
    lend,
    useKitty() {
      if (hasKitty || rawOptions === undefined) return;
      hasKitty = true;
      if (!isLent) writeStdout(KITTY_ON);
    },
    [Symbol.dispose]() {
      if (rawOptions === undefined) return;
      endWatch();
      exitRaw();
      rawOptions = undefined;
    },
  };
}

let sanity: Promise<void> | undefined;

/**
 * Resets a terminal that another program left raw, once; must be awaited before raw mode, because
 * Deno restores the settings that it finds. A terminal with only its echo off is not reset: Emacs
 * runs programs in one.
 */
export function makeSane(): Promise<void> {
  return sanity ??= (async () => {
    if (!unix || !Deno.stdin.isTerminal()) return;
    try {
      if (/-(icanon|opost)\b/.test(await stty("-a"))) await stty("sane");
    } catch {
      // There is no stty.
    }
  })();
}

async function stty(word: string): Promise<string> {
  // By its path, because PATH may name a folder of the project.
  const command = systemProgram("/bin/stty", { args: [word], stdin: "inherit" });
  return new TextDecoder().decode((await command.output()).stdout);
}

/** True for terminals that have modifyOtherKeys; others may read it as colours. */
const hasOtherKeys = () => Deno.env.has("TMUX") || Deno.env.has("XTERM_VERSION");

function enterRaw(): void {
  Deno.stdin.setRaw(true);
  const keyboard = hasKitty ? KITTY_ON : hasOtherKeys() ? OTHER_KEYS_ON : "";
  writeStdout(ENTER + keyboard + (rawOptions?.focus ? FOCUS_ON : ""));
}

// The terminal may be gone: each step below may fail.

function exitRaw(): void {
  const keyboard = (hasKitty ? KITTY_OFF : "") + (hasOtherKeys() ? OTHER_KEYS_OFF : "");
  attempt(() => writeStdout((rawOptions?.focus ? FOCUS_OFF : "") + keyboard + LEAVE));
  attempt(() => Deno.stdin.setRaw(false));
}

function exitInHaste(): void {
  if (rawOptions === undefined || isLent) return;
  const { onLeave } = rawOptions;
  attempt(() => writeStdout(onLeave?.() ?? ""));
  exitRaw();
}

/** Listens to everything that ends or stops the process; the result removes the listeners. */
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
  // Ctrl-C is for the program that uses the terminal.
  if (isLent && signal === "SIGINT") return;
  const { onSignal } = rawOptions ?? {};
  exitInHaste();
  if (onSignal) return onSignal(signal);
  endWatch();
  // Without the listener the signal ends the process, and the parent sees which one it was.
  if (unix) Deno.kill(Deno.pid, signal);
  else Deno.exit(130);
}

function redraw(afterStop: boolean): void {
  if (isLent) return;
  rawOptions?.onRedraw?.(afterStop);
}

function suspend(): Promise<void> {
  if (!unix) return Promise.resolve();
  exitInHaste();
  const start = Date.now();
  // The whole process group, as the terminal does it; the stop may come after the call returns.
  Deno.kill(0, "SIGTSTP");
  const timer = setTimeout(() => {
    // A later timer means that the process was stopped: SIGCONT follows.
    if (Date.now() - start < SUSPEND_MS + 200) resumed();
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

function resumed(): void {
  if (isLent) return; // the program that uses the terminal continues
  // A terminal that closed also wakes us: SIGHUP, or its next use, ends the session.
  attempt(() => {
    enterRaw();
    redraw(true);
  });
  onResumed();
}
