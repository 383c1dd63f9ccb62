import { assertEquals, assertRejects } from "@std/assert";
import { ResponseError, ResponseReader } from "../../src/wire/pinned_get.ts";
import { forEverySplit } from "../helpers/split.ts";

type Bytes = Uint8Array<ArrayBuffer>;
const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);

async function gzip(text: string): Promise<Bytes> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return await new Response(stream).bytes();
}

const joined = (...parts: (string | Bytes)[]): Promise<Bytes> =>
  new Blob(parts as BlobPart[]).bytes();

/** The status, the headers and the body of an answer that comes in `pieces`. */
async function readAll(pieces: Uint8Array[]): Promise<[number, string, string]> {
  const left = [...pieces];
  const reader = new ResponseReader(() => Promise.resolve(left.shift() as Bytes | undefined));
  const head = await reader.head();
  const body = await Array.fromAsync(reader.body(head));
  const type = head.headers.get("content-type") ?? "";
  return [head.status, type, await new Blob(body).text()];
}

Deno.test("an answer is the same however its bytes are cut", async () => {
  const packed = await gzip("wörter und mehr");
  const rows: [bytes: Bytes, expected: [number, string, string]][] = [
    [
      bytesOf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\ncontent-length: 3\r\n\r\nabcd"),
      [200, "text/html", "abc"],
    ],
    [bytesOf("HTTP/1.0 404 \n\nto the end"), [404, "", "to the end"]],
    [
      bytesOf(
        "HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n" +
          "3;name=x\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n",
      ),
      [200, "", "abc0123456789"],
    ],
    [
      await joined(
        `HTTP/1.1 200 OK\r\ncontent-encoding: GZIP\r\ncontent-length: ${packed.length}\r\n\r\n`,
        packed,
      ),
      [200, "", "wörter und mehr"],
    ],
    [bytesOf("HTTP/1.1 204 No\r\ncontent-length: 9\r\n\r\n"), [204, "", ""]],
    [bytesOf("HTTP/1.1 200 Ja\r\ncontent-type: a/ü\r\n\r\n"), [200, "a/%C3%BC", ""]],
    // A field that makes no sense is none.
    [
      bytesOf(
        "HTTP/1.1 200 OK\r\nno field\r\n folded: x\r\ncontent-type : a\r\ncontent-type:b\r\n\r\n",
      ),
      [200, "b", ""],
    ],
  ];
  for (const [bytes, expected] of rows) {
    const runs: Promise<void>[] = [];
    forEverySplit(bytes, (pieces) => {
      runs.push(readAll(pieces).then((found) => assertEquals(found, expected)));
    });
    await Promise.all(runs);
  }
});

Deno.test("what is no answer in HTTP, too large or broken is an error", async () => {
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const cases = [
    ["SSH-2.0-OpenSSH\r\n", "does not answer in HTTP"],
    ["220 mail ESMTP\r\n", "does not answer in HTTP"],
    ["HTTP/1.1 101 Switching\r\n\r\n", "does not answer in HTTP"],
    ["\r\n\r\n", "does not answer in HTTP"],
    ["HTTP/1.1 200 OK\r\na: b", "broke off"],
    ["", "broke off"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", "broke off"],
    [`HTTP/1.1 200 OK\r\na: ${"b".repeat(70_000)}`, "too large"],
    [`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}\r\n`, "too large"],
    ["HTTP/1.1 100 Continue\r\n\r\n".repeat(20_000), "too large"],
    [`${chunked}xyz\r\nabc`, "broken"],
    [`${chunked}-1\r\nabc`, "broken"],
    [`${chunked}fffffffff\r\nabc`, "broken"],
    [`${chunked}5\r\nab`, "broke off"],
    ["HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\nabc", "not requested"],
    ["HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nabc", "cannot be decompressed"],
  ] as const;
  for (const [answer, says] of cases) {
    await assertRejects(() => readAll([bytesOf(answer)]), ResponseError, says, answer.slice(0, 60));
  }
});
