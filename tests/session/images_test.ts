import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { noticeLines } from "../../src/session/notices.ts";
import { storedSessions } from "../helpers/records.ts";
import { checkedImages } from "../../src/session/message.ts";
import type { Part } from "../../src/types/message.ts";
import { gif, png } from "../helpers/images.ts";
import { type Recorded, recordTest } from "../helpers/record_test_case.ts";
import type { Step } from "../helpers/strict_server.ts";

const { signal } = new AbortController();
const call = { name: "read_file", arguments: { file_path: "shot.png" } };
const image = (bytes: Uint8Array, mediaType = "image/png"): Part => (
  { type: "image", mediaType, data: bytes.toBase64() }
);

/** A test of recorded sessions in a folder with an image. */
const imageTest = (
  name: string,
  steps: Step[],
  body: (recorded: Recorded) => Promise<void>,
  sees = true,
) =>
  recordTest(name, steps, async (recorded) => {
    Deno.writeFileSync(`${recorded.folder}/shot.png`, png(640, 480));
    await body(recorded);
  }, sees);

const BACKENDS: Record<string, (url: string) => CopilotConfig> = {
  compat: (url) => ({ compat: compatConfig({ baseUrl: `${url}/v1`, model: "test", apiKey: "k" }) }),
  local: (url) => ({ local: localConfig({ host: url, model: "test" }) }),
  hosted: (url) => ({ hosted: hostedConfig({ baseUrl: url, model: "test", apiKey: "k" }) }),
};

for (const [kind, configOf] of Object.entries(BACKENDS)) {
  imageTest(
    `an image goes to the ${kind} backend with a message and from read_file, and comes back from the record`,
    [{ text: "A picture." }, { toolCalls: [call] }, { text: "The same." }, { text: "On." }],
    async ({ folder, server, open }) => {
      const config = configOf(server.url);
      const data = png(640, 480).toBase64();
      {
        await using fake = await open({ config });
        await fake.session.prompt("what is in @shot.png?", signal);
        if (kind !== "local") fake.session.agent.seesImages = true;
        await fake.session.prompt("read it again", signal);
        const told = fake.events.flatMap((event) =>
          event.type === "session_notice" ? noticeLines(event.notice, "terminal") : []
        );
        assert(told.includes("shot.png: PNG, 640x480, 29 bytes"), told.join("\n"));
      }
      const { requests } = server;
      assertEquals(requests.map(({ problem }) => problem), [undefined, undefined, undefined]);
      const times = (text: string) => text.split(data).length - 1;
      assertEquals(requests.map(({ text }) => times(text)), [1, 1, 2]);
      // What was sent before is the beginning of what is sent later.
      const messages = requests.map(({ body }) => JSON.stringify(body.messages).slice(0, -1));
      assert(messages[2]!.startsWith(messages[1]!));
      const root = `${folder}/state/copilot/sessions`;
      const [stored] = storedSessions(root, folder);
      assertEquals(times(Deno.readTextFileSync(stored!.path)), 2);
      await using fake = await open({ config, resumesNewest: true });
      await fake.session.prompt("go on", signal);
      assertEquals(times(requests[3]!.text), 2);
      const again = JSON.stringify(requests[3]!.body.messages).slice(0, -1);
      assert(again.startsWith(messages[2]!), "the record gives the same bytes");
    },
  );
}

imageTest(
  "an image for a model that does not see is refused before anything is sent",
  [{ text: "Hello." }, { text: "Hi." }],
  async ({ server, open }) => {
    await using fake = await open();
    const refused = () => fake.session.prompt("see @shot.png", signal);
    await assertRejects(refused, TypeError, "test does not accept images, and nothing was sent");
    assertEquals(server.requests.length, 0);
    assertEquals(fake.session.agent.state.messages, []);
    // An image from before, with another model, is a line for this one.
    const { agent } = fake.session;
    agent.seesImages = true;
    await fake.session.prompt("see @shot.png", signal);
    agent.seesImages = false;
    await fake.session.prompt("and now?", signal);
    assertStringIncludes(server.requests[1]!.text, "[an image, shot.png: not shown]");
    assertEquals(server.requests[1]!.text.includes(png(640, 480).toBase64()), false);
  },
  false,
);

Deno.test("an editor's image is what its bytes say, or refused in one line", () => {
  const [part] = checkedImages([image(gif(3, 4), "image/png")], "hosted");
  assertEquals(part?.type === "image" && part.mediaType, "image/gif");
  const text = image(new TextEncoder().encode("<html>"), "image/png");
  assertThrows(
    () => checkedImages([text], "compat"),
    TypeError,
    "not a PNG, JPEG, WebP or GIF",
  );
  const broken: Part = { type: "image", mediaType: "image/png", data: "??" };
  assertThrows(() => checkedImages([broken], "local"), TypeError, "an image");
  const wide = image(png(8001, 10));
  assertThrows(() => checkedImages([wide], "hosted"), RangeError, "8001x10 pixels");
  assertEquals(checkedImages([wide], "local").length, 1);
});
