/** git in the sandbox: what it reads and writes there, unasked. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { repository, test, tool } from "../helpers/git_repository.ts";

test("R-21 git commits, merges, rebases and stashes in the sandbox unasked, in the person's name", async () => {
  await using at = await repository();
  const lines = [
    "echo b > b; git add -A && git commit -qm two",
    "git checkout -qb side; echo c > c; git add c; git commit -qm three; git checkout -q main",
    "git merge -q --no-ff -m four side; git tag v1; git branch -d side",
    "echo d >> a; git stash -q; git stash pop -q; git commit -qam five; git rebase -q HEAD~1",
    "echo e >> a; echo u > u; git stash -qu && git stash pop -q && git checkout -q a && rm u",
  ];
  for (const line of lines) assertMatch(await at.run(line), /^exit code: 0/, line);
  assertEquals(
    await at.outside("git log --first-parent --format='%an %ae %s'"),
    [...["Ann a@b.c five", "Ann a@b.c four", "Ann a@b.c two", "Ann a@b.c one", ""]].join("\n"),
  );
  assertEquals(
    await at.outside("git tag; git status --short"),
    "v1\n?? evil.sh\n".replace(/.*evil.*\n/, ""),
  );
  // What was missing was there for as long as the commands ran.
  for (const name of ["commondir", "config.worktree", "modules", "worktrees"]) {
    assertEquals(at.has(`work/.git/${name}`), false, name);
  }
});

test("R-21 git commits in a linked work tree, in the folder and as the folder", async () => {
  await using at = await repository();
  await at.outside("git worktree add -q in; git worktree add -q ../out; rm -r .git/hooks");
  const state = "find .git -type d -not -path '.git/objects/??' | sort";
  const before = await at.outside(state);
  assertMatch(await at.run("cd in && git commit -q --allow-empty -m in"), /^exit code: 0/);
  const folder = `${at.base}/out`;
  assertMatch(await at.run("git commit -q --allow-empty -m out", { folder }), /^exit code: 0/);
  assertEquals(
    await at.outside("git log -1 --format=%s in --; git log -1 --format=%s out --"),
    "in\nout\n",
  );
  assertEquals(await at.outside(state), before);
});

test("R-21 a command beside git changes nothing that makes git run programs", async () => {
  await using at = await repository();
  const names =
    "config config.worktree commondir hooks info modules worktrees objects/info/alternates";
  await Deno.writeTextFile(
    `${at.folder}/s.sh`,
    `cd .git; echo > HEAD2; for f in ${names}; do
        rm -rf $f; mv $f moved; ln -sfn /tmp $f; echo evil > $f; mkdir $f; cp ../evil.sh $f/pre-commit
      done
      mv objects/info objects/info2; mv objects objects2; cd ..; mv .git git2; cat .git/commondir; ls -A .git/modules`,
  );
  const state =
    "cd .git && find . -not -name '*.sample' -printf '%p %y %l\\n' | sort && cat config";
  const before = await at.outside(state);
  const printed = await at.run("git tag one; sh s.sh 2>/dev/null");
  assertEquals(printed, "exit code: 0\nstdout:\n.");
  // Positive control: what git reads as no more than data can be written.
  assertEquals(at.has("work/.git/HEAD2"), true);
  await at.outside("rm -rf .git/HEAD2 .git/moved .git/refs/tags/one");
  assertEquals(await at.outside(state), before);
});

/** What is there already, and a command of git that would run `evil.sh` with it. */
const PLANTED: [name: string, prepare: string, command: string][] = [
  [
    "fsmonitor of a repository of its own",
    "git init -q vendor; git -C vendor config core.fsmonitor 'sh ../evil.sh; false'",
    "git -C vendor add .",
  ],
  [
    "a filter that looks harmless",
    "git init -q vendor; cd vendor; git config filter.lfs.clean 'git-lfs clean; sh ../evil.sh'; echo '* filter=lfs' > .gitattributes; echo 1 > f",
    "cd vendor && git add .",
  ],
  [
    "a folder of hooks behind a comment",
    "git init -q vendor; mkdir 'vendor/evil # x'; (echo '#!/bin/sh'; cat evil.sh) > 'vendor/evil # x/pre-commit'; chmod +x 'vendor/evil # x/pre-commit'; git -C vendor config core.hooksPath 'evil # x'",
    "git -C vendor -c user.name=a -c user.email=b commit -qm x --allow-empty",
  ],
  [
    "another repository behind commondir",
    "git init -q vendor; git init -q other; git -C other config core.fsmonitor 'sh ../evil.sh; false'; echo ../../other/.git > vendor/.git/commondir",
    "git -C vendor add .",
  ],
  [
    "the hooks of a repository that is pushed to",
    "git init -q --bare up.git; (echo '#!/bin/sh'; cat evil.sh) > up.git/hooks/pre-receive; chmod +x up.git/hooks/pre-receive",
    "git push -q ./up.git main",
  ],
];

