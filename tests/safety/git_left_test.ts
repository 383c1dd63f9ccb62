/** What commands leave in git's folders, and where git's settings lead: the user's git runs nothing of it. */

import { assertEquals, assertMatch } from "@std/assert";
import { waitUntil } from "../helpers/wait_until.ts";
import { COMMIT, repository, test } from "../helpers/git_repository.ts";

/** The beginning of a second repository in the folder itself, which git would take the folder for. */
const BARE =
  "git init -q --bare up.git; cp -r up.git/HEAD up.git/objects up.git/refs .; printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=sh ./evil.sh; false\\n' > config";

const AT_BREAK =
  "git commit -q --allow-empty -m two; GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1";

/** What a command that may write git's folders leaves there, and what a person does with git afterwards. */
const LEFT: [name: string, prepare: string, command: string][] = [
  ["the log is a link", "ln -sf $HOME/.bashrc .git/logs/HEAD", "git checkout -q -b x"],
  [
    "the log is a link in a folder that cannot be listed",
    "ln -sf $HOME/.bashrc .git/logs/HEAD; chmod 111 .git/logs",
    "git checkout -q -b x",
  ],
  [
    "the log is a link in a folder that is closed to writing",
    "ln -sf $HOME/.bashrc .git/logs/HEAD; chmod 500 .git/logs",
    "git checkout -q -b x",
  ],
  [
    "links beside one that cannot be removed",
    'for at in .git .git/logs .git/refs/heads; do ln -s x "$at/$(printf "\\377")"; done; ' +
    "for at in COMMIT_EDITMSG logs/HEAD logs/refs/heads/main; do ln -sf $HOME/.bashrc .git/$at; done",
    COMMIT,
  ],
  [
    "a branch whose log cannot be looked at",
    'b=$(printf "\\377"); git checkout -q -b "$b"; ln -sf $HOME/.bashrc ".git/logs/refs/heads/$b"',
    COMMIT,
  ],
  [
    "a folder whose name is not UTF-8",
    `mkdir ".git/$(printf '\\377')0"; ln -sf $HOME/.bashrc .git/logs/HEAD; ${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue; git checkout -q -b x",
  ],
  [
    "a branch with the name of git's folder of objects",
    "git checkout -q -b objects/ab/x; ln -sf $HOME/.bashrc .git/logs/refs/heads/objects/ab/x",
    COMMIT,
  ],
  ["the message is a link", "ln -sf $HOME/.bashrc .git/COMMIT_EDITMSG", COMMIT],
  [
    "refs are links",
    "mkdir .git/refs/x; ln -s $HOME .git/refs/x/y",
    "git update-ref refs/x/y/f main",
  ],
  [
    "a repository in it, behind links",
    `git init -q .git/x; git -C .git/x config core.fsmonitor "sh $PWD/evil.sh; false"; ln -s .git g; ln -s g/x x`,
    "cd x; git status",
  ],
  ["a folder that is none", `rm .git/HEAD; ${BARE}`, "git status"],
  ["a folder that is closed", `chmod 0 .git/HEAD; ${BARE}`, "git status"],
  ["a folder without refs", `mv .git/refs .git/r; ${BARE}`, "git status"],
  ["a pipe", `rm .git/HEAD; mkfifo .git/HEAD; ${BARE}`, "git status"],
  [
    "a rebase that goes on with a program",
    `${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is closed to writing",
    `${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo; chmod 400 .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a long list of what a rebase does",
    `${AT_BREAK}; printf '# %120000s\\n' x >> .git/rebase-merge/git-rebase-todo; echo 'x sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does with a sign that no argument can have",
    `${AT_BREAK}; printf 'exec sh ./evil.sh\\n#\\000\\n' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is too long for arguments",
    `${AT_BREAK}; printf 'exec sh ./evil.sh\\n#%3000000s\\n' x >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is too large to search",
    `${AT_BREAK}; { echo exec sh ./evil.sh; head -c 11000000 /dev/zero | tr '\\0' '\\n'; } >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a remote that no settings name",
    "mkdir -p .git/remotes .git/branches; git init -q --bare up.git; (echo '#!/bin/sh'; cat evil.sh) > up.git/hooks/pre-receive; " +
    "chmod +x up.git/hooks/*; echo 'URL: ./up.git' > .git/remotes/one; echo ./up.git > .git/branches/two",
    "git push one main; git push two main",
  ],
  [
    "conflicts that were resolved before, elsewhere",
    "id=1111111111111111111111111111111111111111; mkdir -p .git/rr-cache/$id; : > .git/rr-cache/$id/preimage; " +
    "echo evil > .git/rr-cache/$id/postimage; echo '* merge=union' > .gitattributes; " +
    "{ printf $id.-1; printf '\\t../home/.profile\\000'; printf $id | tr 1 2; printf '\\t%120000s\\000' x; } > .git/MERGE_RR",
    `${COMMIT}; grep -q evil ../home/.profile && touch ../home/.bashrc`,
  ],
  [
    "an index with a hook",
    // As git adds none of its own files to an index, one byte is changed in an index of version 2.
    "mkdir -p xgit/hooks; (echo '#!/bin/sh'; cat evil.sh) > xgit/hooks/post-checkout; chmod +x xgit/hooks/*; git add -f xgit; " +
    "perl -MDigest::SHA=sha1 -0777 -pi -e 's/xgit\\/hooks/.git\\/hooks/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index",
    "git checkout-index -a -f; git checkout -q -b y",
  ],
  ...["../home", "a/../../home", "$HOME"].map((to): [string, string, string] => [
    `an index with a file elsewhere: ${to}`,
    // The names of folders in it are exchanged by others of that length.
    `export to=${to} from=$(printf %s "${to}" | tr -c / x | sed s,^/,x,); ` +
    'mkdir -p "$from"; echo evil > "$from/.bashrc"; git add -f "$from"; ' +
    "perl -MDigest::SHA=sha1 -0777 -pi -e 's/\\Q$ENV{from}/$ENV{to}/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index",
    "git restore .",
  ]),
];

/** Rows that share a folder, each in a repository of its own. A command opens six repositories that it does not name. */
const AT_ONCE = 5;

for (let first = 0; first < LEFT.length; first += AT_ONCE) {
  const rows = LEFT.slice(first, first + AT_ONCE);
  const name = `${rows[0]![0]}, and ${rows.length - 1} more`;
  test(`R-21 what a command leaves in git's folders leads a person's git nowhere: ${name}`, async () => {
    await using at = await repository();
    const evil = await Deno.readTextFile(`${at.folder}/evil.sh`);
    const folders = rows.map((_, row) => `${at.folder}/row${row}`);
    for (const [row, [, prepare]] of rows.entries()) {
      const [folder, home] = [folders[row]!, `${at.base}/home${row}`];
      await Deno.mkdir(home);
      await Deno.writeTextFile(`${home}/.profile`, "own\n");
      await at.outside(
        `git init -qb main ${folder}; cd ${folder}; echo a > a; git add a; git commit -qm one`,
      );
      await Deno.writeTextFile(`${folder}/evil.sh`, evil.replaceAll("pwned", `pwned${row}`));
      const line = prepare.replaceAll("$HOME", home).replaceAll("../home", `../../home${row}`);
      await Deno.writeTextFile(`${folder}/p.sh`, line);
    }
    const said = await at.run(
      folders.map((folder) => `cd ${folder} && git tag one; sh p.sh`).join("; "),
    );
    for (const [row, [, , command]] of rows.entries()) {
      await at.outside(`cd ${folders[row]}; ${command.replaceAll("../home", `../../home${row}`)}`);
    }
    const led = rows.filter((_, row) =>
      [`pwned${row}`, `home${row}/.bashrc`, `home${row}/f`].some(at.has)
    );
    assertEquals(led, [], said);
    for (const folder of folders) {
      assertMatch(await at.outside(`cd ${folder}; git rev-parse --git-dir`), /^\.git$/m);
    }
  });
}

for (const [name, prepare, command] of LEFT) {
  if (!/log is a link$|is none|goes on|elsewhere|with a hook/.test(name)) continue;
  test(`R-21 the next command undoes what a command of git left as the program was killed: ${name}`, async () => {
    await using at = await repository();
    const home = `${at.base}/home`;
    await Deno.writeTextFile(`${home}/.profile`, "own\n");
    const module = new URL("../../src/safety/sandbox/git_folders.ts", import.meta.url);
    const view = { folder: at.folder, repositories: [`${at.folder}/.git`], network: false };
    const { signal } = await new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `import { openGitFolders } from ${JSON.stringify(module.href)};
           await openGitFolders({ ...${JSON.stringify(view)}, places: new Map([[${
          JSON.stringify(at.folder)
        }, "write"]]), isComplete: true }, {});
           Deno.kill(Deno.pid, "SIGKILL");`,
      ],
    }).output();
    assertEquals([signal, at.has("work/commondir")], ["SIGKILL", true]);
    await at.outside(prepare.replaceAll("$HOME", home));
    assertMatch(await at.run("true"), /was (moved to|removed)/);
    await at.outside(command);
    const isWritten = at.has("home/.bashrc") || at.has("home/f");
    assertEquals([isWritten, at.has("pwned"), at.has("work/commondir")], [false, false, false]);
    assertMatch(await at.outside("git rev-parse --git-dir"), /^\.git$/m);
    assertEquals(await at.run("true"), "exit code: 0\nno output");
  });
}

test("R-21 a repository in git's folder is put aside once", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    "git init -q .git/x; git -C .git/x config core.gitProxy x",
  );
  const said = await at.run("git tag one; sh p.sh");
  assertEquals(said.match(/x\/[.]git\/config was moved/g)?.length, 1, said);
});

const HOOK = "printf '#!/bin/sh\\nsh ../work/evil.sh\\n' > $1/pre-commit; chmod +x $1/pre-commit";
/** Settings that name what is in the folder and may be missing; what a command makes of it. */
const NAMED: [settings: string, folder: string, plant: string][] = [
  [
    "core.fsmonitor scripts/fsm.sh",
    ".",
    "mkdir -p scripts; cp evil.sh scripts/fsm.sh; chmod +x scripts/fsm.sh",
  ],
  [
    "--global filter.fmt.clean 'sh fmt.sh %f'; echo '* filter=fmt' > .gitattributes; touch a",
    ".",
    "cp evil.sh fmt.sh",
  ],
  ["--global core.hooksPath own", ".", "mkdir own; set own; HOOK"],
  ["core.hooksPath deep/own", ".", "mkdir -p deep/own; set deep/own; HOOK"],
  ["core.hooksPath sub/own", "sub", "mkdir own; set own; HOOK"],
  [
    "core.hooksPath link/deep/own; mkdir -p real/deep; ln -s real link",
    ".",
    "rm link; mkdir -p link/deep/own real/deep/own; set link/deep/own; HOOK",
  ],
  [
    "core.hookspath sub/link/own; mkdir sub/real; ln -s real sub/link",
    ".",
    "rm sub/link; mkdir -p sub/link/own sub/real/own; set sub/link/own; HOOK",
  ],
  ["include.path ../more", ".", "printf '[core]\\nfsmonitor=sh ./evil.sh; false\\n' > more"],
  [
    "--global include.path $PWD/sub/more",
    "sub",
    "printf '[core]\\nfsmonitor=sh ./evil.sh; false\\n' > more",
  ],
];

for (const [settings, folder, plant] of NAMED) {
  test(`R-03 no command makes what git's settings name: git config ${settings}`, async () => {
    const line = plant.replace("HOOK", HOOK);
    for (const isReal of [true, false]) {
      await using at = await repository();
      await Deno.mkdir(`${at.folder}/sub`);
      await at.outside(`git config ${settings}`);
      if (isReal) await at.outside(`cd ${folder}; ${line}`);
      else {
        const said = await at.run(`${line}; :`, { folder: `${at.folder}/${folder}` });
        assertMatch(said, /^exit code: 0/);
        const stash = "echo b >> a; git stash -qu && git stash pop -q";
        if (settings.includes("hooksPath")) assertMatch(await at.run(stash), /^exit code: 0/);
      }
      await at.outside(`git status; ${COMMIT}; cd sub; git status; ${COMMIT}`);
      assertEquals(at.has("pwned"), isReal);
    }
  });
}

