import { assertEquals } from "@std/assert";
import { PathTable } from "../../../src/safety/path_table.ts";
import { definitionIn, loadPromptFiles } from "../../../src/extensions/skills/load.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

Deno.test("commands: a file whose link leads nowhere or out of the folder is left out, and it is said", async () => {
  using temp = tempFolder();
  const path = `${temp.path}/in`;
  await Deno.mkdir(path);
  await Deno.writeTextFile(`${temp.path}/there.md`, "Do it");
  for (const name of ["nothing", "there"]) {
    await Deno.symlink(`${temp.path}/${name}.md`, `${path}/${name}.md`);
  }
  const place = { path, root: path, kind: "command", scope: "folder" } as const;
  assertEquals((await loadPromptFiles([place], new PathTable())).problems, [
    { path: `${path}/nothing.md`, why: "it cannot be read" },
    { path: `${path}/there.md`, why: "it links out of the folder" },
  ]);
});

const head = (...lines: string[]) => `---\n${lines.join("\n")}\n---\nBody\n`;
const does = "description: Does it";

/** What a file says itself, or why it is left out. */
const DEFINITIONS: [
  kind: "skill" | "agent" | "command",
  file: string,
  text: string,
  read: Record<string, unknown> | string,
][] = [
  ["skill", "a/SKILL.md", head(does), {
    ...{ name: "a", description: "Does it", body: "Body", argument: "[TEXT]" },
    ...{ isForModel: true, isForPerson: true },
  }],
  [
    "skill",
    "a/SKILL.md",
    head("name: B", does, "argument-hint: FILE", "disable-model-invocation: yes"),
    {
      ...{ name: "b", description: "Does it", body: "Body", argument: "FILE" },
      ...{ isForModel: false, isForPerson: true },
    },
  ],
  [
    "skill",
    "a/SKILL.md",
    head("name: b c", does, "argument-hint: [A, B]", "user-invocable: false"),
    {
      ...{ name: "a", description: "Does it", body: "Body", argument: "A B" },
      ...{ isForModel: true, isForPerson: false },
    },
  ],
  ["skill", "a/SKILL.md", head("name: 3d-überblick-数据", does), {
    ...{ name: "3d-überblick-数据", description: "Does it", body: "Body", argument: "[TEXT]" },
    ...{ isForModel: true, isForPerson: true },
  }],
  ["skill", "a/SKILL.md", head("name: a"), "it has no description"],
  ["skill", "a b/SKILL.md", head(does), "its name must be letters, digits and hyphens"],
  [
    "skill",
    `${"a".repeat(65)}/SKILL.md`,
    head(does),
    "its name must be letters, digits and hyphens",
  ],
  ["agent", "Look.md", head(does), {
    ...{ name: "look", description: "Does it", body: "Body" },
    ...{ isForModel: true, isForPerson: false },
  }],
  ["command", "git/Commit.MD", "# Commit $1\nall", {
    ...{
      name: "git:commit",
      description: "Commit $1",
      body: "# Commit $1\nall",
      argument: "[TEXT]",
    },
    ...{ isForModel: false, isForPerson: true },
  }],
  ["command", "a.md", head(does), {
    ...{ name: "a", description: "Does it", body: "Body", isForModel: false, isForPerson: true },
  }],
  ["command", "a.md", head("argument-hint: [X]") + "$10 $ARGUMENT", {
    ...{ name: "a", description: "Body", body: "Body\n$10 $ARGUMENT", argument: "X" },
    ...{ isForModel: false, isForPerson: true },
  }],
  ["command", "a.md", "", "it has no text"],
  ["command", "a b.md", "x", "its name must be letters, digits and hyphens"],
  ["command", `${"a".repeat(65)}.md`, "x", "its name must be letters, digits and hyphens"],
  ["command", `${"a".repeat(64)}.md`, "x", {
    ...{ name: "a".repeat(64), description: "x", body: "x", isForModel: false, isForPerson: true },
  }],
];

for (const [kind, file, text, expected] of DEFINITIONS) {
  Deno.test(`${kind} in ${file.slice(0, 30)}: ${JSON.stringify(text).slice(0, 60)}`, () => {
    const read = definitionIn(kind, text, file);
    if (typeof read === "string") return assertEquals(read, expected);
    const { limits: _, ...rest } = read;
    assertEquals(rest, expected as typeof rest);
  });
}

Deno.test("prompt files: descriptions and hints are cut, and an earlier place comes first", async () => {
  const cut = definitionIn(
    "skill",
    head(`description: ${"d".repeat(1025)}`, `argument-hint: ${"h".repeat(41)}`),
    "a/SKILL.md",
  );
  assertEquals(typeof cut === "object" && [cut.description, cut.argument], [
    `${"d".repeat(1023)}…`,
    `${"h".repeat(39)}…`,
  ]);
  using temp = tempFolder();
  const path = temp.path;
  const files: Record<string, string> = {
    "one/b/SKILL.md": head(does),
    "one/deep/2/3/4/a/SKILL.md": head(does),
    "one/deep/2/3/4/5/c/SKILL.md": head(does),
    "one/node_modules/d/SKILL.md": head(does),
    "one/b/below/SKILL.md": head(does),
    "two/b/SKILL.md": head("description: Does another"),
    "two/e/SKILL.md": head(),
    "three/b.md": "command",
    "three/1/2/3/4/f.md": "command",
    "three/1/2/3/4/5/g.md": "command",
    "three/h.txt": "text",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(`${path}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  const place = (name: string, kind: "skill" | "command") =>
    ({ path: `${path}/${name}`, kind, scope: "user" }) as const;
  const { promptFiles, problems } = await loadPromptFiles(
    [
      place("one", "skill"),
      place("two", "skill"),
      place("three", "command"),
      place("none", "skill"),
    ],
    new PathTable(),
  );
  assertEquals(promptFiles.map(({ name, description }) => `${name} ${description}`), [
    ...["1:2:3:4:f command", "a Does it", "b Does it"],
  ]);
  assertEquals(problems, [{ path: `${path}/two/e/SKILL.md`, why: "it has no description" }]);
});
