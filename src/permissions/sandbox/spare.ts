/**
 * A sandbox that is made ready before there is a command for it: while a model answers, nothing else is to be
 * done. It waits inside for the command's words, and is used only where a sandbox made now would be the same.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { startLeader } from "../../start_leader.ts";
import type { ProgramStart } from "../../types/confine.ts";

/** A sandbox that no command came for is ended after so many milliseconds. */
const MAX_SPARE_MS = 60_000;

interface Waiting {
  child: Deno.ChildProcess;
  /** The facts that it was made from, as `makingOf` tells them: a sandbox with others is another one. */
  state: string;
  timer: ReturnType<typeof setTimeout>;
  isOver: boolean;
}

export class SpareSandbox {
  #waiting: Waiting | undefined;

  /** Makes a sandbox ready, in the place of the last one: the words that stand before a program and its arguments. */
  start(words: readonly string[], how: ProgramStart): void {
    const [program, ...args] = words;
    const state = makingOf(words, how);
    if (this.#waiting?.state === state && !this.#waiting.isOver) return;
    this.end();
    const child = startLeader(program!, args, how);
    child.unref();
    const timer = setTimeout(() => this.end(), MAX_SPARE_MS);
    Deno.unrefTimer(timer);
    const waiting: Waiting = { child, state, timer, isOver: false };
    void child.status.then(() => waiting.isOver = true);
    this.#waiting = waiting;
  }

  /** Has the waiting sandbox run a program with its arguments; undefined where another one is needed. */
  take(
    words: readonly string[],
    rest: readonly string[],
    how: ProgramStart,
  ): Deno.ChildProcess | undefined {
    const waiting = this.#waiting;
    if (!waiting || waiting.isOver || waiting.state !== makingOf(words, how)) return undefined;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    const { child } = waiting;
    child.ref();
    const writer = child.stdin.getWriter();
    const bytes = new TextEncoder().encode(rest.map((word) => `${word}\0`).join(""));
    // A sandbox that ended meanwhile has an exit code, which the command then ends with.
    void writer.write(bytes).then(() => writer.close()).catch(() => {});
    return child;
  }

  /** Ends the waiting sandbox. */
  end(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    const { pid, stdin, stdout, stderr } = waiting.child;
    // Its group: what holds the sandbox, and what waits in it.
    attempt(() => Deno.kill(-pid, "SIGKILL"));
    for (const closed of [stdin.close(), stdout.cancel(), stderr.cancel()]) closed.catch(() => {});
  }
}

/** All that a sandbox is made from: its words, and the files and folders that they mount. */
function makingOf(words: readonly string[], { cwd, env }: ProgramStart): string {
  const mounted = words.flatMap((word, i) =>
    /^--(ro-)?bind(-try)?$/.test(word) ? [identityAt(words[i + 1]!)] : []
  );
  // The system tells variables in any order.
  return JSON.stringify([words, cwd, Object.entries(env).sort(), mounted]);
}

function identityAt(path: string): string | undefined {
  return attempt(() => {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  });
}