for (const [name, prepare, command] of PLANTED) {
  test(`R-21 git runs in the sandbox what a repository names: ${name}`, async () => {
    await using at = await repository();
    await Deno.writeTextFile(`${at.folder}/prepare.sh`, prepare);
    await at.outside("sh prepare.sh");
    await at.run(command);
    assertEquals([at.has("work/ran"), at.has("pwned")], [true, false]);
    // Positive control, with something new to add or to push.
    const fresh = "echo x >> vendor/f; echo x > x; git add x; git commit -qm x";
    await at.outside(`(${fresh}); ${command}`);
    assertEquals(at.has("pwned"), true);
  });
}

test("R-21 a new branch without its upstream, and a bare repository in the work tree", async () => {
  await using at = await repository();
  await at.outside(
    "git init -q --bare up.git; git add -f up.git; git update-ref refs/remotes/o/x main; git config remote.o.fetch '+refs/heads/*:refs/remotes/o/*'; git config remote.o.url x",
  );
  assertMatch(await at.run("git checkout -b x o/x"), /Call again with leave "sandbox"/);
  // What is created in its folder for the command is not added.
  assertMatch(await at.run("git add -A && git commit -qm two"), /^exit code: 0/);
  const names = await at.outside("git ls-files up.git; git branch --show-current");
  assertMatch(names, /up.git\/HEAD\n[^]*\nx\n$/);
  assertEquals(/commondir|alternates|worktree/.test(names), false);
});

test("R-21 git ignores what the user ignores and what is hidden, and knows the user's aliases", async () => {
  for (const own of [".config/git/ignore", ".ignored"]) {
    await using at = await repository();
    await at.outside(
      `git config --global alias.ci 'commit -q'; git config --global alias.sh '!echo ran'; ` +
        `git config --global alias.gp '-c http.extraHeader="X: s3cr3t" push'; ` +
        `git config --global alias.gq 'push https://ann:s3cr3t/x@h/x?private_token=s3cr3t'; ` +
        `mkdir -p ~/.config/git; echo '*.log' > ~/${own}; mkdir sub; echo KEY > .env; ` +
        "echo x | tee x.log sub/b; git init -q inner; echo KEY | tee sub/.env inner/.env 'sub/.env.[*]? '",
    );
    if (own === ".ignored") {
      await at.outside("git config --global core.excludesFile '~/.ignored'");
    }
    const lines =
      "git add -A . ':!inner' && git ci -m two && cd inner && git add -A && git ci -m three";
    const said = await at.run(lines);
    assertMatch(said, /^exit code: 1/);
    assertStringIncludes(said, "nothing to commit");
    assertEquals(await at.outside("git log --format=%s --name-only -1"), "two\n\nevil.sh\nsub/b\n");
    assertMatch(await at.run("git sh"), /'sh' is not a git command/);
    const variables = await at.run("git tag four; env | grep ^GIT_");
    assertMatch(variables, /=commit -q/);
    assertEquals(variables.includes("s3cr3t"), false);
    // No link of a command, and no setting of the repository, shows a file that is hidden.
    await at.outside(`git config core.excludesFile ${at.base}/home/.gitconfig`);
    assertEquals((await at.run("git tag one; cat /dev/gitignore")).includes("Ann"), false);
    await at.outside(
      `git config --unset core.excludesFile; git config --global core.excludesFile '${at.folder}/ig'`,
    );
    assertEquals(
      (await at.run(`ln -s ${at.base}/home/.gitconfig ig; git tag two`)).includes("Ann"),
      false,
    );
    assertEquals((await at.run("git tag three; cat /dev/gitignore")).includes("Ann"), false);
  }
});

test("R-21 what is hidden in one repository is not ignored in another one", async () => {
  await using at = await repository();
  await at.outside(
    "mkdir .copilot 'in [a]'; git init -q 'in [a]'; git init -q o; git worktree add -q out; " +
      'for at in . o out \'in [a]\'; do touch "$at/s" "$at/t"; done; ' +
      `echo '{ "deny": ["read_file(in*/s)", "read_file(out/s)"] }' > .copilot/permissions.json`,
  );
  for (const name of [".", "o", "out", "'in [a]'"]) {
    const files = name === "." ? "s t" : "-A";
    assertMatch(
      await at.run(`git -C ${name} add ${files} && git -C ${name} commit -qm x`),
      /^exit code: 0/,
    );
  }
  const show = "for at in . o out 'in [a]'; do git -C \"$at\" show --format= --name-only; done";
  assertEquals(await at.outside(show), "s\nt\ns\nt\nt\nt\n");
});

