import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { imageHeader, loadedImage, readImage } from "../../../src/tools/files/image.ts";
import { fileTool } from "../../../src/tools/read_file.ts";
import type { ToolOutcome } from "../../../src/types/tool.ts";
import { gif, jpeg, png, webp } from "../../helpers/images.ts";
import { test } from "../workspace.ts";

const ROWS: [string, Uint8Array<ArrayBuffer>][] = [
  ["image/png", png(640, 480)],
  ["image/gif", gif(640, 480)],
  ["image/jpeg", jpeg(640, 480)],
  ["image/jpeg", jpeg(640, 480, 0xc0)],
  ["image/webp", webp("VP8 ", 640, 480)],
  ["image/webp", webp("VP8L", 640, 480)],
  ["image/webp", webp("VP8X", 640, 480)],
];

Deno.test("the kind and the size of an image come from its header", () => {
  for (const [mediaType, bytes] of ROWS) {
    assertEquals(imageHeader(bytes), { mediaType, width: 640, height: 480 } as never);
    const shifted = new Uint8Array([1, 2, 3, ...bytes]).subarray(3);
    assertEquals(imageHeader(shifted)?.height, 480);
  }
  assertEquals(imageHeader(webp("VP8X", 16_000_000, 3))?.width, 16_000_000);
  assertEquals(imageHeader(webp("VP8L", 16_384, 16_384))?.height, 16_384);
});

Deno.test("a header that is cut anywhere is none, or the same one", () => {
  for (const [mediaType, bytes] of ROWS) {
    for (let end = 0; end < bytes.length; end++) {
      const found = imageHeader(bytes.slice(0, end));
      assertEquals(found ?? imageHeader(bytes)!.mediaType, found ? imageHeader(bytes) : mediaType);
    }
  }
});

Deno.test("headers that lie give no size, and end", () => {
  const zero = [0xff, 0xd8, ...Array(50).fill([0xff, 0xe0, 0, 0]).flat()];
  const rows = [
    ...[png(0, 10), gif(10, 0), jpeg(0, 0), Uint8Array.from(zero), new Uint8Array()],
    Uint8Array.from([0xff, 0xd8, ...Array(1000).fill(0xff)]),
    Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff]),
    new TextEncoder().encode("<svg width='1' height='1'/>"),
  ];
  for (const bytes of rows) assertEquals(imageHeader(bytes), undefined);
});

test("read_file gives a model that sees the image, any other one a line", async (ws) => {
  ws.put("shot.png", png(64, 32));
  ws.put("text.png", "no image\n");
  const args = { file_path: "shot.png", offset: 1, limit: 10 };
  const imageLimits = { maxBytes: 1e6, maxSide: 8000 };
  const seen = await fileTool.run(args, { ...ws.context, imageLimits }) as ToolOutcome;
  assertMatch(seen.content, /^\[shot\.png: PNG, 64x32, 29 bytes\]$/);
  assertEquals(seen.about, "PNG, 64x32, 29 bytes");
  assertEquals(seen.images?.[0]?.mediaType, "image/png");
  assertEquals(Uint8Array.fromBase64(seen.images![0]!.data), png(64, 32));
  const unseen = async () => await fileTool.run(args, ws.context);
  await assertRejects(unseen, Error, "no text but binary data");
  const text = { ...args, file_path: "text.png" };
  const read = await fileTool.run(text, { ...ws.context, imageLimits }) as ToolOutcome;
  assertEquals(read.images, undefined);
  assertMatch(read.content, /no image/);
  Deno.truncateSync(`${ws.dir}/shot.png`, 2e6);
  const large = readImage("shot.png", { ...ws.context, imageLimits });
  await assertRejects(() => large, RangeError, "2.0 MB: at most 1.0 MB");
});

