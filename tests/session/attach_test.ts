import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { localConfig } from "../../src/config.ts";
import { attachFiles } from "../../src/session/attach.ts";
import type { Decision } from "../../src/types/policy.ts";
import type { TextPart } from "../../src/types/message.ts";
import { workspace } from "../tools/workspace.ts";

const { signal } = new AbortController();
const typed = (text: string): TextPart[] => [{ type: "text", text }];

Deno.test("a person is told which lines of a long file go along", async () => {
  using ws = workspace();
  ws.put("long", "a line\n".repeat(2001));
  ws.put("whole", "a line\n".repeat(2000));
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const { notices } = await attachFiles(agent, typed("see @long and @whole"), signal);
  assertEquals(notices, [
    "2 files go along",
    "@long: only its first 2000 of 2001 lines go along",
  ]);
});

Deno.test("a person is told why a file does not go along, in the words that are for them", async () => {
  using ws = workspace();
  ws.put("f", "");
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const rows: [refusal: Decision, notice: string][] = [
    [{ allow: false, reason: "Refused: so. Do not try" }, "Refused: so. Do not try"],
    [{ allow: false, reason: "for the model", explanation: "for a person" }, "for a person"],
  ];
  for (const [decision, notice] of rows) {
    const policy = { decide: () => decision };
    const { parts, notices } = await attachFiles(agent, typed("see @f"), signal, policy);
    assertEquals([parts, notices], [[], [`@f does not go along: ${notice}`]]);
  }
});

Deno.test("up to twenty files go along, and what cannot be read goes along as that", async () => {
  using ws = workspace();
  const names = Array.from({ length: 21 }, (_, at) => `f${at}`);
  for (const name of names) ws.put(name, `${name}\n`);
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const attached = (text: string) => attachFiles(agent, typed(text), signal);
  const at = (some: string[]) => some.map((name) => `@${name}`).join(" ");
  const all = await attached(at(names.slice(0, 20)));
  assertEquals([all.parts.length, all.notices], [20, ["20 files go along"]]);
  const more = await attached(at(names));
  const left = "only 20 files go along: the rest is left to the model to read";
  assertEquals([more.parts.length, more.notices], [20, ["20 files go along", left]]);
  ws.put("binary", [0, 1, 2, 0xff]);
  const { parts, notices } = await attached("see @f0, @binary?");
  assertEquals(notices[0], "one file goes along");
  assertEquals(notices[1]!.startsWith("@binary cannot be read: "), true, notices[1]);
  const why = `(${notices[1]!.slice("@binary ".length)})`;
  assertEquals(parts[1], { type: "resource", kind: "file", name: "binary", text: why });
  assertEquals(parts.length, 2);
  const stopped = attachFiles(agent, typed("@binary"), AbortSignal.abort(new Error("stopped")));
  assertEquals(await stopped.then(() => "", (error) => error.message), "stopped");
});
