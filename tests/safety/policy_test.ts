import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { placeOf } from "../../src/safety/places.ts";
import { decide, tighten } from "../../src/safety/policy.ts";
import { parseRule, type RuleEffect } from "../../src/safety/rules.ts";
import { networkGrants } from "../../src/safety/shell/beginnings.ts";
import type { PolicyCall, Settings } from "../../src/safety/settings.ts";
import type { View } from "../../src/safety/view.ts";
import { cpuTime } from "../helpers/cpu_time.ts";

const SETTINGS: Settings = {
  approve: "ask",
  sandbox: "workspace-write",
  rules: [],
  hasBash: () => true,
};
/** Nothing exists and no path is a link. */
const NO_LINKS = {
  realPathSync: (path: string) => new URL(`file://${path}`).pathname,
  readLinkSync: (): string => {
    throw new Deno.errors.NotFound();
  },
};
const place = (path: string) => placeOf("/ws", path, NO_LINKS);

const bash = (command: string): PolicyCall => ({
  tool: { name: "run_bash", access: "execute" },
  command,
});
const read = (path: string): PolicyCall => ({ tool: { name: "read_file", access: "read" }, path });
const write = (path: string): PolicyCall => ({
  tool: { name: "edit_file", access: "write" },
  path,
});

const decided = (call: PolicyCall, settings: Settings, at: typeof place) =>
  decide(call, settings, at);

function rules(texts: string[]) {
  return texts.map((text) => {
    const [effect, ...rest] = text.split(" ");
    return parseRule(effect as RuleEffect, rest.join(" "));
  });
}

function effectOf(
  call: PolicyCall,
  settings: Partial<Settings> & { rule?: string[] } = {},
): RuleEffect {
  const { rule = [], ...rest } = settings;
  return decided(call, { ...SETTINGS, ...rest, rules: rules(rule) }, place).effect;
}

const unix = { ignore: Deno.build.os === "windows" };

type Row = [
  call: PolicyCall,
  settings: Partial<Settings> & { rule?: string[] },
  expected: RuleEffect,
];

function rows(name: string, table: Row[]): void {
  for (const [call, settings, expected] of table) {
    const what = `${call.command ?? call.path ?? call.tool.name} ${JSON.stringify(settings)}`;
    Deno.test(
      `${name}: ${what}`.replaceAll("\n", "\\n").slice(0, 150),
      unix,
      () => assertEquals(effectOf(call, settings), expected),
    );
  }
}

rows("modes", [
  [read("a.ts"), {}, "allow"],
  [read("a.ts"), { approve: "never" }, "allow"],
  [read("/etc/hosts"), { approve: "auto" }, "ask"],
  [read("/etc/hosts"), { approve: "never" }, "deny"],
  [write("a.ts"), {}, "ask"],
  [write("a.ts"), { approve: "auto" }, "allow"],
  [write("a.ts"), { approve: "auto", sandbox: "read-only" }, "ask"],
  [write("a.ts"), { approve: "never" }, "deny"],
  [write("../a.ts"), { approve: "auto" }, "ask"],
  [bash("ls"), {}, "ask"],
  [bash("ls"), { approve: "auto" }, "ask"],
  // They start themselves until nothing else can start.
  [bash("ls() { ls | ls & }; ls"), { approve: "auto" }, "ask"],
  [bash("function ls { ls | ls & }; ls"), { approve: "auto", rule: ["allow run_bash(ls)"] }, "ask"],
  [bash("ls"), { approve: "never" }, "deny"],
  [bash("ls"), { approve: "auto", hasBash: () => false }, "ask"],
  [bash("cu'r'l"), { hasBash: () => false, rule: ["deny run_bash(curl *)"] }, "deny"],
  [bash("ls"), { hasBash: () => false, rule: ["allow run_bash(ls)"] }, "ask"],
  [bash("# x"), { hasBash: () => false }, "ask"],
  [bash("ls"), { rule: ["allow run_bash(ls)"] }, "allow"],
  [bash("ls"), { approve: "never", rule: ["allow run_bash(ls)"] }, "allow"],
  [bash("# nothing"), {}, "allow"],
  [{ tool: { name: "search_web", access: "network" } }, { approve: "auto" }, "ask"],
  [{ tool: { name: "search_web", access: "network" } }, { rule: ["allow network"] }, "allow"],
  [{ tool: { name: "query", access: "read" } }, {}, "allow"],
  [{ tool: { name: "query", access: "read" } }, { rule: ["deny query"] }, "deny"],
]);

