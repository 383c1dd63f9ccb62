/** Images: their format and size from the first bytes, and image files as parts of a message. @module */

import { count } from "../../text/count.ts";
import type { ImageLimits, ImagePart } from "../../types/image.ts";
import type { ToolContext, ToolOutcome } from "../../types/tool.ts";
import { toolPath } from "../paths.ts";
import { openRegular, readBytes } from "./regular_file.ts";

interface ImageHeader {
  mediaType: "image/png" | "image/jpeg" | "image/webp" | "image/gif";
  width: number;
  height: number;
}

/** The maximum size in bytes, and the maximum pixels per side. A larger image is rejected before it is read. */
const MOST: ImageLimits = { maxBytes: 20 * 2 ** 20, maxSide: 16_000 };

/** Returns the header of an image; undefined if the bytes are in another format than these four, or have no size. */
export function imageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const found = pngHeader(view) ?? gifHeader(view) ?? webpHeader(view) ?? jpegHeader(view);
    return found && found.width > 0 && found.height > 0 ? found : undefined;
  } catch (error) {
    // The header continues after the bytes.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function holds(view: DataView, at: number, text: string): boolean {
  return view.byteLength >= at + text.length &&
    [...text].every((char, i) => view.getUint8(at + i) === char.charCodeAt(0));
}

function pngHeader(view: DataView): ImageHeader | undefined {
  if (!holds(view, 0, "\x89PNG\r\n\x1a\n") || !holds(view, 12, "IHDR")) return undefined;
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

function gifHeader(view: DataView): ImageHeader | undefined {
  if (!holds(view, 0, "GIF87a") && !holds(view, 0, "GIF89a")) return undefined;
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  return { mediaType: "image/gif", width, height };
}

function webpHeader(view: DataView): ImageHeader | undefined {
  if (!holds(view, 0, "RIFF") || !holds(view, 8, "WEBP")) return undefined;
  const mediaType = "image/webp";
  if (holds(view, 12, "VP8X")) {
    const side = (at: number) => 1 + view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
    return { mediaType, width: side(24), height: side(27) };
  }
  if (holds(view, 12, "VP8L") && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true);
    return { mediaType, width: 1 + (bits & 0x3fff), height: 1 + (bits >>> 14 & 0x3fff) };
  }
  if (!holds(view, 12, "VP8 ") || !holds(view, 23, "\x9d\x01\x2a")) return undefined;
  const side = (at: number) => view.getUint16(at, true) & 0x3fff;
  return { mediaType, width: side(26), height: side(28) };
}

/** A JPEG file is a list of segments. The one that starts a frame has the size. */
function jpegHeader(view: DataView): ImageHeader | undefined {
  if (!holds(view, 0, "\xff\xd8\xff")) return undefined;
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    // Fill bytes, and markers without a segment.
    if (marker === 0xff) at++;
    else if (marker === 0x01 || marker >= 0xd0 && marker <= 0xd7) at += 2;
    else if (marker === 0xd9 || marker === 0xda) return undefined;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return { mediaType: "image/jpeg", width, height };
    } else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

/**
 * Returns an image as a part of a message, and a text about it such as `PNG, 1280x720, 45 KB`; undefined for other
 * bytes. `fileSize` is the size of its file, of which `bytes` may be the start. @throws {RangeError} beyond `limits`.
 */
export function loadedImage(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  limits: ImageLimits = MOST,
  fileSize = 0,
): { part: ImagePart; about: string } | undefined {
  const header = imageHeader(bytes);
  if (header === undefined) return undefined;
  const { mediaType, width, height } = header;
  const checkMost = (size: number, most: number, is: string, may: string) => {
    if (size <= most) return;
    throw new RangeError(
      `Cannot send ${name || "an image"} as it has ${is}: at most ${may} can be sent`,
    );
  };
  const maxBytes = Math.min(limits.maxBytes, MOST.maxBytes);
  const given = Math.max(bytes.length, fileSize);
  const inMB = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  checkMost(given, maxBytes, inMB(given), inMB(maxBytes));
  const maxSide = Math.min(limits.maxSide, MOST.maxSide);
  checkMost(Math.max(width, height), maxSide, `${width}x${height} pixels`, `${maxSide} a side`);
  const size = bytes.length < 1000
    ? count(bytes.length, "byte")
    : `${Math.round(bytes.length / 1000)} KB`;
  return {
    part: { type: "image", mediaType, data: bytes.toBase64(), ...name !== "" && { name } },
    about: `${mediaType.slice(6).toUpperCase()}, ${width}x${height}, ${size}`,
  };
}

/** Returns the image in a file, for a model with vision or for a user's message; undefined if it is not an image. */
export async function readImage(
  shown: string,
  context: ToolContext,
): Promise<ToolOutcome | undefined> {
  const { grant, signal, imageLimits = MOST } = context;
  signal.throwIfAborted();
  using opened = await openRegular(toolPath(context, shown), shown, "read", grant);
  const { file, info } = opened;
  // A larger file is too large to send, but may not be an image.
  const bytes = await readBytes(file, Math.min(info.size, MOST.maxBytes) + 1);
  const image = loadedImage(bytes as Uint8Array<ArrayBuffer>, shown, imageLimits, info.size);
  if (image === undefined) return undefined;
  const { about, part } = image;
  return { content: `[${shown}: ${about}]`, about, images: [part] };
}
