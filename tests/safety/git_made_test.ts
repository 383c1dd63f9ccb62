/** Repositories that commands make: the user's git runs nothing of them. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../helpers/wait_until.ts";
import { AT_X, COMMIT, ignore, repository, test } from "../helpers/git_repository.ts";

const EVIL = "core.fsmonitor 'sh ../evil.sh; false'";
const EVIL_BARE =
  "printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=sh ../evil.sh; false\\n' > config";

/** Moves git's folder of `x`, with settings that run a program, and leads git to it. */
const leadTo = (to: string) =>
  `mv x/.git ${to}; git config -f ${to}/config ${EVIL}; echo $PWD/x/.git > ${to}/gitdir; echo gitdir: $(realpath ${to}) > x/.git`;

const ENTRIES = "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD";
/** A submodule in `x` with a setting that runs a program, to move away, and its commit. */
const SUBMODULE =
  `${AT_X}; git -C x config user.name a; git -C x config user.email b; mv x s; git init -q x; mv s x; git -C x/s config core.fsmonitor "sh $PWD/evil.sh; false"; cd x; c=$(git -C s rev-parse HEAD); git config user.name a; git config user.email b; ${COMMIT}`;
/** Adds it as `n` on another branch. */
const ON_TOPIC =
  `git checkout -q -b topic; git update-index --add --cacheinfo "160000,$c,$n"; ${COMMIT}; git checkout -q -f -`;
