import { assertEquals } from "@std/assert";
import { recordsBelow } from "../helpers/records.ts";
import { run } from "../helpers/program.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

Deno.test(
  "own files in the folder that is worked in are refused before they are read, by each verb",
  { ignore: Deno.build.os === "windows" },
  async () => {
    using temp = tempFolder();
    const folder = temp.path;
    await Deno.mkdir(`${folder}/c/.config`, { recursive: true });
    for (const at of [`${folder}/c/copilot`, `${folder}/c/.config/copilot`]) {
      await Deno.mkdir(at);
      const hooks = { SessionStart: [{ hooks: [{ command: "touch ran", sandbox: "off" }] }] };
      await Deno.writeTextFile(`${at}/hooks.json`, JSON.stringify({ hooks }));
      await Deno.writeTextFile(`${at}/config.json`, "not JSON");
    }
    const own = { XDG_CONFIG_HOME: "/nowhere", HOME: "/nowhere" };
    for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) {
      for (const words of [["-p", "hi"], ["acp"], ["doctor"], ["mcp", "list"]]) {
        const env = { ...own, [name]: `${folder}/c` };
        const ran = await run(words, { cwd: folder, env });
        const why =
          `copilot: Cannot use ${name}=${folder}/c as it leads into the folder that is worked in, ${folder}: change it, or work elsewhere\n`;
        assertEquals(ran, { code: 2, stdout: "", stderr: why }, `${name} ${words}`);
      }
    }
  },
);

Deno.test("-p --continue --no-session goes on, and records nothing", async () => {
  const [folder, state] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  try {
    await using server = strictServer([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const ask = (...args: string[]) =>
      run(["--local", "--host", server.url, "-m", "test", "--continue", ...args], {
        cwd: folder,
        env: { XDG_STATE_HOME: state },
      });
    const files = () => recordsBelow(`${state}/copilot/sessions`).length;
    await ask("-p", "one");
    assertEquals(files(), 1);
    const { stderr } = await ask("--no-session", "-p", "two");
    assertEquals(stderr.includes("2 messages"), true, stderr);
    assertEquals((server.requests[1]!.body.messages as unknown[]).length, 4);
    assertEquals(files(), 1);
    await ask("-p", "three");
    assertEquals([(server.requests[2]!.body.messages as unknown[]).length, files()], [4, 1]);
  } finally {
    for (const at of [folder, state]) await Deno.remove(at, { recursive: true });
  }
});

Deno.test("--json-schema prints JSON that matches, and nothing else", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const file = `${folder}/s.json`;
  await Deno.writeTextFile(file, '{"type": "object", "required": ["a"]}');
  const ask = async (answers: string[], ...flags: string[]) => {
    await using server = strictServer(answers.map((text) => ({ text })));
    const at = ["--local", "--host", server.url, "-m", "test"];
    return await run([...at, "--json-schema", file, ...flags, "-p", "x"], { cwd: folder });
  };
  const right = await ask(["No JSON.", '{"a": 1}']);
  assertEquals([right.code, right.stdout], [0, '{"a": 1}\n']);
  assertEquals(right.stderr.includes("(it is not JSON)"), true, right.stderr);
  const wrong = await ask(["1", "{}", "{}"]);
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  const error = "the answer does not match the schema: a is missing";
  assertEquals(wrong.stderr.endsWith(`copilot: ${error}\n`), true, wrong.stderr);
  const asJson = JSON.parse((await ask(["1", "{}", "{}"], "--output", "json")).stdout);
  assertEquals([asJson.error, asJson.exitCode], [error, 1]);
  await Deno.writeTextFile(file, '{"unevaluatedItems": false}');
  const refused = await ask([]);
  assertEquals(refused.code, 2);
  assertEquals(refused.stderr.split("\n").length, 2, refused.stderr);
});