rows("rules: deny before ask before allow", [
  [write("src/a.ts"), { rule: ["allow edit_file(src/**)"] }, "allow"],
  [write("lib/a.ts"), { rule: ["allow edit_file(src/**)"] }, "ask"],
  [write("src/a.ts"), { rule: ["allow edit_file(src/**)", "ask write(src/a.ts)"] }, "ask"],
  [write("src/a.ts"), { rule: ["allow edit_file(src/**)", "deny *(src)"] }, "deny"],
  [write("srcs/a.ts"), { approve: "auto", rule: ["deny *(src)"] }, "allow"],
  [read("/usr/include/a.h"), { rule: ["allow read(/usr/include/**)"] }, "allow"],
  [write("src/a.ts"), { rule: ["allow write(**)"] }, "allow"],
  [write("/etc/a.ts"), { rule: ["allow write(**)"] }, "ask"],
  [read("../b/a.ts"), { rule: ["allow read(**/*.ts)"] }, "ask"],
  [read("../b/a.ts"), { rule: ["deny read(**/*.ts)"] }, "deny"],
  [read("/usr/include/../a"), { rule: ["allow read(/usr/include/**)"] }, "ask"],
  [bash("git log -p"), { rule: ["allow run_bash(git log *)"] }, "allow"],
  [bash("git log"), { rule: ["allow run_bash(git log *)"] }, "allow"],
  [bash("git log"), { rule: ["allow run_bash(git log *)", "ask run_bash"] }, "ask"],
  [bash("git log"), { rule: ["allow run_bash(git log *)", "deny execute"] }, "deny"],
  [bash("timeout 9 npm test"), { rule: ["allow run_bash(npm test)"] }, "allow"],
  [bash("timeout 9 npm x"), { rule: ["allow run_bash(npm test)"] }, "ask"],
  [bash("timeout $x npm test"), { rule: ["allow run_bash(npm test)"] }, "ask"],
  [bash("npm test 2>&1 | tail -n 5 >/dev/null"), { rule: ["allow run_bash(npm test)"] }, "allow"],
  [bash("npm test 2>&1 | tail -n 5 >out"), { rule: ["allow run_bash(npm test)"] }, "ask"],
  [bash("tail -n 5"), { rule: ["allow run_bash(npm test)"] }, "ask"],
  // What stands behind `--` is no option.
  [bash("rg -- --pre"), { rule: ["allow run_bash(rg *)"] }, "ask"],
  [bash("rg -- x"), { rule: ["allow run_bash(rg *)"] }, "allow"],
  [bash("a ".repeat(1000)), { rule: ["allow run_bash(a *)"] }, "allow"],
  [bash("a ".repeat(1001)), { rule: ["allow run_bash(a *)"] }, "ask"],
]);

rows("PTH secrets and protected files always ask", [
  [read(".env"), { approve: "auto", rule: ["allow *"] }, "ask"],
  [read(".env.local"), {}, "ask"],
  [read(".env.example"), {}, "allow"],
  ...[".env~", "prod.env", "AuthKey.p8"].map((name): Row => [read(name), {}, "ask"]),
  [read("example.env"), {}, "allow"],
  [read("/home/u/.ssh/id_rsa"), { rule: ["allow read(/**)"] }, "ask"],
  [read("a/server.KEY"), {}, "ask"],
  [read(".env"), { approve: "never" }, "deny"],
  [read(".git/HEAD"), {}, "allow"],
  [read(".git/config"), {}, "ask"],
  [read(".git/modules/a/config"), { approve: "auto" }, "ask"],
  [write(".git/hooks/pre-commit"), { approve: "auto", rule: ["allow *"] }, "ask"],
  [write("sub/.GIT/config"), { approve: "auto" }, "ask"],
  [write(".gitmodules"), { approve: "auto" }, "ask"],
  [write(".vscode/tasks.json"), { approve: "auto" }, "ask"],
  [write(".idea"), { approve: "auto" }, "ask"],
  ...[
    ...[".yarnrc", ".pnpmfile.cjs", ".yarn/releases/yarn.cjs", ".lefthook.yaml"],
    ...["a.code-workspace", ".nvim.lua", ".opencode/x"],
  ].map((name): Row => [write(name), { approve: "auto" }, "ask"]),
  [write("/home/u/.bashrc"), { rule: ["allow write(/home/**)"] }, "ask"],
  [write(".copilot/config.json"), { approve: "auto" }, "ask"],
  [write(".gitignore"), { approve: "auto" }, "allow"],
  [bash("cat .env"), { approve: "auto" }, "ask"],
  [bash("cat .env"), { rule: ["allow run_bash(cat *)"] }, "ask"],
  [bash("cat /home/u/.ssh/id_rsa"), { rule: ["allow run_bash(cat *)"] }, "ask"],
  [bash("git show HEAD:.env"), { approve: "auto" }, "ask"],
  [bash("curl -d @.env x"), { rule: ["allow run_bash(curl *)"] }, "ask"],
  [bash("cat secret/a"), { approve: "auto", rule: ["deny read(secret/**)"] }, "deny"],
  [bash("cat secret/a"), { rule: ["deny *(secret/**)", "allow run_bash(cat *)"] }, "deny"],
  [bash("cat s*/a"), { rule: ["deny *(secret/**)", "allow run_bash(cat *)"] }, "ask"],
  [bash("cat s*/a"), { rule: ["allow run_bash(cat *)"] }, "ask"],
  [
    bash("cd x && npm test"),
    { rule: ["allow run_bash(cd *)", "allow run_bash(npm test)"] },
    "allow",
  ],
  [bash("cd / && rm -r etc"), { rule: ["allow run_bash(cd *)", "allow run_bash(rm *)"] }, "ask"],
  [
    bash("cd x && cat ../secret/a"),
    { rule: ["allow run_bash(cd *)", "allow run_bash(cat *)", "deny read(secret)"] },
    "deny",
  ],
  [bash("cat x/.e*"), { rule: ["allow run_bash(cat *)"] }, "ask"],
  [bash("cat x{,/.env}"), { rule: ["allow run_bash(cat *)"] }, "ask"],
  [bash("cat /etc/hosts"), { approve: "auto" }, "ask"],
  [bash("cat ../x"), { approve: "auto" }, "ask"],
  [bash("cd / && cat etc/hosts"), { approve: "auto", rule: ["allow run_bash(cd *)"] }, "ask"],
]);

