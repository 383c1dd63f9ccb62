import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../../src/agent/agent.ts";
import { localConfig } from "../../../src/config.ts";
import { FolderTrust } from "../../../src/safety/folder_trust.ts";
import { heedInstructions } from "../../../src/extensions/instructions/instructions.ts";
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
  await heedInstructions({ agent, permissions, folderTrust }, {
    trust: true,
    env: () => undefined,
  });
  assertEquals(agent.state.instructions.split("\n").slice(1), [
    ..."first|in a|in b|@a.md|- @docs/none.md|mail me@docs/a.md|@.env|@.git/config".split("|"),
    ..."@../outside.md|@link.md|```|@docs/a.md|```|@/etc/hostname|last".split("|"),
  ]);
});