test("R-03 no command makes a repository in a submodule without files, which git status looks into", async () => {
  const evil = "git init -q m; git -C m config core.fsmonitor 'sh ../evil.sh; false'; " +
    "git -C m -c user.name=a -c user.email=b commit -q --allow-empty -m y";
  for (const [remove, isReal] of [["", true], ["", false], ["; rmdir m", false]] as const) {
    await using at = await repository();
    await at.outside(
      "git init -q ../m; git -C ../m commit -q --allow-empty -m x; " +
        "git -c protocol.file.allow=always submodule --quiet add ../m m; git commit -qm m; " +
        `git submodule --quiet deinit -f m; rm -r .git/modules; ls -d m${remove}`,
    );
    await Deno.writeTextFile(`${at.folder}/p.sh`, evil);
    await (isReal ? at.outside(evil) : at.run("sh p.sh"));
    await at.outside("git status");
    assertEquals(at.has("pwned"), isReal);
  }
});

test("R-21 while a command of git runs, and after it was killed, no other repository is found", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `rm -rf commondir .git/HEAD; ${BARE}; echo x > commondir; touch ready; until [ -e go ]; do sleep 0.05; done`,
  );
  const running = at.run("git tag one; sh p.sh");
  await waitUntil(() => at.has("work/ready"));
  const status = "git status 2>&1; git branch x 2>&1; cd up.git && git status 2>&1";
  assertMatch(await at.outside(status), /^(fatal: .*commondir: Is a directory\n){2}/);
  assertEquals(at.has("pwned"), false);
  // As it stays where this program is killed now: the next commands change nothing of it.
  const killed = await at.run("rm -rf commondir; git tag two; git status");
  assertMatch(killed, /commondir: Is a directory/);
  // No pipe: those in a repository that a command made are deleted.
  await at.outside("touch go");
  await running;
  assertMatch(await at.outside("git status"), /^On branch main/);
  assertEquals([at.has("pwned"), at.has("work/commondir")], [false, false]);
});

