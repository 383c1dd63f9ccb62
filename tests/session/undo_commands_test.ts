/** `/undo` of what commands changed in the folder. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { localConfig } from "../../src/config.ts";
import { undoText } from "../../src/session/commands/undo.ts";
import { UndoLog } from "../../src/session/undo.ts";
import type { Confine } from "../../src/types/confine.ts";
import { digestOf } from "../../src/text/digest.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const ignore = Deno.build.os === "windows";
const confine: Confine = (program, args) => Promise.resolve({ program, args: [...args] });

/** Runs `calls` for one message in a folder that `prepare` made, and `body` with what undoes them. */
async function ran(
  prepare: string,
  calls: (string | { name: string; arguments: Record<string, unknown> })[],
  body: (s: {
    dir: string;
    sh(script: string): Promise<string>;
    say(way: "undo" | "redo"): Promise<string>;
    before: string;
    log: UndoLog;
    agent: CopilotAgent;
  }) => Promise<void>,
): Promise<void> {
  using temp = tempFolder();
  const dir = await Deno.realPath(temp.path);
  const sh = async (script: string) => {
    const env = { HOME: "/nowhere", GIT_CONFIG_NOSYSTEM: "1" };
    const args = ["-ec", script];
    const { success, stdout, stderr } = await new Deno.Command("sh", { args, cwd: dir, env })
      .output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  await sh(prepare);
  const before = await sh(STATE);
  const toolCalls = calls.map((call) =>
    typeof call === "string" ? { name: "run_bash", arguments: { command: call } } : call
  );
  await using server = strictServer([
    ...toolCalls.map((call) => ({ toolCalls: [call] })),
    { text: "done" },
  ]);
  const log = new UndoLog();
  const config = { local: localConfig({ host: server.url, model: "test", maxRetries: 0 }) };
  const agent = new CopilotAgent(config, dir, {
    onWritten: log.onWritten,
    confine: log.following(confine, () => dir),
  });
  log.begin(agent, "message");
  const { toolExecutions } = await processTurn(agent, "message");
  assertEquals(toolExecutions.filter(({ isError }) => isError), []);
  await log.settled;
  const say = async (way: "undo" | "redo") => undoText((await log[way](agent))!);
  await body({ dir, sh, say, before, log, agent });
}

/** Prints the kind, mode, name, target and content of all that the folder has. */
const STATE =
  "find . -path ./.git -prune -o -printf '%y %m %p %l\\n' -type f -exec sha1sum {} + | sort";
const GIT =
  "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm x && sleep 0.02";

Deno.test("a command's new, changed, removed, renamed and chmodded files are undone and redone", {
  ignore,
}, async () => {
  const prepare = `mkdir sub; printf one > changed; printf two > sub/gone; printf three > renamed
    printf four > run.sh; printf five > mode; chmod 755 run.sh; chmod 640 mode
    printf s > 'a\nb'; ln -s changed link; printf 'out\n*.log\n' > .gitignore; printf h > .hidden`;
  const command = `printf 1 > changed; rm -r sub; mv renamed "new name"; rm run.sh; chmod 444 mode
    printf S > 'a\nb'; mkdir -p made/deep; printf n > made/deep/new; printf H > .hidden
    touch empty; rm empty`;
  for (const begin of ["", GIT]) {
    await ran(`${prepare}\n${begin}`, [command], async ({ sh, say, before }) => {
      const after = await sh(STATE);
      assertEquals((await say("undo")).split("\n").sort(), [
        ...["  .hidden: restored", "  a b: restored", "  changed: restored"],
        ...["  made/deep/new: removed", "  mode: restored", "  new name: removed"],
        ...["  renamed: restored", "  run.sh: restored", "  sub/gone: restored"],
        "1 shell command ran; what it changed elsewhere, in ignored files, in .git or in the background stays.",
        'Undid "message". /redo restores it.',
      ]);
      assertEquals(await sh(`rmdir -p made/deep; ${STATE}`), before);
      assertStringIncludes(await say("redo"), "made/deep/new: restored");
      assertEquals(await sh(`rmdir sub; ${STATE}`), after);
    });
  }
});

Deno.test("what the user wrote after a command, ignored files and links are not undone", {
  ignore,
}, async () => {
  const outside = await Deno.makeTempDir();
  await Deno.writeTextFile(`${outside}/theirs`, "theirs");
  const prepare = `printf 1 > mine; printf 1 > swapped; mkdir in; printf 1 > in/file
    echo ignored > .gitignore; printf 1 > ignored; echo a > old; echo b > .rgignore
    printf 1 > b; printf 1 > ruled; head -c 17000000 /dev/zero > large
    printf 1 > linked; ln linked twin; printf 1 > closed; mkdir -p was/deep; printf 1 > was/deep/folder`;
  const command = `printf 2 > linked; rm -r was; printf 2 > was; printf 2 > closed; chmod 0 closed
    printf 2 > mine; rm swapped; ln -s ${outside}/theirs swapped; printf 2 > ignored
    rm -r in; ln -s ${outside} in; rm .rgignore; printf 2 > large; ln -s mine link
    echo ruled >> .gitignore`;
  await ran(prepare, [command], async ({ dir, sh, say }) => {
    await Deno.writeTextFile(`${dir}/mine`, "by hand");
    const report = await say("undo");
    assert(!report.includes("ruled"));
    for (
      const line of [
        "mine was not changed: it has changed since",
        "swapped was not changed: it is no regular file now",
        "large was not changed: its old content was too large to store",
        "link was not changed: it is no regular file now",
        "b was not changed: it is older",
        ".rgignore: restored",
        "was/deep/folder: restored",
        Deno.uid() === 0 ? "closed: restored" : "closed was not changed: it cannot be read now",
      ]
    ) assertStringIncludes(report, `  ${line}`);
    assertMatch(report, / in\/file was not changed: /);
    assertMatch(report, / linked was not changed: .* as it has 2 hard links/);
    assertEquals(await sh("cat mine ignored b"), "by hand21");
    assertEquals(await sh(`cat ${outside}/*; ls ${outside}`), "theirstheirs\n");
  });
  await Deno.remove(outside, { recursive: true });
});

Deno.test("settings of git are not restored into what has become a repository", {
  ignore,
}, async () => {
  const command = "rm er/config; mkdir er/objects er/refs; echo ref: refs/heads/x >er/HEAD";
  await ran("mkdir er; echo evil >er/config", [command], async ({ sh, say }) => {
    assertMatch(
      await say("undo"),
      /er\/config was not changed: it is a part of a repository of git, .*\/er,/,
    );
    assertEquals(await sh("ls er"), "objects\nrefs\n");
  });
});

Deno.test("git has the content of many files, also in a nested repository, and runs no filter", {
  ignore,
}, async () => {
  const prepare = `git init -q nested; seq 1 80 | while read i; do
      printf "old $i" > "f$i"; printf "old $i" > "nested/f$i"; done
    (cd nested; git config filter.evil.clean 'touch ../ran-nested; cat'; ${GIT})
    printf 'crlf\\r\\n' > text; printf rot > spelled
    git init -q .; git config filter.evil.clean "sed s/rot/rotten/"; git config core.autocrlf true
    printf 'spelled filter=evil\\n' > .gitattributes; ${GIT}
    git config filter.evil.clean "touch ran; cat"; git config filter.evil.smudge "touch ran; cat"
    git config core.fsmonitor "touch ran;"; echo '* filter=evil' > .gitattributes; rm -f ran
    printf dirty > f1; printf untracked > new; chmod +x f2`;
  const command =
    "for f in f* nested/f* new text spelled; do echo more > $f; done; rm f3; chmod 600 f4";
  await ran(prepare, [command], async ({ sh, say, before }) => {
    const report = await say("undo");
    assertStringIncludes(report, "text was not changed: its old content is unknown");
    assertStringIncludes(report, "spelled was not changed: its old content is unknown");
    assertStringIncludes(report, "  and 1");
    await sh("printf 'crlf\\r\\n' > text; printf rot > spelled");
    assertEquals(await sh(STATE), before);
  });
});

Deno.test("changes of commands, tools, jobs and the user in one turn are told apart", {
  ignore,
}, async () => {
  const write = (file_path: string, content: string) => ({
    name: "write_file",
    arguments: { file_path, content },
  });
  const calls = [write("tool", "1"), "echo 2 > tool; echo 2 > both", write("new", "1"), "true"];
  calls.push("echo 3 > both; rm new");
  await ran("echo 0 > both; echo 0 > race", calls, async ({ dir, sh, say, before, log }) => {
    const follow = async (isJob: boolean, during: () => Promise<unknown>) => {
      const program = await log.following(confine, () => dir)("true", [], undefined, { isJob });
      await during();
      program.finish?.("");
    };
    await follow(true, () => sh("echo 1 > job"));
    await sh("echo 1 > user");
    const stamp = await digestOf("2\n");
    await follow(false, () => sh("echo 1 > race"));
    // A tool writes before the look after the command.
    Deno.writeTextFileSync(`${dir}/race`, "2\n");
    const bytes = new TextEncoder().encode("1\n");
    log.onWritten({ path: `${dir}/race`, stamp, before: { bytes } });
    const changes = (await log.changes(dir)).map(({ path, isNew }) => [path, isNew]);
    assertEquals(changes, [["tool", true], ["both", false], ["race", false]]);
    assertMatch(await say("undo"), /\n {2}tool: removed\n {2}both: restored\n {2}race: restored\n/);
    assertEquals(await sh(`rm job user; ${STATE}`), before);
  });
});

Deno.test("several messages whose commands and tools changed one file are undone one by one", {
  ignore,
}, async () => {
  await ran("echo 0 > f", ["echo 1 > f"], async ({ dir, sh, say, log, agent }) => {
    log.begin(agent, "second");
    const program = await log.following(confine, () => dir)("true", []);
    await sh("echo 2 > f");
    program.finish?.("");
    await log.settled;
    log.begin(agent, "third");
    const bytes = new TextEncoder().encode("2\n");
    log.onWritten({
      path: `${dir}/f`,
      stamp: await digestOf("3\n"),
      before: { bytes },
    });
    await sh("echo 3 > f");
    for (const text of ["2", "1", "0"]) {
      assertStringIncludes(await say("undo"), "f: restored");
      assertEquals(await sh("cat f"), `${text}\n`);
    }
    for (const text of ["1", "2", "3"]) {
      assertStringIncludes(await say("redo"), "f: changed again");
      assertEquals(await sh("cat f"), `${text}\n`);
    }
  });
});

Deno.test("a folder outside of repositories is followed if it has up to 2000 files", {
  ignore,
}, async () => {
  for (const [entries, isFollowed] of [[2000, true], [2001, false]] as const) {
    const command = "echo 1 > 1; touch a b c";
    await ran(`seq 1 ${entries} | xargs touch`, [command], async ({ sh, say }) => {
      const report = await say("undo");
      assertEquals(report.includes("1: restored"), isFollowed, report);
      assertMatch(report, isFollowed ? /what it changed elsewhere/ : /what it changed stays/);
      assertEquals(await sh("cat 1"), isFollowed ? "" : "1\n");
    });
  }
});

Deno.test(
  "what is too large to store is not removed, and a command's changes are read up to a sum",
  {
    ignore,
  },
  async () => {
    const command = "touch small; truncate -s 300M large; seq 17 | xargs truncate -s 16M";
    await ran("", [command], async ({ sh, say }) => {
      const report = await say("undo");
      for (const line of ["large was not changed: it is too large to store", "small: removed"]) {
        assertStringIncludes(report, `  ${line}`);
      }
      assertEquals(report.match(/too large to store/g)?.length, 2);
      assertEquals(await sh("ls | wc -l"), "2\n");
    });
  },
);
