import { assert, assertEquals } from "@std/assert";
import { extractToolCallsFromText, ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import type { ToolCallOptions } from "../../../src/models/toolcalls/scan.ts";
import { forEveryTextSplit, randomTexts } from "../../helpers/split.ts";

const KNOWN: ToolCallOptions = { tools: ["read_file", "write_file", "now"], newId: () => "id" };
const ANY: ToolCallOptions = { newId: () => "id" };

const READ = '{"name": "read_file", "arguments": {"file_path": "a.ts"}}';
const read = { name: "read_file", arguments: { file_path: "a.ts" } };
const NOW = '{"name": "now", "arguments": {}}';
const now = { name: "now", arguments: {} };
const fenced = (body: string) => "```json\n" + body + "\n```";
const tagged = (body: string) => `<toolcall>${body}</toolcall>`;
const hermes = (body: string) => `<tool_call>${body}</tool_call>`;

interface Found {
  name: string;
  arguments?: Record<string, unknown>;
  /** Part of the reason of an invalid call. */
  invalid?: string;
}

/** [name, text, calls, the rest of the text] */
type Row = [name: string, text: string, calls: Found[], rest: string];

/** A call that is not run. */
const broken = (name: string, invalid: string): Found => ({ name, invalid });
/** No call: the text stays. */
const none = (text: string): [string, Found[], string] => [text, [], text];

/** The same whether or not the offered names are known. */
const rows: Row[] = [
  ["tag", tagged(READ), [read], ""],
  [
    "tag with text around",
    `Let me look.\n\n${tagged(READ)}\n\nDone.`,
    [read],
    "Let me look.\n\nDone.",
  ],
  ["tag within a line", `a ${tagged(READ)} b`, [read], "a b"],
  ["tag with white space", `\n<toolcall>\n  ${READ}\n</toolcall>\n`, [read], ""],
  ["tag with CRLF", `a\r\n<toolcall>\r\n${READ}\r\n</toolcall>\r\n`, [read], "a"],
  ["tag with parameters", tagged(READ.replace("arguments", "parameters")), [read], ""],
  ["key order", tagged('{"arguments": {"file_path": "a.ts"}, "name": "read_file"}'), [read], ""],
  [
    "other keys",
    tagged('{"id": 1, "type": "function", "name": "now", "arguments": {}}'),
    [now],
    "",
  ],
  [
    "arguments as text",
    tagged('{"name": "read_file", "arguments": "{\\"file_path\\": \\"a.ts\\"}"}'),
    [read],
    "",
  ],
  ["empty arguments", tagged('{"name": "now", "arguments": ""}'), [now], ""],
  ["null for arguments", tagged('{"name": "now", "arguments": null}'), [now], ""],
  ["only a name", tagged('{"name": "now"}'), [now], ""],
  ["several tags", `${tagged(READ)}\n${tagged(NOW)} x`, [read, now], "x"],
  ["several calls in a tag", tagged(`${READ}\n${NOW}`), [read, now], ""],
  ["several calls with signs between", tagged(`${READ}, ${NOW};${NOW}`), [read, now, now], ""],
  ["an array of calls", tagged(`[${READ},\n${NOW}]`), [read, now], ""],
  ["a fence in a tag", tagged(`\n${fenced(READ)}\n`), [read], ""],
  ["no closing tag", `a <toolcall>${READ}`, [read], "a"],
  ["no closing tag, then text", `<toolcall>${READ}\nDone.`, [read], "Done."],
  ["no closing tag, then another", `<toolcall>${READ}<toolcall>${NOW}`, [read, now], ""],
  [
    "no closing tag, then a fence",
    `<toolcall>${READ}\n\`\`\`js\na\n\`\`\``,
    [read],
    "```js\na\n```",
  ],
  ["half a closing tag", `<toolcall>${READ}\n</toolca`, [read], ""],
  ["closing tag in a string", tagged('{"name": "now", "arguments": {"a": "</toolcall>\\"}"}}'), [{
    name: "now",
    arguments: { a: '</toolcall>"}' },
  }], ""],
  ["tag in a string", tagged(`{"name": "now", "arguments": {"a": "<toolcall>${"{"}"}}`), [{
    name: "now",
    arguments: { a: "<toolcall>{" },
  }], ""],
  ["think tags in a string", tagged('{"name": "now", "arguments": {"a": "<think>b</think>"}}'), [{
    name: "now",
    arguments: { a: "<think>b</think>" },
  }], ""],
  ["a fence in a string", fenced('{"name": "now", "arguments": {"a": "```\\n"}}'), [{
    name: "now",
    arguments: { a: "```\n" },
  }], ""],
  ["escapes", tagged('{"name": "now", "arguments": {"a": "\\u00e9\\ud83d\\ude00\\\\\\"\\n"}}'), [{
    name: "now",
    arguments: { a: 'é😀\\"\n' },
  }], ""],
  ["name written with escapes", tagged('{"n\\u0061me": "\\u006eow", "arguments": {}}'), [now], ""],
  [
    "members of Object",
    tagged('{"name": "now", "arguments": {"__proto__": 1, "constructor": 2}}'),
    [{ name: "now", arguments: JSON.parse('{"__proto__": 1, "constructor": 2}') }],
    "",
  ],
  [
    "the second of two keys counts",
    tagged('{"name": "now", "arguments": {"a": 1}, "arguments": {}}'),
    [now],
    "",
  ],
  // Code blocks
  ["fence", fenced(READ), [read], ""],
  [
    "fence with text around",
    `Let me look:\n\n${fenced(READ)}\n\nDone.`,
    [read],
    "Let me look:\n\nDone.",
  ],
  ["fence of tildes", `~~~json\n${READ}\n~~~\n`, [read], ""],
  ["longer fence", `\`\`\`\`json\n${READ}\n\`\`\`\`\nx`, [read], "x"],
  ["fence in capitals", `\`\`\` JSON \n${READ}\n\`\`\``, [read], ""],
  ["fence with CRLF", `a\r\n\`\`\`json\r\n${READ}\r\n\`\`\`\r\nb`, [read], "a\r\nb"],
  ["fence in a list", `1. \`\`\`json\n   ${READ}\n   \`\`\``, [read], "1."],
  ["fence in a list with parentheses", `9) \`\`\`json\n   ${READ}\n   \`\`\``, [read], "9)"],
  ["fence behind no sign of a list", ...none(`# \`\`\`json\n${READ}\n\`\`\``)],
  ["fence behind a slash", ...none(`/ \`\`\`json\n${READ}\n\`\`\``)],
  ["fence without an end", `\`\`\`json\n${READ}\n`, [read], ""],
  ["several fences", `${fenced(READ)}\n${fenced(NOW)}`, [read, now], ""],
  ["several calls in a fence", fenced(`${READ}\n${NOW}`), [read, now], ""],
  ["an array in a fence", fenced(`[${READ}, ${NOW}]`), [read, now], ""],
  ["a fence right after a tag", `a ${tagged(READ)}${fenced(NOW)}`, [read, now], "a"],
  [
    "a fence right after reasoning",
    `a <think>b</think>${fenced(NOW)}`,
    [now],
    "a <think>b</think>",
  ],
  ["a tag after a fence", "```js\na\n```\n" + tagged(READ), [read], "```js\na\n```"],
  // Mended
  ["line feeds in strings", tagged('{"name": "now", "arguments": {"a": "b\nc\td\r\n"}}'), [{
    name: "now",
    arguments: { a: "b\nc\td\r\n" },
  }], ""],
  [
    "commas before brackets",
    fenced('{"name": "now", "arguments": {"a": [1, 2, ], "b": ",}", },\n}'),
    [{ name: "now", arguments: { a: [1, 2], b: ",}" } }],
    "",
  ],
  ["both, with escapes", tagged('{"name": "now", "arguments": {"a": "\\\\\\",}", "b": "\n"}, }'), [{
    name: "now",
    arguments: { a: '\\",}', b: "\n" },
  }], ""],
  // Bounds
  ["white space up to the bound", `<toolcall>${" ".repeat(255)}${READ}</toolcall>`, [read], ""],
  ["more white space", ...none(`<toolcall>${" ".repeat(256)}${READ}</toolcall>`)],
  [
    "nested as deep as may be",
    tagged(`{"name": "now", "arguments": {"a": ${"[".repeat(98)}${"]".repeat(98)}}}`),
    [{ name: "now", arguments: { a: JSON.parse(`${"[".repeat(98)}${"]".repeat(98)}`) } }],
    "",
  ],
  ["a name as late as may be", `<toolcall>{${" ".repeat(498)}"name": "now", "arguments": {`, [
    broken("now", "cut off"),
  ], ""],
  ["a name that comes too late", ...none(`<toolcall>{${" ".repeat(499)}"name": "now", "args": {`)],
  // Not to be run
  [
    "nested too deep, but complete",
    tagged(`{"name": "now", "arguments": {"a": ${"[".repeat(100)}${"]".repeat(100)}}}`),
    [broken("now", "not valid")],
    "",
  ],
  ["cut off in a string", 'a <toolcall>{"name": "now", "arguments": {"a": "b', [
    broken("now", "cut off"),
  ], "a"],
  ["cut off in a string after a backslash", '<toolcall>{"name": "now", "arguments": {"a": "\\', [
    broken("now", "cut off"),
  ], ""],
  ["cut off before the last bracket", `<toolcall>${READ.slice(0, -1)}`, [
    broken("read_file", "cut off"),
  ], ""],
  ["cut off in the second", `<toolcall>${READ}</toolcall><toolcall>{"name": "now", "ar`, [
    read,
    broken("now", "cut off"),
  ], ""],
  ["cut off in the second of a tag", `<toolcall>${READ}\n{"name": "now", "ar`, [
    read,
    broken("now", "cut off"),
  ], ""],
  ["quotes not escaped", tagged('{"name": "now", "arguments": {"a": "say "hi" b"}}') + "\nc", [
    broken("now", "not valid"),
  ], "c"],
  ["bad escapes", tagged('{"name": "now", "arguments": {"a": "\\d+"}}'), [
    broken("now", "not valid"),
  ], ""],
  ["broken, up to the next", `<toolcall>{"name": "now", "a": <toolcall>${READ}</toolcall>`, [
    broken("now", "not valid"),
    read,
  ], ""],
  ["broken, without an end", '<toolcall>{"name": "now", "a": <b and so on', [
    broken("now", "cut off"),
  ], ""],
  ["arguments are an array", tagged('{"name": "now", "arguments": [1]}'), [
    broken("now", "must be a JSON object"),
  ], ""],
  ["arguments are other text", tagged('{"name": "now", "arguments": "a.ts"}'), [
    broken("now", "must be a JSON object"),
  ], ""],
  ["arguments are text cut off", tagged('{"name": "now", "arguments": "{\\"a\\": "}'), [
    broken("now", "must be a JSON object"),
  ], ""],
  ["nested too deep", tagged(`{"name": "now", "arguments": ${"[".repeat(1000)}`), [
    broken("now", "not valid"),
  ], ""],
  // No calls
  ["plain", ...none(" Hello\n\nworld \n")],
  ["empty", ...none("")],
  ["a tag in prose", ...none("Use the <toolcall> tag.")],
  ["a tag in inline code", ...none(`Use \`${tagged(READ)}\`.`)],
  ["a tag in a fence", ...none(`\`\`\`xml\n${tagged(READ)}\n\`\`\``)],
  ["a tag in a json fence", ...none(fenced(tagged(READ)))],
  ["an empty tag", ...none(tagged(""))],
  ["an unfinished tag", ...none("a <toolcal")],
  ["a tag that holds prose", ...none(tagged("read_file a.ts"))],
  ["a tag that holds a number", ...none(tagged("1"))],
  ["a tag without a name", ...none(tagged('{"arguments": {}}'))],
  ["a name that is none", ...none(tagged('{"name": 1, "arguments": {}}'))],
  ["an empty name", ...none(tagged('{"name": "", "arguments": {}}'))],
  ["an empty array", ...none(tagged("[]"))],
  ["cut off before the name", ...none('<toolcall>{"na')],
  ["only brackets", ...none(`<toolcall>${"[".repeat(100_000)}`)],
  ["no arguments but other keys", ...none(fenced('{"name": "now", "version": "1.0"}'))],
  [
    "an echoed definition",
    ...none(tagged(
      '{"name": "now", "description": "d", "parameters": {"type": "object", "properties": {}}}',
    )),
  ],
  [
    "an echoed definition without parameters",
    ...none(fenced('{"name": "now", "parameters": {"type": "object"}}')),
  ],
  ["not only calls in an array", ...none(tagged(`[${READ}, {"a": 1}]`))],
  ["a fence that holds more", ...none(fenced(`${READ}\n// a comment`))],
  ["a fence of another language", ...none(`\`\`\`js\n${READ}\n\`\`\``)],
  ["jsonc", ...none(`\`\`\`jsonc\n${READ}\n\`\`\``)],
  ["a fence within a line", ...none(`see \`\`\`json\n${READ}\n\`\`\``)],
  ["a fence within a fence", ...none(`\`\`\`\`md\n${fenced(READ)}\n\`\`\`\``)],
  // Quoted
  ["a block quote", ...none(`The log says:\n\n> ${tagged(READ)}\n\nSo it goes.`)],
  ["a block quote without a space", ...none(`>${tagged(READ)}`)],
  ["an indented block quote", ...none(`   > a\n   > ${tagged(READ)}`)],
  ["a fence in a block quote", ...none(`> \`\`\`json\n> ${READ}\n> \`\`\``)],
  ["a fence in a block quote, not repeated", ...none(`> \`\`\`json\n${READ}\n\`\`\``)],
  ["a block quote in a list", ...none(`- > ${tagged(READ)}`)],
  ["indented code", ...none(`For example:\n\n    ${tagged(READ)}\n\nThat is it.`)],
  ["indented by a tab", ...none(`For example:\n\n\t${tagged(READ)}`)],
  ["indented at the beginning", ...none(`    ${tagged(READ)}`)],
  [
    "indented code of several lines",
    ...none(`\n\n    a\n    ${tagged(READ)}\n\n     ${tagged(NOW)}`),
  ],
  ["a fence in indented code", ...none(`a\n\n    \`\`\`json\n    ${READ}\n    \`\`\`\n`)],
  ["pre", ...none(`<pre>\n${tagged(READ)}\n</pre>`)],
  ["pre with attributes and code", ...none(`<pre class="a"><code>\n${tagged(READ)}</code></pre>`)],
  ["code", ...none(`So: <code>${tagged(READ)}</code> or <CODE>${tagged(NOW)}</CODE>`)],
  ["a fence in pre", ...none(`<pre>\n${fenced(READ)}\n</pre>`)],
  ["two calls in pre", ...none(`<pre>${tagged(READ)}\n\n${tagged(NOW)}\n</pre> a`)],
  ["a comment in HTML", ...none(`<!--\n${tagged(READ)}\n-->`)],
  ["an example", ...none(`<example>\n${tagged(READ)}\n</example>`)],
  [
    "a result that the model made up",
    ...none(`<tool_response>\n${tagged(READ)}\n</tool_response>`),
  ],
  [
    "a document that holds blocks, its fence no longer than theirs",
    ...none(
      `\`\`\`markdown\n# A\n\`\`\`sh\nls\n\`\`\`\nSo:\n${fenced(READ)}\nor\n${tagged(NOW)}\n\`\`\``,
    ),
  ],
  ["inline code over lines", ...none(`Write \`so:\n${tagged(READ)}\n\` and wait.`)],
  ["two backticks over lines", ...none(`Write \`\`so:\n${tagged(READ)} \`\`.`)],
  ["a row of a table", ...none(`| call |\n|---|\n| ${tagged(READ)} |\n`)],
  ["quotation marks", ...none(`It said "${tagged(READ)}" and stopped.`)],
  ["single quotation marks", ...none(`print('${tagged(READ)}')`)],
  ["other quotation marks", ...none(`“${tagged(READ)}” ‘${tagged(READ)}’ «${tagged(READ)}»`)],
  [
    "a line as read_file shows it",
    ...none(`It says:\n\n12\t${tagged(READ)}\n13\t  ${tagged(NOW)}`),
  ],
  ["a line that grep_code found", ...none(`Found:\n\na/b.md:3:So: ${tagged(READ)}`)],
  ["a line beside one found", ...none(`a/b.md-2-${tagged(READ)}\na/b.md:3:a`)],
  ["a line that grep found", ...none(`12:${tagged(READ)}\n13:    ${tagged(NOW)}`)],
  ["a line added or removed", ...none(`@@ -1 +1 @@\n-${tagged(READ)}\n+    ${tagged(NOW)}`)],
  ["a comment", ...none(`  // ${tagged(READ)}`)],
  [
    "quotation marks of German",
    ...none(`„${tagged(READ)}“ ‚${tagged(READ)}‘ ›${tagged(READ)}‹ »${tagged(READ)}«`),
  ],
  [
    "quotation marks of others",
    ...none(
      `‹${tagged(READ)}› ”${tagged(READ)}” 「${tagged(READ)}」 『${tagged(READ)}』 《${
        tagged(READ)
      }》`,
    ),
  ],
  ["parentheses", ...none(`A call (${tagged(READ)}) is in tags.`)],
  ["a log", ...none(`{"role":"assistant","content":"${tagged(READ.replaceAll('"', '\\"'))}"}`)],
  [
    "the form explained",
    ...none("Use `<toolcall>{...}</toolcall>`, or <toolcall>{...}</toolcall>."),
  ],
  ["placeholders", ...none(tagged('{"name": <name>, "arguments": {}}'))],
  ["a package.json", ...none(fenced('{\n  "name": "now",\n  "version": "1.0.0"\n}'))],
  ["a tsconfig", ...none(fenced('{"compilerOptions": {"strict": true}}'))],
  ["a fence with a title", ...none(`\`\`\`json title="a"\n${READ}\n\`\`\``)],
  // Not quoted
  ["after a block quote", `> a\n\n${tagged(READ)}`, [read], "> a"],
  ["right after a block quote", `> a\n${tagged(READ)}`, [read], "> a"],
  ["indented within a paragraph", `So:\n    ${tagged(READ)}`, [read], "So:"],
  ["indented by three", `So:\n\n   ${tagged(READ)}`, [read], "So:"],
  ["indented after a call", `${tagged(READ)}\n    ${tagged(NOW)}`, [read, now], ""],
  ["after indented code", `a\n\n    b\n${tagged(READ)}`, [read], "a\n\n    b"],
  ["after pre", `<pre>a</pre>\n${tagged(READ)}`, [read], "<pre>a</pre>"],
  ["after the mention of pre", `Use a <pre> here.\n${tagged(READ)}`, [read], "Use a <pre> here."],
  [
    "after two mentions",
    `<pre> or <code>\n${tagged(READ)} <pre> ${tagged(NOW)}`,
    [read, now],
    "<pre> or <code>\n<pre>",
  ],
  ["after pre in code", `\`<pre>\`\n${tagged(READ)}\n</pre>`, [read], "`<pre>`\n</pre>"],
  ["after the word prefix", `<prefix> ${tagged(READ)} </pre>`, [read], "<prefix> </pre>"],
  ["after a stray backtick", `It\`s:\n${tagged(READ)}`, [read], "It`s:"],
  ["between stray backticks", `It\`s:\n${tagged(READ)}\n\nlet\`s`, [read], "It`s:\n\nlet`s"],
  ["after quotation marks of TeX", `\`\`so''\n${tagged(READ)}`, [read], "``so''"],
  [
    "after a document that holds a block",
    `\`\`\`md\n\`\`\`sh\nls\n\`\`\`\n\`\`\`\n${tagged(READ)}`,
    [read],
    "```md\n```sh\nls\n```\n```",
  ],
  [
    "after a document in a longer fence than its block",
    `\`\`\`\`md\n\`\`\`sh\nls\n\`\`\`\n\`\`\`\`\n${tagged(READ)}`,
    [read],
    "````md\n```sh\nls\n```\n````",
  ],
  [
    "after a document in a shorter fence than its block",
    `\`\`\`md\n\`\`\`\`sh\nls\n\`\`\`\`\n\`\`\`\n${tagged(READ)}`,
    [read],
    "```md\n````sh\nls\n````\n```",
  ],
  ["after lines shown", `12\ta\n+a\n-a\n${tagged(READ)}`, [read], "12\ta\n+a\n-a"],
  ["in lists", `+ ${tagged(READ)}\n1. a\n- ${tagged(NOW)}`, [read, now], "+\n1. a\n-"],
  ["after a ruler", `---${tagged(READ)}`, [read], "---"],
  ["after a quotation", `"so" ${tagged(READ)}`, [read], '"so"'],
  ["after a mentioned tag", `A <think> tag.\n${tagged(READ)}`, [read], "A <think> tag."],
  // Reasoning
  ["a call at the end of reasoning", `<think>Let me see.\n${tagged(READ)}`, [
    read,
  ], "<think>Let me see."],
  [
    "calls at the end of reasoning",
    `<think>\nhm\n\n ${tagged(READ)}\n${tagged(NOW)}${tagged(NOW)}\n\n`,
    [read, now, now],
    "<think>\nhm",
  ],
  ["a call cut off in reasoning", `<think>a\n${tagged(NOW).slice(0, 25)}`, [
    broken("now", "cut off"),
  ], "<think>a"],
  ["only the last calls", `<think>${tagged(READ)}\nThen:\n${tagged(NOW)}`, [
    now,
  ], `<think>${tagged(READ)}\nThen:`],
  ["a call in a sentence of reasoning", ...none(`<think>Let me look. ${tagged(READ)}`)],
  ["the same, and another", ...none(`<think>Let me look. ${tagged(READ)}${tagged(NOW)}`)],
  ["a call before more reasoning", ...none(`<think>\n${tagged(READ)}\nThat is how.`)],
  ["a call before the end of reasoning", ...none(`<think>\n${tagged(READ)}\n</think>`)],
  ["a fence in reasoning", ...none(`<think>a\n${fenced(READ)}`)],
  ["code in reasoning", ...none(`<think>\n\`\`\`xml\n${tagged(READ)}\n\`\`\``)],
  ["a quotation in reasoning", ...none(`<think>\n> ${tagged(READ)}`)],
  ["a call before a lone end tag", ...none(`why ${tagged(READ)} so\n</think>`)],
  [
    "a call after a lone end tag",
    `why ${tagged(READ)} so\n</think>\n${tagged(NOW)}\na`,
    [now],
    `why ${tagged(READ)} so\n</think>\na`,
  ],
  ["a call before a second end tag", `a</think>b ${tagged(READ)}</think>c`, [
    read,
  ], "a</think>b </think>c"],
  ["a call in reasoning", ...none(`<think>${tagged(READ)}</think>a`)],
  ["a call after reasoning", `<think>why</think>\n${tagged(READ)}`, [read], "<think>why</think>"],
  [
    "a fence open in reasoning",
    `<think>\`\`\`</think>${fenced(READ)}`,
    [read],
    "<think>```</think>",
  ],
];

/** Where knowing the offered names makes a difference. */
const known: Row[] = [
  ["a fence without a language, behind text", `So:\n\`\`\`\n${READ}\n\`\`\``, [read], "So:"],
  ["a fence with another agent's name", fenced(READ.replace("read_file", "Read")), [
    { ...read, name: "Read" },
  ], ""],
  ["a bracket missing", `${tagged(READ.slice(0, -1))} b`, [read], "b"],
  [
    "two brackets missing",
    `${tagged(READ.slice(0, -2))} b`,
    [broken("read_file", "not valid")],
    "b",
  ],
  [
    "another name in a tag, which the model is told of",
    tagged('{"name": "zip", "arguments": {}}'),
    [{ name: "zip", arguments: {} }],
    "",
  ],
  ["another name in a fence", ...none(fenced('{"name": "zip", "arguments": {}}'))],
  [
    "another name, then a call",
    tagged('{"name": "zip", "arguments": {}}') + tagged(NOW),
    [{ name: "zip", arguments: {} }, now],
    "",
  ],
  ["a fence cut off", '```json\n{"name": "now", "arguments": {"a', [broken("now", "cut off")], ""],
  ["a broken fence", fenced('{"name": "now", "arguments": {"a": "b"c"}}'), [
    broken("now", "not valid"),
  ], ""],
  ["a fence whose arguments are text", fenced('{"name": "now", "arguments": "x"}'), [
    broken("now", "must be"),
  ], ""],
];
const more: Row[] = [
  ["Hermes", `Let me look.\n${hermes(`\n${READ}\n`)}\n${hermes(NOW)}`, [read, now], "Let me look."],
  ["Hermes beside the basic tag", `${hermes(READ)}\n${tagged(NOW)}`, [read, now], ""],
  ["Hermes without its end", `<tool_call>\n${READ}`, [read], ""],
  ["Hermes cut off", `<tool_call>${READ.slice(0, -5)}`, [broken("read_file", "cut off")], ""],
  ["Hermes, after reasoning", `<think>hm</think>${hermes(NOW)}`, [now], "<think>hm</think>"],
  ["Hermes with a name of no tool", hermes('{"name": "zip", "arguments": {}}'), [{
    name: "zip",
    arguments: {},
  }], ""],
  ["Hermes with a name of no tool, without arguments", ...none(hermes('{"name": "zip"}'))],
  ["Hermes in code", ...none(`\`${hermes(NOW)}\`\n\n\`\`\`xml\n${hermes(NOW)}\n\`\`\``)],
  ["Hermes, 255 blanks behind a word", ...none(`Use${" ".repeat(255)}${hermes(NOW)} so.`)],
  [
    "Hermes, so far behind that the word is forgotten",
    `Use${" ".repeat(256)}${hermes(NOW)} so.`,
    [now],
    `Use${" ".repeat(256)}so.`,
  ],
  ["Hermes mentioned", ...none(`The tag <tool_call> holds JSON, as in "${hermes(NOW)}".`)],
];
known.push(...more);
const unknown: Row[] = [
  ["a fence without a language", ...none(`\`\`\`\n${READ}\n\`\`\``)],
  ["a bracket missing", `${tagged(READ.slice(0, -1))} b`, [broken("read_file", "not valid")], "b"],
  ["Hermes", ...none(hermes(READ))],
  ["any name in a tag", tagged('{"name": "zip", "arguments": {}}'), [{
    name: "zip",
    arguments: {},
  }], ""],
  ["any name in a fence", fenced('{"name": "zip", "arguments": {}}'), [{
    name: "zip",
    arguments: {},
  }], ""],
  ["a fence cut off", ...none('```json\n{"name": "now", "arguments": {"a')],
  [
    "a fence with parameters of another kind",
    ...none(fenced('{"name": "now", "parameters": [1]}')),
  ],
  ["a package.json", ...none(fenced('{"name": "copilot", "version": "1.0.0", "type": "module"}'))],
];

function check(text: string, options: ToolCallOptions, expected: Found[], rest: string): void {
  const [cleaned, calls] = extractToolCallsFromText(text, options);
  assertEquals(cleaned, rest);
  assertEquals(calls?.length ?? 0, expected.length);
  if (expected.length === 0) assertEquals(calls, null);
  for (const [i, { invalid, ...call }] of expected.entries()) {
    // Of a call beside text, another test says whether it may only be shown.
    const { invalid: given, mayBeShown: _, ...found } = calls![i]!;
    assertEquals(found, { id: "id", recovered: true, arguments: {}, ...call });
    assertEquals(given?.reason.includes(invalid!) ?? false, invalid !== undefined, given?.reason);
  }
}

function filtered(pieces: string[], options: ToolCallOptions): string {
  const filter = new ToolCallFilter(options);
  return pieces.map((piece) => filter.push(piece)).join("") + filter.end().text;
}

for (
  const [what, options, table] of [
    ["names known", KNOWN, [...rows, ...known]],
    ["names unknown", ANY, [...rows, ...unknown]],
  ] as const
) {
  for (const [name, text, calls, rest] of table) {
    Deno.test(`extractToolCallsFromText, ${what}: ${name}`, () =>
      check(text, options, calls, rest));
    if (text.length > 10_000) continue;
    Deno.test(`ToolCallFilter, ${what}: ${name}, on every split`, () => {
      forEveryTextSplit(text, (pieces) => assertEquals(filtered(pieces, options), rest));
    });
  }
}

Deno.test("extractToolCallsFromText: only a call in code that text follows, or that another language leads to, may be shown", () => {
  const json = '{"name": "run_bash", "arguments": {"command": "ls"}}';
  const options = { tools: ["run_bash"] };
  const mayBeShown = (text: string) =>
    extractToolCallsFromText(text, options)[1]?.map((call) => call.mayBeShown === true);
  assertEquals(mayBeShown(fenced(json)), [false]);
  assertEquals(mayBeShown(`I will look.\n\n${fenced(json)}`), [false]);
  assertEquals(mayBeShown(`${fenced(json)}\n\nSag Bescheid.`), [true]);
  assertEquals(mayBeShown(`Das würde ich aufrufen:\n\n${fenced(json)}`), [true]);
  assertEquals(mayBeShown(`Das würde ich aufrufen:\n\n${json}`), [true]);
  assertEquals(mayBeShown(`Ich rufe auf:\n\n${tagged(json)}\n\nSag Bescheid.`), [false]);
});

Deno.test("extractToolCallsFromText: no tools, no calls", () => {
  check(tagged(READ), { tools: [] }, [], tagged(READ));
});

Deno.test("extractToolCallsFromText: an invalid call holds what the model wrote", () => {
  const [, calls] = extractToolCallsFromText('<toolcall>{"name": "now", "arguments": {"a": "b');
  assertEquals(calls![0]!.invalid!.text, '{"name": "now", "arguments": {"a": "b');
  const [, broken] = extractToolCallsFromText(tagged('{"name": "now", "a": "b"c"}'));
  assertEquals(broken![0]!.invalid!.text, '{"name": "now", "a": "b"c"}');
});

Deno.test("ToolCallFilter agrees with extractToolCallsFromText on random texts", () => {
  const parts = [
    "<toolcall>",
    "<tool_call>",
    "</toolcall>",
    READ,
    NOW,
    '{"name": "zip"}',
    '{"name": "now"',
    '{"name": "now", "a": <',
    "```json\n",
    "```\n",
    "`",
    "[",
    ",",
    '"',
    "\n",
    " ",
    "a",
    "<",
    "```js\n",
    "<think>",
    "</think>",
    "<pre>",
    "</pre>",
    "> ",
    "    ",
  ];
  for (const options of [KNOWN, ANY]) {
    for (const text of randomTexts(parts, 300)) {
      const [rest, calls] = extractToolCallsFromText(text, options);
      forEveryTextSplit(text, (pieces) => assertEquals(filtered(pieces, options), rest, text));
      assertEquals(calls === null, rest === text);
    }
  }
});

const live: [piece: string, shown: string][] = [
  ["Let me look.\n\n<", "Let me look."],
  ["b> and <tool", "\n\n<b> and"],
  ["box> `<tool", " <toolbox> `<tool"],
  ["call>` <toolcall>", "call>`"],
  [" <", ""],
  ["toolcall>{", " <toolcall>"],
  ['"name": "a b"', ' <toolcall>{"name": "a b"'],
  ['}</toolcall> <toolcall>{"name": "now', "}</toolcall>"],
  ['", "arguments": {"a": "b', ""],
  ['"}}', ""],
  ["\n</tool", ""],
  ["call>", ""],
  ["\nThen:\n``", ""],
  ["`js", ""],
];

const rejected: [piece: string, shown: string][] = [
  ["a\n``", "a"],
  ["`js", ""],
  ["x\n{", "\n```jsx\n{"],
  ["}\n```\n```json", "}\n```"],
  ["\n{", ""],
  ['"name": "pkg",', '\n```json\n{"name": "pkg",'],
  ['\n"a": 1}\n```\n', '\n"a": 1}\n```'],
  ["x < y", "\nx < y"],
  [" `a\n", " `a"],
  [`${tagged(NOW)} `, ""],
  ["b` ", `\n${tagged(NOW)} b\``],
  ["\n<pre>", " \n<pre>"],
  [tagged(NOW), ""],
  ["</pre", ""],
  [">x", `${tagged(NOW)}</pre>x`],
  ["\n<think>", "\n<think>"],
  ["b\n<toolcall>", "b"],
  [`{"name": "now"}</toolcall>`, ""],
  ["\n", ""],
  ["x", '\n<toolcall>{"name": "now"}</toolcall>\nx'],
];

Deno.test("ToolCallFilter holds back no more than what may be a call, and white space", () => {
  const filter = new ToolCallFilter(KNOWN);
  for (const [i, [piece, shown]] of live.entries()) {
    assertEquals(filter.push(piece), shown, `${i}: ${piece}`);
  }
  assertEquals(filter.end().text, "\nThen:\n```js");
  const other = new ToolCallFilter(KNOWN);
  for (const [i, [piece, shown]] of rejected.entries()) {
    assertEquals(other.push(piece), shown, `${i}: ${piece}`);
  }
});

Deno.test("ToolCallFilter: beside a native call, marked calls are dropped, wherever it came", () => {
  const texts = [
    [`a ${tagged(NOW)} b\n`, "a b\n"],
    [`${tagged(NOW)}`, ""],
    ["a\n```js", "a\n```js"],
    [`a\n${fenced(NOW)}\nb`, `a\n${fenced(NOW)}\nb`],
    [`a \`\n${tagged(NOW)} b`, "a `\nb"],
    [`a ${tagged('{"name": "now", "arguments": {"x": "</think>"}}')} b`, "a b"],
  ] as const;
  for (const [text, left] of texts) {
    for (let at = 0; at <= text.length; at++) {
      const filter = new ToolCallFilter(KNOWN);
      const shown = filter.push(text.slice(0, at)) + filter.release() + filter.push(text.slice(at));
      const { text: rest, calls } = filter.end();
      assertEquals([shown + rest, calls], [left, []], `${text}, released at ${at}`);
    }
  }
});

Deno.test("extractToolCallsFromText: without fences, without think tags", () => {
  check(`${fenced(READ)}\n${tagged(NOW)}`, { ...KNOWN, fences: false }, [now], fenced(READ));
  check(`<think>${tagged(NOW)}</think>`, { ...KNOWN, thinkTags: false }, [now], "<think></think>");
});

Deno.test("extractToolCallsFromText: nested 10 000 deep is no call to be run", () => {
  const deep = `{"name": "now", "arguments": ${'{"a":'.repeat(10_000)}1${"}".repeat(10_001)}`;
  for (const text of [tagged(deep), fenced(deep)]) {
    const [, calls] = extractToolCallsFromText(text, KNOWN);
    assert(calls![0]!.invalid!.reason.includes("not valid"));
  }
});

Deno.test("ToolCallFilter shows at once what can be no call", () => {
  const rejected: [text: string, options: ToolCallOptions][] = [
    ['```json\n{"name": "now", <', ANY],
    ['```json\n{"name": "zip", ', KNOWN],
    ['<toolcall>{"name": "a b", ', KNOWN],
    ["<toolcall>{}}", KNOWN],
    ["<toolcall>x", KNOWN],
    ["```jsonc", KNOWN],
    ["`````json5", KNOWN],
    ['{"files": 1, ', KNOWN],
    ['[{"name": "a b", ', KNOWN],
  ];
  for (const [text, options] of rejected) {
    assertEquals(new ToolCallFilter(options).push(text), text.trimEnd());
  }
});
