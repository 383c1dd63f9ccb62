import { assertEquals } from "@std/assert";
import { waitTime } from "../../src/safety/in_place.ts";
import {
  gitNamed,
  gitSettings,
  harmlessText,
  indexMayLeadAway,
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
  name:
    "R-23 equal settings and indexes of repositories that commands made cost no further program",
  ignore,
  fn: () =>
    inRepository(
      "git init -q a && touch a/f && git -C a add f && cp -r a b && git init -q --separate-git-dir=c d && git -C d config core.worktree ../d",
      (folder) => {
        const found = (name: string, programs: string[]) => {
          const at = `${folder}/${name}`;
          const asked = { ...source(folder), programs };
          const text = Deno.readTextFileSync(`${at}/config`);
          const how = { own: folder, gitFolder: at, isMade: true };
          return [
            harmlessText(asked, text, how),
            indexMayLeadAway(asked, at, { own: folder, text }),
          ];
        };
        // Without git, nothing is known of them.
        assertEquals(found("b/.git", []), ["", true]);
        assertEquals(found("a/.git", ["/usr/bin", "/bin"]), [undefined, false]);
        assertEquals(found("b/.git", []), [undefined, false]);
        Deno.writeTextFileSync(`${folder}/b/.git/config`, "[core]\n");
        assertEquals(found("b/.git", []), ["", true]);
        // What follows from an answer is not remembered.
        assertEquals(found("c", ["/usr/bin", "/bin"])[0], undefined);
        Deno.renameSync(`${folder}/d`, `${folder}/e`);
        assertEquals(`${found("c", [])[0]}`.includes("worktree"), false);
        assertEquals([...Deno.readDirSync(folder)].length, 4);
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
