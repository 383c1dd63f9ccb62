import { assertEquals, assertMatch } from "@std/assert";
import { AT_X, ignore, repository } from "../helpers/git_repository.ts";

Deno.test({
  name: "R-21 if what commands make cannot be saved, no rule covers what git does with credentials",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside("rm -rf .git/hooks; git remote add origin https://127.0.0.1:9/x");
    at.allow("run_bash(git fetch *)");
    assertMatch(await at.run("git fetch origin"), /^exit code: 128/);
    const state = `${at.base}/home/.local/state/copilot`;
    await Deno.mkdir(`${state}/made_repositories/x`, { recursive: true });
    assertMatch(await at.run("git fetch origin"), /and a command may have made this repository$/);
    await Deno.writeTextFile(`${at.folder}/made.sh`, AT_X);
    assertMatch(await at.run("sh made.sh"), /^exit code: 0/);
    // Its file stays, so that a later run searches for it.
    assertEquals([...Deno.readDirSync(`${state}/writers`)].length, 1);
    await Deno.remove(`${state}/made_repositories`, { recursive: true });
    await Deno.remove(`${state}/made_repositories.lock`);
    await Deno.mkdir(`${state}/made_repositories.lock`);
    assertMatch(await at.run("git fetch origin"), /and a command may have made this repository$/);
    // One that cannot be read may have made anything.
    await Deno.writeTextFile(`${state}/writers/broken`, "{}");
    assertMatch(await at.run("git fetch origin"), /which a running command can write/);
  },
});
