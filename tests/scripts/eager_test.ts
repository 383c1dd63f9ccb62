import { assertEquals } from "@std/assert";
import { type CountedRange, withParentheses } from "../../scripts/eager.ts";

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
    "methods, accessors and fields stay, and declarations within functions",
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
