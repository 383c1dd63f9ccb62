import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { runCommand } from "../../src/session/commands/registry.ts";
import type { SessionState } from "../../src/session/extension.ts";
import { undoText } from "../../src/session/commands/undo.ts";
import { MAX_UNDO_BYTES, UndoLog } from "../../src/session/undo.ts";
import { localConfig } from "../../src/config.ts";
import { digestOf } from "../../src/text/digest.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const crlf = new TextEncoder().encode("\ufeffone\r\ntwo\r\n\xff");
const edit = (file_path: string, old_string: string, new_string: string) => ({
  name: "edit_file",
  arguments: { file_path, old_string, new_string },
});
const write = (file_path: string, content: string) => ({
  name: "write_file",
  arguments: { file_path, content },
});

/** A log that says what it did. */
class Log extends UndoLog {
  async say(way: "undo" | "redo", agent: CopilotAgent): Promise<string> {
    const report = await this[way](agent);
    return report ? undoText(report) : `There is nothing to ${way}.`;
  }
}

/** A session in a folder with `a.txt`, whose turns write what the calls of `turns` say. */
async function session(
  turns: object[][],
  body: (s: {
    dir: string;
    agent: CopilotAgent;
    log: Log;
    read(name: string): string;
  }) => Promise<void>,
  prepare?: (dir: string) => Promise<void>,
): Promise<void> {
  using temp = tempFolder();
  const dir = temp.path;
  await Deno.writeFile(`${dir}/a.txt`, crlf);
  await prepare?.(dir);
  await using server = strictServer(
    // deno-lint-ignore no-explicit-any
    turns.flatMap((toolCalls) => [{ toolCalls }, { text: "done" }]) as any,
  );
  const log = new Log();
  const config = { local: localConfig({ host: server.url, model: "test", maxRetries: 0 }) };
  const agent = new CopilotAgent(config, dir, { onWritten: log.onWritten });
  for (const [i] of turns.entries()) {
    log.begin(agent, `message ${i + 1}`);
    await processTurn(agent, `message ${i + 1}`);
  }
  await body({ dir, agent, log, read: (name) => Deno.readTextFileSync(`${dir}/${name}`) });
}

const twoTurns = [
  [edit("a.txt", "one", "ONE"), edit("a.txt", "two", "TWO"), write("sub/new.txt", "new")],
  [edit("a.txt", "ONE", "1"), { name: "run_bash", arguments: { command: "touch by-command" } }],
];

