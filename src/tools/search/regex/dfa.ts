/**
 * Finds the lines that an expression matches, always in linear time.
 *
 * A state of the automaton is the set of places in the expression that the characters so far may lead to. States
 * are created as the text needs them; if there are too many, all are dropped and created again. The automaton
 * reads UTF-8 without decoding it first. It detects a match one character late, because `\b` and `$` need the
 * next character.
 *
 * `RegExp` is no replacement: a backtracking worker cannot be stopped, nor can the process, and it takes 5 to 15
 * times as long for a pattern that starts with a repeat, as measured. @module
 */

import type { CharSet } from "./char_sets.ts";
import type { Assertion, Node, Regex } from "./parse.ts";

export class SearchStopped extends Error {
  override name = "Stopped";
}

/** The number of bytes between two calls of `stop`: some hundred microseconds of work. */
const BYTES_PER_ASK = 256 * 1024;

/** Counts the bytes of a search, and stops it when `stop` returns true. */
export class Meter {
  /** The number of bytes that may be read before the next {@linkcode ask}. */
  left = BYTES_PER_ASK;

  constructor(private readonly stop: () => boolean) {}

  /** @throws {SearchStopped} */
  ask(): void {
    if (this.stop()) throw new SearchStopped("The search was stopped");
    this.left = BYTES_PER_ASK;
  }
}

/** The places of an expression, each with its operation and the next place. */
interface Program {
  ops: ("set" | "split" | "match" | Assertion)[];
  args: number[]; // the id of a set, or the other next place of a split
  next: number[];
  start: number;
}

/** The maximum number of places. A state may contain every place, so more would slow each character down. */
const MAX_PROGRAM_PLACES = 5000;

function compile(root: Node): Program {
  const program: Program = { ops: ["match"], args: [0], next: [0], start: 0 };
  let visits = 0;
  function emit(op: Program["ops"][number], arg: number, next: number): number {
    program.args.push(arg);
    program.next.push(next);
    return program.ops.push(op) - 1;
  }
  function add(node: Node, next: number): number {
    if (++visits > MAX_PROGRAM_PLACES) {
      throw new SyntaxError(
        `Cannot search for a pattern of more than ${MAX_PROGRAM_PLACES} places with its repeats written out: use smaller numbers in { }, or * and +`,
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
    } else for (let i = node.min; i < node.max; i++) to = emit("split", add(node.node, to), next);
    for (let i = 0; i < node.min; i++) to = add(node.node, to);
    return to;
  }
  program.start = add(root, 0);
  return program;
}

/** The sides of a place: the kind of the character before or after it. No match starts within a line break. */
const EDGE = 0, OTHER = 1, IN_WORD = 2, IN_BREAK = 3;

/** The test of each {@linkcode Assertion} for the sides of a place. */
const HOLDS: Readonly<Record<Assertion, (before: number, after: number) => boolean>> = {
  "^": (before) => before === EDGE,
  "$": (_, after) => after === EDGE,
  b: (before, after) => (before === IN_WORD) !== (after === IN_WORD),
  B: (before, after) => (before === IN_WORD) === (after === IN_WORD),
  "<": (before, after) => before !== IN_WORD && after === IN_WORD,
  ">": (before, after) => before === IN_WORD && after !== IN_WORD,
};

/** Kinds of characters: those that need decoding, a line feed, a carriage return before it. */
const SPECIAL_KIND = 0, LF_KIND = 1, CRLF_KIND = 2;

/** Characters of one kind are in the same sets, and equal for `\b`: the automaton treats them alike. */
class CharKinds {
  readonly #byMembers = new Map<string, number>();
  #byCode: Uint16Array | undefined;
  /** By kind and by set id: 1 if characters of that kind are in that set. */
  readonly members: Uint8Array[] = [];
  /** By kind: one of `EDGE`, `OTHER`, `IN_WORD`. */
  readonly sides: number[] = [];
  /** The kinds of the ASCII characters. All other bytes are special, as is a carriage return. */
  readonly ofByte = new Uint8Array(256);

  constructor(private readonly regex: Regex) {
    this.#add(() => false); // SPECIAL_KIND
    this.#add(() => false, EDGE); // LF_KIND
    // A carriage return before a line feed belongs to the line break: only `\r` itself matches it.
    this.#add((set) => set.only === 13, EDGE); // CRLF_KIND
    for (let code = 0; code < 128; code++) {
      if (code !== 13) this.ofByte[code] = this.#classify(code);
    }
    this.ofByte[10] = LF_KIND;
  }

  of(code: number): number {
    this.#byCode ??= new Uint16Array(0x110000);
    return this.#byCode[code] ||= this.#classify(code);
  }

  #classify(code: number): number {
    const key = this.regex.sets.map((set) => set.has(code) ? set.id : "").join();
    let kind = this.#byMembers.get(key);
    if (kind === undefined) this.#byMembers.set(key, kind = this.#add((set) => set.has(code)));
    return kind;
  }

  #add(has: (set: CharSet) => boolean, side?: number): number {
    const { sets, word } = this.regex;
    const member = Uint8Array.from(sets, (set) => has(set) ? 1 : 0);
    this.sides.push(side ?? (word && member[word.id] ? IN_WORD : OTHER));
    return this.members.push(member) - 1;
  }
}

