import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../../src/agent/agent.ts";
import { textOfParts } from "../../../../src/text/parts.ts";
import { attachFiles } from "../../../../src/session/attach.ts";
import { noticeLines } from "../../../../src/session/notices.ts";
import { completer } from "../../../../src/ui/terminal/session/complete.ts";
import { modelFlags } from "../../../../src/cli/settings.ts";
import { fakeSession } from "../../../helpers/fake_session.ts";
import type { TextPart } from "../../../../src/types/message.ts";
import { localConfig } from "../../../../src/config.ts";
import { tempFolder } from "../../../helpers/temp_folder.ts";

const typed = (text: string): TextPart[] => [{ type: "text", text }];

async function inFolder(check: (agent: CopilotAgent) => Promise<void>): Promise<void> {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/sub`);
  await Deno.writeTextFile(`${folder}/a.txt`, "one\ntwo\n");
  await Deno.writeTextFile(`${folder}/sub/b c.txt`, "three\n");
  await Deno.mkdir(`${folder}/out/de`, { recursive: true });
  await Deno.writeTextFile(`${folder}/out/x.txt`, "");
  await Deno.writeTextFile(`${folder}/out/de/y.txt`, "");
  await Deno.writeTextFile(`${folder}/.gitignore`, "ignored\nout\n");
  await Deno.writeTextFile(`${folder}/ignored`, "");
  await check(new CopilotAgent({ local: localConfig({ model: "test" }) }, folder));
}

Deno.test("files that a message names go along with it, with their lines", () =>
  inFolder(async (agent) => {
    const { signal } = new AbortController();
    const text = 'Compare @a.txt, @"sub/b c.txt" and @nothing (@sub).';
    const { parts, notice } = await attachFiles(agent, typed(text), signal);
    const sent = textOfParts([{ type: "text", text }, ...parts]);
    assertEquals(sent.startsWith(`${text}\n\n<file path="a.txt">\n`), true);
    for (const part of ["two", 'path="sub/b c.txt"', "three", 'path="sub"', "b c.txt"]) {
      assertEquals(sent.includes(part), true, `${part} in ${sent}`);
    }
    assertEquals(sent.includes('path="nothing"'), false);
    assertEquals(noticeLines(notice!, "terminal"), [
      "3 files attached",
      "@nothing is not a file here: only the name is sent",
    ]);
    const none = await attachFiles(agent, typed("no names"), signal);
    assertEquals(none, { parts: [] });
  }));

const COMPLETED: [before: string, items: string[], replace: number][] = [
  ["/hel", ["/help"], 4],
  ["/mod", ["/model "], 4],
  ["/cd s", ["sub/"], 1],
  ["/model --h", ["--hosted ", "--host "], 3],
  ["/model --local --hos", ["--hosted ", "--host "], 5],
  ["see @a", ["@a.txt "], 2],
  ["see @b", ['@"sub/b c.txt" ', "@sub/"], 2],
  ["see @ignored", [], 8],
  ['@"b', ['@"sub/b c.txt" ', '@"sub/"'], 3],
  ["(@a", ["@a.txt "], 2],
  ["@sub/", ['@"sub/b c.txt" '], 5],
  ["@sub/a", [], 6],
  ["@./sub/c", ['@"sub/b c.txt" '], 8],
  ["@none/a", [], 7],
  // A folder that is named is listed, though it is ignored.
  ["@out/x.", ["@out/x.txt "], 7],
  ["@out/de/y", ["@out/de/y.txt "], 9],
  ["@../", [], 4],
  ["/trust o", ["on", "off"], 1],
  ["/trust x", [], 1],
  ["/cd nowhere", [], 7],
  ["/help x", [], 1],
  ["/none x", [], 1],
];

Deno.test("Tab completes nothing in what is neither a command nor names a file", () =>
  inFolder(async ({ state }) => {
    await using fake = await fakeSession("http://127.0.0.1:1", { folder: state.workingDir });
    for (const before of ["", "hello", "me@a", "/etc/hosts", "@a and"]) {
      assertEquals(await completer(fake.session)(before, ""), undefined, before);
    }
  }));

Deno.test("Tab offers no more than fifty arguments", () =>
  inFolder(async ({ state }) => {
    for (let n = 0; n < 51; n++) await Deno.mkdir(`${state.workingDir}/x${n}`);
    await using fake = await fakeSession("http://127.0.0.1:1", { folder: state.workingDir });
    const completion = await completer(fake.session)("/cd x", "");
    assertEquals([completion!.items.length, completion!.replace], [50, 1]);
  }));

for (const [before, items, replace] of COMPLETED) {
  Deno.test(`Tab behind ${before}`, () =>
    inFolder(async ({ state }) => {
      const options = { folder: state.workingDir, modelFlags };
      await using fake = await fakeSession("http://127.0.0.1:1", options);
      const complete = completer(fake.session);
      const completion = await complete(before, "");
      const texts = completion?.items.map((item) =>
        typeof item === "string" ? item : item.text ?? item.label
      );
      assertEquals([texts, completion?.replace], [items, replace]);
    }));
}
