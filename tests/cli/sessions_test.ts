import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Recorder } from "../../src/records/recorder.ts";
import { shortName, storedSession } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { run } from "../helpers/program.ts";
import { recordsBelow } from "../helpers/records.ts";
import { type StrictRequest, strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const user = (content: string): Message => ({ role: "user", content });
const said = ({ body }: StrictRequest) =>
  (body.messages as { role: string; content: string }[])
    .flatMap(({ role, content }) => role === "user" ? [content] : []).join("|");
const flags = (url: string) => ["--local", "--host", url, "-m", "test"];

/** A folder to work in, the state folder of its sessions, and a function that records one. */
function home() {
  const temp = tempFolder();
  const folder = Deno.realPathSync(temp.path) + "/work";
  const state = `${Deno.realPathSync(temp.path)}/state`;
  Deno.mkdirSync(folder);
  const root = `${state}/copilot/sessions`;
  const record = (...messages: Message[]) => {
    using recorder = new Recorder(root, () => folder);
    recorder.sync(messages);
    return shortName(recorder.name);
  };
  const options = { cwd: folder, env: { XDG_STATE_HOME: state } };
  return { folder, root, record, options, [Symbol.dispose]: () => temp[Symbol.dispose]() };
}

Deno.test("-p is recorded apart from the user's sessions, and its id resumes it", async () => {
  using at = home();
  const own = at.record(user("mine"), { role: "assistant", content: "Yes." });
  await using server = strictServer(
    Array(5).fill((request: StrictRequest) => ({
      text: said(request),
    })),
  );
  const ask = async (...args: string[]) => {
    const ran = await run([...flags(server.url), "--output", "stream-json", ...args], at.options);
    const lines = ran.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    const { type, session_id } = lines[0];
    assertEquals([type, session_id], ["session", lines.at(-1).session_id], ran.stderr);
    return [session_id, lines.at(-1).response];
  };
  const [id, first] = await ask("-p", "one");
  assertEquals([first, id === own], ["one", false]);
  assertEquals(await ask("--resume", id, "-p", "two"), [id, "one|two"]);
  assertEquals(await ask("--resume", id.slice(0, 5), "-p", "three"), [id, "one|two|three"]);
  assertEquals(await ask("--continue", "-p", "four"), [id, "one|two|three|four"]);
  assertEquals(await ask("--resume", own, "-p", "five"), [own, "mine|five"]);
  assertEquals(recordsBelow(at.root).map((path) => /[^/]*$/.exec(path)![0].slice(0, 3)), [
    ...["202", "p-2"],
  ]);
});

Deno.test("24 runs of -p at once each continue the session that their id names", async () => {
  using at = home();
  const names = Array.from({ length: 24 }, (_, n) => `I am number ${n}.`);
  const ids = names.map((name) => at.record(user(name), { role: "assistant", content: "Hi." }));
  const answer = (request: StrictRequest) => ({ text: said(request) });
  await using server = strictServer(names.map(() => answer));
  const runs = ids.map((id) =>
    run([...flags(server.url), "--output", "json", "--resume", id, "-p", id], at.options)
  );
  for (const [n, { stdout, stderr }] of (await Promise.all(runs)).entries()) {
    const { session_id, response } = JSON.parse(stdout);
    assertEquals([session_id, response], [ids[n], `${names[n]}|${ids[n]}`], stderr);
  }
  const texts = recordsBelow(at.root).map((path) => {
    const { messages } = storedSession(at.root, /[^/]*$/.exec(path)![0])!;
    return messages.map(({ content }) => content);
  });
  const expected = names.map((name, n) => [name, "Hi.", ids[n]!, `${name}|${ids[n]}`]);
  assertEquals(texts.sort(), expected.sort());
});

Deno.test("two runs that resume one session at once: the second says where its messages go", async () => {
  using at = home();
  const id = at.record(user("begin"), { role: "assistant", content: "Hi." });
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const { promise: isLet, resolve: let_ } = Promise.withResolvers<void>();
  await using server = strictServer([async () => {
    onAsked();
    await isLet;
    return { text: "First." };
  }, { text: "Second." }]);
  const resume = (prompt: string) =>
    run([...flags(server.url), "--output", "json", "--resume", id, "-p", prompt], at.options);
  const first = resume("one");
  await isAsked;
  const second = await resume("two");
  let_();
  const ids = [JSON.parse((await first).stdout), JSON.parse(second.stdout)]
    .map(({ session_id }) => session_id);
  assertEquals([ids[0], ids[1] === id], [id, false]);
  assertStringIncludes(
    second.stderr,
    `Another copilot has it open: new messages go to the new session ${ids[1]}.\n`,
  );
  const last = recordsBelow(at.root).map((path) => Deno.readTextFileSync(path).trimEnd());
  assertEquals(last.map((text) => /"content":"(\w+)\."[^]*?$/.exec(text.split("\n").at(-1)!)![1]), [
    ...["First", "Second"],
  ]);
});

Deno.test("-p without a place for its record says so in a line, and answers", async () => {
  await using server = strictServer([{ text: "Yes." }]);
  const ran = await run([...flags(server.url), "--output", "json", "-p", "x"], {
    env: { XDG_STATE_HOME: "/dev/null" },
  });
  const { response, session_id } = JSON.parse(ran.stdout);
  assertEquals([ran.code, response, session_id], [0, "Yes.", undefined]);
  assertMatch(ran.stderr, /^· the session cannot be saved for now: .*\n$/);
});

Deno.test("an id that is unknown or ambiguous names the nearest sessions", async () => {
  using at = home();
  const id = at.record(user("Fix the tests"));
  const near = id.slice(0, 7) + (id.endsWith("0") ? "1" : "0");
  const [path] = recordsBelow(at.root);
  Deno.copyFileSync(path!, path!.replace(id, near));
  const rows = [
    [id.slice(0, 6), `${id.slice(0, 6)} is the beginning of several sessions: `],
    ["00000000", "There is no session 00000000: "],
  ] as const;
  for (const [given, why] of rows) {
    const { code, stderr } = await run(["--local", "--resume", given, "-p", "x"], at.options);
    assertEquals([code, stderr.split("\n").length], [2, 2], stderr);
    assertStringIncludes(stderr, `copilot: ${why}`);
    for (const one of [id, near]) assertStringIncludes(stderr, `${one} "Fix the tests"`);
  }
});
