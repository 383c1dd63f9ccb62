import { IMAGE_LIMITS, type ModelTarget } from "../models/target.ts";
import { loadedImage } from "../tools/files/image.ts";
import type { ImagePart } from "../types/image.ts";
import type { Part } from "../types/message.ts";

/**
 * Returns the parts, with the type of each image by its bytes. @throws {TypeError} {RangeError} if one is not
 * accepted.
 */
export async function checkedImages(
  parts: readonly Part[],
  kind: ModelTarget["kind"],
): Promise<Part[]> {
  return await Promise.all(
    parts.map((part) => part.type === "image" ? checkedImage(part, kind) : part),
  );
}

async function checkedImage(part: ImagePart, kind: ModelTarget["kind"]): Promise<ImagePart> {
  const { name = "", data } = part;
  const image = await loadedImage(fromBase64(data), name, IMAGE_LIMITS[kind]);
  if (image !== undefined) return image.part;
  throw new TypeError(
    `Cannot send ${name || "an image"} because it is not a PNG, JPEG, WebP or GIF image`,
  );
}

function fromBase64(data: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(data);
  } catch {
    return new Uint8Array();
  }
}
