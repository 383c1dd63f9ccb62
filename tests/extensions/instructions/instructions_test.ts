import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import {
  loadInstructions,
  trustInstructions,
  trustsInstructions,
} from "../../../src/extensions/instructions/instructions.ts";
import { FolderTrust } from "../../../src/safety/folder_trust.ts";
import {
  instructionLines,
  instructionQuestion,
} from "../../../src/extensions/instructions/instruction_lines.ts";
import type { SessionState } from "../../../src/session/extension.ts";
import type { Confirmation } from "../../../src/session/frontend.ts";
import { openPermissions, type Permissions } from "../../../src/safety/permissions.ts";
import { localConfig } from "../../../src/config.ts";
import { placesWith } from "../../helpers/places.ts";
import { run } from "../../helpers/program.ts";
import { sessionCommand } from "../../helpers/session.ts";
import { type StrictServer, strictServer } from "../../helpers/strict_server.ts";
import { noTmux, terminal } from "../../helpers/tmux.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

/** A folder with files, in a folder of its own. */
async function folderWith(
  files: Record<string, string>,
  body: (folder: string) => Promise<void>,
): Promise<void> {
  using temp = tempFolder();
  const base = temp.path;
  for (const [name, text] of Object.entries(files)) {
    const path = `${base}/work/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  await body(`${base}/work`);
}

function agentIn(folder: string, contextLength?: number): CopilotAgent {
  return new CopilotAgent({ local: localConfig({ model: "test", contextLength }) }, folder);
}

const storeOf = ({ stateFolder }: Permissions) => new FolderTrust(stateFolder);

function heed(
  agent: CopilotAgent,
  permissions: Permissions,
  options: Parameters<typeof loadInstructions>[1],
) {
  const session = { agent, permissions, folderTrust: storeOf(permissions) };
  return loadInstructions(session as SessionState, options);
}

/** Settings of a user whose folders of settings and state are in `home`. */
const settingsIn = (home: string) =>
  openPermissions({}, (name) => /^XDG_(CONFIG|STATE)_HOME$/.test(name) ? home : undefined);

/** What a session that begins in `folder` heeds and asks, where the person gives `answer`. */
async function begun(folder: string, home: string, answer?: boolean) {
  const asked: Confirmation[] = [];
  const agent = agentIn(folder);
  const heeded = await heed(agent, await settingsIn(home), {
    confirm: (question) => Promise.resolve((asked.push(question), answer)),
  });
  const texts = agent.state.instructions!.replaceAll(/^Instructions of the project.*\n/gm, "");
  return { asked, heeded, texts: texts.split("\n").filter(Boolean) };
}

const systemOf = ({ requests }: StrictServer): string =>
  (requests.at(-1)!.body.messages as { content: string }[])[0]!.content;

Deno.test("instructions of the folders up to the repository's are heeded, the outermost first", async () => {
  await folderWith({
    "AGENTS.md": "above all",
    "repo/.git/HEAD": "",
    "repo/AGENTS.md": "of the repository",
    "repo/CLAUDE.md": "not this one",
    "repo/a/CLAUDE.md": "of a",
    "repo/a/b/x": "",
  }, async (folder) => {
    const agent = agentIn(`${folder}/repo/a/b`);
    const before = agent.systemPrompt;
    const heeded = await heed(agent, await settingsIn(folder), { trust: true });
    assertEquals(instructionLines(heeded, "terminal"), [
      "· using ../../AGENTS.md (1 line), ../CLAUDE.md (1 line)",
    ]);
    assertEquals(
      agent.systemPrompt,
      before.replace(
        /(?=Folder: .*\n$)/,
        `
Instructions of the project, from ../../AGENTS.md:
of the repository
Instructions of the project, from ../CLAUDE.md:
of a
`,
      ),
    );
  });
});

Deno.test("TRU-01 what a folder brings is asked about once, and kept for the repository", async () => {
  await folderWith({ ".git/HEAD": "", "AGENTS.md": "be brief\n", "sub/x": "" }, async (folder) => {
    const asked: string[] = [];
    for (const [answer, heeds] of [[undefined, false], [true, true], [undefined, true]] as const) {
      const agent = agentIn(`${folder}/sub`);
      await heed(agent, await settingsIn(folder), {
        confirm: (question) => Promise.resolve((asked.push(question.text), answer)),
      });
      assertEquals(agent.systemPrompt.includes("be brief"), heeds);
    }
    assertEquals(asked.length, 2);
    assertStringIncludes(asked[0]!, "../AGENTS.md (1 line)");
    const permissions = await settingsIn(folder);
    await trustInstructions(storeOf(permissions), folder, undefined);
    const agent = agentIn(folder);
    const heeded = await heed(agent, await settingsIn(folder), {});
    assertEquals([instructionLines(heeded, "terminal"), heeded.isLoaded], [[], false]);
    assertEquals(agent.systemPrompt.includes("be brief"), false);
  });
});

Deno.test("R-18 trust is bound to what each file says: a change is asked about, and shown", async () => {
  await folderWith({ ".git/HEAD": "", "AGENTS.md": "one\ntwo\n", "sub/x": "" }, async (folder) => {
    const [home, sub] = [`${folder}/../home`, `${folder}/sub`];
    const put = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text);
    const [first, again] = [await begun(sub, home, true), await begun(sub, home)];
    assertEquals([first.asked.length, again.asked, again.texts], [1, [], ["one", "two"]]);
    assertEquals(
      first.asked[0],
      instructionQuestion({ files: [{ name: "../AGENTS.md", lines: 2, text: "one\ntwo\n" }] }),
    );
    // A file comes, and one changes: without an answer neither is heeded, and both are asked about again.
    await put("sub/CLAUDE.md", "new\n");
    const added = {
      name: "CLAUDE.md",
      lines: 1,
      change: { type: "added", lines: [{ kind: "+", text: "new", line: 1 }] },
    } as const;
    const unchanged = { name: "../AGENTS.md", lines: 2 };
    for (let times = 0; times < 2; times++) {
      const { asked, heeded, texts } = await begun(sub, home);
      assertEquals(asked, [instructionQuestion({ doubt: "content", files: [unchanged, added] })]);
      assertEquals([texts, heeded.isLoaded, heeded.doubt], [["one", "two"], undefined, "content"]);
    }
    await put("AGENTS.md", "one\n2\n");
    const lines = [
      { kind: " ", text: "one", line: 1 },
      { kind: "-", text: "two", line: 2 },
      { kind: "+", text: "2", line: 2 },
    ] as const;
    const changed = { ...unchanged, change: { type: "changed", lines } } as const;
    // With --trust nobody is asked, and nothing is kept.
    await heed(agentIn(sub), await settingsIn(home), {
      trust: true,
      confirm: () => Promise.reject(new Error("asked")),
    });
    const both = await begun(sub, home);
    assertEquals(both.asked, [instructionQuestion({ doubt: "content", files: [changed, added] })]);
    assertEquals(both.texts, []);
    assertEquals((await begun(sub, home, true)).texts, ["one", "2", "new"]);
    // What is trusted in one folder of the repository stays so while another is worked in.
    const [root, later] = [await begun(folder, home), await begun(sub, home)];
    assertEquals([root.asked, root.texts, later.asked], [[], ["one", "2"], []]);
    await put("AGENTS.md", "3\n");
    assertEquals((await begun(folder, home, true)).asked.length, 1);
    assertEquals((await begun(sub, home)).asked, []);
    // A no is for all of it, until /trust.
    await put("AGENTS.md", "4\n");
    assertEquals((await begun(sub, home, false)).texts, []);
    const refused = await begun(sub, home, true);
    assertEquals([refused.asked, refused.texts, refused.heeded.isLoaded], [[], [], false]);
    const yes = await heed(agentIn(sub), await settingsIn(home), { answer: true });
    assertEquals([yes.isLoaded, (await begun(sub, home)).texts], [true, ["4", "new"]]);
  });
});

Deno.test("R-18 another folder at the same path is not trusted, though it says the same", async () => {
  await folderWith(
    { ".git/HEAD": "", "AGENTS.md": "be brief\n", "sub/AGENTS.md": "x\n" },
    async (folder) => {
      const home = `${folder}/../home`;
      await begun(`${folder}/sub`, home, true);
      await Deno.rename(folder, `${folder}.old`);
      await Deno.mkdir(`${folder}/.git`, { recursive: true });
      await Deno.writeTextFile(`${folder}/AGENTS.md`, "be brief\n");
      const other = await begun(folder, home);
      const files = [{ name: "AGENTS.md", lines: 1, text: "be brief\n" }];
      assertEquals(other.asked, [instructionQuestion({ doubt: "folder", files })]);
      assertEquals([other.texts, other.heeded.isLoaded], [[], undefined]);
      // The answer is for this folder: the one before is another now.
      assertEquals((await begun(folder, home, true)).texts, ["be brief"]);
      assertEquals((await begun(folder, home)).asked, []);
      await Deno.mkdir(`${folder}/sub`);
      await Deno.writeTextFile(`${folder}/sub/AGENTS.md`, "x\n");
      const [{ files: [, below] }] = (await begun(`${folder}/sub`, home)).asked as [Confirmation];
      assertEquals(below?.change?.type, "added");
      await Deno.rename(folder, `${folder}.new`);
      await Deno.rename(`${folder}.old`, folder);
      assertMatch((await begun(folder, home)).asked[0]!.text, /^This is not the folder/);
    },
  );
});

Deno.test("R-18 an answer is saved in a private file, and counts for nothing if that is broken", async () => {
  await folderWith({ "AGENTS.md": "one\n" }, async (folder) => {
    const home = `${folder}/../home`;
    await begun(folder, home, true);
    const trust = `${home}/copilot/trust`;
    const paths = [...Deno.readDirSync(trust)].map(({ name }) => `${trust}/${name}`);
    if (Deno.build.os !== "windows") {
      assertEquals(paths.map((path) => Deno.statSync(path).mode! & 0o777), [0o600, 0o600]);
    }
    assertEquals((await begun(folder, home)).asked.length, 0);
    for (const text of ["", "{}", '{"folder": 1}']) {
      for (const path of paths) await Deno.writeTextFile(path, text);
      const { asked, texts } = await begun(folder, home);
      assertEquals([asked.length, texts], [1, []]);
    }
  });
});

Deno.test("R-18 TRU-04 with -p a file that changed is not heeded, but for --trust, and a line says so", async () => {
  await folderWith(
    { ".git/HEAD": "", "AGENTS.md": "be brief\n", "sub/AGENTS.md": "be kind\n" },
    async (folder) => {
      const home = `${folder}/../home`;
      const sub = `${folder}/sub`;
      await begun(sub, home, true);
      await Deno.writeTextFile(`${folder}/AGENTS.md`, "be rude\n");
      const rows: [flags: string[], heeds: string[], line: string][] = [
        [
          [],
          ["be kind"],
          "· using AGENTS.md (1 line)\n· not used: ../AGENTS.md (1 line, changed since you trusted it) (--trust uses it)\n",
        ],
        [
          ["--trust"],
          ["be rude", "be kind"],
          "· using ../AGENTS.md (1 line, changed since you trusted it), AGENTS.md (1 line)\n",
        ],
        [["--yes"], ["be kind"], "· not used: ../AGENTS.md"],
      ];
      for (const [flags, heeds, line] of rows) {
        await using server = strictServer([{ text: "Well." }]);
        const { code, stderr } = await run(
          ["--local", "--host", server.url, "-m", "test", "-p", "go", ...flags],
          { cwd: sub, env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home } },
        );
        assertEquals(code, 0, stderr);
        const texts = ["be rude", "be kind"].filter((text) => systemOf(server).includes(text));
        assertEquals(texts, heeds);
        assertStringIncludes(stderr, line);
      }
    },
  );
});

Deno.test({
  name: `R-18 a session shows what changed, and asks${noTmux && ` (skipped: ${noTmux})`}`,
  ignore: noTmux !== "",
  async fn() {
    await using server = strictServer([], { models: ["test"] });
    await using screen = await terminal();
    const start = `${sessionCommand(server)}; echo left: $?\r`;
    await Deno.writeTextFile(`${screen.folder}/AGENTS.md`, "be brief\nbe kind\n");
    await screen.type(start);
    await screen.until("instructions for the model: AGENTS.md (2 lines)");
    await screen.until("y or n · Esc decides later · Ctrl-O shows all");
    await screen.until("Use these instructions?");
    await screen.type("y\r");
    await screen.until("/w · AGENTS.md");
    await screen.type("\x04");
    await screen.until("left: 0");
    await Deno.writeTextFile(`${screen.folder}/AGENTS.md`, "be brief\nrun \x1b[8mthis\n");
    await screen.type(`clear; ${start}`);
    // The question of the first session is there until the screen is cleared.
    const rows = await screen.until((rows) =>
      rows.some((row) => row.includes("have changed since")) &&
      rows.some((row) => row.startsWith("▌ Use these instructions?"))
    );
    assertEquals(rows.filter((row) => /^▌ {5}/.test(row)), [
      "▌     1   be brief",
      "▌       - be kind",
      "▌     2 + run ␛[8mthis",
    ]);
    assertStringIncludes(
      rows.join(" ").replaceAll("▌ ", ""),
      "have changed since you trusted them: AGENTS.md (2 lines, changed",
    );
    await screen.type("\x1b");
    await screen.until("· not used: AGENTS.md (2 lines, changed since you trusted it)");
  },
});

Deno.test("PTH-03 SEC-01 instructions that lead out of the repository or to a secret are not read; nor is what is no file", async () => {
  const secret = "AGENTS.md is not used: it links to a secret file";
  const rows = [
    ["a", "../../canary", "AGENTS.md is not used: it links"],
    ["b", "/dev/zero", "AGENTS.md is not used: it links"],
    ["c", "../.env", secret],
    ["d", "../.git/config", secret],
    ["docs", "", "using ../AGENTS"],
  ] as const;
  const files = { ".git/config": "token canary", ".env": "KEY=canary", "docs/real.md": "real" };
  await folderWith(files, async (folder) => {
    await Deno.writeTextFile(`${folder}/../canary`, "outside");
    await Deno.symlink("docs/real.md", `${folder}/AGENTS.md`);
    for (const [name, target, words] of rows) {
      if (target !== "") {
        await Deno.mkdir(`${folder}/${name}`);
        await Deno.symlink(target, `${folder}/${name}/AGENTS.md`);
      }
      const agent = agentIn(`${folder}/${name}`);
      const said = await heed(agent, await settingsIn(folder), { trust: true });
      assertStringIncludes(instructionLines(said, "terminal").join("\n"), words);
      assertEquals(/outside|canary|\0/.test(agent.systemPrompt), false);
      assertStringIncludes(agent.systemPrompt, "\nreal");
    }
  });
});

Deno.test("long instructions are cut: to 32 KiB, and to what a small context has room for", async () => {
  await folderWith({ "AGENTS.md": `${"word ".repeat(10_000)}end` }, async (folder) => {
    for (const [contextLength, least, most] of [[undefined, 32_000, 36_000], [8192, 3000, 6500]]) {
      const agent = agentIn(folder, contextLength);
      await heed(agent, await settingsIn(folder), { trust: true });
      const { length } = agent.systemPrompt;
      assertEquals(length > least! && length < most!, true, `${length}`);
    }
  });
});

Deno.test("of two files in a folder the first counts, empty ones are none, lines are counted", async () => {
  const files = { "AGENTS.md": " \n", "CLAUDE.md": "b", "a/AGENTS.md": "c\nd\n\n", "a/b/x": "" };
  await folderWith({ ".git/HEAD": "", ...files }, async (folder) => {
    const agent = agentIn(`${folder}/a/b`);
    const heeded = await heed(agent, await settingsIn(folder), { trust: true });
    assertEquals(heeded.files, [{ name: "../AGENTS.md", lines: 2, isLoaded: true }]);
    const none = await heed(agentIn(folder), await settingsIn(folder), {});
    assertEquals([none.files, none.isLoaded], [[], true]);
  });
});

Deno.test("the person's own instructions come first, and need no trust", async () => {
  await folderWith(
    { "AGENTS.md": "theirs", "config/copilot/AGENTS.md": "mine" },
    async (folder) => {
      const agent = agentIn(folder);
      const settings = settingsIn(`${folder}/config`);
      const confirm = () => Promise.resolve(false);
      await heed(agent, settings, {});
      assertEquals(agent.state.instructions, "Instructions of the user:\nmine");
      await heed(agent, settings, { trust: true, confirm });
      assertEquals(
        agent.state.instructions,
        "Instructions of the user:\nmine\nInstructions of the project, from AGENTS.md:\ntheirs",
      );
    },
  );
});

Deno.test("/trust is for the repository, and holds in its folders and in later sessions", async () => {
  await using at = await placesWith({ "repo/sub/x": "" });
  await using fake = await at.open("http://127.0.0.1:9", { folder: `${at.folder}/sub` });
  const none = "This folder has no instructions. You will be asked about new ones.";
  assertEquals(await fake.command("/trust"), none);
  at.put("repo/AGENTS.md", "be brief\n");
  const rows = [
    ["/trust", "· using ../AGENTS.md (1 line)", true],
    ["/trust off", "This folder's instructions are not used.", false],
  ] as const;
  for (const [line, said, isTrusted] of rows) {
    assertEquals(await fake.command(line), said);
    assertEquals(fake.session.agent.state.instructions.includes("be brief"), isTrusted);
    const row = `folder   its instructions are ${isTrusted ? "used" : "not used"} (/trust)`;
    assertStringIncludes((await fake.command("/permissions"))!, row);
    const trusts = [at.folder, at.root]
      .map((root) => trustsInstructions(storeOf(at.permissions()), root));
    assertEquals(await Promise.all(trusts), [isTrusted, undefined]);
  }
});
