import { assertEquals, assertThrows } from "@std/assert";
import { notePart, userMessage } from "../../src/text/parts.ts";
import { UsageError } from "../../src/errors.ts";
import { parseHead } from "../../src/records/format.ts";
import type { StoredSession } from "../../src/records/store.ts";
import { htmlTokens } from "../../src/text/html/tokens.ts";
import type { Message } from "../../src/types/message.ts";
import { exportedText, exportSession } from "../../src/ui/export.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const ATTACK =
  "</pre></details><script>alert(1)</script>\n\x1b]0;t\x07\x1b[31m\u202eevil\u2066 <img src=x onerror=a> \"'";
const SECRET = "API_KEY=abcd1234efgh";

/** A session with `text` in every place that others fill. */
function sessionWith(text: string): StoredSession {
  const call = { id: "1", name: "run_bash", arguments: { command: text } };
  const edit = { id: "2", name: "edit_file", arguments: { file_path: text } };
  const messages: Message[] = [
    { role: "user", content: text },
    { role: "assistant", content: text, reasoning: text, toolCalls: [call, edit] },
    { role: "tool", content: text, toolCallId: "1", toolName: "run_bash" },
    { role: "tool", content: text, toolCallId: "2", toolName: "edit_file" },
    {
      ...{ role: "user", content: text },
      parts: [
        { type: "resource", kind: "file", name: text, text },
        { type: "image", mediaType: "image/png", data: "aGk=", name: text },
      ],
    },
    { role: "assistant", content: `\`\`\`${text}\n${text}\n\`\`\`\n\n- \`${text}\` \`\n` },
    { role: "user", content: text, standsFor: "summary" },
    userMessage([notePart(`[${text}\n${text}]`)]),
  ];
  const line = { kind: "+" as const, text };
  const change = { path: text, isNew: false, morePlaces: 0, lines: [line] };
  const facts = { durationMs: 1, outcome: "done" as const, details: { change } };
  const head = { version: 2, folder: text, started: "2026-01-02T03:04:05.000Z", title: text };
  return {
    head: parseHead(JSON.stringify(head)),
    ...{ messages, lost: 0, first: text, executions: new Map([["2", facts]]) },
    ...{ ids: new Set(), endsInLine: true, name: "x-0123abcd.jsonl", path: "", size: 0 },
    used: { model: text, server: "h" },
  };
}

function exported(text: string, flag: string): string {
  using temp = tempFolder();
  const path = `${temp.path}/a`;
  exportSession(sessionWith(text), [flag], () => path);
  return Deno.readTextFileSync(path);
}

const TAGS = "html head meta style title body h1 div h2 details summary pre ins".split(" ");

Deno.test("an export to HTML has no markup of others, nothing that runs or loads", () => {
  const html = exported(ATTACK, "--html");
  const opened = [...htmlTokens(html)].flatMap((token) => token.kind === "open" ? [token] : []);
  assertEquals([...new Set(opened.map(({ name }) => name))], TAGS);
  assertEquals(opened.filter(({ name }) => name === "h2").length, 4);
  for (const { attributes } of opened) {
    for (const name of ["src", "href", "onerror"]) assertEquals(attributes.get(name), undefined);
  }
  // deno-lint-ignore no-control-regex
  assertEquals(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.exec(html), null);
});

