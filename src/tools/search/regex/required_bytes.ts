/**
 * Finds the places where an expression can match: every match contains some run of places with few possible bytes each
 * (`needle`, `[Nn][Ee][Dd]`, or `_[0-9][0-9]`). Horspool's algorithm finds it without reading every byte, several times
 * faster than the automaton. @module
 */

import type { Meter } from "./dfa.ts";
import type { CharSet } from "./char_sets.ts";
import type { Node } from "./parse.ts";

/** The possible bytes of each place. */
type ByteRun = number[][];

/** The maximum length of a run. A longer one is not found faster. */
const MAX_RUN_PLACES = 32;
/** The minimum weight of a run. Others are too common: `e` is in nearly every line. */
const MIN_SCORE = 8;
/** The rarity of a place: 6 for a single byte, 0 for 64 of them. */
const weight = (place: number[]) => Math.max(0, 6 - Math.log2(place.length));
const score = (run: ByteRun) => run.reduce((sum, place) => sum + weight(place), 0);

/** Returns the run of the greatest weight that every match of `node` contains; may be empty. */
function bestRun(node: Node): ByteRun {
  let best: ByteRun = [];
  let run: ByteRun = [];
  const offer = (found: ByteRun) => {
    const from = found.findIndex((place) => weight(place) > 0);
    const part = from === -1 ? [] : found.slice(from, from + MAX_RUN_PLACES);
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
      const bytes = setBytes(part.set);
      if (bytes === undefined) end();
      else run.push(...bytes);
    } else if (part.type === "repeat") {
      if (part.min === 0) return end();
      const single = part.node.type === "set";
      if (!single) end();
      for (let i = 0; i < (single ? Math.min(part.min, MAX_RUN_PLACES) : 1); i++) walk(part.node);
      if (single && part.max === part.min && part.min <= MAX_RUN_PLACES) return;
      end();
      // The last repetition is right before the nodes that follow.
      if (single) walk(part.node);
    }
  }
  walk(node);
  end();
  return best;
}

/** Returns the run that matches wherever any of several does. */
function union(runs: ByteRun[]): ByteRun {
  const length = Math.min(...runs.map((run) => run.length));
  return Array.from({ length }, (_, i) => [...new Set(runs.flatMap((run) => run[i]!))]);
}

/** Returns the bytes of the characters of `set` if all have one length; otherwise undefined. */
function setBytes({ only, ascii, has }: CharSet): ByteRun | undefined {
  if (only === 0xfffd) return undefined; // also used for invalid UTF-8
  if (only !== undefined) {
    return [...new TextEncoder().encode(String.fromCodePoint(only))].map((byte) => [byte]);
  }
  const bytes = Array.from({ length: 128 }, (_, code) => code).filter((c) => c !== 10 && has(c));
  return ascii && bytes.length > 0 ? [bytes] : undefined;
}

/** Finds the next run from `from` on; -1 at the end. */
type FindRun = (bytes: Uint8Array, from: number) => number;

/** Returns a finder of the run that matches of `root` contain; undefined if no run is rare enough. */
export function createRunFinder(root: Node, meter: Meter): FindRun | undefined {
  const run = bestRun(root);
  if (score(run) < MIN_SCORE) return undefined;
  const last = run.length - 1;
  /** The distances to advance: from a byte at the last place, and from one that fits there. */
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
