import { assertEquals, assertThrows } from "@std/assert";
import { reasonOf } from "../../src/text/reason.ts";

// deno-fmt-ignore
const ROWS: [thrown: unknown, expected: string][] = [
  [new Error("It does not fit"), "It does not fit"],
  ["a text", "a text"],
  [undefined, "undefined"],
  [new Error("No space left on device (os error 28)"), "No space left on device"],
  [new Error("No space left on device (os error 28): writefile '/a/b'"), "No space left on device"],
  [new Error("File exists (os error 17): rename '/a' -> '/b'"), "File exists"],
  [new Error("Failed to spawn '/bin/sh': Too many open files (os error 24)"), "Failed to spawn '/bin/sh': Too many open files"],
  [
    new Error("Failed to spawn 'vi': failed resolving cwd: No such file or directory (os error 2)"),
    "the folder that the program was started in was removed",
  ],
  ...["Import 'file:///a/b.js' failed.", 'Module not found "file:///a/b.js".'].map((message) =>
    [new TypeError(message), "a part of this program could not be read: quit copilot and start it again"] as [unknown, string]
  ),
  // What follows is no call of the runtime.
  [new Error("It says: refused (os error 111): start the server"), "It says: refused: start the server"],
  [new Error('Requires all access to "/proc", run again with the --allow-all flag'), '"/proc" is closed to this program'],
  [
    {
      get message() {
        throw new Error("no");
      },
    },
    "",
  ],
];

Deno.test("reasonOf leaves out what the runtime adds for programmers", () => {
  for (const [thrown, expected] of ROWS) assertEquals(reasonOf(thrown), expected);
});

Deno.test("reasonOf takes the runtime's own errors", () => {
  const thrown = assertThrows(() => Deno.readTextFileSync(`${import.meta.dirname}/missing`));
  assertEquals(/os error|readfile|missing/.test(reasonOf(thrown)), false);
});
