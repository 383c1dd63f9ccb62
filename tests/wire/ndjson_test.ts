import { assertEquals, assertThrows } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { NdjsonDecoder, parseJson } from "../../src/wire/ndjson.ts";
import { forEverySplit } from "../helpers/split.ts";

function decode(pieces: Uint8Array[]): unknown[] {
  const values: unknown[] = [];
  const decoder = new NdjsonDecoder((value) => values.push(value));
  for (const piece of pieces) decoder.push(piece);
  decoder.end();
  return values;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("NET-01 NdjsonDecoder gives the same values at every split", () => {
  const rows: [stream: string, values: unknown[]][] = [
    ["", []],
    ['{"a":1}\n', [{ a: 1 }]],
    ['{"a":1}', [{ a: 1 }]],
    ['{"a":1}\r\n\r\n  \n\t{"b":[2]} \n\n', [{ a: 1 }, { b: [2] }]],
    ['\u{feff}{"a":"é😀\u2028"}\n3\nnull\n"x"', [{ a: "é😀\u2028" }, 3, null, "x"]],
    ['3\n"\u{feff}a"\n', [3, "\u{feff}a"]],
  ];
  for (const [stream, values] of rows) {
    forEverySplit(utf8(stream), (pieces) => assertEquals(decode(pieces), values));
  }
});

Deno.test("NET-04 NdjsonDecoder tells a broken line from a cut one", () => {
  const rows: [stream: string, before: unknown[], kind: string, retryable: boolean][] = [
    ['{"a":1}\n<html>\n', [{ a: 1 }], "protocol", false],
    ['{"a":1}{"b":2}\n', [], "protocol", false],
    ['{"a":1}\n{"a":\n{"b":2}\n', [{ a: 1 }], "protocol", false],
    ['{"a":1}\n{"a":"x', [{ a: 1 }], "incomplete", true],
  ];
  for (const [stream, before, kind, retryable] of rows) {
    forEverySplit(utf8(stream), (pieces) => {
      const values: unknown[] = [];
      const decoder = new NdjsonDecoder((value) => values.push(value));
      const error = assertThrows(() => {
        for (const piece of pieces) decoder.push(piece);
        decoder.end();
      }, BackendError);
      assertEquals([values, error.kind, error.retryable], [before, kind, retryable]);
    });
  }
});

Deno.test("parseJson quotes what is no JSON in one harmless line", () => {
  const error = assertThrows(() => parseJson(`\x1b[31moops\n\x07${"x".repeat(500)}`), BackendError);
  assertEquals(error.serverMessage, `oops ${"x".repeat(194)}…`);
  assertEquals(error.cause, undefined);
  assertThrows(() => parseJson("[".repeat(1e6)), BackendError);
});