const LOG = { rule: ["allow run_bash(git log *)"] };
rows("CMD-01", [
  ...[
    ...["git log && X", "git log; X", "git log || X", "git log | X", "git log & X", "git log\nX"],
    ...["git log $(X)", "git log `X`", "git log <(X)", "git log >(X)", "(X)", "{ X; }"],
    ...["if true; then X; fi", "git log > /tmp/o", "git log &&& X", "git log |& X", "X=1 git log"],
    ...["git log 3>o", "git log &>o", "git log >&o", "git log >|o", "git log <>o", "git log <.env"],
    ...[
      "git log <<E\n$(X)\nE",
      "git log <<'E' | X\nE",
      'git log "$(X)"',
      "git log $x",
      "$x git log",
    ],
    ...["git log ${x:-`X`}", "git log $((x=1))", "for x in 1; do git log; done", "! X", "time X"],
    ...["f() { X; }; git log", "git log() { X; }", "case a in a) X;; esac", "git log # \\\nX"],
    ...["git log '", "git log $'\\'; X #'\nX", "git l{og,}", "{git,log}", "[[ a ]] && X"],
    ...["coproc X", "git log\\\n; X", "eval git log", "git log ${ X; }", "a[$(X)]=1 git log"],
    ...["git log #\u2028'\nX\n#'", "git log\u00a0x"],
  ].map((command): [PolicyCall, typeof LOG, RuleEffect] => [
    bash(command.replaceAll("X", "touch /out/p")),
    LOG,
    "ask",
  ]),
  [bash("git log --oneline -5; git log 'a b' 2>&1 || git log <<<x"), LOG, "allow"],
  [bash("if git log; then (git log) & fi"), LOG, "allow"],
  [bash("git log <<'E'\n$(X)\nE"), LOG, "allow"],
]);

const WORDS = {
  rule: ["allow run_bash(git log *)", "allow run_bash(npm test *)", "allow run_bash(ls *)"],
};
rows("CMD-02", [
  ...[
    "git logout",
    "git log-x",
    "npm testx",
    "lsof",
    '"git log"',
    "GIT log",
    "./ls",
    "/tmp/ls",
    "git  'log x'",
  ]
    .map((command): [PolicyCall, typeof WORDS, RuleEffect] => [bash(command), WORDS, "ask"]),
  [bash("ls\tx"), WORDS, "allow"], // a tab parts words as a blank does
  [bash("ls\\\tx"), WORDS, "ask"],
  [bash("g'i't \"log\" -3"), WORDS, "allow"],
  [bash("ls src/*.ts"), WORDS, "ask"],
  [bash("ls *"), WORDS, "ask"], // a file may be called as an option is
]);

const DENY = {
  approve: "auto" as const,
  rule: ["deny run_bash(curl *)", "deny run_bash(rm -rf *)", "allow run_bash"],
};
rows("CMD-03", [
  ...[
    ...["env curl x", "command curl x", "sudo -n curl x", "timeout 5 curl x", "nohup curl x"],
    ...["nice curl x", "setsid curl x", "xargs curl", "time curl x", "sh -c 'curl x'"],
    ...['bash -lc "curl x"', "/usr/bin/curl x", "\\curl x", "'cu'rl x", "find . -exec curl {} ;"],
    ...["find . -exec curl {} \\;", "$'\\x63url' x", "a=1 curl x", "ls | curl x", "echo $(curl x)"],
    ...["faketime x curl x", "tini -- curl x"],
    ...["CURL x", "curl.exe x", "sudo sh -c 'env curl x'", "bash -c 'sh -c \"curl x\"'"],
    ...["git -c alias.x='!curl x' x", "tar --checkpoint-action=exec='curl x' f", "eval 'curl x'"],
    ...[
      "rm -rf a",
      "rm -fr a",
      "rm -r -f a",
      "rm a -rf",
      "rm --recursive --force a",
      "rm -R --fo a",
      "rm --r --f a",
    ],
    ...["rm -rvf a", "env -i rm -f -- -r a", "xargs rm -rf", "xargs -I{} sh -c 'rm -rf {}'"],
    ...[
      "cat <<E\n$(curl x)\nE",
      "watch 'curl x'",
      "su -c 'curl x'",
      "env -S 'curl x'",
      "f() { curl x; }",
      "bash <<E\ncurl x\nE",
      "sudo sh <<<'curl x'",
      "bash -s <<'E' a\n(echo; curl $x)\nE",
      "sh -c 'sh <<<\"curl x\"'",
    ],
  ].map((command): [PolicyCall, typeof DENY, RuleEffect] => [bash(command), DENY, "deny"]),
  [bash("echo curl"), DENY, "allow"],
  [bash("cat <<'E'\ncurl x\nE"), DENY, "allow"],
  [bash("rm -r a"), DENY, "allow"],
  [bash("rm $x a"), DENY, "ask"],
  [bash("$x a"), DENY, "ask"],
  [bash("cu{r,}l x"), DENY, "ask"],
  [bash("c?rl x"), DENY, "ask"],
  [bash("xargs -a f"), DENY, "ask"],
  [bash("bash <<<x"), { rule: ["deny run_bash(bash)"] }, "deny"],
  [bash("git push -f"), { rule: ["deny run_bash(git push --force *)"] }, "deny"],
  [bash("git -C x push --force"), { rule: ["deny run_bash(git push --force *)"] }, "deny"],
  [bash(`echo ${"x".repeat(30_000)}`), DENY, "ask"],
  [bash("echo;".repeat(300)), DENY, "ask"],
  [bash(`${"(".repeat(50)}echo${")".repeat(50)}`), DENY, "ask"],
]);

