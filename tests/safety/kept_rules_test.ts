/** Commands that a person lets run from now on, and what such an answer covers later. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Approval, ApprovalAnswer } from "../../src/safety/approval.ts";
import { openPermissions, type Permissions } from "../../src/safety/permissions.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import { type Workspace, workspace } from "../tools/workspace.ts";

const unix = { ignore: Deno.build.os === "windows" };
const tool = builtinTools.find(({ name }) => name === "run_bash")!;

/** Decides a command in the folder; the question, or undefined where nobody was asked. */
async function asked(
  permissions: Permissions,
  { context }: Workspace,
  command: string,
  answer: ApprovalAnswer = { choice: "refuse", reason: "" },
): Promise<Approval | undefined> {
  let question: Approval | undefined;
  const approve = (approval: Approval) => (question = approval, Promise.resolve(answer));
  await permissions.policy(approve).decide(tool, { command }, context);
  return question;
}

/** A folder with programs of its own. */
function folder(): Workspace {
  const ws = workspace();
  for (const name of ["sub", "sub/deep", "other", "bin", "src", "repo", "repo/deep"]) {
    Deno.mkdirSync(ws.at(name));
  }
  ws.put("package.json", JSON.stringify({ scripts: { test: "jest", build: "tsc" } }));
  ws.put("sub/package.json", JSON.stringify({ scripts: { test: "evil" } }));
  for (const name of ["build.sh", "sub/build.sh", "gen.py", "sub/gen.py", "x.cfg"]) {
    ws.put(name, `echo ${name}\n`);
  }
  ws.put(".env", "KEY=1\n");
  // Files whose names are an option, and a subcommand, of interpreters.
  for (const name of ["-e", "serve", "bin/tsx", "src/index.js", "server.js"]) ws.put(name, "1");
  // git takes the folder for a repository, and runs what its settings name.
  for (const name of ["repo/objects", "repo/refs"]) Deno.mkdirSync(ws.at(name));
  ws.put("repo/HEAD", "ref: refs/heads/main\n");
  ws.put("repo/config", "[core]\nbare = false\nworktree = .\nfsmonitor = ./evil\n");
  ws.put("repo/deep/a", "");
  Deno.symlinkSync("/usr/bin", ws.at("away"));
  Deno.symlinkSync("../.env", ws.at("sub/link"));
  return ws;
}