/** A paragraph without its spans of code, as CommonMark 0.31 (6.1) reads them: over the ends of lines. */
function outsideCode(paragraph: string): string {
  let text = "";
  for (let at = 0; at < paragraph.length;) {
    const [run] = /^(?:`+|\\[^]|[^])/.exec(paragraph.slice(at))!;
    at += run.length;
    const rest = paragraph.slice(at);
    const end = run[0] === "`" ? new RegExp(`(?<!\`)${run}(?!\`)`).exec(rest) : null;
    if (end) at += end.index + run.length;
    else text += run;
  }
  return text;
}

const MARKDOWN = [
  ATTACK,
  "`` ` <b> `",
  "a ` b\nc ` <b> ` d",
  "\\`<b>`",
  "```\n<b>\n````\n\n~~~ `\n<b>",
  "> ```\n<b>",
  "![x](http://h/x) [j]( javascript:a) [k]\n\n[k]: data:text/html,x",
  "    <b>\n\n<!-- \n\n```\n-->",
  "|a|b|c|\n|-|-|-|\n| `a | <img src=x> [x](data:a) | ` |",
  "|a|b|c|\n|-|-|-|\n| `a | b` `<b>` `c | d` |",
  "[a](javascript\\:a) [b](java&#115;cript:a) [c](\n<javascript:a>) [d]( //h)",
  "- [x]: javascript:a\n\n1. > [y\nz]: javascript:a",
];
for (const text of MARKDOWN) {
  Deno.test(`an export to Markdown has no HTML of others: ${JSON.stringify(text)}`, () => {
    const markdown = exportedText(sessionWith(text));
    // Fences of an export start a line, and are longer than those in them.
    const prose = markdown.replace(/^(`{3,})[^`\n]*\n[^]*?^\1$/gm, "")
      .replaceAll(/<details( open)?><summary>[^<\n]*<\/summary>|<\/details>/g, "");
    const texts = prose.split(/\n\s*\n|\|/).map(outsideCode).join("\n");
    assertEquals(texts.match(/<|!\[|\]\((?!\s*(?:https?:|#))|\]:/), null);
  });
}

Deno.test("an export has no credentials, wherever they are", () => {
  for (const [secret, hidden] of [[SECRET, "[redacted]"], ["ftp://a:abcd1234@b:1/", "***@"]]) {
    for (const format of ["md", "html"] as const) {
      const text = exported(secret!, `--${format}`);
      assertEquals([text.includes("abcd1234"), text.split(hidden!).length > 10], [false, true]);
    }
  }
});

Deno.test("an export has no credential that colours divide", () => {
  const session = sessionWith("hi");
  session.messages[2]!.content = SECRET.replace("_", "\x1b[1m_\x1b[m");
  assertEquals(exportedText(session).match(/API.*/g), ["API_KEY=[redacted]"]);
});

Deno.test("an export has no line of a private key of a change, and has what a check found in it", () => {
  const key = "KEY='''-----BEGIN RSA PRIVATE KEY-----\nabcd\n-----END RSA PRIVATE KEY-----'''";
  const session = sessionWith("hi");
  const [first, second, last] = key.split("\n").map((text) => ({ kind: "+" as const, text }));
  const old = { kind: "-" as const, text: "old" };
  const lines = [first!, old, second!, { kind: " " as const, text: "efgh" }, last!];
  session.executions.get("2")!.details!.change!.lines = lines;
  const hidden = "+KEY='''[redacted]\n-old\n+[redacted]\n [redacted]\n+[redacted]'''\n";
  assertEquals(exportedText(session).includes(hidden), true);
  session.messages[3]!.content += "\n\n[1 new error]";
  assertEquals(exportedText(session).includes("\n```\n\n```\n[1 new error]\n```\n"), true);
  // That of a branch, which lists name by its last message.
  session.head = { ...session.head, title: undefined, parent: "x" };
  assertEquals(exportedText(session).startsWith("# hi\n"), true);
});

Deno.test("an export is a new file, by its flag or its name", async () => {
  using temp = tempFolder();
  const session = sessionWith("hi");
  const write = (...words: string[]) =>
    exportSession(session, words, (name) => `${temp.path}/${name}`);
  const rows = [
    [[], "copilot-0123abcd.md"],
    [["--html"], "copilot-0123abcd.html"],
    [["a.html"], "a.html"],
    [["-o", "a b.md"], "a b.md"],
    [["--md", "b.html"], "b.html"],
    [["n".repeat(255)], "n".repeat(255)],
  ] as const;
  for (const [words, name] of rows) {
    assertEquals(write(...words).startsWith(`Exported to ${name}, `), true);
    const text = await Deno.readTextFile(`${temp.path}/${name}`);
    assertEquals(
      text.startsWith("<!DOCTYPE"),
      words.join().endsWith("html") && words[0] !== "--md",
    );
  }
  await Deno.symlink("/nowhere", `${temp.path}/link`);
  for (const name of ["a.html", "link", "none/a.md", "n".repeat(256)]) {
    assertThrows(() => write(name), Error, name);
  }
  assertThrows(() => write("--pdf", "a"), UsageError, "takes --html or --md, and a file");
  assertEquals([...Deno.readDirSync(temp.path)].length, rows.length + 1);
});

Deno.test("/export exports the recorded session", async () => {
  await using fake = await fakeSession("http://127.0.0.1:9");
  const signal = AbortSignal.timeout(10_000);
  const answer = await fake.session.command("export", "--html", signal);
  assertEquals(answer, "There is no recorded message to export here.");
});
