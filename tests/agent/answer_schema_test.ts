import { assertEquals, assertMatch } from "@std/assert";
import { readJsonAnswer, readSchema } from "../../src/agent/answer_schema.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { type Step, type StrictRequest, use } from "../helpers/strict_server.ts";
import { noticesIn, onAllWith, scripted } from "./backends.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const schema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
};
const RIGHT = '{"name": "Mara", "age": 31}';
const look = use("list_directory", { path: "/usr" });
/** Arguments that look like a call: the answer is none. */
const LIKE_A_CALL = '{"name": "list_directory", "age": 1, "arguments": {"path": "/"}}';

Deno.test("the JSON of an answer is all of it, or its only block of code", () => {
  const json = { json: RIGHT };
  const rows: [string, unknown][] = [
    [` ${RIGHT}\n`, json],
    [`Here it is:\n\`\`\`json\n${RIGHT}\n\`\`\`\nDone.`, json],
    [`\`\`\`\n${RIGHT}\n\`\`\`\nor\n\`\`\`\n${RIGHT}\n\`\`\``, { objection: "it is not JSON" }],
    [`The answer is ${RIGHT}`, { objection: "it is not JSON" }],
    ["", { objection: "it is empty" }],
    ['{"name": "Mara"}', { objection: "age is missing" }],
    [RIGHT.replace("31", '"31"'), { objection: 'age must be an integer: current value is "31"' }],
    [RIGHT.replace("31", "[".repeat(5000) + "]".repeat(5000)), {
      objection: "it is nested too deep",
    }],
  ];
  for (const [answer, read] of rows) assertEquals(readJsonAnswer(schema, answer), read, answer);
});

const onAll = onAllWith({});

onAll(
  "an answer that matches costs no request, tools work before it",
  [look, { text: RIGHT }],
  async ({ agent, server }) => {
    const result = await processTurn(agent, "who?", { answerSchema: schema });
    assertEquals([result.response, result.stopReason], [RIGHT, "done"]);
    assertEquals([result.objection, result.toolExecutions.length], [undefined, 1]);
    assertEquals(server.requests.length, 2);
    assertMatch(server.requests[0]!.text, /matches this JSON Schema/);
    assertEquals(/response_format|"format"|tool_choice/.test(server.requests[0]!.text), false);
  },
);

onAll(
  "an answer that breaks off is read with the rest of it",
  [{ text: '{"age": 31, "na', cut: "finish" }, { text: 'me": "Mara"}' }],
  async ({ agent, server }) => {
    const result = await processTurn(agent, "who?", { answerSchema: schema });
    assertEquals([result.response, result.objection], ['{"age": 31, "name": "Mara"}', undefined]);
    assertEquals(server.requests.length, 2);
  },
);

const given = ({ format }: StrictRequest): Step =>
  format === "hosted" ? use("final_answer", JSON.parse(RIGHT)) : { text: RIGHT };

onAll(
  "another answer is asked for again, held to the schema",
  [{ text: "Mara is 31." }, given, { text: "Yes." }],
  async ({ agent, server, events, onEvent }) => {
    const result = await processTurn(agent, "who?", { answerSchema: schema, onEvent });
    assertEquals(JSON.parse(result.response), JSON.parse(RIGHT));
    const told = "The answer does not match the schema (it is not JSON): it is asked for again.";
    assertEquals(noticesIn(events), [told]);
    const { body, format } = server.requests[1]!;
    if (format === "local") {
      assertEquals([body.format, body.think, "tools" in body], [schema, false, false]);
    } else if (format === "hosted") {
      assertEquals(body.tool_choice, { type: "tool", name: "final_answer" });
    } else {
      const json_schema = { name: "answer", schema };
      assertEquals(body.response_format, { type: "json_schema", json_schema });
      assertEquals(body.tool_choice, "none");
    }
    // The next turn is a conversation that the server takes, and is held to nothing.
    assertEquals((await processTurn(agent, "sure?")).response, "Yes.");
    assertEquals(/response_format|"format":|tool_choice/.test(server.requests[2]!.text), false);
  },
);