/** The rules that are offered for a command line. */
const OFFERED: [command: string, offered: string][] = [
  ["python3 -m unittest -v 2>&1", "run_bash(python3 -m unittest *)"],
  ["python3 -m pytest tests/a.py | tail -5", "run_bash(python3 -m pytest *)"],
  ["git add a && git commit -m 'a b'", "run_bash(git add *) run_bash(git commit *)"],
  ["git add a; git add b > /dev/null", "run_bash(git add *)"],
  ["cd sub && git status | grep -v 'a b' | wc -l", "run_bash(git status *)"],
  ["timeout 60 pytest -x", "run_bash(pytest *)"],
  ["A=1 pytest -x", ""],
  ["npm test", "run_bash(npm test)"],
  ["npm test -- --watch=false", "run_bash(npm test -- --watch=false)"],
  ["npm run build && npm test", "run_bash(npm run build) run_bash(npm test)"],
  ["yarn build", "run_bash(yarn build)"],
  ["./build.sh --fast", "run_bash(./build.sh *)"],
  ["python3 gen.py a", "run_bash(python3 gen.py *)"],
  ["python3 -u gen.py a", "run_bash(python3 -u gen.py a)"],
  ["bash build.sh", "run_bash(bash build.sh)"],
  ["env A=1 ./build.sh", "run_bash(env A=1 ./build.sh)"],
  ["sh -c './build.sh; ls'", "run_bash(sh -c './build.sh; ls')"],
  ["tool --config=x.cfg", "run_bash(tool --config=x.cfg)"],
  // The very words, as any other word may be code.
  ["python3 -c 'print(1)'", "run_bash(python3 -c 'print(1)')"],
  ["node -e 1", "run_bash(node -e 1)"],
  ["deno serve gen.py", "run_bash(deno serve gen.py)"],
  ["bin/tsx gen.py a", "run_bash(bin/tsx gen.py *)"],
  ["bin/tsx -p 1", "run_bash(bin/tsx -p 1)"],
  ["make test", "run_bash(make test)"],
  ["sudo ls", "run_bash(sudo ls)"],
  ["find . -exec ls {} +", "run_bash(find . -exec ls '{}' +)"],
  ["rm x", "run_bash(rm x)"],
  ["a; b; c; d", "run_bash(a) run_bash(b) run_bash(c) run_bash(d)"],
  ["rm it's\\ x\\ \\*", ""],
  ['rm "it\'s *"', "run_bash(rm 'it'\\''s *')"],
  ["cargo test --config a=b", "run_bash(cargo test --config a=b)"],
  ["go test --exec=x", "run_bash(go test --exec=x)"],
  ["sh -c 'cd sub && ./build.sh'", "run_bash(sh -c 'cd sub && ./build.sh')"],
  ["git add a && ./build.sh", "run_bash(git add *) run_bash(./build.sh *)"],
  ...[
    "npm test --prefix sub",
    "npm --prefix sub test",
    "npm run",
    "npm run none",
    "yarn dlx x",
    "node sub",
    "python3 none.py",
    "env -C sub ./build.sh",
    "env --chdir=sub npm test",
    "sh -c ./none.sh",
    "env npm test",
    "node -r ./hook gen.py",
    "python3 sub/deep",
    "node src x.cfg",
    "node server x.cfg",
    "node -r ./gen.py src x.cfg",
  ].map((command): [string, string] => [command, `run_bash(${command})`]),
  // Nothing that holds for longer.
  ...[
    ...["npm install x", "pip install x", "git push", "git fetch", "curl x", "npx x", "ssh x"],
    ...["cd other && npm test", "cd / && make", "cd .. && make", "cd away && make", "cd sub; make"],
    ...["cd sub && make", "cd sub && rm x", "cd sub", "echo a", "ls | sh", "echo x | python3"],
    ...["python3 <<'E'\n1\nE", "sh <<<ls", "ls | xargs rm"],
    ...["export A=1", "PATH=. npm test", "alias ls=rm", "set -e", "source build.sh x", "eval ls"],
    ...["make > out", "ls > /etc/x", "ls ../x", "cat .env", "cat sub/link", "cd sub && cat link"],
    ...["ls /etc", "git diff --no-index /etc/passwd x", "ls $(make)", "ls `make`", "ls <(make)"],
    ...["for f in a; do make; done", "f() { make; }; f", "rm 'a\nb'", "git reset --hard", "'"],
    ...["cat AGENTS.md", "cd repo && git status", "cd repo/deep && git add a"],
    ...["function f", "case a in a) make;; esac", "'A=1' x", "'if' x", "uv pip install x"],
    ...["a; b; c; d; e", "ls *", "echo $x", ""],
  ].map((command): [string, string] => [command, ""]),
];

Deno.test("CMD-08 the rules that a question offers", unix, async (t) => {
  using ws = folder();
  for (const [command, offered] of OFFERED) {
    await t.step(command, async () => {
      const permissions = openPermissions({}, () => undefined);
      const { rules, choices } = await asked(permissions, ws, command) ?? {};
      const texts = rules?.map(({ rule }) => rule) ?? [];
      assertEquals(texts.join(" "), offered);
      assertEquals(choices?.includes("folder") === true, offered !== "");
    });
  }
});

