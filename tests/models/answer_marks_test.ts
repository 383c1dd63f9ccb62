import { assertEquals } from "@std/assert";
import { AnswerSplitter } from "../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../src/models/toolcalls/extract.ts";
import { ANSWERS, JSON_READ } from "../fixtures/answers.ts";
import { forEveryTextSplit } from "../helpers/split.ts";

const text = { type: "string" };
const schema = (required: string[], more: Record<string, unknown> = {}) => ({
  type: "object",
  properties: { ...Object.fromEntries(required.map((key) => [key, text])), ...more },
  required,
});
const TOOLS = {
  read_file: schema(["file_path"], { limit: { type: "integer" } }),
  run_bash: schema(["command"]),
  write_file: schema(["file_path", "content"]),
  list_directory: schema([], { path: text }),
};
const OPTIONS = { tools: Object.keys(TOOLS), schemas: TOOLS };

/** The answer as it is split, with calls as `name {json}`, or `name!` where one is not run. */
function split(pieces: readonly string[], native: readonly string[] = []): Answer {
  const splitter = new AnswerSplitter({ calls: new ToolCallFilter(OPTIONS) });
  for (const text of pieces) splitter.push({ type: "text", text });
  for (const name of native) splitter.push({ type: "tool_call", name });
  const { text, reasoning, calls, callMark } = splitter.end();
  const shown = calls.map(({ name, arguments: args, invalid }) =>
    invalid ? `${name}!` : `${name} ${JSON.stringify(args)}`
  );
  return [text.trim(), shown.join("; "), reasoning.trim(), callMark !== undefined];
}
type Answer = [text: string, calls: string, reasoning: string, isCallLost: boolean];

for (const [source, answer, text = "", calls = "", reasoning = "", isLost = false] of ANSWERS) {
  Deno.test(`an answer is split alike on every split: ${answer.slice(0, 60)} (${source})`, () => {
    const expected: Answer = [text, calls, reasoning, isLost];
    assertEquals(split([answer]), expected);
    forEveryTextSplit(answer, (pieces) => assertEquals(split(pieces), expected, pieces.join("¦")));
  });
}

Deno.test("beside a native call, the same call in the text is neither run nor shown", () => {
  const rows = [
    `Look.\n<tool_call>{"name":"read_file","arguments":${JSON_READ}}</tool_call>`,
    "Look.\n\n</｜DSML｜parameter>",
    "Look.<|",
  ];
  for (const answer of rows) {
    const [text, calls] = split([answer], ["read_file"]);
    assertEquals([text, calls], ["Look.", ""]);
  }
});