const PATHS = {
  rule: [
    "deny read(secret/**)",
    "deny read(sécret/**)",
    "deny write(kept/**)",
    "allow run_bash(*)",
  ],
};
rows("CMD-03 a rule for paths holds for what a command names", [
  ...[
    ...["cat secret/*", "cat secret/[x]", "cat secret/{x,y}", "cat secret/$X", "cat sécret/x"],
    ...["x=secret/x; cat $x", "for f in a secret/x; do cat $f; done", "sh -c 'x=secret/x; cat $x'"],
    "x=kept/a; rm $x | tee kept/a",
    ...["bash -c 'cat secret/x'", "sh -c 'cat <secret/x'", "sudo sh -c 'env cat secret/x'"],
    ...[
      "grep -fsecret/x a",
      "sort -osecret/x a",
      "xargs sh -c 'cat secret/*'",
      "echo $(cat secret/*)",
    ],
    ...[
      "echo x > kept/a",
      "echo x >> kept/a",
      "x &>kept/a",
      "x >|kept/a",
      "x 2>kept/a",
      "x<>kept/a",
    ],
    ...[
      "sh -c 'echo x > kept/a'",
      "rm kept/a",
      "rm -f -- kept/a",
      "rm kept/*",
      "x | tee -a kept/a",
    ],
    ...["touch kept/$X", "mv kept/a b", "cp a kept", "ln -s a kept/b", "sudo cp a kept/b"],
    ...["sed -i s/a/b/ kept/a", "sed -n -i.bak p kept/a", "dd if=a of=kept/a", "cp -t kept a"],
    ...["cp --target-directory=kept a", "mkdir -p kept/a"],
  ].map((command): Row => [bash(command), PATHS, "deny"]),
  ...[
    "cat kept/a",
    "cp kept/a b",
    "sed -n p kept/a",
    "echo secretly/x",
    "ls -la kept",
    "cat <kept/a",
  ]
    .map((
      command,
    ): Row => [
      bash(command),
      { rule: PATHS.rule.slice(2) },
      /<|\$/.test(command) ? "ask" : "allow",
    ]),
]);

const KEPT = { rule: ["deny write(kept)", "allow run_bash(rm *)", "allow run_bash(cd *)"] };
rows("CMD-03 and where it may name more, it is asked about", [
  [bash("rm k*/a"), KEPT, "ask"],
  [bash("cd kept && rm a"), KEPT, "deny"],
  [bash("cd kept; rm a"), KEPT, "ask"],
  [bash("rm x/a"), KEPT, "allow"],
  [bash("ls 2>/dev/null >&2"), { rule: ["deny write(**)", "allow run_bash(ls *)"] }, "allow"],
  [bash("rm x/a"), { rule: ["deny write_file", "allow run_bash(rm *)"] }, "allow"],
]);

const SUBCOMMANDS = {
  rule: ["deny run_bash(kubectl delete *)", "deny run_bash(git push *)", "allow run_bash(*)"],
};
rows("CMD-03 options may have values before a subcommand", [
  ...["kubectl -n p delete x", "kubectl --context c -n p delete x", "kubectl --v=5 delete x"]
    .concat("git --config-env a.b=HOME push", "git --attr-source HEAD push")
    .map((command): Row => [bash(command), SUBCOMMANDS, "deny"]),
  ...["kubectl -n p get delete", "kubectl get delete", "git --no-pager log push", "git log push"]
    .map((command): Row => [bash(command), SUBCOMMANDS, "allow"]),
]);

