import { assertEquals } from "@std/assert";
import { askApproval } from "../../../src/frontends/acp/questions.ts";
import type { Editor } from "../../../src/frontends/acp/editor.ts";
import type { Approval } from "../../../src/session/frontend.ts";

Deno.test("editors: a question says what a yes does, and who asks", async () => {
  const approval: Approval = {
    call: { id: "1", name: "run_bash", arguments: { command: "make get" } },
    subject: { action: "run", command: "make get" },
    reason: "wants the network",
    choices: ["once", "refuse"],
    networked: [{ text: "make get", isExact: true }],
    leave: "network",
    subAgent: "builder",
    confinedTo: "confined: only this folder",
    isRoutine: false,
    isOfPerson: false,
  };
  let shown: string[] = [];
  const editor = {
    request: (
      _: string,
      { toolCall }: { toolCall: { content: { content: { text: string } }[] } },
    ) => {
      shown = toolCall.content.map(({ content }) => content.text);
      return Promise.resolve({ outcome: { outcome: "selected", optionId: "once" } });
    },
  } as unknown as Editor;
  const asking = { editor, sessionId: "s", begin: () => {}, end: () => {} };
  const { signal } = new AbortController();
  assertEquals(await askApproval(approval, "/project", asking, signal), { choice: "once" });
  assertEquals(shown.slice(-4), [
    "Asked by the sub-agent builder.",
    "It wants the network.",
    "A yes runs it with the network, its files confined as before. In this session the network is then " +
    "open, unasked, to exactly this.",
    "confined: only this folder",
  ]);
});
