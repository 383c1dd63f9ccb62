import { assert, assertEquals } from "@std/assert";
import { cleanOutput, OutputCapture } from "../../../src/tools/shell/output_capture.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

const TWENTY = Array.from({ length: 20 }, (_, i) => i);

/** A stream that gives `bytes` in pieces of `size`. */
function streamOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at >= bytes.length) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else controller.enqueue(bytes.slice(at, at += size));
    },
  });
}

Deno.test("keeps the first and last bytes, whatever the pieces are", async () => {
  const text = Array.from({ length: 400 }, (_, i) => `${i}é日😀`).join("");
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, 64, 100, 101, 999, 1_000_000]) {
    const capture = new OutputCapture([streamOf(bytes, size)], 200);
    await capture.done;
    assertEquals(capture.total, bytes.length);
    for (const max of [20, 50, 199, 200, 201, 10_000]) {
      const result = capture.text(max);
      const [, head, omitted, tail] = /^(.*)\n\[(\d+) bytes omitted: .*\]\n(.*)$/.exec(result)!;
      assert(text.startsWith(head!) && text.endsWith(tail!), result);
      const shown = new TextEncoder().encode(head! + tail!).length;
      assertEquals(shown + Number(omitted), bytes.length);
      // Only whole characters, and no more than that costs.
      assert(shown <= max && shown > Math.min(max, 200) - 8, `${shown} of ${max}`);
    }
  }
});

Deno.test("what fits is whole", async () => {
  for (const text of ["", "a", "\ufeffa", "a\nb\n", "é".repeat(50), "x".repeat(100)]) {
    for (const size of [1, 3, 1000]) {
      const capture = new OutputCapture([streamOf(new TextEncoder().encode(text), size)], 100);
      await capture.done;
      assertEquals(capture.text(100), text);
    }
  }
});

Deno.test("binary output is described, text with some odd characters is not", async () => {
  const shown = async (bytes: Uint8Array<ArrayBuffer>, max = 10_000) => {
    const capture = new OutputCapture([streamOf(bytes, 1000)], max);
    await capture.done;
    return [capture.text(max), capture.tail(max)];
  };
  const text = (text: string) => new TextEncoder().encode(text);
  const noise = Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31 + i * 7) % 256);
  const described = (bytes: number) =>
    `[binary output, ${bytes} bytes: redirect it to a file, or look with xxd | head]`;
  assertEquals(await shown(noise), [described(5000), described(5000)]);
  assertEquals(await shown(new Uint8Array(50)), [described(50), described(50)]);
  assertEquals((await shown(text("./one-name\0./another-name\0")))[0], "./one-name./another-name");
  const odd = text("caf\u00e9 \u001b[31mred\u001b[0m \ufffd 1\r2\n");
  assertEquals((await shown(odd))[0], "café red � 1\n2\n");
  const [cut] = await shown(new Uint8Array([...text("line\n".repeat(400)), ...noise]), 2000);
  assertEquals(cut!.startsWith("line\nline\n"), true);
  assertEquals(cut!.endsWith(" bytes: redirect it to a file, or look with xxd | head]"), true);
});

Deno.test("cuts between lines where one ends near", async () => {
  const text = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
  const capture = new OutputCapture([streamOf(new TextEncoder().encode(text), 77)], 1000);
  await capture.done;
  const lines = capture.text(1000).split("\n");
  for (const line of lines) assert(/^(line \d+|\[\d+ bytes omitted: .*\]|)$/.test(line), line);
});

// Each row: the most bytes, and how far from either cut a line break still moves it.
Deno.test.each([[400, 50], [1600, 200], [4000, 200]])(
  "of %d bytes, a line that ends within %d bytes of a cut moves it",
  async (max, near) => {
    const half = max / 2;
    const cutWith = async (distance: number) => {
      const bytes = new Uint8Array(10_000).fill(120);
      bytes[half - distance] = 10;
      bytes[bytes.length - half + distance - 2] = 10;
      const capture = new OutputCapture([streamOf(bytes, 1000)], max);
      await capture.done;
      const [head, tail] = capture.text(max).split(/\n\[.*\]\n/);
      return [head!.length, tail!.length];
    };
    assertEquals(await cutWith(2), [half - 2, half - 1]);
    assertEquals(await cutWith(near), [half - near, half - near + 1]);
    // What was left whole has its line break in it.
    assertEquals(await cutWith(near + 1), [half, half]);
  },
);

