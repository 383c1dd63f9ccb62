import { assertEquals } from "@std/assert";
import { PathTable } from "../../../src/permissions/path_table.ts";
import { loadPromptFiles } from "../../../src/session/prompt_files/load.ts";

/** Names that the reference of the open standard takes, beside plain ones. */
const NAMES = ["pdf", "3d-model", "überblick", "数据-分析"];

for (const name of NAMES) {
  Deno.test(`skills: ${name} is a name`, async () => {
    const path = await Deno.makeTempDir();
    try {
      await Deno.mkdir(`${path}/${name}`);
      const text = `---\nname: ${name}\ndescription: Does it\n---\nBody\n`;
      await Deno.writeTextFile(`${path}/${name}/SKILL.md`, text);
      const place = { path, kind: "skill", scope: "user" } as const;
      const { promptFiles, problems } = loadPromptFiles([place], new PathTable());
      assertEquals([promptFiles.map((one) => one.name), problems], [[name], []]);
    } finally {
      await Deno.remove(path, { recursive: true });
    }
  });
}
