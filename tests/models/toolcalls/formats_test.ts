import { assertEquals, assertStringIncludes } from "@std/assert";
import { extractToolCallsFromText, ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import { formats } from "../../../src/models/toolcalls/formats/all.ts";
import { CALLS, TEXTS } from "../../fixtures/toolcalls/formats.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

const schema = (properties: Record<string, unknown>) => ({ type: "object", properties });
const text = { type: "string" };
const schemas = {
  read_file: schema({ file_path: text, limit: { type: "integer" } }),
  write_file: schema({ file_path: text, content: text }),
  run_bash: schema({ command: text }),
  add: schema({
    a: { type: "number" },
    list: { type: "array" },
    label: { type: ["string", "null"] },
  }),
};
const tools = Object.keys(schemas);
const options = { tools, schemas };

const shape = (text: string, found: ReturnType<typeof extractToolCallsFromText>) => [
  (found[1] ?? []).map((call) =>
    call.invalid ? [call.name, "invalid"] : [call.name, call.arguments]
  ),
  found[0] === text ? text : found[0].trim(),
];

/** What the filter makes of `text` in pieces of `size`. */
function streamed(text: string, size: number): ReturnType<typeof extractToolCallsFromText> {
  const filter = new ToolCallFilter(options);
  let shown = "";
  for (let at = 0; at < text.length; at += size) shown += filter.push(text.slice(at, at + size));
  const { text: rest, calls } = filter.end();
  return [shown + rest, calls.length > 0 ? calls : null];
}

for (const [text, calls, rest = ""] of CALLS) {
  Deno.test(`a call: ${JSON.stringify(text).slice(0, 100)}`, () => {
    const expected = [calls, rest];
    assertEquals(shape(text, extractToolCallsFromText(text, options)), expected);
    for (let size = 1; size < Math.min(text.length, 60); size++) {
      assertEquals(shape(text, streamed(text, size)), expected, `in pieces of ${size}`);
    }
    // Without names only the formats of the specification are known.
    const basic = extractToolCallsFromText(text)[1];
    assertEquals(basic !== null, /<toolcall>/i.test(text), "without names");
  });
}

for (const text of TEXTS) {
  Deno.test(`no call: ${JSON.stringify(text).slice(0, 100)}`, () => {
    assertEquals(extractToolCallsFromText(text, options), [text, null]);
    for (let size = 1; size < Math.min(text.length, 40); size++) {
      assertEquals(streamed(text, size), [text, null], `in pieces of ${size}`);
    }
  });
}

Deno.test("a call that breaks off is never run, in any format", () => {
  for (const [text] of CALLS) {
    const whole = extractToolCallsFromText(text, options)[1]!;
    for (let cut = 1; cut < text.length; cut++) {
      const found = extractToolCallsFromText(text.slice(0, cut), options)[1] ?? [];
      for (const [i, call] of found.entries()) {
        if (call.invalid) continue;
        assertEquals(call.arguments, whole[i]?.arguments, `${JSON.stringify(text.slice(0, cut))}`);
      }
    }
  }
});

Deno.test("the example of each format is read as that call, and broken off as no other", () => {
  const args = { file_path: "a b" };
  const examples = formats.flatMap(({ example }) =>
    example?.("read_file", Object.entries(args)) ?? []
  );
  assertEquals(examples.length > 40, true, `${examples.length}`);
  for (const text of examples) {
    const [calls] = shape(text, extractToolCallsFromText(text, options));
    assertEquals(calls, [["read_file", args]], text);
    for (let cut = 1; cut < text.length; cut++) {
      const [call] = extractToolCallsFromText(text.slice(0, cut), options)[1] ?? [];
      if (call && !call.invalid) assertEquals(call.arguments, args, text.slice(0, cut));
    }
  }
});

Deno.test("a call that is not run says why: it was cut off, or its arguments are broken", () => {
  const rows = [
    ["<function=run_bash><parameter=command>ls", "cut off"],
    ["<function=run_bash><parameter=command>ls</parameter>", "cut off"],
    ["<function=run_bash>ls</function>", "could not be read"],
    [`<function=run_bash>${" ".repeat(20)}<parameter=command>ls</function> a`, "could not be read"],
    ['[TOOL_CALLS]run_bash{"command": "ls', "cut off"],
    ['[TOOL_CALLS]run_bash{"command": ls}', "could not be read"],
    ["<tool_call>run_bash<arg_key>command</arg_key></tool_call>", "could not be read"],
    ['<tool_call>{"name": "run_bash", "arguments": {"command": `ls}}</tool_call> a', "not valid"],
    ["<tool_call>run_bash<arg_key>command</arg_key><arg_value>l", "cut off"],
  ] as const;
  for (const [text, reason] of rows) {
    const [, calls] = extractToolCallsFromText(text, options);
    assertEquals(calls?.map(({ name }) => name), ["run_bash"], text);
    assertStringIncludes(calls![0]!.invalid!.reason, reason, text);
  }
});

Deno.test("a value that holds the closing mark is not halved where the call breaks off", () => {
  const text = "<function=run_bash><parameter=command>echo </function> x</parameter>";
  const [, calls] = extractToolCallsFromText(text, options);
  assertEquals(calls?.map(({ name, invalid }) => [name, !invalid]), [["run_bash", false]]);
});

Deno.test("time is linear, whatever begins without an end", () => {
  // deno-fmt-ignore
  const openers = [
    ...["<tool_call>", "<function=run_bash>", '<invoke name="run_bash">', "[TOOL_CALLS]", "Action: "],
    ...["<｜tool▁calls▁begin｜>", "<|channel|>commentary to=", "functions.run_bash:0{", "[", "{"],
    ...['<tool_call>{"name":"run_bash",', "<tool_call>run_bash<arg_key>", "[run_bash(", '{"name":'],
    ...[
      "```tool_code\nrun_bash(",
      "<function_calls>\n",
      '{"name":"run_bash","arguments":{"command":',
      "<function=run_bash><parameter=command></function>",
      'a <tool_call>{"name":"run_bash","arguments":{}}</tool_call> ',
      "<pre><tool_call>{",
      '<invoke name="run_bash" "a" ',
      '<run_bash a="b" ',
      "\nAction: run_bash\nAction Input: a",
    ],
  ];
  for (const opener of openers) {
    const start = cpuTime();
    extractToolCallsFromText(opener.repeat(Math.ceil(10_000 / opener.length)), options);
    extractToolCallsFromText(opener + opener.replace(/^.*? /, "").repeat(100), options);
    const ms = cpuTime() - start;
    // Quadratic would be minutes.
    assertEquals(ms < 3000, true, `${opener}: ${ms} ms`);
  }
  for (const opener of ["<function=run_bash>", '[TOOL_CALLS]run_bash{"command":"', "[run_bash("]) {
    for (const fill of [" ", "</a>"]) {
      const start = cpuTime();
      extractToolCallsFromText(`${opener}${fill.repeat(60_000)}!"}</function>`, options);
      assertEquals(cpuTime() - start < 3000, true, opener + fill);
    }
  }
});
