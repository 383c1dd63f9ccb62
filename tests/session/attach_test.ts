import { assertEquals, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { localConfig } from "../../src/config.ts";
import { noticeLines } from "../../src/session/notices.ts";
import { attachFiles } from "../../src/session/attach.ts";
import type { Decision, Policy } from "../../src/types/policy.ts";
import type { TextPart, TextRange } from "../../src/types/message.ts";
import { workspace } from "../tools/workspace.ts";

const { signal } = new AbortController();
/** What goes along, and what a person is told of it. */
async function attach(...args: Parameters<typeof attachFiles>) {
  const { parts, notice } = await attachFiles(...args);
  return { parts, notices: notice ? noticeLines(notice, "terminal") : [] };
}
const typed = (text: string): TextPart[] => [{ type: "text", text }];

Deno.test("a person is told which lines of a long file go along", async () => {
  using ws = workspace();
  ws.put("long", "a line\n".repeat(2001));
  ws.put("whole", "a line\n".repeat(2000));
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const { notices } = await attach(agent, typed("see @long and @whole"), signal);
  assertEquals(notices, [
    "2 files attached",
    "@long: only its first 2000 of 2001 lines are attached",
  ]);
});

Deno.test("R-06 an @ attaches where it was typed, and no other", async () => {
  using ws = workspace();
  for (const name of ["a", "b", "c d"]) ws.put(name, `${name}\n`);
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const rows: [text: string, pasted: TextRange[], attached: string[]][] = [
    ["see @a @b", [], ["a", "b"]],
    ["see @a @b", [[0, 9]], []],
    ["see @a @b", [[4, 5]], ["b"]],
    ["see @a @b", [[7, 8]], ["a"]],
    // What was pasted ends where a typed one begins, and begins behind one.
    ["see @a @b", [[0, 4]], ["a", "b"]],
    ["see @a @b", [[5, 7]], ["a", "b"]],
    ["see @a @b", [[0, 4], [7, 9]], ["a"]],
    ["@a and @a", [[0, 2]], ["a"]],
    // The name alone was pasted.
    ["see @a", [[5, 6]], ["a"]],
    // A pasted name that reaches over a typed one.
    ['@"c @a d" @b', [[0, 2]], ["a", "b"]],
    ["@none", [[0, 5]], []],
    ["me@a", [], []],
  ];
  for (const [text, pasted, attached] of rows) {
    const { parts } = await attach(agent, [{ type: "text", text, pasted }], signal);
    assertEquals(parts.map((part) => part.type === "resource" && part.name), attached, text);
  }
});

Deno.test("R-06 a person is told which file a link led to", async () => {
  using ws = workspace();
  Deno.mkdirSync(`${ws.dir}/docs`);
  ws.put("docs/real.md", "a line\n".repeat(2001));
  Deno.symlinkSync("docs/real.md", `${ws.dir}/link`);
  Deno.symlinkSync("docs", `${ws.dir}/folder`);
  Deno.symlinkSync("/dev/null", `${ws.dir}/null`);
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const noticesOf = async (text: string) =>
    (await attach(agent, typed(text), signal)).notices.join("\n");
  assertEquals(
    await noticesOf("@link"),
    "1 file attached\n@link (docs/real.md) is attached\n" +
      "@link (docs/real.md): only its first 2000 of 2001 lines are attached",
  );
  assertEquals(await noticesOf("@folder/"), "1 file attached\n@folder/ (docs) is attached");
  assertStringIncludes(await noticesOf("@null"), "@null (/dev/null) cannot be read: ");
  assertEquals(await noticesOf("@docs/"), "1 file attached");
  // The place that was granted, and so read, not the one where the link leads by now.
  const policy: Policy = {
    decide(_tool, _args, { workingDir }) {
      const grant = {
        realPath: `${ws.dir}/docs/real.md`,
        withheld: { folder: workingDir, paths: [] },
      };
      return { allow: true, grant };
    },
  };
  const { notices } = await attach(agent, typed("@null"), signal, policy);
  assertEquals(notices[1]?.includes("@null (docs/real.md)"), true, notices.join("\n"));
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
    const { parts, notices } = await attach(agent, typed("see @f"), signal, policy);
    assertEquals([parts, notices], [[], [`@f is not attached: ${notice}`]]);
  }
});

Deno.test("up to twenty files go along, and what cannot be read goes along as that", async () => {
  using ws = workspace();
  const names = Array.from({ length: 21 }, (_, at) => `f${at}`);
  for (const name of names) ws.put(name, `${name}\n`);
  const agent = new CopilotAgent({ local: localConfig() }, ws.dir);
  const along = (text: string) => attach(agent, typed(text), signal);
  const at = (some: string[]) => some.map((name) => `@${name}`).join(" ");
  const all = await along(at(names.slice(0, 20)));
  assertEquals([all.parts.length, all.notices], [20, ["20 files attached"]]);
  const more = await along(at(names));
  const left = "only 20 files are attached: the model can read the rest";
  assertEquals([more.parts.length, more.notices], [20, ["20 files attached", left]]);
  ws.put("binary", [0, 1, 2, 0xff]);
  const { parts, notices } = await along("see @f0, @binary?");
  assertEquals(notices[0], "1 file attached");
  assertEquals(notices[1]!.startsWith("@binary cannot be read: "), true, notices[1]);
  const why = `(${notices[1]!.slice("@binary ".length)})`;
  assertEquals(parts[1], { type: "resource", kind: "file", name: "binary", text: why });
  assertEquals(parts.length, 2);
  const stopped = attachFiles(agent, typed("@binary"), AbortSignal.abort(new Error("stopped")));
  assertEquals(await stopped.then(() => "", (error) => error.message), "stopped");
});
