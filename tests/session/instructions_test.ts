import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { heedInstructions } from "../../src/session/instructions.ts";
import { instructionLines, trustQuestion } from "../../src/frontends/session_lines.ts";
import { openPermissions } from "../../src/session/permissions.ts";
import { localConfig } from "../../src/config.ts";
import { run } from "../helpers/program.ts";
import { sessionCommand } from "../helpers/session.ts";
import { type StrictServer, strictServer } from "../helpers/strict_server.ts";
import { noTmux, terminal } from "../helpers/tmux.ts";

/** A folder with files, in a folder of its own. */
async function folderWith(
  files: Record<string, string>,
  body: (folder: string) => Promise<void>,
): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = `${base}/work/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, text);
    }
    await body(`${base}/work`);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function agentIn(folder: string, contextLength?: number): CopilotAgent {
  return new CopilotAgent({ local: localConfig({ model: "test", contextLength }) }, folder);
}

/** Settings of a person whose home folder is `home`. */
const settingsIn = (home: string) =>
  openPermissions({}, (name) => name === "XDG_CONFIG_HOME" ? home : undefined);

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
    const heeded = await heedInstructions(agent, await settingsIn(folder), { trust: true });
    assertEquals(instructionLines(heeded), [
      "· heeds ../../AGENTS.md (1 line), ../CLAUDE.md (1 line)",
    ]);
    assertEquals(
      agent.systemPrompt,
      `${before}