/** Repositories that commands make, each separated by `;;`, and the user's command afterwards. */
const MADE: [name: string, prepare: string, command: string][] = [
  ["one in the index", `${AT_X}; git -C x config ${EVIL};; git add x`, "git status"],
  [
    "its hooks",
    `${AT_X}; mkdir -p x/.git/hooks; cp evil.sh x/.git/hooks/pre-commit; chmod +x x/.git/hooks/pre-commit`,
    `cd x && ${COMMIT}`,
  ],
  [
    "hooks behind a link, which come later",
    `mkdir h; ${AT_X}; rm -rf x/.git/hooks; ln -s ../../h x/.git/hooks;; (echo '#!/bin/sh'; cat evil.sh) > h/pre-commit; chmod +x h/pre-commit`,
    `cd x && ${COMMIT}`,
  ],
  [
    "hooks in a folder that cannot be listed",
    `${AT_X}; mkdir -p x/.git/hooks; (echo '#!/bin/sh'; cat evil.sh) > x/.git/hooks/pre-commit; chmod +x x/.git/hooks/*; chmod 311 x/.git/hooks x/.git x`,
    `cd x && ${COMMIT}`,
  ],
  [
    "an included file",
    `${AT_X}; git config -f more ${EVIL}; git -C x config include.path ../../more`,
    "cd x; git status",
  ],
  [
    "a link in the place of settings",
    `${AT_X}; mv x/.git/config more; ln -s ../../more x/.git/config;; git config -f more ${EVIL}`,
    "cd x; git status",
  ],
  ...[
    "extensions.partialclone '--upload-pack=touch ../../pwned;:'",
    "'remote.--upload-pack=touch ../../pwned;:.promisor' true",
  ]
    .map((setting): [string, string, string] => [
      `a remote whose name is an option, by which git loads an object: ${setting.slice(0, 20)}`,
      `${AT_X}; cd x; git config remote.origin.url .; git config core.repositoryformatversion 1; git config ${setting}; git config user.name a; git config user.email b; echo 1 > b; git add b; ${COMMIT}; echo 2 > b; git add b; ${COMMIT}; t=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-)`,
      "cd x; git status",
    ]),
  [
    "one in a saved cache, behind a link",
    `mkdir -p $HOME/.cache; ${AT_X}; git -C x config core.fsmonitor "sh $PWD/evil.sh; false"; mv x $HOME/.cache/x; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ln -s "\${at:-$HOME/.cache}/x" x`,
    "cd x; git status",
  ],
  [
    "one behind a link whose target is not UTF-8",
    `mkdir -p $HOME/.cache; n=$(printf '\\377'); git init -q "$HOME/.cache/$n"; git -C "$HOME/.cache/$n" config core.fsmonitor "sh $PWD/evil.sh; false"; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ln -s "\${at:-$HOME/.cache}/$n" x`,
    "cd x; git status",
  ],
  ...[
    "git config remote.origin.url $AT",
    "git config remote.pushdefault $AT; git config remote.$AT.url x",
    "mkdir -p .git/remotes; echo URL: $AT > .git/remotes/origin",
  ].map((
    lead,
  ): [string, string, string] => [
    `a remote that is a repository in a saved cache: ${lead.slice(0, 25)}`,
    `mkdir -p $HOME/.cache; git init -q --bare $HOME/.cache/y; (echo "#!/bin/sh"; echo "touch $PWD/../pwned") > $HOME/.cache/y/hooks/pre-receive; chmod +x $HOME/.cache/y/hooks/*; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ${AT_X}; cd x; ${
      lead.replaceAll("$AT", "\${at:-$HOME/.cache}/y")
    }`,
    "cd x; git push origin HEAD; git -c push.default=current push",
  ]),
  [
    "an index with a hook, of which git lists nothing for another work tree",
    `${AT_X}; cd x; mkdir -p xgit/hooks; (echo '#!/bin/sh'; echo "touch $PWD/../../pwned") > xgit/hooks/post-checkout; chmod +x xgit/hooks/*; git add xgit; git config core.worktree /; ` +
    "perl -MDigest::SHA=sha1 -0777 -pi -e 's/xgit\\/hooks/.git\\/hooks/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index",
    "cd x; git config --unset core.worktree; git checkout-index -a -f; git checkout -q -b y",
  ],
  ["a bare one", `mkdir x; cd x; ${ENTRIES}; ${EVIL_BARE}`, "cd x; git status"],
  [
    "a bare one in a folder whose name ends in a line break",
    `n=$(printf 'x\\n.'); mkdir "\${n%.}"; cd "\${n%.}"; ${ENTRIES}; ${EVIL_BARE}`,
    "cd x*; git status",
  ],
  ...[". ", " .", "\\357\\273\\277."].map((named): [string, string, string] => [
    `commondir leads to a folder whose name looks like ".": ${named}`,
    `mkdir -p x/.git; cd x/.git; ${ENTRIES}; printf '${named}' > commondir; d=$(cat commondir); mkdir "$d"; mv objects refs "$d"; git config -f "./$d/config" ${EVIL}`,
    "cd x; git status",
  ]),
  [
    'commondir leads to a folder whose name looks like "../.."',
    `${AT_X}; mkdir y; cd x/.git; mkdir -p worktrees/g; cd worktrees/g; echo ref: refs/heads/x > HEAD; printf '../.. ' > commondir; mkdir -p '../.. /objects' '../.. /refs'; git config -f '../.. /config' ${EVIL}; echo gitdir: ../x/.git/worktrees/g > ../../../../y/.git`,
    "cd y; git status",
  ],
  ["the folder itself", `mkdir -p $NEW; cd $NEW; ${ENTRIES}; ${EVIL_BARE}`, "cd $NEW; git status"],
  [
    "one in two steps",
    `mkdir x; cd x; ${ENTRIES}; rmdir refs; ${EVIL_BARE};; mkdir x/refs`,
    "cd x; git status",
  ],
  [
    "one that is renamed",
    `mkdir -p y/g; cd y/g; ${ENTRIES}; rm HEAD; git config -f config ${EVIL};; mkdir x; mv y/g x/.git; echo ref: refs/heads/x > x/.git/HEAD`,
    "cd x; git status",
  ],
  [
    "a file leads to it",
    `mkdir x y; cd y; ${ENTRIES}; ${EVIL_BARE}; echo 'gitdir: ../y' > ../x/.git`,
    "cd x; git status",
  ],
  [
    "a long file leads to one of two",
    `git init -q --separate-git-dir=y x; git -C x config ${EVIL}; printf '%0120000d' | tr 0 '\\n' >> x/.git`,
    "cd x; git status",
  ],
  [
    "a link leads to it",
    `mkdir x y; cd y; ${ENTRIES}; ${EVIL_BARE}; ln -s ../y ../x/.git`,
    "cd x; git status",
  ],
  [
    "commondir leads to its settings",
    `mkdir -p x/.git y; cd y; ${ENTRIES}; git config -f config ${EVIL}; mv HEAD ../x/.git; echo ../../y > ../x/.git/commondir`,
    "cd x; git status",
  ],
  [
    "one in a bare one",
    `git init -q --bare y; cd y; ${AT_X}; git -C x config core.fsmonitor 'sh ../../evil.sh; false'`,
    "cd y/x; git status",
  ],
  [
    "one in git's folder of a new one",
    `${AT_X}; mkdir -p x/.git/modules; cd x/.git/modules; git init -q --bare y; mkdir ../../m; git config -f y/config core.bare false; git config -f y/config core.worktree ../../../m; git config -f y/config core.fsmonitor 'sh ../../evil.sh; false'; echo 'gitdir: ../.git/modules/y' > ../../m/.git`,
    "cd x/m; git status",
  ],
  [
    "a file leads to it in objects of another one",
    `git init -q --bare y; ${AT_X}; ${leadTo("y/objects/g")};; git add x`,
    "git status",
  ],
  [
    "a file leads to it in a folder of objects, and it names the work tree",
    `git init -q --bare y; ${AT_X}; ${
      leadTo("y/objects/ab")
    }; rm y/objects/ab/gitdir; git config -f y/objects/ab/config core.worktree $PWD/x;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in git's folder of a known one",
    `cat > q.sh <<'E'\n${AT_X}; ${leadTo(".git/y")}\nE\n;; git add a; sh q.sh;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in git's folder of a known one, where it looks like one of its work trees",
    `cat > q.sh <<'E'\n${AT_X}; mkdir -p .git/y/worktrees; cp -r .git/HEAD .git/refs .git/objects .git/y; ${
      leadTo(".git/y/worktrees/x")
    }\nE\n;; git add a; sh q.sh;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in the saved caches",
    `mkdir -p $HOME/.cache; ${AT_X}; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ${
      leadTo("$HOME/.cache/y")
    }; echo "gitdir: \${at:-$HOME/.cache}/y" > x/.git;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in the saved caches behind a link",
    `mkdir -p $HOME/.cache; ${AT_X}; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ${
      leadTo("$HOME/.cache/y")
    }; mkdir $HOME/.cache/z; ln -s "\${at:-$HOME/.cache}/z" l; git init -q --bare y; echo "gitdir: ../l/../y" > x/.git`,
    "cd x; git status",
  ],
  [
    "one among the objects of the folder itself",
    `${ENTRIES}; git init -q objects/ab/y; git -C objects/ab/y config core.fsmonitor 'sh ../../../evil.sh; false'`,
    "cd objects/ab/y; git status",
  ],
  [
    "its log is a link",
    `${AT_X}; ln -sf $HOME/.bashrc x/.git/logs/HEAD`,
    "cd x; git checkout -q -b z",
  ],
  [
    "a submodule of another branch in a folder whose name is not UTF-8",
    `${SUBMODULE}; n=$(printf 's\\377'); mv s "$n"; ${ON_TOPIC}`,
    "cd x; git checkout -q topic; git status",
  ],
  [
    "one below such a folder, in one that cannot be listed",
    `${SUBMODULE}; d=$(printf '\\303\\251\\n\\377'); n="$d/c/s"; mkdir -p "$d/c"; mv s "$n"; ${ON_TOPIC}; chmod 311 "$d/c"`,
    "cd x; git checkout -q topic; git status",
  ],
  [
    "a submodule in a folder whose path is as long as possible",
    `${SUBMODULE}; p= d=$(printf %0200d 0); while [ \${#PWD} -lt 3880 ]; do mkdir $d; mv s $d; cd $d; p=$p$d/; done; l=$(printf %0$((4089 - \${#PWD}))d 0); mv s $l; cd "\${PWD%/"\${p%/}"}"; n=$p$l; ${ON_TOPIC}`,
    "cd x; git checkout -q topic; git status",
  ],
  [
    "settings that cannot be read",
    `${AT_X}; git -C x config ${EVIL}; chmod 0 x/.git/config; chmod 500 x/.git`,
    "cd x; chmod 600 .git/config; git status",
  ],
];

