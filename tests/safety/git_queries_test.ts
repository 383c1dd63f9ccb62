import { assertEquals } from "@std/assert";
import { waitTime } from "../../src/safety/in_place.ts";
import {
  gitNamed,
  gitSettings,
  indexMayLeadAway,
  madeSettings,
} from "../../src/safety/git_queries.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

/** Runs a script in a new folder, and looks at the repository that it made there with git's own eyes. */
async function inRepository(script: string, look: (folder: string) => void): Promise<void> {
  using temp = tempFolder();
  const folder = temp.path;
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-ec", script],
    cwd: folder,
    env: { HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  assertEquals(success, true, new TextDecoder().decode(stderr));
  look(folder);
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
      "git init -q --separate-git-dir=c d && git -C c config core.worktree ../d && git -C c config remote.a.b.url https://h/x\\#",
      (folder) => {
        const text = Deno.readTextFileSync(`${folder}/c/config`);
        const found = (name: string, programs = ["/usr/bin", "/bin"], given = text) => {
          const how = { own: folder, gitFolder: `${folder}/${name}`, marks: true };
          return madeSettings({ ...source(folder), programs }, given, how);
        };
        const marked = found("c");
        const list = (given: string) => {
          Deno.writeTextFileSync(`${folder}/c/config`, given);
          return gitSettings(source(`${folder}/c`))?.filter(({ scope }) => scope === "local");
        };
        const made = { scope: "local", name: "copilot.made", value: "true" };
        assertEquals([marked?.isWhole, list(marked!.text)], [true, [...list(text)!, made]]);
        assertEquals(found("c", undefined, marked!.text), undefined);
        const MARK = "[copilot]\n\tmade = true\n";
        const moved = found("e")!;
        assertEquals([moved.isWhole, moved.text.includes("worktree")], [false, false]);
        // Without git, nothing is known of them.
        assertEquals(found("c", []), { text: MARK, isWhole: false });
        const rows: [text: string, left: string, isWhole: boolean][] = [
          ["[core]fsmonitor = a\n\tbare = 1 ; x\n", "[core]\n\tbare = 1\n", false],
          ["[core]\nfsmonitor=\u00a0true\nbare=1", "[core]\n\tbare = 1\n", false],
          // A mark that git does not read as one.
          [`[user]\n\tname = a\\\n${MARK}`, '[user]\n\tname = "a[copilot]"\n', false],
          [`[core]\n\tbare = 1\n#\\\n#${MARK}`, "[core]\n\tbare = 1\n", false],
        ];
        for (const [given, left, isWhole] of rows) {
          assertEquals(found("c", undefined, given), { text: left + MARK, isWhole }, given);
        }
        assertEquals([...Deno.readDirSync(folder)].length, 2);
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
