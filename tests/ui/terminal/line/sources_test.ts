import { assertEquals } from "@std/assert";
import { KeySource } from "../../../../src/ui/terminal/line/sources.ts";
import { ByteSource, LineSource } from "../../../../src/ui/terminal/line/sources.ts";
import { forEverySplit } from "../../../helpers/split.ts";

/** A stream whose pieces come when the test says so; null is its end. */
function stream() {
  const pieces: (Uint8Array | null)[] = [];
  let wake = () => {};
  return {
    send(...texts: (string | null)[]) {
      pieces.push(...texts.map((text) => text === null ? null : new TextEncoder().encode(text)));
      wake();
    },
    async read(buffer: Uint8Array): Promise<number | null> {
      while (pieces.length === 0) await new Promise<void>((resolve) => wake = resolve);
      const piece = pieces[0];
      if (piece === undefined || piece === null) return null;
      pieces.shift();
      buffer.set(piece);
      return piece.length;
    },
  };
}

const key = (name: string) => ({ type: "key", name }) as const;
const text = (text: string) => ({ type: "text", text }) as const;
const FOREVER = 1e6;

Deno.test("keys come one at a time, and what nobody asked for is kept", async () => {
  const input = stream();
  const keys = new KeySource(new ByteSource(input), FOREVER);
  input.send("a\rb", "\x1b[", "A");
  const got = [];
  for (let i = 0; i < 4; i++) got.push(await keys.next());
  assertEquals(got, [text("a"), key("enter"), text("b"), key("up")]);
  const waiting = keys.next();
  input.send("c", null);
  assertEquals([await waiting, await keys.next(), await keys.next()], [text("c"), null, null]);
});

Deno.test("a lone Escape is one when nothing follows in time", async () => {
  const input = stream();
  const keys = new KeySource(new ByteSource(input), 1);
  input.send("\x1b");
  assertEquals(await keys.next(), key("escape"));
  input.send("\x1b", null);
  assertEquals([await keys.next(), await keys.next()], [key("escape"), null]);
});

Deno.test("a paste whose end is lost is given up when it is silent for long", async () => {
  const input = stream();
  const keys = new KeySource(new ByteSource(input), FOREVER, 1);
  input.send("\x1b[200~some text");
  assertEquals(await keys.next(), { type: "paste", text: "some text" });
  input.send("\r");
  assertEquals(await keys.next(), key("enter"));
});

Deno.test("a reader that is aborted takes no key from the next one", async () => {
  const input = stream();
  const keys = new KeySource(new ByteSource(input), FOREVER);
  const abort = new AbortController();
  const aborted = keys.next(abort.signal);
  abort.abort();
  assertEquals(await aborted, null);
  assertEquals(await keys.next(abort.signal), null);
  input.send("a");
  assertEquals(await keys.next(), text("a"));
});

Deno.test("lines, however their bytes are cut", async () => {
  const rows: [bytes: string, ...lines: string[]][] = [
    [""],
    ["\n", ""],
    ["one\ntwo\r\nthree", "one", "two", "three"],
    ["日本\n\n\r\ná\n", "日本", "", "", "á"],
    ["a\rb\n", "a\rb"],
  ];
  const runs: Promise<void>[] = [];
  for (const [bytes, ...lines] of rows) {
    forEverySplit(new TextEncoder().encode(bytes), (pieces) => {
      runs.push((async () => {
        const rest: (Uint8Array | null)[] = [...pieces, null];
        const source = new LineSource(
          new ByteSource({
            read(buffer) {
              const piece = rest.shift() ?? null;
              if (piece !== null) buffer.set(piece);
              return Promise.resolve(piece?.length ?? null);
            },
          }),
        );
        const got: string[] = [];
        for (let line; (line = await source.next()) !== null;) got.push(line);
        assertEquals([got, await source.next()], [lines, null], JSON.stringify(bytes));
      })());
    });
  }
  await Promise.all(runs);
});

Deno.test("lines and keys of one source: an aborted reader leaves what comes for the other", async () => {
  const input = stream();
  const source = new ByteSource(input);
  const abort = new AbortController();
  const line = new LineSource(source).next(abort.signal);
  abort.abort();
  assertEquals(await line, null);
  input.send("a");
  assertEquals(await new KeySource(source).next(), text("a"));
});

Deno.test("a terminal that is gone is the end of its input", async () => {
  const source = new ByteSource({ read: () => Promise.reject(new Error("EIO")) });
  assertEquals([await new KeySource(source).next(), source.ended], [null, true]);
});
