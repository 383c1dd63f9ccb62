import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { localConfig } from "../../../src/config.ts";
import { FolderTrust } from "../../../src/safety/folder_trust.ts";
import { heedInstructions } from "../../../src/extensions/instructions/instructions.ts";
import { instructionLines } from "../../../src/extensions/instructions/instruction_lines.ts";
import type { PermissionChoice } from "../../../src/safety/choice.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

Deno.test("instructions take in files by a line @path, inside of the repository, once, bounded; an override comes first", async () => {
  using temp = tempFolder();
  const base = temp.path;
  const folder = `${base}/repo`;
  const files: Record<string, string> = {
    "../outside.md": "OUTSIDE",
    ".git/config": "GIT",
    ".env": "SECRET",
    "AGENTS.md": "not this one",
    "AGENTS.override.md":
      "first\n@docs/a.md\n- @docs/none.md\nmail me@docs/a.md\n@.env\n@.git/config\n@../outside.md\n@link.md\n```\n@docs/a.md\n```\n@/etc/hostname\nlast",
    "docs/a.md": "in a\n@b.md\n",
    "docs/b.md": "in b\n@a.md",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  await Deno.symlink("../outside.md", `${folder}/link.md`);
  const agent = new CopilotAgent({ local: localConfig({ model: "test" }) }, folder);
  const permissions = openPermissions({}, () => undefined);
  const folderTrust = new FolderTrust(undefined);
  await heedInstructions({ agent, permissions, folderTrust }, { trust: true });
  assertEquals(agent.state.instructions.split("\n").slice(1), [
    ..."first|in a|in b|@a.md|- @docs/none.md|mail me@docs/a.md|@.env|@.git/config".split("|"),
    ..."@../outside.md|@link.md|```|@docs/a.md|```|@/etc/hostname|last".split("|"),
  ]);
});

/** What a session in a folder with `files` reads, with a home folder. */
async function heeded(
  files: Record<string, string>,
  own: Record<string, string> = {},
  choice: PermissionChoice = {},
) {
  using temp = tempFolder();
  const all = Object.entries(files).map(([name, text]) => [`repo/${name}`, text]);
  for (const [name, text] of [...all, ...Object.entries(own), ["repo/.git/HEAD", ""]]) {
    await Deno.mkdir(`${temp.path}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${temp.path}/${name}`, text!);
  }
  const agent = new CopilotAgent({ local: localConfig({ model: "test" }) }, `${temp.path}/repo`);
  const permissions = openPermissions(choice, (name) => name === "HOME" ? temp.path : undefined);
  const found = await heedInstructions(
    { agent, permissions, folderTrust: new FolderTrust(undefined) },
    { trust: true },
  );
  const text = agent.state.instructions.replaceAll(/^Instructions of the project.*\n/gm, "");
  return { text, lines: instructionLines(found, "flags") };
}

Deno.test("instructions take in the files that a sentence names, but no code, address or name", async () => {
  const { text } = await heeded({
    "AGENTS.md":
      "See @README.md, and (@docs/a.md).\nNot `@docs/a.md`, me@docs/a.md, @media or @types/node.",
    "README.md": "the readme",
    "docs/a.md": "in a",
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
    const files = Object.fromEntries(names.slice(i).map((one) => [one, `in ${one}\n`]));
    const { text, lines } = await heeded(files);
    assertEquals([text, lines], [`in ${name}\n`, [`· using ${name} (1 line)`]]);
  }
  const rules = {
    ".cursor/rules/b.mdc":
      "---\ndescription: styles\nglobs: *.css\nalwaysApply: false\n---\nno tabs\n",
    ".cursor/rules/a.mdc": "---\ndescription: all\nalwaysApply: true\n---\nbe brief\n",
    ".cursor/rules/c.mdc": "---\nalwaysApply: false\n---\nby hand\n",
    ".cursor/rules/d.txt": "no rule",
  };
  const cursor = await heeded(rules);
  assertEquals(cursor.text, "be brief\n\nRead .cursor/rules/b.mdc before work on: *.css");
  assertEquals(cursor.lines, [
    "· using .cursor/rules/a.mdc (1 line), .cursor/rules/b.mdc (1 line)",
  ]);
  const both = { ...rules, ".claude/rules/x.md": "from claude\n", "CLAUDE.md": "main\n" };
  assertEquals((await heeded(both)).text, "main\n\nfrom claude\n");
});

Deno.test("the user's instructions are their own, or those that they have for another agent, which a line names", async () => {
  const others = { ".claude/CLAUDE.md": "mine for all\n@more.md\n", ".claude/more.md": "more" };
  const { text, lines } = await heeded({}, others);
  assertEquals(text, "Instructions of the user:\nmine for all\nmore\n");
  assertEquals(lines, ["· using ~/.claude/CLAUDE.md (2 lines)"]);
  const own = await heeded({}, { ...others, ".config/copilot/AGENTS.md": "own" });
  assertEquals([own.text, own.lines], ["Instructions of the user:\nown", []]);
});

Deno.test("a line says how much of a long file fits", async () => {
  const { text, lines } = await heeded({ "AGENTS.md": `${"x".repeat(63)}\n`.repeat(1210) });
  assertEquals(lines, ["· using AGENTS.md (512 of 1210 lines fit)"]);
  assertEquals(text.trimEnd().split("\n").at(-1), "[The rest is left out: 512 of 1210 lines]");
});

Deno.test("instructions do not take in what a rule withholds, and a line names what they take in", async () => {
  const files = {
    "AGENTS.md": "@secret/plan.txt\nSee @docs/a.md.\n@docs/a.md\n",
    "secret/plan.txt": "PLAN",
    "docs/a.md": "in a",
  };
  const { text, lines } = await heeded(files, {}, {
    level: { allow: [], deny: ["read_file(secret/**)"], sandboxWrite: [] },
  });
  assertEquals(text.includes("PLAN"), false, text);
  assertEquals(lines, ["· using AGENTS.md (5 lines, with docs/a.md)"]);
});
