import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { run } from "../../../helpers/program.ts";
import { recordsBelow } from "../../../helpers/records.ts";
import { strictServer } from "../../../helpers/strict_server.ts";

Deno.test("-p --continue goes on with the newest session, says where it was, and keeps its model", async () => {
  const [folder, state] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  const steps = [1, 2, 3].map((n) => ({ text: `Answer ${n}. ${"word ".repeat(60)}` }));
  await using server = strictServer(steps, { models: ["test", "other"] });
  const local = ["--local", "--host", server.url.replace("//", "//user:secret@")];
  const ask = (...args: string[]) =>
    run([...local, "--continue", ...args], { cwd: folder, env: { XDG_STATE_HOME: state } });
  try {
    const first = await ask("-m", "other", "-p", "one");
    assertEquals(first.code, 0);
    assertStringIncludes(first.stderr, "There is no earlier session in this folder, so ");
    const second = await ask("-p", "two @nothing");
    assertMatch(
      second.stderr,
      /^Continuing "one": 2 messages, started [^\n]+\n {2}> one\n {2}Answer 1\. (word )+.{0,5}…\nUsing other, as before/m,
    );
    const third = await ask("-m", "test", "-p", "three");
    assertMatch(third.stderr, /: 4 messages, started [^\n]+\n {2}> two @nothing\n {2}Answer 2/);
    assertMatch(third.stderr, /^The session used other at [\d.:]+; now it uses test at [\d.:]+/m);
    assertEquals(server.requests.map(({ body }) => body.model), ["other", "other", "test"]);
    assertEquals((server.requests[2]!.body.messages as unknown[]).length, 6);
    await run([...local, "-m", "test", "-p", "alone"], { cwd: folder });
    const kept = recordsBelow(`${state}/copilot/sessions`);
    assertEquals(kept.length, 1);
    for (const path of kept) {
      assertEquals(/secret|alone/.test(Deno.readTextFileSync(path)), false);
    }
  } finally {
    for (const at of [folder, state]) await Deno.remove(at, { recursive: true });
  }
});