/** True for a row with places that only a folder of its own has. The others share one: each run of a sandbox takes time. */
const isAlone = ([, prepare]: typeof MADE[number]) =>
  /\$HOME|\$NEW|^mkdir objects|;; git add/.test(prepare);
const SHARED = MADE.filter((row) => !isAlone(row));
const AT_ONCE = 5;
const GROUPS = [
  ...MADE.filter(isAlone).map((row) => [row]),
  ...SHARED.flatMap((_, at) => at % AT_ONCE === 0 ? [SHARED.slice(at, at + AT_ONCE)] : []),
];

for (const rows of GROUPS) {
  const others = rows.length > 1 ? `, and ${rows.length - 1} more` : "";
  test(`R-23 a repository that a command makes runs nothing in the user's git: ${rows[0]![0]}${others}`, async () => {
    for (const isReal of [true, false]) {
      await using at = await repository();
      const folders = rows.map((_, row) => rows.length === 1 ? "." : `row${row}`);
      // Each row's program makes a file with the row in its name.
      const lineOf = (line: string, row: number) =>
        `cd ${folders[row]}; ${line}`.replaceAll("$HOME", `${at.base}/home`)
          .replaceAll("$NEW", "new").replace(/pwned|\.bashrc/g, `$&${row}`);
      const evil = await Deno.readTextFile(`${at.folder}/evil.sh`);
      for (const [row, folder] of folders.entries()) {
        await Deno.mkdir(`${at.folder}/${folder}`, { recursive: true });
        const text = evil.replace("pwned", `pwned${row}`);
        await Deno.writeTextFile(`${at.folder}/${folder}/evil.sh`, text);
      }
      const steps = rows.map(([, prepare]) => prepare.split(";; "));
      for (let step = 0; steps.some((all) => all.length > step); step++) {
        const scripts = await Promise.all(steps.map(async (all, row) => {
          await Deno.writeTextFile(`${at.folder}/p${row}.sh`, lineOf(all[step] ?? ":", row));
          return `sh p${row}.sh`;
        }));
        const line = steps[0]![step] ?? "";
        await (isReal
          ? at.outside(scripts.join("; "))
          : at.run(line.startsWith("git add") ? line : scripts.join("; ")));
      }
      for (const [row, [, , command]] of rows.entries()) await at.outside(lineOf(command, row));
      const ran = rows.filter((_, row) =>
        ["pwned", "work/pwned", "home/.bashrc"].some((path) => at.has(path + row))
      );
      assertEquals(ran, isReal ? rows : []);
      await at.outside("chmod -R u+rwx .");
    }
  });
}

