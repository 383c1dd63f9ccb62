import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { parseArgs } from "../../src/cli/args.ts";
import { setUpEditor } from "../../src/cli/editors.ts";
import { VERSION } from "../../src/config.ts";
import { UsageError } from "../../src/errors.ts";
import { workspace } from "../tools/workspace.ts";

const AGENT = { command: "copilot", args: ["acp"], env: {} };

/** What `copilot setup` with `words` prints, in a home of its own. */
async function setUp(words: string[], home = "/nowhere", more: Record<string, string> = {}) {
  let text = "";
  const args = parseArgs(["setup", ...words]);
  const variables: Record<string, string> = { HOME: home, ...more };
  await setUpEditor(args, { write: (part) => text += part }, (name) => variables[name]);
  return text;
}

Deno.test("setup --editor: the setting of each editor is printed, and nothing is written", async () => {
  assertEquals(JSON.parse(await setUp(["--editor", "zed"])), {
    agent_servers: { copilot: { type: "custom", ...AGENT } },
  });
  assertEquals(JSON.parse(await setUp(["--editor", "jetbrains"])), {
    agent_servers: { copilot: AGENT },
  });
  assertMatch(
    await setUp(["--editor", "neovim"]),
    /commands = \{ default = \{ "copilot", "acp" \}/,
  );
  assertMatch(
    await setUp(["--editor", "emacs"]),
    /:command "copilot"\n\s+:command-params '\("acp"\)/,
  );
  for (const words of [["--editor", "vi"], ["--editor", "constructor"], []]) {
    await assertRejects(() => setUp(words), UsageError);
  }
});

Deno.test("setup --editor --write: a fresh file, then nothing more to add", async () => {
  using ws = workspace();
  const path = `${ws.dir}/.jetbrains/acp.json`;
  const words = ["--editor", "jetbrains", "--write"];
  assertEquals(await setUp(words, ws.dir), `Added to ${path}\n`);
  const written = await Deno.readTextFile(path);
  assertEquals(JSON.parse(written), { agent_servers: { copilot: AGENT } });
  assertEquals(await setUp(words, ws.dir), `${path} has it already: nothing was changed\n`);
  assertEquals(await Deno.readTextFile(path), written);
});

Deno.test("setup --editor --write: other settings stay, and so does what the file first held", async () => {
  using ws = workspace();
  await Deno.mkdir(`${ws.dir}/config/zed`, { recursive: true });
  const path = ws.put("config/zed/settings.json", '{"theme": "One", "agent_servers": {"a": 1}}');
  const at = { XDG_CONFIG_HOME: `${ws.dir}/config` };
  const words = ["--editor", "zed", "--write"];
  // Zed's folder for settings is named by a variable on Linux alone.
  const home = Deno.build.os === "linux" ? ws.dir : undefined;
  if (home === undefined) return;
  await Deno.chmod(path, 0o644);
  assertMatch(await setUp(words, home, at), /before-copilot\n$/);
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o644);
  assertEquals(JSON.parse(await Deno.readTextFile(path)), {
    theme: "One",
    agent_servers: { a: 1, copilot: { type: "custom", ...AGENT } },
  });
  const own = { agent_servers: { copilot: { command: "/opt/copilot" } } };
  await Deno.writeTextFile(path, JSON.stringify(own));
  assertEquals(await setUp(words, home, at), `${path} has it already: nothing was changed\n`);
  await Deno.writeTextFile(path, "{}");
  await setUp(words, home, at);
  const copy = await Deno.readTextFile(`${path}.before-copilot`);
  assertEquals(JSON.parse(copy), { theme: "One", agent_servers: { a: 1 } });
});

Deno.test("setup --editor --write: a file with comments, of another shape, or of code is left alone", async () => {
  using ws = workspace();
  await Deno.mkdir(`${ws.dir}/.jetbrains`);
  for (const text of ['// mine\n{"a": 1}', "[]", '{"a": ']) {
    const path = ws.put(".jetbrains/acp.json", text);
    await assertRejects(() => setUp(["--editor", "jetbrains", "--write"], ws.dir), UsageError);
    assertEquals(await Deno.readTextFile(path), text);
  }
  for (const editor of ["neovim", "emacs"]) {
    await assertRejects(() => setUp(["--editor", editor, "--write"], ws.dir), UsageError, "code");
  }
  await Deno.remove(`${ws.dir}/.jetbrains`, { recursive: true });
  ws.put(".jetbrains", "a file");
  await assertRejects(() => setUp(["--editor", "jetbrains", "--write"], ws.dir), UsageError);
});

Deno.test("setup --editor --write: of a write that fails nothing is lost", async () => {
  using ws = workspace();
  await Deno.mkdir(`${ws.dir}/.jetbrains`);
  const path = ws.put(".jetbrains/acp.json", '{"a":1}');
  const { rename } = Deno;
  Deno.rename = () => Promise.reject(new Error("full"));
  try {
    const error = await assertRejects(() => setUp(["--editor", "jetbrains", "--write"], ws.dir));
    assertEquals([error instanceof UsageError, (error as Error).message], [
      false,
      `Cannot write ${path}: full`,
    ]);
  } finally {
    Deno.rename = rename;
  }
  assertEquals(await Deno.readTextFile(path), '{"a":1}');
});

Deno.test("docs/agent.json, the entry of the public list, names this version", async () => {
  const entry = JSON.parse(
    await Deno.readTextFile(new URL("../../docs/agent.json", import.meta.url)),
  );
  assertEquals(entry.version, VERSION);
  for (const { archive, args } of Object.values(entry.distribution.binary) as typeof entry[]) {
    assertMatch(archive, new RegExp(`/v${VERSION.replaceAll(".", "\\.")}/`));
    assertEquals(args, ["acp"]);
  }
});
