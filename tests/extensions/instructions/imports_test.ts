import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { localConfig } from "../../../src/config.ts";
import { FolderTrust } from "../../../src/safety/folder_trust.ts";
import { loadInstructions } from "../../../src/extensions/instructions/instructions.ts";
import { instructionLines } from "../../../src/extensions/instructions/instruction_lines.ts";
import type { SessionState } from "../../../src/session/extension.ts";
import { placesWith } from "../../helpers/places.ts";

/** What a session in a folder with `files` reads. */
async function heeded(files: Record<string, string>, choice = {}, link?: string) {
  await using at = await placesWith(files);
  if (link !== undefined) await Deno.symlink("../outside.md", `${at.folder}/${link}`);
  const agent = new CopilotAgent({ local: localConfig({ model: "test" }) }, at.folder);
  const permissions = at.permissions(choice);
  const session = { agent, permissions, folderTrust: new FolderTrust(undefined) };
  const found = await loadInstructions(session as SessionState, { trust: true });
  const text = agent.state.instructions.replaceAll(/^Instructions of the project.*\n/gm, "");
  return { text, lines: instructionLines(found, "flags") };
}

Deno.test("instructions take in files by a line @path, inside of the repository, once, bounded; an override comes first", async () => {
  const files = {
    "outside.md": "OUTSIDE",
    "repo/.git/config": "GIT",
    "repo/.env": "SECRET",
    "repo/AGENTS.md": "not this one",
    "repo/AGENTS.override.md":
      "first\n@docs/a.md\n- @docs/none.md\nmail me@docs/a.md\n@.env\n@.git/config\n@../outside.md\n@link.md\n```\n@docs/a.md\n```\n@/etc/hostname\nlast",
    "repo/docs/a.md": "in a\n@b.md\n",
    "repo/docs/b.md": "in b\n@a.md",
  };
  assertEquals((await heeded(files, {}, "link.md")).text.split("\n"), [
    ..."first|in a|in b|@a.md|- @docs/none.md|mail me@docs/a.md|@.env|@.git/config".split("|"),
    ..."@../outside.md|@link.md|```|@docs/a.md|```|@/etc/hostname|last".split("|"),
  ]);
});

Deno.test("instructions take in the files that a sentence names, but no code, address or name", async () => {
  const { text } = await heeded({
    "repo/AGENTS.md":
      "See @README.md, and (@docs/a.md).\nNot `@docs/a.md`, me@docs/a.md, @media or @types/node.",
    "repo/README.md": "the readme",
    "repo/docs/a.md": "in a",
  });
  assertEquals(
    text,
    "See @README.md, and (@docs/a.md).\nREADME.md:\nthe readme\ndocs/a.md:\nin a\n" +
      "Not `@docs/a.md`, me@docs/a.md, @media or @types/node.",
  );
});

Deno.test("of the instruction files of other agents the first is used, with the rules of one of them", async () => {
  const names =
    "AGENTS.override.md AGENTS.md CLAUDE.md .claude/CLAUDE.md GEMINI.md .github/copilot-instructions.md .cursorrules"
      .split(" ");
  for (const [i, name] of names.entries()) {
    const files = Object.fromEntries(names.slice(i).map((one) => [`repo/${one}`, `in ${one}\n`]));
    const { text, lines } = await heeded(files);
    assertEquals([text, lines], [`in ${name}\n`, [`· using ${name} (1 line)`]]);
  }
  const rules = {
    "repo/.cursor/rules/b.mdc":
      "---\ndescription: styles\nglobs: *.css\nalwaysApply: false\n---\nno tabs\n",
    "repo/.cursor/rules/a.mdc": "---\ndescription: all\nalwaysApply: true\n---\nbe brief\n",
    "repo/.cursor/rules/c.mdc": "---\nalwaysApply: false\n---\nby hand\n",
    "repo/.cursor/rules/d.txt": "no rule",
  };
  const cursor = await heeded(rules);
  assertEquals(cursor.text, "be brief\n\nRead .cursor/rules/b.mdc before work on: *.css");
  assertEquals(cursor.lines, [
    "· using .cursor/rules/a.mdc (1 line), .cursor/rules/b.mdc (1 line)",
  ]);
  const both = { ...rules, "repo/.claude/rules/x.md": "from claude\n", "repo/CLAUDE.md": "main\n" };
  assertEquals((await heeded(both)).text, "main\n\nfrom claude\n");
});

Deno.test("the user's instructions are their own, or those that they have for another agent, which a line names", async () => {
  const others = {
    "home/.claude/CLAUDE.md": "mine for all\n@more.md\n",
    "home/.claude/more.md": "more",
  };
  const { text, lines } = await heeded(others);
  assertEquals(text, "Instructions of the user:\nmine for all\nmore\n");
  assertEquals(lines, ["· using ~/.claude/CLAUDE.md (2 lines)"]);
  const own = await heeded({ ...others, "home/.config/copilot/AGENTS.md": "own" });
  assertEquals([own.text, own.lines], ["Instructions of the user:\nown", []]);
});

Deno.test("a line says how much of a long file fits", async () => {
  const { text, lines } = await heeded({ "repo/AGENTS.md": `${"x".repeat(63)}\n`.repeat(1210) });
  assertEquals(lines, ["· using AGENTS.md (512 of 1210 lines fit)"]);
  assertEquals(text.trimEnd().split("\n").at(-1), "[The rest is left out: 512 of 1210 lines]");
});

Deno.test("instructions do not take in what a rule withholds, and a line names what they take in", async () => {
  const files = {
    "repo/AGENTS.md": "@secret/plan.txt\nSee @docs/a.md.\n@docs/a.md\n",
    "repo/secret/plan.txt": "PLAN",
    "repo/docs/a.md": "in a",
  };
  const { text, lines } = await heeded(files, {
    level: { allow: [], deny: ["read_file(secret/**)"], sandboxWrite: [] },
  });
  assertEquals(text.includes("PLAN"), false, text);
  assertEquals(lines, ["· using AGENTS.md (5 lines, with docs/a.md)"]);
});