test("R-21 an index that is shared is looked at, too", async () => {
  await using at = await repository();
  const split =
    "mkdir -p xgit/hooks; (echo '#!/bin/sh'; cat evil.sh) > xgit/hooks/post-checkout; " +
    "chmod +x xgit/hooks/*; git add -f xgit; git update-index --split-index";
  assertMatch(await at.run(split), /^exit code: 0/);
  // The sum at its end, by which git knows it, stays.
  await at.run("git tag one; perl -pi -e 's/xgit\\/hooks/.git\\/hooks/' .git/sharedindex.*");
  await at.outside("git checkout -q -- .; git checkout-index -a -f; git checkout -q -b y");
  assertEquals(at.has("pwned"), false);
  // One that git cannot list here, as it takes too long, may name them, too.
  assertMatch(await at.run("git tag two; echo >> .git/index"), /was moved to index[.]untrusted/);
  assertEquals(await at.outside("git reset -q; git status --short a"), "");
});

/** Files by which git goes on later, the text that a command writes to them, and what stays of it. */
const CONTINUED: [path: string, text: string, left: string | undefined][] = [
  ["MERGE_AUTOSTASH", "1".repeat(40), undefined],
  ["rebase-merge/autostash", "1".repeat(40), undefined],
  ["rebase-apply/autostash", "1".repeat(40), undefined],
  ["rebase-merge/strategy", "file\n", ""],
  ["rebase-merge/strategy", "ort\n", "ort\n"],
  ["rebase-merge/strategy_opts", " --theirs --index-output=/x", ""],
  [
    "rebase-merge/strategy_opts",
    " '--theirs' '--find-renames=50%'\n",
    " '--theirs' '--find-renames=50%'\n",
  ],
  ["rebase-merge/strategy_opts", ` ${"--ignore-a".repeat(100)}!`, ""],
  ["rebase-apply/apply-opt", ` ${"--include=a".repeat(100)}!`, ""],
  ["rebase-apply/apply-opt", " '--apply' '--unsafe-paths' '--directory=/x'", ""],
  ["rebase-apply/apply-opt", " '-C3' '--whitespace=fix'\n", " '-C3' '--whitespace=fix'\n"],
  ["sequencer/opts", "[options]\n\tstrategy = file\n\tstrategy-option = theirs\n", ""],
  ["sequencer/opts", "[options]\n\tStrategy = file\n", ""],
  [
    "sequencer/opts",
    "[options]\n\tsignoff = true\n\tstrategy = ort\n\tstrategy-option = theirs\n",
    "[options]\n\tsignoff = true\n\tstrategy = ort\n\tstrategy-option = theirs\n",
  ],
];

