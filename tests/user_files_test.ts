import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UsageError } from "../src/errors.ts";
import {
  ignoredSettings,
  readJsonFile,
  replaceUserFile,
  stateFolder,
  userFile,
  userFolder,
} from "../src/user_files.ts";
import { tempFolder } from "./helpers/temp_folder.ts";
import { posixTest as test } from "./helpers/test_unless.ts";

const FOLDERS: [
  env: Record<string, string>,
  settings: string | undefined,
  state: string | undefined,
][] = [
  [{ HOME: "/home/u" }, "/home/u/.config/copilot", "/home/u/.local/state/copilot"],
  [{ HOME: "/home/u", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }, "/c/copilot", "/s/copilot"],
  // A relative path would be in the folder that is worked in.
  [
    { HOME: "/home/u", XDG_CONFIG_HOME: ".config" },
    "/home/u/.config/copilot",
    "/home/u/.local/state/copilot",
  ],
  [{ HOME: "." }, undefined, undefined],
  [{ HOME: "" }, undefined, undefined],
  [{}, undefined, undefined],
];
for (const [env, settings, state] of FOLDERS) {
  test(`TRU-02 the person's folders: ${JSON.stringify(env)}`, () => {
    const read = (name: string) => env[name];
    assertEquals([userFolder(read), stateFolder(read)], [settings, state]);
    assertEquals(userFile("x.json", read), settings && `${settings}/x.json`);
  });
}

Deno.test("a settings file is read, or said to be wrong; that of others is not quoted", async () => {
  const folder = await Deno.makeTempDir();
  const at = (name: string) => `${folder}/${name}`;
  await Deno.writeTextFile(at("good"), '\ufeff{"a": 1}');
  await Deno.writeTextFile(at("list"), "[]");
  await Deno.writeTextFile(at("wrong"), "canary");
  await Deno.writeTextFile(at("large"), " ".repeat(1024 * 1024 + 1));
  await Deno.writeTextFile(at("full"), "{}".padEnd(1024 * 1024));
  assertEquals(readJsonFile(at("full")), {});
  assertEquals(readJsonFile(at("good")), { a: 1 });
  assertEquals(readJsonFile(at("nothing")), undefined);
  assertEquals(readJsonFile(at("good/below")), undefined);
  assertThrows(() => readJsonFile(at("list")), UsageError, "must be a JSON object");
  await Deno.writeTextFile(at("deep"), `${'{"a":'.repeat(60_000)}1${"}".repeat(60_000)}`);
  assertThrows(() => readJsonFile(at("deep")), UsageError, "nested too deeply");
  for (const name of ["large", "."]) {
    assertThrows(() => readJsonFile(at(name)), UsageError, "must be a JSON file");
  }
  const { message } = assertThrows(() => readJsonFile(at("wrong")), UsageError);
  assertEquals(message.includes("canary"), false);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("TRU-02 settings of servers and keys that a folder brings are named, each once", async () => {
  const folder = await Deno.makeTempDir();
  assertEquals(ignoredSettings(folder), []);
  await Deno.writeTextFile(
    `${folder}/.env`,
    "OPENAI_API_KEY=a\n  export OPENAI_API_KEY = b\nhttps_proxy=x\nOTHER=1\n#OLLAMA_HOST=y\n",
  );
  await Deno.mkdir(`${folder}/.copilot`);
  await Deno.writeTextFile(`${folder}/.copilot/config.json`, "no JSON");
  assertEquals(ignoredSettings(folder), [
    ".copilot/config.json",
    "OPENAI_API_KEY in .env",
    "https_proxy in .env",
  ]);
  for (const [size, names] of [[2 ** 20, ["OPENAI_API_KEY in .env"]], [2 ** 20 + 1, []]] as const) {
    await Deno.writeTextFile(`${folder}/.env`, "OPENAI_API_KEY=a\n".padEnd(size));
    assertEquals(ignoredSettings(folder).slice(1), [...names]);
  }
  // Takes no longer than another text.
  await Deno.writeTextFile(`${folder}/.env`, "\n".repeat(2 ** 20));
  assertEquals(ignoredSettings(folder).length, 1);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a settings file that cannot be written: the line names it, and nothing is left beside it", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/config.json`);
  const error = await assertRejects(() => replaceUserFile(`${folder}/config.json`, "{}"), Error);
  assertEquals(error.message.startsWith(`Cannot write ${folder}/config.json: `), true);
  assertEquals(error.message.includes("os error"), false);
  assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["config.json"]);
});

test("a settings file and the folders that it needs are the person's alone", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const path = `${folder}/a/b/config.json`;
  for (const text of ["{}", "[]"]) {
    await replaceUserFile(path, text);
    const modes = ["a", "a/b", "a/b/config.json"].map((name) =>
      Deno.statSync(`${folder}/${name}`).mode! & 0o777
    );
    assertEquals([Deno.readTextFileSync(path), ...modes], [text, 0o700, 0o700, 0o600]);
  }
  assertEquals([...Deno.readDirSync(`${folder}/a/b`)].length, 1);
});
