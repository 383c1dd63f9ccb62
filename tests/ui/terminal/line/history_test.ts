import { assertEquals, assertMatch } from "@std/assert";
import { History } from "../../../../src/ui/terminal/line/history.ts";

function historyOf(path: string, folder: string, maxBytes?: number): History {
  const fail = (message: string) => {
    throw new Error(message);
  };
  const history = new History(path, () => folder, fail, maxBytes);
  void history.entries; // The first use reads the file.
  return history;
}

const unix = Deno.build.os !== "windows";

async function temp() {
  const folder = await Deno.makeTempDir();
  return {
    path: `${folder}/state/copilot/history`,
    folder,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const write = (path: string, text: string) => {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
};
const entry = (text: string, folder = "/a") => JSON.stringify({ text, folder });

Deno.test("entries come back, several lines and all, each once", async () => {
  await using dir = await temp();
  const first = historyOf(dir.path, "/a");
  assertEquals(first.entries, []);
  const texts = ["one", "two\nlines", "one", "日本 \u2028 \x1b[A", "  ", "", "日本 \u2028 \x1b[A"];
  for (const text of texts) first.add(text);
  const expected = ["two\nlines", "one", "日本 \u2028 \x1b[A"];
  assertEquals(first.entries, expected);
  assertEquals(historyOf(dir.path, "/a").entries, expected);
  const lines = () => Deno.readTextFileSync(dir.path).split("\n").filter(Boolean).length;
  assertEquals(lines(), 4);
  first.add("日本 \u2028 \x1b[A");
  assertEquals(lines(), 4);
  historyOf(dir.path, "/a").add("日本 \u2028 \x1b[A");
  assertEquals(lines(), 4);
  first.add("one");
  assertEquals(lines(), 5);
  assertEquals(first.entries, ["two\nlines", "日本 \u2028 \x1b[A", "one"]);
});

Deno.test("what was entered in this folder comes last: first to be found", async () => {
  await using dir = await temp();
  const write = (folder: string, ...texts: string[]) => {
    const history = historyOf(dir.path, folder);
    for (const text of texts) history.add(text);
  };
  write("/a", "in a", "both");
  write("/b", "in b", "both", "b again");
  write("/a", "a again");
  assertEquals(historyOf(dir.path, "/a").entries, ["in b", "b again", "in a", "both", "a again"]);
  assertEquals(historyOf(dir.path, "/b").entries, ["in a", "a again", "in b", "both", "b again"]);
  assertEquals(historyOf(dir.path, "/c").entries, ["in a", "in b", "both", "b again", "a again"]);
  historyOf(dir.path, "/c").add("in a");
  assertEquals(historyOf(dir.path, "/c").entries.at(-1), "in a");
});

Deno.test("lines that are torn, or no entries, cost no other", async () => {
  await using dir = await temp();
  const rows: [file: string, entries: string[]][] = [
    ["", []],
    [entry("a"), ["a"]],
    [`${entry("a")}\n${entry("b").slice(0, -1)}`, ["a"]],
    [`${entry("a").slice(3)}\n${entry("b")}\n`, ["b"]],
    [`null\n[]\n7\n{}\n{"text":1,"folder":"/a"}\n{"text":"x"}\n${entry("b")}\n`, ["b"]],
    [`\x00\xff\n${entry("b")}\r\n`, ["b"]],
  ];
  for (const [file, entries] of rows) {
    write(dir.path, file);
    const history = historyOf(dir.path, "/a");
    assertEquals(history.entries, entries, file);
    history.add("new");
    assertEquals(historyOf(dir.path, "/a").entries, [...entries, "new"], file);
  }
});

Deno.test("the file and its folder are for the user alone", { ignore: !unix }, async () => {
  await using dir = await temp();
  historyOf(dir.path, "/a").add("secret");
  const mode = (path: string) => Deno.statSync(path).mode! & 0o777;
  assertEquals(mode(dir.path), 0o600);
  assertEquals(mode(`${dir.folder}/state/copilot`), 0o700);
  for (const [before, after] of [[0o644, 0o600], [0o610, 0o600], [0o400, 0o400]] as const) {
    Deno.chmodSync(dir.path, before);
    historyOf(dir.path, "/a");
    assertEquals(mode(dir.path), after);
  }
});

Deno.test("of a file over its limit the newer half stays, each text once", async () => {
  await using dir = await temp();
  const lines = (texts: string) => [...texts].map((text) => `\n${entry(text)}\n`).join("");
  for (const [texts, kept] of [["abcdefgh", "efgh"], ["abababab", "b"], ["abcaaaaa", "ca"]]) {
    write(dir.path, lines(texts!));
    const { size } = Deno.statSync(dir.path);
    historyOf(dir.path, "/a", size);
    assertEquals(Deno.readTextFileSync(dir.path), lines(texts!));
    assertEquals(historyOf(dir.path, "/a", size - 1).entries.join(""), kept);
    assertEquals(Deno.readTextFileSync(dir.path), lines(kept!));
    assertEquals([...Deno.readDirSync(`${dir.folder}/state/copilot`)].length, 1);
  }
});

Deno.test("R-06 what was pasted of an entry is kept with it", async () => {
  await using dir = await temp();
  const history = historyOf(dir.path, "/a");
  history.add("@a @b", [[3, 5]]);
  history.add("@c");
  const known = () => historyOf(dir.path, "/a").entries;
  const entries = [{ text: "@a @b", pasted: [[3, 5] as const] }, "@c"];
  assertEquals([history.entries, known()], [entries, entries]);
  history.add("@a @b");
  assertEquals([history.entries, known()], [["@c", "@a @b"], ["@c", "@a @b"]]);
  history.add("@a @b", [[0, 5]]);
  assertEquals(known(), ["@c", { text: "@a @b", pasted: [[0, 5]] }]);
  for (const pasted of [true, [1], [[0]], [["0", 1]]]) {
    write(dir.path, JSON.stringify({ text: "@a", folder: "/a", pasted }));
    assertEquals(known(), [{ text: "@a", pasted: [[0, 2]] }]);
  }
});

Deno.test("an entry of more than 64 KiB is for the session alone", async () => {
  await using dir = await temp();
  const history = historyOf(dir.path, "/a");
  const most = 64 * 2 ** 10 - `\n${entry("")}\n`.length;
  const long = ["x".repeat(most), "y".repeat(most + 1)];
  for (const text of long) history.add(text);
  assertEquals(history.entries, long);
  assertEquals(historyOf(dir.path, "/a").entries, long.slice(0, 1));
});

Deno.test("sessions that write at the same time lose nothing", async () => {
  await using dir = await temp();
  const script = `
    import { History } from ${
    JSON.stringify(new URL("../../../../src/ui/terminal/line/history.ts", import.meta.url).href)
  };
    const history = new History(Deno.args[0], () => "/a", console.error);
    for (let i = 0; i < 200; i++) history.add(Deno.args[1] + i + "x".repeat(i * 5));
  `;
  await Promise.all(["a", "b", "c"].map(async (name) => {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--ext=ts", script, dir.path, name],
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
  }));
  assertEquals(historyOf(dir.path, "/a").entries.length, 600);
});

Deno.test({
  name: "a link to a device is no history, and the device's mode stays",
  ignore: !unix,
  async fn() {
    await using dir = await temp();
    // Like /dev/null, without which little works where this fails.
    const path = `${dir.folder}/link`;
    Deno.symlinkSync("/dev/zero", path);
    const before = Deno.statSync(path).mode;
    const history = historyOf(path, "/a");
    assertEquals(history.entries, []);
    try {
      history.add("x".repeat(100_000));
    } catch { /* Not every user may write to it. */ }
    assertEquals([...Deno.readDirSync(dir.folder)].length, 1);
    assertEquals(Deno.statSync(path).mode, before);
  },
});

Deno.test("a history that cannot be read or written is told of once, and kept for the session", async () => {
  await using dir = await temp();
  const added = () => {
    const told: string[] = [];
    const history = new History(dir.path, () => "/a", (message) => told.push(message));
    for (const text of ["one", "two"]) history.add(text);
    assertEquals(history.entries, ["one", "two"]);
    return told.join("\n");
  };
  Deno.writeTextFileSync(`${dir.folder}/state`, "");
  assertMatch(added(), /^· the history cannot be (?:read|saved): .*$/);
  Deno.removeSync(`${dir.folder}/state`);
  Deno.mkdirSync(dir.path, { recursive: true });
  assertMatch(added(), /^· the history cannot be read: .*$/);
});

Deno.test("without a file, texts are kept for the session in all folders", () => {
  let folder = "/a";
  const history = new History(undefined, () => folder, () => {});
  history.add("one");
  folder = "/b";
  assertEquals(history.entries, ["one"]);
});
