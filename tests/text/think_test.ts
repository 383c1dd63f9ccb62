import { assertEquals } from "@std/assert";
import { isBlank, splitThinking, stripThinkTags, ThinkFilter } from "../../src/text/think.ts";
import { forEveryTextSplit } from "../helpers/split.ts";

/** No reasoning: the text stays. */
const literal = (text: string): [string, string, string] => [text, text, ""];

const rows: [name: string, answer: string, text: string, reasoning: string][] = [
  ["no tags", "  plain\n\ntext \n", "  plain\n\ntext \n", ""],
  ["empty", "", "", ""],
  ["block first", "<think>why</think>answer", "answer", "why"],
  ["white space of templates", "<think>\nwhy\n</think>\n\nanswer\n", "answer\n", "why"],
  ["empty block", "<think>\n\n</think>\n\nanswer", "answer", ""],
  ["within a line", "a <think>why</think> b", "a b", "why"],
  ["within a word", "a<think>why</think>b", "ab", "why"],
  ["between paragraphs", "a\n\n<think>why</think>\n\nb", "a\n\nb", "why"],
  ["the wider space stays", "a\n<think>why</think>\n\nb", "a\n\nb", "why"],
  ["last", "a\n\n<think>why</think>\n", "a", "why"],
  ["several", "<think>a</think>b <think>c</think> d", "b d", "a\n\nc"],
  ["side by side", "<think>a</think>\n<think>b</think>\nc", "c", "a\n\nb"],
  ["upper case", "<THINK>a</Think>b", "b", "a"],
  ["nested", "<think>a<think>b</think>c</think>d", "d", "a<think>b\n\nc"],
  ["only a block", "<think>why</think>\n", "", "why"],
  ["never ended", "a\n<think>why\n", "a", "why"],
  ["never ended, tag cut off", "<think>why</thin", "", "why</thin"],
  ["only the opener", "<think>", "", ""],
  ["opener cut off", "a <thin", "a <thin", ""],
  ["opened by the template", "why\n</think>\n\nanswer", "answer", "why"],
  ["opened by the template, empty", "\n</think>\n\nanswer", "answer", ""],
  ["lone end tag after a block", "a<think>b</think>c</think>d", "acd", "b"],
  ["lone end tag again", "a</think>b</think>c\n</think>\nd", "bc\nd", "a"],
  ["lone end tag after an empty block", "<think>\n</think>\n</think>\na", "a", ""],
  ["lone end tag last", "why\n</think>\n", "", "why"],
  ["lone end tag in upper case", "why</THINK>a", "a", "why"],
  ["after a lone end tag, the text begins anew", "a</think>\n<thought>b</thought>c", "c", "a\n\nb"],
  ["a tag with attributes is none", '<think step="1">a', '<think step="1">a', ""],
  ["a tag with a slash is none", "<think/>a", "<think/>a", ""],
  ["other words", "<thinker>a</thinker> <thi nk>", "<thinker>a</thinker> <thi nk>", ""],
  ["half a pair at the end", "a\ud83d", "a\ud83d", ""],
  // Code
  ["inline code", "Use `<think>` and `</think>`.", "Use `<think>` and `</think>`.", ""],
  ["inline code of two backticks", "``a ` <think>`` b", "``a ` <think>`` b", ""],
  ["after inline code", "`a` <think>b</think> c", "`a` c", "b"],
  ["a stray backtick ends with its line", "it`s\n<think>b</think>c", "it`s\nc", "b"],
  ["fence", "```xml\n<think>a</think>\n```\nb", "```xml\n<think>a</think>\n```\nb", ""],
  ["fence of tildes", "~~~\n```\n</think>\n~~~\nb", "~~~\n```\n</think>\n~~~\nb", ""],
  ["a longer fence", "````\n```\n</think>\n````\nb", "````\n```\n</think>\n````\nb", ""],
  ["after a fence", "```\na\n```\n<think>b</think>c", "```\na\n```\nc", "b"],
  ["after a fence and a blank", "```\na\n``` \n<think>b</think>c", "```\na\n``` \nc", "b"],
  ["three tildes twice in a line", ...literal("~~~a~~~\n<think>b</think>c")],
  ["right after a fence", "```\na\n```<think>b</think>c", "```\na\n```c", "b"],
  ["fence in a list", "1. ```\n   <think>\n   ```\n", "1. ```\n   <think>\n   ```\n", ""],
  ["comment in a fence", "```\n * ```\n</think>\n```", "```\n * ```\n</think>\n```", ""],
  ["three backticks in a line", "```a``` <think>b</think>c", "```a``` c", "b"],
  ["end tag in a fence of reasoning", "<think>```\na</think>b", "b", "```\na"],
  ["end tag in code of reasoning", "<think>`</think>` is</think>b", "b", "`</think>` is"],
  ["fences around the end tag", "<think>```</think>```\nb", "```\nb", "```"],
  ["fences around the end tag, behind text", "<think>a ```</think>```\nb", "```\nb", "a ```"],
  ["two backticks around the end tag", "<think>``</think>`` a</think>b", "b", "``</think>`` a"],
  ["backtick before the end tag", "<think>a`</think>b", "b", "a`"],
  ["backtick before the last end tag", "<think>a`</think>", "", "a`"],
  // Other names
  ["thinking first", "<thinking>a</thinking>b", "b", "a"],
  ["after white space", "\n<reasoning>\na\n</reasoning>\nb", "b", "a"],
  ["after a block", "<think>a</think><thought>b</thought>c", "c", "a\n\nb"],
  ["seed", "<seed:think>a</seed:think>b", "b", "a"],
  ["ended by its own name", "<thinking>a</think>b</thinking>c", "c", "a</think>b"],
  ["not first", "a <reasoning>b</reasoning>", "a <reasoning>b</reasoning>", ""],
  ["lone end tag of another name", "a</reasoning>b", "a</reasoning>b", ""],
  ["the same, last on its line", "a </thought>\nb", "a </thought>\nb", ""],
  ["the same, first on its line", "a\n</thought> b", "a\n</thought> b", ""],
  ["the same, alone on its line", "a\n </thought> \nb", "b", "a"],
  ["the same, last of the text", "a\n</reasoning>", "", "a"],
  ["the same, with CRLF", "a\r\n</reasoning>\r\nb", "b", "a"],
  ["the same, of a tag that is text", ...literal("a\n<reasoning>\nb\n</reasoning>\nc")],
  ["another name never ended, on a line of its own", "<reasoning>\nwhy", "", "why"],
  ["another name never ended, with CRLF", "<thinking>\r\nwhy", "", "why"],
  ["another name never ended", ...literal("<reasoning> is an element")],
  ["another name ended elsewhere", "<thought>why </thought>a", "a", "why"],
  // Tags that are merely mentioned
  ["an opener in a sentence", ...literal("Models begin with <think> and go on.\n\nThat is all.")],
  ["an opener after a list sign", ...literal("- <think> begins it\n- something else")],
  ["an opener in a quotation", ...literal("> <think> begins it\n\nmore")],
  ["an opener in a heading", ...literal("## <think>\n\nThe tag.\n<thinking>\nThe other.")],
  ["a second opener behind one", ...literal("A <think> tag.\n<think>\nmore")],
  ["an opener in a regex", ...literal("Use /<think>[^]*?/g to find it.")],
  ["an opener after an answer", "a\n<think>\nwhy", "a", "why"],
  ["an indented opener", "a\n  <think>why", "a", "why"],
  ["closed in a sentence", "a <think>why\n\nso</think> b", "a b", "why\n\nso"],
  // More code
  ["a table", ...literal("| tag | what |\n|---|---|\n| <think> | begins |\n| </think> | ends |\n")],
  ["an indented table", ...literal("a\n  | </think> | ends |\n")],
  ["after a table", "| a |\n<think>b</think>c", "| a |\nc", "b"],
  ["indented code", ...literal("Write:\n\n    <think>\n    why\n    </think>\n\nDone.")],
  ["indented by a tab", ...literal("Write:\n\n\t</think>\n\nDone.")],
  ["indented code first", ...literal("    </think>\n")],
  ["indented code with a blank line", ...literal("a\n\n    b\n\n    </think>\nc")],
  ["indented within a paragraph", "a\n    </think>\nb", "b", "a"],
  ["indented by three", "a\n\n   </think>\nb", "b", "a"],
  ["after indented code", "\n\n    a\n</think>\nb", "b", "a"],
  ["a stray backtick, then a paragraph", "it`s\n</think>\n\nb `c", "b `c", "it`s"],
  ["a stray backtick, then a fence", "it`s\n</think>\n```\n`", "```\n`", "it`s"],
  ["a quotation of TeX", "``so''\n</think>b", "b", "``so''"],
  ["code that is not closed alike", "`a\n</think> ``b``", "``b``", "`a"],
  ["inline code in an item", ...literal("- it`s\n- a `</think>` b\n")],
];

