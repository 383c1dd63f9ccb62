import { assertEquals } from "@std/assert";

const SCREEN = new URL("../../../../src/ui/terminal/screen/screen.ts", import.meta.url);

/** What a program prints that uses a plain screen as `code` says, with `input` piped to it. */
async function printed(code: string, input = ""): Promise<string> {
  const program = `import { PlainScreen } from ${JSON.stringify(SCREEN.href)};
    const { signal } = new AbortController();
    const screen = new PlainScreen(() => [], signal);
    ${code}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", program],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close().catch(() => {});
  return new TextDecoder().decode((await child.output()).stdout);
}

Deno.test("a plain screen prints lines of their own, also behind text that goes on", async () => {
  const text = await printed(
    `
    screen.print("one");
    screen.stream("two, ");
    screen.stream("");
    screen.stream("three");
    screen.stream("");
    screen.print("four");
    screen.stream("five\\n");
    screen.print("six");
    screen.echo({ type: "text", text: "seven" });
    screen.print([screen.isLive, await screen.choose(), await screen.ask("", () => {}, signal, { isHidden: true })].join());
    Deno.stdin.isTerminal = Deno.stdout.isTerminal = () => true;
    Deno.env.set("TERM", "dumb");
    const message = screen.read();
    screen.print("late");
    screen.print((await message).text);`,
    "hi\n",
  );
  assertEquals(text, "one\ntwo, three\nfour\nfive\nsix\n> seven\nfalse,,\n> \nlate\n> hi\n");
});
