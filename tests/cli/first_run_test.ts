import { assert, assertEquals } from "@std/assert";
import { run } from "../helpers/program.ts";
import { type StrictServer, strictServer } from "../helpers/strict_server.ts";
import { asksAboutCall, noTmux, type Terminal, terminal } from "../helpers/tmux.ts";

/** The command of a person who has configured nothing but `OLLAMA_HOST`: other ports are the machine's. */
function newPerson({ url }: StrictServer, words = ""): string {
  const unset = ["OPENAI", "ANTHROPIC"].flatMap((name) => [`${name}_API_KEY`, `${name}_BASE_URL`]);
  // A hosted API is behind a proxy that is not there.
  const set = `OLLAMA_HOST=${url} HTTPS_PROXY=http://127.0.0.1:1`;
  const env = `env ${unset.map((name) => `-u ${name}`).join(" ")} ${set}`;
  return `clear; ${env} "$DENO" run -A "$ENTRY" ${words}; echo left: $?\r`;
}

/** Waits for the list with the server's models; one that is slow to answer is looked for again. */
async function untilListed(screen: Terminal, model: string): Promise<string[]> {
  return await screen.until((rows) => rows.some((row) => row.startsWith(`❯ ${model}`)));
}

const ignore = noTmux !== "";
const skipped = noTmux && ` (skipped: ${noTmux})`;

for (const columns of [80, 40]) {
  Deno.test({
    name: `a new person picks a model, at ${columns} columns; the choice is kept${skipped}`,
    ignore,
    async fn() {
      await using server = strictServer([{ text: "Hello." }, { text: "Again." }], {
        models: ["one", "two"],
      });
      // High enough for all rows of the list where this machine's ports have servers with models, too.
      await using screen = await terminal({ columns, rows: 60 });
      await screen.type(newPerson(server, "'hi there'"));
      const rows = await untilListed(screen, "one");
      assertEquals(server.requests, []);
      const row = (label: string) => rows.some((row) => row.startsWith(`  ${label}`));
      assert(row("two") && row("Anthropic") && row("OpenAI") && row("Demo"), rows.join("\n"));
      await screen.type("\x1b[B\r");
      await screen.until((rows) => rows.includes("> hi there") && rows.includes("Hello."));
      const said = (await screen.screen()).join(" ");
      assert(
        /· two at 127\.0\.0\.1:\d+\. +Saved +to +config\.json\. +Run +\/setup/.test(said),
        said,
      );
      assert(/· Shift-Tab switches modes/.test(said), said);
      const config = await Deno.readTextFile(`${screen.folder}/../config/copilot/config.json`);
      assertEquals(JSON.parse(config), { local: true, host: server.url, model: "two" });
      // The same list again, at the current model; Esc leaves all as it was.
      await screen.until((rows) => rows.at(-2) === ">");
      await screen.type("/setup\r");
      await untilListed(screen, "two");
      await screen.type("\x1b");
      await screen.until((rows) => rows.at(-2) === ">");
      await screen.type("/setup\r");
      await untilListed(screen, "two");
      await screen.type("\x1b[A\r");
      await screen.until("Switched to one");
      await screen.type("exit\r");
      await screen.until("left: 0");
      await screen.type(newPerson(server, "again"));
      const later = (await screen.until("Again.")).join(" ");
      assertEquals(/· Shift-Tab switches modes/.test(later), false, later);
      assertEquals(server.requests.map(({ body }) => body.model), ["two", "one"]);
    },
  });
}

Deno.test(`SEC-02 a key is pasted hidden, and Esc at the list ends with a line and 2${skipped}`, {
  ignore,
}, async () => {
  await using server = strictServer([], { models: ["one", "two"] });
  await using screen = await terminal();
  await screen.type(newPerson(server));
  await untilListed(screen, "one");
  {
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    await screen.type("another\r");
    await screen.until("Address:");
    await screen.type(`http://127.0.0.1:${silent.addr.port}\r`);
    await screen.until("looking for model servers");
    await screen.type("\x1b[Zhi there\r");
    await screen.until((rows) => rows.includes("queued: hi there"));
  }
  const asked = await screen.until("What about 127.0.0.1");
  assertEquals(asked.some((row) => row.includes("undefined")), false, asked.join("\n"));
  await screen.type("\x1b");
  await untilListed(screen, "one");
  await screen.type("\x1b");
  const rows = await screen.until("left: 2");
  const said = rows.join("");
  assert(
    /copilot: No model was chosen\. .*copilot --demo for ?a tour without a model/.test(said),
    said,
  );
  await screen.type(newPerson(server));
  await untilListed(screen, "one");
  await screen.type("anthropic\r");
  await screen.until("The key for api.anthropic.com (hidden");
  await screen.type("\x1b[200~sk-very-secret\n\x1b[201~\r");
  await screen.until("❯ Enter another key");
  await screen.type("save\r");
  await screen.until("· Anthropic. Saved to config.json. Run /setup to change it.");
  await screen.until((rows) => rows.at(-1)!.startsWith("claude"));
  await screen.type("\x04");
  await screen.until("left: 0");
  assertEquals((await screen.output()).includes("sk-very"), false);
  const config = await Deno.readTextFile(`${screen.folder}/../config/copilot/config.json`);
  assert(config.includes('"https://api.anthropic.com": "sk-very-secret"'), config);
});

for (const columns of [80, 40]) {
  Deno.test({
    name:
      `the tour: Enter plays a failing test, an edit, a green test and undo, at ${columns} columns${skipped}`,
    ignore,
    async fn() {
      await using screen = await terminal({ columns, rows: 40 });
      await screen.type(`"$DENO" run -A "$ENTRY" --demo --sandbox off; echo left: $?\r`);
      const inLine = (text: string) => screen.until((rows) => rows.at(-2) === `> ${text}`);
      const says = (text: string) =>
        screen.until((rows) => rows.join(" ").replace(/\s+/g, " ").includes(text));
      await inLine("The tests fail. Fix them.");
      await screen.type("\r");
      for (const shown of ["sh cart_test.sh", "cart.sh", "sh cart_test.sh"]) {
        await screen.until((rows) =>
          asksAboutCall(rows) && rows.some((row) => row.includes(shown))
        );
        await screen.type("y");
        await screen.until((rows) => !asksAboutCall(rows));
      }
      await says("press Enter to take the change back");
      await inLine("/undo");
      await screen.type("\r");
      await says("cart.sh: restored");
      await inLine("The tests fail. Fix them.");
      await screen.type("\x15exit\r");
      await screen.until("left: 0");
    },
  });
}

Deno.test("without a terminal, or with -p, nothing is asked: one line says what there is, exit code 2", async () => {
  const env = { OPENAI_API_KEY: "" };
  for (const [words, stdin] of [[["-p", "x"], undefined], [[], "x"], [["x"], "y"]] as const) {
    const { code, stdout, stderr } = await run(words, { env, ...stdin && { stdin } });
    assertEquals([code, stdout], [2, ""]);
    assertEquals(
      /^copilot: No model [^\n]+ set OPENAI_API_KEY[^\n]+\n$/.test(stderr),
      true,
      stderr,
    );
  }
});
