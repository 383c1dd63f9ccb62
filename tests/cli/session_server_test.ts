import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { UsageError } from "../../src/errors.ts";
import { lastLines, serverOfNewest, withResumed } from "../../src/cli/session_server.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { folderWithState } from "../helpers/temp_folder.ts";

const NOBODY = { get: (_: string) => undefined as string | undefined };
const args = (folder: string) => ({ continue: true, "working-dir": folder }) as const;

/** Calls `body` with a folder, whose newest session was with a server of the kind. */
async function afterSession(
  configAt: (url: string) => CopilotConfig,
  body: (folder: string, url: string) => void,
): Promise<void> {
  using temp = folderWithState();
  const folder = temp.path;
  await using server = strictServer([{ text: "Hello." }]);
  {
    await using fake = await fakeSession(server.url, {
      ...{ folder, isRecorded: true, config: configAt(server.url) },
    });
    await fake.session.prompt("hi", new AbortController().signal);
  }
  body(folder, server.url);
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

Deno.test("--resume takes the session's folder and server, unless flags name another server", async () => {
  await afterSession(
    (url) => ({ compat: compatConfig({ ...common, baseUrl: `${url}/v1` }) }),
    (folder, url) => {
      const [home] = Deno.readDirSync(`${folder}/state/copilot/sessions`);
      const [file] = Deno.readDirSync(`${folder}/state/copilot/sessions/${home!.name}`);
      const { name } = file!;
      const resume = name.slice(-14, -6);
      const ofFile = { resume, local: true, model: "m", given: { resume } } as const;
      const { args: own, line } = withResumed(ofFile, "terminal");
      assertStringIncludes(line!, `with the session's own server, ${url}/v1`);
      assertEquals([own["working-dir"], own["base-url"], own.local, own.model], [
        ...[folder, `${url}/v1`],
        ...[undefined, undefined],
      ]);
      const same = { resume, "base-url": `${url}/v1`, model: "m", given: { resume } };
      const { args: kept, line: none } = withResumed(same, "terminal");
      assertEquals([kept.model, none], ["m", undefined]);
      const given = { resume, local: true } as const;
      const { args: other } = withResumed({ ...given, model: "m", given }, "terminal");
      assertEquals([other["base-url"], other.local, other.resumes?.name], [undefined, true, name]);
      assertThrows(
        () => withResumed({ resume: "0" }, "flags"),
        UsageError,
        `ID 0 is too short: it needs 4 characters. There are: ${resume} "hi". To list all: copilot sessions list --all (with -p: runs of copilot -p)`,
      );
      Deno.renameSync(folder, `${folder}.real`);
      Deno.symlinkSync(`${folder}.real`, folder);
      assertThrows(() => withResumed(same, "flags"), UsageError, "was replaced by a link");
      Deno.removeSync(folder);
      Deno.renameSync(`${folder}.real`, folder);
    },
  );
});

Deno.test("the last line of a session says how to resume it, that of the demo how to use a model", () => {
  const record = { path: "/r/2026-01-01T00-00-00-000Z-0123abcd.jsonl", folder: "/" };
  assertEquals(lastLines({}, record), ["To continue: copilot --resume 0123abcd"]);
  assertEquals(lastLines({}, undefined), []);
  assertEquals(lastLines({ demo: true }, record), ["To use a real model: copilot, without --demo"]);
});