function filtered(pieces: string[]): [text: string, reasoning: string] {
  const filter = new ThinkFilter();
  let [text, reasoning] = ["", ""];
  for (const split of [...pieces.map((piece) => filter.push(piece)), filter.end()]) {
    if (split.retracted) text = "";
    text += split.text;
    reasoning += split.reasoning;
  }
  return [text, reasoning];
}

for (const [name, answer, text, reasoning] of rows) {
  Deno.test(`splitThinking: ${name}`, () => {
    assertEquals(splitThinking(answer), [text, reasoning]);
    assertEquals(stripThinkTags(answer), text);
  });
  Deno.test(`ThinkFilter: ${name}, on every split`, () => {
    forEveryTextSplit(answer, (pieces) => assertEquals(filtered(pieces), [text, reasoning]));
  });
}

const live: [piece: string, text: string, reasoning: string, retracted?: true][] = [
  ["Hello", "Hello", ""],
  [" <", "", ""],
  ["b> 1 <th", " <b> 1", ""],
  ["e> `", " <the> `", ""],
  ["<think>` and\n</rea", "<think>` and", ""],
  ["soning> ", "", ""],
  ["!", "\n</reasoning> !", ""],
  [" x</think>y", "y", "Hello <b> 1 <the> `<think>` and\n</reasoning> ! x", true],
  ["\n <think>wh", "", "\n\nwh"],
  ["y</think", "", "y"],
  ["> ", "", ""],
  ["so\n", "\n so", ""],
  ["x<think>y", "\nx", ""],
  ["y`", "", ""],
  ["</think>` z</think>", "", "\n\nyy`</think>` z"],
  ["it`s", "it`s", ""],
  ["\n</think> a", "\na", ""],
  [" b\n", " b", ""],
  ["\nc", "\n\nc", ""],
  [" <think>\nd", "", ""],
];

Deno.test("ThinkFilter holds back no more than what may be a tag, and white space", () => {
  const filter = new ThinkFilter();
  for (const [piece, text, reasoning, retracted = false] of live) {
    assertEquals(filter.push(piece), { text, reasoning, retracted }, piece);
  }
  assertEquals(filter.end(), { text: " <think>\nd", reasoning: "", retracted: false });
});

Deno.test("isBlank", () => {
  for (const text of ["", " \n\t", "\u200b\ufeff", "\u00a0\u2060"]) {
    assertEquals(isBlank(text), true);
  }
  for (const text of ["a", "\n.", "😀", "\u200bx"]) assertEquals(isBlank(text), false);
});

Deno.test("ThinkFilter: tags are text from where it is told so", () => {
  const filter = new ThinkFilter();
  assertEquals(filter.push("<think>a</think>b").reasoning, "a");
  filter.ignoreTags();
  assertEquals(filter.push(" <think>c</think>").text, " <think>c</think>");
});
