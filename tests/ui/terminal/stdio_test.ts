import { assert, assertEquals, assertRejects } from "@std/assert";
import { Output, readPiped } from "../../../src/ui/terminal/stdio.ts";

Deno.test("an output that is not taken asks to wait, until all is written", async () => {
  const gate = Promise.withResolvers<void>();
  let written = 0;
  const stdout = new Output({
    async write(bytes) {
      await gate.promise;
      const part = Math.min(bytes.length, 65_536);
      written += part;
      return part;
    },
  }, () => {});
  stdout.write("x".repeat(2 ** 20));
  assertEquals(stdout.room(), undefined);
  for (let i = 0; i < 3; i++) stdout.write("é".repeat(2 ** 20));
  const full = stdout.room();
  assert(full !== undefined);
  gate.resolve();
  await full;
  assertEquals([stdout.room(), written], [undefined, 7 * 2 ** 20]);
});

Deno.test("an output is fitted to its reader, where that is a terminal without UTF-8", async () => {
  const written: string[] = [];
  const stdout = new Output({
    write(bytes) {
      written.push(new TextDecoder().decode(bytes));
      return Promise.resolve(bytes.length);
    },
  }, () => {});
  stdout.write("é\n");
  await stdout.drained();
  stdout.fit = (text) => text.replaceAll("é", "e");
  stdout.write("é");
  await stdout.drained();
  assertEquals([written, stdout.midLine], [["é\n", "e"], true]);
});

Deno.test("an output whose reader has gone asks nobody to wait", async () => {
  let errors = 0;
  const stdout = new Output({ write: () => Promise.reject(new Error("gone")) }, () => errors++);
  for (let i = 0; i < 9; i++) stdout.write("x".repeat(2 ** 20));
  await stdout.drained();
  stdout.write("more");
  assertEquals([stdout.room(), errors], [undefined, 1]);
});

Deno.test("stdin of exactly 64 MiB is read, one byte more is refused", async () => {
  const source = (size: number) => ({
    read(buffer: Uint8Array) {
      const part = Math.min(size, buffer.length);
      size -= part;
      buffer.fill(0x61, 0, part);
      return Promise.resolve(part === 0 ? null : part);
    },
  });
  const limit = 64 * 2 ** 20;
  assertEquals((await readPiped(source(limit))).text.length, limit);
  await assertRejects(() => readPiped(source(limit + 1)), RangeError, "at most 64 MiB");
  await assertRejects(() => readPiped(source(Infinity)), RangeError, "at most 64 MiB");
});
