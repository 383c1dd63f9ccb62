/**
 * Finding the places where an expression may match at all.
 *
 * From the expression a run of places is taken that every match contains, with the few bytes that
 * each may have: `needle`, `[Nn][Ee][Dd]`, or `_[0-9][0-9]`. Such a run is found without looking at
 * every byte (Horspool's algorithm), several times faster than the automaton goes.
 *
 * @module
 */

import type { Meter } from "./dfa.ts";
import type { CharSet, Node } from "./parse.ts";

/** For each place the bytes that it may have. */
type Run = number[][];

/** A longer run is found no faster. */
const MAX_RUN = 32;
/** Less tells too little: `e` is in nearly every line. */
const MIN_SCORE = 8;

/** How much a place tells: a single byte 6, one of 64 nothing. */
const told = (place: number[]) => Math.max(0, 6 - Math.log2(place.length));

function score(run: Run): number {
  return run.reduce((sum, place) => sum + told(place), 0);
}

/** The run of `node` that tells most; empty where none is known. */
function bestRun(node: Node): Run {
  let best: Run = [];
  let run: Run = [];
  const offer = (found: Run) => {
    const from = found.findIndex((place) => told(place) > 0);
    const part = from === -1 ? [] : found.slice(from, from + MAX_RUN);
    if (score(part) > score(best)) best = part;
  };
  const end = () => {
    offer(run);
    run = [];
  };
  function walk(part: Node): void {
    if (part.type === "all") part.nodes.forEach(walk);
    else if (part.type === "any") {
      end();
      offer(union(part.nodes.map(bestRun)));
    } else if (part.type === "set") {
      const bytes = bytesOf(part.set);
      if (bytes === undefined) end();
      else run.push(...bytes);
    } else if (part.type === "repeat") {
      if (part.min === 0) return end();
      const single = part.node.type === "set";
      if (!single) end();
      for (let i = 0; i < (single ? Math.min(part.min, MAX_RUN) : 1); i++) walk(part.node);
      if (single && part.max === part.min && part.min <= MAX_RUN) return;
      end();
      // What follows comes right after the last of them.
      if (single) walk(part.node);
    }
  }
  walk(node);
  end();
  return best;
}

/** What any of several runs may have. */
function union(runs: Run[]): Run {
  const length = Math.min(...runs.map((run) => run.length));
  return Array.from(
    { length },
    (_, i) => [...new Set(runs.flatMap((run) => run[i]!))],
  );
}

/** The bytes of a character of `set`, where all that may be are equally many. */
function bytesOf({ only, ascii, has }: CharSet): Run | undefined {
  if (only === 0xfffd) return undefined; // also stands for what is not UTF-8
  if (only !== undefined) {
    return [...new TextEncoder().encode(String.fromCodePoint(only))].map((byte) => [byte]);
  }
  const bytes = Array.from({ length: 128 }, (_, code) => code).filter((c) => c !== 10 && has(c));
  return ascii && bytes.length > 0 ? [bytes] : undefined;
}

/** Finds the next place from `from` on where what a match contains begins; -1 for none. */
export type FindRun = (bytes: Uint8Array, from: number) => number;

/** Undefined where `root` requires nothing that is worth looking for. */
export function createRunFinder(root: Node, meter: Meter): FindRun | undefined {
  const run = bestRun(root);
  if (score(run) < MIN_SCORE) return undefined;
  const last = run.length - 1;
  /** How far to go on when a byte is at the last place, and when it fits there. */
  const skip = new Uint8Array(256).fill(run.length);
  const again = new Uint8Array(256).fill(run.length);
  const fits = new Uint8Array(256 * run.length);
  run.forEach((place, i) => {
    for (const byte of place) {
      fits[i * 256 + byte] = 1;
      skip[byte] = last - i;
      if (i < last) again[byte] = last - i;
    }
  });
  return (bytes, from) => {
    for (let i = from + last; i < bytes.length;) {
      const begin = i;
      const until = Math.min(bytes.length, i + Math.max(meter.left, 1));
      while (i < until) {
        const byte = bytes[i]!;
        const far = skip[byte]!;
        if (far > 0) {
          i += far;
          continue;
        }
        let k = 1;
        while (k <= last && fits[(last - k) * 256 + bytes[i - k]!]) k++;
        if (k > last) {
          meter.left -= i - begin;
          return i - last;
        }
        i += again[byte]!;
      }
      meter.left -= i - begin;
      if (meter.left <= 0) meter.ask();
    }
    return -1;
  };
}
