import { assertEquals, assertThrows } from "@std/assert";
import { globToRegex } from "../../src/text/glob.ts";
import { SEPARATOR } from "../../src/text/std_path.ts";
import {
  allowsCommand,
  concernsCommand,
  isFor,
  matchesArgument,
  matchesPath,
  parseRule,
  type Rule,
} from "../../src/safety/rules.ts";
import { parseCommandLine } from "../../src/safety/shell/parser.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const good: [
  text: string,
  expected: Pick<Rule, "tool" | "path" | "isAbsolute" | "start" | "command">,
][] = [
  ["read_file", { tool: "read_file" }],
  ["*", { tool: "*" }],
  ["run_bash(*)", { tool: "run_bash" }],
  ["read_file(secret/**)", { tool: "read_file", path: globToRegex("secret/**") }],
  ["write(./src/)", { tool: "write", path: globToRegex("src") }],
  ["read(/)", { tool: "read", path: globToRegex("/**"), isAbsolute: true, start: "/" }],
  ["read(.//a/././/b/.)", { tool: "read", path: globToRegex("a/b") }],
  ["run_bash(git status)", {
    tool: "run_bash",
    command: { words: ["git", "status"], isStart: false },
  }],
  ["run_bash(git log *)", { tool: "run_bash", command: { words: ["git", "log"], isStart: true } }],
  [" run_bash( echo 'a (b)' ) ", {
    tool: "run_bash",
    command: { words: ["echo", "a (b)"], isStart: false },
  }],
  ["run_bash(echo '*')", { tool: "run_bash", command: { words: ["echo", "*"], isStart: false } }],
];

for (const [text, expected] of good) {
  Deno.test(`parseRule: ${text}`, () => {
    assertEquals(parseRule("deny", text), { effect: "deny", text: text.trim(), ...expected });
  });
}

const ABOVE: [above: string, text: string, shown: string, matches: string[], others: string[]][] = [
  ["/a", "read(secret/**)", "read(/a/secret/**)", ["/a/secret/x/y", "/a/secret"], [
    "/a/b/secret/x",
  ]],
  ["/a/", "read(*.pem)", "read(/a/*.pem)", ["/a/x.pem"], ["/a/b/x.pem"]],
  ["/", "read(**/x)", "read(/**/x)", ["/x", "/a/b/x", "/a/x/y"], ["/a/y"]],
  ["/a", "read(/etc/*)", "read(/etc/*)", ["/etc/x"], ["/a/etc/x"]],
  ["/a[b]*{c,d}?\\", "read(x)", "read(/a[b]*{c,d}?\\/x)", ["/a[b]*{c,d}?\\/x"], ["/ab/x"]],
];

for (const [above, text, shown, matches, others] of ABOVE) {
  Deno.test(`a rule of ${above} counts below it: ${text}`, { ignore: SEPARATOR !== "/" }, () => {
    const rule = parseRule("deny", text, above);
    assertEquals(rule.text, shown);
    for (const path of matches) assertEquals(matchesPath(rule, "/a/b", path), true, path);
    for (const path of others) assertEquals(matchesPath(rule, "/a/b", path), false, path);
  });
}

const UNIX = { ignore: SEPARATOR !== "/" };

const SPELT: [text: string, matches: string[], others: string[]][] = [
  ["read(.)", ["/w", "/w/a", "/w/a/b"], ["/", "/x", "/x/a"]],
  ["read(./)", ["/w", "/w/a"], ["/x"]],
  ["read(.*)", ["/w/.a", "/w/.a/b"], ["/w", "/w/a"]],
  ["read(/)", ["/", "/w", "/x/a"], []],
  ["read(//w/./a)", ["/w/a", "/w/a/b", "/w//a", "/w/./a", "/w/b/../a"], ["/w/ab"]],
  ["read(sch\u00fcssel/**)", ["/w/sch\u00fcssel/a", "/w/schu\u0308ssel/a"], ["/w/schussel/a"]],
  ["read(/w/schu\u0308ssel)", ["/w/sch\u00fcssel/a", "/w/schu\u0308ssel/a"], ["/w/schussel/a"]],
  ["read(c:/**)", ["/w/c:/a"], ["/c:/a"]],
  ["read({{x.name}}/**)", ["/w/{{x.name}}/a", "/w/{{x.name}}"], ["/w/x.name/a"]],
  ["read(/w/{{x.name}}/*.{a,b})", ["/w/{{x.name}}/x.a", "/w/{{x.name}}/x.b"], ["/w/x.name/x.a"]],
];
for (const [text, matches, others] of SPELT) {
  Deno.test(`a rule that denies, in another spelling: ${text}`, UNIX, () => {
    const rule = parseRule("deny", text);
    for (const path of matches) assertEquals(matchesPath(rule, "/w", path), true, path);
    for (const path of others) assertEquals(matchesPath(rule, "/w", path), false, path);
  });
}