/** Entries of the table other than states, which are multiples of the row's length. */
const UNKNOWN = 0, MATCH = 1;
/** The places that the characters so far lead to, and the side of the last character. */
interface State {
  places: Uint16Array;
  before: number;
}
/** The maximum size of all states, in numbers. Beyond it, they are dropped. */
const MAX_CELLS = 1 << 19;

/** The automaton for an expression. Invalid UTF-8 counts as U+FFFD. */
export class Dfa {
  readonly #program: Program;
  readonly #kinds: CharKinds;
  /** The length of the table's rows: at least the number of kinds. */
  #stride: number;
  /** By state and kind of the next character: the next state, `UNKNOWN` or `MATCH`. */
  #table = new Int32Array(0);
  #states: State[] = [];
  #ids = new Map<string, number>();
  #cells = 0;
  #age = -1;
  #lineStart = 0;
  // For #step: the round in which a place was last visited, or reached after a character.
  readonly #seen: Uint32Array;
  readonly #reached: Uint32Array;
  #round = 0;
  readonly #stack: number[] = [];

  /** @throws {SyntaxError} if the expression is too large. */
  constructor(regex: Regex, private readonly meter: Meter) {
    this.#program = compile(regex.root);
    this.#kinds = new CharKinds(regex);
    this.#stride = this.#kinds.members.length + 8;
    this.#seen = new Uint32Array(this.#program.ops.length);
    this.#reached = new Uint32Array(this.#program.ops.length);
    this.#drop();
  }

  /** Returns the end of a line's first match in `from` (a line's start) to `to`; -1 without one. @throws {SearchStopped} */
  findEnd(bytes: Uint8Array, from: number, to: number): number {
    const meter = this.meter;
    const { ofByte } = this.#kinds;
    let state = this.#lineStart;
    let i = from;
    for (;;) {
      const table = this.#table;
      const begin = i;
      const until = Math.min(to, i + Math.max(meter.left, 0));
      let after = UNKNOWN;
      for (; i < until; i++) {
        after = table[state + ofByte[bytes[i]!]!]!;
        if (after <= MATCH) break;
        state = after;
      }
      meter.left -= i - begin + 1;
      if (i >= to) break;
      if (after === MATCH) return i;
      if (meter.left <= 0) meter.ask();
      let kind = ofByte[bytes[i]!]!;
      let width = 1;
      if (kind === SPECIAL_KIND) {
        const special = this.#specialAt(bytes, i, to);
        kind = special >> 3;
        width = special & 7;
        if (kind >= this.#stride) state = this.#widened(state);
      }
      after = this.#after(state, kind);
      if (after === MATCH) return i;
      state = after;
      i += width;
    }
    // The empty text after the last line break is not a line.
    if (from >= to || bytes[to - 1] === 10) return -1;
    return this.#after(state, LF_KIND) === MATCH ? to : -1;
  }

  /** Returns the kind of the character at `i`, shifted by 3, and in the lowest bits its length in bytes. */
  #specialAt(bytes: Uint8Array, i: number, to: number): number {
    if (bytes[i] === 13) {
      const isBreak = i + 1 === to || bytes[i + 1] === 10;
      return (isBreak ? CRLF_KIND : this.#kinds.of(13)) << 3 | 1;
    }
    const decoded = decodeUtf8(bytes, i, to);
    return this.#kinds.of(decoded >> 3) << 3 | decoded & 7;
  }

  /** Returns `state` in a table with longer rows. */
  #widened(state: number): number {
    const { places, before } = this.#states[state / this.#stride]!;
    this.#drop();
    return this.#intern(places, before);
  }

