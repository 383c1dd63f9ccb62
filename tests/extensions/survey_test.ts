import { assertEquals, assertMatch } from "@std/assert";
import { surveyExtensions } from "../../src/extensions/survey.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

/** A home folder, and the doctor's check of what it and the folder `repo` in it have. */
async function home(body: (put: (name: string, text: string) => void, at: At) => Promise<void>) {
  using temp = tempFolder();
  const root = temp.path;
  const permissions = openPermissions({}, (name) => name === "HOME" ? root : undefined);
  const put = (name: string, text: string) => {
    Deno.mkdirSync(`${root}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${name}`, text);
  };
  put("repo/.git/HEAD", "");
  await body(put, { root, check: () => surveyExtensions(`${root}/repo`, permissions) });
}

interface At {
  root: string;
  check: () => ReturnType<typeof surveyExtensions>;
}

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo.\n`;
const HOOK = '{"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}';

Deno.test("the doctor says what extends a session, what it costs, and what is left out", async () => {
  await home(async (put, { root, check }) => {
    assertEquals(await check(), undefined);
    put(".agents/skills/one/SKILL.md", skill("one"));
    put("repo/.agents/skills/two/SKILL.md", skill("two"));
    put("repo/.agents/commands/fix.md", "Fix it.");
    put("repo/.agents/agents/a.md", "---\ndescription: looks\n---\nLook.\n");
    put("repo/.agents/hooks.json", HOOK);
    const { text, ...others } = (await check())!;
    assertEquals(others, { name: "plugged", status: "ok" });
    assertMatch(
      text,
      /^2 skills \(their list takes about \d+ tokens of each prompt\); 1 command; 1 sub-agent; 1 hook; 4 of them are the folder's, used once you trust or approve them$/,
    );
    put(".agents/skills/bad/SKILL.md", "no description");
    const { status, advice } = (await check())!;
    const path = `${Deno.realPathSync(root)}/.agents/skills/bad/SKILL.md`;
    assertEquals(status, "note");
    assertEquals(
      advice?.replace(root, Deno.realPathSync(root)),
      `Left out:\n${path}: it has no description`,
    );
  });
});

Deno.test("the doctor names a file of hooks that cannot be read, and slips in one", async () => {
  await home(async (put, { root, check }) => {
    const path = `${root}/.config/copilot/hooks.json`;
    put(".config/copilot/hooks.json", '{"PreToolUse": [],}');
    const { text, advice } = (await check())!;
    assertEquals(text, "nothing usable");
    assertMatch(advice!, /line 1, column 19/);
    assertEquals(advice!.includes(path), true);
    put(".config/copilot/hooks.json", HOOK.replace("Stop", "Stopp"));
    assertMatch((await check())!.advice!, /hooks do not run at Stopp$/);
  });
});
