/**
 * Finds the lines that an expression matches, in linear time whatever the expression.
 *
 * A state of the automaton is the set of places in the expression that the characters so far may
 * have come to. States are made as the text asks for them; when they get too many they are dropped
 * and made anew. It reads UTF-8 as it is. A state is left one character late, as `\b` and `$` need
 * the next character.
 *
 * @module
 */

import type { Look, Node, Regex } from "./parse.ts";

/** Thrown out of a search that is told to stop. */
export class Stopped extends Error {
  override name = "Stopped";
}

/** Counts bytes, and asks now and then whether to go on. */
export interface Meter {
  /** So many bytes may be gone through before it is asked. */
  left: number;
  /** @throws {Stopped} */
  ask(): void;
}

/** Some hundred microseconds of work. */
const BYTES_PER_ASK = 256 * 1024;

/** A meter that ends the work when `stop` says so. */
export function createMeter(stop: () => boolean): Meter {
  const meter = {
    left: BYTES_PER_ASK,
    ask() {
      if (stop()) throw new Stopped("The search was stopped");
      meter.left = BYTES_PER_ASK;
    },
  };
  return meter;
}

/** The places of an expression: what is asked there, and where it goes on. */
interface Program {
  ops: ("set" | "split" | "match" | Look)[];
  /** For a set its index, for a split the other place to go on. */
  args: number[];
  next: number[];
  start: number;
}

/** Every place may be in every state: more would make each character of a text take long. */
const MAX_PLACES = 5000;

function compile(root: Node): Program {
  const program: Program = { ops: ["match"], args: [0], next: [0], start: 0 };
  let visits = 0;
  function emit(op: Program["ops"][number], arg: number, next: number): number {
    program.args.push(arg);
    program.next.push(next);
    return program.ops.push(op) - 1;
  }
  function add(node: Node, next: number): number {
    if (++visits > MAX_PLACES) {
      throw new SyntaxError(
        `Cannot search for a pattern of more than ${MAX_PLACES} places with its repeats written ` +
          `out: use smaller numbers in { }, or * and +`,
      );
    }
    if (node.type === "set") return emit("set", node.set.id, next);
    if (node.type === "look") return emit(node.look, 0, next);
    if (node.type === "all") return node.nodes.reduceRight((to, part) => add(part, to), next);
    if (node.type === "any") {
      return node.nodes.map((part) => add(part, next)).reduce((a, b) => emit("split", a, b));
    }
    let to = next;
    if (node.max === Infinity) {
      to = emit("split", 0, next);
      program.args[to] = add(node.node, to);
    } else {
      for (let i = node.min; i < node.max; i++) to = emit("split", add(node.node, to), next);
    }
    for (let i = 0; i < node.min; i++) to = add(node.node, to);
    return to;
  }
  program.start = add(root, 0);
  return program;
}

/** What comes before or after a place; no match begins between the two signs of a line break. */
const EDGE = 0, OTHER = 1, IN_WORD = 2, IN_BREAK = 3;

function holds(look: Look, before: number, after: number): boolean {
  const [was, is] = [before === IN_WORD, after === IN_WORD];
  switch (look) {
    case "^":
      return before === EDGE;
    case "$":
      return after === EDGE;
    case "b":
      return was !== is;
    case "B":
      return was === is;
    case "<":
      return !was && is;
    case ">":
      return was && !is;
  }
}

/** Finds where in `bytes` a line's first match ends, from `from` (a line's start) up to `to`. */
export type FindEnd = (bytes: Uint8Array, from: number, to: number) => number;

/** Kinds of characters: what needs a closer look, line feed, carriage return before that. */
const SPECIAL = 0, LF = 1, CRLF = 2;
/** Beside states: not made yet (or special), a match. States are multiples of the row's length. */
const UNKNOWN = 0, MATCH = 1;
/** Beyond so many numbers in all, states are dropped. */
const MAX_CELLS = 1 << 19;

/**
 * An automaton for `regex`. Returns -1 where no line matches. What is not UTF-8 counts as U+FFFD.
 *
 * @throws {SyntaxError} when the expression is too large.
 */
