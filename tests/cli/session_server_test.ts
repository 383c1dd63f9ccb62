import { assertEquals } from "@std/assert";
import { serverOfNewest } from "../../src/cli/session_server.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";

const NOBODY = { get: (_: string) => undefined as string | undefined };
const args = (folder: string) => ({ continue: true, "working-dir": folder }) as const;

/** Calls `body` with a folder, whose newest session was with a server of the kind. */
async function afterSession(
  configAt: (url: string) => CopilotConfig,
  body: (folder: string, url: string) => void,
  remembersServers = true,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const before = Deno.env.get("XDG_STATE_HOME");
  Deno.env.set("XDG_STATE_HOME", `${folder}/state`);
  try {
    await using server = strictServer([{ text: "Hello." }]);
    {
      await using fake = await fakeSession(server.url, {
        ...{ folder, isRecorded: true, remembersServers, config: configAt(server.url) },
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
      assertEquals(serverOfNewest(args(folder), NOBODY), {
        flags: { "base-url": `${url}/v1` },
        line: `· with the session's own server, ${url}/v1 (flags such as --local name another)`,
      });
      const said = [
        serverOfNewest({ ...args(folder), local: true }, NOBODY),
        serverOfNewest(args(folder), {
          get: (name) => name === "OPENAI_API_KEY" ? "k" : undefined,
        }),
        serverOfNewest({ ...args(folder), "working-dir": "/" }, NOBODY),
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
  const [name, configAt, flags, remembers] of [
    [
      "a local one",
      (host) => ({ local: localConfig({ ...common, host }) }),
      (url) => ({ local: true, host: url }),
      true,
    ],
    [
      "a hosted one of another address",
      (baseUrl) => ({ hosted: hostedConfig({ ...common, baseUrl }) }),
      (url) => ({ hosted: true, "base-url": url }),
      true,
    ],
    [
      "an address with a password",
      (url) => ({ local: localConfig({ ...common, host: url.replace("//", "//u:p@") }) }),
      () => undefined,
      true,
    ],
    [
      "a server of one run",
      (host) => ({ local: localConfig({ ...common, host }) }),
      () => undefined,
      false,
    ],
  ] as [string, (url: string) => CopilotConfig, (url: string) => unknown, boolean][]
) {
  Deno.test(`the server that a session goes on with: ${name}`, async () => {
    await afterSession(
      configAt,
      (folder, url) => assertEquals(serverOfNewest(args(folder), NOBODY)?.flags, flags(url)),
      remembers,
    );
  });
}