/** What the user's own settings name in each repository, and how a command makes it in `x`. */
const OWN: [settings: string, make: string][] = [
  ["core.hooksPath .githooks", "mkdir .githooks; cp ../hook .githooks/post-index-change"],
  ["filter.fmt.clean ./tools/clean", "mkdir tools; cp ../hook tools/clean"],
  ["filter.fmt.clean 'sh -e clean.sh'", "cp ../hook clean.sh"],
  ["filter.fmt.clean tools/clean", "mkdir ../t; cp ../hook ../t/clean; ln -s ../t tools"],
];

for (const [settings, make] of OWN) {
  for (const init of ["git init -q x", "git init -q --separate-git-dir=y x"]) {
    test(`R-23 the user's own settings run nothing of a repository that a command makes: ${settings}, ${init}`, async () => {
      for (const isReal of [true, false]) {
        await using at = await repository();
        await at.outside(`git config --global ${settings}`);
        await Deno.writeTextFile(
          `${at.folder}/p.sh`,
          `(echo '#!/bin/sh'; cat evil.sh) > hook; chmod +x hook; ${init}; cd x; echo '* filter=fmt' > .gitattributes; ${make}; echo 1 > main; :`,
        );
        await (isReal ? at.outside("sh p.sh") : at.run("sh p.sh"));
        await at.outside("cd x; git add main; git status");
        assertEquals(at.has("pwned"), isReal);
      }
    });
  }
}

test("R-23 the user's aliases and filters move no file of a new repository that they only resemble", async () => {
  await using at = await repository();
  await at.outside(
    "git config --global alias.co 'checkout main'; git config --global filter.lfs.clean 'git-lfs clean -- %f'; git config --global core.editor 'vim -f'",
  );
  await Deno.writeTextFile(`${at.folder}/p.sh`, `${AT_X}; cd x; touch main clean HEAD vim`);
  assertEquals(await at.run("sh p.sh"), "exit code: 0\nno output");
});

test("R-23 settings of a new repository that are too long to look at are put aside", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    "for n in 1 2 3; do git init -q $n; done; git -C 1 config core.commentchar $(printf '%1001s' | tr ' ' a); " +
      "git -C 2 config core.commentchar $(printf '%1000s' | tr ' ' a); printf '#%100000s' >> 3/.git/config; " +
      "git clone -qs . 4; for n in $(seq 300); do cat 4/.git/objects/info/alternates; done > a; mv a 4/.git/objects/info/alternates",
  );
  const said = await at.run("sh p.sh");
  const moved = said.match(/work\/\d(?=\/[.]git\/config was moved)/g);
  assertEquals(moved?.sort(), ["work/1", "work/3"]);
  assertMatch(said, /4\/[.]git\/objects\/info\/alternates was moved/);
});

test("R-23 what is staged in a new repository stays, but for an index with names of git's own", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `git init -q y; cd y; echo 1 > b; git add b; cd ..
       git init -q x; cd x; mkdir -p xgit/hooks; cp ../evil.sh xgit/hooks/post-checkout; git add xgit; rm -r xgit
       perl -MDigest::SHA=sha1 -0777 -pi -e 's/xgit/.git/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index`,
  );
  const said = await at.run("sh p.sh");
  assertMatch(said, /^exit code: 0\n[^;]*x\/[.]git\/index was moved to [^;]*$/);
  await at.outside("cd x; git checkout-index -af");
  assertEquals(at.has("work/x/.git/hooks/post-checkout"), false);
  assertMatch(await at.run("cd y; git commit -qm y; git status -s; git ls-files"), /stdout:\nb$/);
});

