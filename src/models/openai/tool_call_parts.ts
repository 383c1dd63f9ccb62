import { BackendError } from "../../errors.ts";
import { isSameJson, jsonOrUndefined } from "../../text/json.ts";
import type { OnDelta } from "../delta_reader.ts";
import { type Fields, fieldsOf, stringOf } from "../fields.ts";
import { argumentsText } from "../wire_values.ts";

class StreamedCall {
  id = "";
  name = "";
  args = "";
  /** True once the arguments contain more than white space. */
  hasBegun = false;
  /** The nesting depth in the JSON of the arguments; -1 once their value was closed. */
  depth = 0;
  inString = false;
  escaped = false;
  isAnnounced = false;

  /** @param delta The delta of its first element. Elements of one delta are different calls. */
  constructor(public index: number | undefined, readonly delta: number) {}
}

/**
 * Collects the fragments of tool calls. A fragment belongs to the call with its id, otherwise its index,
 * otherwise the last one. A fragment with another id starts another call regardless of its index (some servers
 * number all calls 0), and so does one with a name after complete arguments. Some servers repeat every call at
 * the end, which is not another call.
 */
export class ToolCallParts {
  readonly #calls: StreamedCall[] = [];
  readonly #byIndex = new Map<number, StreamedCall>();
  readonly #byId = new Map<string, StreamedCall>();
  #delta = 0;

  /** @param emit Called for each call when its arguments start, or at the end, and for their pieces. */
  constructor(private readonly emit: OnDelta) {}

  /** Adds the elements of one delta. @throws {BackendError} if they fit more than one call. */
  add(parts: readonly unknown[]): void {
    this.#delta++;
    for (const part of parts) this.#take(readFragment(part));
  }

  /** Returns the calls in the order of their indexes, or of arrival if one has no index. */
  end(): Fields[] {
    for (const call of this.#calls) this.#announce(call);
    if (this.#calls.every(({ index }) => index !== undefined)) {
      this.#calls.sort((a, b) => a.index! - b.index!);
    }
    return this.#calls.map(({ id, name, args }) => (
      { id, type: "function", function: { name, arguments: args } }
    ));
  }

  #take(fragment: CallFragment): void {
    if (this.#isRepeated(fragment)) return;
    const { index, id, name, args } = fragment;
    const call = this.#continued(fragment) ?? this.#begin(index);
    call.index ??= index;
    if (call.index !== undefined) this.#byIndex.set(call.index, call);
    if (id !== "") {
      call.id = id;
      this.#byId.set(id, call);
    }
    if (name !== "" && name !== call.name) call.name += name;
    if (args === "") return;
    call.hasBegun ||= args.trim() !== "";
    if (call.hasBegun && call.name !== "") this.#announce(call);
    followJson(call, args);
    call.args += args;
    this.emit({ type: "tool_arguments", text: args });
  }

  #begin(index: number | undefined): StreamedCall {
    const call = new StreamedCall(index, this.#delta);
    this.#calls.push(call);
    return call;
  }

  #announce(call: StreamedCall): void {
    if (call.isAnnounced) return;
    call.isAnnounced = true;
    this.emit({ type: "tool_call", name: call.name });
  }

  /** Returns the call that the fragment continues; `undefined` if it starts one. */
  #continued(fragment: CallFragment): StreamedCall | undefined {
    const { index, id, name } = fragment;
    const call = this.#candidate(fragment);
    if (call === "new") return undefined;
    if (!call && id === "" && name === "") {
      const last = this.#calls.at(-1);
      // Some servers count the pieces of one call, which continues while its arguments are open.
      if (last && (last.index === undefined || last.depth !== -1)) return last;
      if (index === undefined) throw ambiguous("a piece of a call comes before any call");
    }
    if (!call || name === "" || call.name === "") return call;
    const repeats = name === call.name;
    if (call.depth === -1) return repeats && fragment.args.trim() === "" ? call : undefined;
    if (call.hasBegun) {
      if (repeats) return call;
      throw ambiguous(`a call of "${name}" starts within the arguments of "${call.name}"`);
    }
    if (call.delta === this.#delta) return undefined;
    if (repeats || index !== undefined || (id !== "" && id === call.id)) return call;
    throw ambiguous(`"${name}" may be a second call or the rest of the name "${call.name}"`);
  }

  /** Returns the call for index and id; `new` if no call has the id yet. */
  #candidate({ index, id }: CallFragment): StreamedCall | "new" | undefined {
    const call = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (id === "" || call?.id === id) return call;
    const same = this.#byId.get(id);
    if (same && (index === undefined || same.index === undefined || same.index === index)) {
      return same;
    }
    return call && call.id !== "" ? "new" : call;
  }

  #isRepeated({ index, id, name, args }: CallFragment): boolean {
    const call = index === undefined ? this.#byId.get(id) : this.#byIndex.get(index);
    return call?.depth === -1 && call.delta < this.#delta && call.name === name &&
      (id === "" || id === call.id) && hasSameValue(args, call.args);
  }
}

type CallFragment = ReturnType<typeof readFragment>;

function readFragment(value: unknown) {
  const part = fieldsOf(value, "tool call");
  // Some servers put name and arguments one level too high.
  const called = fieldsOf(part.function ?? part, "tool call's function");
  return {
    index: typeof part.index === "number" ? part.index : undefined,
    id: stringOf(part.id, "tool call's id"),
    name: stringOf(called.name, "tool call's name"),
    args: argumentsText(called.arguments),
  };
}

function hasSameValue(a: string, b: string): boolean {
  const value = jsonOrUndefined(a);
  return a === b || value !== undefined && isSameJson(value, jsonOrUndefined(b));
}

function followJson(call: StreamedCall, piece: string): void {
  for (const c of piece) {
    if (call.depth === -1) return;
    if (call.inString) {
      if (call.escaped) call.escaped = false;
      else if (c === "\\") call.escaped = true;
      else if (c === '"') call.inString = false;
    } else if (c === '"') {
      call.inString = true;
    } else if (c === "{" || c === "[") {
      call.depth++;
    } else if ((c === "}" || c === "]") && --call.depth <= 0) {
      call.depth = -1;
    }
  }
}

function ambiguous(how: string): BackendError {
  const message = `Cannot tell the model's tool calls apart as ${how}: ask again, ` +
    "or use another server";
  return new BackendError(message, { kind: "protocol" });
}