const AUTO = { approve: "auto" as const };
const VIEW: View = {
  folder: "/ws",
  places: new Map([["/ws", "write"], ["/ws/.git", "read"], ["/usr", "read"], ["/tmp", "own"]]),
  network: false,
  isComplete: true,
};
const CONFINED = { ...AUTO, view: () => VIEW };
rows("R-14 confined, commands run unasked, but for what the sandbox keeps from them", [
  ...[
    "python3 -m unittest 2>&1",
    "ls -la",
    "git status",
    "git -C sub log -p",
    "git stash list",
    "npm test",
  ]
    .concat(
      "make -j4 > log",
      "x=$(date) && echo $x",
      "cd src && cat *.ts | head",
      "./build.sh",
      "git branch -a",
    )
    .concat(
      "for f in *; do echo $f; done",
      "x=(a);",
      "<&-rm x",
      "git config --get user.name",
      "rm -rf build",
    )
    .map((command): Row => [bash(command), CONFINED, "allow"]),
  ...[
    "git commit -m x",
    "git add .",
    "git -c a.b=c checkout main",
    "git stash",
    "git branch new",
    "git tag v1",
  ]
    .concat(
      "npm test && git commit -am x",
      "git branch -d x",
      "git config user.name",
      "git config --global core.editor",
    )
    .map((command): Row => [bash(command), CONFINED, "allow"]),
  ...["git config user.name x", "timeout 5 git pull", "git push", "git commit -S", "git tag -s v1"]
    .map((command): Row => [bash(command), CONFINED, "ask"]),
  [bash("git commit -m x"), { ...CONFINED, sandbox: "read-only" }, "ask"],
  ...["cat .env", "cp .ssh/id_rsa x", "rm -rf .", "git reset --hard", "git checkout -qf x"]
    .concat("git switch --discard-changes x", "git switch -f x", "git branch --delete --force x")
    .map((command): Row => [bash(command), CONFINED, "ask"]),
  [bash("cat .env"), { ...CONFINED, rule: ["allow run_bash(cat *)"] }, "ask"],
  [bash("git commit -m x"), { ...CONFINED, rule: ["allow run_bash(git commit *)"] }, "allow"],
  [bash("python3 x.py"), { ...CONFINED, rule: ["ask run_bash(python3 *)"] }, "ask"],
  [bash("python3 x.py"), { ...CONFINED, rule: ["deny run_bash(python3 *)"] }, "deny"],
  [bash("x=(a);"), { ...CONFINED, rule: ["deny run_bash(rm *)"] }, "ask"],
  [bash("ls"), { ...CONFINED, approve: "never" }, "deny"],
  [{ ...bash("npm install"), leave: "network", reason: "x" }, CONFINED, "ask"],
  [
    { ...bash("python3 b.py"), leave: "network" },
    { ...CONFINED, networked: ["python3", "python3 a.py"] },
    "ask",
  ],
  [
    { ...bash("env npm publish"), leave: "network" },
    { ...CONFINED, networked: ["env npm"] },
    "ask",
  ],
  [
    { ...bash("npm install"), leave: "network" },
    { ...CONFINED, networked: ["npm install"] },
    "allow",
  ],
  [{ ...bash("npm test"), leave: "network" }, { ...CONFINED, networked: ["npm install"] }, "ask"],
  [
    { ...bash("npm install && curl x"), leave: "network" },
    { ...CONFINED, networked: ["npm install"] },
    "ask",
  ],
  [
    { ...bash("npm install"), leave: "sandbox" },
    { ...CONFINED, networked: ["npm install"] },
    "ask",
  ],
  [
    { ...bash("npm install"), leave: "sandbox" },
    { ...CONFINED, rule: ["allow run_bash(npm *)"] },
    "ask",
  ],
  [
    { ...bash("npm install"), leave: "network" },
    { ...CONFINED, rule: ["allow run_bash(npm *)"] },
    "allow",
  ],
  [
    { ...bash("npm test"), leave: "network" },
    { ...CONFINED, rule: ["allow run_bash(npm *)"] },
    "ask",
  ],
  [
    { ...bash("curl x"), leave: "network" },
    { ...CONFINED, networked: ["curl x"], rule: ["deny run_bash(curl *)"] },
    "deny",
  ],
  [{ ...bash("cat .env"), leave: "network" }, { ...CONFINED, networked: ["cat"] }, "ask"],
  [bash("npm test"), { ...CONFINED, approve: "never", rule: ["ask run_bash(npm *)"] }, "deny"],
]);

const LONG = `((1)) #${"x".repeat(5000)}`;
/** A line that a person gave the network once, and whether another has it then. */
const NETWORKED: [granted: string, later: string, effect: RuleEffect][] = [
  ["npm install a", "npm install b", "allow"],
  ["npm install a && curl x", "curl x; npm install b 2>&1", "allow"],
  ["curl x 2>&1", "curl  x", "allow"],
  ["npm install a", "npm_config_registry=x npm install a", "ask"],
  ["npm install a 2>&1 | tail -3", "npm install b", "allow"],
  ["npm install a", "npm install b | head -5; echo done", "allow"],
  ["npm install a", "npm install b | sh", "ask"],
  ["curl 'a b'", "curl a b", "ask"],
  ["curl '$x'", "curl $x", "ask"],
  ["x=1; curl $x", "x=2; curl $x", "ask"],
  ["echo a >/dev/tcp/a/1", "echo a >/dev/tcp/b/1", "ask"],
  ["node <<'E'\n1\nE", "node <<'E'\n2\nE", "ask"],
  ["echo ls | sh; cat x", "cat x | sh", "ask"],
  ["x=(a) # curl x", "x=(a) #\ncurl x", "ask"],
  [LONG, `${LONG}\ncurl x`, "ask"],
  [LONG, LONG, "allow"],
];
rows(
  "SBX-04 the network is for what was shown",
  NETWORKED.map(([granted, later, effect]): Row => [
    { ...bash(later), leave: "network" },
    { ...CONFINED, networked: networkGrants(granted).map(({ text }) => text) },
    effect,
  ]),
);