  #drop(): void {
    this.#age++;
    while (this.#stride < this.#kinds.members.length) this.#stride *= 2;
    this.#table = new Int32Array(this.#stride * 32);
    // UNKNOWN and MATCH are not numbers of states.
    this.#states = [{ places: new Uint16Array(), before: EDGE }];
    this.#ids = new Map();
    this.#cells = 0;
    const before = this.#program.ops.includes("^") ? EDGE : OTHER;
    this.#lineStart = this.#intern(new Uint16Array(), before);
  }

  /** Returns the state of `places` after a character of the side `before`. */
  #intern(places: Uint16Array, before: number): number {
    const key = String.fromCharCode(before, ...places);
    let id = this.#ids.get(key);
    if (id !== undefined) return id;
    if (this.#cells > MAX_CELLS) {
      this.#drop();
      return this.#intern(places, before);
    }
    id = (this.#states.push({ places, before }) - 1) * this.#stride;
    this.#ids.set(key, id);
    this.#cells += this.#stride + 2 * places.length;
    if (id + this.#stride > this.#table.length) {
      const larger = new Int32Array(2 * this.#table.length);
      larger.set(this.#table);
      this.#table = larger;
    }
    return id;
  }

  /** Returns the state after a character of `kind` in state `from`, or `MATCH` for a match before it. */
  #after(from: number, kind: number): number {
    const entry = this.#table[from + kind]!;
    if (entry !== UNKNOWN) return entry;
    const age = this.#age;
    const reached = this.#step(this.#states[from / this.#stride]!, kind);
    let to = MATCH;
    if (reached !== undefined) {
      const side = kind === CRLF_KIND ? IN_BREAK : this.#kinds.sides[kind]!;
      if (kind === LF_KIND) to = this.#lineStart;
      else to = this.#intern(Uint16Array.from(reached).sort(), side);
    }
    if (age === this.#age) this.#table[from + kind] = to;
    return to;
  }

  /** Returns the places after a character of `kind` in a state; undefined for a match before it. */
  #step({ places, before }: State, kind: number): number[] | undefined {
    const { ops, args, next, start } = this.#program;
    const member = this.#kinds.members[kind]!;
    const side = this.#kinds.sides[kind]!;
    const [stack, seen] = [this.#stack, this.#seen];
    const reached: number[] = [];
    const round = ++this.#round;
    let isMatch = false;
    let work = 1;
    stack.push(...places);
    if (before !== IN_BREAK) stack.push(start);
    for (let place; (place = stack.pop()) !== undefined; work++) {
      if (seen[place] === round) continue;
      seen[place] = round;
      const op = ops[place]!;
      const to = next[place]!;
      if (op === "match") isMatch = true;
      else if (op === "split") stack.push(args[place]!, to);
      else if (op !== "set") {
        if (HOLDS[op](before, side)) stack.push(to);
      } else if (member[args[place]!] && this.#reached[to] !== round) {
        this.#reached[to] = round;
        reached.push(to);
      }
    }
    this.meter.left -= 16 * work;
    return isMatch ? undefined : reached;
  }
}

/** The result of {@linkcode decodeUtf8} for a byte that is not UTF-8. */
const INVALID = 0xfffd << 3 | 1;

/** Returns the code point at `i`, shifted by 3, and in the lowest bits its length in bytes. */
function decodeUtf8(bytes: Uint8Array, i: number, to: number): number {
  const lead = bytes[i]!;
  const width = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (width === 1 || i + width > to) return INVALID;
  let code = lead & (0x7f >> width);
  for (let k = 1; k < width; k++) {
    const byte = bytes[i + k]!;
    if ((byte & 0xc0) !== 0x80) return INVALID;
    code = code << 6 | byte & 0x3f;
  }
  // An overlong form, half a surrogate pair, or beyond the last code point.
  const wrong = width === 3 && (code < 0x800 || code >= 0xd800 && code < 0xe000) ||
    width === 4 && (code < 0x10000 || code > 0x10ffff);
  return wrong ? INVALID : code << 3 | width;
}
