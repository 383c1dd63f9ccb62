import { commandsOf } from "../../src/session/commands/registry.ts";
import { assertEquals } from "@std/assert";
import type { Extension, PendingQuestion } from "../../src/session/extension.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { notePart } from "../../src/text/parts.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer, use } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const { signal } = new AbortController();
const lastUser = (body: Record<string, unknown>) =>
  (body.messages as { role: string; content: string }[]).findLast(({ role }) => role === "user")!
    .content;

Deno.test("an extension has a say from the start of a session to its end, in the order of the list", async () => {
  await using server = strictServer([
    use("read_file", { file_path: "a.txt" }),
    { text: "one" },
    { text: "two" },
  ]);
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.writeTextFile(`${folder}/a.txt`, "text of a\n");
  const calls: string[] = [];
  const extension = (name: string): Extension => {
    const note = (what: string) => void calls.push(`${name} ${what}`);
    return {
      open: () => Promise.resolve(note("open")),
      start: (_, source) => Promise.resolve(note(source)),
      message: (text) => Promise.resolve([notePart(`${name} got ${text}`)]),
      beforeCall: (call, next) => (note(`before ${call[0].name}`), next.decide(...call)),
      afterCall: () => Promise.resolve(`\n[${name}]`),
      endOfTurn: ({ response }, round) => {
        note(`${round} ${response}`);
        return Promise.resolve(round === 0 ? { parts: [notePart(`${name}: more`)] } : undefined);
      },
      close: () => Promise.resolve(note("close")),
    };
  };
  const permissions = await openPermissions({}, () => undefined);
  const options = { folder, permissions, extensions: [extension("a"), extension("b")] };
  {
    await using fake = await fakeSession(server.url, options);
    const { toolExecutions } = await fake.session.prompt("hi", signal);
    assertEquals(toolExecutions.length, 1);
  }
  assertEquals(calls, [
    ...["a open", "b open", "a startup", "b startup"],
    ...["a before read_file", "b before read_file"],
    ...["a 0 one", "b 0 one", "a 1 two", "b 1 two"],
    ...["a close", "b close"],
  ]);
  const [first, second, third] = server.requests.map(({ body }) => body);
  assertEquals(lastUser(first!), "hi\n\na got hi\n\nb got hi");
  const [, , , result] = second!.messages as { content: string }[];
  assertEquals(result!.content.slice(-8), "\n[a]\n[b]");
  assertEquals(lastUser(third!), "a: more\n\nb: more");
});

Deno.test("the commands, lines, names and questions of an extension are those of the session", async () => {
  const asked: boolean[] = [];
  const pending: PendingQuestion[] = [{
    question: { kind: "x", text: "", title: "", files: [] },
    decide: (isYes) => Promise.resolve(void asked.push(isYes)),
  }];
  const extension: Extension = {
    openQuestions: pending,
    commands: () => [
      { name: "own", group: "Setup", help: "own", run: () => "said" },
      { name: "next", group: "Work", help: "next", run: () => "next" },
    ],
    permissions: () => Promise.resolve([["own", "row"]]),
    names: () => ["own:name"],
    attach: (name) => name === "own:name" ? Promise.resolve("its text") : undefined,
    expands: (line) =>
      line === "/expand" ? (part) => Promise.resolve([part, notePart("more")]) : undefined,
  };
  await using server = strictServer([{ text: "one" }, { text: "two" }]);
  await using fake = await fakeSession(server.url, { extensions: [extension] });
  const { session } = fake;
  const names = commandsOf(session).map(({ name }) => name);
  assertEquals([names.at(-1), names[names.indexOf("tools") + 1]], ["own", "next"]);
  assertEquals(await fake.command("/own"), "said");
  assertEquals((await fake.command("/permissions"))!.split("\n").at(-1), "  own      row");
  assertEquals((await session.findPaths("own:n")).paths[0], "own:name");
  for (const { decide } of session.openQuestions()) await decide(true, signal);
  assertEquals([asked, session.openQuestions()], [[true], []]);
  assertEquals([session.expands("/expand"), session.expands("/own")], [true, false]);
  await session.prompt("/expand", signal);
  await session.prompt("see @own:name", signal);
  assertEquals(server.requests.map(({ body }) => lastUser(body)), [
    "/expand\n\nmore",
    'see @own:name\n\n<file path="own:name">\nits text\n</file>',
  ]);
});
