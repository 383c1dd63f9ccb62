import { waitTime } from "../../../src/safety/in_place.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { openGitFolders } from "../../../src/safety/sandbox/git_folders.ts";
import type { View } from "../../../src/safety/view.ts";
import { posixTest as test } from "../../helpers/test_unless.ts";

const MODULE = "../../../src/safety/sandbox/git_folders.ts";
const git = {
  ...{ time: waitTime(), madeSettings: () => undefined, namedIn: () => [] },
  ...{ indexMayLeadAway: () => false, mayApply: () => false },
  own: Deno.realPathSync(Deno.makeTempDirSync()),
};

/** A folder as `git init` makes it, without templates. */
function repository() {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  const git = `${folder}/.git`;
  Deno.mkdirSync(`${git}/objects/info`, { recursive: true });
  for (const name of ["info", "refs"]) Deno.mkdirSync(`${git}/${name}`);
  Deno.writeTextFileSync(`${git}/HEAD`, "ref: refs/heads/main\n");
  Deno.writeTextFileSync(`${git}/config`, "x\n");
  const view: View = {
    folder,
    places: new Map([[folder, "write"]]),
    network: false,
    isComplete: true,
    repositories: [git],
  };
  const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);
  return {
    ...{ folder, git, view },
    all: () => [...names(git), ...names(`${git}/objects/info`)].sort().join(" "),
    [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }),
  };
}

const BEFORE = "HEAD config info objects refs";
const OPEN =
  "HEAD alternates branches commondir config config.worktree hooks info modules objects refs remotes worktrees";

test("R-21 what is made in git's folder stays while any run has a command of git there", async () => {
  using at = repository();
  // A module of its own is as good as another process.
  const other = await import(`${MODULE}?other`) as { openGitFolders: typeof openGitFolders };
  assertEquals(at.all(), BEFORE);
  const one = await openGitFolders(at.view, git);
  const two = await other.openGitFolders(at.view, git);
  assertEquals(at.all(), OPEN);
  assertEquals([...two.view.places], [...one.view.places]);
  // A command that still runs, or a job that holds the lock, keeps nothing from being mended.
  for (const { close } of [one, two]) {
    assertEquals(at.all(), OPEN);
    Deno.symlinkSync("/nowhere", `${at.git}/link`);
    assertEquals(close(), [
      `${at.git}/link, a link to /nowhere, was removed as git would write there`,
    ]);
  }
  assertEquals(at.all(), BEFORE);
});

test("R-21 while a command of git runs, no other one takes its commands for the user's", async () => {
  using at = repository();
  const todo = `${at.git}/rebase-merge/git-rebase-todo`;
  Deno.mkdirSync(`${at.git}/rebase-merge`);
  Deno.writeTextFileSync(todo, "exec user\n");
  const one = await openGitFolders(at.view, git);
  Deno.writeTextFileSync(todo, "exec user\nexec evil\n");
  const two = await openGitFolders(at.view, git);
  const other = await import(`${MODULE}?other`) as { openGitFolders: typeof openGitFolders };
  const three = await other.openGitFolders(at.view, git);
  one.close();
  assertEquals(Deno.readTextFileSync(todo), "exec user\n\n");
  Deno.writeTextFileSync(todo, "exec user\nexec evil\n");
  two.close();
  assertEquals(Deno.readTextFileSync(todo), "exec user\n\n");
  // Another run does not know what was there before.
  Deno.writeTextFileSync(todo, "pick x\nexec evil\n");
  three.close();
  assertEquals(Deno.readTextFileSync(todo), "pick x\n\n");
  Deno.writeTextFileSync(todo, "exec evil\n");
  const last = await openGitFolders(at.view, git);
  last.close();
  assertEquals(Deno.readTextFileSync(todo), "exec evil\n");
});

test("R-21 what a killed run made in git's folder goes with the next command of git, and nothing else", async () => {
  using at = repository();
  const module = fromFileUrl(new URL(MODULE, import.meta.url));
  const { signal } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { openGitFolders } from ${JSON.stringify(module)};
         const view = ${JSON.stringify(at.view)};
         await openGitFolders({ ...view, places: new Map([[view.folder, "write"]]) });
         Deno.kill(Deno.pid, "SIGKILL");`,
    ],
  }).output();
  assertEquals([signal, at.all()], ["SIGKILL", OPEN]);
  Deno.writeTextFileSync(`${at.git}/config.worktree`, "[core]\n");
  (await openGitFolders(at.view, git)).close();
  assertEquals(at.all(), "HEAD config config.worktree info objects refs");
});

test("R-21 what stands for a broken repository stays until the repository is whole", async () => {
  using at = repository();
  const beside = () => [...Deno.readDirSync(at.folder)].map(({ name }) => name).sort();
  const opened = await openGitFolders(at.view, git);
  assertEquals(opened.view.places.get(`${at.folder}/commondir`), "read");
  assertEquals(beside(), [".git", "commondir"]);
  // As a killed run leaves it.
  Deno.writeTextFileSync(`${at.git}/HEAD`, "x\n");
  const next = await openGitFolders(at.view, git);
  assertEquals(next.view.places.has(at.git), false);
  next.close();
  assertEquals(beside(), [".git", "commondir"]);
  opened.close();
  assertEquals([beside(), at.all().replace(/ HEAD[.]untrusted-\w+/, "")], [[".git"], BEFORE]);
  // A file of that name leads git elsewhere.
  Deno.writeTextFileSync(`${at.folder}/commondir`, "other\n");
  assertEquals((await openGitFolders(at.view, git)).view.places.has(at.git), false);
});

test("R-21 nothing is made, changed or removed behind a link that a folder above was replaced by", async () => {
  using at = repository();
  using other = repository();
  const { folder, view } = at;
  Deno.mkdirSync(`${folder}/sub`);
  Deno.renameSync(at.git, `${folder}/sub/.git`);
  Deno.symlinkSync("x", `${other.git}/link`);
  Deno.removeSync(`${other.git}/refs`);
  const before = other.all();
  const opened = await openGitFolders({ ...view, repositories: [`${folder}/sub/.git`] }, git);
  assertEquals(opened.view.places.has(`${folder}/sub/.git`), true);
  Deno.renameSync(`${folder}/sub`, `${folder}/sub2`);
  Deno.symlinkSync(other.folder, `${folder}/sub`);
  assertMatch(opened.close().join(), /could not be looked through/);
  assertEquals(other.all(), before);
  Deno.mkdirSync(`${other.git}/refs`);
  const next = await openGitFolders({ ...view, repositories: [`${folder}/sub/.git`] }, git);
  assertEquals(next.view.places.has(`${folder}/sub/.git`), false);
  assertEquals(other.all(), before.replace("objects", "objects refs"));
  next.close();
  assertEquals([...Deno.readDirSync(other.folder)].map(({ name }) => name), [".git"]);
});