/** What was allowed for the session, and what runs then unasked, or is asked about. */
const KEPT: [allowed: string[], runs: string[], asks: string[]][] = [
  [
    ["git status", "git cherry-pick x"],
    ["cd sub && git status", "git cherry-pick -n y"],
    [
      ...[
        "cd repo && git status",
        "cd repo/deep && git status",
        "cd sub/deep/../../repo && git status",
      ],
      ...["git cherry-pick --strategy=a/b y", "git cherry-pick --strat a/b y"],
    ],
  ],
  [
    ["cd sub && pytest"],
    ["cd sub && pytest", "cd ./sub && pytest && echo done", "cd sub && (pytest 2>&1) | cat"],
    [
      ...["cd sub && true; npm test", "cd sub && true || npm test"],
      ...[
        "cd sub && true & npm test",
        "cd sub && true\nnpm test",
        "cd sub & npm test",
        "cd sub | npm test",
      ],
    ],
  ],
  [
    ["python3 -m unittest"],
    [
      "python3 -m unittest a.b -v",
      "cd sub && python3 -m unittest | tail -n 3",
      "echo a; python3 -m unittest",
    ],
    [
      ...["python3 -m unittest; make", "python3 -m unittest && make", "python3 -m unittest\nmake"],
      ...[
        "python3 -m unittest & make",
        "python3 -m unittest | make",
        "python3 -m unittest |& make",
      ],
      ...[
        "(make); python3 -m unittest",
        "{ make; }; python3 -m unittest",
        "! make; python3 -m unittest",
      ],
      ...[
        "python3 -m unittest $(make)",
        "python3 -m unittest `make`",
        "python3 -m unittest <(make)",
      ],
      ...[
        "python3 -m unittest > out",
        "python3 -m unittest >> ~/.bashrc",
        "python3 -m unittest < x.cfg",
      ],
      ...[
        "PYTHONPATH=/x python3 -m unittest",
        "A=1; python3 -m unittest",
        "export A=1 && python3 -m unittest",
      ],
      ...[
        "cd / && python3 -m unittest",
        "cd away && python3 -m unittest",
        "cd sub; python3 -m unittest",
      ],
      ...["python3() { make; }; python3 -m unittest", "alias python3=make; python3 -m unittest"],
      ...[
        "python3 -m unittest discover -s /tmp",
        "python3 -m unittest ../x",
        "python3 -m unittestx",
      ],
      ...[
        "python3 -m 'unittest x'",
        "./python3 -m unittest",
        "python3 -c 1",
        "python3 -m unittest *.py",
        "python3 -m unittest --x=.git/hooks/pre-commit",
        "python3 -m unittest -o.git/hooks/pre-commit",
        "python3 -m unittest https://x",
        "python3 -m unittest '--xml=~/x'",
        "python3 -m unittest '~/x'",
        "python3 -m unittest '--xml=$HOME/x'",
        "python3 -m unittest '--xml=${HOME}/x'",
      ],
      ...[
        "python3 -m unittest <<E\n$(make)\nE",
        "python3 -m unittest | sh",
        "eval python3 -m unittest",
      ],
      ...[
        "python3 -m unittest | tee out",
        "python3 -m unittest | tail -5 x.cfg",
        "cat .env; python3 -m unittest",
      ],
      ...[
        "python3 -m unittest | grep -f .env x",
        "pushd sub && python3 -m unittest",
        "cd - && python3 -m unittest",
      ],
      ...[
        "cd sub || python3 -m unittest",
        "cd sub & python3 -m unittest",
        "time python3 -m unittest",
      ],
      ...["python3 -m unittest | sort -o out", "hash -p ./x python3; python3 -m unittest"],
      ...["trap make EXIT; python3 -m unittest", "exec 3<x.cfg; python3 -m unittest"],
      ...["printf -v PATH .; python3 -m unittest", "python3 -m unittest #\\\n; make"],
    ],
  ],
  [
    ["npm test"],
    ["npm test", "npm test 2>&1 | tail -5"],
    [
      ...[
        "npm test x",
        "npm run build",
        "npm test --prefix sub",
        "cd sub && npm test",
        "cd sub; npm test",
      ],
      ...[
        "LD_PRELOAD=x npm test",
        "npm_config_script_shell=./x npm test",
        "npm tests",
        "cd sub\nnpm test",
      ],
      ...[
        "(cd sub; npm test)",
        "make; npm test",
        "git add x && npm test",
        "cp a package.json && npm test",
      ],
    ],
  ],
  [
    ["./build.sh", "git mv a b", "make"],
    ["./build.sh x", "./build.sh | head -n 2 && ./build.sh", "make", "git mv a b; make"],
    [
      ...["cd sub && ./build.sh", "sub/build.sh", "bash build.sh"],
      ...[
        "./build.sh ../x",
        "cd sub && make",
        "make x",
        "git mv a c",
        "echo x | make",
        "make <<<x",
      ],
      ...["cp x build.sh; ./build.sh", "echo x > build.sh; ./build.sh", "$PWD/build.sh"],
    ],
  ],
  [
    ["python3 -c 'print(1)'", "sh -c ls", "bash build.sh"],
    ["python3 -c 'print(1)'", "sh -c ls", "bash build.sh"],
    [
      ...[
        "python3 -c 'print(2)'",
        "python3 -c 'print(1)' x",
        "sh -c make",
        "sh -c ls make",
        "bash build.sh x",
      ],
      ...["echo ls | bash build.sh", "bash ./sub/build.sh", "cd sub && bash build.sh", "bash"],
    ],
  ],
];