Instructions of the project, from ../../AGENTS.md:
of the repository
Instructions of the project, from ../CLAUDE.md:
of a`,
    );
  });
});

Deno.test("TRU-01 what a folder brings is asked about once, and kept for the repository", async () => {
  await folderWith({ ".git/HEAD": "", "AGENTS.md": "be brief\n", "sub/x": "" }, async (folder) => {
    const asked: string[] = [];
    for (
      const [answer, heeds] of [[undefined, false], [true, true], [undefined, true]] as const
    ) {
      const agent = agentIn(`${folder}/sub`);
      await heedInstructions(agent, await settingsIn(folder), {
        confirm: (question) => Promise.resolve((asked.push(trustQuestion(question).text), answer)),
      });
      assertEquals(agent.systemPrompt.includes("be brief"), heeds);
    }
    assertEquals(asked.length, 2);
    assertStringIncludes(asked[0]!, "../AGENTS.md (1 line)");
    const permissions = await settingsIn(folder);
    await permissions.trust(folder, false);
    const agent = agentIn(folder);
    const heeded = await heedInstructions(agent, await settingsIn(folder), {});
    assertEquals([instructionLines(heeded), heeded.isHeeded], [[], false]);
    assertEquals(agent.systemPrompt.includes("be brief"), false);
  });
});

Deno.test("PTH-03 instructions that lead out of the repository are not read; nor is what is no file", async () => {
  await folderWith(
    { ".git/HEAD": "", "docs/real.md": "real", "a/x": "", "b/x": "" },
    async (folder) => {
      await Deno.writeTextFile(`${folder}/../canary`, "outside");
      await Deno.symlink("../../canary", `${folder}/a/AGENTS.md`);
      await Deno.symlink("docs/real.md", `${folder}/AGENTS.md`);
      await Deno.symlink("/dev/zero", `${folder}/b/AGENTS.md`);
      const rows = [["a", "AGENTS.md leads"], ["b", "AGENTS.md leads"], [
        "docs",
        "heeds ../AGENTS",
      ]];
      for (const [name, words] of rows) {
        const agent = agentIn(`${folder}/${name}`);
        const said = await heedInstructions(agent, await settingsIn(folder), { trust: true });
        assertStringIncludes(instructionLines(said).join("\n"), words!);
        assertEquals(/outside|\0/.test(agent.systemPrompt), false);
        assertStringIncludes(agent.systemPrompt, "\nreal");
      }
    },
  );
});

Deno.test("SEC-01 instructions that lead to a secret of the repository are not read", async () => {
  await folderWith(
    { ".git/config": "token canary", ".env": "KEY=canary", "a/x": "", "b/x": "" },
    async (folder) => {
      await Deno.symlink("../.env", `${folder}/a/AGENTS.md`);
      await Deno.symlink("../.git/config", `${folder}/b/AGENTS.md`);
      for (const name of ["a", "b"]) {
        const agent = agentIn(`${folder}/${name}`);
        const said = await heedInstructions(agent, await settingsIn(folder), { trust: true });
        assertMatch(
          instructionLines(said).join("\n"),
          /^· AGENTS\.md leads to what is secret, and is not heeded$/m,
        );
        assertEquals(agent.systemPrompt.includes("canary"), false);
      }
    },
  );
});

Deno.test({
  name: "PTH-03 instructions that become a link while they are read are not read through it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await folderWith({ ".git/HEAD": "", "file": "fine" }, async (folder) => {
      await Deno.writeTextFile(`${folder}/../canary`, "outside");
      const swap =
        `cd '${folder}'; echo begun; until [ -e stop ]; do ln -sf ../canary l; mv -T l AGENTS.md; ` +
        "ln -f file f; mv -T f AGENTS.md; done";
      const swapper = new Deno.Command("sh", { args: ["-c", swap], stdout: "piped" }).spawn();
      const reader = swapper.stdout.getReader();
      await reader.read();
      const settings = await settingsIn(folder);
      const promptNow = async () => {
        const agent = agentIn(folder);
        await heedInstructions(agent, settings, { trust: true });
        return agent.systemPrompt;
      };
      try {
        for (const end = performance.now() + 1500; performance.now() < end;) {
          assertEquals((await promptNow()).includes("outside"), false);
        }
      } finally {
        // Killed, it would leave an `mv` running, which swaps once more later.
        await Deno.writeTextFile(`${folder}/stop`, "");
        await reader.cancel();
        await swapper.status;
      }
      await Deno.remove(`${folder}/AGENTS.md`);
      await Deno.writeTextFile(`${folder}/AGENTS.md`, "fine");
      assertStringIncludes(await promptNow(), "fine");
    });
  },
});

Deno.test("long instructions are cut: to 32 KiB, and to what a small context has room for", async () => {
  await folderWith({ "AGENTS.md": `${"word ".repeat(10_000)}end` }, async (folder) => {
    for (const [contextLength, least, most] of [[undefined, 32_000, 36_000], [8192, 3000, 6500]]) {
      const agent = agentIn(folder, contextLength);
      await heedInstructions(agent, await settingsIn(folder), { trust: true });
      const { length } = agent.systemPrompt;
      assertEquals(length > least! && length < most!, true, `${length}`);
    }
  });
});

Deno.test("TRU-04 without a person only what was trusted before is heeded, or what --trust says", async () => {
  await folderWith({ "AGENTS.md": "be brief\n" }, async (folder) => {
    await Deno.mkdir(`${folder}/../config/copilot`, { recursive: true });
    await Deno.writeTextFile(`${folder}/../config/copilot/AGENTS.md`, "mine");
    for (const [flags, heeds] of [[[], false], [["--trust"], true], [["--yes"], false]] as const) {
      await using server = strictServer([{ text: "Well." }]);
      const { code, stderr } = await run(
        ["--local", "--host", server.url, "-m", "test", "-p", "go", ...flags],
        { cwd: folder, env: { XDG_CONFIG_HOME: `${folder}/../config` } },
      );
      assertEquals(code, 0, stderr);
      assertEquals(systemOf(server).includes("be brief"), heeds);
      assertStringIncludes(systemOf(server), "Instructions of the user:\nmine");
      assertMatch(stderr, heeds ? /· heeds AGENTS\.md/ : /· not heeded: AGENTS\.md .*--trust/);
    }
  });
});

Deno.test({
  name: `a session asks, heeds, and can be told otherwise${noTmux && ` (skipped: ${noTmux})`}`,
  ignore: noTmux !== "",
  async fn() {
    const texts = ["One.", "Two.", "Three."];
    await using server = strictServer(texts.map((text) => ({ text })), { models: ["test"] });
    await using screen = await terminal({ columns: 40 });
    const demo = sessionCommand(server).replace(/ --local.*/, " --demo");
    await Deno.writeTextFile(`${screen.folder}/AGENTS.md`, "be brief\n");
    await screen.type(`${sessionCommand(server)}; echo left: $?\r`);
    await screen.until("Heed them?");
    await screen.type("perhaps\r");
    await screen.until("Esc leaves it open");
    await screen.type("\x15y\r");
    for (const [i, heeds] of [true, false, true].entries()) {
      await screen.type(["", "/trust off\r", "/trust\r"][i]!);
      await screen.type("go\r");
      await screen.until(texts[i]!);
      assertEquals(systemOf(server).includes("be brief"), heeds, texts[i]);
    }
    await screen.type("\x04");
    await screen.until("left: 0");
    await screen.type(`clear; ${sessionCommand(server)}; echo left: $?\r`);
    await screen.until("· heeds AGENTS.md (1 line)");
    await screen.type("/permissions\r");
    await screen.until("  heeded   what this folder");
    await screen.type("/trust off\r/permissions\r");
    await screen.until("  ignored  what this folder");
    await screen.type("\x04");
    await screen.until("left: 0");
    await screen.type(`mv config old; clear; ${demo}\r`);
    const rows = await screen.until((rows) => rows.at(-2) === ">");
    assertEquals(rows.filter((row) => /heed/i.test(row)), []);
  },
});

Deno.test("what can not be kept is heeded this time, and said", async () => {
  await folderWith({ "AGENTS.md": "be brief\n" }, async (folder) => {
    const agent = agentIn(folder);
    const said = await heedInstructions(agent, await settingsIn("/dev/null"), {
      confirm: () => Promise.resolve(true),
    });
    assertMatch(
      instructionLines(said).join("\n"),
      /^· that cannot be kept: .+\n· heeds AGENTS\.md/,
    );
    assertStringIncludes(agent.systemPrompt, "be brief");
  });
});

Deno.test("instructions are read up to 32 KiB, and what is left out is said", async () => {
  for (const [size, isCut] of [[32_768, false], [32_769, true]] as const) {
    await folderWith({ "AGENTS.md": "a".repeat(size) }, async (folder) => {
      const agent = agentIn(folder);
      await heedInstructions(agent, await settingsIn(folder), { trust: true });
      const { instructions } = agent.state;
      assertEquals(instructions!.includes("a".repeat(32_768)), true);
      assertEquals(instructions!.includes("[The rest is left out: 32768 bytes are read]"), isCut);
    });
  }
});

Deno.test("of two files in a folder the first counts, empty ones are none, lines are counted", async () => {
  const files = { "AGENTS.md": " \n", "CLAUDE.md": "b", "a/AGENTS.md": "c\nd\n\n", "a/b/x": "" };
  await folderWith({ ".git/HEAD": "", ...files }, async (folder) => {
    const agent = agentIn(`${folder}/a/b`);
    const heeded = await heedInstructions(agent, await settingsIn(folder), { trust: true });
    assertEquals(heeded.files, [{ name: "../AGENTS.md", lines: 2 }]);
    const none = await heedInstructions(agentIn(folder), await settingsIn(folder), {});
    assertEquals([none.files, none.isHeeded], [[], true]);
  });
});

Deno.test("the person's own instructions come first, and need no trust", async () => {
  await folderWith(
    { "AGENTS.md": "theirs", "config/copilot/AGENTS.md": "mine" },
    async (folder) => {
      const agent = agentIn(folder);
      const env = (name: string) => name === "XDG_CONFIG_HOME" ? `${folder}/config` : undefined;
      const settings = await settingsIn(folder);
      const confirm = () => Promise.resolve(false);
      await heedInstructions(agent, settings, { env });
      assertEquals(agent.state.instructions, "Instructions of the user:\nmine");
      await heedInstructions(agent, settings, { env, trust: true, confirm });
      assertEquals(
        agent.state.instructions,
        "Instructions of the user:\nmine\nInstructions of the project, from AGENTS.md:\ntheirs",
      );
    },
  );
});