export function createDfa(regex: Regex, meter: Meter): FindEnd {
  const { sets, word } = regex;
  const { ops, args, next, start } = compile(regex.root);
  const asksForStart = ops.includes("^");

  /** For each kind of character, the sets that have it, and what it is to `\b`. */
  const members: Uint8Array[] = [];
  const sides: number[] = [];
  const kinds = new Map<string, number>();
  const byteKind = new Uint8Array(256);
  let kindOf: Uint16Array | undefined;

  function addKind(has: (set: Regex["sets"][number]) => boolean, side?: number): number {
    const member = Uint8Array.from(sets, (set) => has(set) ? 1 : 0);
    sides.push(side ?? (word && member[word.id] ? IN_WORD : OTHER));
    return members.push(member) - 1;
  }
  addKind(() => false); // SPECIAL
  addKind(() => false, EDGE); // LF
  // A carriage return there belongs to the line break: only who asks for one finds it.
  addKind((set) => set.only === 13, EDGE);

  function classify(code: number): number {
    const key = sets.map((set) => set.has(code) ? set.id : "").join();
    let kind = kinds.get(key);
    if (kind === undefined) kinds.set(key, kind = addKind((set) => set.has(code)));
    return kind;
  }
  for (let code = 0; code < 128; code++) if (code !== 13) byteKind[code] = classify(code);
  byteKind[10] = LF;

  function wideKind(code: number): number {
    kindOf ??= new Uint16Array(0x110000);
    return kindOf[code] ||= classify(code);
  }

  let stride = members.length + 8;
  let table = new Int32Array(0);
  let states: { places: Uint16Array; before: number }[] = [];
  let ids = new Map<string, number>();
  let cells = 0;
  /** How often the states were dropped. */
  let age = -1;
  let lineStart = 0;

  function drop(): void {
    age++;
    while (stride < members.length) stride *= 2;
    table = new Int32Array(stride * 32);
    // No state is where the marks are.
    states = [{ places: new Uint16Array(), before: EDGE }];
    ids = new Map();
    cells = 0;
    lineStart = intern(new Uint16Array(), asksForStart ? EDGE : OTHER);
  }

  function intern(places: Uint16Array, before: number): number {
    const key = String.fromCharCode(before, ...places);
    let id = ids.get(key);
    if (id !== undefined) return id;
    if (cells > MAX_CELLS) {
      drop();
      return intern(places, before);
    }
    id = (states.push({ places, before }) - 1) * stride;
    ids.set(key, id);
    cells += stride + 2 * places.length;
    if (id + stride > table.length) {
      const larger = new Int32Array(2 * table.length);
      larger.set(table);
      table = larger;
    }
    return id;
  }

  const seen = new Uint32Array(ops.length);
  const taken = new Uint32Array(ops.length);
  let round = 0;
  const stack: number[] = [];

  /** The state after a character of `kind` in state `from`, or a match before it. */
  function step(from: number, kind: number): number {
    const { places, before } = states[from / stride]!;
    const [member, after] = [members[kind]!, sides[kind]!];
    const made = age;
    const reached: number[] = [];
    let work = 1;
    let to = UNKNOWN;
    round++;
    stack.push(...places);
    if (before !== IN_BREAK) stack.push(start);
    for (let place; (place = stack.pop()) !== undefined; work++) {
      if (seen[place] === round) continue;
      seen[place] = round;
      const op = ops[place]!;
      if (op === "match") to = MATCH;
      else if (op === "split") stack.push(args[place]!, next[place]!);
      else if (op !== "set") {
        if (holds(op, before, after)) stack.push(next[place]!);
      } else if (member[args[place]!] && taken[next[place]!] !== round) {
        taken[next[place]!] = round;
        reached.push(next[place]!);
      }
    }
    meter.left -= 16 * work;
    if (to !== MATCH) {
      to = kind === LF
        ? lineStart
        : intern(Uint16Array.from(reached).sort(), kind === CRLF ? IN_BREAK : sides[kind]!);
    }
    if (made === age) table[from + kind] = to;
    return to;
  }

  drop();
  return (bytes, from, to) => {
    let state = lineStart;
    let i = from;
    for (;;) {
      const rows = table;
      const begin = i;
      const until = Math.min(to, i + Math.max(meter.left, 0));
      let after = UNKNOWN;
      for (; i < until; i++) {
        after = rows[state + byteKind[bytes[i]!]!]!;
        if (after <= MATCH) break;
        state = after;
      }
      meter.left -= i - begin + 1;
      if (i >= to) break;
      if (after === MATCH) return i;
      if (meter.left <= 0) meter.ask();
      let kind = byteKind[bytes[i]!]!;
      let width = 1;
      if (kind === SPECIAL) {
        if (bytes[i] === 13) {
          kind = i + 1 === to || bytes[i + 1] === 10 ? CRLF : wideKind(13);
        } else {
          const decoded = decode(bytes, i, to);
          kind = wideKind(decoded >> 3);
          width = decoded & 7;
        }
        if (kind >= stride) {
          // The rows are too short for it.
          const { places, before } = states[state / stride]!;
          drop();
          state = intern(places, before);
        }
      }
      after = table[state + kind]! || step(state, kind);
      if (after === MATCH) return i;
      state = after;
      i += width;
    }
    // What follows the last line break is no line if it is empty.
    if (from >= to || bytes[to - 1] === 10) return -1;
    return (table[state + LF] || step(state, LF)) === MATCH ? to : -1;
  };
}

/** What stands for a byte that is not UTF-8. */
const INVALID = 0xfffd << 3 | 1;

/** The code point at `i`, shifted by 3, and in the lowest bits how many bytes it takes. */
function decode(bytes: Uint8Array, i: number, to: number): number {
  const lead = bytes[i]!;
  const width = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (width === 1 || i + width > to) return INVALID;
  let code = lead & (0x7f >> width);
  for (let k = 1; k < width; k++) {
    const byte = bytes[i + k]!;
    if ((byte & 0xc0) !== 0x80) return INVALID;
    code = code << 6 | byte & 0x3f;
  }
  // Longer than need be, half a pair, or beyond the last.
  const wrong = width === 3 && (code < 0x800 || code >= 0xd800 && code < 0xe000) ||
    width === 4 && (code < 0x10000 || code > 0x10ffff);
  return wrong ? INVALID : code << 3 | width;
}
