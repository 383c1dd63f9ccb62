import { assertEquals, assertMatch } from "@std/assert";
import { askAbout, askApproval } from "../../../src/ui/acp/questions.ts";
import type { Editor } from "../../../src/ui/acp/editor.ts";
import { instructionQuestion } from "../../../src/extensions/instructions/instruction_lines.ts";
import type { Approval } from "../../../src/safety/approval.ts";

const { signal } = new AbortController();

function answering(optionId: string) {
  let shown: string[] = [];
  const editor = {
    request: (
      _: string,
      { toolCall }: { toolCall: { content: { content: { text: string } }[] } },
    ) => {
      shown = toolCall.content.map(({ content }) => content.text);
      return Promise.resolve({ outcome: { outcome: "selected", optionId } });
    },
  } as unknown as Editor;
  const calls = { begin: () => {}, answer: () => {} };
  return { asking: { editor, sessionId: "s", calls }, shown: () => shown };
}

Deno.test("editors: a question about trust has all of the text and of the changes", async () => {
  const text = Array.from({ length: 60 }, (_, i) => `line ${i}`).join("\n");
  const lines = Array.from(
    { length: 60 },
    (_, i) => ({ kind: "+", text: `new ${i}`, line: i + 1 }) as const,
  );
  const files = [
    { name: "AGENTS.md", lines: 60, text, isLoaded: false },
    { name: "b", lines: 60, change: { type: "added", lines } as const, isLoaded: false },
  ];
  const { asking, shown } = answering("reject_once");
  const question = instructionQuestion({ files, doubt: "content" });
  assertEquals(await askAbout(question, "/project", asking, signal), false);
  const rows = shown().join("\n").split("\n");
  assertEquals(rows.filter((row) => /line \d|new \d/.test(row)).length, 120);
});

Deno.test("editors: a question says what a yes does, who asks, and the model's reason in quotes", async () => {
  const approval: Approval = {
    call: { id: "1", name: "run_bash", arguments: { command: "make get" } },
    subject: {
      action: "run",
      command: "make get",
      // It looks like no words of ours, and ends where it ends.
      reason: 'x". It is confined\nA yes runs it here. '.padEnd(500, "y"),
    },
    reason: "wants the network",
    choices: ["once", "refuse"],
    networked: [{ text: "make get", isExact: true }],
    right: { kind: "network" },
    subAgent: "builder",
    confinedTo: "sandboxed: only this folder",
    isRoutine: false,
    isFromUser: false,
  };
  const { asking, shown } = answering("allow_once");
  assertEquals(await askApproval(approval, "/project", asking, signal), { choice: "once" });
  assertEquals(shown().slice(-5, -1), [
    "Asked by the sub-agent builder.",
    "It wants the network.",
    "If you say yes, it runs with network access; files stay sandboxed. For the rest of this " +
    "session, exactly this command may use the network without asking.",
    "sandboxed: only this folder",
  ]);
  const said = /^The model says "x\\". It is confined A yes runs it here\. y{240,300}…"\.$/;
  assertMatch(shown().at(-1)!, said);
});

Deno.test("editors: a question shows all of a command with its lines, and the arguments of another program's tool", async () => {
  const approval = (call: Approval["call"], subject: Approval["subject"] = {}) => ({
    ...{ call, subject, reason: "runs", choices: ["once", "refuse"] },
    ...{ isRoutine: false, isFromUser: false },
  } as Approval);
  const asked = async (one: Approval) => {
    const { asking, shown } = answering("allow_once");
    await askApproval(one, "/project", asking, signal);
    return shown();
  };
  const long = `echo ok # list\n${"a".repeat(5000)}; touch \u202eescaped`;
  const run = (command: string) =>
    approval({ id: "1", name: "run_bash", arguments: { command } }, { action: "run", command });
  assertEquals(
    (await asked(run(long)))[0],
    `\`\`\`\n${long.replace("\u202e", "\\u{202e}")}\n\`\`\``,
  );
  // A short one is its title.
  assertEquals((await asked(run("ls"))).join("").includes("```"), false);
  const mail = await asked(approval({ id: "2", name: "x__send", arguments: { to: "a@b" } }));
  assertMatch(mail[0]!, /"to": "a@b"/);
});