test("R-23 repositories that run nothing stay as commands make them", async () => {
  await using at = await repository();
  const made = [
    "git init -q x; git -C x config user.name a; git -C x config core.fsmonitor false",
    "git clone -q . clone; git clone -q --bare . bare; git clone -q --depth 1 file://$PWD shallow; git init -q --separate-git-dir=gd sd",
    "git init -q y; cd y; git config user.name a; git config user.email b; git commit -q --allow-empty -m y; git worktree add -q ../tree; " +
    "git -c protocol.file.allow=always submodule --quiet add $(dirname $PWD) sub; git -C sub sparse-checkout set --skip-checks a",
  ];
  const state =
    "find . -path ./.git -prune -o -type f -name '*config*' -print -exec cat {} + ; find . -name '.git' | sort; ls */.git/hooks";
  for (const line of made) {
    await Deno.writeTextFile(`${at.folder}/p.sh`, line);
    const said = await at.run("sh p.sh");
    assertEquals(said.includes("untrusted"), false, said);
    assertMatch(said, /^exit code: 0/);
  }
  assertEquals((await at.outside(state)).includes("untrusted"), false);
});

test("R-23 in a further folder, too, no repository that a command makes or finds runs anything", async () => {
  for (const isReal of [true, false]) {
    await using at = await repository();
    const other = `${at.base}/other`;
    const init = "git init -q";
    await at.outside(`${init} ${other}/a/b/c; ${init} --bare ${other}/a/bare`);
    const evil = `core.fsmonitor 'sh ${at.folder}/evil.sh; false'`;
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `cd ${other}; git -C a/b/c config ${evil}; git init -q d/e; git -C d/e config ${evil}; ` +
        `git -C a/bare config ${evil}; git -C a/bare config core.bare false`,
    );
    if (isReal) await at.outside("sh p.sh");
    else {assertMatch(
        await at.run("sh p.sh", { right: { kind: "write", folder: other } }),
        /d\/e.*untrusted/,
      );}
    for (const name of ["a/b/c", "d/e", "a/bare"]) {
      await at.outside(`rm ../pwned; cd ${other}/${name} && git --work-tree . status`);
      assertEquals(at.has("pwned"), isReal, name);
    }
    // Inside of git's folder, nothing is opened.
    const bare = `${other}/a/bare`;
    await at.run(`touch ${bare}/hooks/x`, { right: { kind: "write", folder: bare } });
    assertEquals(at.has("other/a/bare/hooks/x"), false);
  }
});

test("R-23 what a job makes of a new repository is put aside after the next command", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `mkfifo go; cat go; git -C x config ${EVIL}; touch done; cat go`,
  );
  const job = at.run("sh p.sh", { inBackground: true });
  await waitUntil(() => at.has("work/go"));
  await Deno.writeTextFile(`${at.folder}/made.sh`, AT_X);
  assertEquals((await at.run("sh made.sh")).includes("untrusted"), false);
  await at.outside("echo > go");
  await waitUntil(() => at.has("work/done"));
  assertMatch(await at.run("true"), /x\/[.]git\/config was moved to config[.]untrusted/);
  await at.outside("git -C x status; echo > go");
  await job;
  assertEquals(at.has("pwned"), false);
});

test("R-23 what a command of another run makes is known, and put aside once that run was killed", async () => {
  await using at = await repository();
  await at.outside("rm -rf .git/hooks; git remote add origin https://127.0.0.1:9/x");
  at.allow("run_bash(git fetch *)");
  const module = new URL("../../src/safety/sandbox/writers.ts", import.meta.url).href;
  await at.outside(
    `for at in old .idea/old; do git init -qb main $at; git -C $at config ${EVIL}; done`,
  );
  const given = [module, at.folder, `${at.base}/home/.local/state/copilot`];
  const code = `const [module, folder, state] = ${JSON.stringify(given)};
      const { startWriter } = await import(module);
      const places = new Map([[folder, "write"], [folder + "/.idea", "read"]]);
      const view = { folder, places, network: false };
      startWriter({ ...view, repositories: [folder + "/old/.git"] }, {}, {}, state);
      console.log("started");
      setInterval(() => {}, 1000);`;
  const other = new Deno.Command(Deno.execPath(), { args: ["eval", code], stdout: "piped" })
    .spawn();
  const output = other.stdout.getReader();
  await output.read();
  assertMatch(await at.run("git fetch origin"), /[.]git, which a running command can write/);
  await at.outside(`${AT_X}; git -C x config ${EVIL}; mkdir .aws .vscode`);
  // The next view hides or protects it.
  for (const name of [".aws", ".vscode"]) await at.outside(`cp -r x ${name}/x`);
  assertEquals(await at.run("true"), "exit code: 0\nno output");
  other.kill("SIGKILL");
  await other.status;
  await output.cancel();
  // What the user had before is theirs. What is younger may be a command's: it could keep its run busy.
  const killed = Date.now();
  await waitUntil(() => Date.now() - killed > 3000);
  await at.outside(
    `mv old new; git init -qb main late; git -C late config ${EVIL}; git worktree add -q wt`,
  );
  const mended = await at.run("true");
  assertMatch(mended, /Commands ran when this program was killed, and may have made what is new/);
  for (const name of ["x", "late", "[.]aws/x", "[.]vscode/x"]) {
    assertMatch(mended, RegExp(`${name}/[.]git/config was moved to config[.]untrusted`));
  }
  assertEquals(mended.match(/was moved/g)?.length, 4, mended);
  await at.outside("git -C x status");
  assertEquals(at.has("pwned"), false);
  assertMatch(await at.run("git fetch origin"), /and a command may have made this repository$/);
  assertEquals(await at.run("true"), "exit code: 0\nno output");
  // A record that cannot be read is of one that may have made anything.
  await Deno.writeTextFile(`${at.base}/home/.local/state/copilot/writers/broken`, "{}");
  assertMatch(await at.run("git fetch origin"), /which a running command can write/);
});