Deno.test(
  "a rule for an absolute path refuses where its links lead, and allows nothing there",
  UNIX,
  () => {
    using temp = tempFolder();
    const base = temp.path;
    const real = `${base}/{a,b}[c]`;
    Deno.mkdirSync(`${real}/secret`, { recursive: true });
    Deno.symlinkSync(real, `${base}/link`);
    const paths = [`${real}/secret/x`, `${base}/link/secret/x`];
    for (const text of ["secret/*", `${base}/link/secret/*`, `${base}/link/sec?et/*`]) {
      const rule = parseRule("deny", `read(${text})`, `${base}/link`);
      for (const path of paths) assertEquals(matchesPath(rule, real, path), true, path);
      assertEquals(matchesPath(rule, real, `${real}/x`), false);
    }
    const allowing = parseRule("allow", `read(${base}/link/secret/*)`);
    assertEquals(paths.map((path) => matchesPath(allowing, real, path)), [false, true]);
  },
);

const bad: [text: string, part: string][] = [
  ["", "must be the name of a tool"],
  ["read_file(", "must be the name of a tool"],
  ["rm -rf /", "must be the name of a tool"],
  ["read_file()", "must not be empty"],
  ["read_file(../x)", "neither .. nor ~"],
  ["read_file(~/.ssh)", "neither .. nor ~"],
  [`read_file(${"{a,b}".repeat(20)})`, "glob pattern does not work"],
  ["run_bash(git log; rm)", "must be for one command"],
  ["run_bash(# x)", "must be for one command"],
  ["run_bash(git log 'x)", "cannot be understood (a quote is not closed)"],
  ["run_bash(A=1 x)", "neither set variables nor redirect"],
  ["run_bash(git log > x)", "neither set variables nor redirect"],
  ["run_bash(git * x)", "must be plain"],
  ["run_bash(npm run test:*)", "must be plain"],
  ["run_bash(echo $x)", "must be plain"],
];

for (const [text, part] of bad) {
  Deno.test(`parseRule refuses: ${text.slice(0, 40)}`, () => {
    assertThrows(() => parseRule("allow", text), SyntaxError, part);
  });
}

Deno.test("a rule about an argument of a server's tool: its pattern is for all of the text", () => {
  const rows: [rule: string, args: Record<string, unknown> | undefined, isMatch: boolean][] = [
    ["mcp__git__push(branch: feature/*)", { branch: "feature/a\nb" }, true],
    ["mcp__git__push(branch: feature/*)", { branch: "a/feature/b" }, false],
    ["mcp__git__push( branch :  *.x  )", { branch: "a.x" }, true],
    ["mcp__git__push(branch: *.x)", { branch: "a.xy" }, false],
    ["mcp__git__push(branch: a.c)", { branch: "abc" }, false],
    ["mcp__git__push(n: 5)", { n: 5 }, true],
    ["mcp__git__push(n: true)", { n: true }, true],
    ["mcp__git__push(n: *)", { n: null }, false],
    ["mcp__git__push(n: *)", { n: ["a"] }, false],
    ["mcp__git__push(n: *)", {}, false],
    ["mcp__git__push(toString: *)", {}, false],
    ["mcp__git__push(n: *)", undefined, false],
    ["mcp__git__push", {}, true],
    ["mcp__git__push(*)", undefined, true],
  ];
  for (const [text, args, isMatch] of rows) {
    assertEquals(matchesArgument(parseRule("deny", text), args), isMatch, text);
  }
  for (const text of ["mcp__git__push(branch)", "mcp__git__push(: a)", "mcp__git__push(a b: c)"]) {
    assertThrows(
      () => parseRule("deny", text),
      SyntaxError,
      "its brackets must contain an argument and its pattern, as in mcp__git__push(branch: feature/*)",
    );
  }
});

