import { assertEquals } from "@std/assert";
import type { UiKind } from "../../src/session/hint_text.ts";
import type { ResumedSession } from "../../src/session/record.ts";
import { resumedLines } from "../../src/session/resumed_lines.ts";

const RESUMED: ResumedSession = {
  ...{ started: "2026-01-02T03:04:05.678Z", title: "Fix\nit\x1b", messages: 2, lostLines: 0 },
};
const FROM = 'Continuing "Fix it␛": 2 messages, started 2 hours ago';
const used = { before: { model: "a\x1b", server: "x:1" }, now: { model: "b", server: "y:2" } };

const RESUMPTIONS: [change: Partial<ResumedSession>, rows: string[], way?: UiKind][] = [
  [{}, [FROM]],
  [{ messages: 1 }, [FROM.replace("2 messages", "1 message")]],
  [{ lostLines: 1 }, [`${FROM}; 1 line could not be read`]],
  [{ separateId: "0123abcd" }, [
    ...[FROM, "New messages go to the session 0123abcd, as this one is open elsewhere."],
  ]],
  [{ separateId: "0123abcd", isOfPrint: true }, [
    ...[FROM, "New messages go to the session 0123abcd, as this one is of copilot -p."],
  ]],
  [{ lastTyped: "a\nb", lastAnswer: "c\x1b" }, [FROM, "  <> a b>", "  <c␛>"]],
  [{ lastTyped: "a".repeat(200), lastAnswer: "b".repeat(300) }, [
    ...[FROM, `  <> ${"a".repeat(200)}>`, `  <${"b".repeat(300)}>`],
  ]],
  [{ lastTyped: "a".repeat(201), lastAnswer: "b".repeat(301) }, [
    ...[FROM, `  <> ${"a".repeat(199)}…>`, `  <${"b".repeat(299)}…>`],
  ]],
  [{ reading: { tokens: 18_000, seconds: 40 } }, [
    FROM,
    "18.0k tokens have to be read again, about 40 s, unless the server still has them in its cache.",
  ]],
  [{ reading: { tokens: 18_000 } }, [
    ...[FROM, "18.0k tokens have to be read again, unless the server still has them in its cache."],
  ]],
  [{ model: { ...used, isRestored: true } }, [FROM, "Using a␛, as before (/model changes it)."]],
  [{ model: { ...used, isRestored: false } }, [
    ...[FROM, "The session used a␛ at x:1; now it uses b at y:2."],
  ]],
  [{ model: { before: used.before, now: { server: "y:2" }, isRestored: false } }, [
    ...[FROM, "The session used a␛ at x:1; now it uses y:2."],
  ]],
  [{ model: { ...used, before: { ...used.before, server: "y:2" }, isRestored: false } }, [
    FROM,
    "The session used a␛ at y:2; now it uses b at y:2. Switch back with /model a␛.",
  ]],
  // A run of one prompt takes flags.
  [{ model: { ...used, isRestored: true } }, [
    ...[FROM, "Using a␛, as before (--model changes it)."],
  ], "flags"],
  [{ model: { ...used, before: { ...used.before, server: "y:2" }, isRestored: false } }, [
    FROM,
    "The session used a␛ at y:2; now it uses b at y:2. Switch back with --model a␛.",
  ], "flags"],
  [{ model: { ...used, before: { model: "a b", server: "y:2" }, isRestored: false } }, [
    FROM,
    'The session used a b at y:2; now it uses b at y:2. Switch back with --model "a b".',
  ], "flags"],
  ...([
    ["compat", "--base-url"],
    ["local", "--local --host"],
    ["hosted", "--hosted --base-url"],
  ] as const).map(([kind, flags]): [Partial<ResumedSession>, string[]] => {
    const before = { model: "a", server: "x:1", at: { kind, url: "http://x:1/v1" } };
    return [{ model: { ...used, before, isRestored: false } }, [
      FROM,
      "The session used a at x:1; now it uses b at y:2. " +
      `Switch back with /model ${flags} http://x:1/v1 --model a.`,
    ]];
  }),
];
for (const [change, rows, way = "terminal"] of RESUMPTIONS) {
  Deno.test(`what is said of a session that goes on: ${JSON.stringify(change).slice(0, 60)}`, () => {
    const now = Date.parse(RESUMED.started) + 2 * 3_600_000;
    assertEquals(resumedLines({ ...RESUMED, ...change }, way, (text) => `<${text}>`, now), rows);
  });
}

Deno.test("where there is no session to go on with, that is said", () => {
  const none = "There is no earlier session in this folder";
  assertEquals(resumedLines(undefined, "terminal"), [`${none}.`]);
  const starts = "so the conversation starts here";
  assertEquals(resumedLines(undefined, "flags"), [`${none}, ${starts}.`]);
});
