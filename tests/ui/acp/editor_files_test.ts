import { assertEquals, assertRejects } from "@std/assert";
import type { Editor } from "../../../src/ui/acp/editor.ts";
import { editorFiles } from "../../../src/ui/acp/editor_files.ts";
import { runTerminalProgram } from "../../../src/ui/acp/terminal.ts";
import { RpcError, type RpcParams } from "../../../src/rpc/message.ts";

const { signal } = new AbortController();
const both = { readTextFile: true, writeTextFile: true };

function editor(answer: (method: string, params: RpcParams, signal: AbortSignal) => unknown) {
  const asked: [method: string, params: RpcParams][] = [];
  const request = (method: string, params: RpcParams, signal: AbortSignal) => {
    asked.push([method, params]);
    return Promise.try(() => answer(method, params, signal));
  };
  return { asked, editor: { request } as unknown as Editor };
}

Deno.test("acp: the files of an editor are read and written as far as it offers that", async () => {
  const { asked, editor: it } = editor((method) =>
    method === "fs/read_text_file" ? { content: "unsaved" } : {}
  );
  assertEquals(
    editorFiles(it, { readTextFile: false, writeTextFile: false }, () => "s"),
    undefined,
  );
  const reader = editorFiles(it, { ...both, writeTextFile: false }, () => "s")!;
  const writer = editorFiles(it, { ...both, readTextFile: false }, () => "s")!;
  assertEquals([Object.keys(reader), Object.keys(writer)], [["known", "read"], ["known", "write"]]);
  assertEquals(await reader.read!("/no/such/a", signal), "unsaved");
  await reader.read!("/no/such/b", signal);
  await reader.read!("/no/such/a", signal);
  assertEquals([...reader.known], ["/no/such/b", "/no/such/a"]);
  await writer.write!("/no/such/a", "text", signal);
  assertEquals(asked.at(-1), [
    "fs/write_text_file",
    { sessionId: "s", path: "/no/such/a", content: "text" },
  ]);
  const before = asked.length;
  assertEquals(await reader.read!(Deno.cwd(), signal), undefined);
  assertEquals(asked.length, before);
});

Deno.test("acp: an editor that has no text for a file leaves it to the disk, and says why it does not write", async () => {
  for (const answer of [{}, { content: 5 }, "text", null]) {
    const files = editorFiles(editor(() => answer).editor, both, () => "s")!;
    assertEquals(await files.read!("/no/such/a", signal), undefined);
    assertEquals([...files.known], []);
  }
  const failing = (error: Error) =>
    editorFiles(editor(() => Promise.reject(error)).editor, both, () => "s")!;
  const refused = failing(new RpcError(-32000, "read\nonly"));
  assertEquals(await refused.read!("/no/such/a", signal), undefined);
  const stopped = AbortSignal.abort(new Error("Esc"));
  await assertRejects(() => refused.read!("/no/such/a", stopped), Error, "Esc");
  const write = (files: typeof refused) => () => files.write!("/a", "t", signal);
  await assertRejects(write(refused), Error, "Cannot write /a: the editor says: read only");
  await assertRejects(write(failing(new Error("gone"))), Error, "gone");
});

const PROGRAM = {
  ...{ program: "make", args: ["all"], env: { A: "1" }, folder: "/ws" },
  ...{ timeoutMs: 60_000, maxBytes: 10, callId: "1" },
};

Deno.test("acp: a program in a terminal of the editor ends with its output, cut to its end", async () => {
  const rows: [output: Record<string, unknown>, end: Record<string, unknown>][] = [
    [{ output: "0123456789", exitStatus: { exitCode: 0 } }, {
      ...{ output: "0123456789", isCut: false, exitCode: 0 },
    }],
    [{ output: "x0123456789", exitStatus: { signal: "SIGTERM" } }, {
      ...{ output: "0123456789", isCut: true, signal: "SIGTERM" },
    }],
    [{ output: "a", truncated: true, exitStatus: null }, { output: "a", isCut: true }],
    [{ output: 5 }, { output: "", isCut: false }],
  ];
  for (const [output, end] of rows) {
    const { asked, editor: it } = editor((method) =>
      method === "terminal/create"
        ? { terminalId: "t" }
        : method === "terminal/output"
        ? output
        : {}
    );
    const made: string[] = [];
    const ended = await runTerminalProgram(it, "s", PROGRAM, (id) => void made.push(id), signal);
    assertEquals({ ...ended }, { ended: "exit", ...end });
    assertEquals(made, ["t"]);
    assertEquals(asked.map(([method]) => method.slice(9)), [
      ...["create", "wait_for_exit", "output", "release"],
    ]);
    assertEquals(asked[0]![1], {
      ...{ sessionId: "s", command: "make", args: ["all"], cwd: "/ws", outputByteLimit: 10 },
      env: [{ name: "A", value: "1" }],
    });
  }
});

Deno.test("acp: a program in a terminal is killed at its limit and at a stop, and another failure is told", async () => {
  const waiting = (onWait: () => void = () => {}) =>
    editor((method, _, signal) => {
      if (method === "terminal/create") return { terminalId: "t" };
      if (method !== "terminal/wait_for_exit") return { output: "o" };
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        onWait();
      });
    });
  const run = (it: Editor, more = {}, own = signal) =>
    runTerminalProgram(it, "s", { ...PROGRAM, ...more }, () => {}, own);
  const late = waiting();
  const alive = setInterval(() => {}, 1000); // a limit alone keeps no program running
  assertEquals((await run(late.editor, { timeoutMs: 1 })).ended, "timeout");
  clearInterval(alive);
  const stop = new AbortController();
  const stopped = waiting(() => stop.abort());
  assertEquals((await run(stopped.editor, {}, stop.signal)).ended, "abort");
  for (const { asked } of [late, stopped]) {
    assertEquals(asked.map(([method]) => method.slice(9)).slice(2), ["kill", "output", "release"]);
  }
  const failing = editor((method) => {
    if (method === "terminal/wait_for_exit") throw new RpcError(-32000, "broken");
    return method === "terminal/create" ? { terminalId: "t" } : {};
  });
  await assertRejects(() => run(failing.editor), RpcError, "broken");
  assertEquals(failing.asked.map(([method]) => method.slice(9)), [
    ...["create", "wait_for_exit", "release"],
  ]);
  const none = editor(() => ({}));
  await assertRejects(() => run(none.editor), Error, "the editor created no terminal for it");
  await assertRejects(
    () => run(none.editor, {}, AbortSignal.abort(new Error("Esc"))),
    Error,
    "Esc",
  );
  assertEquals(none.asked.length, 1);
});