Deno.test(
  "CMD-01 CMD-08 what was allowed in a question covers no other command",
  unix,
  async (t) => {
    using ws = folder();
    for (const [allowed, runs, asks] of KEPT) {
      const permissions = openPermissions({}, () => undefined);
      for (const command of allowed) {
        const question = await asked(permissions, ws, command, { choice: "session" });
        assertEquals(question?.choices.includes("session"), true, command);
      }
      const sub = { ...ws, context: { ...ws.context, workingDir: ws.at("sub/deep") } };
      assertEquals(await asked(permissions, sub, allowed[0]!) !== undefined, true, "elsewhere");
      for (const command of runs) {
        await t.step(
          `${allowed}: ${command} runs`,
          async () => assertEquals((await asked(permissions, ws, command))?.reason, undefined),
        );
      }
      for (const command of asks) {
        await t.step(
          `${allowed}: ${command} is asked about`,
          async () => assertEquals(await asked(permissions, ws, command) !== undefined, true),
        );
      }
    }
  },
);

Deno.test(
  "CMD-08 permissions.json keeps a rule once",
  unix,
  async () => {
    using ws = folder();
    using home = workspace();
    const open = () =>
      openPermissions({}, (name) => name === "XDG_CONFIG_HOME" ? home.dir : undefined);
    const file = () => JSON.parse(home.text("copilot/permissions.json")).folders[ws.dir].allow;
    const line = "./build.sh | tail -5";
    const answers = [];
    for (const text of ["one", "two"]) {
      ws.put("build.sh", text);
      answers.push(await asked(open(), ws, line, { choice: "folder" }));
    }
    assertEquals(answers.map((question) => question?.subject.command), [line, undefined]);
    await asked(await open(), ws, "git add x", { choice: "folder" });
    assertEquals(file(), [{ rule: "run_bash(./build.sh *)" }, { rule: "run_bash(git add *)" }]);
    // A revoked one is over, also if a call reads the rules before it is saved.
    const permissions = open();
    const revoked = permissions.disallow("run_bash(git add *)", ws.dir);
    await permissions.mode(ws.dir);
    await revoked;
    assertEquals((await asked(permissions, ws, "git add x"))?.subject.command, "git add x");
    // Rules that a person writes are texts.
    home.put(
      "copilot/permissions.json",
      JSON.stringify({ allow: ["run_bash(./build.sh)", "run_bash(ls *)"] }),
    );
    for (const command of ["./build.sh", "ls /etc | wc -l"]) {
      assertEquals(await asked(await open(), ws, command), undefined);
    }
    for (
      const bad of [{ rule: 1 }, { rule: "run_bash(ls)", file: {} }, {}, 1, {
        rule: "run_bash(ls)",
        files: { a: 1 },
      }]
    ) {
      home.put("copilot/permissions.json", JSON.stringify({ allow: [bad] }));
      const error = await Promise.try(() => asked(open(), ws, "ls")).catch((error) => error);
      assertStringIncludes(error.message, "Cannot use allow in ");
    }
  },
);
