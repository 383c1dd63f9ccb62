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
  for (const flag of FLAGS) {
    const { name } = flag;
    assert(zsh.includes(`--${name}`), `--${name} for zsh`);
    assert(fish.includes(`-l ${name}`), `--${name} for fish`);
    const short = "short" in flag ? `-s ${flag.short}` : undefined;
    const row = fish.split("\n").find((line) =>
      line.includes(`-l ${name} `) || line.endsWith(`-l ${name}`)
    )!;
    assertEquals(/-s \w/.exec(row)?.[0], short, row);
  }
});

/** A flag of each kind, as each of the texts has it. */
const SHOWN: [name: string, zsh: string, fish: string][] = [
  [
    "a switch",
    "  --network'[allow sandboxed commands and fetch_url to use the network]'",
    "complete -c copilot -f -l network -d 'allow sandboxed commands and fetch_url to use the network'",
  ],
  [
    "a switch with a letter",
    "  '(-y --yes)'{-y,--yes}'[run edits and commands without asking]'",
    "complete -c copilot -f -s y -l yes -d 'run edits and commands without asking'",
  ],
  [
    "any text",
    "  '(-m --model)'{-m,--model}'[the model (gpt-4o; local\\: qwen3)]:NAME: '",
    "complete -c copilot -f -s m -l model -x -d 'the model (gpt-4o; local: qwen3)'",
  ],
  [
    "a folder",
    "  '(-C --working-dir)'{-C,--working-dir}'[work in this folder]:DIR:_files -/'",
    "complete -c copilot -f -s C -l working-dir -xa '(__fish_complete_directories)' -d 'work in this folder'",
  ],
  [
    "one of some words",
    "  --think'[how much the model thinks, if the server can set it\\: on, off, low, medium, high]:HOW:(on off low medium high)'",
    "complete -c copilot -f -l think -xa 'on off low medium high' -d 'how much the model thinks, if the server can set it: on, off, low, medium, high'",
  ],
  [
    "an optional text",
    "  '(-p --print)'{-p,--print}'[answer one prompt",
    "complete -c copilot -f -s p -l print -x -d 'answer one prompt",
  ],
];

for (const [name, zsh, fish] of SHOWN) {
  Deno.test(`a flag for zsh and fish: ${name}`, () => {
    // The whole row, but of the longest its beginning.
    const end = name === "an optional text" ? "" : "\n";
    assertStringIncludes(completionScript("zsh"), `\n${zsh}${end && ` \\${end}`}`);
    assertStringIncludes(completionScript("fish"), `\n${fish}${end}`);
  });
}

for (const shell of ["zsh", "fish"]) {
  await testWith(shell, `${shell} reads its completions`, async () => {
    await run(shell, ["-n"], completionScript(shell));
  });
}