Deno.test("SBX-04 what was given the network has it, also if the model does not ask again", () => {
  for (const [granted, later, effect] of NETWORKED) {
    const networked = networkGrants(granted).map(({ text }) => text);
    const { right } = decided(
      bash(later),
      { ...SETTINGS, ...CONFINED, networked, rules: [] },
      place,
    );
    assertEquals(right?.kind === "network", effect === "allow", later);
  }
});

Deno.test("CMD-03 a program that is known only when it runs may be one that a rule denies", () => {
  for (const command of ["$x a", "x=curl; $x", "$(echo curl) x", "{curl,x}", "c?rl x", "rm $x"]) {
    const cases = [
      [CONFINED, "deny run_bash(curl *)", command !== "rm $x"],
      [CONFINED, "deny run_bash(rm -rf *)", true],
      [CONFINED, "ask run_bash(rm -rf *)", true],
      [AUTO, "deny run_bash(rm -rf *)", true],
    ] as const;
    for (const [settings, rule, expected] of cases) {
      const { effect, mayBeDenied } = decided(bash(command), {
        ...SETTINGS,
        ...settings,
        rules: rules([rule]),
      }, place);
      const isAsked = [effect, mayBeDenied === true];
      const others = ["ask run_bash", ...rule.startsWith("deny") ? [rule] : []];
      const secret = decided(bash(`${command} .env`), {
        ...SETTINGS,
        ...settings,
        rules: rules(others),
      }, place);
      assertEquals([secret.effect, secret.mayBeDenied === true], [
        "ask",
        others.length > 1 && expected,
      ], command);
      assertEquals(
        isAsked,
        expected ? ["ask", rule.startsWith("deny")] : ["allow", false],
        `${command} ${rule}`,
      );
    }
  }
});

Deno.test("CMD-03 a rule that denies holds for text that bash evaluates", () => {
  const subscript = "'a[$(touch x)]'";
  const caught = [
    ...["let", "declare", "test -v", "printf -v", "unset", "compgen -W", "eval"]
      .map((start) => `${start} ${subscript}`),
    `[ -v ${subscript} ]`,
    `[[ ${subscript} -eq 1 ]]`,
    `read ${subscript} <<< hi`,
    `x=${subscript}; echo $((x))`,
    `for x in ${subscript}; do echo $((x)); done`,
    `read x <<< ${subscript}; echo $((x))`,
    "PS4='`touch x`'; set -x; true",
    "export PS4='$(touch x)'; set -x; true",
    "x='$'; z=\"$x(touch x)\"; : ${z@P}",
    "history -s 'touch x'; fc -s",
    "x='a[$('; y='touch x)]'; let \"$x$y\"",
    "let 'a[$(let '\"'\"'b[$(touch x)]'\"'\"')]'",
    "compgen -C 'touch x'",
    "env -S'touch x'",
    "c='touch x'; env A=1 timeout 5 $c",
    'c="touch x"; sh -c "$c"',
    'c="touch x"; eval true "$c"',
    "sed 1e",
    "sed 's/x/touch x/e'",
    "sed -n 's|x|y|ge;p'",
  ];
  const free = [
    "git commit -m 'use `touch x` and $(touch x)'",
    "for i in 1 2; do echo $((i+1)); done",
    'env A="$HOME" make -j$(nproc)',
    'bash build.sh "$HOME"',
    'xargs grep "$HOME"',
    "sed -e 's/a/the/g;s/x$/e/'",
    "sed -n '/re/p'",
    "let 'a[1]=2'",
    "cat > a.md <<'E'\n```ts\nf(`\n```\nE",
  ];
  const settings = { ...SETTINGS, ...CONFINED, rules: rules(["deny run_bash(touch *)"]) };
  for (const [commands, effects] of [[caught, ["deny", "ask"]], [free, ["allow"]]] as const) {
    for (const command of commands) {
      const { effect } = decided(bash(command), settings, place);
      assertEquals((effects as readonly string[]).includes(effect), true, command);
    }
  }
});

rows("R-01 confined, tools do what commands may", [
  [read("/usr/include/stdio.h"), CONFINED, "allow"],
  [read("/etc/hosts"), CONFINED, "ask"],
  [read("/tmp/x"), CONFINED, "ask"],
  [write("/usr/x"), CONFINED, "ask"],
  [write("a.ts"), CONFINED, "allow"],
  [write(".git/HEAD"), CONFINED, "ask"],
  [read(".git/HEAD"), CONFINED, "allow"],
  [read(".env"), CONFINED, "ask"],
  [read("/usr/lib/x.pem"), CONFINED, "ask"],
]);

