/** Stores the images of a session by hash, in a folder beside its record. @module */

import { attempt } from "../attempt.ts";
import { imagesOf, notePart, textOfParts } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import type { ImagePart } from "../types/image.ts";
import type { Message, Part } from "../types/message.ts";

const MAX_IMAGE_BYTES = 32 * 2 ** 20;

const imagesFolder = (path: string): string => path.replace(/\.jsonl$/, ".images");

const fileOf = (path: string, { hash, mediaType }: ImagePart): string =>
  join(imagesFolder(path), `${hash}.${mediaType.slice("image/".length)}`);

/** Writes the images of `messages` with a hash, unless they are already complete. */
export function storeImages(path: string, messages: readonly Message[]): void {
  for (const image of messages.flatMap(imagesOf)) {
    if (image.hash === undefined) continue;
    const file = fileOf(path, image);
    const bytes = Uint8Array.fromBase64(image.data);
    if (attempt(() => Deno.lstatSync(file).size) === bytes.length) continue;
    Deno.mkdirSync(imagesFolder(path), { recursive: true, mode: 0o700 });
    Deno.writeFileSync(file, bytes, { mode: 0o600 });
  }
}

/** Returns the messages with their images. A line replaces a missing image. */
export function withStoredImages(path: string, messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (!imagesOf(message).some(isReference)) return message;
    const parts = message.parts!.map((part) => {
      if (part.type !== "image" || !isReference(part)) return part;
      const data = attempt(() => storedImage(fileOf(path, part)));
      return data === undefined ? lostImage(part) : { ...part, data };
    });
    const isOfTexts = textOfParts(message.parts!) === message.content;
    return { ...message, parts, ...isOfTexts && { content: textOfParts(parts) } };
  });
}

const isReference = ({ data, hash }: ImagePart): boolean =>
  data === undefined && hash !== undefined;

function storedImage(file: string): string | undefined {
  const { isFile, size } = Deno.lstatSync(file);
  return isFile && size > 0 && size <= MAX_IMAGE_BYTES
    ? Deno.readFileSync(file).toBase64()
    : undefined;
}

const lostImage = ({ name = "an image" }: ImagePart): Part =>
  notePart(`[${name}: its file is no longer with the session]`);

export function removeImages(path: string): void {
  attempt(() => Deno.removeSync(imagesFolder(path), { recursive: true }));
}
