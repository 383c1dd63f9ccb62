import { assertEquals } from "@std/assert";
import {
  commandBeginning,
  enteredFolder,
  isQuiet,
  networkGrants,
} from "../../../src/safety/shell/beginnings.ts";
import { parseCommandLine } from "../../../src/safety/shell/parser.ts";

function wordsOf(text: string) {
  const line = parseCommandLine(text);
  if (!line.ok) throw new Error(line.reason);
  return line.commands[0]!.words;
}

Deno.test("the beginning of a command that a rule may be about", () => {
  const rows: [command: string, beginning: string, kind: string][] = [
    ["ls -l a", "ls", "open"],
    ["git status a", "git status", "open"],
    ["git push a", "git push", "reaching"],
    ["git", "git", "closed"],
    ["git none", "git none", "closed"],
    ["git -C a status", "git -C a status", "closed"],
    ["curl x", "curl x", "reaching"],
    ["python3 -m pytest a", "python3 -m pytest", "open"],
    ["python3.12 -m unittest a", "python3.12 -m unittest", "open"],
    ["python3 -m", "python3 -m", "closed"],
    ["python3 -m none", "python3 -m none", "closed"],
    ["python3 pytest a", "python3 pytest a", "closed"],
    ["ruby -m pytest", "ruby -m pytest", "closed"],
    ["find . -exec ls {} +", "find . -exec ls {} +", "closed"],
    ["npm install x", "npm install", "reaching"],
    ["toString x", "toString x", "closed"],
    ["git $x", "git $x", "closed"],
  ];
  for (const [command, beginning, kind] of rows) {
    const found = commandBeginning(wordsOf(command));
    assertEquals([found.words.map(({ text }) => text).join(" "), found.kind], [beginning, kind]);
  }
});

Deno.test("the grants of the network for a line: by the beginning, the words, or the whole text", () => {
  const rows: [line: string, grants: [text: string, isExact: boolean][]][] = [
    ["npm install x", [["npm install", false]]],
    ["npm install x; npm install y", [["npm install", false]]],
    ["curl x 2>&1", [["curl x", true]]],
    ["curl x > out", [["curl x > out", true]]],
    ["A=1 npm install x", [["A=1 npm install x", true]]],
    ["npm ci; npm i x; pip3 install y; python3 -m pip install y", [["npm install", false], [
      "pip install",
      false,
    ]]],
    ["npm install ./x", [["npm install ./x", true]]],
    ...["..", "--prefix=./x", "x/", "a/b", "x.tgz"].map((
      name,
    ): typeof rows[number] => [`npm install ${name}`, [[`npm install ${name}`, true]]]),
    ["npm install @types/node", [["npm install", false]]],
    ["go get a.org/b", [["go get", false]]],
    ["npm install x file:y", [["npm install x file:y", true]]],
    ["pip install .", [["pip install .", true]]],
    ["pip install git+https://x/y", [["pip install git+https://x/y", true]]],
    ["npm install $x", [["npm install $x", true]]],
    ["curl $x", [["curl $x", true]]],
    ["echo a | sh", [["echo a | sh", true]]],
    ["x=(a)", [["x=(a)", true]]],
    ["2>&1", [["2>&1", true]]],
    ["curl 'a b'", [["curl 'a b'", true]]],
  ];
  for (const [line, grants] of rows) {
    assertEquals(networkGrants(line).map(({ text, isExact }) => [text, isExact]), grants, line);
  }
});

Deno.test("commands that only print words or cut what others print run beside what is allowed", () => {
  const rows: [command: string, isQuiet: boolean][] = [
    ["tail -n 5", true],
    ["tail -5", true],
    ["tail x", false],
    ["echo a b", true],
    ["echo $x", false],
    ["grep -v 'a b'", true],
    ["grep a b", false],
    ["wc -l", true],
    ["wc x", false],
    ["cat", true],
    ["cat x", false],
    ["sort -u -r", true],
    ["sort -o x", false],
  ];
  for (const [command, expected] of rows) {
    assertEquals(isQuiet(wordsOf(command)), expected, command);
  }
});

Deno.test("the folder that a line changes to before all else", () => {
  const rows: [line: string, folder: string | undefined][] = [
    ["cd sub && make", "sub"],
    ["  cd\ta/b-c && make 2>&1 | tail", "a/b-c"],
    ["cd sub && a && b", "sub"],
    ["cd sub && a >&2 &> x", "sub"],
    ["cd ..a && make", "..a"],
    ["cd ../a && make", undefined],
    ["cd a/.. && make", undefined],
    ["cd -P && make", undefined],
    ["cd sub; make", undefined],
    ["cd sub && a; b", undefined],
    ["cd sub && a || b", undefined],
    ["cd sub && a & b", undefined],
    ["cd sub && a\nb", undefined],
    ["make && cd sub", undefined],
    ["cd $x && make", undefined],
  ];
  for (const [line, folder] of rows) assertEquals(enteredFolder(line), folder, line);
});