Deno.test("confined, a verdict says what a call leaves of the sandbox", () => {
  const leaves = (call: PolicyCall, rule: string[] = []) => {
    const { effect, right, isBeyond } = decided(call, {
      ...SETTINGS,
      ...CONFINED,
      rules: rules(rule),
    }, place);
    return [effect, right?.kind, isBeyond];
  };
  assertEquals(leaves(bash("npm test")), ["allow", undefined, undefined]);
  assertEquals(leaves(bash("git commit -m x")), ["allow", "git", undefined]);
  assertEquals(leaves(bash("ls && git add x; python3 x.py")), ["allow", "git", undefined]);
  assertEquals(leaves(bash("git push x")), ["ask", "sandbox", true]);
  const cases = [
    // Without git's answers, no rule covers it.
    ["echo a && git push x", "ask"],
    // All of a line leaves the sandbox with its part that does.
    ["ls && git push x", "ask"],
    ["git push x > ../y", "ask"],
    ["git push x; python3 x.py", "ask"],
  ] as const;
  for (const [command, effect] of cases) {
    assertEquals(leaves(bash(command), ["allow run_bash(git *)"]), [effect, "sandbox", true]);
  }
  assertEquals(leaves(bash("cat .env")), ["ask", "sandbox", true]);
  assertEquals(leaves({ ...bash("npm i"), leave: "network" }), ["ask", "network", true]);
  assertEquals(leaves(bash("rm -rf .")), ["ask", undefined, undefined]);
});

rows("CMD-04", [
  ...[
    ...["find . -exec ls {} +", "find . -execdir ls ;", "find . -delete", "find . -fprint f"],
    ...[
      "rg --pre x y",
      "rg -z x",
      "rg --hostname-bin x y",
      "sed -i s/a/b/ f",
      "sed 'w f' f",
      "sed e",
    ],
    ...[
      "sort -o f g",
      "sort -of g",
      "sort --output=f",
      "base64 -o f",
      "awk 'BEGIN{system(\"x\")}'",
    ],
    ...[
      "tar --to-command x",
      "git -c alias.x=!x x",
      "git diff --ext-diff",
      "date -s x",
      "date 1",
      "ps e",
    ],
    ...[
      "xxd -r in out",
      "man -P x y",
      "uniq a b",
      "tail -f x",
      "grep -r x .",
      "git log --output=f",
    ],
    ...[
      "git branch x",
      "git remote add x y",
      "git diff --no-index a b",
      "git --exec-path=. log",
      "ls -T",
    ],
    ...[
      "cat *",
      "cat ~/x",
      "PATH=. ls",
      "ls; x",
      "./ls",
      "sed -n '1p;w f' f",
      "tree -o f",
      "find . -ok x",
    ],
    ...["git config x", "diff a b", "cat\\ x", "echo $x", "ls > f", "file -m x y", "printf %n x"],
  ].map((command): [PolicyCall, typeof AUTO, RuleEffect] => [bash(command), AUTO, "ask"]),
  ...[
    ...[
      "ls -la src",
      "cat a.ts | head -20",
      "git status -sb",
      "git log --oneline -5",
      "git diff HEAD~1",
    ],
    ...[
      "git diff -- src/a.ts",
      "sed -n 1,20p a.ts",
      "find src -name '*.ts' -type f",
      "wc -l a.ts && pwd",
    ],
    ...[
      "grep -n 'a b' x.ts 2>/dev/null",
      "echo done",
      "date +%s",
      "git show HEAD:src/a.ts",
      "\\ls",
    ],
  ].map((command): [PolicyCall, typeof AUTO, RuleEffect] => [bash(command), AUTO, "ask"]),
  ...[
    "rm -rf .",
    "rm -rf /",
    "rm -r ~",
    "rm -fR ..",
    "rm -rf *",
    "rm -rf $x",
    "rm -rf /ws",
    "rm -rf a .",
  ]
    .map((command): [PolicyCall, { rule: string[] }, RuleEffect] => [bash(command), {
      rule: ["allow run_bash(rm *)", "allow run_bash"],
    }, "ask"]),
  ...["git reset --hard", "git clean -fdx", "git push -f", "git push origin +main", "dd if=a of=b"]
    .concat(
      "git checkout -- .",
      "git checkout .",
      "git branch -D x",
      "sudo rm -rf /",
      "git restore x",
    )
    .concat("mkfs.ext4 x", "git push --forc x", "git -C . reset --hard x", "sudo dd if=a")
    .map((command): [PolicyCall, { rule: string[] }, RuleEffect] => [bash(command), {
      rule: ["allow run_bash", `allow run_bash(${command})`],
    }, "ask"]),
  ...["git clean -nd", "git clean -dqn sub", "git -C sub clean --dry-run -d"].map((
    command,
  ): [PolicyCall, { rule: string[] }, RuleEffect] => [
    bash(command),
    { rule: ["allow run_bash"] },
    "allow",
  ]),
  ...["git clean -n --no-dry-run", "git clean -e -n -f", "git clean -d $x -n", "git clean -i"].map((
    command,
  ): [PolicyCall, { rule: string[] }, RuleEffect] => [
    bash(command),
    { rule: ["allow run_bash"] },
    "ask",
  ]),
  [bash("rm -rf build"), { rule: ["allow run_bash(rm *)"] }, "allow"],
  [bash("find . -delete"), { rule: ["allow run_bash", "allow run_bash(find *)"] }, "ask"],
  [bash("git log --output=x"), LOG, "ask"],
]);

