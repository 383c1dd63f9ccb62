import { TestRecorder } from "../records/conversation.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { listedSessions, shortName, storedSession, wholeSession } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { fromFileUrl } from "@std/path/from-file-url";
import { png } from "../helpers/images.ts";
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
    using recorder = new TestRecorder(root, folder);
    recorder.record(messages);
    return shortName(recorder.name);
  };
  const options = { cwd: folder, env: { XDG_STATE_HOME: state } };
  return { folder, root, record, options, [Symbol.dispose]: () => temp[Symbol.dispose]() };
}

Deno.test("-p is recorded apart from the user's sessions, and its id resumes it", async () => {
  using at = home();
  const own = at.record(user("mine"), { role: "assistant", content: "Yes." });
  await using server = strictServer(
    Array(8).fill((request: StrictRequest) => ({ text: said(request) })),
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
  const [fork, answer] = await ask("--resume", own, "--fork-session", "-p", "six");
  assertEquals([fork === own, answer], [false, "mine|five|six"]);
  assertEquals(await ask("--resume", own, "-p", "seven"), [own, "mine|five|seven"]);
  const [copy, last] = await ask("--continue", "--fork-session", "-p", "eight");
  assertEquals([copy === own, last], [false, "mine|five|seven|eight"]);
  const { code, stderr } = await run(
    [...flags(server.url), "--fork-session", "-p", "x"],
    at.options,
  );
  assertEquals([code, stderr], [2, "copilot: --fork-session needs --resume ID or --continue\n"]);
  assertEquals(recordsBelow(at.root).map((path) => /[^/]*$/.exec(path)![0].slice(0, 3)), [
    ...["202", "p-2", "p-2", "p-2"],
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
    `New messages go to the session ${ids[1]}, as this one is open elsewhere.\n`,
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
  const twin = path!.replace(/\/20(?=[^/]*$)/, "/19");
  Deno.copyFileSync(path!, twin);
  const full = [path!, twin].map((one) => /[^/]*(?=\.jsonl)/.exec(one)![0]);
  const same = await run(["--local", "--resume", id, "-p", "x"], at.options);
  for (const one of full) assertStringIncludes(same.stderr, `${one} "Fix the tests"`);
  assertMatch((await run(["sessions", "show", full[1]!], at.options)).stdout, /^# Fix the tests/);
  Deno.removeSync(twin);
  const rows = [
    [id.slice(0, 6), `Several sessions begin with ${id.slice(0, 6)}. There are: `],
    [`${id.slice(0, 6)}zz`, `There is no session ${id.slice(0, 6)}zz. There are: `],
    ["zzzz", "There is no session zzzz. There are: "],
    ["95", "The ID 95 is too short: it needs 4 characters. There are: "],
  ] as const;
  for (const [given, why] of rows) {
    const { code, stderr } = await run(["--local", "--resume", given, "-p", "x"], at.options);
    assertEquals([code, stderr.split("\n").length], [2, 2], stderr);
    assertStringIncludes(stderr, `copilot: ${why}`);
    for (const one of [id, near]) assertStringIncludes(stderr, `${one} "Fix the tests"`);
  }
});

Deno.test("copilot sessions lists, shows, renames, exports and deletes", async () => {
  using at = home();
  const key = "no-known-form-of-a-key";
  const header = "value-of-a-header";
  const id = at.record(user(`Use ${key}`), { role: "assistant", content: `Hi ${header}.` });
  const base = at.folder.slice(0, -"/work".length);
  await Deno.mkdir(`${base}/copilot`);
  const settings = { headers: { "http://gpu": { "X-A": "${HEADER}", "X-B": "${GONE}" } } };
  await Deno.writeTextFile(`${base}/copilot/config.json`, JSON.stringify(settings));
  const sessions = async (...words: string[]) => {
    const { env, ...options } = at.options;
    const more = { OPENAI_API_KEY: key, HEADER: header, XDG_CONFIG_HOME: base };
    return await run(["sessions", ...words], { ...options, env: { ...env, ...more } });
  };
  const { id: listed, title, messages } = JSON.parse((await sessions("list", "--json")).stdout)[0];
  assertEquals([listed, title, messages], [id, `Use ${key}`, 2]);
  assertMatch((await sessions()).stdout, new RegExp(`^${id}  just now {8}Use [^\n]*\n$`));
  assertMatch((await sessions("-p")).stdout, /^There are no sessions here/);
  const shown = (await sessions("show", id)).stdout;
  assertStringIncludes(shown, "## You\n\nUse [redacted]\n\n## copilot\n\nHi [redacted].\n");
  const renamed = await sessions("rename", id.slice(0, 4), "Another", "title");
  assertEquals(renamed.stdout, `Renamed "Use ${key}" to "Another title".\n`);
  const exported = await sessions("export", id, "-o", "a.md");
  assertStringIncludes(exported.stdout, "Exported to a.md, ");
  const text = Deno.readTextFileSync(`${at.folder}/a.md`);
  assertEquals(text, shown.replace("# Use [redacted]", "# Another title"));
  assertMatch((await sessions("export", "--html", id, "b.md")).stdout, /^Exported to b.md, /);
  assertMatch(Deno.readTextFileSync(`${at.folder}/b.md`), /^<!DOCTYPE html>/);
  const refused = [["export", id, "-o", "a.md"], ["export", id, "--pdf"], ["show"], [
    "delete",
    "0",
  ]];
  for (
    const words of [...refused, ["show", id, "x"], ["list", "x"], ["toString", id], ["rename", id]]
  ) {
    const { code, stderr } = await sessions(...words);
    assertEquals([code, stderr.split("\n").length], [2, 2], words.join(" "));
  }
  {
    using recorder = new TestRecorder(at.root, at.folder);
    recorder.continueFrom(storedSession(at.root, recordsBelow(at.root)[0]!.split("/").at(-1)!));
    const { code, stderr } = await sessions("delete", id);
    assertEquals([code, stderr], [1, 'Another copilot has "Another title" open.\n']);
  }
  assertEquals((await sessions("delete", id)).stdout, 'Deleted "Another title".\n');
  assertEquals(recordsBelow(at.root), []);
});

Deno.test("kill -9 at each step of a fork, a new title, a deletion and an export loses nothing", async () => {
  const script = fromFileUrl(new URL("killed_at.ts", import.meta.url));
  const data = png(2, 3).toBase64();
  const messages: Message[] = [
    {
      ...{ role: "user", content: "first" },
      parts: [{ type: "image", mediaType: "image/png", data }],
    },
    { role: "assistant", content: "x".repeat(100_000) },
  ];
  const rows = [["fork", 3], ["rename", 1], ["delete", 1], ["export", 2]] as const;
  for (const [verb, steps] of rows) {
    for (let step = 1;; step++) {
      using at = home();
      const id = at.record(...messages);
      const words = verb === "rename" ? [verb, id, "Title"] : [verb, id];
      const act = async (step: number) => {
        const args = ["run", "-A", "--no-check", script, `${step}`, ...words];
        const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
          args,
          cwd: at.folder,
          env: at.options.env,
        }).output();
        assertEquals(new TextDecoder().decode(stderr), "");
        return signal;
      };
      const isKilled = await act(step) === "SIGKILL";
      assertEquals(isKilled, step <= steps, `${verb} ${step}`);
      if (!isKilled) break;
      assertEquals(
        [...Deno.readDirSync(at.folder)].some(({ name }) => name.endsWith(".md")),
        false,
      );
      const found = [...listedSessions(at.root)];
      assertEquals(verb === "delete" || found.length > 0, true);
      for (const { name, path } of found) {
        const stored = wholeSession({ name, path })!;
        const whole = stored.messages.map(({ id: _, ...one }) => one);
        assertEquals(whole, messages);
        assertEquals(stored.head.title ?? "Title", name.includes(id) ? "Title" : "first");
      }
      // The same again succeeds, or has succeeded.
      if (found.length > 0) await act(0);
      const [after] = [...listedSessions(at.root)].filter(({ name }) => name.includes(id));
      assertEquals(after?.head.title, verb === "rename" ? "Title" : undefined);
    }
  }
});