test("R-21 git continues with the usual strategies and options only, and applies no stash of a command", async () => {
  await using at = await repository();
  for (const [path, text, left] of CONTINUED) {
    await Deno.writeTextFile(`${at.folder}/text`, text);
    const file = `.git/${path}`;
    await at.run(`mkdir -p $(dirname ${file}); cp text ${file}; git tag -f x`);
    const stayed = await Deno.readTextFile(`${at.folder}/${file}`).catch(() => undefined);
    assertEquals([path, stayed], [path, left]);
    await at.outside("rm -rf .git/rebase-* .git/sequencer .git/MERGE_*");
  }
  // What was there before is the user's, and a stash of files that commands may write is applied.
  const todo = "exec make test\n";
  await at.outside(`mkdir .git/rebase-merge; printf '${todo}' > .git/rebase-merge/git-rebase-todo`);
  await Deno.writeTextFile(
    `${at.folder}/stash.sh`,
    `echo b > a; git -c user.name=a -c user.email=b stash create > .git/MERGE_AUTOSTASH
     export GIT_INDEX_FILE=/tmp/i; git read-tree HEAD; git add a; b=$(git hash-object -w a)
     git update-index --add --cacheinfo 100755,$b,.vscode/tasks.json
     commit() { git -c user.name=a -c user.email=b commit-tree "$@" -m x; }
     commit $(git write-tree) -p HEAD -p $(commit HEAD^{tree} -p HEAD) > .git/rebase-merge/autostash`,
  );
  const said = await at.run("git tag y; sh stash.sh");
  assertMatch(said, /rebase-merge\/autostash was moved/);
  assertEquals(said.includes("MERGE_AUTOSTASH"), false, said);
  assertEquals(await Deno.readTextFile(`${at.folder}/.git/rebase-merge/git-rebase-todo`), todo);
});

