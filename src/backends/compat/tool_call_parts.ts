/**
 * Puts streamed tool calls together.
 *
 * @module
 */

import { BackendError } from "../../errors.ts";
import { type Fields, fieldsOf, textOf } from "../fields.ts";
import { argumentsText } from "../wire_values.ts";

/** A tool call as a non-streamed answer holds it. */
export interface RawToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

interface Call {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
  /** Which delta it began in: elements of one delta are different calls. */
  delta: number;
  /** True once the arguments hold more than white space. */
  begun: boolean;
  /** How deep in the JSON of the arguments we are; -1 once their value was closed. */
  depth: number;
  inString: boolean;
  escaped: boolean;
  announced: boolean;
}

/**
 * Collects the fragments of tool calls. Which call a fragment belongs to: the one of its id, else of
 * its index, else the last one; a fragment with another id begins another call whatever its index
 * says (some servers number all calls 0), and so does one with a name after complete arguments. Some
 * servers send every call once more at the end: that is no other call.
 *
 * @param onName Called once for each call, when its arguments begin, or at the end.
 * @param onArguments Called for each piece of the arguments, of whichever call.
 */
export function toolCallParts(
  onName: (name: string) => void,
  onArguments: (piece: string) => void,
): {
  /** Takes the elements of one delta. Throws `protocol` when they fit more than one call. */
  add(parts: readonly unknown[]): void;
  /** The calls, in the order of their indexes, or in which they came where one has none. */
  end(): RawToolCall[];
} {
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();
  const byId = new Map<string, Call>();
  let delta = 0;

  const announce = (call: Call) => {
    if (call.announced) return;
    call.announced = true;
    onName(call.name);
  };

  const begin = (index: number | undefined): Call => {
    const call: Call = {
      index,
      id: "",
      name: "",
      args: "",
      delta,
      begun: false,
      depth: 0,
      inString: false,
      escaped: false,
      announced: false,
    };
    calls.push(call);
    return call;
  };

  /** The call that the fragment continues; `undefined` when it begins one. */
  const continued = (part: Part): Call | undefined => {
    const { index, id, name } = part;
    const last = calls.at(-1);
    let call = index === undefined ? last : byIndex.get(index);
    if (id !== "" && call?.id !== id) {
      const same = byId.get(id);
      if (same && (index === undefined || same.index === undefined || same.index === index)) {
        call = same;
      } else if (call && call.id !== "") {
        return undefined;
      }
    }
    if (!call && id === "" && name === "") {
      if (last && last.index === undefined) return last;
      if (index === undefined) throw ambiguous("a piece of a call comes before any call");
    }
    if (!call || name === "" || call.name === "") return call;
    const repeats = name === call.name;
    if (call.depth === -1) return repeats && part.args.trim() === "" ? call : undefined;
    if (call.begun) {
      if (repeats) return call;
      throw ambiguous(`a call of "${name}" begins within the arguments of "${call.name}"`);
    }
    if (call.delta === delta) return undefined;
    if (repeats || index !== undefined || (id !== "" && id === call.id)) return call;
    throw ambiguous(`"${name}" may be a second call or the rest of the name "${call.name}"`);
  };

  const isRepeated = ({ index, id, name, args }: Part): boolean => {
    const call = index === undefined ? byId.get(id) : byIndex.get(index);
    return call?.depth === -1 && call.delta < delta && call.name === name &&
      (id === "" || id === call.id) && isSameJson(args, call.args);
  };

  const take = (part: Part) => {
    if (isRepeated(part)) return;
    const { index, id, name, args } = part;
    const call = continued(part) ?? begin(index);
    call.index ??= index;
    if (call.index !== undefined) byIndex.set(call.index, call);
    if (id !== "") {
      call.id = id;
      byId.set(id, call);
    }
    if (name !== "" && name !== call.name) call.name += name;
    if (args === "") return;
    call.begun ||= args.trim() !== "";
    if (call.begun && call.name !== "") announce(call);
    follow(call, args);
    call.args += args;
    onArguments(args);
  };

  return {
    add(parts) {
      delta++;
      for (const part of parts) take(readPart(part));
    },
    end() {
      calls.forEach(announce);
      if (calls.every(({ index }) => index !== undefined)) {
        calls.sort((a, b) => a.index! - b.index!);
      }
      return calls.map(({ id, name, args }) => (
        { id, type: "function", function: { name, arguments: args } }
      ));
    },
  };
}

interface Part {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
}

const NONE: Fields = {};

function readPart(value: unknown): Part {
  const part = fieldsOf(value, "tool call");
  const called = part.function === undefined || part.function === null
    ? NONE
    : fieldsOf(part.function, "tool call's function");
  return {
    index: typeof part.index === "number" ? part.index : undefined,
    id: textOf(part.id, "tool call's id"),
    name: textOf(called.name, "tool call's name"),
    args: argumentsText(called.arguments),
  };
}

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
  } catch {
    return false;
  }
}

/** Follows the nesting of the JSON, piece by piece, only to know when its value is closed. */
function follow(call: Call, piece: string): void {
  for (let i = 0; i < piece.length && call.depth !== -1; i++) {
    const c = piece.charCodeAt(i);
    if (call.inString) {
      if (call.escaped) call.escaped = false;
      else if (c === 0x5c) call.escaped = true;
      else if (c === 0x22) call.inString = false;
    } else if (c === 0x22) {
      call.inString = true;
    } else if (c === 0x7b || c === 0x5b) {
      call.depth++;
    } else if ((c === 0x7d || c === 0x5d) && --call.depth <= 0) {
      call.depth = -1;
    }
  }
}

function ambiguous(how: string): BackendError {
  return new BackendError(
    `Cannot tell the model's tool calls apart as ${how}: ask again, or use another server`,
    { kind: "protocol" },
  );
}