Deno.test("/undo gives files their bytes back, message by message, and /redo the newer ones", async () => {
  await session(twoTurns, async ({ dir, agent, log, read }) => {
    const after = [read("a.txt"), agent.state.messages.length];
    const second = await log.say("undo", agent);
    assertEquals(second.split("\n"), [
      'Undid "message 2". /redo restores it.',
      "  a.txt: restored",
      "1 shell command ran; what it changed stays.",
    ]);
    assertEquals(read("a.txt"), "\ufeffONE\r\nTWO\r\nÿ");
    assertEquals(agent.state.messages.at(-1)!.content, "done");
    assertStringIncludes(await log.say("undo", agent), "sub/new.txt: removed");
    assertEquals(await Deno.readFile(`${dir}/a.txt`), crlf);
    const names = () => [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
    assertEquals(names(), ["a.txt", "by-command"]);
    assertEquals(agent.state.messages, []);
    assertEquals(await log.say("undo", agent), "There is nothing to undo.");
    assertStringIncludes(await log.say("redo", agent), "sub/new.txt: restored");
    assertEquals(read("sub/new.txt"), "new");
    assertStringIncludes(await log.say("redo", agent), "a.txt: changed again");
    assertEquals([read("a.txt"), agent.state.messages.length], after);
    assertEquals(await log.say("redo", agent), "There is nothing to redo.");
    await log.say("undo", agent);
    log.begin(agent, "another");
    assertEquals(await log.say("redo", agent), "There is nothing to redo.");
  });
});

Deno.test("/undo removes the folders that edits created and left empty, and no others", async () => {
  const turns = [[write("own/deep/a", "1"), write("shared/deep/a", "1"), write("was/a", "1")]];
  await session(turns, async ({ dir, agent, log }) => {
    await Deno.writeTextFile(`${dir}/shared/mine`, "2");
    const has = (name: string) => [...Deno.readDirSync(`${dir}/${name}`)].map(({ name }) => name);
    for (let times = 0; times < 2; times++) {
      await log.say("undo", agent);
      assertEquals(has("").sort(), ["a.txt", "shared", "was"]);
      assertEquals([has("shared"), has("was")], [["mine"], []]);
      await log.say("redo", agent);
      assertEquals([has("own/deep"), has("shared/deep"), has("was")], [["a"], ["a"], ["a"]]);
    }
  }, (dir) => Deno.mkdir(`${dir}/was`));
});

Deno.test("/undo takes back as many messages as are said, from one to all", async () => {
  await session(twoTurns, async ({ dir, agent, log }) => {
    const state = { agent, undo: log } as unknown as SessionState;
    const run = (argument: string) =>
      runCommand(state, "undo", argument, new AbortController().signal);
    for (const argument of ["0", "3", "-1", "1.5", "x"]) {
      assertEquals(
        await run(argument),
        "/undo takes a number of messages, at most 2 now",
        argument,
      );
    }
    assertMatch((await run("2") as { text: string }).text, /^Undid 2 messages/);
    assertEquals([await Deno.readFile(`${dir}/a.txt`), agent.state.messages], [crlf, []]);
  });
});

Deno.test("/undo brings no conversation back that was left, but its files", async () => {
  await session(twoTurns, async ({ dir, agent, log, read }) => {
    const state = { agent, undo: log } as unknown as SessionState;
    // Of a message that wrote no file nothing is left to take back.
    log.begin(agent, "only read");
    await runCommand(state, "clear", "", new AbortController().signal);
    assertEquals(log.messages.some(({ text }) => text === "only read"), false);
    const hello = { role: "user", content: "hello" } as const;
    log.begin(agent, hello.content);
    agent.state.messages.push(hello);
    assertEquals(
      await log.say("undo", agent),
      'Undid "hello". No files were changed. /redo restores it.',
    );
    assertEquals(agent.state.messages, []);
    await log.say("redo", agent);
    assertEquals(agent.state.messages, [hello]);
    const stays = "The conversation has changed since, and was not restored.";
    await log.say("undo", agent);
    assertEquals((await log.say("undo", agent)).split("\n").slice(1), ["  a.txt: restored", stays]);
    assertEquals([read("a.txt"), agent.state.messages], ["\ufeffONE\r\nTWO\r\nÿ", []]);
    await log.say("undo", agent);
    assertEquals(await Deno.readFile(`${dir}/a.txt`), crlf);
    assertStringIncludes(await log.say("redo", agent), `restored\n${stays}`);
    assertEquals([read("sub/new.txt"), agent.state.messages], ["new", []]);
  });
});

Deno.test("/undo loses nothing that somebody else wrote since", async () => {
  const cases = [
    (path: string) => Deno.writeTextFile(path, "mine"),
    (path: string) => Deno.remove(path),
    async (path: string) => {
      await Deno.rename(path, `${path}.moved`);
      await Deno.symlink(`${path}.moved`, path);
    },
  ];
  for (const change of cases) {
    await session([twoTurns[0]!], async ({ dir, agent, log, read }) => {
      await change(`${dir}/a.txt`);
      const now = await Deno.readTextFile(`${dir}/a.txt`).catch(() => "gone");
      assertMatch(
        await log.say("undo", agent),
        /a\.txt was not changed: it (has changed since|is no regular file now)/,
      );
      assertEquals(await Deno.readTextFile(`${dir}/a.txt`).catch(() => "gone"), now);
      // The others are taken back all the same.
      assertThrows(() => Deno.lstatSync(`${dir}/sub`), Deno.errors.NotFound);
      assertStringIncludes(await log.say("redo", agent), "sub/new.txt: restored");
      assertEquals(read("sub/new.txt"), "new");
    });
  }
});

Deno.test("/redo leaves a file that /undo could not change as it is", async () => {
  await session([[edit("a.txt", "one", "ONE")]], async ({ dir, agent, log, read }) => {
    const now = read("a.txt");
    await Deno.link(`${dir}/a.txt`, `${dir}/hard`);
    assertMatch(await log.say("undo", agent), /a\.txt was not changed/);
    await Deno.remove(`${dir}/hard`);
    await log.say("redo", agent);
    assertEquals(read("a.txt"), now);
    assertMatch(await log.say("undo", agent), /a\.txt: restored/);
  });
});

Deno.test("/undo that is stopped says how many files it left, and does the rest after /redo", async () => {
  await session([twoTurns[0]!], async ({ dir, agent, log, read }) => {
    const report = await log.undo(agent, 1, AbortSignal.abort());
    assertStringIncludes(undoText(report!), "\nStopped: 2 files are as before");
    const now = read("sub/new.txt");
    await log.redo(agent);
    assertEquals(read("sub/new.txt"), now);
    assertStringIncludes(await log.say("undo", agent), "sub/new.txt: removed");
    assertEquals(await Deno.readFile(`${dir}/a.txt`), crlf);
  });
});

Deno.test("/undo keeps the only copy of a file that it could not restore", async () => {
  const turn = [edit("a.txt", "one", "ONE"), write("g.txt", "one\n")];
  await session([turn], async ({ dir, agent, log, read }) => {
    await Deno.writeTextFile(`${dir}/a.txt`, "mine");
    assertMatch(
      await log.say("undo", agent),
      /g\.txt was not changed: it has the content of a file/,
    );
    assertEquals([read("a.txt"), read("g.txt")], ["mine", "one\n"]);
  }, (dir) => Deno.writeTextFile(`${dir}/a.txt`, "one\n"));
});

Deno.test("/undo stops where somebody else wrote between two messages", async () => {
  await session([[edit("a.txt", "one", "ONE")]], async ({ dir, agent, log, read }) => {
    await Deno.writeTextFile(`${dir}/a.txt`, "theirs");
    log.begin(agent, "next");
    const { writeFile } = await import("../../src/tools/write_file.ts");
    await writeFile({ file_path: "a.txt", content: "ours" }, {
      workingDir: dir,
      maxOutputChars: 1000,
      signal: new AbortController().signal,
      onWritten: log.onWritten,
    });
    assertMatch(await log.say("undo", agent), /a\.txt: restored/);
    assertEquals(read("a.txt"), "theirs");
    assertMatch(await log.say("undo", agent), /a\.txt was not changed: it has changed since/);
    assertEquals(read("a.txt"), "theirs");
  });
});

Deno.test("/redo writes to no place that a link leads to since", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const swaps = [
    async (dir: string) => {
      await Deno.remove(`${dir}/sub`);
      await Deno.symlink("../other", `${dir}/sub`);
    },
    (dir: string) => Deno.symlink("../../other/new.txt", `${dir}/sub/new.txt`),
  ];
  for (const swap of swaps) {
    await session([[write("work/sub/new.txt", "new")]], async ({ dir, agent, log }) => {
      await Deno.mkdir(`${dir}/other`);
      await log.say("undo", agent);
      await Deno.mkdir(`${dir}/work/sub`, { recursive: true });
      await swap(`${dir}/work`);
      assertMatch(
        await log.say("redo", agent),
        /new\.txt was not changed: (it (has changed since|is no regular file now)|.*was replaced meanwhile)/,
      );
      assertEquals([...Deno.readDirSync(`${dir}/other`)], []);
    });
  }
});

