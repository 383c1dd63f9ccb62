import { assertEquals, assertThrows } from "@std/assert";
import { readCommand } from "../../../src/tools/repair/command.ts";

/** A command, and what is read of it; left out where it stays. */
const ROWS: [given: string, command?: string][] = [
  ["```sh\nls\n```", "ls"],
  ["`ls -l`", "ls -l"],
  ["```\na\n```\nb\n```"],
  ["`a` `b`"],
  ['{"command": "ls"}', "ls"],
  ['{"cmd": "ls"}', "ls"],
  ['{"cmd": "ls", "a": 1}'],
  ['{"a": "ls"}'],
  ["$ ls", "ls"],
  ["$ a\n$ b", "a\nb"],
  ["$ a \\\n  b", "a \\\n  b"],
  ["$ a &&\nb", "a &&\nb"],
  ["$ cat <<E\nx\nE", "cat <<E\nx\nE"],
  ["run_bash ls -l", "ls -l"],
  ["ls > a"],
  ["> a"],
  ["cat <<E\nx\nE\nls"],
  ["cat <<-E\n\tx\n\tE"],
  ["cat <<E\nit's\nE\necho it\\'s"],
  ["echo 'a\n' <<E\nit's\nE"],
  ["cat <<E\nx\n\tE\nE"],
  ["cat <<A <<B\n1\nA\n2\nB"],
  ["cat <<A\n<<B\nA\nls"],
  ["echo $((1<<X))"],
  ["cat <<<word"],
  ["echo '<<E'"],
  ["echo a # <<E"],
  ["echo 'a\n<<E\n'"],
  ['echo "a\\"\n<<E\n"'],
  ["echo it's # it\n'; cat <<E\nE"],
  ["printf 'a\\nb'"],
  ["printf a\\\\nb"],
  ["printf a\\n"],
];

for (const [given, command = given] of ROWS) {
  Deno.test(`command ${JSON.stringify(given)}`, () => {
    const read = readCommand(given);
    assertEquals(read.command, command);
    assertEquals(read.repairs.length, given === command ? 0 : 1);
  });
}

const REFUSED: [given: string, why: string][] = [
  [
    "$ a\nout\n$ b",
    'lines with and without "$ ": give the commands alone, such as {"command":"a\\nb"}',
  ],
  ["$ a\nout", 'such as {"command":"a"}'],
  ["$ cat <<E\nx\n$ E", "with and without"],
  ["$ ls\ncat <<E\nx\nE", "with and without"],
  ["cat <<E\nit's\nE\ncat <<F\nit's", "a line that is F"],
  ["read_file a", "read_file is a tool, and no program: call read_file itself"],
  ["  edit_file(a)", "edit_file is a tool"],
  ["> npm test", 'A correct call: {"command":"npm test"}'],
  ["cat <<E\nx", "here-document has no end: a line that is E and nothing else"],
  ["cat <<E\nx\n E", "a line that is E"],
  ["cat <<A <<B\n1\nA\n2", "a line that is B"],
  ["cat <<'E'\nx", "a line that is E"],
  ["cat <<E\nx\nE\ncat <<F", "a line that is F"],
  ["a\\nb", "\\n outside of quotes"],
  ["echo 'a' b\\n ls", "\\n outside of quotes"],
];

for (const [given, why] of REFUSED) {
  Deno.test(`refused command ${JSON.stringify(given)}`, () => {
    assertThrows(() => readCommand(given), Error, why);
  });
}

Deno.test("a repair of a command says what was in it", () => {
  const rows: [given: string, repair: string][] = [
    ["`ls`", "a command in backticks as the command"],
    ["```\nls\n```", "a command in a code fence as the command"],
    ['{"cmd": "ls"}', "the cmd in the JSON as the command"],
    ["$ ls", '"$ " in front as no part of the command'],
    ["run_bash ls", "run_bash in front as no part of the command"],
  ];
  for (const [given, repair] of rows) {
    assertEquals(readCommand(given), { command: "ls", repairs: [repair] });
  }
});