test("R-21 of a hidden file that git tracks, commands see what the index has", async () => {
  await using at = await repository();
  const names = ".env sub/.env.local";
  // A clone just made: git compares the contents of files that are as young as its index.
  await at.outside(`mkdir sub; echo PLACE | tee ${names}; git add -A; git commit -qm env`);
  const plain = await at.run(
    "echo x > new; git status --short; git diff; cat .e*; git -C sub diff",
  );
  assertMatch(plain, /^exit code: 0\nstdout:\n\?\? new\nPLACE$/);
  // Changes are neither shown nor added.
  await at.outside("echo SECRET > .env");
  const said = await at.run(
    "git add -A && git commit -qam two && git stash; git diff HEAD~1; cat .e*",
  );
  assertEquals(said.includes("SECRET"), false);
  assertEquals(await at.outside("git show --format= --name-only; cat .env"), "new\nSECRET\n");
  assertEquals(await at.outside("git status --short"), " M .env\n");
});

test("R-21 a change of branches that would replace a closed file asks, and is not done by halves", async () => {
  await using at = await repository();
  await at.outside(
    "git checkout -qb one; echo a > AGENTS.md; git add -A; git commit -qm a; git checkout -qb two; " +
      "echo b > AGENTS.md; git commit -qam b; git checkout -q one; git branch same; echo x > AGENTS.md; git stash -q",
  );
  for (
    const command of ["checkout two", "switch two", "merge two", "reset --keep two", "rebase two"]
  ) {
    const said = await at.run(`git ${command}`);
    assertEquals(
      said,
      "asked: may run any program as you, by settings and hooks of repositories, and replaces AGENTS.md, which no command may write, so it runs outside of the sandbox",
    );
  }
  for (const command of ["cherry-pick two", "stash pop"]) {
    assertMatch(await at.run(`git ${command}`), /^asked: .* replaces AGENTS.md/);
  }
  assertMatch(await at.run("git checkout -q same && git checkout -qb new"), /^exit code: 0/);
});

test("R-21 a job does not write git's folders, as the person may use git while it runs", async () => {
  await using at = await repository();
  assertMatch(
    await at.run("touch .git/x; git tag one", { inBackground: true }),
    /Read-only file system/,
  );
  assertEquals(at.has("work/.git/x"), false);
  // A single git command with the network, too.
  const line = 'git rebase -q --exec "touch .git/x" --root';
  const right = { kind: "network" } as const;
  await at.run(line, { inBackground: true, right });
  assertEquals(at.has("work/.git/x"), false);
  assertMatch(await at.run(line, { right }), /^exit code: 0/);
  assertEquals(at.has("work/.git/x"), true);
});

test("R-21 of many submodules, a command of git writes the git folders of those that it names", async () => {
  await using at = await repository();
  await at.outside(
    "git init -q ../m; git -C ../m commit -q --allow-empty -m x; " +
      "for n in 1 2 3 4 5 6; do git -c protocol.file.allow=always submodule --quiet add ../m m$n; done",
  );
  const touch = "for at in .git/modules/*; do touch $at/x; done";
  assertMatch(await at.run(`git -C m3 commit -q --allow-empty -m y; ${touch}`), /Read-only/);
  assertEquals(await at.outside("ls .git/modules/*/x"), ".git/modules/m3/x\n");
  assertEquals(await at.outside("git -C m3 log --format=%s"), "y\nx\n");
  assertMatch(await at.run("git commit -qm all"), /^exit code: 0/);
  await at.outside("git init -q --bare bare");
  assertMatch(await at.run("git commit -q --allow-empty -m z; cd b*e; touch x"), /Read-only/);
});

test("R-21 a new repository has the user's name and branch in the command that makes it", async () => {
  await using at = await repository();
  await at.outside("rm -rf .git; git config --global init.defaultBranch trunk");
  assertMatch(await at.run("git init -q && git add -A && git commit -qm x"), /^exit code: 0/);
  assertEquals(await at.outside("git log --format='%an %D'"), "Ann HEAD -> trunk\n");
});