Deno.test("/undo removes and reads nothing outside while a job exchanges the folder and a link", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const names = Array.from({ length: 30 }, (_, i) => `k${i}`);
  const writes = names.map((name) => write(`work/d/${name}`, "text"));
  await session([writes], async ({ dir, agent, log }) => {
    await Deno.mkdir(`${dir}/outside`);
    for (const name of names) await Deno.writeTextFile(`${dir}/outside/${name}`, "text");
    await Deno.symlink("../outside", `${dir}/work/l`);
    // renameat2(AT_FDCWD, "d", AT_FDCWD, "l", RENAME_EXCHANGE), at most for a minute
    const number = Deno.build.arch === "aarch64" ? 276 : 316;
    const exchange = `$| = 1; alarm 60; print "begun";
        for (;;) { syscall(${number}, -100, my $d = "d", -100, my $l = "l", 2) }`;
    const job = new Deno.Command("perl", {
      args: ["-e", exchange],
      cwd: `${dir}/work`,
      stdout: "piped",
    }).spawn();
    const reader = job.stdout.getReader();
    await reader.read();
    try {
      await log.say("undo", agent);
    } finally {
      job.kill("SIGKILL");
      await reader.cancel();
      await job.status;
    }
    assertEquals([...Deno.readDirSync(`${dir}/outside`)].length, names.length);
  });
});