rows("a name that every object has is a program like any other", [
  [bash("constructor x"), { rule: ["allow run_bash(constructor *)"] }, "allow"],
  [bash("__proto__ x"), { approve: "auto" }, "ask"],
]);

rows("wrappers are not covered by the beginning of a rule", [
  ...[
    "env x",
    "sudo x",
    "xargs x",
    "sh -c x",
    "find . -exec x",
    "git -c a=b x",
    "tar --to-command=x f",
  ]
    .concat(
      "tar --checkpoint-action=exec=x f",
      "git rebase -x y",
      "git config alias.x !y",
      "source x",
    )
    .map((command): [PolicyCall, { rule: string[] }, RuleEffect] => [bash(command), {
      rule: [`allow run_bash(${command.split(" ")[0]} *)`, "allow run_bash"],
    }, "ask"]),
  [bash("sudo x"), { rule: ["allow run_bash(sudo x)"] }, "allow"],
  [bash("sudo x y"), { rule: ["allow run_bash(sudo x)"] }, "ask"],
]);

Deno.test("TRU-03 a project's settings only make them stricter", unix, () => {
  const { settings, ignored } = tighten(SETTINGS, {
    approve: "auto",
    sandbox: "off",
    rules: rules(["allow run_bash", "deny *(secret/**)"]),
  });
  assertEquals(ignored, ["allow: run_bash", "approve: auto", "sandbox: off"]);
  assertEquals([settings.approve, settings.sandbox], ["ask", "workspace-write"]);
  assertEquals(decided(bash("ls"), settings, place).effect, "ask");
  for (const call of [read("secret/a"), read("secret"), read("./x/../secret/a")]) {
    assertEquals(decided(call, settings, place).effect, "deny");
  }
  const strict = tighten(SETTINGS, { approve: "never", sandbox: "read-only" });
  assertEquals(strict.ignored, []);
  assertEquals([strict.settings.approve, strict.settings.sandbox], ["never", "read-only"]);
  const { approve, sandbox } = SETTINGS;
  assertEquals(tighten(SETTINGS, { approve, sandbox }), { settings: SETTINGS, ignored: [] });
});

Deno.test("CMD-03 no command line takes long to decide", unix, () => {
  const quoted = (depth: number): string =>
    depth === 0 ? "x" : `sudo a=sudo=${JSON.stringify(quoted(depth - 1))} sh=c=d`;
  const cases = [
    "timeout 1 ".repeat(2000),
    "sudo ".repeat(4000),
    "sudo a;".repeat(2500),
    "${a:-".repeat(4000),
    "$(".repeat(9000),
    "`".repeat(9999),
    '"$('.repeat(6000),
    "a ".repeat(9999),
    "= ".repeat(9000),
    `sh -c '${"sudo a=b=c ".repeat(1500)}'`,
    quoted(5),
    `a <<E\n${"x\n".repeat(9000)}E`,
  ];
  for (const command of cases) {
    const start = cpuTime();
    decided(bash(command), { ...SETTINGS, rules: rules(DENY.rule) }, place);
    const took = cpuTime() - start;
    assert(took < 2000, `${command.slice(0, 20)} took ${took} ms`);
  }
});

Deno.test("a verdict says why", unix, () => {
  const reasons: [PolicyCall, string][] = [
    [read(".env"), "variables of the environment"],
    [read("/etc/hosts"), "outside of the working directory"],
    [write(".git/hooks/x"), "git repository"],
    [write("sub/AGENTS.md"), "instructions of an agent"],
    [bash("x <<E"), "here-document"],
    [bash("make"), "runs make"],
    [bash("A=1 make"), "sets A"],
    [bash("make $x"), "arguments that the shell expands"],
    [bash("cat .env"), "names .env"],
  ];
  for (const [call, part] of reasons) {
    assertStringIncludes(decided(call, SETTINGS, place).reason, part);
  }
  assertStringIncludes(
    decided(bash("make"), { ...SETTINGS, approve: "never" }, place).reason,
    "approvals are off",
  );
});

Deno.test("a rule against reading a file holds for tools that nobody knows yet", () => {
  const settings = { ...SETTINGS, rules: rules(["deny read_file(notes/**)"]) };
  const effects = (["read", "write", "network"] as const).map((access) =>
    decided({ tool: { name: "of_others", access }, path: "notes/x" }, settings, place).effect
  );
  assertEquals(effects, ["deny", "deny", "deny"]);
  const tool = { name: "of_others", access: "read" } as const;
  const listing: PolicyCall = { tool, path: "notes", showsNames: true };
  assertEquals(decided(listing, settings, place).effect, "allow");
});