/** The user's own rebase of a branch, which stopped in a conflict with uncommitted work in \`.vscode\` and \`d\`. */
const CONFLICT =
  "mkdir .vscode; echo {} > .vscode/tasks.json; echo d > d; git add .vscode d; git commit -qm two; git branch topic; echo m > a; git commit -qam m";
const STOP =
  "echo t > a; git commit -qam t; echo work >> d; echo '[]' > .vscode/tasks.json; git rebase --autostash main";
/** Where the user rebases: the folder of the work tree, and how it is made. */
const REBASED: [name: string, tree: string, make: string][] = [
  ["the repository", ".", `${CONFLICT}; git checkout -q topic`],
  ["a work tree", "tree", `${CONFLICT}; git worktree add -q tree topic`],
  [
    "a submodule",
    "sub",
    "git init -qb main ../m; cd ../m; git commit -q --allow-empty -m x; cd ../work; " +
    `git -c protocol.file.allow=always submodule --quiet add ../m sub; cd sub; git switch -qC main; echo a > a; git add a; ${CONFLICT}; git checkout -q topic`,
  ],
];

for (const [name, tree, make] of REBASED) {
  test(`R-21 the user's work comes back after a rebase that a command did not start: ${name}`, async () => {
    await using at = await repository();
    await at.outside(make);
    await at.outside(`cd ${tree}; ${STOP}`);
    const said = await at.run(`cd ${tree} && echo both > a && git add a`);
    assertMatch(said, /^exit code: 0/);
    assertEquals(said.includes("untrusted"), false, said);
    await at.outside(`cd ${tree}; GIT_EDITOR=true git rebase --continue`);
    assertEquals(
      await at.outside(`cd ${tree}; git log -1 --format=%s; cat a d .vscode/tasks.json`),
      "t\nboth\nd\nwork\n[]\n",
    );
  });

  test(`R-21 the work that a command's own rebase stashes comes back: ${name}`, async () => {
    await using at = await repository();
    await at.outside(make);
    await at.outside(`cd ${tree}; echo t > a; git commit -qam t; echo work >> d`);
    const said = await at.run(`cd ${tree} && git rebase --autostash main`);
    assertMatch(said, /CONFLICT/);
    assertEquals(said.includes("untrusted"), false, said);
    await at.outside(`cd ${tree}; git rebase --skip`);
    assertEquals(await at.outside(`cd ${tree}; cat a d`), "m\nd\nwork\n");
  });
}

