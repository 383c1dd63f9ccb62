import { assertEquals } from "@std/assert";
import { clipboardSequence, MAX_COPY_BYTES } from "../../../src/ui/terminal/clipboard.ts";

const env = (variables: Record<string, string>) => ({ get: (name: string) => variables[name] });

const TERMINALS: [variables: Record<string, string>, text: string, copied: string][] = [
  [{ TERM: "xterm-256color" }, "é\n", "sent"],
  [{ TERM: "tmux-256color", TMUX: "/tmp/tmux,1,0" }, "é\n", "sent_to_tmux"],
  [{ TERM: "linux" }, "é\n", "unsupported"],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, "é\n", "unsupported"],
  [{ TERM: "xterm" }, "x".repeat(MAX_COPY_BYTES + 1), "too_large"],
];
for (const [variables, text, copied] of TERMINALS) {
  Deno.test(`a text for the clipboard with ${JSON.stringify(variables)}: ${copied}`, () => {
    const sequence = copied.startsWith("sent") ? "\x1b]52;c;w6kK\x07" : "";
    assertEquals(clipboardSequence(text, env(variables)), { copied, sequence });
  });
}

Deno.test("the largest text for the clipboard is 100 000 characters of base64", () => {
  const text = "x".repeat(MAX_COPY_BYTES);
  const { copied, sequence } = clipboardSequence(text, env({ TERM: "xterm" }));
  assertEquals([copied, sequence.length], ["sent", "\x1b]52;c;\x07".length + 99_992]);
});
