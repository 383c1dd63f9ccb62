import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { withParentheses } from "../../scripts/eager.ts";
import { lintReports } from "../../scripts/lint_reports.ts";
import type { Member, Use } from "../../scripts/methods_plugin.ts";
import type { CountedRange } from "../../scripts/starts.ts";

/** A range of `source` that begins where `text` does, and is as long. */
function range(source: string, text: string, count = 1): CountedRange {
  const startOffset = source.indexOf(text);
  return { startOffset, endOffset: startOffset + text.length, count };
}
const whole = (source: string) => ({ startOffset: 0, endOffset: source.length, count: 1 });

const CASES: [title: string, source: string, functions: string[], result: string][] = [
  [
    "a declaration is there before its first line",
    "let a=f();function f(){return 1}",
    ["function f(){return 1}"],
    "var f=(function f(){return 1});let a=f();",
  ],
  [
    "asynchronous ones and generators",
    "async function f(){}function* g(){}async function*h(){}",
    ["async function f(){}", "function* g(){}", "async function*h(){}"],
    "var f=(async function f(){});var g=(function* g(){});var h=(async function*h(){});",
  ],
  [
    "arrows, also within others and at the same end",
    "var a=async(x)=>y=>z=>1,b=async c=>({d:()=>2});",
    ["async(x)=>y=>z=>1", "y=>z=>1", "z=>1", "async c=>({d:()=>2})", "()=>2"],
    "var a=(async(x)=>(y=>(z=>1))),b=(async c=>({d:(()=>2)}));",
  ],
  [
    "arrows in a declaration that moves",
    "a();function f(){return[1].map(n=>n)}b(()=>1);",
    ["function f(){return[1].map(n=>n)}", "n=>n", "()=>1"],
    "var f=(function f(){return[1].map((n=>n))});a();b((()=>1));",
  ],
  [
    "methods that nothing tells of stay, as do fields and declarations within functions",
    "class A{#a=1;m(){}get b(){return 1}}f(()=>{function g(){}});",
    ["m(){}", "get b(){return 1}", "()=>{function g(){}}", "function g(){}"],
    "class A{#a=1;m(){}get b(){return 1}}f((()=>{function g(){}}));",
  ],
];

for (const [title, source, functions, result] of CASES) {
  Deno.test(`functions that a start runs get parentheses: ${title}`, () => {
    const ran = functions.map((text) => range(source, text));
    assertEquals(withParentheses(source, [whole(source), ...ran]), result);
    const idle = functions.map((text) => range(source, text, 0));
    assertEquals(withParentheses(source, [whole(source), ...idle]), source);
    // What ran in one of two runs counts, whichever comes first.
    assertEquals(withParentheses(source, [...idle, ...ran]), result);
    assertEquals(withParentheses(source, [...ran, ...idle]), result);
  });
}

/** What a program with methods of all kinds answers; `#m` and `#n` mean another one in each class. */
const METHODS = `
class Base { said = []; say(text) { this.said.push(text); return this; } }
export class A extends Base {
  #m(a, b = 2) { return a + b; }
  async #n() { return this.#m(1); }
  *#g() { yield* [this.#m(1, 1), ".#m"]; }
  get #p() { return this.#m(3); }
  set #p(value) { this.say(\`set #p \${value}\`); }
  static #s() { return "s"; }
  static made() { return new this(); }
  static get kind() { return A.#s(); }
  get both() { return this.#p; }
  set both(value) { this.#p = value; }
  say(text) { return super.say("A " + text); }
  [Symbol.iterator]() { return this.#g(); }
  async all() {
    const inner = new class { #m() { return "inner"; } ask() { return this.#m(); } }();
    const other = { n: 1, up(by) { return this.n + by; }, async late() { return this.up(2); } };
    this.both = 7;
    return [await this.#n(), [...this], this.both, inner.ask(), other.up(1), await other.late(), A.kind];
  }
  idle() { return this.#idle(); }
  #idle() { return "idle"; }
}
`;

Deno.test("methods that a start runs become functions, and do what they did", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "methods.js");
    await Deno.writeTextFile(path, METHODS);
    const plugin = new URL(import.meta.resolve("../../scripts/methods_plugin.ts"));
    const found = (await lintReports(plugin, folder, [path]))
      .map(({ message }): Member | Use => JSON.parse(message));
    const ran = found.flatMap((one) =>
      "head" in one && !METHODS.slice(one.start, one.end).includes("idle")
        ? [{ startOffset: one.start, endOffset: one.end, count: 1 }]
        : []
    );
    const result = withParentheses(METHODS, [whole(METHODS), ...ran], found);
    // Those with `super`, a computed name or no run stay, with their names.
    assertEquals(result.split("static{").length - 1, 14);
    assertEquals(result.match(/^ +(say|\[|idle|#idle)/gm)?.map((name) => name.trim()), [
      "say",
      "[",
      "idle",
      "#idle",
    ]);
    const answers = [];
    for (const source of [METHODS, result]) {
      const { A } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
      const a = A.made();
      answers.push([
        await a.all(),
        a.said,
        a.idle(),
        Object.keys(a),
        JSON.stringify(a),
        Object.keys(A.prototype),
        Object.getOwnPropertyDescriptor(A.prototype, "all")?.enumerable,
      ]);
    }
    assertEquals(answers[1], answers[0]);
    assertEquals(answers[0]![0], [3, [2, ".#m"], 5, "inner", 2, 3, "s"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