Deno.test("a free answer without end is asked for again where a grammar ends it, and only then", async () => {
  const cut = { text: "Mara was born in", finish: "length" } as const;
  const endless = { text: "Mara is old. ".repeat(200) };
  const inJson = { text: `{"age": 31, "name": "${"_py".repeat(1000)}` };
  const likeCall = { text: `{"name": "${"_py".repeat(1000)}` };
  const rows = [
    ["compat", cut, 2],
    ...[endless, inJson, likeCall].map((first) => ["local native", first, 2] as const),
    ["local compatible", cut, 2],
    ["hosted", cut, 1],
  ] as const;
  for (const [backend, first, count] of rows) {
    await using run = scripted([first, { text: RIGHT }], { backend });
    const { agent, server } = run;
    const codes: (string | undefined)[] = [];
    const result = await processTurn(agent, "who?", {
      answerSchema: schema,
      onEvent: (event) => event.type === "notice" && codes.push(event.code),
    });
    assertEquals(codes.includes("repetition"), "text" in first && first !== cut);
    const ended = count === 2 ? [RIGHT, "done", count] : [cut.text, "budget", count];
    assertEquals([result.response, result.stopReason, server.requests.length], ended);
  }
  // What is cut though it was held to the form is the end.
  await using run = scripted([cut, cut, { text: RIGHT }]);
  const { agent } = run;
  assertEquals((await processTurn(agent, "who?", { answerSchema: schema })).stopReason, "budget");
});

Deno.test("an answer that does not match the third time is handed back with the objection", async () => {
  await using run = scripted([{ text: "1" }, { text: "{}" }, { text: '{"name":"M"}' }]);
  const { agent, server } = run;
  const { objection } = await processTurn(agent, "who?", { answerSchema: schema });
  assertEquals([objection, server.requests.length], ["age is missing", 3]);
});

Deno.test("an answer that looks like a call is the answer", async () => {
  await using run = scripted([{ text: "Mara" }, { text: LIKE_A_CALL }]);
  const { agent } = run;
  const { response, toolExecutions } = await processTurn(agent, "who?", { answerSchema: schema });
  assertEquals([response, toolExecutions], [LIKE_A_CALL, []]);
});

Deno.test("a server that refuses the field is asked in words, and not with the field again", async () => {
  const rows = [
    ["local native", "unknown field format"],
    ["compat", "response_format is not supported"],
  ] as const;
  for (const [backend, message] of rows) {
    const refusal = { error: { status: 400, message } };
    const wrong = { text: "no" };
    await using run = scripted([wrong, refusal, wrong, { text: RIGHT }], { backend });
    const { agent, server } = run;
    const { response } = await processTurn(agent, "who?", { answerSchema: schema });
    const fields = server.requests.map(({ text }) => /response_format"|"format":/.test(text));
    assertEquals([response, fields], [RIGHT, [false, true, false, false]]);
  }
});

Deno.test("a file with a schema is read, or what is wrong with it is said", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const read = async (text: string) => {
    await Deno.writeTextFile(`${folder}/a.json`, text);
    return await readSchema(`${folder}/a.json`);
  };
  assertEquals(await read('\ufeff{"type": "object"}'), { schema: { type: "object" } });
  assertEquals(await read("{"), { problem: "it is not JSON" });
  assertEquals(await read("[]"), { problem: "a schema must be a JSON object" });
  assertEquals(await read(" ".repeat(300_000)), { problem: "it has more than 256 KB" });
  assertEquals(await readSchema(folder), { problem: "it is not a file" });
  assertEquals(await readSchema(`${folder}/none`), {
    problem: "there is no such file (a schema as text starts with {)",
  });
  assertEquals(await readSchema(' {"type": "object"}'), { schema: { type: "object" } });
  assertEquals(await readSchema("{type: 1}"), { problem: "it is not JSON" });
});
