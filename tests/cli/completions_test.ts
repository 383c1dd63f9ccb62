import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FLAGS } from "../../src/cli/args.ts";
import { completionScript } from "../../src/cli/completions.ts";

/** What `command` prints of `input`; it must take it without a word of complaint. */
async function run(command: string, args: string[], input: string): Promise<string> {
  const process = new Deno.Command(command, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await process.output();
  assertEquals([success, new TextDecoder().decode(stderr)], [true, ""]);
  return new TextDecoder().decode(stdout);
}

/** A test that needs `command`: skipped, not passed, where it is not installed. */
async function testWith(command: string, name: string, fn: () => Promise<void>): Promise<void> {
  const missing = await isMissing(command);
  Deno.test({ name: missing ? `${name} (skipped: no ${command})` : name, ignore: missing, fn });
}

async function isMissing(command: string): Promise<boolean> {
  try {
    await new Deno.Command(command, { args: ["--version"], stdin: "null" }).output();
    return false;
  } catch {
    return true;
  }
}

const BASH: [words: string[], expected: string[]][] = [
  [["copilot", "--wor"], ["--working-dir"]],
  [["copilot", "--output", "j"], ["json"]],
  [["copilot", "-m", "x"], []],
  [["copilot", "--completions", ""], ["bash", "zsh", "fish"]],
  [["copilot", "d"], ["doctor"]],
  [["copilot", "doctor", "--json"], ["--json-schema", "--json"]],
  [["copilot", "-p", "--wor"], []],
  [["copilot", "-p", "x", "--wor"], ["--working-dir"]],
  [["copilot", "--", "--wor"], []],
];

for (const [words, expected] of BASH) {
  await testWith("bash", `bash completes ${words.join(" ")}`, async () => {
    const script = `${completionScript("bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_copilot; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = await run("bash", [], script);
    assertEquals(output.split("\n").filter((line) => line !== ""), expected);
  });
}

Deno.test("every flag is in every shell's completions", () => {
  const zsh = completionScript("zsh");
  const fish = completionScript("fish");
  for (const { name } of FLAGS) {
    assert(zsh.includes(`--${name}`), `--${name} for zsh`);
    assert(fish.includes(`-l ${name}`), `--${name} for fish`);
  }
});

Deno.test("values are words, folders, files or any text", () => {
  for (
    const [shell, row] of [
      ["zsh", "'(-C --working-dir)'{-C,--working-dir}'[work in this folder]:DIR:_files -/'"],
      ["zsh", "'(-m --model)'{-m,--model}'[the model (gpt-4o; local\\: qwen3)]:NAME: '"],
      ["fish", "-s m -l model -x -d 'the model (gpt-4o; local: qwen3)'"],
      ["fish", "-l think -xa 'on off low medium high' -d 'how"],
    ] as const
  ) assertStringIncludes(completionScript(shell), row);
});

for (const shell of ["zsh", "fish"]) {
  await testWith(shell, `${shell} reads its completions`, async () => {
    await run(shell, ["-n"], completionScript(shell));
  });
}
