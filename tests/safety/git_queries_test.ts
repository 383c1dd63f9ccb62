import { assertEquals, assertMatch } from "@std/assert";
import { waitTime } from "../../src/safety/in_place.ts";
import {
  gitNamed,
  gitSettings,
  harmlessSettings,
  indexMayLeadAway,
  rebuiltIndex,
  type ReplacedBytes,
} from "../../src/safety/git_queries.ts";

/** Runs a script in a new folder, and looks at the repository that it made there with git's own eyes. */
async function inRepository(script: string, look: (folder: string) => void): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const { success, stderr } = await new Deno.Command("sh", {
      args: ["-ec", script],
      cwd: folder,
      env: { HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
    }).output();
    assertEquals(success, true, new TextDecoder().decode(stderr));
    look(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const source = (folder: string, time = waitTime()) => ({
  time,
  folder,
  root: "/",
  programs: ["/usr/bin", "/bin"],
  home: folder,
});
const ignore = Deno.build.os === "windows";

Deno.test({
  name: "SBX-05 git's look at an index fetches no objects by what the repository names",
  ignore,
  fn: () =>
    inRepository(
      `git init -q . && git config user.name a && git config user.email b
      mkdir sub keep && echo 1 >sub/f && echo 2 >keep/g && git add . && git commit -qm x
      git sparse-checkout set --cone --sparse-index keep
      tree=$(git rev-parse HEAD:sub)
      rm -f ".git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-)"
      git config core.repositoryformatversion 1
      git config extensions.partialClone origin
      git config remote.origin.promisor true
      git config remote.origin.url "ext::sh -c touch% $PWD/ran"
      git config protocol.ext.allow always`,
      (folder) => {
        indexMayLeadAway(source(folder), `${folder}/.git`);
        assertEquals([...Deno.readDirSync(folder)].some(({ name }) => name === "ran"), false);
      },
    ),
});

Deno.test({
  name: "SEC-02 a hook is an executable file with a name that git knows",
  ignore,
  fn: () =>
    inRepository(
      `git init -q . && mkdir -p .git/remotes/x && cd .git/hooks && rm -f *
      for name in .gitignore README husky.sh pre-push update post-merge.sample Pre-Commit pre-rebase; do
        echo >$name && chmod +x $name
      done
      chmod -x pre-rebase && mkdir post-merge && ln -s pre-push commit-msg && echo >../remotes/one`,
      (folder) => {
        const named = ["Pre-Commit", "commit-msg", "pre-push", "update"].map((at) => `hooks/${at}`);
        const shown = gitNamed(source(folder)).flatMap(({ shown }) => shown ?? []);
        assertEquals(shown, [...named, "remotes/one"]);
        const odd = `${folder}/a\nb`;
        Deno.mkdirSync(odd);
        new Deno.Command("git", { args: ["init", "-q", odd] }).outputSync();
        const [unclear] = gitNamed(source(odd));
        assertEquals(unclear?.shown, "hooks in a folder with a line break");
      },
    ),
});

Deno.test({
  name: "git's answers about settings in a pipe without a writer share a time limit",
  ignore,
  fn: () =>
    inRepository(
      `git init -q . && mkfifo pipe && printf '[include]\\n\\tpath = %s\\n' "$PWD/pipe" >>.git/config`,
      (folder) => {
        const time = { left: 10 };
        const asked = source(folder, time);
        assertEquals([gitSettings(asked), time.left < 0], [undefined, true]);
        const { left } = time;
        assertEquals([gitSettings({ ...asked, folder: "/" }), time.left], [undefined, left]);
        // Positive control.
        assertEquals(gitSettings({ ...source("/"), root: folder }) === undefined, false);
      },
    ),
});

Deno.test({
  name: "R-23 settings are read by git, and a work tree is harmless where it leads back",
  ignore,
  fn: () =>
    inRepository(
      "git init -q --separate-git-dir=c d && git -C c config core.worktree ../d",
      (folder) => {
        const text = Deno.readTextFileSync(`${folder}/c/config`);
        const found = (name: string, programs = ["/usr/bin", "/bin"], given = text) => {
          const how = { own: folder, gitFolder: `${folder}/${name}`, isMade: true };
          return harmlessSettings({ ...source(folder), programs }, given, how).text;
        };
        assertEquals(found("c"), undefined);
        assertEquals(found("e")?.includes("worktree"), false);
        // Without git, nothing is known of them.
        assertEquals(found("c", []), "");
        const rows = [
          "[core]fsmonitor = a\n\tbare = 1 ; x\n",
          "[core]\nfsmonitor=\u00a0true\nbare=1",
        ];
        for (const row of rows) assertEquals(found("c", undefined, row), '[core]\n\tbare = "1"\n');
        assertEquals([...Deno.readDirSync(folder)].length, 2);
      },
    ),
});

Deno.test({
  name: "R-23 an index has the bytes that git writes for its entries",
  ignore,
  fn: () =>
    inRepository(
      `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b
      for f in sha1 sha256; do
        git init -q --object-format=$f $f; mkdir $f/d; touch $f/d/c; ln -s d $f/l; echo 1 >$f/a; git -C $f add .
        cp -r $f $f-done; git -C $f-done commit -qm x
        cp -r $f-done $f-sparse; git -C $f-sparse sparse-checkout set --cone e
        cp -r $f-done $f-cone; git -C $f-cone reset -q --hard; git -C $f-cone sparse-checkout set --cone --sparse-index e
        cp -r $f-done $f-merge; cd $f-merge; git checkout -qb o; echo 2 >a; git commit -qam 2
        git checkout -qb n HEAD~; echo 3 >a; git commit -qam 3; git merge -q o >&2 || :; cd ..
        cp -r $f $f-cut; echo DIRC >$f-cut/.git/index
      done`,
      (folder) => {
        for (const format of ["sha1", "sha256"]) {
          const rebuilt = (name: string) =>
            rebuiltIndex(source(folder), `${folder}/${format}${name}/.git/index`, {
              own: folder,
              format: Deno.readTextFileSync(`${folder}/${format}/.git/config`),
            });
          for (const name of ["-done", "-sparse"]) assertEquals(rebuilt(name), "same", name);
          // Of folders in an index, git would keep none without their objects.
          for (const name of ["-cut", "-none", "-cone"]) {
            assertEquals(rebuilt(name) === undefined, true, format + name);
          }
          // It saves the tree of what is staged, and loses only the times of files with conflicts.
          for (const [name, option] of [["", "--debug"], ["-merge", "-s"]] as const) {
            const at = `${folder}/${format}${name}`;
            const args = ["-C", at, "ls-files", "-s", option];
            const list = () =>
              new TextDecoder().decode(new Deno.Command("git", { args }).outputSync().stdout);
            const before = list();
            Deno.writeFileSync(`${at}/.git/index`, (rebuilt(name) as ReplacedBytes)[0]);
            assertEquals(list(), before);
            assertMatch(before, name ? / 3\ta\n/ : /mtime: [1-9]/);
            assertEquals(rebuilt(name), "same");
            // Its trees are missing in the repository.
            const fsck = new Deno.Command("git", { args: ["-C", at, "fsck"], stderr: "null" });
            assertEquals(fsck.outputSync().success, true);
          }
        }
        assertEquals([...Deno.readDirSync(folder)].length, 12);
      },
    ),
});

Deno.test({
  name: "R-21 no answer of git is longer than this program can read",
  ignore,
  fn: () =>
    inRepository(
      "git init -q . && git config a.b c && (echo '[d]'; yes e | head -600000) >long",
      (folder) => {
        assertEquals(gitSettings(source(folder))?.at(-1)?.name, "a.b");
        const text = Deno.readTextFileSync(`${folder}/long`);
        Deno.writeTextFileSync(`${folder}/.git/config`, text, { append: true });
        assertEquals(gitSettings(source(folder)), undefined);
        // One that fails is not mistaken for a whole one.
        assertEquals(gitSettings(source(`${folder}/none`)), undefined);
      },
    ),
});