Deno.test("a JPEG's size stands in the segment that begins a frame, behind any others", () => {
  const frame = (marker: number) => [0xff, marker, 0, 11, 8, 0, 5, 0, 7, 1, 1];
  const read = (...bytes: number[]) => {
    const header = imageHeader(Uint8Array.from([0xff, 0xd8, ...bytes]));
    return header && [header.width, header.height];
  };
  for (let marker = 0xc0; marker <= 0xcf; marker++) {
    // Three of them are tables.
    const isFrame = ![0xc4, 0xc8, 0xcc].includes(marker);
    assertEquals(read(...frame(marker)), isFrame ? [7, 5] : undefined, `${marker}`);
  }
  const size = frame(0xc0);
  const before: [segment: number[], isRead: boolean][] = [
    [[], true],
    [[0xff, 0xe0, 0, 4, 1, 2], true],
    // A length below that of the field itself.
    [[0xff, 0xe0, 0, 0], true],
    [[0xff, 0xe0, 0, 1], true],
    [[0xff, 0xff], true],
    ...[0x01, 0xd0, 0xd7].map((alone): [number[], boolean] => [[0xff, alone], true]),
    [[0xff, 0xd9, 0, 2], false],
    [[0xff, 0xda, 0, 2], false],
    [[0xff, 0xbf, 0, 2], true],
    [[0xff, 0xe0, 0, 3, 1, 2], false],
    [[0], false],
  ];
  for (const [segment, isRead] of before) {
    assertEquals(read(...segment, ...size), isRead ? [7, 5] : undefined, `${segment}`);
  }
  assertEquals(read(0xff, 0xd8, 0xff, 0xd9), undefined);
});

Deno.test("bytes that only begin as an image does are none", () => {
  const changed = (bytes: Uint8Array<ArrayBuffer>, at: number) => bytes.with(at, 0x21);
  const rows: [bytes: Uint8Array<ArrayBuffer>, places: number[]][] = [
    [png(1, 1), [0, 7, 12, 15]],
    [gif(1, 1), [0, 4, 5]],
    [jpeg(1, 1), [0, 1, 2]],
    [webp("VP8 ", 1, 1), [0, 8, 12, 15, 23, 25]],
    [webp("VP8L", 1, 1), [0, 8, 15, 20]],
    [webp("VP8X", 1, 1), [3, 11, 15]],
  ];
  for (const [bytes, places] of rows) {
    for (const at of places) {
      assertEquals(imageHeader(changed(bytes, at) as Uint8Array<ArrayBuffer>), undefined, `${at}`);
    }
  }
});

Deno.test("a WebP's sides are numbers of 14 bits, beside which stands how it is scaled", () => {
  const bytes = webp("VP8 ", 640, 480);
  bytes[27]! |= 0x40;
  bytes[29]! |= 0xc0;
  assertEquals(imageHeader(bytes), { mediaType: "image/webp", width: 640, height: 480 });
  assertEquals(imageHeader(webp("VP8 ", 1, 1)), { mediaType: "image/webp", width: 1, height: 1 });
});

Deno.test("an image of the most bytes and pixels is sent, and told with its size", () => {
  const image = png(3, 2, 1000);
  const { length } = image;
  const least = { maxBytes: length, maxSide: 3 };
  assertEquals((loadedImage(image, "a", least))?.about, "PNG, 3x2, 1 KB");
  const told: [maxBytes: number, maxSide: number, name: string, words: string][] = [
    [length - 1, 3, "a.png", "Cannot send a.png as it has 0.0 MB: at most 0.0 MB can be sent"],
    [length, 2, "", "Cannot send an image as it has 3x2 pixels: at most 2 a side can be sent"],
  ];
  for (const [maxBytes, maxSide, name, words] of told) {
    assertThrows(() => loadedImage(image, name, { maxBytes, maxSide }), RangeError, words);
  }
  const wide = { maxBytes: 1000, maxSide: 1e6 };
  assertEquals((loadedImage(png(16_000, 1), "", wide))?.part.name, undefined);
  const words = "16001x1 pixels: at most 16000 a side can be sent";
  assertThrows(() => loadedImage(png(16_001, 1), "", wide), RangeError, words);
  const abouts = [999, 1000, 1499, 1500].map((size) => {
    const padded = new Uint8Array(size);
    padded.set(gif(1, 1));
    return loadedImage(padded, "x")!.about;
  });
  assertEquals(abouts, ["999 bytes", "1 KB", "1 KB", "2 KB"].map((size) => `GIF, 1x1, ${size}`));
});
