import { assertEquals } from "@std/assert";
import { asAscii } from "../../scripts/bundle.ts";
import { withParentheses } from "../../scripts/bundle.ts";

/** The coverage of a function of `source`: the text where it begins, and as long. */
function counted(source: string, text: string, count: number) {
  const startOffset = source.indexOf(text);
  return { ranges: [{ startOffset, endOffset: startOffset + text.length, count }] };
}

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
    "fields and declarations within functions stay",
    "class A{#a=1;get b(){return 1}}f(()=>{function g(){}});",
    ["get b(){return 1}", "()=>{function g(){}}", "function g(){}"],
    "class A{#a=1;get b(){return 1}}f((()=>{function g(){}}));",
  ],
  [
    "public methods, except static ones and those that use super",
    "class A{a;m(){b=()=>1}async *n(){}constructor(){}#p(){}static s(){}o(){super.o()}}",
    [
      "m(){b=()=>1}",
      "()=>1",
      "async *n(){}",
      "constructor(){}",
      "#p(){}",
      "s(){}",
      "o(){super.o()}",
    ],
    "class A{a;static{this.prototype.m=(function(){b=(()=>1)})}static{this.prototype.n=(async function*(){})}" +
    "constructor(){}#p(){}static s(){}o(){super.o()}}",
  ],
];

for (const [title, source, functions, result] of CASES) {
  Deno.test(`functions that a start runs get parentheses: ${title}`, () => {
    const all = (count: number) =>
      [source, ...functions].map((text) => counted(source, text, count));
    assertEquals(withParentheses(source, all(1)), result);
    assertEquals(withParentheses(source, all(0)), source);
  });
}

Deno.test("a bundle is ASCII", () => {
  assertEquals(asAscii("a=/\u2026/,b='\u{1f600}'\n"), "a=/\\u2026/,b='\\ud83d\\ude00'\n");
});
