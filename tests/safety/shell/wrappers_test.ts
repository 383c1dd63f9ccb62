import { assertEquals } from "@std/assert";
import { concernsCommand, parseRule } from "../../../src/safety/rules.ts";
import { parseCommandLine } from "../../../src/safety/shell/parser.ts";
import {
  ANY,
  besides,
  isHarmless,
  isOption,
  mayRun,
  programName,
  runsOthers,
  writtenBy,
} from "../../../src/safety/shell/wrappers.ts";

function commandOf(text: string) {
  const line = parseCommandLine(text);
  if (!line.ok) throw new Error(line.reason);
  return line.commands[0]!;
}
const runsIn = (text: string) =>
  mayRun(commandOf(text)).map((words) => words.map(({ text }) => text).join(" "));

Deno.test("SEC-02 what a wrapper may run: each of its ends, and each argument that is a command line", () => {
  const rows: [command: string, runs: string[]][] = [
    ["ls a", ["ls a"]],
    ["nice ls a", ["nice ls a", "ls a", "a"]],
    ["sh -c 'rm -r a'", ["sh -c rm -r a", "-c rm -r a", "rm -r a", "rm -r a", "rm -r a"]],
    ["sh '-crm a'", ["sh -crm a", "-crm a", "-crm a", "-crm a", "rm a", "rm a"]],
    // What follows a line that cannot be read is looked at, too.
    ["sh -c 'a (b' 'c d'", ["sh -c a (b c d", "-c a (b c d", "a (b c d", "", "c d", "c d", "c d"]],
    ["nice a '(b' 'c d'", ["nice a (b c d", "a (b c d", "(b c d", "c d", "c d", "c d"]],
    ['sh -c "$x"', ["sh -c $x", "-c $x", "$x", ""]],
    ["let 'a[$(rm b)]'", ["let a[$(rm b)]", "rm b", "rm b"]],
    ["echo '$(rm b)'", ["echo $(rm b)"]],
  ];
  for (const [command, runs] of rows) assertEquals(runsIn(command).sort(), runs.sort());
  const has = (command: string, run: string) => runsIn(command).includes(run);
  assertEquals(has("git -c alias.x='!rm a' x", "rm a"), true);
  assertEquals(has("tar --checkpoint-action=exec='rm a' b", "rm a"), true);
  assertEquals(has("sh -c 'a > b'", "> b"), true);
  assertEquals(has("sh -c 'A=b c'", "c"), true);
  // So deep, and no deeper: it is asked about anyway.
  const nested = (levels: number): string =>
    levels === 0 ? "rm a" : `sh -c ${JSON.stringify(nested(levels - 1))}`;
  assertEquals([4, 5, 6].map((levels) => has(nested(levels), "rm a")).at(0), true);
  assertEquals(has(nested(7), "rm a"), false);
  const words = (count: number) => runsIn(`nice ${"a ".repeat(count - 1)}`).length;
  assertEquals([words(200), words(201)], [200, 2]);
});

Deno.test("SEC-02 programs that run others are known by their names, options and subcommands", () => {
  const rows: [command: string, runs: boolean][] = [
    ["ls -l", false],
    ["/usr/bin/SUDO ls", true],
    ["bash.exe a", true],
    ["/lib64/ld-linux-x86-64.so.2 a", true],
    ["ld a", false],
    ["git status", false],
    ["git -c a=b status", true],
    ["git -ca=b status", true],
    ["git status -c a", false],
    ["git log --ou=x", true],
    ["git grep -Ox", true],
    ["git config a", true],
    ["find . -exec ls", true],
    ["find . -name a", false],
    ["go test -exec=a", true],
    ["go test -execute", false],
    ["sort --compress-program=a", true],
    ["sort -r", false],
    ["printf -v PATH .", true],
    ["printf x", false],
    ["read PATH", true],
    ["toString -x", false],
  ];
  for (const [command, runs] of rows) {
    assertEquals(runsOthers(commandOf(command).words), runs, command);
  }
  assertEquals(runsOthers([]), false);
  assertEquals(["/a/B.EXE", "b", "/"].map(programName), ["b", "b", ""]);
});