Deno.test("/undo says which file was too large to be kept", async () => {
  await session([[]], async ({ dir, agent, log }) => {
    log.begin(agent, "x");
    const path = `${dir}/large`;
    await Deno.writeTextFile(path, "b");
    log.onWritten({ path, stamp: await digestOf("b"), before: {} });
    assertMatch(
      await log.say("undo", agent),
      /large was not changed: its old content was too large to store/,
    );
    assertEquals(await Deno.readTextFile(`${dir}/large`), "b");
  });
});

Deno.test("/undo forgets what the model has seen since, and how the files were then", async () => {
  const read = { name: "read_file", arguments: { file_path: "b.txt" } };
  const turns = [[read], [edit("a.txt", "one", "ONE"), edit("b.txt", "two", "TWO")], [
    edit("a.txt", "ONE", "1"),
  ]];
  const prepare = (dir: string) => Deno.writeTextFile(`${dir}/b.txt`, "two");
  await session(turns, async ({ dir, agent, log }) => {
    const seen = () => [...agent.state.seenFiles.keys()].map((path) => path.slice(dir.length + 1));
    assertEquals(seen().sort(), ["a.txt", "b.txt"]);
    await log.undo(agent);
    // It is as it was then, but under another stamp: the model would be told that it changed.
    assertEquals(seen(), ["b.txt"]);
    await log.undo(agent);
    assertEquals(seen(), []);
    await log.redo(agent);
    assertEquals(seen(), []);
  }, prepare);
});

Deno.test("no more bytes of files are remembered than the bound, but for the newest message", async () => {
  await session([[]], async ({ dir, agent, log }) => {
    const bytes = new Uint8Array(MAX_UNDO_BYTES / 2 + 1);
    for (const text of ["one", "two", "three"]) {
      log.begin(agent, text);
      log.onWritten({ path: `${dir}/${text}`, stamp: "1", before: { bytes } });
    }
    log.begin(agent, "four");
    const texts: string[] = [];
    for (let report; (report = await log.undo(agent));) texts.push(report.text);
    assertEquals(texts, ["four", "three"]);
  });
});

Deno.test("several messages are taken back at once, with one report of their files", async () => {
  const turns = [[write("new.txt", "1")], [edit("new.txt", "1", "2")], [edit("a.txt", "one", "1")]];
  await session(turns, async ({ agent, log, read }) => {
    assertEquals(log.messages, [
      { text: "message 3", files: 1 },
      { text: "message 2", files: 1 },
      { text: "message 1", files: 1 },
    ]);
    assertEquals(await log.undo(agent, 2), {
      way: "undo",
      text: "message 2",
      messages: 2,
      files: [{ path: "a.txt", result: "restored" }, { path: "new.txt", result: "restored" }],
      left: 0,
      hasConversation: true,
      commands: 0,
      isFollowed: false,
    });
    assertEquals(read("new.txt"), "1");
    assertEquals((await log.undo(agent, 5))?.messages, 1);
    assertEquals(agent.state.messages, []);
  });
});
