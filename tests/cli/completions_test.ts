import { assert, assertEquals, assertThrows } from "@std/assert";
import { FLAGS, UsageError } from "../../src/cli/args.ts";
import { completionScript, manPage } from "../../src/cli/completions.ts";

async function run(command: string, args: string[], input: string): Promise<string | undefined> {
  try {
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
    assert(success, new TextDecoder().decode(stderr));
    assertEquals(new TextDecoder().decode(stderr), "");
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const BASH: [words: string[], expected: string[]][] = [
  [["copilot", "--wor"], ["--working-dir"]],
  [["copilot", "--output", "j"], ["json"]],
  [["copilot", "-m", "x"], []],
  [["copilot", "--completions", ""], ["bash", "zsh", "fish"]],
];

for (const [words, expected] of BASH) {
  Deno.test(`bash completes ${words.join(" ")}`, async () => {
    const script = `${completionScript("bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_copilot; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = await run("bash", [], script);
    if (output !== undefined) {
      assertEquals(output.split("\n").filter((line) => line !== ""), expected);
    }
  });
}

Deno.test("every flag is in every shell's completions and in the manual page", async () => {
  const zsh = completionScript("zsh");
  const fish = completionScript("fish");
  const page = manPage("1.2.3");
  for (const { name } of FLAGS) {
    assert(zsh.includes(`--${name}`), `--${name} for zsh`);
    assert(fish.includes(`-l ${name}`), `--${name} for fish`);
    assert(page.includes(`\\-\\-${name.replaceAll("-", "\\-")}`), `--${name} in the page`);
  }
  await run("zsh", ["-n"], zsh);
  await run("fish", ["-n"], fish);
  const shown = await run("groff", ["-man", "-Tascii", "-ww"], page);
  if (shown !== undefined) assert(shown.includes("copilot 1.2.3"));
});

Deno.test("completions for another shell are refused", () => {
  assertThrows(() => completionScript("csh"), UsageError, "bash, zsh and fish");
});
