import type { Check } from "../../src/session/data.ts";
import { assertEquals } from "@std/assert";
import { noticeLines } from "../../src/session/notices.ts";
import type { Notice } from "../../src/session/data.ts";

const range = { first: 1, last: 3, total: 9, isExact: false };

/** Notices with parts that vary, and their lines. */
const ROWS: [notice: Notice, ...lines: string[]][] = [
  [
    { code: "settings_unheeded", names: ["a.host", "b\x1b"] },
    "ignored, because only you may set servers and keys: a.host, b␛",
  ],
  [
    {
      code: "project_stricter",
      file: "f",
      modes: { approve: "never", sandbox: "read-only" },
      rules: 0,
    },
    "f tightens permissions: approve: never, sandbox: read-only",
  ],
  [{ code: "project_stricter", file: "f", modes: {}, rules: 1 }, "f tightens permissions: 1 rule"],
  [{ code: "record", why: "so" }, "the session cannot be saved for now: so"],
  [
    { code: "compatible_endpoint" },
    "The server is not Ollama: using its OpenAI-compatible endpoint (--use-compat)",
  ],
  [
    { code: "path_missing", by: "--add-dir", path: "/a", isMade: true },
    "--add-dir names /a, which is behind a link that a command may have made, and has no effect: name the folder that you mean",
  ],
  [
    { code: "sandbox_missing", why: "so" },
    "no sandbox available, so commands are refused: so (--sandbox off allows them)",
  ],
  [
    { code: "sandbox_off" },
    "no sandbox: commands can do everything you can (--sandbox workspace-write)",
  ],
  [
    { code: "sandbox_off", why: "so", isAsked: false },
    "no sandbox: commands can do everything you can, and run without asking (so)",
  ],
  [
    { code: "model_instead", model: "m\n" },
    "model: m (the server's model; --model selects another)",
  ],
  [{ code: "other_model", models: ["a"], asked: "b\n" }, "the server's only model is a, not b"],
  [
    { code: "other_model", models: ["a", "b", "c", "d", "e", "f"], asked: "m" },
    "the server does not list m and may answer with another: a, b, c, d, e, …",
  ],
  [
    { code: "key_unsent", variable: "A", why: "http", to: "http://gpu" },
    'A is not sent over http. If http://gpu needs a key, pass it with --api-key, or put it under "keys" in config.json',
  ],
  [
    { code: "cache_lost", tokens: 17_200 },
    "17.2k tokens were no longer in the server's cache, and had to be read again: copilot doctor checks the cache",
  ],
  [{ code: "attached", files: [] }],
  [
    { code: "attached", files: [{ name: "a", result: "attached" }] },
    "1 file attached",
  ],
  [
    {
      code: "attached",
      files: [{
        name: "a",
        result: "attached",
        about: "an image\n",
        range: { ...range, isExact: true },
      }],
    },
    "1 file attached",
    "a: an image",
    "@a: only its first 3 of 9 lines are attached",
  ],
  [{ code: "extension", kind: "x", lines: ["a\nb", "c"] }, "a b", "c"],
  [
    {
      code: "attached",
      files: [
        { name: "a", result: "attached" },
        { name: "b\x1b", place: "c", result: "attached", range },
        { name: "d", result: "absent" },
        { name: "e", place: "/f", result: "refused", why: "so" },
        { name: "g", result: "unreadable", why: "so" },
      ],
      limit: 5,
    },
    "2 files attached",
    "@b␛ (c) is attached",
    "@b␛ (c): only its first 3 of at least 9 lines are attached",
    "@d is not a file here: only the name is sent",
    "@e (/f) is not attached: so",
    "@g cannot be read: so",
    "only 5 files are attached: the model can read the rest",
  ],
];

for (const [notice, ...lines] of ROWS) {
  Deno.test(`a notice in lines: ${Deno.inspect(notice, { compact: true, breakLength: Infinity })}`, () => {
    assertEquals(noticeLines(notice, "flags"), lines);
  });
}

Deno.test("a notice of a session names what can be done in one", () => {
  const rows: [Notice, string][] = [
    [
      { code: "model_instead", model: "m" },
      "model: m (the server's model; /model selects another)",
    ],
    [
      { code: "key_unsent", variable: "A", why: "http", to: "x" },
      'A is not sent over http. If x needs a key, put it under "keys" in config.json for the next session',
    ],
    [
      {
        code: "server",
        checks: [{ name: "server", status: "fail", text: "No", advice: "Start it" }],
      },
      "No. Start it",
    ],
  ];
  for (const [notice, line] of rows) assertEquals(noticeLines(notice, "editor"), [line]);
});

Deno.test("a greeting names the model once, and says what is known of it", () => {
  const server = { name: "server", status: "ok", text: "answers" } as const;
  const model = { name: "model", status: "ok", text: "m" } as const;
  const context = { name: "context", status: "ok", text: "x", contextLength: 8192 } as const;
  const of = (checks: Check[], instead?: string) =>
    noticeLines({ code: "server", checks, ...instead && { instead } }, "flags");
  assertEquals(of([server, model]), ["m"]);
  assertEquals(of([server, model], "m"), ["m (the server's model; --model selects another)"]);
  assertEquals(of([server, model, context]), ["m · 8192 tokens of context"]);
  assertEquals(of([server, model, context], "m"), [
    "m · 8192 tokens of context (the server's model; --model selects another)",
  ]);
});
