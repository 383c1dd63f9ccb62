import { assertEquals, assertRejects } from "@std/assert";
import type { Editor } from "../../../src/ui/acp/editor.ts";
import { editorFiles } from "../../../src/ui/acp/editor_files.ts";
import { startLeader } from "../../../src/start_program.ts";
import { stopWithProgram } from "../../../src/tools/shell/process_group.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";
import { RpcError, type RpcParams } from "../../../src/rpc/message.ts";
import { workspace } from "../../tools/workspace.ts";

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

Deno.test("acp: no sandboxed program runs while an editor opens a path, which has no link", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  using temp = tempFolder();
  const at = Deno.realPathSync(temp.path);
  Deno.symlinkSync("elsewhere", `${at}/link`);
  const env = { PATH: "/usr/bin:/bin" };
  const child = startLeader({ program: "sh", args: ["-c", "read x"] }, { cwd: at, env });
  stopWithProgram(child);
  const state = () => /\) (.)/.exec(Deno.readTextFileSync(`/proc/${child.pid}/stat`))![1];
  const { asked, editor: it } = editor(() => ({ content: state() }));
  const files = editorFiles(it, both, () => "s")!;
  const read = (name: string) => files.read!(`${at}/${name}`, signal);
  assertEquals(await Promise.all(["new", "other", "link/x"].map(read)), ["T", "T", undefined]);
  await assertRejects(() => files.write!(`${at}/link`, "x", signal), Error, "was replaced");
  assertEquals(asked.length, 2);
  await child.stdin.close();
  await Promise.all([child.status, child.stdout.cancel(), child.stderr.cancel()]);
});

Deno.test("acp: an editor that has no text for a file leaves it to the disk, and says why it does not write", async () => {
  // CodeCompanion says of a missing file that it is empty.
  for (const answer of [{}, { content: 5 }, "text", null, { content: "" }]) {
    const files = editorFiles(editor(() => answer).editor, both, () => "s")!;
    assertEquals(await files.read!("/no/such/a", signal), undefined);
    assertEquals([...files.known], []);
  }
  // Avante leaves out the newline at the end of a file.
  using ws = workspace();
  for (const [text, said] of [["a\n", "b\n"], ["a", "b"]] as const) {
    ws.put("a", text);
    const files = editorFiles(editor(() => ({ content: "b" })).editor, both, () => "s")!;
    assertEquals(await files.read!(ws.at("a"), signal), said);
  }
  const failing = (error: Error) =>
    editorFiles(editor(() => Promise.reject(error)).editor, both, () => "s")!;
  const refused = failing(new RpcError(-32000, "read\nonly"));
  assertEquals(await refused.read!("/no/such/a", signal), undefined);
  const stopped = AbortSignal.abort(new Error("Esc"));
  await assertRejects(() => refused.read!("/no/such/a", stopped), Error, "Esc");
  const write = (files: typeof refused) => () => files.write!("/a", "t", signal);
  await assertRejects(write(refused), Error, "Cannot write /a: the editor says: read only");
  const detailed = new RpcError(-32603, "Internal error", { details: "not allowed" });
  await assertRejects(write(failing(detailed)), Error, "the editor says: not allowed");
  await assertRejects(write(failing(new Error("gone"))), Error, "gone");
});
