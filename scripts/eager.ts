// Deno keeps what V8 compiles while it loads a module, and hands it to V8 at the next start. At that time
// V8 compiles a function only where it stands in parentheses; others are compiled by their first call,
// at each start anew. So the functions that a start runs get parentheses.
import type { Member, Use } from "./methods_plugin.ts";
import type { CountedRange } from "./starts.ts";

const DECLARATION = /^(?:async )?function\*? ?([\w$]+)\(/;
const ARROW = /^(?:async ?)?(?:\(|[\w$]+ ?=>)/;
/** Gives a class a method, as its own definition does. */
const METHOD = "var $method=((owner,name,value)=>Object.defineProperty(owner,name," +
  "{configurable:true,writable:true,value}));";

/**
 * The source with each function in parentheses that ran in one of the runs. Functions that are declared
 * outside of all others become variables at the beginning, where every line can call them as before;
 * methods become functions that their class takes up when it is defined. Constructors stay as they are.
 */
export function withParentheses(
  source: string,
  ranges: CountedRange[],
  found: readonly (Member | Use)[] = [],
): string {
  const places = new Map<string, CountedRange>();
  for (const range of ranges) {
    const place = `${range.startOffset} ${range.endOffset}`;
    if (!places.get(place)?.count) places.set(place, range);
  }
  const members = new Map<string, Member>();
  for (const one of found) if ("head" in one) members.set(`${one.start} ${one.end}`, one);
  // The range of the module itself is the whole source.
  const functions = [...places.values()]
    .filter(({ startOffset, endOffset }) => endOffset - startOffset < source.trimEnd().length)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  /** What stands at an offset in place of the source up to another: first what ends a function. */
  const edits = new Map<number, { to: number; text: string }>();
  const put = (from: number, text: string, to = from) => {
    const { to: end, text: before } = edits.get(from) ?? { to, text: "" };
    edits.set(from, { to: Math.max(to, end), text: before + text });
  };
  const ends = (at: number, text: string) => {
    const { to, text: behind } = edits.get(at) ?? { to: at, text: "" };
    edits.set(at, { to, text: text + behind });
  };
  const declared: [from: number, to: number, name: string][] = [];
  const heads: Member[] = [];
  let outerEnd = 0;
  for (const { startOffset: from, endOffset: to, count } of functions) {
    const isOuter = from >= outerEnd;
    if (isOuter) outerEnd = to;
    if (count === 0) continue;
    const name = DECLARATION.exec(source.slice(from, from + 200))?.[1];
    const member = members.get(`${from} ${to}`);
    if (name !== undefined && isOuter && /[;}]/.test(source[from - 1] ?? ";")) {
      declared.push([from, to, name]);
    } else if (member !== undefined) {
      put(from, member.head, member.parameters);
      ends(to, member.tail);
      heads.push(member);
    } else if (ARROW.test(source.slice(from, from + 200))) {
      put(from, "(");
      ends(to, ")");
    }
  }
  const renamed = new Set(heads.map((member) => member.renamed));
  for (const one of found) {
    if ("head" in one || !renamed.has(one.renamed)) continue;
    const [from, to] = one.name;
    if (!heads.some((head) => head.start <= from && from < head.parameters)) {
      put(from, one.renamed, to);
    }
  }
  const offsets = [...edits.keys()].sort((a, b) => a - b);
  let next = 0;
  /** The source between two offsets, edited. Called from the source's beginning to its end. */
  const part = (from: number, to: number): string => {
    let text = "";
    for (; next < offsets.length && offsets[next]! <= to; next++) {
      const offset = offsets[next]!;
      const edit = edits.get(offset)!;
      text += source.slice(from, offset) + edit.text;
      from = edit.to;
    }
    return text + source.slice(from, to);
  };
  let variables = members.size > 0 ? METHOD : "";
  let rest = "";
  let at = 0;
  for (const [from, to, name] of declared) {
    rest += part(at, from);
    variables += `var ${name}=(${part(from, to)});`;
    at = to;
  }
  return variables + rest + part(at, source.length);
}