Deno.test("SEC-02 a rule that refuses finds a command behind launchers, in pipes and in BASH_ENV", () => {
  const rules = [parseRule("deny", "run_bash(rm *)")];
  const how = (text: string) => {
    const line = parseCommandLine(text);
    if (!line.ok) return "unread";
    const found = line.commands.map((one) =>
      concernsCommand(rules[0]!, [one.words, ...mayRun(one)])
    );
    const isAny = line.commands.some((one) => mayRun(one).includes(ANY));
    return found.includes("yes") ? "yes" : isAny ? "any" : "no";
  };
  const rows: [command: string, how: string][] = [
    ["choom -n 1 rm X", "yes"],
    ["uv run rm X", "yes"],
    ["uv --quiet run --with a rm X", "yes"],
    ["poetry run rm X", "yes"],
    ["direnv exec . rm X", "yes"],
    ["bundle exec sh -c 'rm X'", "yes"],
    ["mise x -- rm X", "yes"],
    ["echo 'rm X' | bash", "any"],
    ["echo 'rm X' | sudo sh -s", "any"],
    ["echo 'rm X' | parallel", "any"],
    ["BASH_ENV=<(echo rm X) bash -c true", "any"],
    ["export BASH_ENV=x; bash -c true", "any"],
    ["bash -c '((1)); rm X'", "any"],
    ["bash <<'END'\n((1)); rm X\nEND", "any"],
    ["eval '((1)); rm X'", "any"],
    ["git -c alias.q='!((1)); rm X' q", "any"],
    ["git grep -O'rm X' a", "yes"],
    ["sh -c '$P X'", "any"],
    ["sh -c '/bin/r? X'", "any"],
    ["bash <(echo rm X)", "any"],
    ["sh < <(echo rm X)", "any"],
    ['sh <<<"$(echo rm X)"', "any"],
    ["echo 'rm X' > >(sh)", "any"],
    ["echo 'rm X' | . /dev/stdin", "any"],
    ["echo 'rm X' | xargs -I% sh -c %", "any"],
    ["exec 3< <(echo rm X); sh <&3", "any"],
    ["{ sh; } <<<'rm X'", "any"],
    ["if true; then (sh); fi < <(echo rm X)", "any"],
    ["f() { sh; }; f <<<'rm X'", "any"],
    ["echo rm X | xargs -n2 env", "any"],
    ["x86_64 rm X", "yes"],
    ["/proc/self/exe -c 'rm X'", "any"],
    ["sed -n -e'1e rm X' a", "any"],
    ["sed -ne 'e rm X' a", "any"],
    ["tar -cf a -I'rm X' b", "yes"],
    ["git -C a -c alias.q='!rm X' q", "yes"],
    ["GIT_SSH_COMMAND='rm X' git fetch", "yes"],
    ["export GIT_PAGER='rm X'; git log", "yes"],
    ["LESSOPEN='|rm X' less a", "yes"],
    ["GIT_CONFIG_VALUE_0='!rm X' git q", "yes"],
    [`GIT_CONFIG_PARAMETERS="'alias.q'='!rm X'" git q`, "any"],
    ["Q='!rm X' git --config-env=alias.q=Q q", "yes"],
    ["GIT_CONFIG_PARAMETERS=\"'alias.q=!rm X'\" git q", "any"],
    ["alias q=rm\nq X", "any"],
    ["sed -f - a <<<'1e rm X'", "any"],
    ["sed '1erm X' a", "any"],
    ["sed --expr='1erm X' a", "any"],
    ["sed '\\,a,e rm X' a", "any"],
    ["echo rm X | setarch x86_64", "any"],
    ["sed -n 1,5p example.txt", "no"],
    ["EDITOR=vi git commit", "no"],
    ["sed -i.bak -e s/a/b/ c", "no"],
    ["ls | xargs rg a", "no"],
    ["{ ls; } <a", "no"],
    ['bash "$script"', "no"],
    ["timeout 9 grep 'rm(' a", "no"],
    ["uv run pytest", "no"],
    ["uv add rm", "no"],
    ["ls | grep sh", "no"],
    ["cat a | bash x.sh", "no"],
  ];
  for (const [command, expected] of rows) assertEquals(how(command), expected, command);
});

Deno.test("SEC-02 an option is found among letters, shortened, and with its value", () => {
  const rows: [word: string, option: string, is: boolean][] = [
    ["-x", "-x", true],
    ["-ax", "-x", true],
    ["--x", "-x", false],
    ["x", "-x", false],
    ["-", "-x", false],
    ["--exec", "--exec", true],
    ["--ex", "--exec", true],
    ["--e=a", "--exec", true],
    ["--", "--exec", false],
    ["--exec-path", "--exec", false],
    ["-exec=a", "-exec", true],
    ["-ex", "-exec", false],
  ];
  for (const [word, option, is] of rows) assertEquals(isOption(word, option), is, word);
});

Deno.test("SEC-02 redirections that neither write nor read a file are harmless", () => {
  const rows: [text: string, is: boolean][] = [
    ["a > b", false],
    ["a < b", false],
    ["a > /dev/null", true],
    ["a 2>&1", true],
    ["a >&-", true],
    ["a >&b", false],
    ["a <<< b", true],
    ["a > $b", false],
  ];
  for (const [text, is] of rows) {
    assertEquals(commandOf(text).redirections.every(isHarmless), is, text);
  }
  const beside = besides(commandOf("A=1 b > c")).map((words) =>
    words.map(({ text }) => text).join(" ")
  );
  assertEquals(beside.length, 2);
  assertEquals(beside.includes("> c"), true);
});

Deno.test("SEC-02 the words that a command is known to write are told from those that it reads", () => {
  const rows: [command: string, written: string][] = [
    ["mv a b", "a b"],
    ["/bin/RM -r a", "a"],
    ["cp -r a b", "b"],
    ["sed -i s/a/b/ c", "s/a/b/ c"],
    ["sed -ni p c", "p c"],
    ["sed --in-place p c", "p c"],
    ["sed -n p c", ""],
    ["dd if=a of=b", "of=b"],
    ["cat a b", ""],
    ["mkdir", ""],
  ];
  for (const [command, written] of rows) {
    const words = writtenBy(commandOf(command).words).map(({ text }) => text).join(" ");
    assertEquals(words, written, command);
  }
  assertEquals(writtenBy([]), []);
});