Deno.test("what is taken is told once, and the end of all is there at any time", async () => {
  let controller: ReadableByteStreamController;
  const stream = new ReadableStream({ type: "bytes", start: (one) => void (controller = one) });
  const capture = new OutputCapture([stream as ReadableStream<Uint8Array<ArrayBuffer>>], 16);
  const print = async (text: string) => {
    const more = capture.more();
    controller.enqueue(new TextEncoder().encode(text));
    await more;
  };
  await print("ab");
  assertEquals([capture.take(16), capture.total, capture.take(16)], ["ab", 0, ""]);
  await print("cdé");
  assertEquals([capture.total, capture.text(16), capture.tail(16)], [4, "cdé", "abcdé"]);
  assertEquals([1, 2, 3].map((length) => capture.tail(length)), ["", "é", "dé"]);
  assertEquals(capture.take(16), "cdé");
  // Eight bytes are kept of the end.
  await print("1234567");
  assertEquals([capture.take(16), capture.tail(16)], ["1234567", "1234567"]);
  await print("8");
  assertEquals([capture.take(16), capture.tail(16), capture.tail(7)], ["8", "12345678", "2345678"]);
  await print("9abcdefgh");
  assertEquals([capture.text(16), capture.tail(16)], ["9abcdefgh", "abcdefgh"]);
  controller!.close();
  controller!.byobRequest?.respond(0);
  await capture.done;
});

Deno.test("cancel ends a stream that would go on for ever", async () => {
  const endless = new ReadableStream({ type: "bytes", pull: () => new Promise(() => {}) });
  const capture = new OutputCapture([endless], 100);
  await capture.cancel();
  await capture.done;
  assertEquals(capture.text(100), "");
});

Deno.test.each([
  ["plain\n\ttext\n", "plain\n\ttext\n"],
  [TWENTY.join("\r"), TWENTY.join("\n")],
  ["\x1b[31mred\x1b[0m", "red"],
  ["a\r\nb\r\n", "a\nb\n"],
  ["a\r\r\nb", "a\nb"],
  ["1\r2\r3", "1\n2\n3"],
  ["1\r2\r", "1\n2"],
  ["a\r  \ra\rb\n", "a\nb\n"],
  ["error: long\rok\n", "error: long\nok\n"],
  [
    Array.from({ length: 30 }, (_, i) => `${i}%`).join("\r") + "\nend",
    "0%\n1%\n2%\n3%\n4%\n[... 20 overwritten states: tr '\\r' '\\n' shows them]\n25%\n26%\n27%\n28%\n29%\nend",
  ],
  ["\x1b]0;open\nerror\x07\n", "0;open\nerror\n"],
  ["\x1bPopen\n\x9derror\n\x9c.", "open\nerror\n."],
  ["\r", ""],
  ["50%\r\x1b[K100%\nnext\r\n", "50%\n100%\nnext\n"],
  ["N\bNA\bAM\bM", "NAM"],
  ["\b\b|\b/\b-", "-"],
  ["a\0\x01\x7f\x9fb", "ab"],
  ["a\x0c\x0bb", "ab"],
  ["日本\ufffd😀\u2028", "日本\ufffd😀\u2028"],
])("PRC-05 cleans %j", (text, expected) => {
  assertEquals(cleanOutput(text), expected);
});

Deno.test("cleans adversarial text in linear time", () => {
  const n = 300_000;
  // deno-fmt-ignore
  const rows = ["\r", "a\r", "\b", "a\b", "\x1b[", "\x1b]", "\x1b]a", "\x1bP\r", "\x9b0", " \r\n"];
  for (const piece of rows) {
    const start = cpuTime();
    cleanOutput(piece.repeat(n));
    // Quadratic time would be minutes.
    assert(cpuTime() - start < 10_000, JSON.stringify(piece));
  }
});