Deno.test({
  name: "R-23 what a job makes of settings that it mapped, which no time shows, is put aside",
  ignore: ignore || !/^(x86_64|aarch64)$/.test(Deno.build.arch),
  async fn() {
    await using at = await repository();
    const [mmap, read] = Deno.build.arch === "x86_64" ? [9, 0] : [222, 63];
    await Deno.writeTextFile(
      `${at.folder}/map.pl`,
      `open F, '+<', 'x/.git/config'; my $at = syscall(${mmap}, 0, 4096, 3, 1, fileno F, 0);
       for ('good', 'bad') {
         open G, '<', $_; syscall(${read}, fileno G, $at, 4096);
         open T, '>', "$_.done"; open P, '<', "go.$_"; <P>;
       }`,
    );
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `${AT_X}; mkfifo go go.good go.bad; cat go; cd x; cp .git/config ../good; git config ${EVIL}; cp .git/config ../bad; cd ..
       for f in good bad; do printf '#%4095s' ' ' | tr ' ' x >> $f; head -c 4096 $f > x/.git/config; cp x/.git/config $f; done
       cat good > x/.git/config; exec perl map.pl`,
    );
    const job = at.run("sh p.sh", { inBackground: true });
    await waitUntil(() => at.has("work/go"));
    // This writes the settings again.
    assertEquals((await at.run("true")).includes("untrusted"), false);
    await at.outside("echo > go");
    await waitUntil(() => at.has("work/good.done"));
    const changed = () => Deno.statSync(`${at.folder}/x/.git/config`).ctime!.getTime();
    await waitUntil(() => Date.now() - changed() > 3000);
    assertEquals((await at.run("true")).includes("untrusted"), false);
    const time = changed();
    await at.outside("echo > go.good");
    await waitUntil(() => at.has("work/bad.done"));
    assertEquals(changed(), time);
    assertMatch(await at.run("true"), /x\/[.]git\/config was moved to config[.]untrusted/);
    await at.outside("git -C x status; echo > go.bad");
    await job;
    assertEquals(at.has("pwned"), false);
  },
});

test("R-23 pipes that a command puts into git's folders, for which git would wait, are removed", async () => {
  await using at = await repository();
  const names = "HEAD config index commondir objects/pack/pack-aa.idx objects/ab/cd refs/heads/p";
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `for g in .git x/.git; do mkdir -p $g/objects/ab $g/objects/pack; for n in ${names}; do rm -f $g/$n; mkfifo $g/$n; done; done`,
  );
  const said = await at.run(`${AT_X}; git tag one; sh p.sh`);
  assertMatch(said, /x\/[.]git\/config, a pipe or device, was removed as git would wait for it/);
  assertEquals(await at.outside("find . -type p; git log --format=%s"), "one\n");
});

const SECRET = "git init -q ../secret; cd ../secret; echo key > k; git add k; git commit -qm k";
/** Ways in which a new repository leads git to the objects of another one, from `x`. */
const ALTERNATES: [name: string, lead: string][] = [
  ["a path in quotes", `printf '"%s"\n' $(echo $AT | sed 's,/,\\\\057,g')`],
  [
    "a folder that leads on",
    "mkdir -p ../store/info; echo $AT > ../store/info/alternates; echo ../../../store",
  ],
];