test("R-21 no command replaces the work that the user's rebase stashed", async () => {
  await using at = await repository();
  await at.outside(`${REBASED[0]![2]}; ${STOP}`);
  await Deno.writeTextFile(
    `${at.folder}/replace.sh`,
    `s=$(cat .git/rebase-merge/autostash); git read-tree --index-output=/tmp/i HEAD; export GIT_INDEX_FILE=/tmp/i
     git update-index --add --cacheinfo 100644,$(git hash-object -w evil.sh),.vscode/settings.json
     git replace $s $(git -c user.name=a -c user.email=b commit-tree $(git write-tree) -p $s^1 -p $s^2 -m x)`,
  );
  const said = await at.run("git tag y; sh replace.sh; git pack-refs --all");
  assertMatch(said, /autostash was moved/);
});

test("R-21 a rebase that goes on keeps the user's programs, and gets none of a command", async () => {
  await using at = await repository();
  await at.outside(
    "git checkout -qb topic; for n in 1 2 3; do echo $n > a; git commit -qam $n; done; git checkout -q main; echo m > a; git commit -qam m; " +
      "git checkout -q topic; git rebase -x 'echo x >> ../done' main",
  );
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    "printf 'exec sh ./evil.sh\\nexec echo x >> ../done\\342\\200\\250; sh ./evil.sh\\n\\tx\\tsh ./evil.sh\\r\\n' >> .git/rebase-merge/git-rebase-todo",
  );
  const said = await at.run(
    "echo both > a; git add a; GIT_EDITOR=true git rebase --continue; sh p.sh",
  );
  assertMatch(said, /git-rebase-todo was moved to [.][.]\/git-rebase-todo[.]untrusted-/);
  await at.outside(
    "for n in 1 2; do echo $n > a; git add a; GIT_EDITOR=true git rebase --continue; done",
  );
  assertEquals([at.has("pwned"), at.has("done")], [false, true]);
  // What was put aside is not in the folder that git deleted.
  assertEquals(
    await at.outside("git status -s; ls -d .git/rebase-merge; ls .git | grep -c untrusted"),
    "?? evil.sh\n?? p.sh\n1\n",
  );
});