test("R-21 a line of git with a folder beside writes both, and another line only the folder", async () => {
  await using at = await repository();
  const other = `${at.base}/other`;
  await Deno.mkdir(other);
  const line = `echo b > b && git add b && cp b ${other}`;
  assertMatch(await at.run(line, { right: { kind: "git", folder: other } }), /^exit code: 0/);
  assertEquals([at.has("other/b"), await at.outside("git diff --cached --name-only")], [
    true,
    "b\n",
  ]);
  const said = await at.run(`touch ${other}/c .git/c`, {
    right: { kind: "write", folder: other },
  });
  assertMatch(said, /Read-only file system/);
  assertEquals([at.has("other/c"), at.has("work/.git/c")], [true, false]);
});

test("R-21 commands see git's settings without credentials, which stay where they are", async () => {
  await using at = await repository();
  await at.outside(
    "git init -q ../m; git -C ../m commit -q --allow-empty -m x; mkdir sub; " +
      "git -c protocol.file.allow=always submodule --quiet add ../m m; git worktree add -q ../out; " +
      "git remote add origin https://ann:s3cr3t@127.0.0.1:9/x; git remote add two git@127.0.0.1:x; " +
      "git config http.https://x.y.extraHeader 'Authorization: s3cr3t'; git config include.path ../more; " +
      "printf '[url \"https://s3cr3t@x.y/\"]\\ninsteadOf = x:\\n[sendemail] smtpPass = s3cr3t\\n' > more; " +
      "git -C m remote set-url origin https://s3cr3t@127.0.0.1:9/m",
  );
  const state = "cat .git/config .git/modules/m/config more";
  const before = await at.outside(state);
  assertEquals(before.match(/s3cr3t/g)?.length, 5);
  const line =
    "git remote -v; git config -l; git -C m remote -v; grep -rs s3cr3t . $(git rev-parse --git-common-dir); true";
  for (const folder of [at.folder, `${at.folder}/sub`, `${at.base}/out`]) {
    for (const start of ["", "git tag -f one; "]) {
      const said = await at.run(start + line, { folder });
      assertMatch(said, /^exit code: 0/);
      assertStringIncludes(said, "https://***@127.0.0.1:9/x");
      assertStringIncludes(said, "git@127.0.0.1:x");
      assertEquals(said.includes("s3cr3t"), false, said);
    }
  }
  assertEquals(await at.outside(state), before);
  await at.outside("git submodule --quiet deinit -f m");
  assertEquals((await at.run(line)).includes("s3cr3t"), false);
});

test("R-21 the network does not open git's folders to programs other than git", async () => {
  await using at = await repository();
  for (const line of ["touch .git/x", "git tag one; touch .git/x"]) {
    assertMatch(await at.run(line, { right: { kind: "network" } }), /Read-only file system/, line);
  }
  assertEquals(at.has("work/.git/x"), false);
  // Positive control: what git itself fetches arrives.
  await at.outside("git clone -q --bare . up.git; git -C up.git tag two main");
  const fetched = await at.run("git fetch -q --tags ./up.git", { right: { kind: "network" } });
  assertMatch(fetched, /^exit code: 0/);
  assertEquals(await at.outside("git tag"), "two\n");
});

test("R-21 in a read-only folder, aliases that only read run, and a refusal names what helps", async () => {
  await using at = await repository("read-only");
  await at.outside(
    "git config --global alias.st 'status -sb'; git config --global alias.s st; git config --global alias.ci commit; " +
      "git config --global alias.lg \"log --format='%h %s' --graph\"; git config --global alias.commit status; " +
      "git config --global alias.loop loop; git config --global alias.up push; git remote add origin https://h/x",
  );
  assertMatch(await at.run("git s"), /^exit code: 0\n[^]*## main/);
  assertMatch(await at.run("git lg -1"), /^exit code: 0\n[^]*one/);
  for (const name of ["ci", "commit", "loop"]) {
    assertMatch(await at.run(`git ${name}`), /^asked: .*writes to the repository/, name);
  }
  assertMatch(await at.run("git up"), /^asked: pushes to https:\/\/h\/x with your credentials/);
  const { signal } = new AbortController();
  const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
  const ways = {
    "git push origin main": "the rule run_bash(git push *)",
    ...Object.fromEntries(
      ["git push --force", "rm -rf /opt/none", "rm -rf ~/x"]
        .map((command) => [command, "--yes --sandbox off"]),
    ),
  };
  for (const [command, way] of Object.entries(ways)) {
    const decision = await at.permissions.policy().decide(tool, { command }, context);
    const { summary = "", explanation = "" } = decision as Partial<
      Record<"summary" | "explanation", string>
    >;
    assertEquals(summary.split("; ").at(-1), `${way} allows it`, command);
    assertEquals(explanation.split("; ").at(-1), `${way} allows it.`, command);
  }
});