for (const [name, lead] of ALTERNATES) {
  test(`R-23 a repository that a command makes leads to no objects elsewhere: ${name}`, async () => {
    await using at = await repository();
    await at.outside(SECRET);
    const id = (await at.outside("git -C ../secret rev-parse HEAD:k")).trim();
    const line = lead.replaceAll("$AT", `${at.base}/secret/.git/objects`);
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `git init -q x; cd x; (${line}) > ../to; cd .git/objects; mkdir -p "$(head -1 ../../../to)"; cp ../../../to info/alternates`,
    );
    const read = `git -C x cat-file -p ${id}`;
    await at.outside("sh p.sh");
    assertEquals(await at.outside(read), "key\n");
    await at.outside("rm -rf x store to");
    assertMatch(await at.run("sh p.sh"), /alternates was moved to alternates[.]untrusted/);
    assertEquals(await at.outside(read), "");
    // Positive control.
    assertEquals((await at.run("git clone -qs . near")).includes("untrusted"), false);
  });
}

test("R-23 no hidden file shows an object that a running command leads git to", async () => {
  await using at = await repository();
  await at.outside(SECRET);
  const id = (await at.outside("git -C ../secret rev-parse HEAD:k")).trim();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `git init -q x; cd x; echo ${at.base}/secret/.git/objects > .git/objects/info/alternates; echo a > .env
       git update-index --add --cacheinfo 100644,${id},.env; mkfifo go; touch ready; cat go`,
  );
  const job = at.run("sh p.sh", { inBackground: true });
  await waitUntil(() => at.has("work/x/ready"));
  await Deno.writeTextFile(`${at.folder}/cat.sh`, "cat x/.env");
  assertEquals((await at.run("sh cat.sh")).includes("key"), false);
  await at.outside("echo > x/go");
  await job;
});

/** The place of a repository that `sub/.git` is a link to, and what a command puts in the place of the link. */
const LINKED: [target: string, plant: string][] = [
  ["real.git", `git init -q sub; git -C sub config ${EVIL}`],
  ["../real.git", `git init -q sub; git -C sub config ${EVIL}`],
  [
    "real.git",
    `mkdir -p $HOME/.cache; cd $HOME/.cache; git init -q --bare z; git -C z config ${EVIL}; git -C z config core.bare false; cd -; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ln -s "\${at:-$HOME/.cache}/z" sub/.git`,
  ],
  [
    "../real.git",
    "git init -q sub; mkdir sub/.git/modules; git init -q --bare sub/.git/modules/m; cd sub/.git/modules/m; git config core.fsmonitor 'sh ../../evil.sh; false'; git config core.bare false; git config core.worktree ../../../m",
  ],
];

for (const [target, plant] of LINKED) {
  test(`R-23 what a command puts in the place of a link to ${target} runs nothing: ${plant}`, async () => {
    for (const isReal of [true, false]) {
      await using at = await repository();
      await at.outside(
        `git init -q sub; mkdir sub/m; mv sub/.git ${target}; ln -s $(realpath ${target}) sub/.git; echo gitdir: ../.git/modules/m > sub/m/.git`,
      );
      const line = `rm sub/.git; ${plant}`.replaceAll("$HOME", `${at.base}/home`);
      await Deno.writeTextFile(`${at.folder}/p.sh`, line);
      await (isReal ? at.outside("sh p.sh") : at.run("sh p.sh"));
      // Nothing of it counts as known afterwards.
      if (!isReal) await at.run("true");
      await at.outside("cd sub; git status; cd m; git status");
      assertEquals(at.has("pwned"), isReal);
    }
  });
}

test("R-23 what a job makes in the place of a link is checked again at its end", async () => {
  await using at = await repository();
  await at.outside("git init -q sub; mv sub/.git real.git; ln -s ../real.git sub/.git");
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `rm sub/.git; git init -q sub; mkfifo go; cat go; git -C sub config ${EVIL}`,
  );
  const job = at.run("sh p.sh", { inBackground: true });
  await waitUntil(() => at.has("work/go"));
  await at.run("true");
  await at.outside("echo > go");
  await job;
  await at.run("true");
  await at.outside("cd sub; git status");
  assertEquals([at.has("pwned"), at.has("work/sub/.git/HEAD")], [false, true]);
});

test("R-23 a link to a repository stays, and what it leads to", async () => {
  await using at = await repository();
  await at.outside(
    `git init -q sub; mv sub/.git ../real.git; ln -s ../../real.git sub/.git; git -C sub config ${EVIL}`,
  );
  assertEquals(await at.run("echo x > sub/x"), "exit code: 0\nno output");
  assertEquals(
    await at.outside("readlink sub/.git; git -C sub config core.fsmonitor"),
    "../../real.git\nsh ../evil.sh; false\n",
  );
});