Deno.test("the tools that a rule is about: by name, by access, all; those of servers by the server's name", () => {
  const ours = { name: "read_file", access: "read" } as const;
  const theirs = { ...ours, ruleName: "mcp__git__read_file" };
  const rows: [rule: string, isForOurs: boolean, isForTheirs: boolean][] = [
    ["*", true, true],
    ["read", true, true],
    ["write", false, false],
    ["read_file", true, false],
    ["mcp__git__read_file", false, true],
    ["mcp__git", false, true],
    ["mcp__gi", false, false],
    ["mcp__git__read_file__x", false, false],
    ["mcp__git__read", false, false],
  ];
  for (const [text, isForOurs, isForTheirs] of rows) {
    const rule = parseRule("deny", text);
    assertEquals([isFor(rule, ours), isFor(rule, theirs)], [isForOurs, isForTheirs], text);
    const longer = { ...theirs, ruleName: "mcp__git__read_file__x" };
    const isForLonger = text === longer.ruleName || isForTheirs && text !== theirs.ruleName;
    assertEquals(isFor(rule, longer), isForLonger, text);
  }
});

function commandOf(text: string) {
  const line = parseCommandLine(text);
  if (!line.ok) throw new Error(line.reason);
  return line.commands.at(-1)!;
}

Deno.test("the commands that a rule allows: its very words, and with a star more that are known", () => {
  const rows: [rule: string, command: string, isAllowed: boolean][] = [
    ["run_bash(git log *)", "git log", true],
    ["run_bash(git log *)", "git log -p a", true],
    ["run_bash(git log *)", "git", false],
    ["run_bash(git log *)", "git logs", false],
    ["run_bash(git log *)", "A=1 git log", false],
    ["run_bash(git log *)", "2>&1", false],
    ["run_bash(git log *)", "git log $x", false],
    ["run_bash(git log *)", "git log src/*.ts", true],
    ["run_bash(git log *)", "git log *.ts", false],
    ["run_bash(git log *)", "git log src/.*", false],
    ["run_bash(git log *)", "git log src/{a,b}", false],
    ["run_bash(git log)", "git log", true],
    ["run_bash(git log)", "git log -p", false],
    ["run_bash(sh x)", "echo a | sh x", false],
    ["run_bash(sh x)", "sh x < in", false],
    ["run_bash(sh x)", "sh x < /dev/null", true],
    ["run_bash", "make a", true],
    ["run_bash", "$x a", false],
    ["run_bash", "xargs rm", false],
    ["read(a)", "make a", false],
  ];
  for (const [rule, command, isAllowed] of rows) {
    assertEquals(allowsCommand(parseRule("allow", rule), commandOf(command)), isAllowed, command);
  }
});

Deno.test("the commands that a rule may refuse: options in any order and spelling, the program by its name", () => {
  const rows: [rule: string, command: string, how: "yes" | "maybe" | "no"][] = [
    ["run_bash(git log)", "git log", "yes"],
    ["run_bash(git log)", "git log -p", "no"],
    ["run_bash(git log)", "git log $x", "yes"],
    ["run_bash(git log *)", "/usr/bin/git log -p", "yes"],
    ["run_bash(git log *)", "git -C sub log", "yes"],
    ["run_bash(git log *)", "git show log", "no"],
    ["run_bash(git log *)", "git $x", "maybe"],
    ["run_bash(git log *)", "git -C $x a", "maybe"],
    ["run_bash(git log *)", 'git -C "$@" a', "maybe"],
    ["run_bash(git log *)", "git --git-dir * a", "maybe"],
    ["run_bash(git log *)", 'git -C "$x" a', "no"],
    ["run_bash(git log *)", 'git -C "$x" log', "yes"],
    ["run_bash(git log *)", "git $x add log", "maybe"],
    ["run_bash(git log *)", "git add *.py $x", "no"],
    ["run_bash(git reset --hard *)", "git add *.py", "no"],
    ["run_bash(git reset --hard *)", "git reset $x", "maybe"],
    ["run_bash(rm -rf *)", "rm -fr a", "yes"],
    ["run_bash(rm -rf *)", "rm a -r --force", "yes"],
    ["run_bash(rm -rf *)", "rm -r a", "no"],
    ["run_bash(rm -rf *)", "rm -r $x", "maybe"],
    ["run_bash(rm -rf *)", "rm -r *", "maybe"],
    ["run_bash(rm -rf *)", "rm -r src/*", "no"],
    ["run_bash(kubectl delete *)", "kubectl -n x delete a", "yes"],
    ["run_bash(kubectl delete *)", "kubectl get delete", "no"],
    ["run_bash(kubectl delete *)", "kubectl get *.yaml", "no"],
    ["run_bash(aws s3 rm *)", "aws s3 --region eu rm a", "yes"],
    ["run_bash(a -)", "a -", "yes"],
    ["run_bash", "anything", "yes"],
    ["read(a)", "cat a", "no"],
  ];
  for (const [rule, command, how] of rows) {
    assertEquals(
      concernsCommand(parseRule("deny", rule), [commandOf(command).words]),
      how,
      command,
    );
  }
});
