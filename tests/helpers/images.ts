/** Small images with complete headers only. @module */

const ascii = (text: string) => [...text].map((char) => char.charCodeAt(0));
const u16 = (n: number) => [n >> 8 & 255, n & 255];
const u16le = (n: number) => u16(n).reverse();
const u32 = (n: number) => [...u16(n >>> 16), ...u16(n & 0xffff)];
const u24le = (n: number) => [n & 255, n >> 8 & 255, n >> 16 & 255];

export function png(width: number, height: number, more = 0): Uint8Array<ArrayBuffer> {
  const head = [0x89, ...ascii("PNG\r\n\x1a\n"), ...u32(13), ...ascii("IHDR")];
  return Uint8Array.from([
    ...head,
    ...u32(width),
    ...u32(height),
    8,
    6,
    0,
    0,
    0,
    ...Array(more).fill(7),
  ]);
}

export function gif(width: number, height: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...ascii("GIF89a"), ...u16le(width), ...u16le(height), 0, 0, 0]);
}

/** A JPEG with a thumbnail of 1x1 in its first segment, fill bytes and a table before the frame. */
export function jpeg(width: number, height: number, frame = 0xc2): Uint8Array<ArrayBuffer> {
  const thumbnail = [0xff, 0xc0, 0, 11, 8, ...u16(1), ...u16(1), 1, 1, 17, 0];
  const exif = [0xff, 0xe1, ...u16(2 + thumbnail.length), ...thumbnail];
  const table = [0xff, 0xff, 0xff, 0xc4, 0, 4, 1, 2];
  const start = [0xff, frame, 0, 11, 8, ...u16(height), ...u16(width), 3, 1, 17, 0];
  return Uint8Array.from([0xff, 0xd8, ...exif, ...table, ...start, 0xff, 0xda, 0, 2]);
}

export function webp(
  kind: "VP8 " | "VP8L" | "VP8X",
  width: number,
  height: number,
): Uint8Array<ArrayBuffer> {
  const [w, h] = [width - 1, height - 1];
  const bits = (w | h << 14) >>> 0;
  const data = {
    "VP8X": [0, 0, 0, 0, ...u24le(w), ...u24le(h)],
    "VP8L": [0x2f, ...u32(bits).reverse(), 0, 0, 0],
    "VP8 ": [0, 0, 0, 0x9d, 0x01, 0x2a, ...u16le(width), ...u16le(height)],
  }[kind];
  return Uint8Array.from([
    ...ascii("RIFF"),
    ...u32(4 + 8 + data.length).reverse(),
    ...ascii(`WEBP${kind}`),
    ...u32(data.length).reverse(),
    ...data,
  ]);
}
