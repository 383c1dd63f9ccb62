import { assertEquals } from "@std/assert";
import { placeOf } from "../../../src/safety/places.ts";
import { decide, rulesFor } from "../../../src/safety/policy.ts";
import { type KeptRule, parseKept, parseRule } from "../../../src/safety/rules.ts";
import type { PolicyCall, Settings, Verdict } from "../../../src/safety/settings.ts";
import { chosenPrograms } from "../../../src/safety/shell/command_verdict.ts";
import type { View } from "../../../src/safety/view.ts";
import { posixTest as test } from "../../helpers/test_unless.ts";

/** A folder with programs of its own, and the verdicts on commands there. */
function folder() {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  Deno.mkdirSync(`${path}/sub`);
  for (const name of ["build.sh", "sub/build.sh", "gen.py"]) {
    Deno.writeTextFileSync(`${path}/${name}`, "");
  }
  const view = (network: boolean): View => ({
    folder: path,
    places: new Map([["/", "hidden"], [path, "write"]]),
    network,
    isComplete: true,
  });
  const verdict = (
    call: string | Omit<PolicyCall, "tool">,
    rules: readonly (string | KeptRule)[],
    more: Partial<Settings> = {},
  ): Verdict =>
    decide(
      {
        tool: { name: "run_bash", access: "execute" },
        ...typeof call === "string" ? { command: call } : call,
      },
      {
        ...{ approve: "ask", sandbox: "workspace-write", hasBash: () => true },
        rules: rules.map((rule) =>
          typeof rule === "string" ? parseRule("allow", rule) : parseKept(rule)
        ),
        ...more,
      },
      (one) => placeOf(path, one),
    );
  return {
    path,
    view,
    verdict,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

const build: KeptRule = { rule: "run_bash(./build.sh *)" };
const gen: KeptRule = { rule: "run_bash(python3 gen.py *)" };
const both = [build, gen, "run_bash(make *)", "run_bash(ninja all)"];

test("CMD-08 a rule that a question added covers the files of this folder alone", () => {
  using at = folder();
  const rows: [command: string, effect: string, reason?: string][] = [
    ["./build.sh a", "allow"],
    ["make x", "allow"],
    ["./build.sh a | tail -n 5", "allow"],
    ["./build.sh a && ./build.sh b && python3 gen.py", "allow"],
    ["./build.sh a && make x", "allow"],
    ["make x && make y", "allow"],
    // In another folder, the same words are another file's, and exact words another program's.
    ["cd sub && ./build.sh", "ask", "runs cd, which no rule allows"],
    ["cd sub && make x", "allow"],
    ["ninja all", "allow"],
    ["ninja all x", "ask", "runs ninja, which no rule allows"],
    ["cd sub && ninja all", "ask", "runs cd, which no rule allows"],
    ["./build.sh ~/x", "ask", "runs ./build.sh with arguments that the shell expands"],
    ["./build.sh '--out=~/x'", "ask", "runs ./build.sh, which no rule allows"],
    ["./build.sh '$HOME/x'", "ask", "runs ./build.sh, which no rule allows"],
    ["./build.sh '~x a'", "ask", "runs ./build.sh, which no rule allows"],
    ["./build.sh 'a~'", "allow"],
    ["./build.sh $x", "ask"],
    ["./build.sh ../x", "ask"],
    ["2>&1", "ask", "only redirects"],
    ["A=1 make", "ask", "sets A"],
    ["make > out", "ask", "redirects with > out"],
    ["xargs -n 1", "ask", "runs another program with xargs"],
  ];
  for (const [command, effect, reason] of rows) {
    const verdict = at.verdict(command, both);
    assertEquals(verdict.effect, effect, command);
    if (reason !== undefined) assertEquals(verdict.reason, reason, command);
  }
});

test("a rule about confined commands counts for no others, and the network is asked for once it is closed", () => {
  using at = folder();
  const confined: KeptRule = { rule: "run_bash(make *)", confined: true };
  const [open, closed] = [true, false].map((network) => ({ view: () => at.view(network) }));
  assertEquals(at.verdict("make x", [confined]).effect, "ask");
  assertEquals(at.verdict("make x", [confined], closed).effect, "allow");
  const outside = [{}, { confined: false }].map((kind) =>
    at.verdict({ command: "make x", leave: "sandbox" }, [{ ...confined, ...kind }], closed).effect
  );
  assertEquals(outside, ["ask", "allow"]);
  const call = { command: "curl x", leave: "network", reason: "for x" } as const;
  const rows: [
    more: Partial<Settings>,
    effect: string,
    kind?: string | undefined,
    reason?: string,
  ][] = [
    [{ ...open, approve: "auto" }, "allow"],
    [
      { ...closed, approve: "auto" },
      "ask",
      "network",
      "asks for the network, which the sandbox blocks",
    ],
    [
      { ...closed },
      "ask",
      "network",
      "asks for the network, which the sandbox blocks: it runs curl, which no rule allows",
    ],
    [{}, "ask", undefined, "runs curl, which no rule allows"],
  ];
  for (const [more, effect, kind, reason] of rows) {
    const verdict = at.verdict(call, [], more);
    assertEquals([verdict.effect, verdict.right?.kind], [effect, kind]);
    if (reason !== undefined) assertEquals(verdict.reason, reason);
  }
  assertEquals(
    at.verdict({ ...call, leave: "sandbox" }, [], { ...closed, approve: "auto" }).reason,
    "asks to run outside of the sandbox",
  );
  const losses = ["git push --force", "curl x"].map((command) =>
    at.verdict({ ...call, command }, [], closed!).isLossy
  );
  assertEquals(losses, [true, false]);
});

test("a command of many words is asked about, and a word that is too long for a path names none", () => {
  using at = folder();
  const words = (count: number) =>
    at.verdict(`make${" a".repeat(count - 1)}`, ["run_bash(make *)"]);
  assertEquals(words(1000).effect, "allow");
  assertEquals([words(1001).effect, words(1001).reason], ["ask", "has more than 1000 words"]);
  const named = (length: number) =>
    at.verdict(`make ${"/".padEnd(length - 5, "x")}/.env`, ["run_bash(make *)"]).effect;
  assertEquals([named(4095), named(4096)], ["ask", "allow"]);
});

test("R-14 no folder is given that leads to more, whatever a command prints", () => {
  using at = folder();
  const other = Deno.realPathSync(Deno.makeTempDirSync());
  Deno.mkdirSync(`${other}/a/b`, { recursive: true });
  const rows: [printed: string, folder?: string][] = [
    [`open('${other}/a/b/x'): EROFS`, `${other}/a/b`],
    [`mkdir: ${other}/a/c/d: No such file or directory\n${other}/x: done`, `${other}/a`],
    [`${other}/a/b/x: ENOENT\n${other}/a/x: ENOENT`],
    ...[
      "/x",
      "/etc/x",
      "/proc/1/root/x",
      "/dev/x/y/z",
      "/run/user/1/x",
      "/home/x/y",
      `${at.path}/x`,
    ]
      .map((path): [string] => [`${path}: No such file or directory`]),
    [`${other}/a/.ssh/id: ENOENT`],
    ["nothing to see"],
  ];
  for (const [printed, expected] of rows) {
    const { right } = at.verdict({ command: "make", leave: "sandbox" }, [], {
      view: () => at.view(false),
      outputs: new Map([["make", printed]]),
    });
    assertEquals([right?.kind, right?.folder], [expected ? "write" : "sandbox", expected], printed);
  }
  // A command of git has git's folders, too, as it had before.
  const command = "git add a && cp a b";
  const { right } = at.verdict({ command, leave: "sandbox" }, [], {
    view: () => at.view(false),
    approve: "auto",
    outputs: new Map([[command, rows[0]![0]]]),
  });
  assertEquals(right, { kind: "git", folder: `${other}/a/b` });
  Deno.removeSync(other, { recursive: true });
});

test("SEC-02 no rule lets a program leave the sandbox that commands can write or an option names", () => {
  using at = folder();
  for (const name of ["own", ".git"]) Deno.mkdirSync(`${at.path}/${name}`);
  const repository = Deno.realPathSync(`${at.path}/.git`);
  const addresses = (_: string, remote: string) => remote === "origin" ? ["https://h/x"] : [];
  const git = {
    ...{ settings: () => [], named: () => [], submodules: () => [], changed: () => [] },
    ...{ isWritten: () => false, hasChanged: () => false, addresses },
    folders: () => [repository, repository],
  };
  const names = ["git", "sub/git"];
  for (const name of names) {
    Deno.writeTextFileSync(`${at.path}/${name}`, "", { mode: 0o755 });
  }
  const tool = { name: "run_bash", access: "execute" } as const;
  const usual = { approve: "auto", sandbox: "workspace-write", hasBash: () => true } as const;
  const offered = (command: string, more: Partial<Settings> = {}) => {
    const settings = { ...usual, rules: [], view: () => at.view(false), git, ...more };
    return rulesFor({ tool, command }, settings, (one) => placeOf(at.path, one)).length;
  };
  const outside = Deno.realPathSync(Deno.makeTempDirSync());
  Deno.symlinkSync(`${at.path}/git`, `${outside}/git`);
  try {
    const cases = [
      ...["./git push", "sub/git pull", "./git fetch", "./git config a.b c", "./git commit -S"],
      `${at.path}/git push`,
      "timeout 5 ./git push",
      "git push --receive-pack=./evil.sh origin",
      "git push origin --receive ./evil.sh",
      "git fetch --upload-pack=./e origin",
      "git push origin --exec ./e",
      "git -c core.sshCommand=./e push",
    ];
    for (const command of cases) {
      assertEquals(offered(command), 0, command);
      const rules = [{ rule: `run_bash(${command})` }];
      assertEquals(
        at.verdict(command, rules, { ...usual, git, view: () => at.view(false) }).effect,
        "ask",
        command,
      );
    }
    // git reads the work tree, which commands wrote, for what it signs.
    assertEquals(offered("git commit -S -m x"), 0);
    const ruled = (more: Partial<Settings>) =>
      at.verdict("git fetch", [{ rule: "run_bash(git fetch)" }], {
        ...{ ...usual, git, view: () => at.view(false) },
        ...more,
      }).effect;
    assertEquals(ruled({}), "allow");
    const made = { scope: "local", name: "copilot.made", value: "true" };
    assertEquals(ruled({ git: { ...git, settings: () => [made] } }), "ask");
    assertEquals(ruled({ programs: [outside] }), "ask");
    assertEquals(offered("git config a.b c"), 0);
    // In the sandbox, and without one, a program of the folder gets its rule.
    assertEquals(offered("./build.sh", { approve: "ask" }), 1);
  } finally {
    Deno.removeSync(outside, { recursive: true });
  }
});

Deno.test("a line that chooses its programs itself says with which words", () => {
  for (
    const [line, words] of [
      ["PATH=.:$PATH git push", "PATH=.:$PATH"],
      ["export PATH=.; git push", "PATH=."],
      ["env PATH=. git push", "PATH=."],
      ["GIT_SSH_COMMAND=./evil.sh git push", "GIT_SSH_COMMAND=./evil.sh"],
      ["GIT_EXEC_PATH=. git push", "GIT_EXEC_PATH=."],
      ["LD_PRELOAD=./x.so git push", "LD_PRELOAD=./x.so"],
      ["DYLD_INSERT_LIBRARIES=x git push", "DYLD_INSERT_LIBRARIES=x"],
      ["cd sub && sh -c 'PATH=. git push'", "PATH=. git push"],
      ["A=1 git push origin main", undefined],
      ["git config a.b c", undefined],
    ] as const
  ) assertEquals(chosenPrograms(line), words, line);
});