test("R-23 work trees and submodules that the user adds while a job runs stay", async () => {
  await using at = await repository();
  const folder = `${at.base}/out`;
  await at.outside(
    "git init -q ../m; git -C ../m commit -q --allow-empty -m x; git worktree add -q ../out",
  );
  for (const tree of [at.folder, folder]) {
    await at.outside(`cd ${tree}; mkfifo go`);
    const job = at.run("touch ready; cat go", { inBackground: true, folder: tree });
    await waitUntil(() => at.has(`${tree.slice(at.base.length + 1)}/ready`));
    await at.outside(
      `cd ${tree}; git worktree add -q in; git -c protocol.file.allow=always submodule --quiet add ../m lib/m`,
    );
    assertEquals(await at.run("true", { folder: tree }), "exit code: 0\nno output");
    await at.outside(`cd ${tree}; echo > go`);
    await job;
    const state = "ls -d in/.git lib/m/.git; git -C in worktree remove .";
    assertEquals(await at.outside(`cd ${tree}; ${state}`), "in/.git\nlib/m/.git\n");
  }
});

test("R-23 what a server makes as a new repository is put aside after the next command", async () => {
  await using at = await repository();
  const confine = at.permissions.confineServers(() => at.folder, "one");
  const line = `${AT_X}; git -C x config ${EVIL}; ln -s ../../a x/.git/link`;
  const { program, args } = await confine("/bin/sh", ["-c", line]);
  const { success } = await new Deno.Command(program, { args, cwd: at.folder }).output();
  assertEquals(success, true);
  const said = await at.run("true");
  assertMatch(
    said,
    /x\/[.]git\/link, a link to [^ ]*, was removed .*x\/[.]git\/config was moved to config[.]untr/,
  );
  assertEquals(at.notices, [said.split("\n")[1]]);
  // The settings that git runs nothing for stay.
  assertEquals(await at.outside("git -C x config core.bare; git -C x status -s"), "false\n");
  assertEquals([at.has("pwned"), await at.run("true")], [false, "exit code: 0\nno output"]);
});

test("R-23 what a server leaves is reported at its end", async () => {
  await using at = await repository();
  const confine = at.permissions.confineServers(() => at.folder, "one");
  const line = `${AT_X}; git -C x config ${EVIL}`;
  const { program, args, finish } = await confine("/bin/sh", ["-c", line]);
  const { success } = await new Deno.Command(program, { args, cwd: at.folder }).output();
  assertEquals(success, true);
  const said = finish?.("");
  assertMatch(said ?? "", /x\/[.]git\/config was moved to config[.]untr/);
  assertStringIncludes(at.notices.join("\n"), said!);
});

test("R-21 what a job puts in the place of a repository is not mended", async () => {
  await using at = await repository();
  const victim = `${at.base}/victim`;
  await at.outside(
    `mkdir -p ${victim}/lib/a; ln -s x ${victim}/lib/a/link; chmod 500 ${victim}/lib/a`,
  );
  const state = `find ${victim} -printf '%p %y %m %T@ %l\\n' | sort`;
  const before = await at.outside(state);
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `mkdir sub sub/lib; cd sub/lib; ${ENTRIES}; cd ../..; mkfifo go swapped end; cat go; ` +
      `mv sub sub2; ln -s ${victim} sub; echo > swapped; cat end`,
  );
  const job = at.run("sh p.sh", { inBackground: true });
  await waitUntil(() => at.has("work/end"));
  await Deno.writeTextFile(`${at.folder}/q.sh`, "echo > go; cat swapped");
  const said = await at.run("git tag one; sh q.sh");
  assertEquals(await at.outside(state), before);
  assertMatch(said, /sub\/lib could not be looked through.*: do not use git there/);
  await at.outside("echo > end");
  await job;
  assertEquals(await at.outside(state), before);
  await at.outside(`chmod 700 ${victim}/lib/a`);
});

test("R-23 a job above a repository may move it, so that no rule covers a fetch there", async () => {
  await using at = await repository();
  const folder = `${at.folder}/x`;
  await at.outside(
    `${AT_X}; rm -rf x/.git/hooks; git -C x remote add origin https://127.0.0.1:9/x`,
  );
  at.permissions.allow({ rule: "run_bash(git fetch *)" }, folder);
  assertMatch(await at.run("git fetch origin", { folder }), /^exit code: 128/);
  const job = at.run("mkfifo go; cat go; mv x y; mkdir x", { inBackground: true });
  await waitUntil(() => at.has("work/go"));
  assertMatch(await at.run("git fetch origin", { folder }), /which a running command can write/);
  await at.outside("echo > go");
  await job;
});
