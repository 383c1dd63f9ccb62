import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseArgs } from "../../src/cli/args.ts";
import { lastLines, serverOfNewest } from "../../src/cli/session_server.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";

const NOBODY = { get: (_: string) => undefined as string | undefined };
const args = (folder: string) => ({ continue: true, "working-dir": folder }) as const;

/** Calls `body` with a folder, whose newest session was with a server of the kind. */
async function afterSession(
  configAt: (url: string) => CopilotConfig,
  body: (folder: string, url: string) => void,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const before = Deno.env.get("XDG_STATE_HOME");
  Deno.env.set("XDG_STATE_HOME", `${folder}/state`);
  try {
    await using server = strictServer([{ text: "Hello." }]);
    {
      await using fake = await fakeSession(server.url, {
        ...{ folder, isRecorded: true, config: configAt(server.url) },
      });
      await fake.session.prompt("hi", new AbortController().signal);
    }
    body(folder, server.url);
  } finally {
    if (before === undefined) Deno.env.delete("XDG_STATE_HOME");
    else Deno.env.set("XDG_STATE_HOME", before);
    await Deno.remove(folder, { recursive: true });
  }
}

const common = { model: "test", apiKey: "sk-secret", maxRetries: 0 };

Deno.test("--continue without a server goes on with the session's own, whose key is not recorded", async () => {
  await afterSession(
    (url) => ({ compat: compatConfig({ ...common, baseUrl: `${url}/v1` }) }),
    (folder, url) => {
      assertEquals(serverOfNewest(args(folder), "flags", NOBODY), {
        flags: { "base-url": `${url}/v1` },
        line: `· with the session's own server, ${url}/v1 (flags such as --local name another)`,
      });
      assertStringIncludes(
        serverOfNewest(args(folder), "terminal", NOBODY)!.line,
        "(/setup or /model names another)",
      );
      const said = [
        serverOfNewest({ ...args(folder), local: true }, "flags", NOBODY),
        serverOfNewest(args(folder), "flags", {
          get: (name) => name === "OPENAI_API_KEY" ? "k" : undefined,
        }),
        serverOfNewest({ ...args(folder), "working-dir": "/" }, "flags", NOBODY),
      ];
      assertEquals(said, [undefined, undefined, undefined]);
      const [home] = Deno.readDirSync(`${folder}/state/copilot/sessions`);
      const below = `${folder}/state/copilot/sessions/${home!.name}`;
      const texts = [...Deno.readDirSync(below)].map(({ name }) =>
        Deno.readTextFileSync(`${below}/${name}`)
      );
      assertEquals(texts.map((text) => [text.includes(url), text.includes("sk-secret")]), [
        [true, false],
      ]);
    },
  );
});

for (
  const [name, configAt, flags] of [
    [
      "a local one",
      (host) => ({ local: localConfig({ ...common, host }) }),
      (url) => ({ local: true, host: url }),
    ],
    [
      "a hosted one of another address",
      (baseUrl) => ({ hosted: hostedConfig({ ...common, baseUrl }) }),
      (url) => ({ hosted: true, "base-url": url }),
    ],
    [
      "an address with a password",
      (url) => ({ local: localConfig({ ...common, host: url.replace("//", "//u:p@") }) }),
      () => undefined,
    ],
  ] as [string, (url: string) => CopilotConfig, (url: string) => unknown][]
) {
  Deno.test(`the server that a session goes on with: ${name}`, async () => {
    await afterSession(
      configAt,
      (folder, url) =>
        assertEquals(serverOfNewest(args(folder), "flags", NOBODY)?.flags, flags(url)),
    );
  });
}

const compat = (baseUrl: string, model = "m") => ({ compat: compatConfig({ baseUrl, model }) });
const local = (host: string, model = "m") => ({ local: localConfig({ host, model }) });
const [a, b] = ["http://a:1/v1", "http://b:1/v1"] as const;
const COURSES: [given: string, start: CopilotConfig, end: CopilotConfig, command: string][] = [
  // Nothing moved: what was given leads there.
  ["", compat(a), compat(a), ""],
  ["--yes --base-url http://a:1/v1", compat(a), compat(a), "--yes --base-url http://a:1/v1"],
  ["", local("http://a:1"), local("http://a:1"), ""],
  // Another model, or another server: no flag of the one before.
  ["--yes -m m", compat(a), compat(a, "n"), "--yes --base-url http://a:1/v1 --model n"],
  ["--local -m x", local("http://l"), compat(b), "--base-url http://b:1/v1 --model m"],
  ["", compat(a), local("http://l"), "--local --host http://l --model m"],
  ["", compat(a), compat("http://u:secret@b:1/v1"), "--base-url http://b:1/v1 --model m"],
  ["", compat(a), {
    hosted: hostedConfig({ apiKey: "k", baseUrl: "https://h", model: "m" }),
  }, "--hosted --base-url https://h --model m"],
];
for (const [given, start, end, flags] of COURSES) {
  const words = given.split(" ").filter((word) => word !== "");
  const url = end.local?.host ?? end.hosted?.baseUrl ?? end.compat!.baseUrl;
  Deno.test(`the way back to ${url} after ${given || "no flags"}`, () => {
    const record = { path: "/r/s.jsonl", folder: Deno.cwd() };
    const course = { given: parseArgs(words), start, end };
    const command = ["copilot", ...flags === "" ? [] : [flags], "--continue"].join(" ");
    assertEquals(lastLines(course, record), [`To continue: ${command}`, "Recorded: /r/s.jsonl"]);
    assertEquals(lastLines(course, undefined), []);
    assertEquals(lastLines({ ...course, given: { demo: true } }, record), [
      "To use a real model: copilot, without --demo",
    ]);
  });
}
